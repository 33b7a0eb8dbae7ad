import Turbulence
import UpstreamKit

/// The rules of a source's rounds as a pure state machine: events go in, actions come out. It has no clock, does no
/// work and never waits. `SourceLoop` performs the actions and reports their results as events.
///
/// Each area of the query has a lane with one activity at a time: a pause, a fetch or the release of data that is no
/// longer requested. The end of an activity is an event, whose actions start the next activity. A change, a request or
/// a restart may come at any time. It only interrupts and never starts an activity itself.
struct SyncStateMachine: Sendable {
    /// The times of an event.
    struct EventTimes: Sendable, Hashable {
        /// The time of the data.
        var now: Instant
        /// A monotonic clock, for waits.
        var uptime: Duration
    }

    /// An event.
    enum Event: Sendable {
        /// The next round of an area is due. The parts are those that it would request now.
        case due(DataQuery.Area, parts: Set<SourceState.AreaCollection>)
        /// A pause has ended or was interrupted.
        case slept(DataQuery.Area)
        /// The release of an area's data has ended, with its success.
        case released(DataQuery.Area, isDone: Bool)
        /// The cursors of an area were reset, for a round that fetches everything.
        case cursorsReset(DataQuery.Area)
        /// A fetch has ended. `spread` (0 ..< 1) randomises the wait after a failure.
        case fetched(DataQuery.Area, Result<SyncOutcome, SyncError>, spread: Double)
        /// The settings have changed.
        case changed(SyncPlan)
        /// The settings and the rejection of the key by the previous process were loaded.
        case restored(SyncPlan, isHalted: Bool, refusal: SourceState.Failure?)
        /// All pauses must end.
        case woken
        /// The upstream sends events from now on.
        case eventsOpened
        /// An event announced new data. `spread` (0 ..< 1) randomises the wait until the round, so that not all clients
        /// of the upstream send requests at once.
        case eventReceived(spread: Double)
        /// No events arrive any more.
        case eventsClosed
        /// A round of every area is requested, regardless of the interval. A full round fetches everything.
        case syncRequested(full: Bool)
        /// The source is started again manually.
        case restarted
    }

    /// An action for the driver.
    enum Action: Sendable, Hashable {
        /// Reports `due` for an area at once, with its current parts.
        case poll(DataQuery.Area)
        /// Fetches an area, after resetting its cursors for a full round; `fetched` follows.
        case fetch(DataQuery.Area, at: Instant, resetsCursors: Bool)
        /// Ends the stored data of an area; `released` follows.
        case release(DataQuery.Area)
        /// Waits; `slept` follows.
        case sleep(DataQuery.Area, Duration)
        /// Cancels the activity of an area, whose event follows as usual.
        case interrupt(DataQuery.Area)
        /// Stores the settings and the rejection of the key for the next process.
        case persist
        /// Publishes the state to observers.
        case publish(SourceState)
        /// Rejects a request.
        case refuse(SourceLoop.RequestError)
        /// Logs a line.
        case log(LogMessage)
    }

    /// A line for the log.
    enum LogMessage: Sendable, Hashable {
        case planChanged(UpdateFrequency)
        case answersAgain(DataQuery.Area, failures: Int)
        case synchronised(DataQuery.Area, SyncOutcome)
        /// `next`: the wait until the next attempt; nil if there is none before a restart.
        case failed(DataQuery.Area, SyncError, failures: Int, next: Duration?)
    }

    /// The debounce time: later changes within it are fetched together.
    static let debounce = Duration.seconds(1)
    /// The shortest time between two requested rounds.
    static let secondsBetweenRequests = 60
    /// The wait between an event and its round, at least and at most. Further events within it are fetched together.
    static let shortestEventDelay = Duration.seconds(1)
    static let longestEventDelay = Duration.seconds(3)
    /// The pause without anything to do.
    static let idle = Duration.seconds(86_400)

    /// The state of the rounds of one area.
    private struct Lane: Sendable {
        var phase = Phase.resting
        /// The interrupt that applies to the current activity.
        var interrupt: Interrupt?
        var failures = 0
        /// The failures in a row that lengthen the wait. A failure of single products does not.
        var backOffFailures = 0
        /// The request of the last successful round.
        var held: SyncRequest?
        var syncRequested = false
        var fullSyncRequested = false
        /// Whether the area is no longer requested, so that its data may have to end.
        var isReleased = false
        /// The wait after the last round.
        var delay = SyncStateMachine.idle
        /// The components of that wait besides the interval.
        var retryAfterSeconds: Int?
        var spread = 0.5
        /// The uptime at the start of the last round.
        var startedAt: Duration?
        /// The uptime from which a round is due because of an event; nil without one.
        var eventDueAt: Duration?
        /// Which events may cause a round before the regular one.
        var heeds = HeededEvents.all

