import Testing
import Turbulence

@testable import BillowSync

@Suite("The states of sources", .timeLimit(.minutes(5)))
struct SourceStatesTests {
    private func state(_ id: String) throws -> SourceState {
        SourceState(
            id: try #require(SourceID(id)), kind: "scripted", simulated: nil,
            SyncPlan(
                update: .none, areas: [], requests: [:], collections: [], feeds: [], slowKinds: [:], hasKey: false))
    }

    @Test("a consumer gets the current states, and then each state after a change, in order")
    func changes() async throws {
        let states = SourceStates()
        let (first, second) = (try state("a"), try state("b"))
        states.add(first)
        var consumer = states.changes().makeAsyncIterator()
        states.add(second)
        for accepted in 1...3 { states.update(first.id) { $0.accepted = accepted } }
        // No change, and no source.
        states.update(first.id) { $0.accepted = 3 }
        states.update(try #require(SourceID("c"))) { $0.accepted = 9 }
        states.update(second.id) { $0.duplicates = 1 }
        var seen: [String] = []
        for _ in 0..<6 {
            let state = try #require(await consumer.next())
            seen.append("\(state.id) \(state.accepted) \(state.duplicates)")
        }
        #expect(seen == ["a 0 0", "b 0 0", "a 1 0", "a 2 0", "a 3 0", "b 0 1"])
        #expect(states.generation == 6 && states.all.map(\.accepted) == [3, 0])
    }

    @Test("a consumer that does not read misses the oldest states, and continues with the newest")
    func slow() async throws {
        let states = SourceStates()
        let first = try state("a")
        states.add(first)
        var consumer = states.changes().makeAsyncIterator()
        for accepted in 1...5_000 { states.update(first.id) { $0.accepted = accepted } }
        let oldest = try #require(await consumer.next()).accepted
        #expect(oldest > 3_000 && oldest < 5_000)
        for accepted in (oldest + 1)...5_000 { #expect(await consumer.next()?.accepted == accepted) }
    }
}
