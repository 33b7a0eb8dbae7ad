import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("A damaged database")
struct DamageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func key(_ number: Int) -> AccessKey {
        AccessKey(
            id: String(repeating: "\(number % 10)", count: 16), name: "k\(number)",
            hash: String(repeating: "a", count: 64), scopes: .ingest, createdAt: noon)
    }

    /// A closed file with an observation a second, a key and a setting.
    private func makeFile(_ name: String = "a.sqlite", count: Int) async throws -> String {
        let path = folder.path(name)
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        try await store.add(key(1))
        try await store.setControl("{\"a\":1}", of: source("skypath"))
        _ = try await store.commit(
            Batch(
                source: source("skypath"), observations: try (0..<count).map { try observation(id: "o-\($0)", at: $0) },
                pilotReports: [], cursors: ["all": "7"], values: ["session": "s"], fetchedAt: noon,
                completeSince: noon.advanced(by: -3_600)))
        _ = try await store.commit(
            Batch(source: source("awc"), pilotReports: try (0..<20).map { try pilotReport(id: "r\($0)", at: $0) }))
        try store.close()
        return path
    }

    /// Changes a closed file as another program would.
    private func change(_ path: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON; \(sql)")
        }
        try queue.close()
    }

    /// How many rows lie in some leaf pages of a table.
    private func rows(_ path: String, of name: String, in choose: ([Int]) -> [Int]) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        let counts = try queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                arguments: [name])
        }
        try queue.close()
        return choose(Array(counts.indices)).reduce(0) { $0 + counts[$1] }
    }

    /// Overwrites pages of a table or an index.
    private func overwrite(_ path: String, pagesOf name: String, _ choose: ([Int]) -> [Int]) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        let pages = try queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                arguments: [name])
        }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let chosen = choose(pages)
        for page in chosen {
            let start = (page - 1) * 4_096
            bytes.replaceSubrange(start..<start + 200, with: Data(repeating: 0xAB, count: 200))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        return chosen.count
    }

    @Test("one row that makes no sense is left out, counted, and marks its source; everything else is read")
    func oneRow() async throws {
        let path = try await makeFile(count: 300)
        try change(path, "UPDATE observation SET cell = cell + 1 WHERE externalId = 'o-150'")
        let store = try await SQLiteStore.open(path: path)
        #expect(store.damage.isEmpty)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(rows.rows.count == 299)
        // The answer that lacks the row says so itself, of every source: which one the row was of isn't known.
        #expect(rows.sources.map(\.completeSince) == [noon.advanced(by: 151), noon.advanced(by: 151)])
        #expect(try await store.sources() == rows.sources)
        let damage = try #require(store.damage.first)
        #expect(store.damage.count == 1 && damage.table == .observation && damage.rows == 1 && damage.gaps == 0)
        #expect(damage.from == noon.advanced(by: 150) && damage.to == damage.from)
        // Met again, it is the same one.
        _ = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(store.damage == [damage])
        // A page is full although a row of it is left out, so that nobody takes it for the last.
        let page = try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: 200)
        #expect(page.count == 200 && page.last?.details.id == "o-200")
        #expect(try await store.changes(since: .zero).opened.count == 299)
        #expect(try await store.observation(id: "o-150") == nil)
        #expect(try await store.accessKeys() == [key(1)])
        #expect(try await store.problems().contains { $0.contains("row") && $0.contains("observation") })
        #expect(try await store.commit(observation(at: 1_000)).accepted == 1)
    }

    @Test("rows of every kind that make no sense are left out, and mark what they are about")
    func everyKind() async throws {
        let path = try await makeFile(count: 3)
        let store = try await SQLiteStore.open(path: path)
        let areas = try (0..<3).map { try area("a\($0)", to: 3_600 + $0) }
        let positions = try (0..<3).map { try position("00000\($0 + 1)", at: $0) }
        _ = try await store.commit(Batch(source: source("awc"), areas: areas, positions: positions))
        try await store.add(key(2))
        try store.close()
        try change(
            path,
            """
            UPDATE pilotReport SET turbulence = '{"a":1}' WHERE id = 'r7';
            UPDATE area SET geometry = '[1]' WHERE id = 'a1';
            UPDATE position SET lat = 900 WHERE icao24 = 2;
            UPDATE accessKey SET scopes = 70000 WHERE name = 'k2';
            """)
        let damaged = try await SQLiteStore.open(path: path)
        #expect(try await damaged.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 19)
        #expect(
            try await damaged.pilotReports(after: nil, from: .distantPast, to: .distantFuture, limit: 15).count == 15)
        #expect(
            try await damaged.areas(nil, from: noon, to: noon.advanced(by: 1), asOf: nil).map(\.id) == ["a0", "a2"])
        #expect(try await damaged.positions(from: .distantPast, to: .distantFuture, asOf: nil).count == 2)
        #expect(try await damaged.accessKeys() == [key(1)])
        #expect(Set(damaged.damage.map(\.table)) == [.pilotReport, .area, .position, .accessKey])
        let awc = try #require(try await damaged.sources().last)
        #expect(awc.completeSince(.reports) == noon.advanced(by: 8))
        #expect(awc.completeSince(.hazards) == noon.advanced(by: 3_602))
        #expect(awc.completeSince(.positions).map { $0 >= noon.advanced(by: 2) } == true)
    }

    @Test("what is sent again takes the place of a row that can't be read", arguments: ["o-1", nil])
    func sentAgain(id: String?) async throws {
        let store = try await makeStore()
        let sent = Batch(
            source: try source("awc"), observations: [try observation(id: id, at: 1)],
            pilotReports: [try pilotReport()], areas: [try area("a")])
        #expect(try await store.commit(sent).accepted == 1)
        try await store.pool.write { db in
            try db.execute(sql: "UPDATE observation SET cell = 5; UPDATE pilotReport SET turbulence = '{\"a\":1}'")
            try db.execute(sql: "UPDATE area SET geometry = '[1]'")
        }
        let again = try await store.commit(sent)
        #expect(again.accepted == 1 && again.pilotReports == 1 && again.areas == 1)
        #expect(try await store.contents().count == 1)
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
        #expect(try await store.areas(nil, from: noon, to: noon.advanced(by: 1), asOf: nil).count == 1)
        #expect(Set(store.damage.map(\.table)) == [.observation, .pilotReport, .area])
        let third = try await store.commit(sent)
        #expect(third.accepted == 0 && third.duplicates == 1 && !third.changed)
        // A complete fetch without it retracts what can be read.
        let retraction = Retraction(from: noon, to: noon.advanced(by: 10), covers: { _ in true }, standing: [:])
        #expect(try await store.commit(Batch(source: source("skypath"), retraction: retraction)).retracted == 1)
    }

    @Test("pages that can't be read are read around, and the time between their neighbours is marked")
    func pages() async throws {
        let path = try await makeFile(count: 20_000)
        #expect(try overwrite(path, pagesOf: "observation") { [$0[$0.count / 3], $0[$0.count / 2]] } == 2)
        let store = try await SQLiteStore.open(path: path)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(rows.rows.count > 19_500 && rows.rows.count < 20_000)
        #expect(rows.rows.map(\.key) == rows.rows.map(\.key).sorted())
        let damage = try #require(store.damage.first)
        #expect(damage.gaps >= 2)
        let from = try damage.from.orMissing()
        let to = try damage.to.orMissing()
        #expect(from > noon.advanced(by: 5_000) && to < noon.advanced(by: 12_000))
        #expect(rows.sources.first?.completeSince == to.advanced(by: 1))
        var paged = 0
        var after: ObservationKey?
        while true {
            let page = try await store.page(after: after, from: .distantPast, to: .distantFuture, limit: 1_000)
            paged += page.count
            after = page.last?.row.key
            if page.count < 1_000 { break }
        }
        #expect(paged == rows.rows.count)
    }

    /// Which of a table's leaf pages are damaged.
    enum Place: String, CaseIterable {
        case first, last, firstAndLast, middle, twoInTheMiddle

        func pages<Page>(_ all: [Page]) -> [Page] {
            switch self {
            case .first: [all[0]]
            case .last: [all[all.count - 1]]
            case .firstAndLast: [all[0], all[all.count - 1]]
            case .middle: [all[all.count / 2]]
            case .twoInTheMiddle: [all[all.count / 3], all[all.count / 2]]
            }
        }
    }

    @Test(
        "reading from an open start takes few looks wherever a page is damaged, and gives every row that can be read",
        arguments: Place.allCases, [1_200, 20_000])
    func openRange(place: Place, count: Int) async throws {
        let path = try await makeFile(count: count)
        let lost = try rows(path, of: "observation", in: place.pages)
        let damaged = try overwrite(path, pagesOf: "observation", place.pages)
        let store = try await SQLiteStore.open(path: path)
        var paged = 0
        var after: ObservationKey?
        while true {
            let page = try await store.page(after: after, from: .distantPast, to: .distantFuture, limit: 500)
            paged += page.count
            after = page.last?.row.key ?? after
            if page.count < 500 { break }
        }
        #expect(paged == count - lost)
        #expect(store.register.looks < 500 * damaged, "\(store.register.looks)")
        let damage = try #require(store.damage.first)
        #expect(store.damage.count == 1 && damage.gaps == damaged && damage.rows == 0)
        // What can't be read lies between times that are known.
        #expect(try damage.from.orMissing() >= noon.advanced(by: -10))
        #expect(try damage.to.orMissing() <= noon.advanced(by: count + 10))
        let skypath = try #require(try await store.sources().first)
        #expect(try skypath.completeSince.orMissing() <= noon.advanced(by: count + 11))
        #expect(skypath.lost[.observations] != nil && skypath.lost[.positions] == nil)

        #expect(try await store.rows(from: .distantPast, to: .distantFuture).rows.count == paged)
        try await store.survey(rest: .zero)
        #expect(store.register.looks < 3_000 * damaged, "\(store.register.looks)")
        #expect(store.damage == [damage])
    }

    @Test("a survey jumps over years without a row, also where the page before them can't be read")
    func surveyOfFewRows() async throws {
        let path = try await makeFile(count: 1_200)
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.commit(observation(at: -40 * 365 * 86_400))
        try store.close()
        #expect(try overwrite(path, pagesOf: "observation") { [$0[0]] } == 1)
        let damaged = try await SQLiteStore.open(path: path)
        try await damaged.survey(rest: .zero)
        #expect(damaged.register.looks < 1_000, "\(damaged.register.looks)")
        #expect(damaged.damage.first?.gaps == 1)
    }

    @Test("a read whose task was cancelled ends")
    func cancelled() async throws {
        let path = try await makeFile(count: 1_200)
        #expect(try overwrite(path, pagesOf: "observation") { $0 } > 10)
        let store = try await SQLiteStore.open(path: path)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: 10).count
        }
        task.cancel()
        await #expect(throws: StoreError.self) { try await task.value }
        var looks = 0
        var range = DamagedRange {
            looks += 1
            if looks == 7 { throw CancellationError() }
        }
        let scan: DamagedRange.Scan<Int> = { _, _ in throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        #expect(throws: CancellationError.self) { try range.read(0...Int64.max - 1, scan, gap: { _ in }) { _, _ in } }
        #expect(range.looks == 6)
    }

    @Test("every row of pages that can be read is found, whichever others can't be", arguments: 0..<40 as Range<UInt64>)
    func anyPages(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Pages of up to 60 rows, a second or an hour apart.
        let apart: Int64 = seed % 2 == 0 ? 1 << 30 : 3_600 << 30
        let start: Int64 = 1_795_262_400 << 30
        let pages: [[Int64]] = (0..<60).map { page in
            (0..<60).map { start + Int64(page * 60 + $0) * apart + Int64.random(in: 0..<1 << 29, using: &random) }
        }
        let bad = Set((0..<Int.random(in: 1...6, using: &random)).map { _ in Int.random(in: 0..<60, using: &random) })
        let scan: DamagedRange.Scan<Int64> = { keys, body in
            for (number, page) in pages.enumerated() where page[page.count - 1] >= keys.lowerBound {
                if bad.contains(number) { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                for key in page where keys.contains(key) { try body(key, key) }
            }
            if bad.contains(pages.count - 1) { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        }
        var found: [Int64] = []
        var gaps: [ClosedRange<Int64>] = []
        var range = DamagedRange()
        try range.read(start...start + 3_601 * apart, scan, gap: { gaps.append($0) }) { key, _ in found.append(key) }
        #expect(found == pages.enumerated().filter { !bad.contains($0.offset) }.flatMap(\.element))
        #expect(gaps.allSatisfy { gap in !found.contains(where: gap.contains) })
        #expect(range.looks <= 400 * gaps.count)
    }

    @Test("positions are read around damaged pages, whole and page by page", arguments: Place.allCases)
    func positionsAround(place: Place) async throws {
        let path = try await makeFile(count: 3)
        let store = try await SQLiteStore.open(path: path)
        let positions = try (0..<6_000).map {
            try position(String(format: "%06x", $0 % 200 + 1), at: $0 / 200 * 60, source: "awc")
        }
        _ = try await store.commit(Batch(source: source("awc"), positions: positions))
        try store.close()
        let lost = try rows(path, of: "position", in: place.pages)
        let pages = try overwrite(path, pagesOf: "position", place.pages)
        let damaged = try await SQLiteStore.open(path: path)
        let read = try await damaged.positions(from: .distantPast, to: .distantFuture, asOf: nil)
        // Of one aircraft at each gap up to three minutes may go with it, in a table that is ordered by more than that.
        #expect(read.count <= 6_000 - lost && read.count >= 6_000 - lost - 3 * pages)
        var paged = 0
        var next: PositionPlace?
        while true {
            let page = try await damaged.positions(after: next, from: .distantPast, to: .distantFuture, limit: 700)
            paged += page.count
            next = page.last.map(PositionPlace.init) ?? next
            if page.count < 700 { break }
        }
        #expect(paged == read.count)
        #expect(try await damaged.aircraft(from: .distantPast, to: .distantFuture).count == 200)
        #expect(damaged.register.looks < 2_000 * pages, "\(damaged.register.looks)")
        try await damaged.survey(rest: .zero)
        #expect(damaged.damage.map(\.table) == [.position] && damaged.damage.first?.gaps == pages)
        let awc = try #require(try await damaged.sources().last)
        #expect(try awc.lost[.positions].orMissing().upperBound <= noon.advanced(by: 1_800 + 360))
        try damaged.close()

        let salvaged = try await SQLiteStore.salvage(path, to: folder.path("new.sqlite"))
        // Some rows lie in pages above the damaged ones, where a search page by page finds them.
        let rows = try salvaged.tables.first { $0.name == "position" }.orMissing().rows
        #expect(rows >= read.count && rows < read.count + 10)
    }

    @Test("an index that can't be read hides no row")
    func index() async throws {
        let path = try await makeFile(count: 2_000)
        for name in ["pilotReportTime", "pilotReportAny", "observationOpen"] {
            _ = try overwrite(path, pagesOf: name) { $0 }
        }
        let store = try await SQLiteStore.open(path: path)
        #expect(try await store.rows(from: .distantPast, to: .distantFuture).rows.count == 2_000)
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 20)
        var paged: [String] = []
        var after: (Instant, String)?
        while true {
            let page = try await store.pilotReports(after: after, from: .distantPast, to: .distantFuture, limit: 7)
            paged += page.map(\.id)
            after = page.last.map { ($0.observedAt, $0.id) } ?? after
            if page.count < 7 { break }
        }
        #expect(paged == (0..<20).map { "r\($0)" })
        #expect(try await !store.problems().isEmpty)
        let error = await #expect(throws: StoreError.self) { try await store.changes(since: .zero) }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a table whose index lacks a row is not sound")
    func indexLacksRow() async throws {
        let path = try await makeFile(count: 10)
        let store = try await SQLiteStore.open(path: path)
        #expect(try await store.problems() == [])
        try store.close()
        let other = try DatabaseQueue(path: path)
        try await other.writeWithoutTransaction { db in
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT * FROM sqlite_master WHERE name = 'observationOpen'"))
            try db.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'observationOpen'")
            try db.execute(sql: "PRAGMA writable_schema = RESET")
            try db.execute(
                sql: """
                    INSERT INTO observation (key, cell, altitudeMin, altitudeMax, severity, source, kind, since,
                        imported, transient, reporter, idTaken, sum)
                    SELECT key + 1000000, cell, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0 FROM observation LIMIT 1
                    """)
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)",
                arguments: StatementArguments(row.databaseValues))
        }
        try other.close()
        let checked = try await SQLiteStore.open(path: path, access: .reading)
        #expect(try await checked.problems().contains { $0.contains("observationOpen") })
    }

    @Test("a row that vanished by itself is found by the sum of its packed part, and its part is not packed again")
    func silentChange() async throws {
        let path = try await makeFile(count: 100)
        var store = try await SQLiteStore.open(path: path)
        let part = ArchivePart(noon)
        #expect(try await store.keep([1, 2, 3], packedFrom: store.rows(of: part)))
        // A correction since then is none.
        _ = try await store.commit(observation(id: "o-7", severity: 4, at: 7))
        #expect(try await store.problems() == [])
        try store.close()
        try change(path, "DELETE FROM observation WHERE externalId = 'o-50'")
        store = try await SQLiteStore.open(path: path)
        #expect(try await store.problems().count == 1)
        #expect(store.damage.first?.changedParts == 1)
        #expect(try await store.sources().allSatisfy { $0.completeSince == part.end.advanced(by: 1) })
        let rows = try await store.rows(of: part)
        #expect(!rows.isWhole)
        #expect(try await !store.keep([4], packedFrom: rows))
        #expect(try await store.problems().count == 1)
    }

    @Test("a part with a row that can't be read is not packed: it would look complete")
    func partWithDamage() async throws {
        let path = try await makeFile(count: 100)
        try change(path, "UPDATE observation SET cell = 5 WHERE externalId = 'o-50'")
        let store = try await SQLiteStore.open(path: path)
        let rows = try await store.rows(of: ArchivePart(noon))
        #expect(rows.rows.count == 99 && !rows.isWhole)
        #expect(try await !store.keep([4], packedFrom: rows))
    }

    // MARK: Salvage

    @Test("a salvage has every row that can be read, keys, changed queries and sources, and marks what it lacks")
    func salvage() async throws {
        let path = try await makeFile(count: 20_000)
        #expect(try overwrite(path, pagesOf: "observation") { [$0[$0.count / 2]] } == 1)
        try change(path, "UPDATE pilotReport SET turbulence = '{\"a\":1}' WHERE id = 'r7'")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(!salvaged.isWhole)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let store = try await SQLiteStore.open(path: new)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(rows.rows.count > 19_800 && rows.rows.count < 20_000)
        #expect(salvaged.tables.first { $0.name == "observation" }?.rows == rows.rows.count)
        #expect(salvaged.tables.first { $0.name == "pilotReport" }?.refused == 1)
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 19)
        #expect(try await store.accessKeys() == [key(1)])
        #expect(try await store.control(of: source("skypath")) == "{\"a\":1}")
        // Everything that an upstream still has is fetched anew.
        #expect(try await store.cursors(of: source("skypath")).isEmpty)
        #expect(try await store.values(of: source("skypath")).isEmpty)
        let since = try salvaged.completeSince.orMissing()
        #expect(since >= noon.advanced(by: 9_000))
        #expect(rows.sources.allSatisfy { $0.completeSince == since })
        #expect(rows.head.version == salvaged.version)
        #expect(try await store.problems() == [])
        #expect(try await store.commit(observation(at: 30_000)).accepted == 1)
        await #expect(throws: StoreError.self) { try await SQLiteStore.salvage(path, to: new) }
    }

    @Test(
        "a salvage keeps every row that can be read, marks what is missing, and what comes later is complete",
        arguments: Place.allCases, [(1_200, true), (20_000, true), (20_000, false)])
    func salvageOfEdges(place: Place, file: (count: Int, hasTimes: Bool)) async throws {
        let path = try await makeFile(count: file.count)
        let lost = try rows(path, of: "observation", in: place.pages)
        let pages = try overwrite(path, pagesOf: "observation", place.pages)
        // When what changed tells between when anything was stored; without it the moment of the salvage does.
        if !file.hasTimes { #expect(try overwrite(path, pagesOf: "changedStep") { $0 } > 0) }
        let now = noon.advanced(by: file.count + 3_600)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new, now: now)
        let table = try #require(salvaged.tables.first { $0.name == "observation" })
        #expect(table.rows == file.count - lost && table.gaps.count == pages)
        let store = try await SQLiteStore.open(path: new)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(rows.rows.count == file.count - lost)
        let since = try salvaged.completeSince.orMissing()
        #expect(since > noon && since <= now.advanced(by: 301))
        if file.hasTimes { #expect(since <= noon.advanced(by: file.count + 20)) }
        // No row that is there is newer than what is missing, where the last page is.
        let newest = try rows.rows.map(\.observedAt).max().orMissing()
        #expect((since > newest) == [.last, .firstAndLast].contains(place))
        #expect(rows.sources.allSatisfy { $0.completeSince == since })
        #expect(rows.sources.allSatisfy { $0.lost[.observations] == .distantPast...since.advanced(by: -1) })

        _ = try await store.commit(
            Batch(
                source: source("skypath"), observations: [try observation(at: file.count + 7_200)],
                fetchedAt: now.advanced(by: 3_600)))
        #expect(try await store.sources().first?.completeSince == since)
        #expect(try await store.problems() == [])
    }

    @Test("a salvage that lacks keys alone is complete from then on")
    func salvageWithoutKeys() async throws {
        let path = try await makeFile(count: 5)
        #expect(try overwrite(path, pagesOf: "accessKey") { $0 } == 1)
        let salvaged = try await SQLiteStore.salvage(path, to: folder.path("new.sqlite"), now: noon.advanced(by: 60))
        #expect(!salvaged.isWhole && salvaged.completeSince == noon.advanced(by: 360))
    }

    @Test("a salvage by a clock that is years behind marks what is missing all the same")
    func salvageByClockBehind() async throws {
        let path = try await makeFile(count: 1_200)
        #expect(try overwrite(path, pagesOf: "pilotReport") { $0 } >= 1)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new, now: noon.advanced(by: -2 * 365 * 86_400))
        // As new as any report that was stored.
        #expect(try salvaged.completeSince.orMissing() > noon.advanced(by: 19))
        let store = try await SQLiteStore.open(path: new)
        for record in try await store.sources() {
            #expect(try record.lost[.reports].orMissing().contains(noon.advanced(by: 20)))
        }
    }

    @Test("a salvage of a sound database is the same database, cursors too")
    func salvageOfSound() async throws {
        let path = try await makeFile(count: 500)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(salvaged.isWhole && salvaged.completeSince == nil)
        let old = try await SQLiteStore.open(path: path)
        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.contents() == old.contents())
        #expect(try await store.sources() == old.sources())
        #expect(try await store.cursors(of: source("skypath")) == ["all": "7"])
        #expect(try await store.values(of: source("skypath")) == ["session": "s"])
        #expect(try await store.head().log != old.head().log)
        #expect(try await store.changes(since: .zero).opened.count == 500)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("unfini") })
    }

    @Test("rows keep a source whose name can't be read")
    func salvageWithoutSource() async throws {
        let path = try await makeFile(count: 5)
        try change(path, "PRAGMA foreign_keys = OFF; DELETE FROM source WHERE number = 0")
        let new = folder.path("new.sqlite")
        _ = try await SQLiteStore.salvage(path, to: new)
        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.sources().map(\.id.name) == ["salvaged-0", "awc"])
        #expect(try await store.contents().count == 5)
    }

    @Test("rows whose source is lost stay real or simulated, as far as anything says so, and end no others")
    func natureOfLostSources() async throws {
        func salvaged(simulated: Bool?, lost: [String]) async throws -> [SourceRecord] {
            let path = folder.path("\(UUID()).sqlite")
            let store = try await SQLiteStore.open(path: path)
            _ = try await store.register(source("skypath"), merge: .replace, simulated: simulated)
            _ = try await store.commit(try observation(id: "o"))
            try store.close()
            for name in lost { #expect(try overwrite(path, pagesOf: name) { $0 } == 1) }
            let new = folder.path("\(UUID()).sqlite")
            _ = try await SQLiteStore.salvage(path, to: new)
            return try await SQLiteStore.open(path: new).sources()
        }
        for simulated in [true, false, nil] {
            let sources = try await salvaged(simulated: simulated, lost: ["source"])
            #expect(sources.map(\.id.name) == ["salvaged-0"])
            #expect(sources.map(\.simulated) == [simulated])
            #expect(sources.map(\.merge) == [.keep])
        }
        // Nothing says that it is real.
        #expect(try await salvaged(simulated: false, lost: ["source", "head"]).map(\.simulated) == [true])
    }

    private static let kinds: [DataKind] = [.observations, .reports, .hazards, .forecasts, .polygons, .positions]

    @Test("a source that is made known after a salvage is complete no earlier than what is missing")
    func newSourceAfterSalvage() async throws {
        let path = try await makeFile(count: 5)
        #expect(try overwrite(path, pagesOf: "source") { $0 } == 1)
        let new = folder.path("new.sqlite")
        let now = noon.advanced(by: 86_400)
        _ = try await SQLiteStore.salvage(path, to: new, now: now)
        let store = try await SQLiteStore.open(path: new)
        _ = try await store.register(source("ingest"), merge: .keep, simulated: nil)
        _ = try await store.commit(observation(at: 90_000, source: "ingest"))
        let ingest = try #require(try await store.sources().first { $0.id.name == "ingest" })
        for kind in Self.kinds {
            #expect(ingest.lost[kind].map { $0.lowerBound == .distantPast && $0.upperBound >= now } == true)
        }
        #expect(try await store.contents().count == 6)
    }

    @Test("the kinds of data that were ever stored are known, also of a salvaged file and after damage")
    func storedKinds() async throws {
        let path = try await makeFile(count: 5)
        func kinds(_ store: SQLiteStore) async throws -> [Set<DataKind>] {
            try await store.sources().map(\.storedKinds)
        }
        let store = try await SQLiteStore.open(path: path)
        #expect(try await kinds(store) == [[.observations], [.reports]])
        var polygon = try area("b")
        polygon.collection = .polygons
        _ = try await store.commit(Batch(source: source("awc"), areas: [try area("a"), polygon]))
        let seen = try position("000001", at: 1, source: "skypath")
        _ = try await store.commit(Batch(source: source("skypath"), positions: [seen]))
        let all: [Set<DataKind>] = [[.observations, .positions], [.reports, .hazards, .polygons]]
        #expect(try await kinds(store) == all)
        // Retention forgets nothing of it.
        _ = try await store.prune(Pruning(before: .distantFuture, sources: nil))
        #expect(try await kinds(store) == all)
        try store.close()

        let other = try await makeFile("b.sqlite", count: 5)
        try change(other, "UPDATE storedKind SET kind = 'hazards' WHERE source = 1")
        let damaged = try await SQLiteStore.open(path: other)
        #expect(try await kinds(damaged) == [[.observations], []])
        for record in try await damaged.sources() {
            #expect(Self.kinds.allSatisfy { record.lost[$0] == .distantPast ... .distantFuture })
        }
        try damaged.close()
        let new = folder.path("new.sqlite")
        #expect(try await !SQLiteStore.salvage(other, to: new, now: noon).isWhole)
        #expect(try await kinds(SQLiteStore.open(path: new)) == [[.observations], [.reports]])
    }

    @Test("a survey finds nothing wrong with the rows of sources that come while it goes on")
    func surveyBesideNewSources() async throws {
        let store = try await SQLiteStore.open(path: folder.path("a.sqlite"))
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        // It rests after each hour of the log.
        for hour in 0..<8 { _ = try await store.commit(try observation(id: "o\(hour)", at: hour * 7_200)) }
        async let survey: Void = store.survey(rest: .milliseconds(40))
        for number in 0..<40 {
            let name = "late-\(number)"
            _ = try await store.register(source(name), merge: .keep, simulated: false)
            _ = try await store.commit(
                Batch(
                    source: source(name), positions: [try position("00000\(number % 9 + 1)", at: number, source: name)])
            )
            try await Task.sleep(for: .milliseconds(25))
        }
        try await survey
        #expect(store.damage == [])
    }

    @Test("a page of keys that can't be read is said, and ends no survey of what else is damaged")
    func surveyGoesOn() async throws {
        let path = try await makeFile(count: 5)
        let sound = try await SQLiteStore.open(path: path)
        for number in 0..<400 {
            _ = try await sound.commit(
                Batch(
                    source: source("awc"),
                    positions: [try position(String(format: "%06x", number), at: number * 60)]))
        }
        _ = try await sound.commit(
            Batch(source: nil, observations: [try observation(id: "x", at: 9)], reporter: "key"))
        try sound.close()
        for table in ["accessKey", "sourceControl", "reporter", "sourceValue"] {
            #expect(try overwrite(path, pagesOf: table) { $0 } >= 1)
        }
        #expect(try overwrite(path, pagesOf: "position") { [$0[$0.count / 2]] } == 1)
        let store = try await SQLiteStore.open(path: path)
        try await store.survey(rest: .zero)
        #expect(
            Set(store.damage.map(\.table)) == [.accessKey, .sourceControl, .reporter, .sourceValue, .position])
        // And where nothing was surveyed yet, by whoever needs them first.
        for (table, read) in [
            (StoredTable.accessKey, { (store: SQLiteStore) async throws in _ = try await store.accessKeys() }),
            (.sourceControl, { store in _ = try await store.control(of: source("skypath")) }),
            (.sourceValue, { store in _ = try await store.values(of: source("skypath")) }),
            (
                .reporter,
                { store in
                    // A new one, which the table's index doesn't name.
                    _ = try await store.commit(
                        Batch(source: nil, observations: [try observation(id: "y")], reporter: "other key"))
                }
            ),
        ] {
            let store = try await SQLiteStore.open(path: path)
            await #expect(throws: StoreError.self) { try await read(store) }
            #expect(store.damage.map(\.table) == [table])
        }
    }

    @Test("the observations of a reporter whose row is lost are no other reporter's")
    func salvageWithoutReporter() async throws {
        let path = folder.path("a.sqlite")
        var store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.commit(
            Batch(source: nil, observations: [try observation(id: "x", severity: 4)], reporter: "first"))
        try store.close()
        try change(path, "PRAGMA foreign_keys = OFF; DELETE FROM reporterSource; DELETE FROM reporter")
        let new = folder.path("new.sqlite")
        _ = try await SQLiteStore.salvage(path, to: new)
        store = try await SQLiteStore.open(path: new)
        _ = try await store.commit(
            Batch(source: nil, observations: [try observation(id: "x", severity: 0)], reporter: "second"))
        #expect(try await store.contents().contains { $0.intensity.severity == .moderateSevere })
        #expect(try await store.problems().isEmpty)
    }

    @Test(
        "a definition that was damaged is what the schema says",
        arguments: ["CREATE TABLE observation", "cell INTEGER NOT NULL", "CREATE TABLE accessKey"])
    func damagedDefinition(of text: String) async throws {
        let path = try await makeFile(count: 50)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let range = try bytes.range(of: Data(text.utf8)).orMissing()
        bytes[range.lowerBound + 2] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: path))
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(salvaged.isWhole)
        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.contents().count == 50)
        #expect(try await store.accessKeys() == [key(1)])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("source") })
    }

    @Test("what can't be read at all is said so, and leaves nothing")
    func salvageOfNothing() async throws {
        let path = try await makeFile(count: 5)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 7, count: bytes.count - 100))
        try bytes.write(to: URL(fileURLWithPath: path))
        let error = await #expect(throws: StoreError.self) {
            try await SQLiteStore.salvage(path, to: folder.path("new.sqlite"))
        }
        guard case .corrupt(let named, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(named == path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("new") })
    }
}
