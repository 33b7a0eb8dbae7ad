import BillowEngine
import HTTPTypes
import Hummingbird
import JSONKit
import Logging
import SpanKit
import Synchronization

/// The ids of requests: the client's own, or one that is unique in this process.
final class RequestIDs: Sendable {
    static let header = "X-Request-Id"
    /// Longer ids are replaced.
    private static let longest = 64

    private let start = UInt64.random(in: .min ... .max)
    private let count = Atomic<UInt64>(0)

    /// - Parameter given: the client's id.
    func id(_ given: String?) -> String {
        if let given, Self.isUsable(given) { return given }
        // Consecutive ids look unrelated. Source: G. Steele et al., "Fast splittable pseudorandom number generators",
        // OOPSLA 2014
        var mixed = start &+ count.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: mixed >> (60 - 4 * UInt64(index)) & 15)
                digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 16
        }
    }

    /// Letters, digits, `-`, `_` and `.`, which can't break a line of a log.
    private static func isUsable(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

/// Logs each request. The line has the path without the query, which may contain keys and signatures.
struct AccessLog: Sendable {
    private let logger: Logger
    private static let longestPath = 500

    /// - Parameter logger: gets a line for each request, at any level.
    init(_ logger: Logger) {
        var logger = logger
        logger.logLevel = .info
        self.logger = logger
    }

    /// - Parameter client: nil for sockets without an IP address.
    func note(
        id: String, client: IPAddress?, method: String, path: Substring, status: Int, bytes: Int?, nanoseconds: Int64
    ) {
        var metadata: Logger.Metadata = [
            "id": "\(id)", "method": "\(method.printable)", "status": "\(status)",
            "path": "\(String(path.prefix(Self.longestPath)).printable)",
            "milliseconds": "\(Double(nanoseconds / 10_000) / 100)",
        ]
        if let client { metadata["client"] = "\(client)" }
        if let bytes { metadata["bytes"] = "\(bytes)" }
        logger.info("request", metadata: metadata)
    }
}

/// Records every request, whatever part of the server answers it.
struct RequestJournal: Sendable {
    let metrics: RequestMetrics
    let ids = RequestIDs()
    /// nil if requests are not logged.
    var accessLog: AccessLog?
    var proxies = TrustedProxies([])

    /// The address of the client as the log names it: that of the connection, or what a trusted proxy tells.
    /// - Parameter header: the values of a field, joined by commas.
    /// - Returns: nil also if requests are not logged.
    func client(over connection: IPAddress?, header: (String) -> String?) -> IPAddress? {
        guard accessLog != nil else { return nil }
        guard !proxies.isEmpty else { return connection }
        return proxies.forwarded(over: connection, header: header)?.client ?? connection
    }
}

/// Adds the request's id to every answer of the router and to the log. Counts requests, and times them to the head of
/// the answer. Records the span of each.
struct RequestJournalMiddleware<Context: RequestContext>: RouterMiddleware {
    let journal: RequestJournal

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let id = journal.ids.id(request.headers[.requestID])
        guard Spans.areRecorded else { return try await answer(request, id, context, next) }
        return try await RequestTrace.record(
            id: id, parent: request.headers[.traceParent],
            route: { journal.metrics.route(context.endpointPath, request.method, status: $0) }
        ) { try await answer(request, id, context, next) }
    }

    private func answer(
        _ request: Request, _ id: String, _ context: Context, _ next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.logger[metadataKey: "hb.request.id"] = "\(id)"
        let clock = ContinuousClock()
        let start = clock.now
        let client = journal.client(over: IPAddress.ofConnection) { name in
            HTTPField.Name(name).flatMap { request.headers[$0] }
        }
        func note(_ status: Int, _ bytes: Int?) {
            let nanoseconds = start.duration(to: clock.now).nanoseconds
            journal.metrics.route(context.endpointPath, request.method, status: status)?
                .note(status: status, nanoseconds: nanoseconds)
            journal.accessLog?.note(
                id: id, client: client, method: request.method.rawValue, path: request.uri.path[...], status: status,
                bytes: bytes,
                nanoseconds: nanoseconds)
        }
        do {
            var response = try await next(request, context)
            response.headers[.requestID] = id
            note(response.status.code, response.body.contentLength)
            return response
        } catch {
            // The body was interrupted, and the connection answers.
            note(400, nil)
            throw error
        }
    }
}

extension HTTPField.Name {
    static let requestID = Self.make(RequestIDs.header)
}
