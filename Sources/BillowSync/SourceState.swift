import Synchronization
package import Turbulence

/// The state of a source, as a value.
package struct SourceState: Sendable, Hashable {
    package var id: SourceID
    /// The kind, such as `skypath`.
    package var kind: String
    /// Whether it is simulated by its settings; nil if the upstream's responses determine it.
    package var simulated: Bool?
    /// The current query; nil for an upstream without a query.
    package var query: DataQuery?
    package var update = UpdateFrequency.none
    /// The collections that get its data.
    package var collections: [String]
    /// The kinds of data that it fetches.
    package var feeds: Set<FeedKind>
    /// The seconds between two rounds; nil without rounds.
    package var interval: Duration?
    /// The kinds of data with a longer interval, and the interval.
    package var slowKinds: [FeedKind: Duration] = [:]
    /// Whether the upstream responded to the last request; nil before the first one.
    package var isReachable: Bool?
    /// The parts that the running round requests, even if the query changes meanwhile. Empty between rounds, in a round
    /// without due requests, and for a folder, which is scanned.
    package var fetching: Set<AreaCollection> = []
    package var isFetching: Bool { !fetching.isEmpty }
    /// Whether the upstream's events arrive; nil for a source that doesn't listen for events.
    package var isListening: Bool?
    /// The number of rounds that an event caused since the start of the process.
    package var eventRounds = 0
    /// Whether the upstream accepted the key in its last response; nil before that. false ends all attempts until
    /// `start`.
    package var session: Bool?
    /// Whether requests to the upstream have a key.
    package var hasKey = false
    /// The reason why the upstream rejected the key.
    package var refusal: Failure?
    /// The state of the rounds of each requested area.
    package var areas: [DataQuery.Area: AreaState] = [:]
    /// The number of records that were stored since the start of the process.
    package var accepted = 0
    package var duplicates = 0
    package var retracted = 0
    /// The numbers of rejected records by reason.
    package var skipped: [String: Int] = [:]
    /// The numbers of records that were stored after a change, such as a cell replaced by its parent or a severity
    /// lowered to 4.
    package var adjusted: [String: Int] = [:]
    /// The requested types of data that the upstream refuses to this account, with its message. These types are
    /// suspended.
    package var disabled: [QueryType: String] = [:]

    /// The state of the rounds of one area.
    package struct AreaState: Sendable, Hashable {
        package var lastSuccess: Instant?
        package var lastAttempt: Instant?
        /// The failure of the last round; nil if it succeeded.
        package var lastError: Failure?
        /// The part of the round that failed.
        package var failedParts: Set<AreaCollection> = []
        package var consecutiveFailures = 0
        /// The number of rounds since the start of the process.
        package var failures = 0
        /// The number of successful rounds since the start of the process.
        package var successes = 0
        package var nextAttempt: Instant?
    }

    /// The time at which all areas had been fetched; nil if one never was.
    package var lastSuccess: Instant? {
        let times = areas.values.map(\.lastSuccess)
        return times.contains(nil) ? nil : times.compactMap(\.self).min()
    }
    package var lastAttempt: Instant? { areas.values.compactMap(\.lastAttempt).max() }
    package var nextAttempt: Instant? { areas.values.compactMap(\.nextAttempt).min() }
    package var consecutiveFailures: Int { areas.values.map(\.consecutiveFailures).max() ?? 0 }
    /// The rejection of the key, or else the newest failure of an area.
    package var lastError: Failure? {
        refusal ?? areas.values.compactMap(\.lastError).max { $0.at < $1.at }
    }
    /// Whether the upstream rejects the key.
    package var isRefused: Bool { session == false }

    /// A collection in a part of the query.
    package struct AreaCollection: Sendable, Hashable, Comparable {
        package var area: DataQuery.Area
        package var collection: String

        package static func < (a: AreaCollection, b: AreaCollection) -> Bool {
            (a.area, a.collection) < (b.area, b.collection)
        }
    }

    package struct Failure: Sendable, Hashable {
        package var code: SyncError.Code
        package var message: String
        package var at: Instant
        /// The type of data that failed; nil if all did.
        package var type: QueryType?
    }

    init(_ upstream: any Upstream, _ plan: SyncPlan) {
        self.init(id: upstream.id, kind: upstream.kind, simulated: upstream.simulated, plan)
    }

    /// The state before the first round.
    init(id: SourceID, kind: String, simulated: Bool?, _ plan: SyncPlan) {
        self.id = id
        self.kind = kind
        self.simulated = simulated
        collections = []
        feeds = []
        apply(plan)
    }

    /// Applies a plan of requests and intervals.
    mutating func apply(_ plan: SyncPlan) {
        query = plan.query
        collections = plan.collections
        feeds = plan.feeds
        slowKinds = plan.slowKinds
        hasKey = plan.hasKey
        isListening = plan.eventSpacing == nil ? nil : isListening ?? false
        areas = Dictionary(uniqueKeysWithValues: plan.requests.keys.map { ($0, areas[$0] ?? AreaState()) })
        if plan.interval == nil { for area in plan.requests.keys { areas[area]?.nextAttempt = nil } }
        update = plan.update
        interval = plan.interval
    }

    /// The current activity as one word.
    package var activity: Activity {
        if isRefused { return .refused }
        if isFetching { return .fetching }
        if interval == nil { return .stopped }
        if let query, query.types.allSatisfy({ disabled[$0] != nil }) { return .disabled }
        return lastError == nil ? .waiting : .failing
    }

    package enum Activity: String, Sendable, Hashable {
        /// Requests are running.
        case fetching
        /// All areas are fetched; the next attempt is scheduled.
        case waiting
        /// The last attempt failed; another one is scheduled.
        case failing
        /// The upstream rejected the key. There is no attempt until the source is started again.
        case refused
        /// The upstream refuses all requested data to this account. It is retried when the suspension ends, or when the
        /// source is started.
        case disabled
        /// Nothing is requested.
        case stopped
    }

    mutating func count(_ outcome: SyncOutcome) {
        accepted += outcome.accepted
        duplicates += outcome.duplicates
        retracted += outcome.retracted
        skipped.merge(outcome.skipped.counted(by: \.description), uniquingKeysWith: +)
        adjusted.merge(outcome.adjusted.counted(by: \.rawValue), uniquingKeysWith: +)
        disabled = outcome.disabled
    }
}

