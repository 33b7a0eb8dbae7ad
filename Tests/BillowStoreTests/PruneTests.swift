import Datasets
import Foundation
import GRDB
import Geometry
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("Deleting what is old")
struct PruneTests {
    @Test("observations before the limit are deleted, and the rest remains", arguments: StoreKind.all)
    func whatWasObservedBeforeGoesAndTheRestStays(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(at: -7_200), observation(at: -7_199), observation(at: 0))
        _ = try await store.commit(
            Batch(source: nil, pilotReports: [pilotReport(id: "old", at: -7_200), pilotReport(id: "new")]))
        let before = try await store.head()
        let pruned = try await store.prune(Pruning(before: noon.advanced(by: -7_199)))
        #expect(pruned.observations == 1 && pruned.pilotReports == 1)
        #expect(try await store.contents().map(\.observedAt) == [noon.advanced(by: -7_199), noon])
        #expect(try await store.pilotReport(id: "old") == nil)
        #expect(try await store.pilotReport(id: "new") != nil)
        let after = try await store.head()
        // A slow machine needs more than one step, each of which is a version.
        #expect(after.version > before.version && after.log == before.log)
        #expect(try await store.prune(Pruning(before: noon.advanced(by: -7_199))).isNothing)
        #expect(try await store.head() == after)
        #expect(try await store.problems().isEmpty)
    }

    @Test("only its own rows of a second that it shares go", arguments: StoreKind.all)
    func onlyItsOwnRowsOfASecondThatItSharesGo(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(
            observation(cell: 1, at: -100), observation(cell: 2, at: -100, source: "awc"),
            observation(cell: 3, at: -99), observation(cell: 4, at: -98, source: "awc"))
        let pruned = try await store.prune(Pruning(before: noon, sources: [try source("skypath")]))
        #expect(pruned.observations == 2)
        #expect(try await store.contents().map(\.cell.dense) == [2, 4])
    }

    @Test(
        "a colliding row is still found after the deletion of the other", arguments: StoreKind.all,
        0..<8 as Range<UInt64>)
    func whatCollidesWithWhatGoesIsStillFound(_ kind: StoreKind, seed: UInt64) async throws {
        let place = try await kind.place()
        // All of a second collide, and the chain goes round its last tag.
        let store = try await place.open(tags: ContentTags { _ in 0x3FFF_FFFC })
        var random = SeededGenerator(seed: seed)
        let names = ["skypath", "awc"]
        for name in names { _ = try await store.register(source(name), merge: .keep, simulated: false) }
        let all = try (0..<40).map { number in
            try observation(
                id: number % 3 == 0 ? "id\(number)" : nil, cell: 20_000 + number, at: number % 2,
                source: names.randomElement(using: &random).orMissing())
        }
        _ = try await store.commit(Batch(source: nil, observations: all))
        let stay = all.filter { $0.source.name == "awc" }
        let pruning = Pruning(before: noon.advanced(by: 60), sources: [try source("skypath")])
        #expect(try await store.prune(pruning).observations == all.count - stay.count)
        #expect(try await Set(store.contents()) == Set(stay))
        #expect(try await store.prune(pruning).isNothing)
        #expect(try await store.commit(Batch(source: nil, observations: stay)).duplicates == stay.count)
        #expect(try await store.commit(Batch(source: nil, observations: all)).accepted == all.count - stay.count)
        #expect(try await Set(store.contents()) == Set(all))
        #expect(try await store.prune(Pruning(before: noon.advanced(by: 60))).observations == all.count)
        #expect(try await store.contents().isEmpty)
        #expect(try await store.problems().isEmpty)
    }

    @Test("many rows go in more than one step without losing a second between them", arguments: StoreKind.all)
    func manyRowsGoInMoreThanOneStepWithoutLosingASecondBetweenThem(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let many = try (0..<12_000).map { try observation(cell: $0 + 10, at: -6_000 + $0 / 3) }
        _ = try await store.commit(Batch(source: nil, observations: many))
        let pruned = try await store.prune(Pruning(before: noon.advanced(by: -3_000)))
        #expect(pruned.observations == 9_000)
        #expect(try await store.contents().count == 3_000)
        // One second with more rows than a step.
        let crowd = try (0..<7_000).map { try observation(cell: $0 + 10, at: -9_000) }
        _ = try await store.commit(Batch(source: nil, observations: crowd))
        #expect(try await store.prune(Pruning(before: noon.advanced(by: -3_000))).observations == 7_000)
        #expect(try await store.contents().count == 3_000)
    }

    @Test("when things changed is forgotten with them", arguments: StoreKind.all)
    func whenThingsChangedIsForgottenWithThem(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(cell: 1, at: -7_200))
        let kept = try await store.commit(observation(cell: 2, at: -7_100, source: "awc")).version
        _ = try await store.prune(Pruning(before: noon, sources: [try source("skypath")]))
        let data = { (seconds: Int) in
            FrameDependency.observed(.observations, at: noon.advanced(by: seconds), lookBackSeconds: 60)
        }
        // Its pictures changed by the deletion, and so did those of all that is older than what it went up to.
        let head = try await store.head().version
        #expect(try await store.lastChange(of: data(-7_200)) == head)
        #expect(try await store.lastChange(of: data(-7_100)) == head)
        #expect(try await store.lastChange(of: data(60)) == .zero)
        let steps = try await store.changedTimes(since: .zero, from: .distantPast).steps
        #expect(steps.map(\.version) == [kept])
    }

    @Test("areas go when they ended and positions by whole buckets", arguments: StoreKind.all)
    func areasGoWhenTheyEndedAndPositionsByWholeBuckets(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let awc = try source("awc")
        let ring = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try LonLat(longitude: $0, latitude: $1).orMissing() }
        let areas = try [("ended", -10), ("holds", 10)].map { id, end in
            IssuedArea(
                collection: .hazards, id: id, source: awc, kind: "sigmet", validFrom: noon.advanced(by: -3_600),
                validTo: noon.advanced(by: end), geometry: try MultiPolygon(outline: ring).orMissing())
        }
        let aircraft = try ICAO24("abcdef").orMissing()
        let place = try LonLat(longitude: 1, latitude: 2).orMissing()
        let positions = [-4_000, -200, 0].map {
            AircraftPosition(icao24: aircraft, place: place, source: awc, observedAt: noon.advanced(by: $0))
        }
        _ = try await store.commit(Batch(source: awc, areas: areas, positions: positions))
        let pruned = try await store.prune(Pruning(before: noon))
        #expect(pruned.areas == 1 && pruned.positions == 2)
        #expect(try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil).map(\.id) == ["holds"])
        #expect(try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
    }

    @Test("positions of other sources stay", arguments: StoreKind.all)
    func positionsOfOtherSourcesStay(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let place = try LonLat(longitude: 1, latitude: 2).orMissing()
        for name in ["awc", "skypath"] {
            let positions = try [-4_000, -200].map {
                AircraftPosition(
                    icao24: try ICAO24("abcdef").orMissing(), place: place, source: try source(name),
                    observedAt: noon.advanced(by: $0))
            }
            _ = try await store.commit(Batch(source: try source(name), positions: positions))
        }
        #expect(try await store.prune(Pruning(before: noon, sources: [try source("awc")])).positions == 2)
        let left = try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil)
        #expect(left.map(\.source) == [try source("skypath"), try source("skypath")])
    }

    @Test("a deletion that pictures lose by makes all of them others", arguments: StoreKind.all)
    func aDeletionThatPicturesLoseByMakesAllOfThemOthers(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(cell: 1, at: -7_200), observation(cell: 2, at: -7_100))
        let before = try await store.head()
        let pruning = Pruning(before: noon.advanced(by: -7_150), changesPictures: true)
        #expect(try await store.sources().allSatisfy { $0.completeSince == nil })
        #expect(try await store.prune(pruning).observations == 1)
        let after = try await store.head()
        // What looks back to before the cut is whole no more.
        #expect(try await store.sources().allSatisfy { $0.completeSince == pruning.before })
        #expect(after.version.rawValue == before.version.rawValue + 1 && after.log != before.log)
        let left = FrameDependency.observed(.observations, at: noon.advanced(by: -7_090), lookBackSeconds: 60)
        #expect(try await store.lastChange(of: left) == after.version)
        #expect(try await store.lastChange(of: .areas(.hazards, at: noon)) == after.version)
        // Where there was nothing to delete, nothing becomes another.
        #expect(try await store.prune(pruning).isNothing)
        #expect(try await store.head() == after)
    }

    // MARK: A deletion that ends in the middle

    /// A file with 400 observations, 30 reports, areas and positions on either side of a cut.
    private func crowded(_ place: StorePlace) async throws -> (store: any SQLStore, cut: Instant) {
        let store = try await place.open()
        let awc = try source("awc")
        _ = try await store.register(awc, merge: .keep, simulated: false)
        let ring = try [(0.0, 0.0), (1, 0), (1, 1)].map { try LonLat(longitude: $0, latitude: $1).orMissing() }
        let place = try LonLat(longitude: 1, latitude: 2).orMissing()
        let areas = try (0..<30).map { number in
            IssuedArea(
                collection: .hazards, id: "a\(number)", source: awc, kind: "sigmet",
                validFrom: noon.advanced(by: -9_000), validTo: noon.advanced(by: -3_600 + number * 120),
                geometry: try MultiPolygon(outline: ring).orMissing())
        }
        let positions = try (0..<60).map { number in
            AircraftPosition(
                icao24: try ICAO24(rawValue: UInt32(1 + number % 20)).orMissing(), place: place, source: awc,
                observedAt: noon.advanced(by: -7_200 + number / 20 * 2_800))
        }
        _ = try await store.commit(
            Batch(
                source: awc, observations: try (0..<400).map { try observation(at: -7_200 + $0 * 18, source: "awc") },
                pilotReports: try (0..<30).map { try pilotReport(id: "r\($0)", at: -7_200 + $0 * 240) },
                areas: areas, positions: positions, fetchedAt: noon,
                fetchedKinds: [.hazards: noon.advanced(by: -9_000), .positions: noon.advanced(by: -9_000)],
                completeSince: noon.advanced(by: -9_000)))
        return (store, noon.advanced(by: -1_800))
    }

    private struct Left: Equatable {
        var observations: [Observation]
        var reports: [String]
        var areas: [String]
        var positions: Int
    }

    private func left(_ store: any SQLStore) async throws -> Left {
        Left(
            observations: try await store.contents(),
            reports: try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).map(\.id),
            areas: try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil).map(\.id),
            positions: try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil).count)
    }

    @Test(
        "whichever transaction a deletion ends after, what is gone is marked and named anew", arguments: StoreKind.all,
        [true, false])
    func killed(_ kind: StoreKind, changesPictures: Bool) async throws {
        var count = 1
        var transactions = 0
        while transactions == 0 || count < transactions {
            let place = try await kind.place()
            let (store, cut) = try await crowded(place)
            let pruning = Pruning(before: cut, sparesImports: !changesPictures, changesPictures: changesPictures)
            let before = try await (left: left(store), head: store.head())
            let last = count
            if transactions == 0 {
                // Once through, to know how many there are.
                let counter = Counter()
                _ = try await store.prune(pruning, longest: .zero, rowsAtOnce: 20) { _ in counter.add() }
                transactions = counter.value
                #expect(transactions > 20)
                try store.close()
                continue
            }
            await #expect(throws: StoreError.self) {
                try await store.prune(pruning, longest: .zero, rowsAtOnce: 20) { number throws(StoreError) in
                    if number == last { throw .failed("killed") }
                }
            }
            // Another process finds the file as the kill left it.
            let other = try await place.open()
            let (now, head) = try await (left(other), other.head())
            #expect(now != before.left && head.version > before.head.version, "after \(count)")
            #expect((head.log != before.head.log) == changesPictures)
            let record = try await other.sources()[0]
            #expect(record.completeSince == cut)
            // What stood at the former version can't be read any more, and no former address leads to it.
            let past = FrameDependency.observed(.observations, at: noon.advanced(by: -3_000), lookBackSeconds: 600)
            await #expect(throws: StoreError.self) {
                try await other.rows(from: noon.advanced(by: -7_200), to: noon, asOf: before.head.version)
            }
            #expect(try await other.lastChange(of: past) == head.version)
            #expect(try await !other.hasChange(of: past, at: before.head.version))
            // The same again completes it, as if it had never been killed.
            _ = try await other.prune(pruning)
            let whole = try await left(other)
            #expect(whole.observations.allSatisfy { $0.observedAt >= cut } && whole.observations.count == 100)
            #expect(whole.reports.count == 7 && whole.areas.count == 14 && whole.positions == 20, "\(whole)")
            let end = try await other.sources()[0]
            #expect(end.completeSince == cut && end.fetchedSince[.hazards] == cut)
            #expect(try await other.problems().isEmpty)
            try store.close()
            try other.close()
            count += 3
        }
    }

    @Test("no read of a version from before a deletion gives what is left for what was there", arguments: StoreKind.all)
    func versionsBefore(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(id: "old", at: -7_200), observation(id: "new"))
        _ = try await store.commit(
            Batch(
                source: nil, pilotReports: [pilotReport(id: "old", at: -7_200), pilotReport(id: "new")],
                positions: [position("000001", at: -7_200), position("000001", at: 0)]))
        let before = try await store.head().version
        let cut = noon.advanced(by: -3_600)
        #expect(try await store.prune(Pruning(before: cut)).positions == 1)
        let aircraft = try ICAO24("000001").orMissing()
        let reads: [@Sendable (Instant) async throws -> Int] = [
            { try await store.page(after: nil, from: $0, to: .distantFuture, limit: 9, asOf: before).count },
            {
                try await store.pilotReports(after: nil, from: $0, to: .distantFuture, limit: 9, asOf: before).count
            },
            {
                try await store.positions(after: nil, from: $0, to: .distantFuture, limit: 9, asOf: before).count
            },
            { try await store.aircraft(from: $0, to: .distantFuture, asOf: before).count },
            { try await store.track(of: aircraft, from: $0, to: .distantFuture, asOf: before).count },
        ]
        for (number, read) in reads.enumerated() {
            // What is newer is all there.
            #expect(try await read(cut) == 1, "\(number)")
            await #expect(throws: StoreError.self, "\(number)") { _ = try await read(.distantPast) }
        }
        #expect(try await store.observation(id: "new", asOf: before) != nil)
        #expect(try await store.pilotReport(id: "new", asOf: before) != nil)
        await #expect(throws: StoreError.self) { _ = try await store.observation(id: "old", asOf: before) }
        await #expect(throws: StoreError.self) { _ = try await store.pilotReport(id: "old", asOf: before) }
        // At the head there is nothing to be in doubt of.
        #expect(try await store.observation(id: "old", asOf: store.head().version) == nil)
        #expect(try await store.sources().allSatisfy { $0.lost[.observations] == .distantPast...cut.advanced(by: -1) })
    }

    @Test(
        "the last transaction of a deletion names what is left, so nothing that was drawn meanwhile is its picture",
        arguments: StoreKind.all)
    func namedByEach(_ kind: StoreKind) async throws {
        let place = try await kind.place()
        let (store, cut) = try await crowded(place)
        let log = Counter()
        let names = Names()
        _ = try await store.prune(
            Pruning(before: cut, changesPictures: true), longest: .zero, rowsAtOnce: 20
        ) { _ in
            log.add()
            names.add(try? await store.head().log)
        }
        // Transactions that found nothing to delete change nothing.
        #expect(log.value > 20 && names.all.count > 15)
        #expect(try await store.head().log == names.all.last)
    }

    /// Reports, observations and an area of the source `awc`, all of them over.
    private func past(severity: Int = 2) throws -> Batch {
        let ring = try [(0.0, 0.0), (1, 0), (1, 1)].map { try LonLat(longitude: $0, latitude: $1).orMissing() }
        return Batch(
            source: nil,
            observations: [
                try observation(id: "a", cell: 1, severity: severity, at: -100, source: "awc"),
                try observation(cell: 2, at: -100, source: "awc"),
            ], pilotReports: [try pilotReport(at: -100, text: "severity \(severity)")],
            areas: [
                IssuedArea(
                    collection: .hazards, id: "sigmet", source: try source("awc"), kind: "sigmet",
                    validFrom: noon.advanced(by: -3_600), validTo: noon.advanced(by: -10), text: "\(severity)",
                    geometry: try MultiPolygon(outline: ring).orMissing())
            ])
    }

    @Test(
        "what was imported stays whichever source it is of",
        arguments: StoreKind.all,
        ["imported", "fetched, then imported", "imported, then fetched", "imported, then corrected"])
    func whatWasImportedStaysWhicheverSourceItIsOf(_ kind: StoreKind, order: String) async throws {
        let store = try await makeStore(kind)
        var imported = try past()
        imported.importedBefore = .distantFuture
        let batches =
            switch order {
            case "fetched, then imported": [try past(), imported]
            case "imported, then fetched": [imported, try past()]
            case "imported, then corrected": [imported, try past(severity: 3)]
            default: [imported]
            }
        for batch in batches { _ = try await store.commit(batch) }
        _ = try await store.commit(observation(cell: 3, at: -100, source: "awc"))
        let contents = try await Set(store.contents()).filter { $0.cell.dense != 3 }
        let retention = Pruning(before: noon, sparesImports: true)
        #expect(try await store.prune(retention).observations == 1)
        #expect(try await Set(store.contents()) == contents && contents.count == 2)
        #expect(try await store.pilotReport(id: "r1") != nil)
        #expect(try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
        let rest = try await store.prune(Pruning(before: noon))
        #expect(rest.observations >= 2 && rest.pilotReports >= 1 && rest.areas >= 1)
        #expect(try await store.contents().isEmpty)
        #expect(try await store.pilotReport(id: "r1") == nil)
    }

    @Test("only data that is old enough on arrival is exempt from retention as an import", arguments: StoreKind.all)
    func onlyWhatIsOldEnoughWhenItComesIsKeptAsAnImport(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(
            Batch(
                source: nil,
                observations: [try observation(cell: 1, at: -7_200), try observation(cell: 2, at: -60)],
                importedBefore: noon.advanced(by: -3_600)))
        #expect(try await store.prune(Pruning(before: noon, sparesImports: true)).observations == 1)
        #expect(try await store.contents().map(\.cell.dense) == [1])
    }
}

/// Counts, from any thread.
final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}

/// Different names in the order in which they came.
private final class Names: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String?) {
        names.withLock { names in if let name, names.last != name { names.append(name) } }
    }
}
