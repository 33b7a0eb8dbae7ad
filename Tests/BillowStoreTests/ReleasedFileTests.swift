import Foundation
import GRDB
import Testing
import Turbulence

@testable import BillowStore

/// Files with the tables of each release. The fixtures are dumps of such files: three observations, two pilot reports,
/// an area and a key.
@Suite("A file of a release")
struct ReleasedFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func tables(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read {
            try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        }
    }

    @Test("is migrated when it is opened, has the tables of a new file, and loses nothing", arguments: ["0.1.0"])
    func migrated(release: String) async throws {
        let path = try folder.writeDump("released-\(release)")
        let store = try await SQLiteStore.open(path: path)
        #expect(try await store.problems() == [])
        let head = try await store.head()
        #expect(head.log == "381865ead41732e4" && head.version.rawValue == 3)
        let contents = try await store.contents()
        #expect(contents.count == 4 && contents.compactMap(\.id).contains("two"))
        #expect(try await store.sources().count == 3)
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 2)
        #expect(try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
        #expect(try await store.accessKeys().map(\.name) == ["tester"])
        // Data that comes again is known by its tag.
        #expect(try await store.commit(Batch(source: nil, observations: contents)).duplicates == 4)
        #expect(try await store.head() == head)
        try store.close()
        let new = folder.path("new.sqlite")
        try await SQLiteStore.open(path: new).close()
        #expect(try tables(path) == tables(new))
        // Reading alone is possible from then on.
        let reader = try await SQLiteStore.open(path: path, access: .reading)
        #expect(try await reader.head() == head)
        try reader.close()
    }

    @Test("a command that only reads migrates it, too", arguments: ["0.1.0"])
    func read(release: String) async throws {
        let path = try folder.writeDump("released-\(release)")
        let reader = try await SQLiteStore.open(path: path, access: .reading)
        #expect(try await reader.contents().count == 4)
        try reader.close()
    }
}