        mutating func resetFailures() { (failures, backOffFailures, heeds) = (0, 0, .all) }
    }

    /// The current activity of a lane.
    private enum Phase: Sendable {
        case resting
        case pausing(since: Duration, delay: Duration)
        case debouncing
        case releasing
        case fetching(Round)
    }

    /// The events that may cause a round. After a failure the back-off decides.
    private enum HeededEvents: Sendable {
        case all
        /// Only a new connection, because the upstream could not be reached.
        case opening
        case none

        init(after error: SyncError) {
            if error.retryAfterSeconds != nil {
                self = .none
            } else if error.isPartial {
                self = .all
            } else {
                self = error.isReachable == false ? .opening : .none
            }
        }
    }

    /// Interrupts in the order of their strength.
    private enum Interrupt: Int, Sendable, Comparable {
        /// The pause has another length.
        case retime
        /// The pause ends.
        case wake
        /// The pause ends, and a short one follows for further changes.
        case debounce

        static func < (a: Interrupt, b: Interrupt) -> Bool { a.rawValue < b.rawValue }
    }

    /// A running round.
    private struct Round: Sendable {
        var request: SyncRequest
        var parts: Set<SourceState.AreaCollection>
        var wasRequested: Bool
        /// The number of restarts at its start.
        var restartCount: Int
    }

    /// The state for observers.
    private(set) var state: SourceState
    private(set) var plan: SyncPlan
    /// Whether the upstream rejected the key, which ends all requests until a restart.
    private(set) var isHalted = false
    /// The reason for the halt.
    private(set) var refusal: SourceState.Failure?
    private var lanes: [DataQuery.Area: Lane]
    private var restartCount = 0
    /// Whether the upstream's events arrive.
    private var isListening = false
    /// The uptime at the last requested round.
    private var requestedAt: Duration?

    /// A source before its first round.
    init(_ state: SourceState, plan: SyncPlan) {
        self.state = state
        self.plan = plan
        lanes = Dictionary(uniqueKeysWithValues: plan.areas.map { ($0, Lane()) })
    }

    /// The pause between two successful rounds.
    var interval: Duration { plan.interval ?? Self.idle }

    /// Whether to listen for the upstream's events: only while rounds are scheduled.
    var wantsEvents: Bool { plan.eventSpacing != nil && !isHalted && plan.areas.contains(where: plan.isActive) }

    /// The wait after the last round of an area; a day without anything to do.
    func delay(of area: DataQuery.Area) -> Duration { lanes[area]?.delay ?? Self.idle }

    /// Whether an area is being fetched or released.
    func isBusy(_ area: DataQuery.Area) -> Bool {
        switch lanes[area]?.phase {
        case .fetching, .releasing: true
        case .resting, .pausing, .debouncing, nil: false
        }
    }

    /// Handles an event, and returns the actions in their order.
    mutating func handle(_ event: Event, at moment: EventTimes) -> [Action] {
        switch event {
        case .due(let area, let parts): return due(area, parts, moment)
        case .slept(let area): return slept(area, moment)
        case .released(let area, let isDone): return released(area, isDone, moment)
        case .cursorsReset(let area):
            lanes[area]?.fullSyncRequested = false
            return []
        case .fetched(let area, let result, let spread): return fetched(area, result, spread, moment)
        case .changed(let plan): return changed(plan)
        case .restored(let plan, let isHalted, let refusal):
            self.plan = plan
            self.isHalted = isHalted
            self.refusal = refusal
            state.apply(plan)
            state.session = isHalted ? false : nil
            state.refusal = refusal
            return [.publish(state)]
        case .woken: return plan.areas.flatMap { wake($0, .wake) }
        case .eventsOpened: return eventsOpened(moment)
        case .eventReceived(let spread):
            return plan.areas.flatMap { eventReceived($0, spread, heeding: .all, moment) }
        case .eventsClosed: return eventsClosed()
        case .syncRequested(let full): return requested(full, moment)
        case .restarted: return restarted()
        }
    }

    private var backOff: BackOff { BackOff(interval: interval) }

    // MARK: - A round

