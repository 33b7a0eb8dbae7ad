import Datasets
import Foundation
import GRDB
import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Reading the log")
struct ReadTests {
    @Test("an empty store is at version zero", arguments: StoreKind.all)
    func anEmptyStoreIsAtVersionZero(_ kind: StoreKind) async throws {
        let store = try await kind.emptyStore()
        #expect(try await store.head().version == .zero)
        #expect(try await store.sources().isEmpty)
        #expect(try await store.rows(from: .distantPast, to: .distantFuture).rows.isEmpty)
        #expect(try await store.changes(since: .zero).opened.isEmpty)
        #expect(try await store.observation(id: "x") == nil)
        #expect(try await store.pilotReports(after: nil, from: .distantPast, to: .distantFuture, limit: 10).isEmpty)
    }

    @Test("the extent covers only valid rows", arguments: StoreKind.all)
    func theExtentIsOfWhatCounts(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        #expect(try await store.extent() == nil)
        _ = try await store.commit(observation(at: 5))
        #expect(try await store.extent() == noon.advanced(by: 5)...noon.advanced(by: 5))
        _ = try await store.commit(observation(at: 7), observation(id: "old", at: -3, source: "awc"))
        #expect(try await store.extent() == noon.advanced(by: -3)...noon.advanced(by: 7))
        // A pilot report is none, and what is closed no longer counts.
        _ = try await store.commit(Batch(source: source("awc"), pilotReports: [pilotReport(at: 100)]))
        _ = try await store.commit(observation(id: "old", at: 6, source: "awc"))
        #expect(try await store.extent() == noon.advanced(by: 5)...noon.advanced(by: 7))
        _ = try await store.commit(Batch(source: source("skypath"), retraction: .everything))
        #expect(try await store.extent() == noon.advanced(by: 6)...noon.advanced(by: 6))
        _ = try await store.commit(Batch(source: source("awc"), retraction: .everything))
        #expect(try await store.extent() == nil)
    }

    @Test("the oldest report or area is a valid row", arguments: StoreKind.all)
    func theOldestReportOrAreaIsOfWhatCounts(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        #expect(try await store.state().extent.oldestReportOrArea == nil)
        _ = try await store.commit(Batch(source: source("awc"), pilotReports: [pilotReport(at: 100)]))
        #expect(try await store.state().extent.oldestReportOrArea == noon.advanced(by: 100))
        _ = try await store.commit(Batch(source: source("awc"), pilotReports: [pilotReport(at: -200)]))
        #expect(try await store.state().extent.oldestReportOrArea == noon.advanced(by: -200))
        // The area that began first ends last.
        let areas = [try area("long", from: -900, to: 7_200), try area("short", from: -800, to: 600)]
        _ = try await store.commit(Batch(source: source("awc"), areas: areas))
        #expect(try await store.state().extent.oldestReportOrArea == noon.advanced(by: -900))
    }

    @Test("sources keep their numbers", arguments: StoreKind.all)
    func sourcesKeepTheirNumbers(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        let record = try await store.register(skypath, merge: .replace, simulated: false)
        #expect(record.number.rawValue == 0)
        #expect(try await store.head().version == .zero)
        // Another rule changes every picture.
        #expect(try await store.register(skypath, merge: .keep, simulated: false).merge == .keep)
        #expect(try await store.head().version.rawValue == 1)
        #expect(try await store.sources().map(\.merge) == [.keep, .keep])
        #expect(try await store.sources().map(\.simulated) == [false, false])
    }