/// The states of all sources.
package final class SourceStates: Sendable {
    private struct Register {
        var states: [SourceState] = []
        var consumers: [AsyncStream<SourceState>.Continuation] = []

        /// Sends a state to all consumers, within the lock, so that each gets the states of a source in their order.
        mutating func send(_ state: SourceState) {
            consumers.removeAll { consumer in
                if case .terminated = consumer.yield(state) { true } else { false }
            }
        }
    }

    /// The most states that wait for one consumer. A slower one misses the oldest.
    private static let longestBacklog = 1_024

    private let register = Mutex(Register())
    private let changeCount = Atomic<UInt64>(0)

    package init() {}

    /// The current states, and then the state of a source after each change, for one source in the order of changes. A
    /// consumer that missed some continues with later ones, so it should compare each with the last that it got.
    package func changes() -> AsyncStream<SourceState> {
        let (stream, consumer) = AsyncStream<SourceState>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.longestBacklog))
        register.withLock { register in
            for state in register.states { consumer.yield(state) }
            register.consumers.append(consumer)
        }
        return stream
    }

    /// The number of changes since the start. Whoever has seen a state reads its number or a later one.
    package var generation: UInt64 { changeCount.load(ordering: .acquiring) }

    /// All states in the order of the settings.
    package var all: [SourceState] { register.withLock { $0.states } }

    package subscript(_ id: SourceID) -> SourceState? { register.withLock { $0.states.first { $0.id == id } } }

    func add(_ state: SourceState) {
        register.withLock { register in
            register.states.append(state)
            changeCount.add(1, ordering: .releasing)
            register.send(state)
        }
    }

    /// Forgets a source that is no longer configured.
    package func remove(_ id: SourceID) {
        register.withLock { register in
            register.states.removeAll { $0.id == id }
            changeCount.add(1, ordering: .releasing)
        }
    }

    func update(_ id: SourceID, _ change: (inout SourceState) -> Void) {
        register.withLock { register in
            guard let index = register.states.firstIndex(where: { $0.id == id }) else { return }
            let old = register.states[index]
            change(&register.states[index])
            guard register.states[index] != old else { return }
            changeCount.add(1, ordering: .releasing)
            register.send(register.states[index])
        }
    }
}
