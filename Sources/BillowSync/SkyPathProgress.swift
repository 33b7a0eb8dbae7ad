import Synchronization
import Turbulence

/// What of a source lasts from round to round, in memory only, whatever it is asked for meanwhile.
final class SkyPathProgress: Sendable {
    private struct ProgressState {
        /// The nowcast that was taken last, and when.
        var nowcast: Fetched<SyncRequest.Part>?
        /// By area, what the last complete round asked for.
        var requests: [DataQuery.Area: Fetched<SyncRequest>] = [:]
        /// By area, what turbulence was fetched last.
        var turbulence: [DataQuery.Area: Fetched<SyncRequest.Part>] = [:]
        var disabled: [DataQuery.DataType: (since: Instant, message: String)] = [:]
        /// Products whose last answer was empty.
        var empty: Set<DataQuery.DataType> = []
        var hasResumed = false
        var keptSession: String?
    }

    private struct Fetched<Request: Sendable>: Sendable {
        var request: Request
        var at: Instant
    }

    private let state = Mutex(ProgressState())
    /// For what is read of the store and written back.
    let ledger = Turns()

    /// A type that the account may not have is tried again after this. Seconds.
    private static let restSeconds = 3_600

    // MARK: - What was fetched

    /// When the nowcast was taken last that has all that is asked for; nil where none was.
    func nowcastAt(for asked: SyncRequest.Part) -> Instant? {
        state.withLock { state in state.nowcast.flatMap { $0.request.serves(asked) ? $0.at : nil } }
    }

    func noteNowcast(_ request: SyncRequest.Part, at now: Instant) {
        state.withLock { $0.nowcast = Fetched(request: request, at: now) }
    }

    /// Notes a complete round.
    func note(_ request: SyncRequest?, of area: DataQuery.Area, at now: Instant) {
        state.withLock { $0.requests[area] = request.map { Fetched(request: $0, at: now) } }
    }

    /// Notes that an area's turbulence was fetched.
    func note(_ turbulence: SyncRequest.Part?, of area: DataQuery.Area, at now: Instant) {
        state.withLock { $0.turbulence[area] = turbulence.map { Fetched(request: $0, at: now) } }
    }

    /// When all of some areas' requests had been answered; nil where one has not been yet.
    func allFetched(_ asked: [(area: DataQuery.Area, request: SyncRequest)]) -> Instant? {
        state.withLock { state in
            let times = asked.map { area, request in
                state.requests[area].flatMap { $0.request.serves(request) ? $0.at : nil }
            }
            return times.contains(nil) ? nil : times.compactMap(\.self).min()
        }
    }

    /// When the turbulence of all areas had been fetched; nil where one's has not been yet.
    func allFetched(_ asked: [(area: DataQuery.Area, turbulence: SyncRequest.Part?)]) -> Instant? {
        state.withLock { state in
            let times = asked.map { area, part -> Instant? in
                guard let part, let fetched = state.turbulence[area], fetched.request.serves(part) else { return nil }
                return fetched.at
            }
            return times.contains(nil) ? nil : times.compactMap(\.self).min()
        }
    }

    /// Whether an empty answer is to be believed: the one before was empty too.
    func isEmptyAgain(_ type: DataQuery.DataType, isEmpty: Bool) -> Bool {
        state.withLock { state in
            if isEmpty { return !state.empty.insert(type).inserted }
            state.empty.remove(type)
            return false
        }
    }

    /// Has an area fetched anew.
    func reset(_ area: DataQuery.Area) {
        state.withLock { state in
            state.nowcast = nil
            state.disabled = [:]
            state.requests[area] = nil
            state.turbulence[area] = nil
        }
    }

    // MARK: - The session

    /// Whether the session of before the restart was looked for.
    var hasResumed: Bool {
        get { state.withLock { $0.hasResumed } }
        set { state.withLock { $0.hasResumed = newValue } }
    }

    /// The session as the store has it.
    var keptSession: String? {
        get { state.withLock { $0.keptSession } }
        set { state.withLock { $0.keptSession = newValue } }
    }

    // MARK: - What the account may not have

    /// The types that rest, what the upstream said of each, and when it may be asked again.
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

    /// Has all types asked for again.
    func enableAll() { state.withLock { $0.disabled = [:] } }
}

/// Lets one at a time do something that waits, in the order of asking.
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
