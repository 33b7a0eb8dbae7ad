import BillowFields
import Datasets
import Foundation
import GRDB
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

/// Whatever changes in a file behind SQLite's back, nothing is shown that was never stored.
@Suite("A row that changed by itself")
struct FlippedBitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func key(_ number: Int) -> AccessKey {
        AccessKey(
            id: String(repeating: "\(number)", count: 16), name: "key \(number)",
            hash: String(repeating: "a", count: 64), scopes: .ingest, createdAt: noon, revokedAt: noon)
    }

    private func flight(_ number: Int) -> MonitoredFlight {
        MonitoredFlight(id: "flight \(number)", accessKey: "key", value: "{}")
    }

    /// A closed file with two rows of every kind.
    private func makeFile() async throws -> String {
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        let skypath = try source("skypath")
        let awc = try source("awc")
        _ = try await store.register(skypath, merge: .replace, simulated: false)
        _ = try await store.register(awc, merge: .keep, simulated: false)
        for number in 1...2 {
            let ring = try AreaRing(
                [(0, 0), (number, 0), (number, 1), (0, 0)].map {
                    try LonLat(longitude: Double($0.0), latitude: Double($0.1)).orMissing()
                })
            try await store.add(key(number))
            try await store.add(flight(number))
            _ = try await store.commit(
                Batch(
                    source: awc, pilotReports: [try pilotReport(id: "r\(number)", at: number)],
                    areas: [try area("a\(number)", text: "words")],
                    positions: [try position("00000\(number)", at: number)],
                    fields: [try draft(run: number * 900, number: number, on: grid(4 + number, 3))],
                    fetchedKinds: [.reports: noon]))
            _ = try await store.commit(
                Batch(
                    source: skypath,
                    observations: [
                        try observation(
                            id: "o-\(number)", edr: 1_200, at: number, category: 50, aircraft: "B77W")
                    ],
                    coverage: [
                        CoverageChange(
                            kind: .observations, part: "part \(number)", rings: [ring], since: noon, at: noon,
                            isContinued: true, lastFetch: nil)
                    ], cursors: ["piece \(number)": "7"], values: ["name \(number)": "s"], fetchedAt: noon,
                    completeSince: noon))
        }
        try await store.setPersistedOverride("{\"a\":1}", of: skypath)
        try await store.setPersistedOverride("{\"a\":2}", of: awc)
        try store.close()
        return path
    }

    /// Changes a value of the first row of a table, as no query of ours does: a single bit of a number.
    private func change(_ path: String, _ table: String, _ column: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
            let key =
                table == "position"
                ? "icao24"
                : try String.fetchOne(
                    db, sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk DESC LIMIT 1",
                    arguments: [table]
                ).orMissing()
            let first = try DatabaseValue.fetchOne(db, sql: "SELECT min(\(key)) FROM \(table)")
            try db.execute(
                sql: """
                    UPDATE \(table) SET \(column) = CASE typeof(\(column))
                        WHEN 'integer' THEN (\(column) | 4) - (\(column) & 4) WHEN 'real' THEN \(column) + 0.5
                        WHEN 'text' THEN \(column) || 'x' WHEN 'blob' THEN CAST(zeroblob(64) AS BLOB)
                        ELSE (SELECT iif(type = 'TEXT', 'x', 5) FROM pragma_table_info('\(table)')
                            WHERE name = '\(column)') END
                    WHERE \(key) = ?
                    """, arguments: [first])
            #expect(db.changesCount == 1)
        }
        try queue.close()
    }

    /// Everything that a store gives out, as text: what is shown of each table.
    private func shown(_ store: SQLiteStore) async throws -> [StoredTable: Set<String>] {
        var shown: [StoredTable: Set<String>] = [:]
        func show<Value>(_ table: StoredTable, _ values: some Sequence<Value>) {
            shown[table] = Set(values.map { String(reflecting: $0) })
        }
        show(.observation, try await store.contents())
        show(.pilotReport, try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil))
        show(.area, try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil))
        show(.position, try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil))
        let fields = try await store.fields(asOf: nil)
        show(.fieldGrid, fields.grids.map { $0 })
        var planes: [String] = []
        for frame in fields.index.frames {
            for level in frame.levels {
                guard let packed = try await store.packedFieldPlane(row: level.row) else { continue }
                planes.append("\(frame.source) \(frame.identity) \(frame.grid) \(level.level) \(packed)")
            }
        }
        show(.fieldLevel, planes)
        show(.accessKey, try await store.accessKeys())
        show(.monitoredFlight, try await store.monitoredFlights())
        var controls: [String] = []
        var cursors: [String] = []
        var values: [String] = []
        for name in ["skypath", "awc"] {
            let source = try source(name)
            if let control = try await store.persistedOverride(of: source) { controls.append("\(name) \(control)") }
            cursors += try await store.cursors(of: source).map { "\(name) \($0) \($1)" }
            values += try await store.values(of: source).map { "\(name) \($0) \($1)" }
        }
        show(.persistedOverride, controls)
        show(.cursor, cursors)
        show(.sourceValue, values)
        let sources = try await store.sources()
        show(.source, sources.map { "\($0.number) \($0.id) \($0.merge)" })
        show(.fetched, sources.flatMap { source in source.fetchedKinds.map { "\(source.id) \($0)" } })
        show(
            .coveredArea,
            sources.flatMap { source in source.coveredAreas.map { "\($0.kind) \(String(describing: $0.ring))" } })
        return shown
    }

    private static let tables: [(StoredTable, [String])] = [
        (.observation, ObservationColumn.allCases.map(\.name)), (.pilotReport, PilotReportColumn.allCases.map(\.name)),
        (.area, AreaColumn.allCases.map(\.name)), (.position, PositionColumn.allCases.map(\.name)),
        (.accessKey, AccessKeyColumn.allCases.map(\.name)),
        (.monitoredFlight, MonitoredFlightColumn.allCases.map(\.name)),
        (.persistedOverride, PersistedOverrideColumn.allCases.map(\.name)),
        (.cursor, CursorColumn.allCases.map(\.name)),
        (.sourceValue, SourceValueColumn.allCases.map(\.name)), (.fetched, FetchedColumn.allCases.map(\.name)),
        (.coveredArea, CoveredAreaColumn.allCases.map(\.name)),
        (.fieldGrid, FieldGridColumn.allCases.map(\.name)), (.fieldLevel, FieldLevelColumn.allCases.map(\.name)),
    ]

    @Test("is not shown, is counted, listed by a check, and left out by a salvage", arguments: tables.map(\.0))
    func everyColumn(table: StoredTable) async throws {
        let path = try await makeFile()
        let sound = try await SQLiteStore.open(path: path)
        let before = try await shown(sound)
        #expect(try await sound.problems() == [])
        try sound.close()
        for column in try Self.tables.first(where: { $0.0 == table }).orMissing().1 {
            let copy = folder.path("\(column).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try change(copy, table.rawValue, column)
            let store = try await SQLiteStore.open(path: copy)
            let after = try await shown(store)
            for (other, values) in before where other != table {
                // Nothing says where the values of a level lie whose grid is lost.
                if (table, other) == (.fieldGrid, .fieldLevel) { continue }
                #expect(after[other] == values, "\(column)")
            }
            let left = try after[table].orMissing()
            #expect(try left.isStrictSubset(of: before[table].orMissing()), "\(column): \(left)")
            try await store.survey(rest: .zero)
            let damage = store.damage.first { $0.table == table }
            #expect(damage?.rows == 1, "\(column): \(store.damage)")
            #expect(try await store.problems().contains { $0.contains("table \(table.rawValue)") }, "\(column)")
            // The time that it was about is incomplete, whichever time it tells now.
            let kinds: [StoredTable: FeedKind] = [
                .observation: .observations, .pilotReport: .reports, .area: .hazards, .position: .positions,
                .fetched: .reports, .coveredArea: .observations, .fieldGrid: .fields, .fieldLevel: .fields,
            ]
            if let kind = kinds[table] {
                let lost = try await store.sources()[1].lost[kind]
                #expect(try lost.orMissing().contains(noon.advanced(by: table == .area ? 3_599 : 1)), "\(column)")
            }
            try store.close()

            let new = folder.path("\(column)-new.sqlite")
            let salvaged = try await SQLiteStore.salvage(copy, to: new, now: noon.advanced(by: 60))
            #expect(!salvaged.isWhole, "\(column)")
            #expect(salvaged.tables.first { $0.name == table.rawValue }.map { $0.refused >= 1 } ?? true, "\(column)")
            let whole = try await SQLiteStore.open(path: new)
            #expect(try await whole.problems() == [], "\(column)")
            let kept = try await shown(whole)[table].orMissing()
            #expect(try kept.isStrictSubset(of: before[table].orMissing()), "\(column)")
            try whole.close()
        }
    }

    @Test("of a position is missed wherever it was requested, whichever time it seems to be of now")
    func positionOfAnotherTime() async throws {
        for (column, value) in [("since", 1_000_000), ("observedAt", 5)] {
            let path = folder.path("\(column).sqlite")
            var store = try await SQLiteStore.open(path: path)
            _ = try await store.register(source("awc"), merge: .keep, simulated: false)
            _ = try await store.commit(
                Batch(source: source("awc"), positions: try (0..<3).map { try position("00000\($0 + 1)", at: $0) }))
            try store.close()
            let queue = try DatabaseQueue(path: path)
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "UPDATE position SET \(column) = \(value) WHERE icao24 = 2")
            }
            try queue.close()
            store = try await SQLiteStore.open(path: path)
            let seen = try await store.positions(from: noon, to: noon.advanced(by: 10), asOf: nil)
            #expect(seen.count == 2 && store.damage.first?.rows == 1, "\(column)")
            #expect(try await store.sources().first?.lost[.positions].orMissing().contains(noon) == true)
            try store.close()
            store = try await SQLiteStore.open(path: path)
            let page = try await store.positions(
                after: nil, from: noon, to: noon.advanced(by: 10), limit: 10, asOf: nil)
            #expect(page.count == 2 && store.damage.first?.rows == 1, "\(column)")
            try store.close()
        }
    }

    @Test("of the sources ends the reading, because nothing else says whose the rows are; a salvage names them")
    func damagedSource() async throws {
        let path = try await makeFile()
        for column in SourceColumn.allCases where column != .number {
            let copy = folder.path("\(column).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try change(copy, "source", column.name)
            let store = try await SQLiteStore.open(path: copy)
            let error = await #expect(throws: StoreError.self) { try await store.sources() }
            guard case .corrupt = error else {
                Issue.record("\(column): \(String(describing: error))")
                return
            }
            #expect(try await store.problems().contains { $0.contains("table source") })
            try store.close()
            let new = folder.path("\(column)-new.sqlite")
            #expect(try await !SQLiteStore.salvage(copy, to: new).isWhole)
            let whole = try await SQLiteStore.open(path: new)
            #expect(try await whole.sources().map(\.id.name) == ["salvaged-0", "awc"])
            #expect(try await whole.contents().count == 2)
            #expect(try await whole.problems() == [])
        }
    }

    @Test("of the head is found when the file is opened; a salvage makes another log of it, which knows its rows")
    func damagedHead() async throws {
        let path = try await makeFile()
        let sound = try await SQLiteStore.open(path: path)
        let contents = try await sound.contents()
        try sound.close()
        for column in HeadColumn.allCases where column != .id {
            let copy = folder.path("\(column).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try change(copy, "head", column.name)
            let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: copy) }
            guard case .corrupt = error else {
                Issue.record("\(column): \(String(describing: error))")
                return
            }
            let new = folder.path("\(column)-new.sqlite")
            _ = try await SQLiteStore.salvage(copy, to: new)
            let whole = try await SQLiteStore.open(path: new)
            #expect(try await Set(whole.contents()) == Set(contents))
            #expect(try await whole.commit(Batch(source: nil, observations: contents)).duplicates == contents.count)
        }
    }

    @Test("of the times of changes is found by a check", arguments: 0...2, [-1, 100])
    func changedStep(kind: Int, by change: Int) async throws {
        let path = try await makeFile()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(
                sql: "UPDATE changedStep SET version = version + ? WHERE kind = ?", arguments: [change, kind])
        }
        try queue.close()
        let store = try await SQLiteStore.open(path: path)
        #expect(try await store.problems().count == 1)
    }

    @Test("neither opens nor closes another row, and what comes again takes its place")
    func otherRows() async throws {
        let path = try await makeFile()
        try change(path, "observation", "externalId")
        let store = try await SQLiteStore.open(path: path)
        // The damaged row has this id now.
        let other = try observation(id: "o-1x", severity: 4, edr: 1_300, at: 50)
        let result = try await store.commit(other)
        #expect(result.accepted == 1 && result.corrected == 0)
        let first = try observation(id: "o-1", edr: 1_200, at: 1, category: 50, aircraft: "B77W")
        let second = try observation(id: "o-2", edr: 1_200, at: 2, category: 50, aircraft: "B77W")
        #expect(try await store.contents() == [second, other])
        #expect(try await store.commit(first).accepted == 1)
        #expect(try await store.commit(first, second).duplicates == 2)
        #expect(try await store.contents() == [first, second, other])
        // What is missing of versions before stays known.
        try await store.survey(rest: .zero)
        #expect(store.damage.first?.rows == 1)
        #expect(try await !store.problems().isEmpty)
    }

    @Test("does not look whole after it was changed on purpose")
    func laundering() async throws {
        let path = try await makeFile()
        for (table, column) in [
            (StoredTable.observation, "severity"), (.pilotReport, "lat"), (.area, "hazard"), (.accessKey, "revokedAt"),
            (.monitoredFlight, "accessKey"),
        ] { try change(path, table.rawValue, column) }
        let store = try await SQLiteStore.open(path: path)
        let everything = Retraction(from: .distantPast, to: .distantFuture, covers: { _ in true }, standing: [:])
        #expect(try await store.commit(Batch(source: source("skypath"), retraction: everything)).retracted == 1)
        #expect(try await !store.revokeAccessKey(id: key(1).id, at: noon))
        try await store.update([flight(1)])
        _ = try await store.commit(
            Batch(
                source: source("awc"), areaReplacements: [AreaReplacement(collection: .hazards, kind: nil, at: noon)]))
        #expect(try await store.accessKeys() == [key(2)])
        #expect(try await store.monitoredFlights() == [flight(2)])
        try await store.survey(rest: .zero)
        #expect(
            Set(store.damage.map(\.table)) == [.observation, .pilotReport, .area, .accessKey, .monitoredFlight])
    }

    @Test("of positions is replaced when the position comes again")
    func positionAgain() async throws {
        let path = try await makeFile()
        try change(path, "position", "altitude")
        let store = try await SQLiteStore.open(path: path)
        #expect(try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
        let again = Batch(source: try source("awc"), positions: [try position("000001", at: 1)])
        #expect(try await store.commit(again).positions == 1)
        #expect(try await store.commit(again).positions == 0)
        #expect(try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil).count == 2)
    }

    /// A copy of a file of which one bit of the first observation's key changed.
    ///
    /// - Parameter bit: from the first bit of the nine bytes that SQLite stores a key of this size in.
    private func changeKey(of path: String, bit: Int, into copy: String) async throws {
        let queue = try DatabaseQueue(path: path)
        let page = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'observation'")
        }.orMissing()
        let first = try await queue.read { try Int64.fetchOne($0, sql: "SELECT min(key) FROM observation") }
            .orMissing()
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // Seven bits each, and the last one whole.
        var varint = (1...8).map { UInt8(truncatingIfNeeded: UInt64(first) >> UInt64(8 + 7 * (8 - $0))) & 0x7F | 0x80 }
        varint.append(UInt8(truncatingIfNeeded: first))
        let place = try bytes.range(of: Data(varint), in: (page - 1) * 4_096..<page * 4_096).orMissing()
        bytes[place.lowerBound + bit / 8] ^= 0x80 >> UInt8(bit % 8)
        try bytes.write(to: URL(fileURLWithPath: copy))
    }

    @Test("behind a key that became larger, the rows of its range are read all the same")
    func largerKey() async throws {
        let path = try await makeFile()
        try await changeKey(of: path, bit: 19, into: path)
        let store = try await SQLiteStore.open(path: path)
        let rows = try await store.rows(from: noon, to: noon.advanced(by: 3))
        #expect(rows.rows.map(\.observedAt) == [noon.advanced(by: 2)])
        #expect(store.damage.first?.rows == 1)
        #expect(try await store.sources()[1].lost[.observations].orMissing().contains(noon.advanced(by: 1)))
    }

    @Test("is found by a survey that ends, whatever time its key tells: also one that no instant has")
    func anyKey() async throws {
        let path = try await makeFile()
        // The first bit of each byte but the last marks that the key continues.
        for bit in 0..<72 where bit % 8 > 0 || bit == 64 {
            let copy = folder.path("\(bit).sqlite")
            try await changeKey(of: path, bit: bit, into: copy)
            let store = try await SQLiteStore.open(path: copy)
            try await store.survey(rest: .zero)
            #expect(!store.damage.filter { $0.table == .observation }.isEmpty, "bit \(bit)")
            try store.close()
        }
    }

    @Test(
        "by any bit of a page is never shown, and a check finds it",
        arguments: [
            StoredTable.observation, .pilotReport, .area, .position, .accessKey, .monitoredFlight, .coveredArea,
            .cursor,
            .fieldGrid, .fieldLevel,
        ])
    func anyBit(table: StoredTable) async throws {
        let path = try await makeFile()
        let sound = try await SQLiteStore.open(path: path)
        let before = try await shown(sound)
        try sound.close()
        let queue = try DatabaseQueue(path: path)
        let pages = try await queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", arguments: [table.rawValue])
        }
        try queue.close()
        let page = try pages.first.orMissing()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let start = (page - 1) * 4_096
        let content = start + Int(bytes[start + 5]) << 8 + Int(bytes[start + 6])
        var random = SeededGenerator(seed: UInt64(page))
        for number in 0..<60 {
            let copy = folder.path("\(number).sqlite")
            var changed = bytes
            changed[Int.random(in: content..<start + 4_096, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
            try changed.write(to: URL(fileURLWithPath: copy))
            // A page that makes no sense may fail any of it, which says enough.
            guard let store = try? await SQLiteStore.open(path: copy) else { continue }
            if let after = try? await shown(store) {
                for (shown, values) in after {
                    let wrong = try values.subtracting(before[shown].orMissing())
                    #expect(wrong.isEmpty, "bit \(number) of \(table): \(shown) \(wrong)")
                }
            }
            #expect(try await !store.problems().isEmpty)
            try store.close()
        }
    }
}
