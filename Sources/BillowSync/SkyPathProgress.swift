import Synchronization
import Turbulence

/// State of a source between rounds, in memory only. It survives changes of the query.
final class SkyPathProgress: Sendable {
    private struct ProgressState {
        /// The last nowcast, and the time of its fetch.
        var nowcast: Fetched<SyncRequest.Part>?
        /// The request of the last complete round, by area.
        var requests: [DataQuery.Area: Fetched<SyncRequest>] = [:]
        /// The last fetch of turbulence, by area.
        var turbulence: [DataQuery.Area: Fetched<SyncRequest.Part>] = [:]
        var disabled: [DataQuery.DataType: (since: Instant, message: String)] = [:]
        /// The types whose last response was empty.
        var empty: Set<DataQuery.DataType> = []
        var hasResumed = false
        var keptSession: String?
    }

    private struct Fetched<Request: Sendable>: Sendable {
        var request: Request
        var at: Instant
    }

    private let state = Mutex(ProgressState())
    /// Serialises read-modify-write sequences on the store.
    let ledger = Turns()

    /// The seconds after which a type that the account lacks is requested again.
    private static let restSeconds = 3_600

    // MARK: - Fetches

    /// The time of the last nowcast, if it satisfies a request; nil otherwise.
    func nowcastAt(for asked: SyncRequest.Part) -> Instant? {
        state.withLock { state in state.nowcast.flatMap { $0.request.serves(asked) ? $0.at : nil } }
    }

    func noteNowcast(_ request: SyncRequest.Part, at now: Instant) {
        state.withLock { $0.nowcast = Fetched(request: request, at: now) }
    }

    /// Records a complete round.
    func note(_ request: SyncRequest?, of area: DataQuery.Area, at now: Instant) {
        state.withLock { $0.requests[area] = request.map { Fetched(request: $0, at: now) } }
    }

    /// Records a fetch of an area's turbulence.
    func note(_ turbulence: SyncRequest.Part?, of area: DataQuery.Area, at now: Instant) {
        state.withLock { $0.turbulence[area] = turbulence.map { Fetched(request: $0, at: now) } }
    }

    /// The oldest fetch that satisfies the requests of some areas; nil if one isn't satisfied.
    func allFetched(_ asked: [(area: DataQuery.Area, request: SyncRequest)]) -> Instant? {
        state.withLock { state in
            let times = asked.map { area, request in
                state.requests[area].flatMap { $0.request.serves(request) ? $0.at : nil }
            }
            return times.contains(nil) ? nil : times.compactMap(\.self).min()
        }
    }

    /// The oldest fetch of the turbulence of some areas; nil if one isn't satisfied.
    func allFetched(_ asked: [(area: DataQuery.Area, turbulence: SyncRequest.Part?)]) -> Instant? {
        state.withLock { state in
            let times = asked.map { area, part -> Instant? in
                guard let part, let fetched = state.turbulence[area], fetched.request.serves(part) else { return nil }
                return fetched.at
            }
            return times.contains(nil) ? nil : times.compactMap(\.self).min()
        }
    }

    /// Whether to trust an empty response: only if the previous one was empty too.
    func isEmptyAgain(_ type: DataQuery.DataType, isEmpty: Bool) -> Bool {
        state.withLock { state in
            if isEmpty { return !state.empty.insert(type).inserted }
            state.empty.remove(type)
            return false
        }
    }

    /// Discards the state of an area, so that it is fetched whole.
    func reset(_ area: DataQuery.Area) {
        state.withLock { state in
            state.nowcast = nil
            state.disabled = [:]
            state.requests[area] = nil
            state.turbulence[area] = nil
        }
    }

    // MARK: - The session

    /// Whether the stored session of the previous process was loaded.
    var hasResumed: Bool {
        get { state.withLock { $0.hasResumed } }
        set { state.withLock { $0.hasResumed = newValue } }
    }

    /// The stored session.
    var keptSession: String? {
        get { state.withLock { $0.keptSession } }
        set { state.withLock { $0.keptSession = newValue } }
    }

    // MARK: - Suspended types

    /// The suspended types, each with the upstream's message and the time of the next attempt.
    func disabled(at now: Instant) -> [DataQuery.DataType: (message: String, until: Instant)] {
        state.withLock { state in
            state.disabled.mapValues { ($0.message, $0.since.advanced(by: Self.restSeconds)) }
                .filter { $0.value.1 > now }
        }
    }

    func disable(_ type: DataQuery.DataType, at now: Instant, _ message: String) {
        state.withLock { $0.disabled[type] = (now, message) }
    }

    func enable(_ type: DataQuery.DataType) { state.withLock { $0.disabled[type] = nil } }

    /// Lifts the suspension of all types.
    func enableAll() { state.withLock { $0.disabled = [:] } }
}

/// An asynchronous mutex that serves waiters in order.
actor Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private func enter() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }

    nonisolated func alone<Result>(_ body: () async throws(SyncError) -> Result) async throws(SyncError) -> Result {
        await enter()
        do throws(SyncError) {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }
}
