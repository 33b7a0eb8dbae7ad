package import BillowStore
package import Logging
import ServiceLifecycle
import UpstreamKit
package import Turbulence

/// Keeps one source up to date for as long as the service group runs.
///
/// The rules are those of `SyncStateMachine`; this actor performs its actions. Each area of the query has an activity
/// of its own, one after the other, so that an area that fails never holds up another. Changed settings and a refused
/// key are kept across restarts.
package actor SourceLoop: Service {
    package nonisolated let id: SourceID
    /// Of its answers' bodies, since the start of the process.
    package nonisolated var receivedBytes: Int { received.bytes }
    private nonisolated let received = TransferMeter()
    var upstream: any Upstream
    var update: UpdateFrequency
    private let lengths: UpdateLengths
    /// As configured; a stored change is a change of it.
    let configured: SourceSettings
    private let states: SourceStates
    let control: (any ControlStore)?
    let now: @Sendable () -> Instant
    private let uptime: @Sendable () -> Duration
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void
    let logger: Logger
    /// Whose threads the activities run on; nil leaves them to the cooperative pool.
    private let executor: (any TaskExecutor)?
    private(set) var machine: SyncStateMachine
    /// The activity under way in each area, and the event that ends it.
    private var activities: [DataQuery.Area: Task<SyncStateMachine.Event, Never>] = [:]
    /// Whether pauses are slept; otherwise a caller of `round` waits by itself.
    private var isRunning = false
    private var mustPersist = false

    private static let started = ContinuousClock.now

    /// Since the process began; it is monotonic.
    package static let uptime: @Sendable () -> Duration = { started.duration(to: .now) }

    /// Why a requested round is not made.
    package enum Refusal: Error, Sendable, Hashable {
        case tooSoon(retryAfterSeconds: Int)
        /// The upstream refused our key.
        case halted
        /// The query asks for nothing.
        case nothingToAsk
    }

    /// - Parameters:
    ///   - lengths: the lengths of the named frequencies.
    ///   - control: the store of changes; nil keeps none.
    ///   - now: the time of the data.
    ///   - uptime: a monotonic clock, for waits.
    ///   - random: 0 ..< 1, for the jitter.
    ///   - sleep: waits, and throws when cancelled.
    ///   - executor: whose threads every activity runs on, whoever asked for it: decoding is work for the bounded
    ///     executor. nil leaves activities to the cooperative pool.
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
    private func report(_ event: SyncStateMachine.Event) throws(Refusal) {
        for action in machine.handle(event, at: SyncStateMachine.Moment(now: now(), uptime: uptime())) {
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
                // An error is a cancellation, which ends a sleep early.
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

    /// Reports an event that nothing refuses.
    func note(_ event: SyncStateMachine.Event) {
        do throws(Refusal) { try report(event) } catch { preconditionFailure("only a request is refused: \(error)") }
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
        // Then nothing new begins.
        if Task.isCancelled || Task.isShuttingDownGracefully { isRunning = false }
        note(event)
        guard mustPersist else { return }
        mustPersist = false
        do throws(StoreError) { try await persist() } catch {
            logger.error("the refusal can't be kept across a restart", metadata: ["error": "\(error)"])
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
            return .fetched(area, .success(try await upstream.synchronise(area, now: now)), spread: random())
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
                "the data of an area can't be ended", metadata: ["area": "\(area.rawValue)", "error": "\(error)"])
            return .released(area, isDone: false)
        }
    }

    private func log(_ note: SyncStateMachine.Note) {
        switch note {
        case .planChanged(let update):
            logger.notice("asks for something else", metadata: ["update": "\(update.text)"])
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
                "could not synchronise",
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
        }
        isRunning = false
    }

    /// A graceful shutdown ends an activity as a cancellation would: what isn't committed is asked for again.
    private func run(_ area: DataQuery.Area) async {
        if isRunning { report(due: area) }
        while activities[area] != nil { await cancelWhenGracefulShutdown { await self.finish(area) } }
    }

    /// One round of every area, one after the other; gives the shortest wait until the next. Does nothing in an area
    /// that is halted, stopped or under way.
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

    /// Ends the pauses between two rounds, or the next one where a round is under way.
    package func refresh() { note(.woken) }

    /// A round of every area now, whatever the frequency says.
    /// - Parameter full: everything, in place of what is new.
    package func requestSync(full: Bool) throws(Refusal) { try report(.syncRequested(full: full)) }

    /// Tries again, now, after the session was refused.
    /// - Throws: where the stored refusal can't be removed.
    package func start() async throws(StoreError) {
        upstream.liftSuspensions()
        note(.restarted)
        try await persist()
    }
}
