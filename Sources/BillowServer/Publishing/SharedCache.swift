import Synchronization

/// Values made once, on threads for long work, and kept while there is room: concurrent askers of one key share one making,
/// and what was used longest ago goes first. A making that nobody waits for any more is cancelled.
final class SharedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var cost: Int
        var lastUsed: UInt64
    }

    /// A making under way.
    private struct Flight {
        var number: UInt64
        var task: Task<Value, any Error>
        var waiting: Int
    }

    private enum Found {
        case kept(Value)
        case inFlight(Flight)
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var flights: [Key: Flight] = [:]
        var cost = 0
        var clock: UInt64 = 0
        var hits = 0
        var misses = 0
    }

    private let capacity: Int
    private let cost: @Sendable (Value) -> Int
    private let state = Mutex(State())

    /// `capacity` in the unit of `cost`, usually bytes.
    init(capacity: Int, cost: @escaping @Sendable (Value) -> Int) {
        self.capacity = capacity
        self.cost = cost
    }

    var statistics: CacheStatistics {
        state.withLock { CacheStatistics(entries: $0.entries.count, cost: $0.cost, hits: $0.hits, misses: $0.misses) }
    }

    /// The value of a key where it is kept, which counts as a hit; nil counts for nothing.
    func kept(_ key: Key) -> Value? {
        state.withLock { state in
            guard var entry = state.entries[key] else { return nil }
            state.clock += 1
            state.hits += 1
            entry.lastUsed = state.clock
            state.entries[key] = entry
            return entry.value
        }
    }

    /// Keeps a value made elsewhere, in place of any other of its key.
    func keep(_ value: Value, for key: Key) {
        state.withLock { state in
            state.clock += 1
            keep(value, for: key, in: &state)
        }
    }

    /// The value of a key, from `make` where it isn't kept. An error is handed to all who wait, and not kept.
    func value(for key: Key, make: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let found = state.withLock { state -> Found in
            state.clock += 1
            if var entry = state.entries[key] {
                entry.lastUsed = state.clock
                state.entries[key] = entry
                state.hits += 1
                return .kept(entry.value)
            }
            if var flight = state.flights[key] {
                flight.waiting += 1
                state.flights[key] = flight
                state.hits += 1
                return .inFlight(flight)
            }
            state.misses += 1
            let task = Task(executorPreference: WorkExecutor.shared) { try await make() }
            let flight = Flight(number: state.clock, task: task, waiting: 1)
            state.flights[key] = flight
            return .inFlight(flight)
        }
        switch found {
        case .kept(let value): return value
        case .inFlight(let flight):
            let result = await withTaskCancellationHandler {
                await flight.task.result
            } onCancel: {
                leave(key, flight.number)
            }
            state.withLock { land(key, flight.number, result, in: &$0) }
            return try result.get()
        }
    }

    /// One of those who wait for a flight waits no more. The last one ends it; who comes after that begins another.
    private func leave(_ key: Key, _ number: UInt64) {
        let abandoned = state.withLock { state -> Task<Value, any Error>? in
            guard var flight = state.flights[key], flight.number == number else { return nil }
            flight.waiting -= 1
            state.flights[key] = flight.waiting > 0 ? flight : nil
            return flight.waiting > 0 ? nil : flight.task
        }
        abandoned?.cancel()
    }

    private func land(_ key: Key, _ number: UInt64, _ result: Result<Value, any Error>, in state: inout State) {
        guard state.flights[key]?.number == number else { return }
        state.flights[key] = nil
        guard case .success(let value) = result else { return }
        keep(value, for: key, in: &state)
    }

    private func keep(_ value: Value, for key: Key, in state: inout State) {
        let cost = cost(value)
        guard cost <= capacity else { return }
        state.cost -= state.entries[key]?.cost ?? 0
        state.entries[key] = Entry(value: value, cost: cost, lastUsed: state.clock)
        state.cost += cost
        guard state.cost > capacity else { return }
        // Down to seven eighths at a time, so that the sorting is paid for by many insertions.
        for (old, entry) in state.entries.sorted(by: { $0.value.lastUsed < $1.value.lastUsed }) {
            guard state.cost > capacity / 8 * 7 else { return }
            state.entries[old] = nil
            state.cost -= entry.cost
        }
    }
}

/// How much a cache keeps, in its own unit, and how often it was of use.
struct CacheStatistics: Sendable {
    var entries: Int
    var cost: Int
    var hits: Int
    var misses: Int
}
