import Foundation
import GRDB
import Testing
import Turbulence

@testable import BillowStore

/// Files of builds from before the first release. The fixtures are dumps of files that such builds wrote. They are of
/// the build a3a5e24 with eleven migrations, whose keys have other tags, and of the last one with twenty.
@Suite("A file from before the first release")
struct UnreleasedFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("is rejected with a reason and a remedy, and stays unchanged", arguments: [11, 20])
    func refused(migrations: Int) async throws {
        let path = try folder.writeDump("unreleased-\(migrations)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for access in [StoreAccess.reading, .writing] {
            let error = await #expect(throws: StoreError.self) {
                try await SQLiteStore.open(path: path, access: access)
            }
            guard case .unreleased(path)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains("billow salvage \(path) -o NEW") == true)
            #expect(throws: StoreError.self) { try SQLiteStore.check(path: path, access: access) }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["old.sqlite"])
    }

    @Test("is refused also where its last commits stand in a log beside it", arguments: [11, 20])
    func refusedWithLog(migrations: Int) async throws {
        let path = try folder.writeDump("unreleased-\(migrations)")
        let writer = try DatabasePool(path: path)
        try await writer.write { try $0.execute(sql: "UPDATE head SET version = 3") }
        let copy = folder.path("copy.sqlite")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        try writer.close()
        let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: copy) }
        guard case .unreleased? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("is copied whole by a salvage, and what comes again is known", arguments: [11, 20])
    func salvaged(migrations: Int) async throws {
        let path = try folder.writeDump("unreleased-\(migrations)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(salvaged.isWhole && salvaged.completeSince == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)

        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.problems() == [])
        let contents = try await store.contents()
        #expect(contents.count == 5)
        #expect(contents.filter { $0.source.name == "skypath" }.map(\.id) == ["one", nil, nil])
        let sources = try await store.sources()
        #expect(sources.map(\.id.name) == ["other", "skypath", "awc"])
        #expect(sources.map(\.simulated) == [false, false, false])
        #expect(sources[1].completeSince == Instant(clamping: 1_795_327_200))
        #expect(sources[2].fetchedSince == [.reports: Instant(clamping: 1_795_340_000)])
        #expect(try await store.accessKeys().map(\.name) == ["tester"])
        #expect(try await store.persistedOverride(of: source("skypath")) == "{\"a\":1}")
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
        #expect(try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil).map(\.id) == ["A1"])
        #expect(try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
        // Everything that an upstream still has is fetched again, and found.
        #expect(try await store.cursors(of: source("skypath")).isEmpty)
        let head = try await store.head()
        #expect(try await store.commit(Batch(source: nil, observations: contents)).duplicates == 5)
        #expect(try await store.head() == head)
        // Imports stay when retention deletes.
        #expect(try await store.prune(Pruning(before: .distantFuture, sparesImports: true)).observations == 0)
    }
}
