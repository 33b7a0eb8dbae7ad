import HTTPTypes
import Hummingbird
import SpanKit
import Tracing

/// The span of a request, named by its method and route. It has neither the path nor the query, which may contain keys
/// and signatures.
///
/// Source: OpenTelemetry semantic conventions 1.36, "HTTP server span"
enum RequestTrace {
    /// The header by which a client names its own span.
    static let header = "traceparent"

    private struct HeaderExtractor: Extractor {
        func extract(key: String, from parent: String?) -> String? { key == header ? parent : nil }
    }

    /// Ends a span with itself, because nobody may read the body to its end.
    private final class Ending: Sendable {
        private let span: any Span
        init(_ span: any Span) { self.span = span }
        deinit { span.end() }
    }

    private static func context(of parent: String?) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        InstrumentationSystem.instrument.extract(parent, into: &context, using: HeaderExtractor())
        return context
    }

    /// Records a request that `answer` answers. The span ends with the body, but for a stream of events with its head.
    ///
    /// - Parameter route: the counters of an answer with this status, which name its route.
    static func record(
        id: String, parent: String?, route: (Int) -> RequestMetrics.Route?,
        _ answer: () async throws -> Response
    ) async throws -> Response {
        let span = startSpan("HTTP", context: context(of: parent), ofKind: .server)
        let ending = Ending(span)
        do {
            var response = try await InstrumentationContext.$current.withValue(span.context, operation: answer)
            let status = response.status.code
            note(span, id: id, route: route(status), status: status, bytes: response.body.contentLength)
            guard response.headers[.contentType] != EventRoutes.mediaType else { return response }
            let body = response.body
            response.body = ResponseBody(contentLength: body.contentLength) { writer in
                try await InstrumentationContext.$current.withValue(span.context) { try await body.write(writer) }
                withExtendedLifetime(ending) {}
            }
            return response
        } catch {
            // The body was interrupted.
            note(span, id: id, route: route(400), status: 400, bytes: nil)
            throw error
        }
    }

    /// Records a request that the microcache has answered.
    static func record(
        id: String, parent: String?, route: RequestMetrics.Route?, status: Int, bytes: Int, nanoseconds: Int64
    ) {
        let end = DefaultTracerClock.now
        let start = DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - UInt64(max(0, nanoseconds)))
        let span = startSpan("HTTP", context: context(of: parent), ofKind: .server, at: start)
        note(span, id: id, route: route, status: status, bytes: bytes)
        span.end(at: end)
    }

    private static func note(
        _ span: any Span, id: String, route: RequestMetrics.Route?, status: Int, bytes: Int?
    ) {
        if let route { span.operationName = "\(route.method) \(route.path)" }
        span.updateAttributes { attributes in
            attributes["http.request.method"] = route?.method
            attributes["http.route"] = route?.path
            attributes["http.response.status_code"] = status
            attributes["http.response.body.size"] = bytes
            attributes["billow.request.id"] = id
        }
        if status >= 500 { span.setStatus(SpanStatus(code: .error)) }
    }
}

extension HTTPField.Name {
    static let traceParent = Self.make(RequestTrace.header)
}
