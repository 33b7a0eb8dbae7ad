import Testing
import TestSupport
import Turbulence
import UpstreamKit

@testable import BillowSync

private typealias Event = SyncStateMachine.Event
private typealias Action = SyncStateMachine.Action

/// A machine whose clock a test sets, and the actions that do something.
private struct Desk {
    var machine: SyncStateMachine
    /// Seconds since the machine was made.
    var seconds = 0

    static let start = Instant(clamping: 1_800_000_000)

    init(_ plan: SyncPlan) throws {
        machine = SyncStateMachine(SourceState(id: try skypath(), kind: "skypath", simulated: true, plan), plan: plan)
    }

    var now: Instant { Desk.start.advanced(by: seconds) }

    /// The actions that follow an event, without what only shows and logs.
    mutating func handle(_ event: Event) -> [Action] {
        machine.handle(event, at: SyncStateMachine.EventTimes(now: now, uptime: .seconds(seconds))).filter {
            switch $0 {
            case .publish, .log: false
            default: true
            }
        }
    }

    /// The event `due` of an area, with one part.
    func due(_ area: DataQuery.Area = .all) -> Event {
        .due(area, parts: [SourceState.AreaCollection(area: area, collection: "turbulence")])
    }

    func fetch(_ area: DataQuery.Area = .all, resetsCursors: Bool = false) -> Action {
        .fetch(area, at: now, resetsCursors: resetsCursors)
    }
}

private func plan(
    _ query: DataQuery = DataQuery(), update: UpdateFrequency = .fast, areas: [DataQuery.Area] = [.all]
) -> SyncPlan {
    let asks = query.requestsAnything
    return SyncPlan(
        query: query, update: update, interval: asks ? update.interval() : nil, areas: areas,
        requests: asks ? Dictionary(uniqueKeysWithValues: areas.map { ($0, SyncRequest(query)) }) : [:],
        collections: ["turbulence"], feeds: [.observations], slowKinds: [:], hasKey: true)
}

private func success(_ area: DataQuery.Area = .all, wasAnswered: Bool = true) -> Event {
    var outcome = SyncOutcome()
    outcome.wasAnswered = wasAnswered
    return .fetched(area, .success(outcome), spread: 0.5)
}

private func failure(
    _ kind: SyncError.Kind, _ code: SyncError.Code, retryAfterSeconds: Int? = nil, area: DataQuery.Area = .all,
    spread: Double = 0.5
) -> Event {
    let error = SyncError(
        kind: kind, code: code, message: "no", isReachable: true, retryAfterSeconds: retryAfterSeconds)
    return .fetched(area, .failure(error), spread: spread)
}

private let timeout = failure(.transient, .upstream(.timeout))
private let refused = failure(.session, .upstream(.unauthorized))
private let cancelled = Event.fetched(.all, .failure(.cancelled), spread: 0.5)

@Suite("The rules of a source's rounds")
struct SyncStateMachineTests {
    /// One line of a table: at a second, an event and the actions that follow.
    private typealias Row = (second: Int, event: (Desk) -> Event, actions: (Desk) -> [Action])

