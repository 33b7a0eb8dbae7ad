import BillowEngine
import BillowStore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import Turbulence

/// Logs an error of the store when it is new, and then once a minute with its count, because a full disk affects every
/// request.
final class StoreErrorLog: Sendable {
    private struct Entry {
        var loggedAt: ContinuousClock.Instant
        var more = 0
    }

    private let entries: Mutex<[String: Entry]> = Mutex([:])
    private static let pause = Duration.seconds(60)
    /// The errors that are counted separately.
    private static let maximumErrors = 100

    func log(_ error: StoreError, path: String, _ logger: Logger, at now: ContinuousClock.Instant = .now) {
        let text = error.description
        let more = entries.withLock { entries -> Int? in
            if let entry = entries[text], now < entry.loggedAt + Self.pause {
                entries[text]?.more += 1
                return nil
            }
            let more = entries[text]?.more ?? 0
            if entries.count >= Self.maximumErrors { entries = [:] }
            entries[text] = Entry(loggedAt: now)
            return more
        }
        guard let more else { return }
        var metadata: Logger.Metadata = ["path": "\(path)", "error": "\(text)"]
        if more > 0 { metadata["more"] = "\(more)" }
        logger.error("the store failed", metadata: metadata)
    }
}

/// Adds cross-origin headers to every answer, and a body with the reason to every error.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    let routes: RouteTable
    let files: PublicFiles
    /// The path below which a proxy offers the server; empty for none. Addresses in `Location` begin with it.
    var basePath = ""
    /// The hosts that requests may name.
    var allowedHosts = AllowedHosts()
    let storeErrors = StoreErrorLog()

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            guard request.uri.string.utf8.count <= ResponseRules.longestURL else { throw Self.tooLong }
            try Self.checkPath(request.uri.path)
            try checkHost(request)
            guard !Self.hasSlashAfterFile(request.uri.path) else { throw HTTPError(.notFound) }
            response =
                request.method == .options ? try await preflight(request) : try await next(request, context)
        } catch let error as HTTPError {
            response = try problem(for: error, request).response(from: request, context: context)
        } catch let error as HTTPParserError {
            // The body was interrupted. The connection answers and closes.
            throw error
        } catch let error where error is CancellationError || error as? EngineError == .cancelled {
            // Work is cancelled only if no request waits for it, or if the server stops. A client that closed only its
            // sending side looks like one that left, and may still read.
            let problem =
                WorkRequester.current?.isGone == true
                ? Problem(
                    .clientLeft,
                    detail: "The client closed its side of the connection, so the server cancelled the request.")
                : Problem(.stopping, detail: "The server is stopping.", retryAfterSeconds: 5)
            response = try problem.response(from: request, context: context)
        } catch let fault as LoggedServerError {
            if Problem(of: fault.cause) == nil {
                context.logger.error(
                    "request failed", metadata: ["path": "\(request.uri.path)", "error": "\(fault.cause)"])
            }
            log(fault.cause, request, context)
            response = fault.response
        } catch {
            if let problem = Problem(of: error) {
                log(error, request, context)
                response = try problem.response(from: request, context: context)
            } else {
                response = try unexpectedError(error, request, context)
            }
        }
        if let location = response.headers[.location], location.hasPrefix("/") {
            response.headers[.location] = basePath + location
        }
        for field in ResponseRules.headers { response.headers[field.name] = field.value }
        return response
    }

    /// Logs a failing store. A running deletion is no failure.
    private func log(_ error: any Error, _ request: Request, _ context: Context) {
        let failure: StoreError
        switch error {
        case let error as StoreError: failure = error
        case EngineError.store(let error): failure = error
        default: return
        }
        if case .deleted = failure { return }
        storeErrors.log(failure, path: request.uri.path, context.logger)
    }

    private func unexpectedError(_ error: any Error, _ request: Request, _ context: Context) throws -> Response {
        context.logger.error("request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
        let problem = Problem(.internalError, detail: "The server failed; the error was logged.")
        return try problem.response(from: request, context: context)
    }

    private static var tooLong: Problem {
        Problem(
            .urlTooLong, detail: "The address is longer than \(ResponseRules.longestURL) bytes.", parameter: "address",
            value: "more bytes", allowed: "at most \(ResponseRules.longestURL) bytes")
    }

    /// Rejects paths that no route or file needs, so that later steps need not check them: control characters, `..`,
    /// and two slashes at the start. A NUL would end a file's name early, and a redirect would turn the slashes into
    /// another host's name.
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

    /// Rejects a host that the settings don't allow. A load balancer probes by the machine's address.
    private func checkHost(_ request: Request) throws(Problem) {
        guard !allowedHosts.allows(request.head.authority), !OperationRoutes.probes.contains(request.uri.path) else {
            return
        }
        throw Problem(
            .hostNotAllowed, detail: "The server doesn't answer for this host.", parameter: "Host",
            value: String((request.head.authority ?? "").prefix(100)), allowed: "a host of server.allowedHosts")
    }

    /// Whether a path has a slash after a file's name, which the router would ignore.
    private static func hasSlashAfterFile(_ path: String) -> Bool {
        path.hasSuffix("/") && path.split(separator: "/").last?.contains(".") ?? false
    }

    private func preflight(_ request: Request) async throws -> Response {
        // A request about the server as a whole.
        if request.head.path == "*" { return Response(status: .noContent) }
        var methods = routes.methods(of: request.uri.path)
        if methods.isEmpty, let path = request.uri.path.removingPercentEncoding, try await files.find(path) != nil {
            methods = [.get, .head]
        }
        // The wildcard stands for every header but this one (Fetch Standard, "CORS-preflight fetch").
        let allowedHeaders = "*, Authorization"
        guard !methods.isEmpty else {
            guard let method = request.headers[.accessControlRequestMethod], HTTPRequest.Method(method) != nil else {
                throw HTTPError(.notFound)
            }
            // A page of another origin can read the 404 only if its request is permitted.
            return Response(
                status: .noContent,
                headers: [.accessControlAllowMethods: method, .accessControlAllowHeaders: allowedHeaders])
        }
        let allowed = AllowedMethods.text(methods)
        return Response(
            status: .noContent,
            headers: [
                .allow: allowed, .accessControlAllowMethods: allowed,
                .accessControlAllowHeaders: allowedHeaders,
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
        default: Problem(.internalError, detail: "The server failed.")
        }
    }
}
