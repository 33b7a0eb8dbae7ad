import BillowFields
import GRDB
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

func grid(_ columns: Int = 6, _ rows: Int = 4) throws -> GridDefinition { try TestField.grid(columns, rows) }

func plane(_ number: Int, on grid: GridDefinition) throws -> FieldPlane { try TestField.plane(number, on: grid) }

func draft(
    _ product: FieldProduct = .nowcast, run: Int = 0, lead: Int = 0, level: FieldLevel = .feet(30_000), number: Int = 1,
    on grid: GridDefinition
) throws -> FieldLevelDraft {
    try TestField.draft(
        product, run: noon.advanced(by: run), lead: lead, level: level, number: number, on: grid)
}

@Suite("Fields in the log")
struct FieldTests {
    @Test("levels of one field are one frame, and each gives the plane that was stored", arguments: StoreKind.all)
    func stored(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let grid = try grid()
        let levels: [FieldLevel] = [.feet(32_000), .column, .feet(30_000)]
        let drafts = try levels.enumerated().map { try draft(level: $1, number: $0, on: grid) }
        let result = try await store.commit(Batch(source: source("awc"), fields: drafts))
        #expect(result.fieldLevels == 3 && result.version == Version(rawValue: 1))
        let fields = try await store.fields(asOf: nil)
        let frame = try #require(fields.index.frames.first)
        #expect(fields.index.frames.count == 1 && frame.source.name == "awc")
        #expect(try frame.identity == draft(on: grid).identity && frame.version == result.version)
        #expect(frame.levels.map(\.level) == [.column, .feet(30_000), .feet(32_000)])
        #expect(fields.grids == [frame.grid: grid])
        for (level, number) in zip(frame.levels, [1, 2, 0]) {
            #expect(try await store.fieldPlane(row: level.row) == plane(number, on: grid))
            #expect(try await store.packedFieldPlane(row: level.row) == plane(number, on: grid).packed())
        }
    }

