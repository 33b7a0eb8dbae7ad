import Foundation
import GRDB

extension SQLiteStore {
    package func size(counting: Bool) async throws(StoreError) -> StoreSize? {
        var rows: [StoredTable: Int] = [:]
        if counting {
            for table in StoredTable.allCases {
                // Another metric reports a damaged table.
                rows[table] = try? await count(table)
            }
        }
        var disk = statvfs()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let free =
            statvfs(folder, &disk) == 0
            ? Int(clamping: UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize)).partialValue)
            : nil
        return StoreSize(
            bytes: Self.fileBytes(path), logBytes: Self.fileBytes(path + "-wal"), freeBytes: free, rows: rows)
    }

    private static func fileBytes(_ path: String) -> Int {
        Int(clamping: FileIdentity.status(path)?.st_size ?? 0)
    }
}
