public import BillowStore
public import Logging
public import ServiceLifecycle
public import Turbulence

/// One upstream, as the engine sees it: something that brings the store up to date.
public protocol Upstream: Sendable {
    var id: SourceID { get }
    /// `skypath`, …
    var kind: String { get }
    var merge: MergeRule { get }
    /// Whether its data is made up; nil where its answers tell.
    var simulated: Bool? { get }

    /// Asks for what is new and writes it to the store. What was written before an error stays: it is whole batches,
    /// and the error's outcome counts it.
    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome

    /// What is asked for; nil where there is nothing to choose.
    var query: DataQuery? { get }
    /// The types of data that may be asked for.
    var types: [DataQuery.DataType] { get }
    /// The collections that it feeds.
    var collections: [String] { get }
    /// Those of them that a round at this time would ask for.
    func collections(at now: Instant) -> [String]
    /// The kinds of data that it is fetched for, and that are stale when it is silent. Nothing for a folder, whose files may
    /// be a year apart.
    var feeds: Set<DataKind> { get }
    /// The shortest time between two rounds that the upstream allows.
    var shortestInterval: Duration { get }
    /// Kinds of data that are asked for more seldom than rounds are made, and how often.
    var slowKinds: [DataKind: Duration] { get }
    /// Tells one key of ours from another without giving it away; nil where none is sent.
    var credential: String? { get }

    /// The same upstream, asked for something else.
    func asking(_ query: DataQuery) -> any Upstream
    /// Lets go of how far it has come, so that the next round fetches everything.
    func forget() async throws(SyncError)
    /// Has what was refused tried again by the next round.
    func retry()
    /// Takes up after a restart, before the first round and whether there will be one or not: lets go of data that was wanted
    /// for as long as the process ran.
    func resume(now: Instant) async throws(SyncError)
}

extension Upstream {
    public var query: DataQuery? { nil }
    public var types: [DataQuery.DataType] { [] }
    public var collections: [String] { query?.types.sorted().flatMap(\.collections) ?? ["turbulence"] }
    public var feeds: Set<DataKind> { query?.kinds ?? [] }
    public func collections(at now: Instant) -> [String] { collections }
    public var shortestInterval: Duration { .seconds(1) }
    public var slowKinds: [DataKind: Duration] { [:] }
    public var credential: String? { nil }

    public func asking(_ query: DataQuery) -> any Upstream { self }
    public func forget() async throws(SyncError) {}
    public func retry() {}
    public func resume(now: Instant) async throws(SyncError) {}
}

/// What one round brought.
public struct SyncOutcome: Sendable, Hashable {
    public var accepted = 0
    public var duplicates = 0
    public var retracted = 0
    public var skipped: [String: Int] = [:]
    public var adjusted: [String: Int] = [:]
    /// Whether the upstream gave what it was asked for. false where nothing was due, or nothing but what it won't give: that
    /// tells nothing of the rest.
    public var wasAnswered = true
    /// Types of data that the upstream won't give to this account, and its words; the others go on.
    public var disabled: [DataQuery.DataType: String] = [:]

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
    /// The type of data that it is about; nil where it is about all.
    public var type: DataQuery.DataType?
    /// What the round had brought before.
    public var outcome = SyncOutcome()

    public var description: String { message }

    /// The same, of one type of data.
    func about(_ type: DataQuery.DataType) -> SyncError {
        var error = self
        error.type = type
        return error
    }

