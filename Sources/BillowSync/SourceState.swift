import Synchronization
public import Turbulence

/// Where a source stands, as a picture.
public struct SourceState: Sendable, Hashable {
    public var id: SourceID
    /// `skypath`, …
    public var kind: String
    /// As configured; nil where its answers tell, and the store knows.
    public var simulated: Bool?
    /// What is asked for; nil where there is nothing to choose.
    public var query: DataQuery?
    public var update = UpdateFrequency.none
    /// The collections that it feeds.
    public var collections: [String]
    /// The kinds of data that it is fetched for.
    public var feeds: Set<DataKind>
    /// Between two rounds by the clock; nil where none are made.
    public var interval: Duration?
    /// Kinds of data that are asked for more seldom, and how often.
    public var slowKinds: [DataKind: Duration] = [:]
    /// Whether the upstream answered the last time it was asked; nil before the first time.
    public var isReachable: Bool?
    /// What the round under way asks for, whatever is wanted meanwhile; empty between rounds, in one that nothing is
    /// due in, and for a folder, which is looked at and not fetched.
    public var fetching: Set<Part> = []
    public var isFetching: Bool { !fetching.isEmpty }
    /// Whether the upstream takes our key, by its last answer; nil before that. false ends all attempts until `start`.
    public var session: Bool?
    /// Whether the upstream is asked with a key of ours.
    public var hasKey = false
    /// Why the upstream doesn't take our key.
    public var refusal: Failure?
    /// How the rounds of each area go. Only areas that are asked for.
    public var areas: [DataQuery.Area: AreaState] = [:]
    /// Records taken into the log since the start of the process.
    public var accepted = 0
    public var duplicates = 0
    public var retracted = 0
    /// Records that could not be used, by reason.
    public var skipped: [String: Int] = [:]
    /// Records that were used after a change: brought to a parent cell, a severity lowered to 4, …
    public var adjusted: [String: Int] = [:]
    /// Types of data that are asked for and that the upstream won't give to this account, with its words. They rest;
    /// the others go on.
    public var disabled: [DataQuery.DataType: String] = [:]

    /// How the rounds of one area go.
    public struct AreaState: Sendable, Hashable {
        public var lastSuccess: Instant?
        public var lastAttempt: Instant?
        /// Why the last round failed; nil where it didn't.
        public var lastError: Failure?
        /// What of it failed.
        public var failedParts: Set<Part> = []
        public var consecutiveFailures = 0
        /// Since the start of the process.
        public var failures = 0
        public var nextAttempt: Instant?
    }

    /// When all areas had been fetched; nil where one never was.
    public var lastSuccess: Instant? {
        let times = areas.values.map(\.lastSuccess)
        return times.contains(nil) ? nil : times.compactMap(\.self).min()
    }
    public var lastAttempt: Instant? { areas.values.compactMap(\.lastAttempt).max() }
    public var nextAttempt: Instant? { areas.values.compactMap(\.nextAttempt).min() }
    public var consecutiveFailures: Int { areas.values.map(\.consecutiveFailures).max() ?? 0 }
    /// Why the upstream doesn't take our key, or else the newest failure of an area that fails.
    public var lastError: Failure? {
        refusal ?? areas.values.compactMap(\.lastError).max { $0.at < $1.at }
    }
    /// Whether the upstream refuses our key.
    public var isRefused: Bool { session == false }

    /// A collection in a part of the query.
    public struct Part: Sendable, Hashable, Comparable {
        public var area: DataQuery.Area
        public var collection: String

        public static func < (a: Part, b: Part) -> Bool { (a.area, a.collection) < (b.area, b.collection) }
    }

    public struct Failure: Sendable, Hashable {
        public var code: SyncError.Code
        public var message: String
        public var at: Instant
        /// The type of data that failed; nil where all did.
        public var type: DataQuery.DataType?
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
        take(plan)
    }

    /// Takes over what is asked for, and how often.
    mutating func take(_ plan: SyncPlan) {
        query = plan.query
        collections = plan.collections
        feeds = plan.feeds
        slowKinds = plan.slowKinds
        hasKey = plan.hasKey
        areas = Dictionary(uniqueKeysWithValues: plan.requests.keys.map { ($0, areas[$0] ?? AreaState()) })
        if plan.interval == nil { for area in plan.requests.keys { areas[area]?.nextAttempt = nil } }
        update = plan.update
        interval = plan.interval
    }

    /// What it is doing, in one word.
    public var activity: Activity {
        if isRefused { return .refused }
        if isFetching { return .fetching }
        if interval == nil { return .stopped }
        if let query, query.types.allSatisfy({ disabled[$0] != nil }) { return .disabled }
        return lastError == nil ? .waiting : .failing
    }

    public enum Activity: String, Sendable, Hashable {
        /// Asking just now.
        case fetching
        /// All is well until the next attempt.
        case waiting
        /// The last attempt failed; there will be another.
        case failing
        /// The upstream refused our key: nothing is tried until it is started again.
        case refused
        /// The upstream won't give this account any of what is asked for: tried again when the rest is over, or when it
        /// is started.
        case disabled
        /// Nothing is to be asked for.
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
public final class SourceStates: Sendable {
    /// What is called with a state before and after each change.
    public typealias Observer = @Sendable (_ old: SourceState, _ new: SourceState) -> Void

    private let states = Mutex<[SourceState]>([])
    private let observers = Mutex<[Observer]>([])

    public init() {}

    /// Has every change told, those of one source in their order, on the thread that makes them.
    public func observe(_ observer: @escaping Observer) { observers.withLock { $0.append(observer) } }

    /// All of them, in the order of the configuration.
    public var all: [SourceState] { states.withLock { $0 } }

    public subscript(_ id: SourceID) -> SourceState? { states.withLock { $0.first { $0.id == id } } }

    func add(_ state: SourceState) { states.withLock { $0.append(state) } }

    func update(_ id: SourceID, _ change: (inout SourceState) -> Void) {
        let change = states.withLock { states -> (old: SourceState, new: SourceState)? in
            guard let index = states.firstIndex(where: { $0.id == id }) else { return nil }
            let old = states[index]
            change(&states[index])
            return (old, states[index])
        }
        guard let change, change.old != change.new else { return }
        for observer in observers.withLock({ $0 }) { observer(change.old, change.new) }
    }
}
