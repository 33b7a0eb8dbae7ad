import BillowFields
import Foundation
import GRDB
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("Fields in a damaged database")
struct FieldDamageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let count = 40

    /// A closed file with a nowcast of one level every 15 minutes, of some 20 KB each.
    private func makeFile() async throws -> String {
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        let grid = try grid(200, 100)
        var random = SeededGenerator(seed: 1)
        for number in 0..<Self.count {
            let values = (0..<grid.count).map { _ in UInt8.random(in: 0...254, using: &random) }
            let plane = try FieldPlane(width: grid.columns, height: grid.rows, values: values).orMissing()
            let identity = try draft(run: number * 900, on: grid).identity
            let level = FieldLevelDraft(identity: identity, grid: grid, level: .column, packed: plane.packed())
            _ = try await store.commit(Batch(source: source("awc"), fields: [level], fetchedKinds: [.fields: noon]))
        }
        try store.close()
        return path
    }

    /// Writes over the beginning or the end of a page of a table or an index.
    private func overwrite(_ path: String, _ name: String, _ type: String, _ bytes: Range<Int>) throws {
        let queue = try DatabaseQueue(path: path)
        let pages = try queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path",
                arguments: [name, type])
        }
        try queue.close()
        let page = try pages[(pages.count / 2)...].first.orMissing()
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let start = (page - 1) * 4_096
        file.replaceSubrange(
            start + bytes.lowerBound..<start + bytes.upperBound, with: Data(repeating: 0xAB, count: bytes.count))
        try file.write(to: URL(fileURLWithPath: path))
    }

    /// The rows whose planes can be read.
    private func readable(_ store: SQLiteStore) async throws -> Set<Int64> {
        var rows = Set<Int64>()
        for frame in try await store.fields(asOf: nil).index.frames {
            for level in frame.levels where try await store.fieldPlane(row: level.row) != nil { rows.insert(level.row) }
        }
        return rows
    }

    enum Damage: String, CaseIterable {
        case leaf, overflow, index, identityIndex
    }

    @Test(
        "what can't be read is left out and marked with its time; a salvage has all the rest",
        arguments: Damage.allCases)
    func pages(damage: Damage) async throws {
        let path = try await makeFile()
        let sound = try await SQLiteStore.open(path: path)
        let before = try await sound.fields(asOf: nil)
        let all = try await readable(sound)
        #expect(all.count == Self.count)
        try sound.close()
        switch damage {
        case .leaf: try overwrite(path, "fieldLevel", "leaf", 0..<200)
        // Behind the number of the next page.
        case .overflow: try overwrite(path, "fieldLevel", "overflow", 100..<200)
        case .index: try overwrite(path, "fieldLevelSince", "leaf", 0..<200)
        case .identityIndex: try overwrite(path, "fieldLevelIdentity", "leaf", 0..<200)
        }
        let store = try await SQLiteStore.open(path: path)
        // Which levels there are is known by the index, or else by the table.
        #expect(try await store.fields(asOf: nil).index == before.index)
        let left = try await readable(store)
        let lostRows = all.subtracting(left)
        let isLost = damage == .leaf || damage == .overflow
        #expect(isLost ? !lostRows.isEmpty && lostRows.count < 10 : lostRows.isEmpty)
        // The others' reads have noted it; a survey finds no more.
        let times = before.index.frames.filter { lostRows.contains($0.levels[0].row) }.map(\.identity.validTime)
        let record = try #require(try await store.sources().first)
        if let first = times.min(), let last = times.max() {
            let reach = FieldProduct.longestReach
            #expect(
                record.lost[.fields]
                    == first.advanced(by: reach.lowerBound)...last.advanced(by: reach.upperBound))
            #expect(record.lost[.observations] == nil)
        }
        let noted = store.damage
        #expect(noted.allSatisfy { $0.table == .fieldLevel } && noted.isEmpty == (damage == .identityIndex))
        try await store.survey(rest: .zero)
        if isLost { #expect(store.damage == noted) }
        #expect(try await !store.problems().isEmpty)
        try store.close()

        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new, now: noon)
        #expect(salvaged.tables.first { $0.name == "fieldLevel" }?.rows == left.count)
        #expect(salvaged.isWhole != isLost)
        let whole = try await SQLiteStore.open(path: new)
        #expect(try await whole.problems() == [])
        #expect(try await readable(whole) == left)
        #expect(try await whole.fields(asOf: nil).grids == before.grids)
        // What comes again takes its place.
        let again = try await whole.commit(
            Batch(
                source: source("awc"),
                fields: try times.map { validTime in
                    try draft(run: validTime.seconds - noon.seconds, on: grid(200, 100))
                }))
        #expect(again.fieldLevels == times.count)
        #expect(try await readable(whole).count == Self.count)
    }

    @Test(
        "a level that comes again takes the place of one that can't be read, under another number",
        arguments: ["level", "packed"])
    func again(column: String) async throws {
        let store = try await makeStore()
        let grid = try grid()
        let batch = Batch(
            source: try source("awc"), fields: [try draft(number: 1, on: grid), try draft(run: 900, on: grid)])
        _ = try await store.commit(batch)
        let before = try await store.fields(asOf: nil).index.frames[0].levels[0]
        try await store.pool.write { db in
            let change = column == "packed" ? "packed = zeroblob(9)" : "imported = 1"
            try db.execute(sql: "UPDATE fieldLevel SET \(change) WHERE number = ?", arguments: [before.row])
        }
        #expect(try await store.fieldPlane(row: before.row) == nil)
        #expect(try await store.commit(batch).fieldLevels == 1)
        #expect(try await store.commit(batch).fieldLevels == 0)
        let after = try await store.fields(asOf: nil).index.frames[0].levels[0]
        #expect(after.row != before.row && after.since > before.since)
        #expect(try await store.fieldPlane(row: after.row) == plane(1, on: grid))
        // What was missing stays known.
        #expect(store.damage.map(\.table) == [.fieldLevel])
    }

    @Test("a plane that its source packed wrong is damage of its row")
    func packedWrong() async throws {
        let store = try await makeStore()
        let wrong = FieldLevelDraft(
            identity: try draft(on: grid()).identity, grid: try grid(), level: .column, packed: [1, 2, 3])
        _ = try await store.commit(Batch(source: source("awc"), fields: [wrong]))
        let row = try await store.fields(asOf: nil).index.frames[0].levels[0].row
        #expect(try await store.packedFieldPlane(row: row) == [1, 2, 3])
        #expect(try await store.fieldPlane(row: row) == nil)
        #expect(store.damage.first?.rows == 1)
    }

    @Test("a row that vanished without a deletion is damage")
    func vanished() async throws {
        let store = try await makeStore()
        _ = try await store.commit(Batch(source: source("awc"), fields: [draft(on: grid())]))
        #expect(try await store.fieldPlane(row: 77) == nil)
        #expect(store.damage.map(\.table) == [.fieldLevel])
    }
}
