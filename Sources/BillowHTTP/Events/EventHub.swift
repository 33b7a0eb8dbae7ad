package import BillowEngine
import DequeModule
package import Geometry
import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// Sends events to listeners. It stores the last events for listeners that reconnect. The number of listeners is
/// bounded, and so is each one's backlog.
package final class EventHub: Sendable {
    /// The audience of an event.
    package enum Audience: Sendable, Hashable {
        case everyone
        /// The listeners of a monitored flight, by its id.
        case flight(String)
    }

    /// What an event is about.
    package enum Subject: Sendable, Hashable {
        /// The features of a collection, or of all collections for nil.
        case data(collection: String?)
        /// A source or a flight.
        case other
    }

    /// The number of events that are stored for `Last-Event-ID`: a quarter of an hour of a few busy sources.
    static let maximumEvents = 1_024
    /// The most events that wait for one listener. A slower listener is disconnected, and reconnects with its
    /// `Last-Event-ID`.
    static let longestBacklog = 256

    fileprivate struct Event {
        var number: UInt64
        var audience: Audience
        var subject: Subject
        /// The squares that the event concerns; nil for all, or if they are unknown.
        var squares: DegreeSquares?
        var bytes: ByteBuffer
    }

    fileprivate struct Listener {
        var flight: String?
        /// The collections whose events the listener gets, besides those of its flight; nil for all events.
        var collections: Set<String>?
        /// The squares whose changes the listener gets; nil for all.
        var squares: DegreeSquares?
        var stream: AsyncStream<ByteBuffer>.Continuation
    }

    fileprivate struct HubState {
        var events = Deque<Event>()
        var last: UInt64 = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var isClosed = false
    }

    private let state = Mutex(HubState())
    /// The most concurrent listeners. Each one holds a connection.
    let maximumListeners: Int
    /// Distinguishes the events of this process from those of an earlier one.
    private let run: String
    private let logger: Logger

    init(maximumListeners: Int = 1_000, logger: Logger) {
        self.maximumListeners = maximumListeners
        run = Hexadecimal.text((0..<6).map { _ in UInt8.random(in: .min ... .max) })
        self.logger = logger
    }

    // MARK: - Telling

    /// Sends an event to its audience.
    /// - Parameters:
    ///   - subject: what the event is about. Listeners of other collections don't get it.
    ///   - squares: the squares that the event concerns. Listeners of other squares don't get it.
    package func publish(
        _ name: String, _ payload: some Encodable, to audience: Audience = .everyone, about subject: Subject = .other,
        in squares: DegreeSquares? = nil
    ) {
        guard let bytes = encoded(name, payload) else { return }
        let slow = state.withLock { state -> Int in
            guard !state.isClosed else { return 0 }
            state.last += 1
            var framed = ByteBuffer(string: "id: \(run)-\(state.last)\n")
            framed.writeImmutableBuffer(bytes)
            let event = Event(
                number: state.last, audience: audience, subject: subject, squares: squares, bytes: framed)
            state.events.append(event)
            if state.events.count > Self.maximumEvents { state.events.removeFirst() }
            return state.send(framed) { $0.receives(event) }
        }
        if slow > 0 { logger.notice("listeners were too slow and were disconnected", metadata: ["count": "\(slow)"]) }
    }

    /// The time between two comments. Clients notice by their absence, within seconds, that the server is frozen.
    static let heartbeatInterval = Duration.seconds(2)

    /// Sends a comment to every listener. Proxies also close a connection after half a minute without data.
    func sendHeartbeat() {
        state.withLock { state in
            _ = state.send(ByteBuffer(string: ": alive\n\n")) { _ in true }
        }
    }

    /// Ends all streams and rejects new listeners.
    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners = [:] }
            return state.listeners.values.map(\.stream)
        }
        for stream in listeners { stream.finish() }
    }

    private func encoded(_ name: String, _ payload: some Encodable) -> ByteBuffer? {
        do {
            // JSON has line breaks only outside of strings, where they have no meaning.
            var bytes = ByteBuffer(string: "event: \(name)\ndata: ")
            bytes.writeImmutableBuffer(try JSONBytes.encode(payload))
            bytes.writeString("\n\n")
            return bytes
        } catch {
            logger.error("an event can't be written", metadata: ["event": "\(name)", "error": "\(error)"])
            return nil
        }
    }

    // MARK: - Listening

    /// A subscription. It ends with its last owner.
    final class Subscription: Sendable {
        let events: AsyncStream<ByteBuffer>
        private let end: @Sendable () -> Void

        fileprivate init(events: AsyncStream<ByteBuffer>, end: @escaping @Sendable () -> Void) {
            self.events = events
            self.end = end
        }

        /// Ends the stream.
        func cancel() { end() }

        deinit { end() }
    }

    /// The current number of listeners.
    var listeners: Int { state.withLock { $0.listeners.count } }

    /// Whether any listener gets the changes of some squares only.
    var hasPlacedListeners: Bool { state.withLock { $0.listeners.values.contains { $0.squares != nil } } }

    /// Subscribes to events from now on, preceded by those after `lastEventID`.
    /// - Parameters:
    ///   - flight: the flight whose events are included; nil for none.
    ///   - collections: the collections whose events the listener gets, besides those of its flight; nil for all.
    ///   - squares: the squares whose changes the listener gets; nil for all.
    ///   - greeting: the event that tells a listener to request everything, for a listener whose missed events are
    ///     unknown. It has the id of the newest event.
    /// - Throws: 503 if there are too many listeners, or if the server is shutting down.
    func subscribe(
        after lastEventID: String?, flight: String?, collections: Set<String>? = nil, squares: DegreeSquares? = nil,
        greeting: (name: String, payload: some Encodable)?
    ) throws(Problem) -> Subscription {
        let (events, stream) = AsyncStream<ByteBuffer>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.longestBacklog))
        let greeting = greeting.flatMap { encoded($0.name, $0.payload) }
        let last = lastEventID.flatMap(number(in:))
        let number = state.withLock { state -> Int? in
            guard !state.isClosed, state.listeners.count < maximumListeners else { return nil }
            let listener = Listener(flight: flight, collections: collections, squares: squares, stream: stream)
            stream.yield(ByteBuffer(string: "retry: 3000\n\n"))
            if let missed = state.events(after: last, for: listener, atMost: Self.longestBacklog / 2) {
                for event in missed { stream.yield(event) }
            } else if let greeting {
                var framed = ByteBuffer(string: "id: \(run)-\(state.last)\n")
                framed.writeImmutableBuffer(greeting)
                // A listener from before the restart missed the events of its flight since then.
                if lastEventID != nil, let flight {
                    for event in state.events.filter({ $0.audience == .flight(flight) }).suffix(Self.longestBacklog / 2)
                    {
                        stream.yield(event.bytes)
                    }
                }
                stream.yield(framed)
            }
            state.nextListener += 1
            state.listeners[state.nextListener] = listener
            return state.nextListener
        }
        guard let number else {
            throw Problem(
                .tooManyListeners,
                detail: "\(maximumListeners) clients listen already, or the server is stopping.", retryAfterSeconds: 5)
        }
        return Subscription(events: events) { [weak self] in
            stream.finish()
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
    }

    /// The number in an id of this process; nil for any other id.
    private func number(in id: String) -> UInt64? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == run else { return nil }
        return UInt64(parts[1])
    }
}

