/// An error of writing or reading a pack or a GeoPackage.
package enum PackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// An error of the file system.
    case file(String)
    /// An error of SQLite, with its code.
    case database(code: Int32, String)
    /// This program did not write the file to update.
    case foreign(String)
    /// The file would exceed its format's limit or a configured one.
    case tooLarge(bytes: Int, limit: Int)
    /// An allocation failed.
    case memory

    /// Whether the disk is full.
    package var isFull: Bool { if case .database(let code, _) = self { code & 0xFF == 13 } else { false } }

    package var description: String {
        switch self {
        case .file(let reason): "a file can't be written or read: \(reason)"
        case .database(let code, let reason): "SQLite can't write the file: \(reason) (code \(code))"
        case .foreign(let reason): "the file can't be updated: \(reason)"
        case .tooLarge(let bytes, let limit): "the file would have \(bytes) bytes; it may have \(limit)"
        case .memory: "there is no memory left"
        }
    }
}
