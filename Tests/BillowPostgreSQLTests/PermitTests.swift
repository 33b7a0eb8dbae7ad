import Synchronization
import Testing

@testable import BillowPostgreSQL

@Suite("Permits")
struct PermitTests {
    @Test("no more than their number are given at a time, and each request gets one")
    func limit() async throws {
        let permits = Permits(2)
        let count = Count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await permits.acquire()
                    count.add()
                    await Task.yield()
                    count.subtract()
                    permits.release()
                }
            }
            try await group.waitForAll()
        }
        #expect(count.values == [0, 2])
    }

    @Test("a cancelled request gets none, and takes none from others")
    func cancelled() async throws {
        let permits = Permits(1)
        try await permits.acquire()
        let waiting = Task { try await permits.acquire() }
        await Task.yield()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        permits.release()
        try await permits.acquire()
        permits.release()
    }
}

/// A number, and the largest that it was.
private final class Count: Sendable {
    private let state = Mutex((now: 0, most: 0))

    func add() {
        state.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
    }

    func subtract() { state.withLock { $0.now -= 1 } }

    var values: [Int] { state.withLock { [$0.now, $0.most] } }
}
