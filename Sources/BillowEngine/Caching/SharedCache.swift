import Synchronization

/// Values made once and cached while their budget has room. Concurrent requests of one key share one making, on the
/// threads of the job that asked first. A making that nobody waits for any more is cancelled.
final class SharedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var bytes: Int
        var lastUsed: UInt64
    }

    /// A making under way.
    private struct Flight {
        var number: UInt64
        var task: Task<Value, any Error>
        var waiting: Int
        var isKept: Bool
    }

    private enum Found {
        case kept(Value)
        case inFlight(Flight)
    }

    private struct CacheState {
        var entries: [Key: Entry] = [:]
        var flights: [Key: Flight] = [:]
        var bytes = 0
        var hits = 0
        var misses = 0

        /// - Returns: what was let go of, to be freed outside the lock, and its bytes.
        mutating func drop(before: UInt64) -> (values: [Value], bytes: Int) {
            let old = entries.filter { $0.value.lastUsed < before }
            for key in old.keys { entries[key] = nil }
            let freed = old.values.reduce(0) { $0 + $1.bytes }
            bytes -= freed
            return (old.values.map(\.value), freed)
        }
    }

    private let budget: CacheBudget
    private let bytes: @Sendable (Value) -> Int
    private let keyBytes: @Sendable (Key) -> Int
    private let state: Kept

    /// Apart from the cache, so that the budget may know it.
    private final class Kept: Sendable {
        let mutex = Mutex(CacheState())
    }

    /// What an entry takes beside its value and the texts and sets of its key, about.
    private static var overhead: Int { 200 }

    /// - Parameters:
    ///   - keyBytes: about what a key takes outside of itself: its texts, lists and sets.
    ///   - bytes: about what a value takes.
    init(
        _ budget: CacheBudget, keyBytes: @escaping @Sendable (Key) -> Int = { _ in 0 },
        bytes: @escaping @Sendable (Value) -> Int
    ) {
        self.budget = budget
        self.bytes = bytes
        self.keyBytes = keyBytes
        state = Kept()
        budget.add(
            CacheBudget.Member(
                forEach: { [weak state] body in
                    state?.mutex.withLock { for entry in $0.entries.values { body(entry.lastUsed, entry.bytes) } }
                },
                drop: { [weak state, weak budget] before in
                    let freed = state?.mutex.withLock { $0.drop(before: before) }
                    budget?.note(-(freed?.bytes ?? 0))
                }))
    }

    deinit { budget.note(-state.mutex.withLock { $0.bytes }) }

    var statistics: CacheStatistics {
        state.mutex.withLock {
            CacheStatistics(entries: $0.entries.count, bytes: $0.bytes, hits: $0.hits, misses: $0.misses)
        }
    }

    /// The value of a key where it is kept, which counts as a hit; nil counts for nothing.
    func kept(_ key: Key) -> Value? {
        state.mutex.withLock { state in
            guard let index = state.entries.index(forKey: key) else { return nil }
            state.hits += 1
            state.entries.values[index].lastUsed = budget.tick()
            return state.entries.values[index].value
        }
    }

    /// Keeps a value made elsewhere, in place of any other of its key.
    func keep(_ value: Value, for key: Key) {
        let bytes = bytes(value) + keyBytes(key) + Self.overhead
        budget.note(state.mutex.withLock { keep(value, bytes, for: key, in: &$0) })
    }

    /// The value of a key, from `make` where it isn't kept. An error is handed to all who wait, and not kept.
    ///
    /// - Parameter isKept: false where the asker keeps it: then only those who ask while it is made share it.
    func value(
        for key: Key, isKept: Bool = true, make: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let found = state.mutex.withLock { state -> Found in
            if let index = state.entries.index(forKey: key) {
                state.entries.values[index].lastUsed = budget.tick()
                state.hits += 1
                return .kept(state.entries.values[index].value)
            }
            if var flight = state.flights[key] {
                flight.waiting += 1
                state.flights[key] = flight
                state.hits += 1
                return .inFlight(flight)
            }
            state.misses += 1
            let task = WorkExecutor.flight(make)
            let flight = Flight(number: budget.tick(), task: task, waiting: 1, isKept: isKept)
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
            land(key, flight.number, result)
            return try result.get()
        }
    }

    /// One of those who wait for a flight waits no more. The last one ends it; who comes after that begins another.
    private func leave(_ key: Key, _ number: UInt64) {
        let abandoned = state.mutex.withLock { state -> Task<Value, any Error>? in
            guard var flight = state.flights[key], flight.number == number else { return nil }
            flight.waiting -= 1
            state.flights[key] = flight.waiting > 0 ? flight : nil
            return flight.waiting > 0 ? nil : flight.task
        }
        abandoned?.cancel()
    }

    private func land(_ key: Key, _ number: UInt64, _ result: Result<Value, any Error>) {
        let value = try? result.get()
        let bytes = value.map(bytes).map { $0 + keyBytes(key) + Self.overhead } ?? 0
        let change = state.mutex.withLock { state -> Int in
            guard let flight = state.flights[key], flight.number == number else { return 0 }
            state.flights[key] = nil
            guard flight.isKept, let value else { return 0 }
            return keep(value, bytes, for: key, in: &state)
        }
        budget.note(change)
    }

    /// - Returns: how many bytes more are kept.
    private func keep(_ value: Value, _ bytes: Int, for key: Key, in state: inout CacheState) -> Int {
        // One that would push out nearly everything else is of less use than that.
        guard bytes <= budget.bytes / 2 else { return 0 }
        let change = bytes - (state.entries[key]?.bytes ?? 0)
        state.entries[key] = Entry(value: value, bytes: bytes, lastUsed: budget.tick())
        state.bytes += change
        return change
    }
}

/// How much a cache keeps, and how often it was of use.
package struct CacheStatistics: Sendable {
    package var entries: Int
    package var bytes: Int
    package var hits: Int
    package var misses: Int

    package init(entries: Int, bytes: Int, hits: Int, misses: Int) {
        self.entries = entries
        self.bytes = bytes
        self.hits = hits
        self.misses = misses
    }
}