    /// Sends the events of a table through a machine.
    private func check(
        _ plan: SyncPlan = plan(), _ rows: [Row], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Desk {
        var desk = try Desk(plan)
        for (number, row) in rows.enumerated() {
            desk.seconds = row.second
            let expected = row.actions(desk)
            #expect(desk.handle(row.event(desk)) == expected, "row \(number)", sourceLocation: sourceLocation)
        }
        return desk
    }

    private static let minute = Duration.seconds(60)
    private static let idle = SyncStateMachine.idle

    @Test("a round follows the pause after the round before") func roundsFollowPauses() throws {
        let desk = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (2, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                (62, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (62, { $0.due() }, { [$0.fetch()] }),
            ])
        let state = desk.machine.state
        #expect(state.isFetching && state.areas[.all]?.lastSuccess == Desk.start.advanced(by: 2))
        #expect(state.session == true && state.areas[.all]?.nextAttempt == nil)
    }

    @Test("a second round never begins beside the first") func roundsNeverOverlap() throws {
        _ = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { $0.due() }, { _ in [] }),
                (2, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                (2, { _ in success() }, { _ in [] }),
            ])
    }

    @Test("a wake ends the pause; during a round it makes another one follow") func wakes() throws {
        _ = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in .woken }, { _ in [] }),
                (2, { _ in success() }, { _ in [.poll(.all)] }),
                (2, { $0.due() }, { [$0.fetch()] }),
                (3, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                (9, { _ in .woken }, { _ in [.interrupt(.all)] }),
                (9, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
            ])
    }

    @Test("a refused key halts the source until a restart, which waking is not") func halts() throws {
        let desk = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in refused }, { _ in [.persist, .sleep(.all, Self.idle)] }),
                (2, { _ in .woken }, { _ in [.interrupt(.all)] }),
                (2, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (2, { $0.due() }, { _ in [.sleep(.all, Self.idle)] }),
                (3, { _ in .syncRequested(full: false) }, { _ in [.refuse(.halted)] }),
                (4, { _ in .restarted }, { _ in [.interrupt(.all)] }),
                (4, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (4, { $0.due() }, { [$0.fetch()] }),
            ])
        #expect(!desk.machine.isHalted && desk.machine.refusal == nil && desk.machine.state.session == nil)
    }

    @Test("restarted during a round that is refused, it tries once more") func restartsDuringARound() throws {
        let desk = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in .restarted }, { _ in [] }),
                (2, { _ in refused }, { _ in [.poll(.all)] }),
                (2, { $0.due() }, { [$0.fetch()] }),
                (3, { _ in refused }, { _ in [.persist, .sleep(.all, Self.idle)] }),
            ])
        #expect(desk.machine.state.isRefused && desk.machine.state.areas[.all]?.failures == 2)
    }

    @Test("one area's refusal ends the rounds of the others, and they don't undo it") func refusalsAreShared() throws {
        let areas: [DataQuery.Area] = [.corridor, .global]
        let desk = try check(
            plan(areas: areas),
            [
                (0, { $0.due(.corridor) }, { [$0.fetch(.corridor)] }),
                (0, { $0.due(.global) }, { [$0.fetch(.global)] }),
                (
                    1, { _ in failure(.session, .upstream(.locked), area: .global) },
                    { _ in [.interrupt(.corridor), .persist, .sleep(.global, Self.idle)] }
                ),
                (
                    2, { _ in .fetched(.corridor, .failure(.cancelled), spread: 0) },
                    { _ in [.sleep(.corridor, Self.idle)] }
                ),
            ])
        #expect(desk.machine.state.lastError?.code == .upstream(.locked))
    }

    @Test("the refusal of the process before holds until a restart") func restoresARefusal() throws {
        let failure = SourceState.Failure(code: .upstream(.locked), message: "no", at: Desk.start, type: nil)
        let desk = try check(
            plan(),
            [
                (0, { _ in .restored(plan(), isHalted: true, refusal: failure) }, { _ in [] }),
                (0, { $0.due() }, { _ in [.sleep(.all, Self.idle)] }),
                (1, { _ in .syncRequested(full: true) }, { _ in [.refuse(.halted)] }),
            ])
        #expect(desk.machine.state.activity == .refused && desk.machine.refusal == failure)
    }

    @Test("failures double the pause up to ten minutes, and Retry-After is the least") func backsOff() throws {
        var desk = try Desk(plan())
        for (number, wait) in [60, 120, 240, 480, 600, 600].enumerated() {
            #expect(desk.handle(desk.due()) == [desk.fetch()])
            #expect(desk.handle(timeout) == [.sleep(.all, .seconds(wait))])
            #expect(desk.machine.state.consecutiveFailures == number + 1)
            #expect(desk.machine.state.nextAttempt == desk.now.advanced(by: wait))
            desk.seconds += wait
            #expect(desk.handle(.slept(.all)) == [.poll(.all)])
        }
        _ = desk.handle(desk.due())
        let asked = failure(.transient, .upstream(.rateLimited), retryAfterSeconds: 3_600, spread: 1)
        #expect(desk.handle(asked) == [.sleep(.all, .seconds(3_600))])
        desk.seconds += 3_600
        _ = desk.handle(.slept(.all))
        _ = desk.handle(desk.due())
        #expect(desk.handle(success()) == [.sleep(.all, Self.minute)])
        #expect(desk.machine.state.consecutiveFailures == 0 && desk.machine.state.lastError == nil)
    }

    @Test("a failure of one product does not delay the others") func failsInPart() throws {
        var desk = try Desk(plan())
        var part = SyncError(kind: .transient, code: .upstream(.unreadable), message: "no", isReachable: true)
        part.isPartial = true
        for number in 1...4 {
            #expect(desk.handle(desk.due()) == [desk.fetch()])
            #expect(desk.handle(.fetched(.all, .failure(part), spread: 0.5)) == [.sleep(.all, Self.minute)])
            #expect(desk.machine.state.consecutiveFailures == number)
            desk.seconds += 60
            _ = desk.handle(.slept(.all))
        }
        // A failure of the whole service then counts as the second in a row.
        _ = desk.handle(desk.due())
        #expect(desk.handle(timeout) == [.sleep(.all, .seconds(120))])
        desk.seconds += 120
        _ = desk.handle(.slept(.all))
        _ = desk.handle(desk.due())
        part.retryAfterSeconds = 900
        #expect(desk.handle(.fetched(.all, .failure(part), spread: 0.5)) == [.sleep(.all, .seconds(900))])
    }

    @Test("the spread of a failed round lies within 20 %", arguments: [(0.0, 48), (0.5, 60), (1.0, 72)])
    func spreads(spread: Double, seconds: Int) throws {
        var desk = try Desk(plan())
        _ = desk.handle(desk.due())
        let actions = desk.handle(failure(.transient, .upstream(.timeout), spread: spread))
        guard case .sleep(_, let pause)? = actions.first else { throw Missing() }
        #expect(abs((pause - .seconds(seconds)) / .milliseconds(1)) < 1)
    }

    @Test("a round in which nothing was due is neither a success nor a failure") func unanswered() throws {
        let desk = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in timeout }, { _ in [.sleep(.all, Self.minute)] }),
                (61, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (61, { $0.due() }, { [$0.fetch()] }),
                (62, { _ in success(wasAnswered: false) }, { _ in [.sleep(.all, Self.minute)] }),
            ])
        #expect(desk.machine.state.lastSuccess == nil && desk.machine.state.consecutiveFailures == 1)
    }

    @Test("what a failed or cancelled round brought is counted") func countsWhatCame() throws {
        var desk = try Desk(plan())
        for kind in [SyncError.Kind.transient, .cancelled, .store] {
            _ = desk.handle(desk.due())
            var error = SyncError(kind: kind, code: .store, message: "no", isReachable: nil)
            error.outcome.accepted = 3
            _ = desk.handle(.fetched(.all, .failure(error), spread: 0.5))
        }
        #expect(desk.machine.state.accepted == 9 && desk.machine.state.areas[.all]?.failures == 2)
        #expect(desk.machine.state.isReachable == nil && !desk.machine.state.isFetching)
    }

    // MARK: - Events of the upstream

    /// A source that listens, with rounds caused by events at most every 30 s.
    private static func listening(_ update: UpdateFrequency = .every(.seconds(3_600))) -> SyncPlan {
        var listening = plan(update: update)
        listening.eventSpacing = .seconds(30)
        return listening
    }

    private static let event = Event.eventReceived(spread: 0.5)

    private static let unreachable = Event.fetched(
        .all,
        .failure(SyncError(kind: .transient, code: .upstream(.unreachable), message: "no", isReachable: false)),
        spread: 0.5)

    @Test("an event ends the pause after some seconds, and events within them make one round") func events() throws {
        let desk = try check(
            Self.listening(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, .seconds(3_600))] }),
                (2, { _ in .eventsOpened }, { _ in [] }),
                (100, { _ in Self.event }, { _ in [.interrupt(.all)] }),
                (100, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(2))] }),
                (101, { _ in Self.event }, { _ in [] }),
                (102, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (102, { $0.due() }, { [$0.fetch()] }),
                // While events arrive, a poll comes later, because an event usually comes first.
                (103, { _ in success() }, { _ in [.sleep(.all, .seconds(4_500))] }),
            ])
        #expect(desk.machine.state.isListening == true && desk.machine.state.eventRounds == 1)
        #expect(desk.machine.state.areas[.all]?.nextAttempt == desk.now.advanced(by: 4_500))
    }

    @Test("the spread of an event's round lies between 1 and 3 s", arguments: [(0.0, 1), (0.5, 2), (1.0, 3)])
    func eventSpread(spread: Double, seconds: Int) throws {
        _ = try check(
            Self.listening(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, .seconds(3_600))] }),
                (100, { _ in .eventReceived(spread: spread) }, { _ in [.interrupt(.all)] }),
                (100, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(seconds))] }),
            ])
    }

    @Test("events during a round make one more, not within the spacing") func eventsDuringARound() throws {
        let desk = try check(
            Self.listening(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in Self.event }, { _ in [] }),
                (2, { _ in Self.event }, { _ in [] }),
                (5, { _ in success() }, { _ in [.sleep(.all, .seconds(25))] }),
                (6, { _ in Self.event }, { _ in [] }),
                (30, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (30, { $0.due() }, { [$0.fetch()] }),
                (31, { _ in success() }, { _ in [.sleep(.all, .seconds(3_600))] }),
                // The spacing counts from the start of the last round.
                (40, { _ in Self.event }, { _ in [.interrupt(.all)] }),
                (40, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(20))] }),
            ])
        #expect(desk.machine.state.areas[.all]?.nextAttempt == desk.now.advanced(by: 20))
    }

    @Test("a flood of events causes a round per spacing at most", arguments: [1, 30, 60])
    func flood(update: Int) throws {
        var desk = try Desk(Self.listening(.every(.seconds(update))))
        var (rounds, wakeAt) = (0, 0)
        func perform(_ actions: [Action]) {
            for action in actions {
                switch action {
                case .sleep(_, let duration): wakeAt = desk.seconds + Int(duration.components.seconds)
                case .interrupt: perform(desk.handle(.slept(.all)))
                case .poll: perform(desk.handle(desk.due()))
                case .fetch:
                    rounds += 1
                    perform(desk.handle(success()))
                default: break
                }
            }
        }
        perform(desk.handle(.eventsOpened))
        perform(desk.handle(desk.due()))
        for second in 1...600 {
            desk.seconds = second
            if second >= wakeAt { perform(desk.handle(.slept(.all))) }
            for _ in 0..<5 { perform(desk.handle(Self.event)) }
        }
        #expect(rounds <= 1 + 600 / min(update, 30), "\(rounds)")
        #expect(rounds >= 600 / min(max(update, 2), 31) - 1, "\(rounds)")
    }

    @Test("after a failure the back-off decides, and no event") func eventsAfterFailures() throws {
        for failed in [timeout, failure(.transient, .upstream(.rateLimited), retryAfterSeconds: 60), Self.unreachable] {
            _ = try check(
                Self.listening(.fast),
                [
                    (0, { $0.due() }, { [$0.fetch()] }),
                    (1, { _ in Self.event }, { _ in [] }),
                    (2, { _ in failed }, { _ in [.sleep(.all, Self.minute)] }),
                    (3, { _ in Self.event }, { _ in [] }),
                    (62, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                    (62, { $0.due() }, { [$0.fetch()] }),
                    (63, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                    (64, { _ in Self.event }, { _ in [.interrupt(.all)] }),
                ])
        }
        var part = SyncError(kind: .transient, code: .upstream(.unreadable), message: "no", isReachable: true)
        part.isPartial = true
        _ = try check(
            Self.listening(.fast),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in .fetched(.all, .failure(part), spread: 0.5) }, { _ in [.sleep(.all, Self.minute)] }),
                (40, { _ in Self.event }, { _ in [.interrupt(.all)] }),
                (40, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(2))] }),
            ])
    }

    @Test("a server that can be reached again ends the back-off, unless it asked for one") func opensAgain() throws {
        _ = try check(
            Self.listening(.fast),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in Self.unreachable }, { _ in [.sleep(.all, Self.minute)] }),
                (2, { _ in .eventsOpened }, { _ in [.interrupt(.all)] }),
                (2, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(28))] }),
                (30, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
            ])
        for failed in [timeout, failure(.transient, .upstream(.rateLimited), retryAfterSeconds: 60)] {
            _ = try check(
                Self.listening(.fast),
                [
                    (0, { $0.due() }, { [$0.fetch()] }),
                    (1, { _ in failed }, { _ in [.sleep(.all, Self.minute)] }),
                    (2, { _ in .eventsOpened }, { _ in [] }),
                ])
        }
    }

    @Test("without events the poll comes at its usual time") func eventsEnd() throws {
        let desk = try check(
            Self.listening(.fast),
            [
                (0, { _ in .eventsOpened }, { _ in [] }),
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, .seconds(75))] }),
                (21, { _ in .eventsClosed }, { _ in [.interrupt(.all)] }),
                (21, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(40))] }),
                (61, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
            ])
        #expect(desk.machine.state.isListening == false && desk.machine.state.eventRounds == 0)
    }

    @Test("it listens only while rounds are scheduled") func wantsEvents() throws {
        #expect(try Desk(plan()).machine.wantsEvents == false)
        var desk = try Desk(Self.listening())
        #expect(desk.machine.wantsEvents && desk.machine.state.isListening == false)
        _ = desk.handle(.changed(Self.listening(.none)))
        #expect(!desk.machine.wantsEvents)
        #expect(desk.handle(Self.event) == [])
        _ = desk.handle(.changed(Self.listening()))
        #expect(desk.machine.wantsEvents)
        _ = desk.handle(desk.due())
        _ = desk.handle(refused)
        #expect(!desk.machine.wantsEvents)
        #expect(desk.handle(Self.event) == [])
        _ = desk.handle(.restarted)
        #expect(desk.machine.wantsEvents)
        #expect(try Desk(plan()).machine.state.isListening == nil)
    }

    // MARK: - Changes

    @Test("changes within a second make one fetch") func debounces() throws {
        _ = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                (10, { _ in .changed(plan(DataQuery(history: .fourHours))) }, { _ in [.interrupt(.all)] }),
                (10, { _ in .changed(plan(DataQuery(history: .sixHours))) }, { _ in [.interrupt(.all)] }),
                (10, { _ in .slept(.all) }, { _ in [.sleep(.all, SyncStateMachine.debounce)] }),
                (10, { _ in .changed(plan(DataQuery(history: .fourHours))) }, { _ in [] }),
                (10, { _ in .woken }, { _ in [] }),
                (11, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (11, { $0.due() }, { [$0.fetch()] }),
                (12, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
            ])
    }

    @Test("a change of the query ends the running round, and a requested one is retried") func supersedes() throws {
        _ = try check(
            plan(update: .none),
            [
                (0, { $0.due() }, { _ in [.sleep(.all, Self.idle)] }),
                (1, { _ in .syncRequested(full: false) }, { _ in [.interrupt(.all)] }),
                (1, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (1, { $0.due() }, { [$0.fetch()] }),
                (2, { _ in .changed(plan(DataQuery(history: .sixHours), update: .none)) }, { _ in [.interrupt(.all)] }),
                (2, { _ in cancelled }, { _ in [.sleep(.all, SyncStateMachine.debounce)] }),
                (3, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (3, { $0.due() }, { [$0.fetch()] }),
                (4, { _ in success() }, { _ in [.sleep(.all, Self.idle)] }),
            ])
    }

    @Test("another frequency leaves the round under way alone") func frequencyDuringARound() throws {
        _ = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in .changed(plan(update: .medium)) }, { _ in [] }),
                (2, { _ in success() }, { _ in [.sleep(.all, .seconds(300))] }),
            ])
    }

    @Test("stored data that serves the new query waits for its turn") func heldDataServes() throws {
        _ = try check(
            plan(DataQuery(history: .fourHours)),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                (2, { _ in .changed(plan(DataQuery(history: .oneHour))) }, { _ in [] }),
                (3, { _ in .changed(plan(DataQuery(history: .sixHours))) }, { _ in [.interrupt(.all)] }),
            ])
    }

    @Test("another frequency counts from the last round") func retimes() throws {
        let desk = try check(
            plan(update: .minimal),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (0, { _ in success() }, { _ in [.sleep(.all, .seconds(900))] }),
                (100, { _ in .changed(plan(update: .medium)) }, { _ in [.interrupt(.all)] }),
                (100, { _ in .slept(.all) }, { _ in [.sleep(.all, .seconds(200))] }),
                (150, { _ in .changed(plan(update: .fast)) }, { _ in [.interrupt(.all)] }),
                (150, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
            ])
        #expect(desk.machine.state.interval == Self.minute)
    }

    @Test("a stopped source waits until it is started again") func stops() throws {
        for stopped in [plan(update: .none), plan(DataQuery(types: [])), plan(DataQuery(global: false))] {
            let isReleased = stopped.requests.isEmpty
            let first: [Row] = [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, Self.minute)] }),
                (2, { _ in .changed(stopped) }, { _ in isReleased ? [.interrupt(.all)] : [] }),
                (2, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (2, { $0.due() }, { _ in isReleased ? [.release(.all)] : [.sleep(.all, Self.idle)] }),
            ]
            let release: [Row] = [
                (2, { _ in .released(.all, isDone: true) }, { _ in [.sleep(.all, Self.idle)] })
            ]
            let again: [Row] = [
                (3, { _ in .changed(plan()) }, { _ in [.interrupt(.all)] }),
                (3, { _ in .slept(.all) }, { _ in [.sleep(.all, SyncStateMachine.debounce)] }),
                (4, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (4, { $0.due() }, { [$0.fetch()] }),
            ]
            _ = try check(plan(), first + (isReleased ? release : []) + again)
        }
    }

    @Test("data whose release fails is released later") func releaseFails() throws {
        _ = try check(
            plan(),
            [
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in .changed(plan(DataQuery(global: false))) }, { _ in [.interrupt(.all)] }),
                (1, { _ in cancelled }, { _ in [.poll(.all)] }),
                (1, { $0.due() }, { _ in [.release(.all)] }),
                (1, { $0.due() }, { _ in [] }),
                (2, { _ in .released(.all, isDone: false) }, { _ in [.sleep(.all, Self.idle)] }),
                (9, { _ in .woken }, { _ in [.interrupt(.all)] }),
                (9, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (9, { $0.due() }, { _ in [.release(.all)] }),
                // Asked for again meanwhile, it is fetched.
                (10, { _ in .changed(plan()) }, { _ in [] }),
                (10, { _ in .released(.all, isDone: true) }, { _ in [.sleep(.all, SyncStateMachine.debounce)] }),
                (11, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (11, { $0.due() }, { [$0.fetch()] }),
            ])
    }

    // MARK: - Requests

    @Test("a requested round is made at once, once a minute, stopped or not") func requests() throws {
        _ = try check(
            plan(update: .none),
            [
                (0, { $0.due() }, { _ in [.sleep(.all, Self.idle)] }),
                (0, { _ in .syncRequested(full: false) }, { _ in [.interrupt(.all)] }),
                (0, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (0, { $0.due() }, { [$0.fetch()] }),
                (1, { _ in success() }, { _ in [.sleep(.all, Self.idle)] }),
                (20, { _ in .syncRequested(full: true) }, { _ in [.refuse(.tooSoon(retryAfterSeconds: 40))] }),
                (60, { _ in .syncRequested(full: true) }, { _ in [.interrupt(.all)] }),
                (60, { _ in .slept(.all) }, { _ in [.poll(.all)] }),
                (60, { $0.due() }, { [$0.fetch(resetsCursors: true)] }),
            ])
    }

    @Test("a sync request for an empty query is rejected") func nothingToFetch() throws {
        _ = try check(
            plan(DataQuery(types: [])),
            [
                (0, { $0.due() }, { _ in [.sleep(.all, Self.idle)] }),
                (1, { _ in .syncRequested(full: false) }, { _ in [.refuse(.nothingToFetch)] }),
            ])
    }

    @Test("cursors are reset until that has succeeded once") func fullSync() throws {
        var desk = try Desk(plan())
        _ = desk.handle(.syncRequested(full: true))
        #expect(desk.handle(desk.due()) == [desk.fetch(resetsCursors: true)])
        _ = desk.handle(failure(.store, .store))
        #expect(desk.handle(desk.due()) == [desk.fetch(resetsCursors: true)])
        _ = desk.handle(.cursorsReset(.all))
        _ = desk.handle(timeout)
        #expect(desk.handle(desk.due()) == [desk.fetch()])
    }

    // MARK: - Any order

    @Test("in any order of events an area has one activity at a time, and a halted source none", arguments: 0..<200)
    func anyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let areas: [DataQuery.Area] = [.corridor, .global]
        let plans = [
            plan(areas: areas), plan(DataQuery(history: .sixHours), areas: areas), plan(update: .none, areas: areas),
            plan(DataQuery(global: false), areas: areas), plan(update: .minimal, areas: areas),
        ]
        var desk = try Desk(plans[0])
        var activities: [DataQuery.Area: Action] = [:]
        for area in areas { activities[area] = .poll(area) }
        for step in 0..<300 {
            desk.seconds += Int.random(in: 0..<100, using: &random)
            let area = areas[Int.random(in: 0..<2, using: &random)]
            let event: Event
            switch Int.random(in: 0..<10, using: &random) {
            case 0: event = .woken
            case 1: event = .syncRequested(full: Bool.random(using: &random))
            case 2: event = .restarted
            case 3, 4: event = .changed(plans[Int.random(in: 0..<plans.count, using: &random)])
            default:
                switch activities.removeValue(forKey: area) {
                case .sleep: event = .slept(area)
                case .release: event = .released(area, isDone: Bool.random(using: &random))
                case .fetch:
                    let results = [
                        success(area), success(area, wasAnswered: false),
                        .fetched(area, .failure(.cancelled), spread: 0),
                        failure(.transient, .upstream(.timeout), area: area),
                        failure(.session, .upstream(.unauthorized), area: area),
                    ]
                    event = results[Int.random(in: 0..<results.count, using: &random)]
                case .poll: event = desk.due(area)
                default: throw Missing()
                }
            }
            for action in desk.handle(event) {
                switch action {
                case .poll(let area), .fetch(let area, _, _), .release(let area), .sleep(let area, _):
                    #expect(activities[area] == nil, "step \(step)")
                    activities[area] = action
                    if case .fetch = action { #expect(!desk.machine.isHalted, "step \(step)") }
                default: break
                }
            }
            #expect(activities.count == areas.count, "step \(step): a lane has stopped")
        }
    }
}
