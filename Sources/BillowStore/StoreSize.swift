/// How much a store takes.
package struct StoreSize: Sendable, Hashable {
    /// Of the database file.
    package var bytes: Int
    /// Of its write-ahead log.
    package var logBytes: Int
    /// What an ordinary user may still write to the disk; nil where the system doesn't tell.
    package var freeBytes: Int?
    /// Empty where they weren't counted. Tables that can't be read are left out.
    package var rows: [StoredTable: Int]

    package init(bytes: Int, logBytes: Int, freeBytes: Int?, rows: [StoredTable: Int]) {
        self.bytes = bytes
        self.logBytes = logBytes
        self.freeBytes = freeBytes
        self.rows = rows
    }
}
