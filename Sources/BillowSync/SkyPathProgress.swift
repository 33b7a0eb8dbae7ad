import Synchronization
import Turbulence

/// State of a source between rounds, in memory only. It survives changes of the query.
final class SkyPathProgress: Sendable {
    private struct ProgressState {
        /// The last nowcast, and the time of its fetch.
        var nowcast: FetchedRequest<SyncRequest.DataRequest>?
        /// The request of the last complete round, by area.
        var requests: [DataQuery.Area: FetchedRequest<SyncRequest>] = [:]
        /// The last fetch of turbulence, by area.
        var turbulence: [DataQuery.Area: FetchedRequest<SyncRequest.DataRequest>] = [:]
        var disabled: [QueryType: (since: Instant, message: String)] = [:]
        /// The types whose last response was empty.
        var empty: Set<QueryType> = []
        var hasResumed = false
        var storedSession: String?
    }

    private struct FetchedRequest<Request: Sendable>: Sendable {
        var request: Request
        var at: Instant
    }

    private let state = Mutex(ProgressState())
    /// Serialises read-modify-write sequences on the store.
    let ledger = AsyncLock()

    /// The seconds after which a type that the account lacks is requested again.
    private static let restSeconds = 3_600

    // MARK: - Fetches

    /// The time of the last nowcast, if it satisfies a request; nil otherwise.
    func nowcastAt(for required: SyncRequest.DataRequest) -> Instant? {
        state.withLock { state in state.nowcast.flatMap { $0.request.serves(required) ? $0.at : nil } }
    }

    func noteNowcast(_ request: SyncRequest.DataRequest, at now: Instant) {
        state.withLock { $0.nowcast = FetchedRequest(request: request, at: now) }
    }

    /// Records a complete round.
    func note(_ request: SyncRequest?, of area: DataQuery.Area, at now: Instant) {
        state.withLock { $0.requests[area] = request.map { FetchedRequest(request: $0, at: now) } }
    }

    /// Records a fetch of an area's turbulence.
    func note(_ turbulence: SyncRequest.DataRequest?, of area: DataQuery.Area, at now: Instant) {
        state.withLock { $0.turbulence[area] = turbulence.map { FetchedRequest(request: $0, at: now) } }
    }

    /// The oldest fetch that satisfies the requests of some areas; nil if one isn't satisfied.
    func allFetched(_ requests: [(area: DataQuery.Area, request: SyncRequest)]) -> Instant? {
        state.withLock { state in
            let times = requests.map { area, request in
                state.requests[area].flatMap { $0.request.serves(request) ? $0.at : nil }
            }
            return times.contains(nil) ? nil : times.compactMap(\.self).min()
        }
    }

    /// The oldest fetch of the turbulence of some areas; nil if one isn't satisfied.
    func allFetched(_ requests: [(area: DataQuery.Area, turbulence: SyncRequest.DataRequest?)]) -> Instant? {
        state.withLock { state in
            let times = requests.map { area, part -> Instant? in
                guard let part, let fetched = state.turbulence[area], fetched.request.serves(part) else { return nil }
                return fetched.at
            }
            return times.contains(nil) ? nil : times.compactMap(\.self).min()
        }
    }

    /// Whether to trust an empty response: only if the previous one was empty too.
    func wasEmptyBefore(_ type: QueryType, isEmpty: Bool) -> Bool {
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
    var storedSession: String? {
        get { state.withLock { $0.storedSession } }
        set { state.withLock { $0.storedSession = newValue } }
    }

    // MARK: - Suspended types

    /// The suspended types, each with the upstream's message and the time of the next attempt.
    func disabled(at now: Instant) -> [QueryType: (message: String, until: Instant)] {
        state.withLock { state in
            state.disabled.mapValues { ($0.message, $0.since.advanced(by: Self.restSeconds)) }
                .filter { $0.value.1 > now }
        }
    }

    func disable(_ type: QueryType, at now: Instant, _ message: String) {
        state.withLock { $0.disabled[type] = (now, message) }
    }

    func enable(_ type: QueryType) { state.withLock { $0.disabled[type] = nil } }

    /// Lifts the suspension of all types.
    func enableAll() { state.withLock { $0.disabled = [:] } }
}

/// An asynchronous mutex that serves waiters in order.
actor AsyncLock {
    private var isLocked = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private func lock() async {
        guard isLocked else {
            isLocked = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func unlock() {
        if waiting.isEmpty { isLocked = false } else { waiting.removeFirst().resume() }
    }

    nonisolated func withLock<Result>(_ body: () async throws(SyncError) -> Result) async throws(SyncError) -> Result {
        await lock()
        do throws(SyncError) {
            let result = try await body()
            await unlock()
            return result
        } catch {
            await unlock()
            throw error
        }
    }
}
