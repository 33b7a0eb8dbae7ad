import Synchronization
package import Turbulence

/// Where a source stands, as a picture.
package struct SourceState: Sendable, Hashable {
    package var id: SourceID
    /// `skypath`, …
    package var kind: String
    /// As configured; nil where its answers tell, and the store knows.
    package var simulated: Bool?
    /// What is asked for; nil where there is nothing to choose.
    package var query: DataQuery?
    package var update = UpdateFrequency.none
    /// The collections that it feeds.
    package var collections: [String]
    /// The kinds of data that it is fetched for.
    package var feeds: Set<DataKind>
    /// Between two rounds by the clock; nil where none are made.
    package var interval: Duration?
    /// Kinds of data that are asked for more seldom, and how often.
    package var slowKinds: [DataKind: Duration] = [:]
    /// Whether the upstream answered the last time it was asked; nil before the first time.
    package var isReachable: Bool?
    /// What the running round requests, whatever the query is meanwhile. Empty between rounds, in one without anything
    /// due, and for a folder, which is scanned and not fetched.
    package var fetching: Set<Part> = []
    package var isFetching: Bool { !fetching.isEmpty }
    /// Whether the upstream takes our key, by its last answer; nil before that. false ends all attempts until `start`.
    package var session: Bool?
    /// Whether the upstream is asked with a key of ours.
    package var hasKey = false
    /// Why the upstream doesn't take our key.
    package var refusal: Failure?
    /// How the rounds of each area go. Only areas that are asked for.
    package var areas: [DataQuery.Area: AreaState] = [:]
    /// Records taken into the log since the start of the process.
    package var accepted = 0
    package var duplicates = 0
    package var retracted = 0
    /// Records that could not be used, by reason.
    package var skipped: [String: Int] = [:]
    /// Records that were used after a change: brought to a parent cell, a severity lowered to 4, …
    package var adjusted: [String: Int] = [:]
    /// Types of data that are asked for and that the upstream won't give to this account, with its words. They rest;
    /// the others go on.
    package var disabled: [DataQuery.DataType: String] = [:]

    /// How the rounds of one area go.
    package struct AreaState: Sendable, Hashable {
        package var lastSuccess: Instant?
        package var lastAttempt: Instant?
        /// Why the last round failed; nil where it didn't.
        package var lastError: Failure?
        /// What of it failed.
        package var failedParts: Set<Part> = []
        package var consecutiveFailures = 0
        /// Since the start of the process.
        package var failures = 0
        /// The same of rounds that didn't fail.
        package var successes = 0
        package var nextAttempt: Instant?
    }

    /// When all areas had been fetched; nil where one never was.
    package var lastSuccess: Instant? {
        let times = areas.values.map(\.lastSuccess)
        return times.contains(nil) ? nil : times.compactMap(\.self).min()
    }
    package var lastAttempt: Instant? { areas.values.compactMap(\.lastAttempt).max() }
    package var nextAttempt: Instant? { areas.values.compactMap(\.nextAttempt).min() }
    package var consecutiveFailures: Int { areas.values.map(\.consecutiveFailures).max() ?? 0 }
    /// Why the upstream doesn't take our key, or else the newest failure of an area that fails.
    package var lastError: Failure? {
        refusal ?? areas.values.compactMap(\.lastError).max { $0.at < $1.at }
    }
    /// Whether the upstream refuses our key.
    package var isRefused: Bool { session == false }

    /// A collection in a part of the query.
    package struct Part: Sendable, Hashable, Comparable {
        package var area: DataQuery.Area
        package var collection: String

        package static func < (a: Part, b: Part) -> Bool { (a.area, a.collection) < (b.area, b.collection) }
    }

    package struct Failure: Sendable, Hashable {
        package var code: SyncError.Code
        package var message: String
        package var at: Instant
        /// The type of data that failed; nil where all did.
        package var type: DataQuery.DataType?
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
        areas = Dictionary(uniqueKeysWithValues: plan.requests.keys.map { ($0, areas[$0] ?? AreaState()) })
        if plan.interval == nil { for area in plan.requests.keys { areas[area]?.nextAttempt = nil } }
        update = plan.update
        interval = plan.interval
    }

    /// What it is doing, in one word.
    package var activity: Activity {
        if isRefused { return .refused }
        if isFetching { return .fetching }
        if interval == nil { return .stopped }
        if let query, query.types.allSatisfy({ disabled[$0] != nil }) { return .disabled }
        return lastError == nil ? .waiting : .failing
    }

    package enum Activity: String, Sendable, Hashable {
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
package final class SourceStates: Sendable {
    /// What is called with a state before and after each change.
    package typealias Observer = @Sendable (_ old: SourceState, _ new: SourceState) -> Void

    private let states = Mutex<[SourceState]>([])
    private let observers = Mutex<[Observer]>([])

    package init() {}

    /// Has every change told, those of one source in their order, on the thread that makes them.
    package func observe(_ observer: @escaping Observer) { observers.withLock { $0.append(observer) } }

    /// All of them, in the order of the configuration.
    package var all: [SourceState] { states.withLock { $0 } }

    package subscript(_ id: SourceID) -> SourceState? { states.withLock { $0.first { $0.id == id } } }

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
