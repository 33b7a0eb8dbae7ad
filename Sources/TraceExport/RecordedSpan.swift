import Synchronization
package import Tracing

/// A span while it is recorded. Its attributes and events are bounded.
package final class RecordedSpan: Span {
    private struct SpanState {
        var name: String
        var attributes = SpanAttributes()
        var events: [SpanEvent] = []
        var status: SpanStatus?
        var hasEnded = false
    }

    package let context: InstrumentationContext
    private let own: TraceContext
    private let parent: UInt64?
    private let kind: SpanKind
    private let start: UInt64
    /// Takes the ended span; nil for one that isn't recorded.
    private let queue: SpanQueue?
    private let state: Mutex<SpanState>

    private static let mostAttributes = 32
    private static let mostEvents = 8
    /// The attributes of a URL beyond its host, which may contain keys and signatures.
    private static let withheld = ["url.full", "url.path", "url.query"]

    init(
        _ name: String, context: InstrumentationContext, _ own: TraceContext, parent: UInt64?, kind: SpanKind,
        start: UInt64, queue: SpanQueue?
    ) {
        self.context = context
        self.own = own
        self.parent = parent
        self.kind = kind
        self.start = start
        self.queue = queue
        state = Mutex(SpanState(name: name))
    }

    package var isRecording: Bool { queue != nil && !state.withLock { $0.hasEnded } }

    package var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            guard queue != nil else { return }
            var kept = newValue
            for name in Self.withheld { kept[name] = nil }
            state.withLock { if kept.count <= Self.mostAttributes { $0.attributes = kept } }
        }
    }

    package func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    package func addEvent(_ event: SpanEvent) {
        guard queue != nil else { return }
        state.withLock { if $0.events.count < Self.mostEvents { $0.events.append(event) } }
    }

    /// Source: OpenTelemetry semantic conventions, "Exceptions in spans"
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard queue != nil else { return }
        var all = attributes
        all["exception.type"] = "\(type(of: error))"
        all["exception.message"] = "\(error)"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: all))
    }

    /// Does nothing: no span of Billow has links.
    package func addLink(_ link: SpanLink) {}

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let queue else { return }
        let last = state.withLock { state -> SpanState? in
            defer { state.hasEnded = true }
            return state.hasEnded ? nil : state
        }
        guard let last else { return }
        queue.add(
            EndedSpan(
                own: own, parent: parent, name: last.name, kind: kind, start: start,
                end: max(start, instant().nanosecondsSinceEpoch), attributes: last.attributes, events: last.events,
                status: last.status))
    }
}

/// A span as it is exported.
struct EndedSpan: Sendable {
    var own: TraceContext
    var parent: UInt64?
    var name: String
    var kind: SpanKind
    /// Nanoseconds since 1970.
    var start: UInt64
    var end: UInt64
    var attributes: SpanAttributes
    var events: [SpanEvent]
    var status: SpanStatus?
}