    private mutating func due(
        _ area: DataQuery.Area, _ parts: Set<SourceState.AreaCollection>, _ moment: EventTimes
    ) -> [Action] {
        guard let lane = lanes[area], !isBusy(area) else { return [] }
        lanes[area]?.interrupt = nil
        if isHalted { return pause(area, for: Self.idle, moment) }
        let request = plan.requests[area]
        if request == nil, lane.isReleased {
            lanes[area]?.phase = .releasing
            return [.release(area)]
        }
        guard let request, plan.isActive(area) || lane.syncRequested else { return rest(area, moment) }
        lanes[area]?.phase = .fetching(
            Round(request: request, parts: parts, wasRequested: lane.syncRequested, restartCount: restartCount))
        lanes[area]?.syncRequested = false
        lanes[area]?.isReleased = false
        lanes[area]?.startedAt = moment.uptime
        if let eventDueAt = lane.eventDueAt, eventDueAt <= moment.uptime { state.eventRounds += 1 }
        lanes[area]?.eventDueAt = nil
        state.fetching.formUnion(plan.feeds.isEmpty ? [] : parts)
        state.areas[area, default: SourceState.AreaState()].lastAttempt = moment.now
        state.areas[area]?.nextAttempt = nil
        return [.publish(state), .fetch(area, at: moment.now, resetsCursors: lane.fullSyncRequested)]
    }

    /// Pauses until woken, because nothing is requested.
    private mutating func rest(_ area: DataQuery.Area, _ moment: EventTimes) -> [Action] {
        lanes[area]?.syncRequested = false
        lanes[area]?.eventDueAt = nil
        state.areas[area]?.nextAttempt = nil
        return [.publish(state)] + pause(area, for: Self.idle, moment)
    }

    private mutating func released(_ area: DataQuery.Area, _ isDone: Bool, _ moment: EventTimes) -> [Action] {
        guard case .releasing = lanes[area]?.phase else { return [] }
        lanes[area]?.phase = .resting
        guard isDone else {
            return pause(area, for: backOff.delay(failures: 1, retryAfterSeconds: nil, random: 0.5), moment)
        }
        lanes[area]?.isReleased = false
        return rest(area, moment)
    }

    private mutating func fetched(
        _ area: DataQuery.Area, _ result: Result<SyncOutcome, SyncError>, _ spread: Double, _ moment: EventTimes
    ) -> [Action] {
        guard case .fetching(let round) = lanes[area]?.phase else { return [] }
        lanes[area]?.phase = .resting
        var actions: [Action]
        let delay: Duration
        switch result {
        case .success(let outcome): (actions, delay) = succeeded(area, round, outcome, moment)
        case .failure(let error) where error.kind == .cancelled:
            // A requested round that a change cancels is retried.
            if round.wasRequested { lanes[area]?.syncRequested = true }
            state.count(error.outcome)
            (actions, delay) = ([.publish(state)], interval)
        case .failure(let error):
            lanes[area]?.spread = spread
            (actions, delay) = failed(area, round, error, moment)
        }
        let isActive = !isHalted && plan.isActive(area)
        if !isActive { lanes[area]?.eventDueAt = nil }
        state.fetching.subtract(round.parts)
        let wait = untilEvent(area, moment).map { min($0, delay) } ?? delay
        state.areas[area]?.nextAttempt = isActive ? moment.now.advanced(by: Int(wait.components.seconds)) : nil
        actions.append(.publish(state))
        return actions + pause(area, for: isActive ? delay : Self.idle, moment)
    }

    private mutating func succeeded(
        _ area: DataQuery.Area, _ round: Round, _ outcome: SyncOutcome, _ moment: EventTimes
    ) -> ([Action], Duration) {
        lanes[area]?.retryAfterSeconds = nil
        guard outcome.wasAnswered else {
            state.count(outcome)
            // A type that failed has been disabled, which `disabled` reports.
            if let type = state.areas[area]?.lastError?.type, outcome.disabled[type] != nil {
                state.areas[area]?.lastError = nil
            }
            return ([.publish(state)], interval)
        }
        var actions: [Action] = []
        if let failures = lanes[area]?.failures, failures > 0 {
            actions.append(.log(.answersAgain(area, failures: failures)))
        }
        lanes[area]?.resetFailures()
        lanes[area]?.held = round.request
        state.isReachable = true
        state.session = true
        state.refusal = nil
        state.areas[area]?.lastSuccess = moment.now
        state.areas[area]?.lastError = nil
        state.areas[area]?.consecutiveFailures = 0
        state.areas[area]?.successes += 1
        state.count(outcome)
        return (actions + [.publish(state), .log(.synchronised(area, outcome))], nextDelay(area))
    }

