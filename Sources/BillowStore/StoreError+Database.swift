internal import GRDB

extension StoreError {
    /// The one place where the database's errors become ours; keeps SQLite's own words.
    init(_ error: any Error, path: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error, path: path)
        case let error as UnreadableRow: self = .corrupt(path: path, reason: error.description)
        case is CancellationError: self = .failed("the operation was cancelled")
        default: self = .failed(String(describing: error))
        }
    }

    private init(_ error: DatabaseError, path: String) {
        let reason = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_NOTADB: self = .corrupt(path: path, reason: "its first page can't be read")
        case .SQLITE_CORRUPT: self = .corrupt(path: path, reason: reason)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: self = .unavailable(path: path, reason: reason)
        case .SQLITE_READONLY: self = .unavailable(path: path, reason: "it can't be written (\(reason))")
        case .SQLITE_FULL: self = .failed("the disk that holds \(path) is full")
        case .SQLITE_IOERR:
            self = .failed(
                "reading or writing \(path) failed (\(reason), SQLite code \(error.extendedResultCode.rawValue))")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = .failed("another process kept \(path) locked for more than \(SQLiteStore.busyTimeoutSeconds) s")
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: self = .failed("the operation was cancelled")
        default: self = .failed("\(path): \(reason) (SQLite code \(error.extendedResultCode.rawValue))")
        }
    }
}

/// A stored row that holds what the schema doesn't allow, or what this version of Billow doesn't know.
struct UnreadableRow: Error, CustomStringConvertible {
    var table: String
    /// Its primary key.
    var key: Int64

    var description: String { "row \(key) of table \(table) can't be read" }
}
