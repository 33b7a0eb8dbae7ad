package import Tracing

/// A tracer that puts each ended span into a bounded queue, from which `SpanExporter` takes them.
package final class SpanRecorder: Tracer {
    package typealias Span = RecordedSpan

    private let queue: SpanQueue
    private let share: Double
    private let propagates: Bool

    /// - Parameters:
    ///   - share: the part of the requests without a `traceparent` that are recorded, 0...1. Other work is always
    ///     recorded.
    ///   - propagates: whether requests to other services get a `traceparent`.
    package init(_ queue: SpanQueue, share: Double = 1, propagates: Bool = true) {
        self.queue = queue
        self.share = share
        self.propagates = propagates
    }

    /// The same recorder for requests to services that have no part in the trace.
    package var withoutPropagation: SpanRecorder { SpanRecorder(queue, share: share, propagates: false) }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.trace
        let isSampled = parent?.isSampled ?? (kind != .server || share >= 1 || .random(in: 0..<1) < share)
        let own = TraceContext(
            trace: parent?.trace ?? .random(), span: .random(in: 1 ... .max), isSampled: isSampled)
        context.trace = own
        return RecordedSpan(
            operationName, context: context, own, parent: parent?.span, kind: kind,
            start: instant().nanosecondsSinceEpoch, queue: isSampled ? queue : nil)
    }

    /// Does nothing: `SpanExporter` empties the queue.
    package func forceFlush() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context.trace = extractor.extract(key: TraceContext.header, from: carrier).flatMap {
            TraceContext(header: $0)
        }
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard propagates, let trace = context.trace else { return }
        injector.inject(trace.header, forKey: TraceContext.header, into: &carrier)
    }
}
