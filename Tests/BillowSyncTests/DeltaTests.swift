import BillowStore
import Geometry
import SkyPath
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

@Suite("A full fetch first, then deltas")
struct DeltaTests {
    @Test("a round of one call is two commits: its data, and its end with times, reach and session")
    func commitsOfARound() async throws {
        try await withRig(flights: 5, needsSession: true) { rig in
            let batches = Mutex<[Batch]>([])
            let watched = WatchedStore(rig.store, after: { _, batch in batches.withLock { $0.append(batch) } })
            let upstream = try rig.upstream(.v4, DataQuery(), store: watched) {
                $0.account = SkyPathAccount(company: "ABC", user: "dispatch-1")
            }
            for round in 1...3 {
                try await rig.round(upstream)
                let seen = batches.withLock { $0 }
                #expect(seen.count == 2 * round)
                let (data, end) = (seen[2 * round - 2], seen[2 * round - 1])
                #expect(!data.cursors.isEmpty && data.values.isEmpty && data.fetchedAt == nil)
                #expect(end.observations.isEmpty && end.fetchedAt == rig.clock.now && end.completeSince != nil)
                #expect(end.fetchedKinds[.observations] == rig.clock.now)
                // The session is new in the first round only.
                #expect(end.values.keys.contains("session") == (round == 1))
                rig.clock.advance(60)
            }
            #expect(try await rig.store.cursors(of: skypath()).keys.sorted() == ["global map"])
            #expect(
                try await rig.store.values(of: skypath()).keys.sorted()
                    == ["all coverage", "global coverage", "session"])
        }
    }

    @Test("the first fetch is whole then deltas", arguments: Mode.allCases)
    func theFirstFetchIsWholeThenDeltas(mode: Mode) async throws {
        try await withRig { rig in
            let upstream = try rig.upstream(mode)
            let first = try await rig.round(upstream)
            #expect(first.accepted > 100 && first.duplicates == 0 && first.retracted == 0)
            #expect(first.skipped.isEmpty && first.adjusted.isEmpty)
            let rows = try await rig.store.allRows()
            #expect(rows.count == first.accepted && !hasDuplicates(rows))
            #expect(rows.allSatisfy { $0.category == .default && $0.kind == .inSitu })
            #expect(rows.allSatisfy { ($0.intensity.edr != nil) == (mode == .corridor) })

            rig.clock.advance(60)
            let second = try await rig.round(upstream)
            #expect(second.accepted > 0)
            #expect(second.retracted == 0)
            let pieces = try await rig.store.pieces()
            switch mode {
            case .v4, .corridor:
                #expect(second.accepted + second.duplicates < first.accepted / 4)
                #expect(pieces.count == 1)
                #expect(pieces.values.allSatisfy { $0.fetchedAt == rig.clock.now })
            case .bulk:
                // Without a cursor everything comes again, and is compared.
                #expect(second.accepted + second.duplicates > first.accepted * 9 / 10)
                #expect(pieces.isEmpty)
            }
        }
    }

    @Test("nothing new raises no version", arguments: Mode.allCases)
    func nothingNewRaisesNoVersion(mode: Mode) async throws {
        try await withRig(flights: 0) { rig in
            let cell = H3.cell(at: try LonLat(longitude: -30, latitude: 50).orMissing())
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.3)
            let upstream = try rig.upstream(mode)
            #expect(try await rig.round(upstream).accepted == 1)
            let head = try await rig.store.head()
            for _ in 0..<3 {
                rig.clock.advance(60)
                let outcome = try await rig.round(upstream)
                #expect(outcome.accepted == 0 && outcome.retracted == 0)
                #expect(try await rig.store.head() == head)
                // It was asked, all the same.
                #expect(try await rig.store.source().fetchedAt == rig.clock.now)
                #expect(try await rig.store.pieces().values.allSatisfy { $0.fetchedAt == rig.clock.now })
            }
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.01)
            #expect(try await rig.round(upstream).accepted == 1)
            #expect(try await rig.store.head().version > head.version)
            let standing = try await rig.store.picture(at: rig.clock.now)
            #expect(standing.map(\.intensity.severity) == [.smooth])
        }
    }

    /// Odd steps, so that the boundary falls everywhere. There is a gap beyond the cursor and one beyond the history.
    /// Our own clock is a little wrong now and then.
    @Test("any sequence of deltas gives the picture of a fresh fetch", arguments: Mode.allCases)
    func anySequenceOfDeltasGivesThePictureOfAFreshFetch(mode: Mode) async throws {
        try await withRig(flights: 8) { rig in
            var random = SeededGenerator(seed: 3)
            let query = try mode.query()
            let upstream = try rig.upstream(mode.api, query)
            let steps = mode == .bulk ? [0, 61, 7_000, 60] : [0, 1, 59, 61, 433, 7_000, 60, 20_000, 61, 7, 300]
            for step in steps.shuffled(using: &random) {
                rig.clock.advance(step)
                let error = [-120, 0, 0, 120].randomElement(using: &random) ?? 0
                _ = try await upstream.synchronise(now: rig.clock.now.advanced(by: error))
                let picture = try await rig.store.picture(at: rig.clock.now, query.history)
                let fresh = try await rig.fresh(mode.api, query)
                #expect(picture == fresh, "after \(step): \(picture.symmetricDifference(fresh).count)")
                #expect(fresh.count > 50)
            }
            #expect(!hasDuplicates(try await rig.store.allRows()))
        }
    }

    @Test("duplicates are harmless", arguments: [Mode.v4, .corridor])
    func duplicatesAreHarmless(mode: Mode) async throws {
        try await withRig { rig in
            let upstream = try rig.upstream(mode)
            try await rig.round(upstream)
            rig.clock.advance(60)
            rig.simulator.setFault(.duplicatesAtCursor)
            let outcome = try await rig.round(upstream)
            #expect(outcome.duplicates > outcome.accepted && outcome.accepted > 0)
            rig.simulator.setFault(nil)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, mode.query()))
            #expect(!hasDuplicates(try await rig.store.allRows()))
        }
    }

    // MARK: - When it is fetched whole

    /// Under this fault a round asks once for what it asks whole, and twice for what it asked as a delta.
    private func wasAskedWhole(_ rig: Rig, _ upstream: SkyPathUpstream) async throws -> Bool {
        let before = rig.simulator.calls
        rig.simulator.setFault(.deltaRefused)
        try await rig.round(upstream)
        rig.simulator.setFault(nil)
        let calls = rig.simulator.calls - before
        #expect(calls == 1 || calls == 2)
        return calls == 1
    }

    @Test("a rejected delta is followed by a full fetch", arguments: [Mode.v4, .corridor])
    func aRefusedDeltaIsAskedForWhole(mode: Mode) async throws {
        try await withRig(flights: 12) { rig in
            let upstream = try rig.upstream(mode)
            #expect(try await wasAskedWhole(rig, upstream))
            rig.clock.advance(600)
            #expect(try await !wasAskedWhole(rig, upstream))
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, mode.query()))
            // And from then on by deltas again.
            rig.clock.advance(60)
            #expect(try await !wasAskedWhole(rig, upstream))
        }
    }

    @Test("a cursor older than the history is forgotten", arguments: [Mode.v4, .corridor])
    func aCursorOlderThanTheHistoryIsForgotten(mode: Mode) async throws {
        try await withRig(flights: 12) { rig in
            let upstream = try rig.upstream(mode, history: .oneHour)
            try await rig.round(upstream)
            rig.clock.advance(3_599)
            #expect(try await !wasAskedWhole(rig, upstream))
            rig.clock.advance(3_600)
            #expect(try await wasAskedWhole(rig, upstream))
            // A clock that was far ahead and is right again.
            rig.clock.advance(-301)
            #expect(try await wasAskedWhole(rig, upstream))
            rig.clock.advance(-300)
            #expect(try await !wasAskedWhole(rig, upstream))
        }
    }

    @Test("another query is fetched whole", arguments: [Mode.v4, .corridor])
    func anotherQueryIsFetchedWhole(mode: Mode) async throws {
        try await withRig(flights: 12) { rig in
            let base = try mode.query(severities: .atLeast(.light))
            var others: [DataQuery] = Array(repeating: base, count: 4)
            others[0].history = .fourHours
            others[1].category = try AircraftCategory(number: 30).orMissing()
            others[2].severities = .all
            others[3].polygon = try box(-70, 25, 30, 70)
            others[3].global = false
            for query in others {
                _ = try await rig.round(rig.upstream(mode.api, base))
                rig.clock.advance(60)
                #expect(try await !wasAskedWhole(rig, rig.upstream(mode.api, base)), "the same")
                #expect(try await wasAskedWhole(rig, rig.upstream(mode.api, query)), "\(query)")
                #expect(try await !wasAskedWhole(rig, rig.upstream(mode.api, query)), "the same again")
            }
            // Another upstream under another address, and another call.
            _ = try await rig.round(rig.upstream(mode.api, base))
            let elsewhere = rig.baseURL.replacing("127.0.0.1", with: "localhost")
            #expect(try await wasAskedWhole(rig, rig.upstream(mode.api, base, baseURL: elsewhere)))
            _ = try await rig.round(rig.upstream(mode.api, base))
            var world = base
            world.polygon = try atlantic()
            world.global = false
            let otherAPI: SkyPathUpstream.API = mode == .v4 ? .v5 : .v4
            #expect(try await wasAskedWhole(rig, rig.upstream(otherAPI, world)))
        }
    }

    @Test("a shorter history and fewer severities continue the delta", arguments: [Mode.v4, .corridor])
    func aShorterHistoryAndFewerSeveritiesGoOnWithTheDelta(mode: Mode)
        async throws
    {
        try await withRig(flights: 12) { rig in
            let base = try mode.query()
            for (history, severities) in [(History.oneHour, SeveritySet.all), (.twoHours, .atLeast(.moderate))] {
                _ = try await rig.round(rig.upstream(mode.api, base))
                rig.clock.advance(60)
                var narrower = base
                narrower.history = history
                narrower.severities = severities
                #expect(SyncRequest(base).serves(SyncRequest(narrower)))
                #expect(!SyncRequest(narrower).serves(SyncRequest(base)))
                #expect(try await !wasAskedWhole(rig, rig.upstream(mode.api, narrower)))
                // From there on only the narrower is complete.
                #expect(try await wasAskedWhole(rig, rig.upstream(mode.api, base)))
            }
        }
    }

    @Test(
        "a stored cursor that makes no sense is none",
        arguments: [
            "", "7", "x y z", "1 1795214400 x q", "1 1795214400 9223372036854775807 q", "17 1795214400 - ",
            "-1 1795214400 - q", "9999999999999999999 1795214400 - q", "1 -9223372036854775808 - q",
        ])
    func aStoredCursorThatMakesNoSenseIsNone(text: String) async throws {
        let cursor = SkyPathCursor(text: text)
        let now = ManualClock().now
        let asked = SkyPathSignature(
            api: .v4, history: .twoHours, category: .default, severities: .all, baseURL: "http://127.0.0.1")
        #expect(cursor.map { $0.isUsable(for: asked, at: now, reachSeconds: 7_200) } != true)
        try await withRig(flights: 5) { rig in
            let upstream = try rig.upstream(Mode.v4)
            try await rig.round(upstream)
            _ = try await rig.store.commit(Batch(source: skypath(), cursors: ["global map": text]))
            #expect(try await wasAskedWhole(rig, upstream))
        }
    }

    @Test("a cursor comes back as it went")
    func aCursorComesBackAsItWent() {
        let cursor = SkyPathCursor(value: 17, fetchedAt: ManualClock().now, query: "v4 2h C60 31 http://[::1]:80/a b")
        #expect(SkyPathCursor(text: cursor.text) == cursor)
        var doubtful = cursor
        doubtful.recheckAt = cursor.fetchedAt.advanced(by: 600)
        #expect(SkyPathCursor(text: doubtful.text) == doubtful && doubtful.text != cursor.text)
        // What no upstream gives is refused before it is sent, and asked whole then.
        #expect(SkyPathCursor(text: "-1 1795214400 - q")?.value == -1)
    }

    @Test("a cursor in the future is not stored")
    func aCursorInTheFutureIsNotKept() async throws {
        try await withRig(flights: 12) { rig in
            let upstream = try rig.upstream(.corridor)
            rig.simulator.setFault(.futureCursor)
            try await rig.round(upstream)
            #expect(try await rig.store.pieces().isEmpty)
            rig.clock.advance(60)
            try await rig.round(upstream)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, Mode.corridor.query()))
        }
    }

    /// What was unreadable comes in no later delta.
    @Test("after an answer that was partly unreadable it is fetched whole", arguments: [Mode.v4, .corridor])
    func afterAnAnswerThatWasPartlyUnreadableItIsFetchedWhole(mode: Mode)
        async throws
    {
        try await withRig(flights: 12) { rig in
            let upstream = try rig.upstream(mode)
            // A delta.
            try await rig.round(upstream)
            rig.clock.advance(600)
            rig.simulator.setFault(.wrongTypes)
            #expect(try await !rig.round(upstream).skipped.isEmpty)
            #expect(try await rig.store.picture(at: rig.clock.now) != rig.fresh(mode.api, mode.query()))
            rig.clock.advance(600)
            try await rig.round(upstream)
            rig.simulator.setFault(nil)
            rig.clock.advance(600)
            let before = rig.simulator.calls
            try await rig.round(upstream)
            #expect(rig.simulator.calls - before == 2)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, mode.query()))
            // A full response: it may remain so, and isn't requested again each time.
            _ = try await rig.store.commit(
                Batch(
                    source: skypath(),
                    cursors: Dictionary(uniqueKeysWithValues: rig.store.pieces().keys.map { ($0, nil) })))
            rig.simulator.setFault(.wrongTypes)
            try await rig.round(upstream)
            rig.simulator.setFault(nil)
            var calls: [Int] = []
            for _ in 0..<5 {
                rig.clock.advance(200)
                let before = rig.simulator.calls
                try await rig.round(upstream)
                calls.append(rig.simulator.calls - before)
            }
            #expect(calls == [1, 1, 2, 1, 1])
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, mode.query()))
        }
    }

    /// A delta without cursor is still a delta: what it leaves out isn't gone.
    @Test("an answer without cursor retracts nothing", arguments: [Mode.v4, .corridor])
    func anAnswerWithoutCursorRetractsNothing(mode: Mode) async throws {
        try await withRig(flights: 12) { rig in
            let upstream = try rig.upstream(mode)
            try await rig.round(upstream)
            let cursors = try await rig.store.pieces()
            rig.clock.advance(300)
            rig.simulator.setFault(.missingCursor)
            let outcome = try await rig.round(upstream)
            #expect(outcome.retracted == 0 && outcome.accepted > 0)
            #expect(try await rig.store.pieces() == cursors)
            rig.simulator.setFault(nil)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(mode.api, mode.query()))
        }
    }
}
