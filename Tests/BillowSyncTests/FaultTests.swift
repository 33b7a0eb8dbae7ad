import BillowStore
import SkyPath
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

@Suite("Every fault of the simulator")
struct FaultTests {
    /// What the state says under a fault.
    private struct Expected {
        var code: String
        var isReachable = true
        var halts = false
        /// Seconds until the next attempt, at an interval of 60.
        var delay = 60
    }

    /// nil where the round succeeds, as well as can be.
    private func expected(_ fault: Fault) -> Expected? {
        switch fault {
        case .unauthorized, .sessionRevoked: Expected(code: "unauthorized", halts: true)
        case .locked: Expected(code: "locked", halts: true)
        case .forbidden: Expected(code: "disabled", delay: 3_600)
        case .upgradeRequired: Expected(code: "upgrade-required")
        case .rateLimited: Expected(code: "rate-limited")
        case .serverError: Expected(code: "upstream-error")
        case .unavailable: Expected(code: "upstream-error", delay: 120)
        // Cells that are too large can't be used, and there are no others.
        case .truncatedBody, .cutJSON, .htmlPage, .emptyBody, .resolution4: Expected(code: "unreadable")
        case .slowBody: Expected(code: "timeout", isReachable: false)
        case .connectionReset: Expected(code: "unreachable", isReachable: false)
        case .duplicatesAtCursor, .fallingSeverity, .resolution10, .missingEDR, .severity5, .wrongTypes,
            .empty, .clockSkew, .futureCursor, .missingCursor, .halfGone, .unequalArrays, .deltaRefused, .lateFiles,
            .growingFile, .replacedFile, .missingIndex, .truncatedMessage, .wrongLength, .rangeIgnored, .wrongRange,
            .redirected:
            nil
        }
    }