    private mutating func failed(
        _ area: DataQuery.Area, _ round: Round, _ error: SyncError, _ moment: EventTimes
    ) -> ([Action], Duration) {
        let failures = (lanes[area]?.failures ?? 0) + 1
        lanes[area]?.failures = failures
        // The other products are fetched at the ordinary interval.
        let backOffFailures = error.isPartial ? 1 : (lanes[area]?.backOffFailures ?? 0) + 1
        lanes[area]?.backOffFailures = backOffFailures
        lanes[area]?.retryAfterSeconds = error.retryAfterSeconds
        let heeds = HeededEvents(after: error)
        lanes[area]?.heeds = heeds
        if heeds != .all { lanes[area]?.eventDueAt = nil }
        // After a restart meanwhile, it tries once more.
        let halts = error.kind == .session && round.restartCount == restartCount
        // A rejection for another area applies until a restart.
        isHalted = isHalted || halts
        let failure = SourceState.Failure(
            code: error.code, message: error.message, at: moment.now, type: error.type)
        var actions: [Action] = []
        if halts {
            refusal = failure
            // Further requests could lock the account.
            actions += plan.areas.filter { $0 != area && isFetching($0) }.map { .interrupt($0) }
        }
        state.count(error.outcome)
        state.isReachable = error.isReachable ?? state.isReachable
        if halts {
            state.session = false
            state.refusal = failure
        } else if state.session != false {
            state.refusal = nil
        }
        state.areas[area]?.lastError = failure
        state.areas[area]?.failedParts =
            error.type.map { type in round.parts.filter { type.collections.contains($0.collection) } } ?? round.parts
        state.areas[area]?.consecutiveFailures = failures
        state.areas[area]?.failures += 1
        let delay = backOff.delay(
            failures: backOffFailures, retryAfterSeconds: error.retryAfterSeconds, random: lanes[area]?.spread ?? 0.5)
        actions += [
            .publish(state), .log(.failed(area, error, failures: failures, next: halts ? nil : delay)),
        ]
        return (halts ? actions + [.persist] : actions, delay)
    }

    private func isFetching(_ area: DataQuery.Area) -> Bool {
        if case .fetching = lanes[area]?.phase { true } else { false }
    }

    // MARK: - Pauses

    /// Begins the pause after a round, or the activity that an interrupt requires instead.
    private mutating func pause(_ area: DataQuery.Area, for delay: Duration, _ moment: EventTimes) -> [Action] {
        lanes[area]?.delay = delay
        lanes[area]?.phase = .pausing(since: moment.uptime, delay: delay)
        let delay = untilEvent(area, moment).map { min($0, delay) } ?? delay
        if lanes[area]?.interrupt != nil { return slept(area, moment) }
        return delay > .zero ? [.sleep(area, delay)] : slept(area, moment)
    }

    private mutating func slept(_ area: DataQuery.Area, _ moment: EventTimes) -> [Action] {
        guard let lane = lanes[area] else { return [] }
        guard case .pausing(let since, _) = lane.phase else {
            guard case .debouncing = lane.phase else { return [] }
            lanes[area]?.phase = .resting
            return [.poll(area)]
        }
        lanes[area]?.interrupt = nil
        switch lane.interrupt {
        case .debounce:
            lanes[area]?.phase = .debouncing
            return [.sleep(area, Self.debounce)]
        case .retime:
            let delay = nextDelay(area)
            let regular = delay - (moment.uptime - since)
            let left = untilEvent(area, moment).map { min($0, regular) } ?? regular
            state.areas[area]?.nextAttempt =
                plan.isActive(area) ? moment.now.advanced(by: Int(left.components.seconds)) : nil
            if left > .zero {
                lanes[area]?.phase = .pausing(since: since, delay: delay)
                return [.publish(state), .sleep(area, left)]
            }
            lanes[area]?.phase = .resting
            return [.publish(state), .poll(area)]
        case .wake, nil:
            lanes[area]?.phase = .resting
            return [.poll(area)]
        }
    }

    /// Ends the pause of an area, or its next one while an activity runs.
    private mutating func wake(_ area: DataQuery.Area, _ interrupt: Interrupt) -> [Action] {
        guard let lane = lanes[area] else { return [] }
        switch lane.phase {
        // A round follows in any case.
        case .resting, .debouncing: return []
        case .pausing:
            lanes[area]?.interrupt = max(lane.interrupt ?? interrupt, interrupt)
            return [.interrupt(area)]
        case .fetching, .releasing:
            lanes[area]?.interrupt = max(lane.interrupt ?? interrupt, interrupt)
            return []
        }
    }

    /// The wait after the last round of an area, by the current interval.
    private func nextDelay(_ area: DataQuery.Area) -> Duration {
        guard let lane = lanes[area], !isHalted, plan.isActive(area) else { return Self.idle }
        // An event usually comes before the poll that it makes superfluous.
        if lane.backOffFailures == 0, isListening { return interval * 5 / 4 }
        return backOff.delay(
            failures: lane.backOffFailures, retryAfterSeconds: lane.retryAfterSeconds, random: lane.spread)
    }

