import Synchronization
package import Tracing

/// Records what the server does as spans of swift-distributed-tracing.
///
/// Until a tracer is bootstrapped, a span costs one look at a flag: nothing is allocated, and no clock is read.
package enum Spans {
    private static let isOn = Atomic<Bool>(false)

    /// Whether a tracer records spans.
    package static var areRecorded: Bool { isOn.load(ordering: .relaxed) }

    /// Sets the tracer of this process, once.
    package static func bootstrap(_ tracer: some Tracer) {
        InstrumentationSystem.bootstrap(tracer)
        isOn.store(true, ordering: .releasing)
    }

    /// Records a step of the current span. An error of the body becomes the span's.
    ///
    /// - Parameter name: one of few names; what varies is an attribute.
    package static func span<Value, Failure: Error>(
        _ name: String, _ body: (ActiveSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard areRecorded else { return try body(ActiveSpan(nil)) }
        let span = startSpan(name)
        defer { span.end() }
        let result = InstrumentationContext.$current.withValue(span.context) {
            Result { () throws(Failure) in try body(ActiveSpan(span)) }
        }
        return try span.noting(result).get()
    }

    /// Records an asynchronous step of the current span. An error of the body becomes the span's.
    ///
    /// - Parameter name: one of few names; what varies is an attribute.
    package static func span<Value, Failure: Error>(
        _ name: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (ActiveSpan) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard areRecorded else { return try await body(ActiveSpan(nil)) }
        let span = startSpan(name)
        defer { span.end() }
        let result: Result<Value, Failure> = await InstrumentationContext.$current.withValue(span.context) {
            do throws(Failure) { return .success(try await body(ActiveSpan(span))) } catch { return .failure(error) }
        }
        return try span.noting(result).get()
    }
}

/// The span of a running body; nothing where no span is recorded.
package struct ActiveSpan: Sendable {
    private let span: (any Span)?

    fileprivate init(_ span: (any Span)?) { self.span = span }

    /// Sets an attribute. No value may be a secret, nor anything that a client sent besides the name of a route.
    package func set(_ name: String, _ value: @autoclosure () -> (any SpanAttributeConvertible)?) {
        span?.attributes[name] = value()
    }
}

extension Span {
    fileprivate func noting<Value, Failure: Error>(_ result: Result<Value, Failure>) -> Result<Value, Failure> {
        if case .failure(let error) = result {
            recordError(error)
            setStatus(SpanStatus(code: .error))
        }
        return result
    }
}