    @Test("a fault is reported, leaves the data unchanged, and ends", arguments: [Mode.v4, .corridor])
    func isToldLeavesTheDataAndPasses(mode: Mode) async throws {
        try await withRig(flights: 16) { rig in
            let query = try mode.query()
            let (loop, states) = rig.loop(try rig.upstream(mode.api, query))
            func state() throws -> SourceState { try states.all.first.orMissing() }
            #expect(try state().isReachable == nil && state().lastSuccess == nil)
            #expect(await loop.round() == .seconds(60))
            // A body that drips is a test of its own: it needs a time limit, which sound answers must not run into.
            for fault in Fault.allCases where fault != .slowBody {
                let good = rig.clock.now
                #expect(try state().lastSuccess == good && state().isReachable == true && state().lastError == nil)
                #expect(try state().nextAttempt == good.advanced(by: 60) && state().consecutiveFailures == 0)
                let rows = try await rig.store.allRows()
                let head = try await rig.store.head()
                rig.simulator.setFault(fault)
                if fault == .sessionRevoked { _ = await loop.round() }
                rig.clock.advance(60)
                let delay = await loop.round()
                let seen = try state()
                #expect(seen.lastAttempt == rig.clock.now && !seen.isFetching)
                if let expected = expected(fault) {
                    #expect(seen.lastError?.code.rawValue == expected.code, "\(fault)")
                    #expect(seen.lastError?.at == rig.clock.now && seen.lastError?.message.isEmpty == false)
                    #expect(seen.isReachable == expected.isReachable, "\(fault)")
                    #expect(seen.isRefused == expected.halts, "\(fault)")
                    #expect(seen.consecutiveFailures == 1 && seen.lastSuccess == good)
                    if !expected.halts { #expect(delay == .seconds(expected.delay), "\(fault)") }
                    #expect(seen.nextAttempt == (expected.halts ? nil : rig.clock.now.advanced(by: expected.delay)))
                    // What was there is served on.
                    #expect(try await rig.store.allRows() == rows)
                    #expect(try await rig.store.head() == head)
                    #expect(try await rig.store.source().fetchedAt == good)
                    if expected.halts { try await expectHalted(loop, rig) }
                } else {
                    #expect(seen.lastError == nil && seen.isReachable == true, "\(fault)")
                    #expect(seen.lastSuccess == rig.clock.now, "\(fault)")
                    #expect(delay == .seconds(60))
                    let now = Set(try await rig.store.allRows().map(\.key))
                    #expect(now.isSuperset(of: rows.map(\.key)) || fault == .fallingSeverity, "\(fault)")
                }
                rig.simulator.setFault(nil)
                if expected(fault)?.halts == true || fault == .forbidden { try await loop.start() }
                rig.clock.advance(60)
                #expect(await loop.round() == .seconds(60))
                let picture = try await rig.store.picture(at: rig.clock.now)
                let fresh = try await rig.fresh(mode.api, query)
                // EDR that an answer lacked once comes with no later delta.
                let difference = picture.symmetricDifference(fresh).filter {
                    fault != .missingEDR || $0.intensity.severity == nil
                }
                #expect(difference.isEmpty, "after \(fault): \(difference.count)")
            }
            #expect(!hasDuplicates(try await rig.store.allRows()))
            let adjusted = try state().adjusted
            #expect((adjusted["brought to parent cell"] ?? 0) > 0)
            #expect(try (state().skipped["coarserCell"] ?? 0) > 0)
        }
    }

    @Test("a body that drips runs into the time limit", arguments: [Mode.v4, .corridor])
    func aBodyThatDripsRunsIntoTheTimeLimit(mode: Mode) async throws {
        try await withRig(flights: 16) { rig in
            let query = try mode.query()
            try await rig.round(rig.upstream(mode.api, query))
            let rows = try await rig.store.allRows()
            let (loop, states) = rig.loop(
                try rig.upstream(mode.api, query) { $0.timeout = .milliseconds(300) })
            rig.simulator.setFault(.slowBody)
            rig.clock.advance(60)
            #expect(await loop.round() == .seconds(60))
            let seen = try states.all.first.orMissing()
            #expect(seen.lastError?.code.rawValue == expected(.slowBody)?.code && seen.isReachable == false)
            #expect(try await rig.store.allRows() == rows)
            rig.simulator.setFault(nil)
            rig.clock.advance(60)
            try await rig.round(rig.upstream(mode.api, query))
            let fresh = try await rig.fresh(mode.api, query)
            #expect(try await rig.store.picture(at: rig.clock.now) == fresh)
        }
    }

    /// Asking on might lock the account.
    private func expectHalted(_ loop: SourceLoop, _ rig: Rig) async throws {
        let calls = rig.simulator.calls
        for _ in 0..<5 {
            rig.clock.advance(600)
            _ = await loop.round()
        }
        #expect(rig.simulator.calls == calls)
        rig.clock.advance(-3_000)
    }

    @Test("failures in a row wait longer and longer")
    func failuresInARowWaitLongerAndLonger() async throws {
        try await withRig(flights: 0) { rig in
            let (loop, states) = rig.loop(try rig.upstream(.v4))
            rig.simulator.setFault(.serverError)
            for (number, seconds) in [60, 120, 240, 480, 600, 600].enumerated() {
                #expect(await loop.round() == .seconds(seconds))
                #expect(states.all.first?.consecutiveFailures == number + 1)
            }
            rig.simulator.setFault(.rateLimited)
            #expect(await loop.round() == .seconds(600))
            rig.simulator.setFault(nil)
            #expect(await loop.round() == .seconds(60))
            #expect(states.all.first?.consecutiveFailures == 0)
            let (eager, _) = rig.loop(try rig.upstream(.v4), interval: .seconds(1))
            rig.simulator.setFault(.rateLimited)
            #expect(await eager.round() == .seconds(60))
        }
    }

    @Test("an upstream that is not there is unreachable")
    func anUpstreamThatIsNotThereIsUnreachable() async throws {
        try await withRig(flights: 0) { rig in
            let refused = try SilentPort()
            let address = "http://127.0.0.1:\(refused.number)"
            let (loop, states) = rig.loop(try rig.upstream(.v4, Mode.v4.query(), baseURL: address))
            #expect(await loop.round() == .seconds(60))
            withExtendedLifetime(refused) {}
            let state = try states.all.first.orMissing()
            #expect(state.isReachable == false && state.lastError?.code == .upstream(.unreachable) && !state.isRefused)
        }
    }
}
