import BillowStore
import Geometry
import SkyPath
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

@Suite("Whole answers end what they leave out, and some answers are refused")
struct WholeTests {
    /// What a retraction may close: neither end of the window, where clocks may differ.
    private func inner(_ rows: [ObservationRow], _ rig: Rig) -> [ObservationRow] {
        rows.filter {
            $0.observedAt < rig.clock.now.advanced(by: -240) && $0.observedAt > rig.clock.now.advanced(by: 300 - 7_200)
        }
    }

    @Test("the bulk call retracts removed cells")
    func theBulkCallRetractsWhatVanished() async throws {
        try await withRig(flights: 12) { rig in
            let upstream = try rig.upstream(.bulk)
            let first = try await rig.round(upstream)
            let before = inner(try await rig.store.allRows(), rig)
            rig.simulator.setFault(.halfGone)
            let half = try await rig.round(upstream)
            // Nothing is left of a base cell's even records; of one with a single record there is nothing to leave.
            #expect(half.retracted > before.count / 4 && half.accepted == 0)
            #expect(try await rig.store.allRows().count == first.accepted - half.retracted)
            let picture = try await rig.store.picture(at: rig.clock.now)
            let fresh = try await rig.fresh(.v5, Mode.bulk.query())
            #expect(picture.isSuperset(of: fresh))
            #expect(
                picture.subtracting(fresh).allSatisfy {
                    $0.observedAt >= rig.clock.now.advanced(by: -240)
                        || $0.observedAt <= rig.clock.now.advanced(by: 300 - 7_200)
                })
            // The same again changes nothing; what is back stands again.
            let head = try await rig.store.head()
            try await rig.round(upstream)
            #expect(try await rig.store.head() == head)
            rig.simulator.setFault(nil)
            let back = try await rig.round(upstream)
            #expect(back.accepted == half.retracted && back.retracted == 0)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, Mode.bulk.query()))
            #expect(!hasDuplicates(try await rig.store.allRows()))
        }
    }

    @Test(
        "an answer that can not be trusted retracts nothing",
        arguments: [
            Fault.truncatedBody, .serverError, .unequalArrays, .wrongTypes, .empty, .cutJSON,
        ])
    func anAnswerThatCanNotBeTrustedRetractsNothing(fault: Fault) async throws {
        try await withRig(flights: 4) { rig in
            let upstream = try rig.upstream(.bulk)
            try await rig.round(upstream)
            let rows = try await rig.store.allRows()
            let head = try await rig.store.head()
            rig.simulator.setFault(fault)
            do {
                let outcome = try await rig.round(upstream)
                #expect([.wrongTypes, .empty].contains(fault))
                #expect(outcome.accepted == 0 && outcome.retracted == 0)
                #expect(outcome.skipped.isEmpty == (fault == .empty))
            } catch let error as SyncError {
                #expect(error.kind == .transient)
                #expect(try await rig.store.source().fetchedAt == rig.clock.now)
            }
            #expect(try await rig.store.allRows() == rows)
            #expect(try await rig.store.head() == head)
        }
    }

    @Test("a full fetch retracts observations that the upstream no longer has", arguments: [Mode.v4, .corridor])
    func aWholeFetchRetractsWhatTheUpstreamDoesNotHave(mode: Mode) async throws {
        try await withRig(flights: 8) { rig in
            let upstream = try rig.upstream(mode)
            try await rig.round(upstream)
            let cell = H3.cell(at: try LonLat(longitude: -33, latitude: 41).orMissing())
            let outside = H3.cell(at: try LonLat(longitude: 100, latitude: 41).orMissing())
            func stray(_ cell: Cell, _ seconds: Int, category: AircraftCategory? = .default) throws -> Observation {
                Observation(
                    cell: cell, altitude: AltitudeBand(try AltitudeBlock(thousands: 60).orMissing()),
                    intensity: .reported(.moderateSevere, edr: nil), observedAt: rig.clock.now.advanced(by: seconds),
                    category: category, source: try skypath())
            }
            let wrong = try stray(cell, -600)
            var kept = [
                try stray(cell, -100), try stray(cell, -7_100), try stray(cell, -8_000),
                try stray(cell, -600, category: AircraftCategory(number: 30)),
            ]
            if mode == .corridor { kept.append(try stray(outside, -600)) }
            _ = try await rig.store.commit(Batch(source: skypath(), observations: [wrong] + kept))
            // A delta says nothing about it.
            #expect(try await rig.round(upstream).retracted == 0)
            let pieces = try await rig.store.pieces().keys
            _ = try await rig.store.commit(
                Batch(source: skypath(), cursors: Dictionary(uniqueKeysWithValues: pieces.map { ($0, nil) })))
            #expect(try await rig.round(upstream).retracted == 1)
            let strays = try await rig.store.allRows().filter { $0.altitude.lowest.thousands == 60 }
            #expect(Set(strays.map(\.observedAt)) == Set(kept.map(\.observedAt)) && strays.count == kept.count)
        }
    }

    /// The upstream's window goes by its clock, however long ago its last change was.
    @Test("observations that expired upstream are not retracted", arguments: Mode.allCases)
    func whatAgedOutUpstreamIsNotRetracted(mode: Mode) async throws {
        try await withRig(flights: 0) { rig in
            let upstream = try rig.upstream(mode, history: .oneHour)
            func inject(_ altitude: Int) throws {
                rig.simulator.inject(
                    cell: H3.cell(at: try LonLat(longitude: -33, latitude: 41).orMissing()),
                    altitudeThousands: altitude, edr: 0.3)
            }
            try inject(30)
            try await rig.round(upstream)
            rig.clock.advance(3_000)
            try inject(31)
            rig.clock.advance(3_000)
            // Its cursor is too old, so it is fetched whole: that has the second report only.
            let outcome = try await rig.round(upstream)
            #expect(outcome.accepted == 1 && outcome.retracted == 0)
            #expect(try await rig.store.allRows().count == 2)
            #expect(try await rig.store.picture(at: rig.clock.now, .oneHour).count == 1)
        }
    }

    /// SkyPath's deltas don't say what a severity filter leaves out: the air that became smooth must not stay rough.
    @Test("observations of severities that are no longer requested end", arguments: Mode.allCases)
    func severitiesThatAreNotWantedEndWhatStoodThere(mode: Mode) async throws {
        try await withRig(flights: 8) { rig in
            let query = try mode.query(severities: .atLeast(.light))
            let upstream = try rig.upstream(mode.api, query)
            let cell = H3.cell(at: try LonLat(longitude: -33, latitude: 41).orMissing())
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.5)
            try await rig.round(upstream)
            #expect(try await rig.store.allRows().allSatisfy { $0.kind.isShown == ($0.intensity.severity != .smooth) })
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, query))
            #expect(try await rig.store.picture(at: rig.clock.now).contains { $0.cell == cell })
            rig.clock.advance(60)
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.01)
            let before = try await rig.store.picture(at: rig.clock.now.advanced(by: -30))
            let outcome = try await rig.round(upstream)
            #expect(outcome.retracted == 0)
            #expect(try await !rig.store.picture(at: rig.clock.now).contains { $0.cell == cell })
            // What was drawn of an instant is drawn again.
            #expect(try await rig.store.picture(at: rig.clock.now.advanced(by: -30)) == before)
            #expect(before.contains { $0.cell == cell })
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, query))
            // The same answer again changes nothing.
            let head = try await rig.store.head()
            try await rig.round(upstream)
            #expect(try await rig.store.head() == head)
            // And rough again.
            rig.clock.advance(60)
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.3)
            try await rig.round(upstream)
            #expect(try await rig.store.picture(at: rig.clock.now).contains { $0.cell == cell })
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, query))
        }
    }

    /// Bulk calls request no milder severity than needed: most of a response is smooth air.
    @Test("what became milder than a bulk call requests ends without being sent")
    func whatBecameMilderThanABulkCallIsAskedForEndsWithoutBeingSent() async throws {
        try await withRig(flights: 12) { rig in
            let query = DataQuery(severities: .atLeast(.moderate))
            let upstream = try rig.upstream(.v5, query)
            let places = try [-33.0, -20, 60].map {
                H3.cell(at: try LonLat(longitude: $0, latitude: 41).orMissing())
            }
            func inject(_ index: Int, _ edr: Double, _ seconds: Int = 0) {
                rig.simulator.inject(
                    cell: places[index], altitudeThousands: 36, edr: edr,
                    observedAt: rig.clock.seconds1970 + seconds)
            }
            func shown(_ index: Int, at seconds: Int = 0) async throws -> Bool {
                try await rig.store.picture(at: rig.clock.now.advanced(by: seconds)).contains {
                    $0.cell == places[index]
                }
            }
            for index in places.indices { inject(index, 0.4, -300) }
            try await rig.round(upstream)
            let kinds = Set(try await rig.store.allRows().map(\.intensity.severity))
            #expect(kinds.isSubset(of: [.moderate, .moderateSevere]))
            // Smooth now: the answer doesn't say so, but lacks it.
            rig.clock.advance(60)
            inject(0, 0.01)
            try await rig.round(upstream)
            #expect(try await !shown(0))
            for (index, seconds) in [(0, -30), (1, 0), (2, 0)] { #expect(try await shown(index, at: seconds)) }
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, query))
            // A report that comes late is older than the smooth one, which stays the newest.
            rig.clock.advance(60)
            inject(0, 0.4, -90)
            try await rig.round(upstream)
            #expect(try await !shown(0))
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, query))
            let head = try await rig.store.head()
            try await rig.round(upstream)
            #expect(try await rig.store.head() == head)
            // Nothing at all is a fault, which ends nothing.
            rig.simulator.setFault(.empty)
            rig.clock.advance(60)
            try await rig.round(upstream)
            #expect(try await rig.store.head() == head)
        }
    }

    @Test("future and too old observations are rejected and counted")
    func whatIsOfTheFutureOrTooOldIsRefusedAndCounted() async throws {
        try await withRig(flights: 0) { rig in
            let upstream = try rig.upstream(.v4, Mode.v4.query(), retentionSeconds: 3_600)
            func inject(_ longitude: Double, _ seconds: Int) throws {
                rig.simulator.inject(
                    cell: H3.cell(at: try LonLat(longitude: longitude, latitude: 41).orMissing()),
                    altitudeThousands: 30,
                    edr: 0.3, observedAt: rig.clock.seconds1970 + seconds)
            }
            for (index, seconds) in [-3_700, -3_601, -3_599, 0, 290, 320, 100_000].enumerated() {
                try inject(Double(index) * 10, seconds)
            }
            let outcome = try await rig.round(upstream)
            #expect(outcome.accepted == 3)
            #expect(outcome.skipped == [.inTheFuture: 2, .olderThanRetention: 2])
            // A place of which the upstream has something from the future isn't taken for gone.
            try inject(30, 5_000)
            rig.clock.advance(1_000)
            _ = try await rig.store.commit(Batch(source: skypath(), cursors: ["global map": nil]))
            let again = try await rig.round(upstream)
            #expect(again.retracted == 0 && again.skipped[.inTheFuture] == 2)
        }
    }

    @Test("observations outside the area are ignored")
    func whatLiesOutsideTheAreaIsLeftOut() async throws {
        try await withRig(flights: 12) { rig in
            // An upstream that doesn't know the geofence's name sends the world.
            var query = try Mode.corridor.query()
            let upstream = try rig.upstream(.v4, query, configure: { $0.wire.geofence = "area" })
            let outcome = try await rig.round(upstream)
            #expect((outcome.skipped[.outsideTheArea] ?? 0) > 0)
            let ring = try atlantic()
            let cells = try await rig.store.allRows().map(\.cell)
            #expect(cells.count == outcome.accepted && cells.allSatisfy { ring.touches($0) })
            let inside = try await rig.fresh(.v4, query)
            #expect(try await rig.store.picture(at: rig.clock.now).isSuperset(of: inside))
            // A cell that only touches is taken.
            let cell = try cells.first.orMissing()
            let corner = try H3.boundary(h3: cell.h3).first.orMissing()
            let small = try box(
                corner.longitude - 0.001, corner.latitude - 0.001, corner.longitude + 0.001, corner.latitude + 0.001)
            #expect(small.touches(cell) && !small.contains(H3.center(of: cell)))
            query.polygon = nil
            query.global = true
            #expect(try await rig.fresh(.v4, query).count > inside.count)
        }
    }

    // MARK: - completeSince

    @Test("the log is complete from the first window on unless there was a gap")
    func theLogIsCompleteFromTheFirstWindowOnUnlessThereWasAGap() async throws {
        try await withRig(flights: 0) { rig in
            for (history, reach) in [(History.sixHours, 14_400), (.fourHours, 14_400), (.halfHour, 1_800)] {
                let upstream = try rig.upstream(.corridor, history: history)
                try await rig.round(upstream)
                let first = rig.clock.now.advanced(by: -reach)
                #expect(try await rig.store.source().completeSince == first)
                // It stays, and so a longer history fills from our own log.
                for step in [60, reach - 1, reach, 60] {
                    rig.clock.advance(step)
                    try await rig.round(upstream)
                    #expect(try await rig.store.source().completeSince == first, "\(history) \(step)")
                }
                // Later than the window reaches back: what lay between is lost.
                rig.clock.advance(reach + 1)
                try await rig.round(upstream)
                #expect(try await rig.store.source().completeSince == rig.clock.now.advanced(by: -reach))
            }
            let upstream = try rig.upstream(.v4, history: .sixHours)
            try await rig.round(upstream)
            #expect(try await rig.store.source().completeSince == rig.clock.now.advanced(by: -21_600))
        }
    }

    @Test("another query is complete from its own first window on")
    func anotherQueryIsCompleteFromItsOwnFirstWindowOn() async throws {
        try await withRig(flights: 0) { rig in
            let base = try Mode.bulk.query()
            var others = [base, base]
            others[0].severities = .atLeast(.moderate)
            others[1].polygon = try atlantic()
            others[1].global = false
            for query in others {
                rig.clock.advance(60)
                _ = try await rig.round(rig.upstream(.v4, base))
                rig.clock.advance(60)
                _ = try await rig.round(rig.upstream(.v4, base))
                #expect(try await rig.store.source().completeSince == rig.clock.now.advanced(by: -7_260))
                _ = try await rig.round(rig.upstream(.v4, query))
                #expect(try await rig.store.source().completeSince == rig.clock.now.advanced(by: -7_200))
            }
        }
    }

    // MARK: - All or nothing

    @Test("`fetchedAt` is that of a complete round")
    func fetchedAtIsThatOfACompleteRound() async throws {
        try await withRig(flights: 8, areaLimitKm2: 9_000_000) { rig in
            let upstream = try rig.upstream(.corridor)
            rig.simulator.setFault(.sessionRevoked)
            let error = await #expect(throws: SyncError.self) { try await rig.round(upstream) }
            #expect(error?.kind == .session)
            #expect(try await rig.store.source().fetchedAt == nil)
            #expect(try await rig.store.source().completeSince == nil)
            #expect(try await rig.store.pieces().count == 1)
            // What came before the error stays, and is counted.
            #expect(try await rig.store.allRows().count == error?.outcome.accepted)
            rig.simulator.setFault(nil)
            try await rig.round(upstream)
            let first = rig.clock.now
            #expect(try await rig.store.source().fetchedAt == first)
            rig.clock.advance(60)
            rig.simulator.setFault(.sessionRevoked)
            await #expect(throws: SyncError.self) { try await rig.round(upstream) }
            #expect(try await rig.store.source().fetchedAt == first)
            let cursors = try await rig.store.pieces().values
            #expect(cursors.filter { $0.fetchedAt == rig.clock.now }.count == 1 && cursors.count > 3)
        }
    }

    @Test("data cursor and version land together")
    func dataCursorAndVersionLandTogether() async throws {
        try await withRig(flights: 8) { rig in
            let store = rig.store
            // What another reader sees before every commit.
            let watched = WatchedStore(store) { number, batch throws(StoreError) in
                let rows = try await store.rows(from: .distantPast, to: .distantFuture)
                guard let source = batch.source else { throw StoreError.failed("no source") }
                let cursors = try await store.cursors(of: source)
                #expect(rows.rows.count == (number - 1) * 50 && cursors.isEmpty)
                #expect(rows.head.version.rawValue == Int64(number - 1))
                if number == 4 { throw StoreError.failed("out of luck") }
            }
            let upstream = try rig.upstream(.v4, Mode.v4.query(), store: watched, batchSize: 50)
            let error = await #expect(throws: SyncError.self) { try await rig.round(upstream) }
            #expect(error?.kind == .store && error?.code == .store && error?.isReachable == nil)
            #expect(error?.message.contains("out of luck") == true && error?.outcome.accepted == 150)
            #expect(try await rig.store.allRows().count == 150)
            #expect(try await rig.store.cursors(of: skypath()).isEmpty)
            // In the order of time, so that the oldest are there first.
            let newest = try await rig.store.extent().orMissing().upperBound
            let again = try await rig.round(rig.upstream(.v4, Mode.v4.query()))
            #expect(again.duplicates == 150 && again.accepted > 0)
            let later = try await rig.store.allRows().filter { $0.since.rawValue > 3 }
            #expect(later.allSatisfy { $0.observedAt >= newest })
        }
    }

    // MARK: - Simulated data

    @Test("simulated data never passes as real", arguments: Mode.allCases)
    func simulatedDataNeverPassesAsReal(mode: Mode) async throws {
        try await withRig(flights: 4) { rig in
            let real = try rig.upstream(mode.api, mode.query(), simulated: false)
            let error = await #expect(throws: SyncError.self) { try await rig.round(real) }
            #expect(error?.kind == .refused && error?.code == .simulatedData)
            #expect(error?.message.contains("sends simulated data") == true)
            #expect(rig.simulator.calls == 1)
            #expect(try await rig.store.allRows().isEmpty)
            #expect(try await rig.store.sources().isEmpty)
            // Nor the other way, once there is real data: of this source, or of another one.
            for name in ["skypath", "import"] {
                let store = try await SQLiteStore.temporary()
                _ = try await store.register(SourceID(name).orMissing(), merge: .replace, simulated: false)
                for simulated in [true, nil] {
                    let upstream = try rig.upstream(mode.api, mode.query(), store: store, simulated: simulated)
                    let other = await #expect(throws: SyncError.self) { try await rig.round(upstream) }
                    #expect(
                        other?.code == .simulatedData && other?.message.contains("holds real data") == true)
                }
                #expect(try await store.allRows().isEmpty)
            }
        }
    }

    @Test("where nothing is configured the answers tell", arguments: Mode.allCases)
    func whereNothingIsConfiguredTheAnswersTell(mode: Mode) async throws {
        try await withRig(flights: 4) { rig in
            let outcome = try await rig.round(rig.upstream(mode.api, mode.query(), simulated: nil))
            #expect(outcome.accepted > 0)
            #expect(try await rig.store.source().simulated == true)
            let store = try await SQLiteStore.temporary()
            try await rig.round(
                rig.upstream(
                    mode.api, mode.query(), store: store, simulated: nil,
                    configure: { $0.wire.simulatedHeader = "x-nothing" }))
            #expect(try await store.source().simulated == false)
        }
    }

    @Test("a source that was simulated does not count as real")
    func aSourceThatWasSimulatedIsNotTakenForReal() async throws {
        try await withRig(flights: 4) { rig in
            try await rig.round(rig.upstream(.v4))
            let rows = try await rig.store.allRows()
            // An upstream that says nothing about itself, as the real one.
            let real = try rig.upstream(
                .v4, Mode.v4.query(), simulated: false, configure: { $0.wire.simulatedHeader = "x-nothing" })
            for upstream in [
                real,
                try rig.upstream(
                    .v4, Mode.v4.query(), simulated: nil, configure: { $0.wire.simulatedHeader = "x-nothing" }),
            ] {
                let error = await #expect(throws: SyncError.self) { try await rig.round(upstream) }
                #expect(
                    error?.code == .simulatedData && error?.message.contains("holds simulated data") == true)
            }
            #expect(try await rig.store.source().simulated == true)
            #expect(try await rig.store.allRows() == rows)
        }
    }
}