    @Test(
        "a level that comes again changes nothing, whatever it holds, and raises no version", arguments: StoreKind.all)
    func again(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let grid = try grid()
        let first = Batch(source: try source("awc"), fields: [try draft(number: 1, on: grid)])
        let version = try await store.commit(first).version
        let fields = try await store.fields(asOf: nil)
        let other = Batch(source: try source("awc"), fields: [try draft(number: 2, on: grid)])
        for batch in [first, other] {
            let result = try await store.commit(batch)
            #expect(!result.changed && result.fieldLevels == 0 && result.version == version)
        }
        #expect(try await store.fields(asOf: nil) == fields)
        let row = try #require(fields.index.frames.first?.levels.first?.row)
        #expect(try await store.fieldPlane(row: row) == plane(1, on: grid))
        // Of another source it is another field.
        #expect(
            try await store.commit(Batch(source: source("skypath"), fields: [draft(on: grid)])).fieldLevels == 1)
        #expect(try await store.fields(asOf: nil).index.frames.count == 2)
    }

    @Test("a grid is stored once, and a level on another grid than its field's is left out", arguments: StoreKind.all)
    func grids(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let (one, other) = (try grid(6, 4), try grid(8, 3))
        let awc = try source("awc")
        _ = try await store.commit(Batch(source: awc, fields: [draft(on: one), draft(run: 900, on: other)]))
        _ = try await store.commit(Batch(source: awc, fields: [draft(run: 1_800, on: one)]))
        let wrong = try draft(level: .feet(32_000), on: other)
        #expect(try await !store.commit(Batch(source: awc, fields: [wrong])).changed)
        let fields = try await store.fields(asOf: nil)
        #expect(Set(fields.grids.values) == [one, other])
        #expect(fields.index.frames.map { fields.grids[$0.grid] } == [one, other, one])
        #expect(fields.index.frames.allSatisfy { $0.levels.count == 1 })
    }

    @Test("fields without a source are refused", arguments: StoreKind.all)
    func withoutSource(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        await #expect(throws: StoreError.self) {
            try await store.commit(Batch(source: nil, fields: [draft(on: grid())]))
        }
        #expect(try await store.fields(asOf: nil) == StoredFields())
    }

    @Test("a number is never given twice, so that what is cached by it stays true", arguments: StoreKind.all)
    func numbers(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        var rows = Set<Int64>()
        for number in 0..<5 {
            let drafts = try [FieldLevel.column, .feet(30_000)].map {
                try draft(run: number * 900, level: $0, on: grid())
            }
            _ = try await store.commit(Batch(source: source("awc"), fields: drafts))
            for frame in try await store.fields(asOf: nil).index.frames {
                for level in frame.levels { rows.insert(level.row) }
            }
            try await store.execute("DELETE FROM fieldLevel")
        }
        #expect(rows.count == 10)
    }

    @Test(
        "the index as of any version, and each step of changes, are those of a plain list",
        arguments: StoreKind.all, 1...8 as ClosedRange<UInt64>)
    func model(_ kind: StoreKind, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let place = try await kind.place()
        var store = try await place.open()
        let names = [try source("skypath"), try source("awc")]
        for name in names { _ = try await store.register(name, merge: .keep, simulated: false) }
        let grids = [try grid(6, 4), try grid(5, 5)]
        struct Known {
            var source: SourceID
            var draft: FieldLevelDraft
            var since: Version
        }
        var model: [Known] = []
        var version = Version.zero
        for step in 0..<40 {
            let source = try names.randomElement(using: &random).orMissing()
            var drafts: [FieldLevelDraft] = []
            for number in 0..<Int.random(in: 0...6, using: &random) {
                let product = Bool.random(using: &random) ? FieldProduct.nowcast : .forecast
                let run = Int.random(in: -4...4, using: &random) * 900
                let level = Int.random(in: -1...2, using: &random)
                drafts.append(
                    try draft(
                        product, run: run,
                        lead: product == .nowcast ? 0 : Int.random(in: 0...3, using: &random) * 3_600,
                        level: level < 0 ? .column : .feet(UInt16(30_000 + level * 2_000)), number: step * 10 + number,
                        on: grids[run == 0 ? 1 : 0]))
            }
            var added: [Known] = []
            for draft in drafts
            where !(model + added).contains(where: {
                $0.source == source && $0.draft.identity == draft.identity && $0.draft.level == draft.level
            }) {
                added.append(Known(source: source, draft: draft, since: Version(rawValue: version.rawValue + 1)))
            }
            let result = try await store.commit(Batch(source: source, fields: drafts))
            #expect(result.fieldLevels == added.count)
            if !added.isEmpty { version = Version(rawValue: version.rawValue + 1) }
            try #require(result.version == version)
            model += added
            if step == 20 {
                try store.close()
                store = try await place.open()
            }
        }
        let head = try await store.fields(asOf: nil)
        func describe(_ frames: [FieldFrame]) -> Set<String> {
            Set(
                frames.flatMap { frame in
                    frame.levels.map { "\(frame.source) \(frame.identity) \(frame.grid) \($0.level) \($0.since)" }
                })
        }
        func describe(_ known: [Known]) throws -> Set<String> {
            Set(
                try known.map { known in
                    let grid = try head.grids.first { $0.value == known.draft.grid }.orMissing().key
                    return "\(known.source) \(known.draft.identity) \(grid) \(known.draft.level) \(known.since)"
                })
        }
        for number in 0...version.rawValue {
            let past = Version(rawValue: number)
            let then = try await store.fields(asOf: past).index
            #expect(try describe(then.frames) == describe(model.filter { $0.since <= past }))
            #expect(then == FieldIndex(head.index.frames.compactMap { $0.asOf(past) }))
            let changes = try await store.changes(since: past)
            #expect(try describe(changes.fields) == describe(model.filter { $0.since > past }))
            #expect(changes.remainingFields == nil && changes.fieldGrids == head.grids)
            #expect(then.adding(changes.fields) == head.index)
        }
        for frame in head.index.frames {
            for level in frame.levels {
                let known = try #require(
                    model.first {
                        $0.source == frame.source && $0.draft.identity == frame.identity
                            && $0.draft.level == level.level
                    })
                #expect(try await store.packedFieldPlane(row: level.row) == known.draft.packed)
            }
        }
        #expect(try await store.problems() == [])
    }
}