    // MARK: - Events of the upstream

    private mutating func eventsOpened(_ moment: EventTimes) -> [Action] {
        isListening = true
        guard state.isListening != nil else { return [] }
        state.isListening = true
        // The upstream can be reached again.
        return [.publish(state)] + plan.areas.flatMap { eventReceived($0, 0, heeding: .opening, moment) }
    }

    private mutating func eventsClosed() -> [Action] {
        isListening = false
        guard state.isListening != nil else { return [] }
        state.isListening = false
        return [.publish(state)] + plan.areas.flatMap { wake($0, .retime) }
    }

    /// Schedules a round for an event, unless one is scheduled already.
    private mutating func eventReceived(
        _ area: DataQuery.Area, _ spread: Double, heeding heeded: HeededEvents, _ moment: EventTimes
    ) -> [Action] {
        guard let lane = lanes[area], lane.eventDueAt == nil, lane.heeds == heeded, !isHalted,
            plan.isActive(area), let spacing = plan.eventSpacing
        else { return [] }
        let delay = Self.shortestEventDelay + (Self.longestEventDelay - Self.shortestEventDelay) * spread
        lanes[area]?.eventDueAt = max(moment.uptime + delay, lane.startedAt.map { $0 + spacing } ?? .zero)
        return wake(area, .retime)
    }

    /// The wait until the round of an event; nil without one.
    private func untilEvent(_ area: DataQuery.Area, _ moment: EventTimes) -> Duration? {
        lanes[area]?.eventDueAt.map { max($0 - moment.uptime, .zero) }
    }

    // MARK: - Steering

    private mutating func changed(_ plan: SyncPlan) -> [Action] {
        let old = self.plan
        self.plan = plan
        state.apply(plan)
        var actions: [Action] = [.publish(state), .log(.planChanged(plan.update))]
        for area in plan.areas { actions += changed(area, from: old) }
        if let interval = plan.interval, let before = old.interval, interval != before {
            for area in plan.areas { actions += wake(area, .retime) }
        }
        return actions
    }

    /// Applies a change to one area. A running round ends if its request differs from the new one. Rounds of other
    /// areas continue.
    private mutating func changed(_ area: DataQuery.Area, from old: SyncPlan) -> [Action] {
        guard let lane = lanes[area] else { return [] }
        let (request, before) = (plan.requests[area], old.requests[area])
        let (isActive, wasActive) = (plan.isActive(area), old.interval != nil)
        var actions: [Action] = []
        var isSuperseded = false
        if case .fetching(let round) = lane.phase {
            isSuperseded = round.request != request || wasActive && !isActive
            if isSuperseded { actions.append(.interrupt(area)) }
        }
        guard let request else {
            guard before != nil else { return actions }
            lanes[area]?.isReleased = true
            lanes[area]?.held = nil
            lanes[area]?.resetFailures()
            return actions + wake(area, .wake)
        }
        guard isActive || isSuperseded else { return actions }
        let wasRequested = wasActive && before != nil
        let needsData = request != before && lane.held?.serves(request) != true
        guard needsData || isSuperseded || !wasRequested else { return actions }
        // The new request has not failed yet.
        if request != before { lanes[area]?.resetFailures() }
        return actions + wake(area, .debounce)
    }

    private mutating func requested(_ full: Bool, _ moment: EventTimes) -> [Action] {
        if isHalted { return [.refuse(.halted)] }
        guard plan.query?.requestsAnything != false else { return [.refuse(.nothingToFetch)] }
        if let requestedAt, moment.uptime - requestedAt < .seconds(Self.secondsBetweenRequests) {
            let left = Duration.seconds(Self.secondsBetweenRequests) - (moment.uptime - requestedAt)
            let seconds = Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0)
            return [.refuse(.tooSoon(retryAfterSeconds: seconds))]
        }
        requestedAt = moment.uptime
        return plan.areas.flatMap { area in
            lanes[area]?.syncRequested = true
            if full { lanes[area]?.fullSyncRequested = true }
            return wake(area, .wake)
        }
    }

    private mutating func restarted() -> [Action] {
        isHalted = false
        refusal = nil
        restartCount += 1
        // Only the upstream knows whether the key is valid.
        state.session = nil
        return [.publish(state)]
            + plan.areas.flatMap { area in
                lanes[area]?.failures = 0
                lanes[area]?.syncRequested = true
                return wake(area, .wake)
            }
    }
}
