import Datasets
import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("A damaged database")
struct DamageTests: DamagedFiles {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

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
        // A page is full although a row is omitted, so that it doesn't look like the last one.
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

    @Test(
        "reading from an open start takes few looks wherever a page is damaged, and gives every row that can be read",
        arguments: DamagedPages.allCases, [1_200, 20_000])
    func openRange(place: DamagedPages, count: Int) async throws {
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
        #expect(store.register.probes < 500 * damaged, "\(store.register.probes)")
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
        #expect(store.register.probes < 3_000 * damaged, "\(store.register.probes)")
        #expect(store.damage == [damage])
    }

    @Test("a read whose task was cancelled ends")
    func cancelled() async throws {
        let path = try await makeFile(count: 1_200)
        #expect(try overwrite(path, pagesOf: "observation") { $0 } > 10)
        let store = try await SQLiteStore.open(path: path)
        let task = Task {
            // Ends early, by cancellation.
            try? await Task.sleep(for: .seconds(600))
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
        #expect(range.probes == 6)
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
        #expect(range.probes <= 400 * gaps.count)
    }

    @Test("positions are read around damaged pages, whole and page by page", arguments: DamagedPages.allCases)
    func positionsAround(place: DamagedPages) async throws {
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
        var next: PositionCursor?
        while true {
            let page = try await damaged.positions(after: next, from: .distantPast, to: .distantFuture, limit: 700)
            paged += page.count
            next = page.last.map(PositionCursor.init) ?? next
            if page.count < 700 { break }
        }
        #expect(paged == read.count)
        #expect(try await damaged.aircraft(from: .distantPast, to: .distantFuture).count == 200)
        #expect(damaged.register.probes < 2_000 * pages, "\(damaged.register.probes)")
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
        #expect(try await store.savePacked([1, 2, 3], of: store.rows(of: part)))
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
        #expect(try await !store.savePacked([4], of: rows))
        #expect(try await store.problems().count == 1)
    }

    @Test("a part with a row that can't be read is not packed: it would look complete")
    func partWithDamage() async throws {
        let path = try await makeFile(count: 100)
        try change(path, "UPDATE observation SET cell = 5 WHERE externalId = 'o-50'")
        let store = try await SQLiteStore.open(path: path)
        let rows = try await store.rows(of: ArchivePart(noon))
        #expect(rows.rows.count == 99 && !rows.isWhole)
        #expect(try await !store.savePacked([4], of: rows))
    }
}
