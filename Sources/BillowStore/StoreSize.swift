/// The size of a store.
package struct StoreSize: Sendable, Hashable {
    /// The bytes of the database file.
    package var bytes: Int
    /// The bytes of its write-ahead log.
    package var logBytes: Int
    /// The bytes that an ordinary user may still write to the disk; nil if the system does not report it.
    package var freeBytes: Int?
    /// The rows of each table; empty if they weren't counted. Unreadable tables are left out.
    package var rows: [StoredTable: Int]

    package init(bytes: Int, logBytes: Int, freeBytes: Int?, rows: [StoredTable: Int]) {
        self.bytes = bytes
        self.logBytes = logBytes
        self.freeBytes = freeBytes
        self.rows = rows
    }
}
