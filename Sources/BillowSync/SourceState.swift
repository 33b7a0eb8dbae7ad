import Synchronization
public import Turbulence

/// Where a source stands, as a picture.
public struct SourceState: Sendable, Hashable {
    public var id: SourceID
    /// `skypath`, …
    public var kind: String
    public var simulated: Bool
    /// Whether the upstream answered the last time it was asked; nil before the first time.
    public var isReachable: Bool?
    public var isFetching = false
    /// Whether the upstream takes our key; false ends all attempts until `start`.
    public var hasSession = true
    public var lastSuccess: Instant?
    public var lastAttempt: Instant?
    public var lastError: Failure?
    public var consecutiveFailures = 0
    public var nextAttempt: Instant?
    /// Records taken into the log since the start of the process.
    public var accepted = 0
    public var duplicates = 0
    public var retracted = 0
    /// Records that could not be used, by reason.
    public var skipped: [String: Int] = [:]
    /// Records that were used after a change: brought to a parent cell, a severity lowered to 4, …
    public var adjusted: [String: Int] = [:]

    public struct Failure: Sendable, Hashable {
        public var code: String
        public var message: String
        public var at: Instant
    }

    init(id: SourceID, kind: String, simulated: Bool) {
        self.id = id
        self.kind = kind
        self.simulated = simulated
    }

    mutating func count(_ outcome: SyncOutcome) {
        accepted += outcome.accepted
        duplicates += outcome.duplicates
        retracted += outcome.retracted
        skipped.merge(outcome.skipped, uniquingKeysWith: +)
        adjusted.merge(outcome.adjusted, uniquingKeysWith: +)
    }
}

/// The states of all sources.
public final class SourceStates: Sendable {
    private let states = Mutex<[SourceState]>([])

    public init() {}

    /// All of them, in the order of the configuration.
    public var all: [SourceState] { states.withLock { $0 } }

    func add(_ state: SourceState) { states.withLock { $0.append(state) } }

    func update(_ id: SourceID, _ change: (inout SourceState) -> Void) {
        states.withLock { states in
            guard let index = states.firstIndex(where: { $0.id == id }) else { return }
            change(&states[index])
        }
    }
}