    public init(kind: Kind, code: String, message: String, isReachable: Bool?, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.isReachable = isReachable
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// Keeps one source up to date for as long as the service group runs.
///
/// What it asks for and how often can be changed while it runs; that, and a refused key, are kept across restarts.
public actor SourceLoop: Service {
    public nonisolated let id: SourceID
    private var upstream: any Upstream
    private var update: UpdateFrequency
    private let lengths: UpdateLengths
    /// As configured, which is what a stored change is a change of.
    private let configured: SourceSettings
    private let states: SourceStates
    private let control: (any ControlStore)?
    private let now: @Sendable () -> Instant
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void
    private let logger: Logger
    private var failures = 0
    private var isHalted = false
    /// Why it is halted.
    private var refusal: SourceState.Failure?
    private var isFetching = false
    /// What the round under way makes of the upstream; a change of what is asked for ends it.
    private var running: Task<Result<SyncOutcome, SyncError>, Never>?
    /// How often it was started again.
    private var starts = 0
    /// Woken since the last pause began or ended.
    private var isWoken = false
    /// A change asks for data; others may follow within the second.
    private var isSettling = false
    /// Somebody asked for a round, whatever the frequency says.
    private var isAsked = false
    /// The next round is to fetch everything.
    private var isWholeAsked = false
    private var lastAsked: Instant?
    private var sleeping: Task<Void, Never>?

    /// Changes that follow each other within this make one fetch, for the last.
    static let settling = Duration.seconds(1)
    /// Between two rounds on demand.
    static let secondsBetweenDemands = 60
    /// Where there is nothing to do until woken.
    private static let idle = Duration.seconds(86_400)

    /// - Parameters:
    ///   - lengths: what the names of frequencies stand for.
    ///   - control: where changes are kept; nil keeps none.
    ///   - random: 0 ..< 1, for the jitter.
    ///   - sleep: waits, and throws when cancelled.
    public init(
        upstream: any Upstream, update: UpdateFrequency, lengths: UpdateLengths = UpdateLengths(), states: SourceStates,
        control: (any ControlStore)? = nil,
        now: @escaping @Sendable () -> Instant, random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }, logger: Logger
    ) {
        id = upstream.id
        self.upstream = upstream
        self.update = update
        self.lengths = lengths
        configured = SourceSettings(query: upstream.query, update: update)
        self.states = states
        self.control = control
        self.now = now
        self.random = random
        self.sleep = sleep
        var logger = logger
        logger[metadataKey: "source"] = "\(upstream.id)"
        self.logger = logger
        states.add(
            SourceState(upstream, update: update, interval: Self.interval(of: upstream, update: update, lengths)))
    }

    private var backOff: BackOff { BackOff(interval: interval ?? Self.idle) }

    /// Between two rounds by the clock, never shorter than the upstream allows; nil where none are to be made.
    private var interval: Duration? { Self.interval(of: upstream, update: update, lengths) }

    private static func interval(
        of upstream: any Upstream, update: UpdateFrequency, _ lengths: UpdateLengths
    ) -> Duration? {
        guard upstream.query?.asksForAnything != false, let interval = update.interval(lengths) else { return nil }
        return max(interval, upstream.shortestInterval)
    }

    /// Whether rounds are to be made by the clock.
    private var isActive: Bool { interval != nil }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.restore() }
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            // A graceful shutdown ends the round as a cancellation would: what isn't committed is asked for again.
            let delay = await cancelWhenGracefulShutdown { await self.round() }
            await cancelWhenGracefulShutdown { await self.pause(for: delay) }
        }
    }

    /// One round; gives the wait until the next. Does nothing while halted or stopped, or while another round is under
    /// way.
    public func round() async -> Duration {
        if isHalted { return Self.idle }
        if isFetching { return backOff.interval }
        guard isActive || isAsked && upstream.query?.asksForAnything != false else {
            isAsked = false
            states.update(id) { $0.nextAttempt = nil }
            return Self.idle
        }
        isFetching = true
        let wasAsked = isAsked
        isAsked = false
        let began = now()
        let startsBefore = starts
        let upstream = upstream
        states.update(id) {
            $0.fetching = SourceState.Part.all(of: upstream, at: began)
            $0.lastAttempt = began
            $0.nextAttempt = nil
        }
        let running = Task { await attempt(upstream, began) }
        self.running = running
        let result = await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
        self.running = nil
        let delay: Duration
        switch result {
        case .success(let outcome): delay = succeeded(outcome)
        case .failure(let error):
            // Ended by a change, it is still owed to who asked for it.
            if error.kind == .cancelled { isAsked = isAsked || wasAsked }
            // Started again meanwhile, it tries once more.
            delay = await failed(error, mayHalt: starts == startsBefore)
        }
        isFetching = false
        let next = isHalted || !isActive ? nil : now().advanced(by: Int(delay.components.seconds))
        states.update(id) {
            $0.fetching = []
            $0.nextAttempt = next
        }
        return isHalted || !isActive ? Self.idle : delay
    }

    private func attempt(_ upstream: any Upstream, _ now: Instant) async -> Result<SyncOutcome, SyncError> {
        do throws(SyncError) {
            if isWholeAsked {
                try await upstream.forget()
                isWholeAsked = false
            }
            return .success(try await upstream.synchronise(now: now))
        } catch { return .failure(error) }
    }

    /// Tries again, now, after the session was refused.
    /// - Throws: where what is kept of it can't be let go of.
    public func start() async throws(StoreError) {
        isHalted = false
        failures = 0
        starts += 1
        isAsked = true
        upstream.retry()
        states.update(id) { $0.hasSession = true }
        refresh()
        try await keep()
    }

    /// Ends the pause between two rounds, or the next one where a round is under way.
    public func refresh() {
        isWoken = true
        sleeping?.cancel()
    }

    /// Waits until the time is over, or woken, or cancelled; where a change woke it, also until others had their chance.
    private func pause(for delay: Duration) async {
        if !isWoken { await wait(delay) }
        if isSettling {
            await wait(Self.settling)
            isSettling = false
        }
        isWoken = false
    }

    private func wait(_ duration: Duration) async {
        let sleep = sleep
        // An error is a cancellation, which is what ends a sleep early.
        let sleeping = Task { () -> Void in try? await sleep(duration) }
        if !isSettling { self.sleeping = sleeping }
        await withTaskCancellationHandler {
            await sleeping.value
        } onCancel: {
            sleeping.cancel()
        }
        self.sleeping = nil
    }

    private func succeeded(_ outcome: SyncOutcome) -> Duration {
        guard outcome.wasAnswered else {
            states.update(id) { state in
                state.count(outcome)
                // What failed is refused by now, and `disabled` says so.
                if let type = state.lastError?.type, outcome.disabled[type] != nil { state.lastError = nil }
            }
            return backOff.interval
        }
        if failures > 0 { logger.notice("the upstream answers again", metadata: ["failures": "\(failures)"]) }
        failures = 0
        let at = now()
        states.update(id) { state in
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

    private func failed(_ error: SyncError, mayHalt: Bool) async -> Duration {
        if error.kind == .cancelled {
            states.update(id) { $0.count(error.outcome) }
            return backOff.interval
        }
        failures += 1
        isHalted = error.kind == .session && mayHalt
        let at = now()
        let failures = failures
        let isHalted = isHalted
        let failure = SourceState.Failure(code: error.code, message: error.message, at: at, type: error.type)
        if isHalted { refusal = failure }
        states.update(id) { state in
            state.count(error.outcome)
            state.isReachable = error.isReachable ?? state.isReachable
            state.hasSession = !isHalted
            state.lastError = failure
            state.consecutiveFailures = failures
        }
        let delay = backOff.delay(failures: failures, retryAfterSeconds: error.retryAfterSeconds, random: random())
        logger.warning(
            "could not synchronise",
            metadata: [
                "code": "\(error.code)", "error": "\(error.message)", "failures": "\(failures)",
                "next": isHalted ? "when started again" : "in \(delay.components.seconds) s",
            ])
        if isHalted {
            do throws(StoreError) { try await keep() } catch {
                logger.error("the refusal can't be kept across a restart", metadata: ["error": "\(error)"])
            }
        }
        return delay
    }

    // MARK: - Steering

    /// What is asked for, and how often.
    public var settings: SourceSettings { SourceSettings(query: upstream.query, update: update) }

    /// The types of data that may be asked for.
    public var types: [DataQuery.DataType] { upstream.types }

    /// Asks for something else from now on, or at another frequency. Where what was fetched is not enough, it is fetched
    /// within a second, in one round with all other changes of that second. The frequency counts from the next wait on.
    ///
    /// A round under way that asks for something else than is wanted now, or that nobody wants any more, ends: what it has
    /// committed stays, and what is still wanted of the rest is asked for by the next one.
    /// - Throws: where the change can't be kept; it is not made then.
    public func change(_ settings: SourceSettings) async throws(StoreError) {
        let old = self.settings
        guard settings != old else { return }
        let wasActive = isActive
        let before = (upstream, update)
        if let query = settings.query, query != old.query { upstream = upstream.asking(query) }
        update = settings.update
        do throws(StoreError) { try await keep() } catch {
            (upstream, update) = before
            throw error
        }
        let upstream = upstream
        let update = update
        let isActive = isActive
        let interval = interval
        states.update(id) { state in
            state.asks(upstream, update: update, interval: interval)
            if !isActive { state.nextAttempt = nil }
        }
        logger.notice("asks for something else", metadata: ["update": "\(update.text)"])
        let isSuperseded = isFetching && (settings.query != old.query || wasActive && !isActive)
        if isSuperseded { running?.cancel() }
        guard isActive || isSuperseded else { return }
        let needsData = if let new = upstream.query, let old = old.query { new.needsData(after: old) } else { false }
        if needsData || isSuperseded || !wasActive {
            isSettling = true
            refresh()
        }
    }

    /// Why there is no round on demand.
    public enum Refusal: Error, Sendable, Hashable {
        case tooSoon(retryAfterSeconds: Int)
        /// The upstream refused our key.
        case halted
        /// The query asks for nothing.
        case nothingToAsk
    }

    /// A round now, whatever the frequency says.
    /// - Parameter whole: everything, in place of what is new.
    public func demand(whole: Bool) throws(Refusal) {
        if isHalted { throw .halted }
        guard upstream.query?.asksForAnything != false else { throw .nothingToAsk }
        let now = now()
        if let lastAsked, now.seconds - lastAsked.seconds < Self.secondsBetweenDemands {
            throw .tooSoon(retryAfterSeconds: Self.secondsBetweenDemands - max(0, now.seconds - lastAsked.seconds))
        }
        lastAsked = now
        isAsked = true
        if whole { isWholeAsked = true }
        refresh()
    }

    // MARK: - Across restarts

    /// Takes up what was settled before the restart. A change of the configuration, or of the key, ends it.
    func restore() async {
        do throws(SyncError) { try await upstream.resume(now: now()) } catch {
            logger.error("what was stored for the process before can't be let go of", metadata: ["error": "\(error)"])
        }
        guard let control else { return }
        do {
            guard let text = try await control.control(of: id), let kept = SourceRecordOfControl(text: text) else {
                return
            }
            if kept.configured == configured.text, let query = kept.settings(like: configured) {
                if let query = query.query { upstream = upstream.asking(query) }
                update = query.update
            } else if kept.configured != configured.text {
                logger.notice("its configuration changed; what was settled while it ran is forgotten")
            }
            if kept.haltedCredential != nil, kept.haltedCredential == upstream.credential {
                isHalted = true
                refusal = kept.refusal
                logger.warning("its key was refused before the restart; nothing is tried until it is started again")
            }
        } catch {
            logger.error("what was settled before can't be read", metadata: ["error": "\(error)"])
        }
        let (upstream, update, interval, isHalted, refusal) = (upstream, update, interval, isHalted, refusal)
        states.update(id) { state in
            state.asks(upstream, update: update, interval: interval)
            state.hasSession = !isHalted
            state.lastError = refusal
        }
    }

    private func keep() async throws(StoreError) {
        let record = SourceRecordOfControl(
            configured: configured.text, settings: settings, haltedCredential: isHalted ? upstream.credential : nil,
            refusal: isHalted ? refusal : nil)
        let isNew = settings != configured || isHalted
        try await control?.setControl(isNew ? record.text : nil, of: id)
    }
}
