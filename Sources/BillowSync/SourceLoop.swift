public import BillowStore
public import Logging
public import ServiceLifecycle
public import Turbulence
public import WireJSON

/// Keeps one source up to date for as long as the service group runs.
///
/// Each area of its query has rounds of its own, one after the other, with its own wait and its own failures: an area
/// that fails never holds up another. What is asked for and how often can be changed while it runs; that, and a
/// refused key, are kept across restarts.
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
    private let uptime: @Sendable () -> Duration
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void
    private let logger: Logger
    private var lanes: [DataQuery.Area: Lane] = [:]
    private var isHalted = false
    /// Why it is halted.
    private var refusal: SourceState.Failure?
    /// How often it was started again.
    private var starts = 0
    /// The uptime at the last refresh on demand.
    private var demandedAt: Duration?

    /// The rounds of one area.
    private struct Lane {
        var failures = 0
        var isFetching = false
        /// What the round under way asks for.
        var asked: SyncRequest?
        /// What the last successful round asked for.
        var held: SyncRequest?
        /// The round under way; a change of what is asked for cancels it.
        var running: Task<Result<SyncOutcome, SyncError>, Never>?
        /// Woken since the last pause began or ended.
        var isWoken = false
        /// The wait has another length now.
        var isRetimed = false
        /// A change asks for data; others may follow within the second.
        var isSettling = false
        /// A round was demanded, whatever the frequency says.
        var isDemanded = false
        /// The next round is to fetch everything.
        var isWholeDemanded = false
        /// The area was asked for and is no more; its data may have to end.
        var isReleased = false
        var sleeping: Task<Void, Never>?
        /// What the last wait was made of, beside the interval.
        var retryAfterSeconds: Int?
        var spread = 0.5
    }

    /// Changes that follow each other within this make one fetch, for the last.
    static let settling = Duration.seconds(1)
    /// Between two refreshes on demand.
    static let secondsBetweenDemands = 60
    /// Where there is nothing to do until woken.
    private static let idle = Duration.seconds(86_400)

    private static let started = ContinuousClock.now

    /// Since the process began; nobody can set it.
    public static let uptime: @Sendable () -> Duration = { started.duration(to: .now) }

    /// - Parameters:
    ///   - lengths: what the names of frequencies stand for.
    ///   - control: where changes are kept; nil keeps none.
    ///   - now: the time of the data.
    ///   - uptime: a clock that nobody sets, for waits.
    ///   - random: 0 ..< 1, for the jitter.
    ///   - sleep: waits, and throws when cancelled.
    public init(
        upstream: any Upstream, update: UpdateFrequency, lengths: UpdateLengths = UpdateLengths(), states: SourceStates,
        control: (any ControlStore)? = nil, now: @escaping @Sendable () -> Instant,
        uptime: @escaping @Sendable () -> Duration = SourceLoop.uptime,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
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
        self.uptime = uptime
        self.random = random
        self.sleep = sleep
        var logger = logger
        logger[metadataKey: "source"] = "\(upstream.id)"
        self.logger = logger
        for area in upstream.areas { lanes[area] = Lane() }
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

    /// Whether rounds of an area are to be made by the clock.
    private func isActive(_ area: DataQuery.Area) -> Bool { interval != nil && upstream.request(of: area) != nil }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.restore() }
        await withDiscardingTaskGroup { group in
            for area in upstream.areas { group.addTask { await self.run(area) } }
        }
    }

    private func run(_ area: DataQuery.Area) async {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            // A graceful shutdown ends the round as a cancellation would: what isn't committed is asked for again.
            let delay = await cancelWhenGracefulShutdown { await self.round(area) }
            await cancelWhenGracefulShutdown { await self.pause(area, for: delay) }
        }
    }

    // MARK: - A round

    /// One round of every area, one after the other; gives the shortest wait until the next.
    public func round() async -> Duration {
        var shortest = Self.idle
        for area in upstream.areas { shortest = min(shortest, await round(area)) }
        return shortest
    }

    /// One round of an area; gives the wait until the next. Does nothing while halted or stopped, or while another
    /// round is under way.
    private func round(_ area: DataQuery.Area) async -> Duration {
        if isHalted { return Self.idle }
        if lanes[area]?.isFetching == true { return backOff.interval }
        let request = upstream.request(of: area)
        if request == nil, lanes[area]?.isReleased == true {
            guard await release(area) else { return backOff.delay(failures: 1, retryAfterSeconds: nil, random: 0.5) }
        }
        guard let request, isActive(area) || lanes[area]?.isDemanded == true else {
            lanes[area]?.isDemanded = false
            states.update(id) { $0.areas[area]?.nextAttempt = nil }
            return Self.idle
        }
        let wasDemanded = lanes[area]?.isDemanded == true
        lanes[area]?.isFetching = true
        lanes[area]?.asked = request
        lanes[area]?.isDemanded = false
        lanes[area]?.isReleased = false
        let began = now()
        let startsBefore = starts
        let upstream = upstream
        states.update(id) { state in
            state.fetching.formUnion(upstream.feeds.isEmpty ? [] : upstream.parts(of: area, at: began))
            state.areas[area, default: SourceState.AreaState()].lastAttempt = began
            state.areas[area]?.nextAttempt = nil
        }
        let parts = upstream.parts(of: area, at: began)
        let running = Task { await attempt(area, upstream, began) }
        lanes[area]?.running = running
        let result = await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
        lanes[area]?.running = nil
        let delay: Duration
        switch result {
        case .success(let outcome): delay = succeeded(area, request, outcome)
        case .failure(let error):
            // A round that a change cancels is still owed to whoever demanded it.
            if error.kind == .cancelled, wasDemanded { lanes[area]?.isDemanded = true }
            // Started again meanwhile, it tries once more.
            delay = await failed(area, error, parts, mayHalt: starts == startsBefore)
        }
        lanes[area]?.isFetching = false
        lanes[area]?.asked = nil
        let isActive = !isHalted && isActive(area)
        let next = isActive ? now().advanced(by: Int(delay.components.seconds)) : nil
        states.update(id) { state in
            state.fetching.subtract(parts)
            state.areas[area]?.nextAttempt = next
        }
        return isActive ? delay : Self.idle
    }

    private func attempt(
        _ area: DataQuery.Area, _ upstream: any Upstream, _ now: Instant
    ) async -> Result<SyncOutcome, SyncError> {
        do throws(SyncError) {
            if lanes[area]?.isWholeDemanded == true {
                try await upstream.resetCursors(of: area)
                lanes[area]?.isWholeDemanded = false
            }
            return .success(try await upstream.synchronise(area, now: now))
        } catch { return .failure(error) }
    }

    /// Ends what was stored for an area that is asked for no more.
    /// - Returns: whether that could be done.
    private func release(_ area: DataQuery.Area) async -> Bool {
        do throws(SyncError) {
            try await upstream.release(area, now: now())
            lanes[area]?.isReleased = false
            return true
        } catch {
            logger.error(
                "the data of an area can't be ended", metadata: ["area": "\(area.rawValue)", "error": "\(error)"])
            return false
        }
    }

    /// Tries again, now, after the session was refused.
    /// - Throws: where the stored refusal can't be removed.
    public func start() async throws(StoreError) {
        isHalted = false
        refusal = nil
        starts += 1
        upstream.retry()
        // Whether the key is taken is for the upstream to say.
        states.update(id) { $0.session = nil }
        for area in lanes.keys {
            lanes[area]?.failures = 0
            lanes[area]?.isDemanded = true
            wake(area)
        }
        try await keep()
    }

    /// Ends the pauses between two rounds, or the next one where a round is under way.
    public func refresh() { for area in lanes.keys { wake(area) } }

    private func wake(_ area: DataQuery.Area) {
        lanes[area]?.isWoken = true
        lanes[area]?.sleeping?.cancel()
    }

    // MARK: - Waiting

    /// Waits until the time is over, or woken, or cancelled; where a change woke it, also until others had their chance.
    private func pause(_ area: DataQuery.Area, for delay: Duration) async {
        let began = uptime()
        var delay = delay
        while lanes[area]?.isWoken != true {
            if lanes[area]?.isRetimed == true {
                lanes[area]?.isRetimed = false
                delay = nextDelay(area)
                let next = now().advanced(by: Int((delay - (uptime() - began)).components.seconds))
                let isActive = isActive(area)
                states.update(id) { $0.areas[area]?.nextAttempt = isActive ? next : nil }
            }
            let left = delay - (uptime() - began)
            if left > .zero { await wait(area, left) }
            if lanes[area]?.isRetimed != true || Task.isCancelled { break }
        }
        if lanes[area]?.isSettling == true {
            await wait(area, Self.settling)
            lanes[area]?.isSettling = false
        }
        lanes[area]?.isWoken = false
    }

    private func wait(_ area: DataQuery.Area, _ duration: Duration) async {
        let sleep = sleep
        // An error is a cancellation, which is what ends a sleep early.
        let sleeping = Task { () -> Void in try? await sleep(duration) }
        if lanes[area]?.isSettling != true { lanes[area]?.sleeping = sleeping }
        await withTaskCancellationHandler {
            await sleeping.value
        } onCancel: {
            sleeping.cancel()
        }
        lanes[area]?.sleeping = nil
    }

    /// The wait after the last round of an area, by the present interval.
    private func nextDelay(_ area: DataQuery.Area) -> Duration {
        guard let lane = lanes[area], !isHalted, isActive(area) else { return Self.idle }
        return backOff.delay(
            failures: lane.failures, retryAfterSeconds: lane.retryAfterSeconds, random: lane.spread)
    }

    // MARK: - What becomes of a round

    private func succeeded(_ area: DataQuery.Area, _ request: SyncRequest, _ outcome: SyncOutcome) -> Duration {
        lanes[area]?.retryAfterSeconds = nil
        guard outcome.wasAnswered else {
            states.update(id) { state in
                state.count(outcome)
                // What failed is refused by now, and `disabled` says so.
                if let type = state.areas[area]?.lastError?.type, outcome.disabled[type] != nil {
                    state.areas[area]?.lastError = nil
                }
            }
            return backOff.interval
        }
        if let failures = lanes[area]?.failures, failures > 0 {
            logger.notice(
                "the upstream answers again", metadata: ["area": "\(area.rawValue)", "failures": "\(failures)"])
        }
        lanes[area]?.failures = 0
        lanes[area]?.held = request
        let at = now()
        states.update(id) { state in
            state.isReachable = true
            state.session = true
            state.refusal = nil
            state.areas[area]?.lastSuccess = at
            state.areas[area]?.lastError = nil
            state.areas[area]?.consecutiveFailures = 0
            state.count(outcome)
        }
        logger.debug(
            "synchronised",
            metadata: [
                "area": "\(area.rawValue)", "accepted": "\(outcome.accepted)", "duplicates": "\(outcome.duplicates)",
                "retracted": "\(outcome.retracted)",
            ])
        return nextDelay(area)
    }

    private func failed(
        _ area: DataQuery.Area, _ error: SyncError, _ parts: Set<SourceState.Part>, mayHalt: Bool
    ) async -> Duration {
        if error.kind == .cancelled {
            states.update(id) { $0.count(error.outcome) }
            return backOff.interval
        }
        let failures = (lanes[area]?.failures ?? 0) + 1
        lanes[area]?.failures = failures
        lanes[area]?.retryAfterSeconds = error.retryAfterSeconds
        lanes[area]?.spread = random()
        let isHalted = error.kind == .session && mayHalt
        // Another area's refusal counts until it is started again.
        self.isHalted = self.isHalted || isHalted
        let failure = SourceState.Failure(
            code: error.code.rawValue, message: error.message, at: now(), type: error.type)
        let failedParts = error.type.map { type in parts.filter { type.collections.contains($0.collection) } } ?? parts
        if isHalted {
            refusal = failure
            // Asking on might lock the account.
            for other in lanes.keys where other != area { lanes[other]?.running?.cancel() }
        }
        states.update(id) { state in
            state.count(error.outcome)
            state.isReachable = error.isReachable ?? state.isReachable
            if isHalted {
                state.session = false
                state.refusal = failure
            } else if state.session != false {
                state.refusal = nil
            }
            state.areas[area]?.lastError = failure
            state.areas[area]?.failedParts = failedParts
            state.areas[area]?.consecutiveFailures = failures
            state.areas[area]?.failures += 1
        }
        let delay = backOff.delay(
            failures: failures, retryAfterSeconds: error.retryAfterSeconds, random: lanes[area]?.spread ?? 0.5)
        logger.warning(
            "could not synchronise",
            metadata: [
                "area": "\(area.rawValue)", "code": "\(error.code.rawValue)", "error": "\(error.message)",
                "failures": "\(failures)",
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

    /// The settings after a change of some members, by the rules of the settings' file.
    /// - Throws: at the first member that can't be used, or that leads to a query that can't be asked.
    public func settings(changedBy members: [String: JSONValue]) throws(SourceSettings.Problem) -> SourceSettings {
        let changed = try settings.changed(by: members, types: upstream.types)
        if let query = changed.query, query != settings.query, let problem = upstream.problem(with: query) {
            throw SourceSettings.Problem(unaskable: problem.member, problem.text)
        }
        return changed
    }

    /// Changes some members, all others as they are at this moment.
    /// - Throws: `SourceSettings.Problem`; `StoreError` where the change can't be kept.
    public func change(by members: [String: JSONValue]) async throws {
        try await change(settings(changedBy: members))
    }

    /// Asks for something else from now on, or at another frequency. An area whose data is not enough is fetched
    /// within a second, in one round with all other changes of that second. Another frequency counts from the last
    /// round.
    ///
    /// A round under way that asks for something else than is wanted now, or that nobody wants any more, ends: what it has
    /// committed stays, and what is still wanted of the rest is asked for by the next one. Rounds of other areas go on.
    /// - Throws: where the change can't be kept; it is not made then.
    public func change(_ settings: SourceSettings) async throws(StoreError) {
        let old = self.settings
        guard settings != old else { return }
        let before = (upstream: upstream, update: update, interval: interval)
        if let query = settings.query, query != old.query { upstream = upstream.asking(query) }
        update = settings.update
        do throws(StoreError) { try await keep() } catch {
            // Another change may have come meanwhile.
            if self.settings == settings { (upstream, update) = (before.upstream, before.update) }
            throw error
        }
        let (upstream, update, interval) = (upstream, update, interval)
        states.update(id) { $0.asks(upstream, update: update, interval: interval) }
        logger.notice("asks for something else", metadata: ["update": "\(update.text)"])
        for area in upstream.areas { change(area, from: before.upstream, wasActive: before.interval != nil) }
        if interval != before.interval, interval != nil, before.interval != nil {
            for area in upstream.areas {
                lanes[area]?.isRetimed = true
                lanes[area]?.sleeping?.cancel()
            }
        }
    }

    /// What a change means for one area.
    private func change(_ area: DataQuery.Area, from old: any Upstream, wasActive: Bool) {
        guard let lane = lanes[area] else { return }
        let (request, before) = (upstream.request(of: area), old.request(of: area))
        let isActive = isActive(area)
        let isSuperseded = lane.isFetching && (lane.asked != request || wasActive && !isActive)
        if isSuperseded { lane.running?.cancel() }
        guard let request else {
            guard before != nil else { return }
            lanes[area]?.isReleased = true
            lanes[area]?.held = nil
            lanes[area]?.failures = 0
            return wake(area)
        }
        guard isActive || isSuperseded else { return }
        let wasAsked = wasActive && before != nil
        let needsData = request != before && lane.held?.serves(request) != true
        guard needsData || isSuperseded || !wasAsked else { return }
        // Another request has failed nothing yet.
        if request != before { lanes[area]?.failures = 0 }
        lanes[area]?.isSettling = true
        wake(area)
    }

    /// Why there is no round on demand.
    public enum Refusal: Error, Sendable, Hashable {
        case tooSoon(retryAfterSeconds: Int)
        /// The upstream refused our key.
        case halted
        /// The query asks for nothing.
        case nothingToAsk
    }

    /// A round of every area now, whatever the frequency says.
    /// - Parameter whole: everything, in place of what is new.
    public func demand(whole: Bool) throws(Refusal) {
        if isHalted { throw .halted }
        guard upstream.query?.asksForAnything != false else { throw .nothingToAsk }
        let uptime = uptime()
        if let demandedAt, uptime - demandedAt < .seconds(Self.secondsBetweenDemands) {
            let left = Duration.seconds(Self.secondsBetweenDemands) - (uptime - demandedAt)
            throw .tooSoon(retryAfterSeconds: Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0))
        }
        demandedAt = uptime
        for area in lanes.keys {
            lanes[area]?.isDemanded = true
            if whole { lanes[area]?.isWholeDemanded = true }
            wake(area)
        }
    }

    // MARK: - Across restarts

    /// Restores what was settled before the restart, and only then lets the upstream prepare the store. A change of the
    /// configuration, or of the key, ends it.
    func restore() async {
        await restoreSettings()
        do throws(SyncError) { try await upstream.prepareAfterRestart(now: now()) } catch {
            logger.error("what was stored for the process before can't be ended", metadata: ["error": "\(error)"])
        }
    }

    private func restoreSettings() async {
        guard let control else { return }
        do {
            guard let text = try await control.control(of: id), let kept = PersistedOverride(text: text) else { return }
            if kept.configured == configured.text, let settings = kept.settings(like: configured) {
                if let query = settings.query, let problem = upstream.problem(with: query) {
                    logger.notice(
                        "what was settled while it ran can't be asked any more and is forgotten",
                        metadata: ["member": "\(problem.member)", "problem": "\(problem.text)"])
                } else {
                    if let query = settings.query { upstream = upstream.asking(query) }
                    update = settings.update
                }
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
            state.session = isHalted ? false : nil
            state.refusal = refusal
        }
    }

    private func keep() async throws(StoreError) {
        let record = PersistedOverride(
            configured: configured.text, settings: settings, haltedCredential: isHalted ? upstream.credential : nil,
            refusal: isHalted ? refusal : nil)
        let isNew = settings != configured || isHalted
        try await control?.setControl(isNew ? record.text : nil, of: id)
    }
}
