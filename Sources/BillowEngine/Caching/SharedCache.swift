import Synchronization

/// A cache within a shared memory budget. Concurrent requests for a key share one computation, which runs on the
/// threads of the first requester's job. `Failure` is the error of computations.
///
/// A long computation is a task of its own, which is cancelled if no request waits for it. A short one runs to its end
/// in the first requester's job.
package final class SharedCache<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    private struct Entry {
        var value: Value
        var bytes: Int
        var lastUsed: UInt64
    }

    /// A computation in flight.
    private struct Flight {
        var number: UInt64
        /// nil for a short computation.
        var task: Task<Result<Value, Failure>, Never>?
        /// The number of requests that wait for the task.
        var waiting = 1
        var isCached: Bool
        /// The requests that wait for a short computation.
        var waiters: [CheckedContinuation<Result<Value, Failure>?, Never>] = []
    }

    private enum Lookup {
        case cached(Value)
        /// A task computes the value.
        case task(Task<Result<Value, Failure>, Never>, UInt64)
        /// The job of another request computes the value.
        case otherJob(UInt64)
        /// The caller must compute the value.
        case own(UInt64)
    }

    private struct CacheState {
        var entries: [Key: Entry] = [:]
        var flights: [Key: Flight] = [:]
        var bytes = 0
        var hits = 0
        var misses = 0

        /// - Returns: the evicted values, to be freed outside the lock, and their bytes.
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
    private let state: StateBox

    /// The state, in a separate object, to which the budget has a weak reference.
    private final class StateBox: Sendable {
        let mutex = Mutex(CacheState())
    }

    /// The approximate bytes of an entry besides its value and its key's texts and sets.
    private static var overhead: Int { 200 }

    /// - Parameters:
    ///   - keyBytes: the approximate out-of-line bytes of a key: its texts, lists and sets.
    ///   - bytes: the approximate bytes of a value.
    package init(
        _ budget: CacheBudget, keyBytes: @escaping @Sendable (Key) -> Int = { _ in 0 },
        bytes: @escaping @Sendable (Value) -> Int
    ) {
        self.budget = budget
        self.bytes = bytes
        self.keyBytes = keyBytes
        state = StateBox()
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

    package var statistics: CacheStatistics {
        state.mutex.withLock {
            CacheStatistics(entries: $0.entries.count, bytes: $0.bytes, hits: $0.hits, misses: $0.misses)
        }
    }

    /// The cached value of a key; nil if there is none. Counts a hit, but no miss.
    func cachedValue(for key: Key) -> Value? {
        state.mutex.withLock { state in
            guard let index = state.entries.index(forKey: key) else { return nil }
            state.hits += 1
            state.entries.values[index].lastUsed = budget.tick()
            return state.entries.values[index].value
        }
    }

    /// Stores a value that was computed elsewhere, and replaces any other of its key.
    func insert(_ value: Value, for key: Key) {
        let bytes = bytes(value) + keyBytes(key) + Self.overhead
        budget.note(state.mutex.withLock { insert(value, bytes, for: key, in: &$0) })
    }

    /// Removes the entry of a key.
    package func remove(_ key: Key) {
        let removed = state.mutex.withLock { state -> Entry? in
            let entry = state.entries.removeValue(forKey: key)
            state.bytes -= entry?.bytes ?? 0
            return entry
        }
        budget.note(-(removed?.bytes ?? 0))
    }

    /// The cached value of a key, or else the result of `make`. All waiting requests get its error, which is not
    /// cached.
    ///
    /// - Parameter isCached: false if the caller caches the value itself. Then only concurrent requests share it.
    package func value(
        for key: Key, isCached: Bool = true, make: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        while true {
            let found = lookup(key) {
                Flight(number: budget.tick(), task: WorkExecutor.flight(make), isCached: isCached)
            }
            if let result = await result(of: found, for: key) { return try result.get() }
        }
    }

    /// The cached value of a key, or else the result of `make`, which runs on the calling thread. It needs neither a
    /// task nor another thread. Cancellation does not end it, nor the wait of other requests, so it must be short: some
    /// milliseconds. All waiting requests get its error, which is not cached.
    package func valueMadeHere(for key: Key, _ make: () throws(Failure) -> Value) async throws(Failure) -> Value {
        while true {
            let found = lookup(key) { Flight(number: budget.tick(), task: nil, isCached: true) }
            if case .own(let number) = found {
                let result = Result(catching: make)
                completeFlight(key, number, result)
                return try result.get()
            }
            if let result = await result(of: found, for: key) { return try result.get() }
        }
    }

    /// - Parameter begin: makes the flight if there is neither a value nor a flight.
    private func lookup(_ key: Key, begin: () -> Flight) -> Lookup {
        state.mutex.withLock { state in
            if let index = state.entries.index(forKey: key) {
                state.entries.values[index].lastUsed = budget.tick()
                state.hits += 1
                return .cached(state.entries.values[index].value)
            }
            if let index = state.flights.index(forKey: key) {
                state.hits += 1
                state.flights.values[index].waiting += 1
                let flight = state.flights.values[index]
                return flight.task.map { .task($0, flight.number) } ?? .otherJob(flight.number)
            }
            state.misses += 1
            let flight = begin()
            state.flights[key] = flight
            return flight.task.map { .task($0, flight.number) } ?? .own(flight.number)
        }
    }

    /// Waits for the result of another's computation; nil if it ended before, so that the key must be looked up again.
    private func result(of found: Lookup, for key: Key) async -> Result<Value, Failure>? {
        switch found {
        case .cached(let value): return .success(value)
        case .task(let task, let number):
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                leave(key, number)
            }
            completeFlight(key, number, result)
            return result
        case .otherJob(let number):
            return await withCheckedContinuation { continuation in
                let isWaiting = state.mutex.withLock { state in
                    guard let index = state.flights.index(forKey: key), state.flights.values[index].number == number
                    else { return false }
                    state.flights.values[index].waiters.append(continuation)
                    return true
                }
                if !isWaiting { continuation.resume(returning: nil) }
            }
        case .own: return nil
        }
    }

    /// Removes a waiting request from a flight. The last one cancels it, and a later request starts a new one.
    private func leave(_ key: Key, _ number: UInt64) {
        let abandoned = state.mutex.withLock { state -> Task<Result<Value, Failure>, Never>? in
            guard var flight = state.flights[key], flight.number == number else { return nil }
            flight.waiting -= 1
            state.flights[key] = flight.waiting > 0 ? flight : nil
            return flight.waiting > 0 ? nil : flight.task
        }
        abandoned?.cancel()
    }

    private func completeFlight(_ key: Key, _ number: UInt64, _ result: Result<Value, Failure>) {
        let value = try? result.get()
        let bytes = value.map(bytes).map { $0 + keyBytes(key) + Self.overhead } ?? 0
        typealias Waiters = [CheckedContinuation<Result<Value, Failure>?, Never>]
        let (change, waiters) = state.mutex.withLock { state -> (Int, Waiters) in
            guard let flight = state.flights[key], flight.number == number else { return (0, []) }
            state.flights[key] = nil
            guard flight.isCached, let value else { return (0, flight.waiters) }
            return (insert(value, bytes, for: key, in: &state), flight.waiters)
        }
        budget.note(change)
        for waiter in waiters { waiter.resume(returning: result) }
    }

    /// - Returns: the change of the cache's bytes.
    private func insert(_ value: Value, _ bytes: Int, for key: Key, in state: inout CacheState) -> Int {
        // A value of more than half the budget would evict too many others.
        guard bytes <= budget.bytes / 2 else { return 0 }
        let change = bytes - (state.entries[key]?.bytes ?? 0)
        state.entries[key] = Entry(value: value, bytes: bytes, lastUsed: budget.tick())
        state.bytes += change
        return change
    }
}

/// The size of a cache, and its hits and misses.
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
