import BillowAreas
import BillowStore
import Foundation
public import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import Turbulence
import JSONKit

/// An answer that isn't what was asked for, with its reason.
///
/// Source: RFC 9457 (Problem Details for HTTP APIs)
public struct Problem: Error, HTTPResponseError, Sendable {
    /// Stable, for programs; it decides the status.
    public let code: ProblemCode
    /// A sentence, for people.
    public let detail: String
    public let parameter: String?
    public let value: String?
    public let allowed: String?
    public let retryAfterSeconds: Int?

    public init(
        _ code: ProblemCode, detail: String, parameter: String? = nil, value: String? = nil, allowed: String? = nil,
        retryAfterSeconds: Int? = nil
    ) {
        self.code = code
        self.detail = detail
        self.parameter = parameter
        self.value = value
        self.allowed = allowed
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// A parameter that can't be used.
    init(_ error: ParameterError, _ code: ProblemCode = .invalidParameter) {
        self.init(
            code, detail: "\(error.description).", parameter: error.parameter, value: error.value,
            allowed: error.expected)
    }

    public var status: HTTPResponse.Status { code.status }

    private struct Body: Encodable {
        var type: String
        var title: String
        var status: Int
        var detail: String
        var code: String
        var parameter: String?
        var value: String?
        var allowed: String?
    }

    /// Its JSON.
    func body() throws -> ByteBuffer {
        try JSONBytes.encode(
            Body(
                type: "about:blank", title: code.title, status: status.code, detail: detail, code: code.rawValue,
                parameter: parameter, value: value, allowed: allowed))
    }

    /// What goes with its body, besides the length.
    var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
        if code == .methodNotAllowed { headers[.allow] = allowed }
        if status == .unauthorized { headers[.wwwAuthenticate] = "X-API-Key realm=\"billow\"" }
        return headers
    }

    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let bytes = try body()
        var headers = headers
        headers[.contentLength] = String(bytes.readableBytes)
        return Response(status: status, headers: headers, body: .init(byteBuffer: bytes))
    }
}

extension Problem {
    /// - Parameter methods: those that the path has.
    static func methodNotAllowed(_ request: Request, _ methods: [HTTPRequest.Method]) -> Problem {
        Problem(
            .methodNotAllowed,
            detail: "\(request.method.rawValue.prefix(20)) is not possible at \(request.uri.path.prefix(200)).",
            allowed: AllowedMethods.text(methods))
    }
}

/// JSON in one way everywhere: sorted keys, no escaped slashes.
enum JSONBytes {
    static func encode(_ value: some Encodable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }

    /// The same as a tree.
    static func value(of value: some Encodable) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(try encode(value).readableBytesView))
    }
}

/// What every answer has, and every address.
enum AnswerRules {
    /// Any page may read any answer; none is taken for something else than its type says.
    static let headers: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .accessControlAllowOrigin: "*",
        .accessControlExposeHeaders:
            "ETag, X-Frame-Time, X-Data-Time, X-Simulated, X-Incomplete, Retry-After, Content-Length, Link",
    ]

    /// Bytes: longer than any that a client of ours needs; parsing stays cheap whatever comes.
    static let longestURL = 8_192
}

/// Logs an error of the store when it is new, and then once a minute with how often it came: a full disk meets every
/// request.
final class StoreErrorLog: Sendable {
    private struct Entry {
        var loggedAt: ContinuousClock.Instant
        var more = 0
    }

    private let entries: Mutex<[String: Entry]> = Mutex([:])
    private static let pause = Duration.seconds(60)
    /// Errors that are told apart.
    private static let mostErrors = 100

    func log(_ error: StoreError, path: String, _ logger: Logger, at now: ContinuousClock.Instant = .now) {
        let text = error.description
        let more = entries.withLock { entries -> Int? in
            if let entry = entries[text], now < entry.loggedAt + Self.pause {
                entries[text]?.more += 1
                return nil
            }
            let more = entries[text]?.more ?? 0
            if entries.count >= Self.mostErrors { entries = [:] }
            entries[text] = Entry(loggedAt: now)
            return more
        }
        guard let more else { return }
        var metadata: Logger.Metadata = ["path": "\(path)", "error": "\(text)"]
        if more > 0 { metadata["more"] = "\(more)" }
        logger.error("the store failed", metadata: metadata)
    }
}

