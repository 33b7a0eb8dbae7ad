internal import Foundation
internal import GRDB

extension StoreError {
    /// Converts a database error, with SQLite's own message. This is the only place that does so.
    init(_ error: any Error, path: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error, path: path)
        case let error as UnreadableRow: self = .corrupt(path: path, reason: error.description)
        case let error as FileError: self = .unavailable(path: error.path, reason: error.reason)
        case is CancellationError: self = .failed("the operation was cancelled")
        default: self = .failed(String(describing: error))
        }
    }

    /// Converts an error of reading a row, for a driver of another database.
    package init(unreadable error: any Error, path: String) { self.init(error, path: path) }

    private init(_ error: DatabaseError, path: String) {
        let reason = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_NOTADB: self = .corrupt(path: path, reason: "its first page can't be read")
        case .SQLITE_CORRUPT: self = .corrupt(path: path, reason: reason)
        case .SQLITE_FULL: self = .full(path: path)
        // SQLite reports an I/O error if there is no room for its shared memory.
        case .SQLITE_IOERR
        where ![.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ].contains(error.extendedResultCode)
            && Self.isFull(path), .SQLITE_CANTOPEN where Self.isFull(path):
            self = .full(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: self = .unavailable(path: path, reason: reason)
        case .SQLITE_READONLY: self = .unavailable(path: path, reason: "it can't be written (\(reason))")
        case .SQLITE_IOERR:
            self = .failed(
                "reading or writing \(path) failed (\(reason), SQLite code \(error.extendedResultCode.rawValue))")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = .failed("another process kept \(path) locked for more than \(SQLiteStore.busyTimeoutSeconds) s")
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: self = .failed("the operation was cancelled")
        default: self = .failed("\(path): \(reason) (SQLite code \(error.extendedResultCode.rawValue))")
        }
    }

    /// Whether the disk has no room for another page.
    private static func isFull(_ path: String) -> Bool {
        var disk = statvfs()
        guard statvfs(URL(fileURLWithPath: path).deletingLastPathComponent().path, &disk) == 0 else { return false }
        return UInt64(disk.f_bavail) * UInt64(disk.f_frsize) < smallestRoom
    }

    /// The minimum size of a database's shared memory is 32 KiB.
    private static let smallestRoom: UInt64 = 32 << 10
}
