import Foundation
import GRDB
import Testing

@testable import BillowStore

extension TemporaryFolder {
    /// Makes a database of a dump among the fixtures.
    /// - Returns: its path.
    func writeDump(_ name: String) throws -> String {
        let path = path("old.sqlite")
        let dump = try #require(Bundle.module.url(forResource: name, withExtension: "sql", subdirectory: "Fixtures"))
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: String(contentsOf: dump, encoding: .utf8))
            try db.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID); PRAGMA journal_mode = WAL")
        }
        try queue.close()
        return path
    }
}