/// Gives every answer its cross-origin headers, and every error a body that says what was wrong.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    let routes: RouteTable
    let files: PublicFiles
    let storeErrors = StoreErrorLog()

    private static func detail(of error: StoreError) -> String {
        switch error {
        case .full: "The disk is full: nothing can be stored until there is room."
        case .replaced:
            "The database file was removed or replaced: nothing can be stored until the server is started again."
        default: "The stored data can't be read or written at present."
        }
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            guard request.uri.string.utf8.count <= AnswerRules.longestURL else { throw Self.tooLong }
            try Self.checkPath(request.uri.path)
            guard !Self.takesFileForFolder(request.uri.path) else { throw HTTPError(.notFound) }
            response =
                request.method == .options ? try await preflight(request) : try await next(request, context)
        } catch let problem as Problem {
            response = try problem.response(from: request, context: context)
        } catch let error as WorkError {
            response = try Problem(error).response(from: request, context: context)
        } catch let error as TooManyCorners {
            response = try Problem(error).response(from: request, context: context)
        } catch let error as HTTPError {
            response = try problem(for: error, request).response(from: request, context: context)
        } catch StoreError.deleted(let before) {
            // The publisher is about to publish what is left.
            let problem = Problem(
                .deleting, detail: "Data from before \(before) was just deleted.", retryAfterSeconds: 1)
            response = try problem.response(from: request, context: context)
        } catch let error as StoreError {
            storeErrors.log(error, path: request.uri.path, context.logger)
            let problem = Problem(ProblemCode(error), detail: Self.detail(of: error), retryAfterSeconds: 5)
            response = try problem.response(from: request, context: context)
        } catch let error as HTTPParserError {
            // The body broke off. The connection answers and closes.
            throw error
        } catch is CancellationError {
            // Work is cancelled only when nobody waits for it any more, or when the server goes.
            let problem = Problem(
                .stopping, detail: "The server is stopping.", retryAfterSeconds: 5)
            response = try problem.response(from: request, context: context)
        } catch {
            context.logger.error("request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            let problem = Problem(
                .internalError, detail: "Something went wrong in the server; it was logged.")
            response = try problem.response(from: request, context: context)
        }
        // Hummingbird takes the length of what isn't sent.
        if request.method == .head, response.headers[.contentLength] == "0" { response.headers[.contentLength] = nil }
        for field in AnswerRules.headers { response.headers[field.name] = field.value }
        return response
    }

    private static var tooLong: Problem {
        Problem(
            .urlTooLong, detail: "The address is longer than \(AnswerRules.longestURL) bytes.",
            allowed: "at most \(AnswerRules.longestURL) bytes")
    }

    /// No route and no file of ours needs what is refused here, and what comes after may take the path as it is: control
    /// characters (a NUL ends a file's name early), `..`, and two slashes at the start, which a redirect would turn into
    /// the name of another host.
    private static func checkPath(_ path: String) throws(Problem) {
        let decoded = path.removingPercentEncodingOfBytes()
        let isReadable = decoded.map { !$0.contains { $0 < 0x20 || $0 == 0x7F } } ?? false
        let segments = (decoded ?? []).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard isReadable, !segments.contains(Array("..".utf8)[...]), !path.hasPrefix("//") else {
            throw Problem(
                .invalidPath, detail: "The path of the address can't be used.", parameter: "path",
                value: String(path.prefix(100)),
                allowed: "percent-encoded UTF-8 without control characters, '..' and a second slash at the start")
        }
    }

    /// Whether a path goes on behind a file's name with a slash, which the router would overlook.
    private static func takesFileForFolder(_ path: String) -> Bool {
        path.hasSuffix("/") && path.split(separator: "/").last?.contains(".") ?? false
    }

    private func preflight(_ request: Request) async throws -> Response {
        // Asks about the server as a whole.
        if request.head.path == "*" { return Response(status: .noContent) }
        var methods = routes.methods(of: request.uri.path)
        if methods.isEmpty, let path = request.uri.path.removingPercentEncoding, try await files.find(path) != nil {
            methods = [.get, .head]
        }
        guard !methods.isEmpty else { throw HTTPError(.notFound) }
        let allowed = AllowedMethods.text(methods)
        return Response(
            status: .noContent,
            headers: [
                .allow: allowed, .accessControlAllowMethods: allowed, .accessControlAllowHeaders: "*",
                .accessControlMaxAge: "86400",
            ])
    }

    private func problem(for error: HTTPError, _ request: Request) -> Problem {
        let methods = routes.methods(of: request.uri.path)
        return switch error.status {
        case .notFound where !methods.isEmpty && !methods.contains(request.method):
            Problem.methodNotAllowed(request, methods)
        case .notFound:
            Problem(.noSuchRoute, detail: "There is nothing at \(request.uri.path.prefix(200)).")
        case .contentTooLarge: Problem(.bodyTooLarge, detail: "The body is too large.")
        case .rangeNotSatisfiable: Problem(.rangeNotSatisfiable, detail: "The file has no byte in this range.")
        case let status where status.kind == .clientError:
            Problem(.invalidRequest, detail: error.body.map { "\($0)." } ?? "The request can't be used.")
        default: Problem(.internalError, detail: "Something went wrong in the server.")
        }
    }
}

extension Problem {
    fileprivate init(_ error: TooManyCorners) {
        self.init(
            .tooManyCorners, detail: "Smoothed like that the polygons have \(error.corners) corners.",
            parameter: "smooth", allowed: "at most \(error.most) corners: a larger tolerance, less smoothing or a bbox")
    }
}
