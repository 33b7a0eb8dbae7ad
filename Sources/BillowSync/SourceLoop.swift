package import BillowStore
package import Logging
import ServiceLifecycle
import SpanKit
import UpstreamKit
package import Turbulence

/// Keeps one source up to date while the service group runs.
///
/// `SyncStateMachine` holds the rules, and this actor performs its actions. Each area of the query runs its own
/// sequence of activities, so a failing area never delays another. Changed settings and a refused key survive restarts.
package actor SourceLoop: Service {
    package nonisolated let id: SourceID
    /// Bytes received in response bodies and events since the process started.
    package nonisolated var receivedBytes: Int { received.bytes }
    private nonisolated let received = TransferMeter()
    var upstream: any Upstream
    var update: UpdateFrequency
    private let lengths: UpdateLengths
    /// The settings of the configuration. A persisted override changes them.
    let configured: SourceSettings
    private let states: SourceStates
    let control: (any ControlStore)?
    let now: @Sendable () -> Instant
    private let uptime: @Sendable () -> Duration
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void
    let logger: Logger
    /// Runs the activities; nil uses the cooperative pool.
    private let executor: (any TaskExecutor)?
    private(set) var machine: SyncStateMachine
    /// The running activity of each area. Its value is the event that ends it.
    private var activities: [DataQuery.Area: Task<SyncStateMachine.Event, Never>] = [:]
    /// Whether the loop sleeps during pauses. Otherwise the caller of `round` waits.
    private var isRunning = false
    private var mustPersist = false
    /// Whether the loop listens for the upstream's events, and the changes of that.
    private var listens = false
    private let listening = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))

    private static let started = ContinuousClock.now

    /// The monotonic time since the process started.
    package static let uptime: @Sendable () -> Duration = { started.duration(to: .now) }

    /// The reason to refuse a requested round.
    package enum RequestError: Error, Sendable, Hashable {
        case tooSoon(retryAfterSeconds: Int)
        /// The upstream refused our key.
        case halted
        /// The query requests no data.
        case nothingToFetch
    }

    /// - Parameters:
    ///   - lengths: the lengths of the named frequencies.
    ///   - control: stores persisted overrides; nil stores none.
    ///   - now: the clock for the times of data.
    ///   - uptime: a monotonic clock, for waits.
    ///   - random: 0 ..< 1, for the jitter.
    ///   - sleep: waits, and throws when cancelled.
    ///   - executor: runs every activity, whoever requested it, because decoding belongs on the bounded executor. nil
    ///     uses the cooperative pool.
    package init(
        upstream: any Upstream, update: UpdateFrequency, lengths: UpdateLengths = UpdateLengths(), states: SourceStates,
        control: (any ControlStore)? = nil, now: @escaping @Sendable () -> Instant,
        uptime: @escaping @Sendable () -> Duration = SourceLoop.uptime,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        executor: (any TaskExecutor)? = nil, logger: Logger
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
        self.executor = executor
        var logger = logger
        logger[metadataKey: "source"] = "\(upstream.id)"
        self.logger = logger
        let plan = SyncPlan(upstream, update: update, lengths: lengths)
        machine = SyncStateMachine(SourceState(upstream, plan), plan: plan)
        states.add(machine.state)
    }

    var plan: SyncPlan { SyncPlan(upstream, update: update, lengths: lengths) }

    // MARK: - Events and actions

    /// Reports an event to the machine and performs its actions.
    private func report(_ event: SyncStateMachine.Event) throws(RequestError) {
        defer { updateListening() }
        for action in machine.handle(event, at: SyncStateMachine.EventTimes(now: now(), uptime: uptime())) {
            switch action {
            case .poll(let area): if isRunning { report(due: area) }
            case .fetch(let area, let now, let resetsCursors):
                activities[area] = TransferMeter.$current.withValue(received) {
                    Task(executorPreference: executor) { [upstream] in
                        await self.fetch(area, upstream, now, resetsCursors: resetsCursors)
                    }
                }
            case .release(let area):
                activities[area] = Task(executorPreference: executor) { [upstream] in
                    await self.release(area, upstream)
                }
            case .sleep(let area, let duration):
                guard isRunning else { break }
                // The only error is a cancellation, which ends the sleep early.
                activities[area] = Task(executorPreference: executor) { [sleep] in
                    try? await sleep(duration)
                    return .slept(area)
                }
            case .interrupt(let area): activities[area]?.cancel()
            case .persist: mustPersist = true
            case .publish(let state): states.update(id) { $0 = state }
            case .refuse(let refusal): throw refusal
            case .log(let note): log(note)
            }
        }
    }

    /// Reports an event that the machine never refuses.
    func note(_ event: SyncStateMachine.Event) {
        do throws(RequestError) { try report(event) } catch {
            preconditionFailure("only a request is refused: \(error)")
        }
    }

    private func report(due area: DataQuery.Area) { note(.due(area, parts: upstream.parts(of: area, at: now()))) }

    /// Waits for the end of an area's activity and reports it.
    private func finish(_ area: DataQuery.Area) async {
        guard let activity = activities[area] else { return }
        let event = await withTaskCancellationHandler {
            await activity.value
        } onCancel: {
            activity.cancel()
        }
        activities[area] = nil
        // No activity starts after a cancellation or during a shutdown.
        if Task.isCancelled || Task.isShuttingDownGracefully { isRunning = false }
        note(event)
        guard mustPersist else { return }
        mustPersist = false
        do throws(StoreError) { try await persist() } catch {
            logger.error("the refusal of the key can't be persisted", metadata: ["error": "\(error)"])
        }
    }

    private func fetch(
        _ area: DataQuery.Area, _ upstream: any Upstream, _ now: Instant, resetsCursors: Bool
    ) async -> SyncStateMachine.Event {
        do throws(SyncError) {
            if resetsCursors {
                try await upstream.resetCursors(of: area)
                note(.cursorsReset(area))
            }
            let outcome = try await Spans.span("sync round") { span async throws(SyncError) in
                span.set("billow.source", id.name)
                span.set("billow.area", area.rawValue)
                let outcome = try await upstream.synchronise(area, now: now)
                span.set("billow.accepted", outcome.accepted)
                span.set("billow.duplicates", outcome.duplicates)
                span.set("billow.retracted", outcome.retracted)
                return outcome
            }
            return .fetched(area, .success(outcome), spread: random())
        } catch {
            return .fetched(area, .failure(error), spread: random())
        }
    }

    private func release(_ area: DataQuery.Area, _ upstream: any Upstream) async -> SyncStateMachine.Event {
        do throws(SyncError) {
            try await upstream.release(area, now: now())
            return .released(area, isDone: true)
        } catch {
            logger.error(
                "the data of an area that is no longer requested can't be ended",
                metadata: ["area": "\(area.rawValue)", "error": "\(error)"])
            return .released(area, isDone: false)
        }
    }

    private func log(_ note: SyncStateMachine.LogMessage) {
        switch note {
        case .planChanged(let update):
            logger.notice("the source's query changed", metadata: ["update": "\(update.text)"])
        case .answersAgain(let area, let failures):
            logger.notice(
                "the upstream answers again", metadata: ["area": "\(area.rawValue)", "failures": "\(failures)"])
        case .synchronised(let area, let outcome):
            logger.debug(
                "synchronised",
                metadata: [
                    "area": "\(area.rawValue)", "accepted": "\(outcome.accepted)",
                    "duplicates": "\(outcome.duplicates)", "retracted": "\(outcome.retracted)",
                ])
        case .failed(let area, let error, let failures, let next):
            logger.warning(
                "the synchronisation failed",
                metadata: [
                    "area": "\(area.rawValue)", "code": "\(error.code.rawValue)", "error": "\(error.message)",
                    "failures": "\(failures)",
                    "next": "\(next.map { "in \($0.components.seconds) s" } ?? "when started again")",
                ])
        }
    }

    // MARK: - Rounds

    package func run() async throws {
        await cancelWhenGracefulShutdown { await self.restore() }
        isRunning = !Task.isCancelled && !Task.isShuttingDownGracefully
        await withDiscardingTaskGroup { group in
            for area in upstream.areas { group.addTask { await self.run(area) } }
            if let events = upstream.events {
                group.addTask { await cancelWhenGracefulShutdown { await self.follow(events) } }
            }
        }
        isRunning = false
    }

    // MARK: - Events of the upstream

    private func updateListening() {
        guard machine.wantsEvents != listens else { return }
        listens = machine.wantsEvents
        listening.continuation.yield(listens)
    }

    /// Listens for the upstream's events while rounds are scheduled, until it is cancelled. No listener outlives a
    /// refusal of the key or a change to no updates.
    private func follow(_ events: any UpstreamEvents) async {
        var changes = listening.stream.makeAsyncIterator()
        var wanted = await changes.next(isolation: self)
        while let listens = wanted {
            guard listens else {
                wanted = await changes.next(isolation: self)
                continue
            }
            let listener = Task { [received] in
                await TransferMeter.$current.withValue(received) {
                    await events.listen { await self.heard($0) }
                }
            }
            wanted = await withTaskCancellationHandler {
                await changes.next(isolation: self)
            } onCancel: {
                listener.cancel()
            }
            listener.cancel()
            await listener.value
            note(.eventsClosed)
        }
    }

    private func heard(_ signal: UpstreamSignal) {
        switch signal {
        case .opened:
            logger.info("the upstream sends events")
            note(.eventsOpened)
        case .changed: note(.eventReceived(spread: random()))
        case .closed(let error, let failures, let next):
            // A server that stays away is reported once; the rounds report it too.
            logger.log(
                level: failures == 1 ? .notice : .debug, "the upstream sends no events; it is polled",
                metadata: [
                    "code": "\(error.code.rawValue)", "error": "\(error)", "failures": "\(failures)",
                    "next": "in \(next.components.seconds) s",
                ])
            note(.eventsClosed)
        }
    }

    /// Runs an area's activities. A graceful shutdown cancels them; the next process requests uncommitted data again.
    private func run(_ area: DataQuery.Area) async {
        if isRunning { report(due: area) }
        while activities[area] != nil { await cancelWhenGracefulShutdown { await self.finish(area) } }
    }

    /// Runs one round of each area in turn, and returns the shortest wait until the next round. Skips an area that is
    /// halted, stopped or busy.
    package func round() async -> Duration {
        var shortest = SyncStateMachine.idle
        for area in upstream.areas {
            guard !machine.isBusy(area) else {
                shortest = min(shortest, machine.interval)
                continue
            }
            report(due: area)
            while machine.isBusy(area) { await finish(area) }
            shortest = min(shortest, machine.delay(of: area))
        }
        return shortest
    }

    /// Ends the pause between two rounds. During a round, it ends the next pause instead.
    package func refresh() { note(.woken) }

    /// Requests a round of every area now, regardless of the update frequency.
    /// - Parameter full: true fetches all data, false new data only.
    package func requestSync(full: Bool) throws(RequestError) { try report(.syncRequested(full: full)) }

    /// Resumes the source now, after the upstream refused its session.
    /// - Throws: if the stored refusal can't be removed.
    package func start() async throws(StoreError) {
        upstream.liftSuspensions()
        note(.restarted)
        try await persist()
    }
}
