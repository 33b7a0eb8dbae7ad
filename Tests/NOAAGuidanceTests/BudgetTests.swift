import Synchronization
import Testing
import UpstreamKit

@testable import NOAAGuidance

@Suite("The budget of requests and bytes")
struct BudgetTests {
    private static let day = 86_400
    /// A midnight in UTC.
    private static let midnight = testTime - testTime % day

    private func budget(
        _ clock: ManualClock, spacing: Duration = .seconds(1), bytesPerDay: Int? = nil,
        resuming ledger: RequestBudget.Ledger = .init()
    ) -> RequestBudget {
        RequestBudget(
            spacing: spacing, bytesPerDay: bytesPerDay, blockSeconds: 600, clock: clock.guidance, resuming: ledger)
    }

    @Test("requests begin a spacing apart, and a pause saves nothing up") func spacing() async throws {
        let clock = ManualClock(Self.midnight)
        let budget = budget(clock)
        for _ in 0..<4 { _ = try await budget.reserve(expecting: 0) }
        #expect(clock.slept == [.seconds(1), .seconds(1), .seconds(1)])
        clock.advance(100)
        for _ in 0..<2 { _ = try await budget.reserve(expecting: 0) }
        #expect(clock.slept.count == 4)
        // A clock that is set back must not stop requests.
        clock.advance(-50_000)
        _ = try await budget.reserve(expecting: 0)
        #expect(clock.slept.count == 5)
    }

    @Test("a cancelled wait takes nothing, and the spacing holds on") func cancelledWait() async throws {
        let clock = ManualClock(Self.midnight)
        let budget = budget(clock, bytesPerDay: 1_000)
        _ = try await budget.reserve(expecting: 0)
        let waiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await budget.reserve(expecting: 700)
        }
        await #expect(throws: UpstreamError.cancelled) { try await waiting.value }
        #expect(budget.ledger.bytes == 0 && clock.slept.isEmpty)
        _ = try await budget.reserve(expecting: 700)
        #expect(clock.slept == [.seconds(1)] && budget.ledger.bytes == 700)
    }

    @Test("the day's bytes are refused beyond the budget, with the time until midnight in UTC") func bytes()
        async throws
    {
        let clock = ManualClock(Self.midnight + 80_000)
        let budget = budget(clock, spacing: .zero, bytesPerDay: 1_000)
        let first = try await budget.reserve(expecting: 600)
        await #expect(throws: UpstreamError.creditsSpent(budget: "bytes-a-day", retryAfterSeconds: 6_400)) {
            try await budget.reserve(expecting: 401)
        }
        // Less came than expected.
        budget.close(first, received: 100)
        let second = try await budget.reserve(expecting: 900)
        budget.close(second, received: 900)
        await #expect(throws: UpstreamError.self) { try await budget.reserve(expecting: 0) }
        clock.advance(6_400)
        _ = try await budget.reserve(expecting: 1_000)
    }

    @Test("a request that runs over midnight gives nothing back to the next day") func midnight() async throws {
        let clock = ManualClock(Self.midnight - 10)
        let budget = budget(clock, spacing: .zero, bytesPerDay: 1_000)
        let old = try await budget.reserve(expecting: 900)
        clock.advance(20)
        _ = try await budget.reserve(expecting: 300)
        budget.close(old, received: 100)
        #expect(budget.ledger.bytes == 300)
    }

    @Test("a request that grows is held to the budget too") func extended() async throws {
        let budget = budget(ManualClock(Self.midnight), spacing: .zero, bytesPerDay: 1_000)
        var reservation = try await budget.reserve(expecting: 100)
        try budget.extend(&reservation, by: 500)
        #expect(throws: UpstreamError.self) { try budget.extend(&reservation, by: 500) }
        budget.close(reservation, received: 0)
        #expect(budget.ledger.bytes == 0)
    }

    @Test("the used budget survives a restart") func restart() async throws {
        let clock = ManualClock(Self.midnight + 5)
        let first = budget(clock, spacing: .zero, bytesPerDay: 1_000)
        _ = try await first.reserve(expecting: 800)
        _ = first.block(UpstreamProblem(status: 403), retryAfterSeconds: nil)
        let second = budget(clock, spacing: .zero, bytesPerDay: 1_000, resuming: first.ledger)
        await #expect(throws: UpstreamError.rateLimited(UpstreamProblem(status: 403), retryAfterSeconds: 600)) {
            try await second.reserve(expecting: 1)
        }
        clock.advance(600)
        await #expect(throws: UpstreamError.self) { try await second.reserve(expecting: 300) }
        _ = try await second.reserve(expecting: 200)
    }

    @Test("blocks in a row double up to an hour, and a good answer ends the row") func blocks() {
        let clock = ManualClock(Self.midnight)
        let budget = budget(clock)
        let problem = UpstreamProblem(status: 429)
        #expect(budget.block(problem, retryAfterSeconds: nil).retryAfterSeconds == 600)
        #expect(budget.block(problem, retryAfterSeconds: nil).retryAfterSeconds == 1_200)
        #expect(budget.block(problem, retryAfterSeconds: 2_000).retryAfterSeconds == 2_400)
        #expect(budget.block(problem, retryAfterSeconds: 90_000).retryAfterSeconds == 3_600)
        budget.clearBlocks()
        #expect(budget.block(problem, retryAfterSeconds: 700).retryAfterSeconds == 700)
    }

    @Test("several waiters go one by one") func several() async throws {
        let clock = ManualClock(Self.midnight)
        let budget = budget(clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try await budget.reserve(expecting: 1) } }
            try await group.waitForAll()
        }
        #expect(budget.ledger.bytes == 8 && clock.seconds >= Self.midnight + 7)
    }
}