    @Test("simulated and real sources never share a store", arguments: StoreKind.all)
    func simulatedAndRealSourcesNeverShareAStore(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        for name in ["skypath", "other"] {
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.register(source(name), merge: .keep, simulated: true)
            }
            #expect(error?.description.contains("must not be mixed") == true)
        }
        #expect(try await store.sources().map(\.simulated) == [false, false])
        #expect(try await store.sources().map(\.merge) == [.replace, .keep])
    }

    @Test("the first source decides for all whether data is simulated", arguments: StoreKind.all, [true, false])
    func firstSourceDecides(_ kind: StoreKind, simulated: Bool)
        async throws
    {
        let store = try await kind.emptyStore()
        let (ingest, skypath) = (try source("ingest"), try source("skypath"))
        for _ in 0..<2 {
            #expect(try await store.register(ingest, merge: .keep, simulated: nil).simulated == nil)
        }
        _ = try await store.commit(observation(source: "ingest"))
        #expect(try await store.sources().map(\.simulated) == [nil])
        let before = try await store.head().version
        #expect(try await store.register(skypath, merge: .replace, simulated: simulated).simulated == simulated)
        #expect(try await store.sources().map(\.simulated) == [simulated, simulated])
        // Every picture differs by its own description.
        #expect(try await store.head().version.rawValue == before.rawValue + 1)
        #expect(try await store.lastChange(of: .areas(.hazards, at: noon)) == store.head().version)
        #expect(try await store.register(source("efb"), merge: .keep, simulated: nil).simulated == simulated)
        #expect(try await store.register(ingest, merge: .keep, simulated: nil).simulated == simulated)
        await #expect(throws: StoreError.self) {
            try await store.register(ingest, merge: .keep, simulated: !simulated)
        }
        #expect(try await store.head().version.rawValue == before.rawValue + 1)
    }

    @Test("kinds of data are fetched each at a time of its own", arguments: StoreKind.all)
    func kindsOfDataAreFetchedEachAtATimeOfItsOwn(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        _ = try await store.commit(Batch(source: skypath, fetchedAt: noon))
        let record = { try await store.sources()[0] }
        // Where no kind was told, all were fetched.
        #expect(try await record().fetchedAt(.positions) == noon)
        let later = noon.advanced(by: 60)
        _ = try await store.commit(Batch(source: skypath, fetchedKinds: [.observations: later, .positions: noon]))
        _ = try await store.commit(Batch(source: skypath, fetchedKinds: [.positions: later]))
        #expect(try await record().fetchedKinds == [.observations: later, .positions: later])
        #expect(try await record().fetchedAt == noon)
        #expect(try await record().fetchedAt(.reports) == nil)
        #expect(try await store.sources()[1].fetchedKinds.isEmpty)
        await #expect(throws: StoreError.self) {
            try await store.commit(Batch(source: nil, fetchedKinds: [.reports: noon]))
        }
    }

    @Test("the 257th source is refused", arguments: StoreKind.all)
    func the257thSourceIsRefused(_ kind: StoreKind) async throws {
        let store = try await kind.emptyStore()
        for number in 0..<256 { _ = try await store.register(source("s\(number)"), merge: .keep, simulated: false) }
        #expect(try await store.sources().last?.number.rawValue == 255)
        let error = await #expect(throws: StoreError.self) {
            try await store.register(source("more"), merge: .keep, simulated: false)
        }
        guard case .tooManySources = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("cursors of an unknown source are an error", arguments: StoreKind.all)
    func cursorsOfAnUnknownSourceAreAnError(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        await #expect(throws: StoreError.self) { try await store.cursors(of: source("nobody")) }
    }

    @Test("rows are those of the time asked in key order", arguments: StoreKind.all)
    func rowsAreThoseOfTheTimeAskedInKeyOrder(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(
            Batch(source: nil, observations: try [5, 1, 4, 0, 3, 2].map { try observation(at: $0) }))
        let rows = try await store.rows(from: noon.advanced(by: 1), to: noon.advanced(by: 4))
        #expect(rows.rows.map { $0.observedAt.seconds - noon.seconds } == [1, 2, 3])
        #expect(rows.head.version.rawValue == 1)
        #expect(rows.sources.map(\.id.name) == ["skypath", "awc"])
        #expect(try await store.rows(from: noon.advanced(by: 4), to: noon).rows.isEmpty)
    }

    @Test("pages cover each row once", arguments: StoreKind.all, [1, 2, 7, 50, 100])
    func pagesCoverEachRowOnce(_ kind: StoreKind, limit: Int) async throws {
        let store = try await makeStore(kind)
        let some = try (0..<50).map {
            try observation(id: $0 % 5 == 0 ? "i\($0)" : nil, cell: 20_000 + $0, at: $0 / 10)
        }
        _ = try await store.commit(Batch(source: nil, observations: some))
        var seen: [ObservationKey] = []
        while true {
            let page = try await store.page(
                after: seen.last, from: noon.advanced(by: 1), to: noon.advanced(by: 4), limit: limit)
            seen += page.map(\.row.key)
            #expect(page.count <= limit)
            if page.count < limit { break }
        }
        #expect(seen.count == 30)
        #expect(seen == seen.sorted())
        #expect(try await seen == store.rows(from: noon.advanced(by: 1), to: noon.advanced(by: 4)).rows.map(\.key))
    }

    @Test("a page of nothing is empty", arguments: StoreKind.all)
    func aPageOfNothingIsEmpty(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation())
        for limit in [0, -1, Int.min] {
            #expect(try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: limit).isEmpty)
        }
    }

    @Test("feature ids find their observation", arguments: StoreKind.all)
    func featureIdsFindTheirObservation(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(aircraft: "B77W"), observation(id: "mine", at: 5))
        for (row, details) in try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: 10) {
            let id = details.id ?? row.key.id
            let found = try #require(try await store.observation(id: id))
            #expect(found.row == row)
            #expect(found.details == details)
            #expect(try await store.details(of: [row.key, ObservationKey(rawValue: 1)]) == [row.key: details])
            // A row that came with an id has that one only.
            if details.id != nil { #expect(try await store.observation(id: row.key.id) == nil) }
        }
        #expect(try await store.observation(id: "o0000000000000001") == nil)
        #expect(try await store.observation(id: "") == nil)
        _ = try await store.commit(Batch(source: source("skypath"), retraction: .everything))
        #expect(try await store.observation(id: "mine") == nil)
    }

    @Test("changes list the inserted and the closed rows", arguments: StoreKind.all)
    func changesAreWhatCameAndWent(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(at: 0), observation(id: "a", at: 1))
        _ = try await store.commit(observation(at: 2))
        _ = try await store.commit(observation(id: "a", at: 3))
        let all = try await store.changes(since: .zero)
        #expect(all.head.version.rawValue == 3)
        #expect(all.opened.map { $0.observedAt.seconds - noon.seconds }.sorted() == [0, 2, 3])
        #expect(all.closed.isEmpty)
        let last = try await store.changes(since: Version(rawValue: 2))
        #expect(last.opened.map { $0.observedAt.seconds - noon.seconds } == [3])
        #expect(last.closed.map { $0.observedAt.seconds - noon.seconds } == [1])
        for version: Int64 in [3, 4, .max] {
            let none = try await store.changes(since: Version(rawValue: version))
            #expect(none.opened.isEmpty && none.closed.isEmpty && none.head.version.rawValue == 3)
        }
    }

    @Test(
        "pages, ids and tracks are of the version that is requested, whatever was corrected or added later",
        arguments: StoreKind.all)
    func asOf(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        var versions: [Version] = []
        var tracks: [[AircraftPosition]] = []
        let icao24 = try ICAO24("3c0001").orMissing()
        for step in 0..<8 {
            _ = try await store.commit(
                Batch(
                    source: try source("awc"),
                    observations: [
                        try observation(id: "a", severity: step % 5, at: step, source: "awc"),
                        try observation(id: "s\(step)", at: 10 + step, source: "awc"),
                        try observation(cell: 20_001 + step, at: 20, source: "awc"),
                    ],
                    pilotReports: [
                        try pilotReport(text: "UA \(step)"), try pilotReport(id: "p\(step)", at: step),
                    ],
                    positions: [
                        AircraftPosition(
                            icao24: icao24, callsign: nil, place: try LonLat(longitude: 1, latitude: 2).orMissing(),
                            source: try source("awc"), observedAt: noon.advanced(by: step), altitudeFeet: nil,
                            groundSpeedKnots: nil, headingDegrees: nil, isOnGround: false)
                    ], retraction: step == 5 ? .everything : nil))
            versions.append(try await store.head().version)
            tracks.append(try await store.track(of: icao24, from: .distantPast, to: .distantFuture))
        }
        for (version, track) in zip(versions, tracks) {
            let (from, to) = (Instant.distantPast, Instant.distantFuture)
            let rows = try await store.rows(from: from, to: to, asOf: version).rows
            let page = try await store.page(after: nil, from: from, to: to, limit: .max, asOf: version)
            #expect(page.map(\.row.key) == rows.map(\.key))
            let half = try await store.page(after: rows.first?.key, from: from, to: to, limit: 2, asOf: version)
            #expect(half.map(\.row.key) == rows.dropFirst().prefix(2).map(\.key), "\(version)")
            for (row, details) in page {
                let found = try await store.observation(id: details.id ?? row.key.id, asOf: version)
                #expect(found?.row.key == row.key)
            }
            let ids = Set(page.compactMap(\.details.id))
            for step in 0..<8 where !ids.contains("s\(step)") {
                #expect(try await store.observation(id: "s\(step)", asOf: version) == nil)
            }
            let reports = try await store.pilotReports(from: from, to: to, asOf: version)
            #expect(try await store.pilotReports(after: nil, from: from, to: to, limit: 99, asOf: version) == reports)
            for report in reports { #expect(try await store.pilotReport(id: report.id, asOf: version) == report) }
            #expect(try await store.track(of: icao24, from: from, to: to, asOf: version) == track)
            #expect(try await store.positions(after: nil, from: from, to: to, limit: 99, asOf: version) == track)
            #expect(try await store.aircraft(from: from, to: to, asOf: version) == [icao24])
        }
        #expect(try await store.aircraft(from: .distantPast, to: .distantFuture, asOf: .zero).isEmpty)
        let state = try await store.state()
        #expect(state.head == (try await store.head()))
        #expect(state.sources == (try await store.sources()))
        #expect(state.extent.observed == (try await store.extent()))
    }

    @Test("pilot reports come back as they went", arguments: StoreKind.all)
    func pilotReportsComeBackAsTheyWent(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let one = try pilotReport()
        let batch = Batch(source: try source("awc"), pilotReports: [one, one])
        #expect(try await store.commit(batch) == BatchResult(version: Version(rawValue: 1), pilotReports: 1))
        #expect(try await store.commit(batch) == BatchResult(version: Version(rawValue: 1)))
        #expect(try await store.pilotReports(after: nil, from: noon, to: noon.advanced(by: 1), limit: 10) == [one])
        #expect(try await store.pilotReport(id: one.id) == one)
        #expect(try await store.pilotReport(id: "nobody") == nil)
        // A correction closes the old one.
        let other = try pilotReport(at: 60, text: "UA corrected")
        #expect(try await store.commit(Batch(source: nil, pilotReports: [other])).pilotReports == 1)
        #expect(try await store.pilotReports(after: nil, from: noon, to: .distantFuture, limit: 10) == [other])
        #expect(try await store.pilotReport(id: one.id) == other)
        #expect(try await store.pilotReports(after: nil, from: noon, to: noon.advanced(by: 60), limit: 10).isEmpty)
    }

    @Test("pages of pilot reports cover each once", arguments: StoreKind.all, [1, 2, 3, 5, 100])
    func pagesOfPilotReportsCoverEachOnce(_ kind: StoreKind, limit: Int) async throws {
        let store = try await makeStore(kind)
        var reports: [PilotReport] = []
        for second in 0..<4 {
            for id in ["b", "a", "c"] {
                reports.append(try pilotReport(id: id + String(second), at: second))
                reports.append(try pilotReport(id: id + String(second), at: second, source: "skypath"))
            }
        }
        _ = try await store.commit(Batch(source: nil, pilotReports: reports))
        var seen: [PilotReport] = []
        while true {
            let page = try await store.pilotReports(
                after: seen.last.map { ($0.observedAt, $0.id) }, from: noon.advanced(by: 1), to: noon.advanced(by: 3),
                limit: limit)
            seen += page
            if page.count < limit { break }
        }
        #expect(seen.count == 12)
        #expect(Set(seen) == Set(reports.filter { (1...2).contains($0.observedAt.seconds - noon.seconds) }))
        let order = seen.map { "\($0.observedAt.seconds) \($0.id)" }
        #expect(order == order.sorted())
    }

    @Test("every query searches an index", arguments: Query.all)
    func everyQuerySearchesAnIndex(query: String) async throws {
        let store = try await makeStore()
        let plan = try await store.pool.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + query)
            statement.setUncheckedArguments(StatementArguments())
            return try Row.fetchAll(statement).map { $0["detail"] as String }
        }
        // Either way of an OR is a search of its own; a new row's number is looked up.
        let searches = ["SEARCH", "CORRELATED", "MULTI-INDEX OR", "INDEX ", "CO-ROUTINE next", "SCAN next"]
        #expect(plan.allSatisfy { step in searches.contains { step.hasPrefix($0) } }, "\(query): \(plan)")
    }
}
