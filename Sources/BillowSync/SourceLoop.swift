import BillowStore
public import Logging
public import ServiceLifecycle
public import Turbulence

/// One upstream, as the engine sees it: something that brings the store up to date.
public protocol Upstream: Sendable {
    var id: SourceID { get }
    /// `skypath`, …
    var kind: String { get }
    var merge: MergeRule { get }
    var simulated: Bool { get }

    /// Asks for what is new and writes it to the store. What was written before an error stays: it is whole batches,
    /// and the error's outcome counts it.
    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome
}

/// What one round brought.
public struct SyncOutcome: Sendable, Hashable {
    public var accepted = 0
    public var duplicates = 0
    public var retracted = 0
    public var skipped: [String: Int] = [:]
    public var adjusted: [String: Int] = [:]

    public init() {}
}

/// Why a round failed.
public struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// May work later.
        case transient
        /// The upstream refuses our key: asking again may lock the account.
        case session
        /// The upstream won't serve this query or this client: asking again is of no use, but harmless.
        case refused
        /// Our own store.
        case store
        case cancelled
    }

    public var kind: Kind
    /// Stable, for programs.
    public var code: String
    public var message: String
    /// Whether the upstream was reached at all; nil where it wasn't asked.
    public var isReachable: Bool?
    public var retryAfterSeconds: Int?
    /// What the round had brought before.
    public var outcome = SyncOutcome()

    public var description: String { message }

    public init(kind: Kind, code: String, message: String, isReachable: Bool?, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.isReachable = isReachable
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// Keeps one source up to date for as long as the service group runs.
public actor SourceLoop: Service {
    private let upstream: any Upstream
    private let backOff: BackOff
    private let states: SourceStates
    private let now: @Sendable () -> Instant
    private let random: @Sendable () -> Double
    private let logger: Logger
    private var failures = 0
    private var isHalted = false
    private var isFetching = false
    /// How often it was started again.
    private var starts = 0
    /// Woken since the last pause began or ended.
    private var isWoken = false
    private var sleep: Task<Void, Never>?

    /// - Parameter random: 0 ..< 1, for the jitter.
    public init(
        upstream: any Upstream, interval: Duration, states: SourceStates, now: @escaping @Sendable () -> Instant,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, logger: Logger
    ) {
        self.upstream = upstream
        backOff = BackOff(interval: interval)
        self.states = states
        self.now = now
        self.random = random
        var logger = logger
        logger[metadataKey: "source"] = "\(upstream.id)"
        self.logger = logger
        states.add(SourceState(id: upstream.id, kind: upstream.kind, simulated: upstream.simulated))
    }

    public func run() async throws {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            // A graceful shutdown ends the round as a cancellation would: what isn't committed is asked for again.
            let delay = await cancelWhenGracefulShutdown { await self.round() }
            await cancelWhenGracefulShutdown { await self.pause(for: delay) }
        }
    }

    /// One round; gives the wait until the next. Does nothing while halted, or while another round is under way.
    public func round() async -> Duration {
        if isHalted || isFetching { return backOff.interval }
        isFetching = true
        let began = now()
        let startsBefore = starts
        states.update(upstream.id) {
            $0.isFetching = true
            $0.lastAttempt = began
            $0.nextAttempt = nil
        }
        let delay: Duration
        do {
            delay = succeeded(try await upstream.synchronise(now: began))
        } catch {
            // Started again meanwhile, it tries once more.
            delay = failed(error, mayHalt: starts == startsBefore)
        }
        isFetching = false
        let next = isHalted ? nil : now().advanced(by: Int(delay.components.seconds))
        states.update(upstream.id) {
            $0.isFetching = false
            $0.nextAttempt = next
        }
        return delay
    }

    /// Tries again, now, after the session was refused.
    public func start() {
        isHalted = false
        failures = 0
        starts += 1
        states.update(upstream.id) { $0.hasSession = true }
        refresh()
    }

    /// Ends the pause between two rounds, or the next one where a round is under way.
    public func refresh() {
        isWoken = true
        sleep?.cancel()
    }

    /// Waits until the time is over, or woken, or cancelled.
    private func pause(for delay: Duration) async {
        if !isWoken {
            // An error is a cancellation, which is what ends a sleep early.
            let sleep = Task { () -> Void in try? await Task.sleep(for: delay) }
            self.sleep = sleep
            await withTaskCancellationHandler {
                await sleep.value
            } onCancel: {
                sleep.cancel()
            }
            self.sleep = nil
        }
        isWoken = false
    }

    private func succeeded(_ outcome: SyncOutcome) -> Duration {
        if failures > 0 { logger.notice("the upstream answers again", metadata: ["failures": "\(failures)"]) }
        failures = 0
        let at = now()
        states.update(upstream.id) { state in
            state.isReachable = true
            state.hasSession = true
            state.lastSuccess = at
            state.lastError = nil
            state.consecutiveFailures = 0
            state.count(outcome)
        }
        logger.debug(
            "synchronised",
            metadata: [
                "accepted": "\(outcome.accepted)", "duplicates": "\(outcome.duplicates)",
                "retracted": "\(outcome.retracted)",
            ])
        return backOff.delay(failures: 0, retryAfterSeconds: nil, random: random())
    }

    private func failed(_ error: SyncError, mayHalt: Bool) -> Duration {
        if error.kind == .cancelled {
            states.update(upstream.id) { $0.count(error.outcome) }
            return backOff.interval
        }
        failures += 1
        isHalted = error.kind == .session && mayHalt
        let at = now()
        let failures = failures
        let isHalted = isHalted
        states.update(upstream.id) { state in
            state.count(error.outcome)
            state.isReachable = error.isReachable ?? state.isReachable
            state.hasSession = !isHalted
            state.lastError = SourceState.Failure(code: error.code, message: error.message, at: at)
            state.consecutiveFailures = failures
        }
        let delay = backOff.delay(failures: failures, retryAfterSeconds: error.retryAfterSeconds, random: random())
        logger.warning(
            "could not synchronise",
            metadata: [
                "code": "\(error.code)", "error": "\(error.message)", "failures": "\(failures)",
                "next": isHalted ? "when started again" : "in \(delay.components.seconds) s",
            ])
        return delay
    }
}