extension EventHub: FlightEvents {
    package func send(_ event: FlightEvent, flight: String) {
        switch event {
        case .alert(let answer): publish(EventName.alert.rawValue, answer, to: .flight(flight))
        case .positionLost(let silence): publish(EventName.positionLost.rawValue, silence, to: .flight(flight))
        }
    }
}

extension EventHub.Listener {
    fileprivate func receives(_ event: EventHub.Event) -> Bool {
        switch event.audience {
        case .everyone: isInterested(in: event.subject) && isNear(event.squares)
        case .flight(let id): flight == id
        }
    }

    private func isInterested(in subject: EventHub.Subject) -> Bool {
        guard let collections else { return true }
        return switch subject {
        case .data(let collection): collection.map(collections.contains) ?? true
        case .other: false
        }
    }

    private func isNear(_ changed: DegreeSquares?) -> Bool {
        squares.flatMap { own in changed.map(own.mayIntersect) } ?? true
    }
}

extension EventHub.HubState {
    /// - Returns: the number of listeners that were disconnected because of their backlog.
    fileprivate mutating func send(_ bytes: ByteBuffer, to receives: (EventHub.Listener) -> Bool) -> Int {
        var slow = 0
        for (number, listener) in listeners where receives(listener) {
            switch listener.stream.yield(bytes) {
            case .enqueued: break
            case .dropped:
                listener.stream.finish()
                listeners[number] = nil
                slow += 1
            case .terminated: listeners[number] = nil
            @unknown default: listeners[number] = nil
            }
        }
        return slow
    }

    /// The events after another one; nil if some of them are no longer stored, or without an event.
    fileprivate func events(after number: UInt64?, for listener: EventHub.Listener, atMost most: Int) -> [ByteBuffer]? {
        guard let number, number <= last, number >= last - UInt64(events.count) else { return nil }
        let missed = events.filter { $0.number > number && listener.receives($0) }
        return missed.count <= most ? missed.map(\.bytes) : nil
    }
}
