/// Why a file of a pack or a GeoPackage can't be written or read.
package enum PackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the system says against a file.
    case file(String)
    /// What SQLite says, with its code.
    case database(code: Int32, String)
    /// A file to be updated is not one that this program wrote.
    case foreign(String)
    /// A file would be larger than its format, or a limit, allows.
    case tooLarge(bytes: Int, limit: Int)
    /// There is no memory for something.
    case memory

    /// Whether the disk has no room.
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
