import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// A request context with the channel, so that a fault can close the connection.
struct SimulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// The routes: SkyPath's data calls with its key, those of the other upstreams, and health and control without a key.
struct SimulatorRoutes: Sendable {
    let configuration: UpstreamSimulator.Configuration
    let state: SimulatorState
    /// The captured data that is served instead of the simulated world, for upstreams that have any.
    var replay: Replay?

    /// The maximum length of a request, several times that of 250 vertices.
    private static let maximumRequestBytes = 256 * 1_024
    private static let apiKeyHeader = HTTPField.Name("x-api-key")
    private static let accessTokenHeader = HTTPField.Name("x-access-token")

    private var transport: Transport { Transport(dripInterval: configuration.dripInterval) }

    /// - Throws: `ReplayError` if a captured response can't be read.
    func router() throws(ReplayError) -> Router<SimulatorContext> {
        let router = Router(context: SimulatorContext.self)
        router.add(middleware: SimulatedHeaderMiddleware())
        addSkyPath(to: router)
        try OpenSkyRoutes(configuration, state: state, transport: transport, replay: replay).add(to: router)
        try AviationWeatherRoutes(state: state, transport: transport, replay: replay).add(to: router)
        if let guidance = configuration.guidance {
            GuidanceRoutes(guidance, state: state, transport: transport).add(to: router)
        }
        router.get("health") { _, _ in JSONText.response(ByteBuffer(string: #"{"status":"ok"}"#)) }
        router.post("_simulator/fault") { request, _ in setFault(request) }
        router.get("_simulator/fault") { _, _ in faultResponse() }
        router.post("_simulator/report") { request, _ in inject(request) }
        return router
    }

    private func addSkyPath(to router: Router<SimulatorContext>) {
        let calls = DataCalls(configuration: configuration, state: state)
        router.post("auth/v5/session") { request, context in
            try await answer(request, context, isLogin: true) { body, _ throws(SkyPathErrorResponse) in
                try session(body)
            }
        }
        router.post("observations/v5/corridor") { request, context in
            try await answer(request, context) { body, fault throws(SkyPathErrorResponse) in
                try calls.corridor(body, fault: fault)
            }
        }
        router.post("v4/map") { request, context in
            try await answer(request, context) { body, fault throws(SkyPathErrorResponse) in
                try calls.map(body, fault: fault)
            }
        }
        let world = SkyPathWorld(world: state.world)
        for product in SkyPathProduct.allCases {
            router.get(RouterPath(product.path)) { request, context in
                let query = Dictionary(
                    request.uri.queryParameters.map { (String($0.key), String($0.value)) },
                    uniquingKeysWith: { _, last in last })
                return try await answer(request, context, product) { _, fault throws(SkyPathErrorResponse) in
                    try calls.whole(product, of: world, query: query, fault: fault)
                }
            }
        }
        // The second path is a guess by the pattern of the first; both have the same response.
        for path: RouterPath in ["adsb/v5/hexagons/:hexId", "observations/v5/hexagons/:hexId"] {
            router.get(path) { request, context in
                let id = context.parameters.get("hexId") ?? ""
                let query = Dictionary(
                    request.uri.queryParameters.map { (String($0.key), String($0.value)) },
                    uniquingKeysWith: { _, last in last })
                return try await answer(request, context) { _, fault throws(SkyPathErrorResponse) in
                    try calls.hexagons(id, query: query, fault: fault)
                }
            }
        }
    }

    // MARK: Data calls

    /// Checks the key, the rate and the fault, then makes the content and sends it.
    private func answer(
        _ request: Request, _ context: SimulatorContext, _ product: SkyPathProduct? = nil, isLogin: Bool = false,
        _ content: (ByteBuffer, Fault?) throws(SkyPathErrorResponse) -> ByteBuffer
    ) async throws -> Response {
        let body = try await request.body.collect(upTo: SimulatorRoutes.maximumRequestBytes)
        let fault = state.faultOfCall(of: .skyPath)
        do throws(SkyPathErrorResponse) {
            try check(request, body, fault, isLogin: isLogin)
            if let product, configuration.disabledProducts.contains(product) {
                throw SkyPathErrorResponse(
                    status: .forbidden, code: "FEATURE_DISABLED",
                    message: "\(product.rawValue) is disabled for this company")
            }
            let text = try content(body, fault)
            return await transport.response(text, fault, context)
        } catch {
            return error.response
        }
    }

    /// Opens a session for any company and user. SkyPath's own call is not public.
    private func session(_ body: ByteBuffer) throws(SkyPathErrorResponse) -> ByteBuffer {
        struct Login: Decodable {
            var company: String
            var userId: String
        }
        guard let login = try? JSONDecoder().decode(Login.self, from: Data(body.readableBytesView)),
            !login.company.isEmpty, !login.userId.isEmpty
        else { throw .validation("body must have required properties 'company' and 'userId'") }
        let (now, sessions) = (state.now, state.skyPathSessions)
        let text =
            #"{"data":{"accessToken":"\#(sessions.issue(now: now))","expiresAt":\#(now + sessions.seconds)},"#
            + #""meta":{},"links":{},"warnings":{}}"#
        return ByteBuffer(string: text)
    }

    private func check(
        _ request: Request, _ body: ByteBuffer, _ fault: Fault?, isLogin: Bool
    ) throws(SkyPathErrorResponse) {
        guard let name = SimulatorRoutes.apiKeyHeader, request.headers[name] == configuration.apiKey
        else {
            throw .unauthorized
        }
        let token = SimulatorRoutes.accessTokenHeader.flatMap { request.headers[$0] }
        if !isLogin, token != nil || configuration.needsSession,
            !(token.map { state.skyPathSessions.isValid($0, now: state.now) } ?? false)
        {
            throw SkyPathErrorResponse(
                status: .unauthorized, code: "SESSION_EXPIRED", message: "There is no such session")
        }
        switch fault {
        case .unauthorized: throw .unauthorized
        case .sessionRevoked:
            throw SkyPathErrorResponse(
                status: .unauthorized, code: "SESSION_REVOKED", message: "The session was invalidated")
        case .forbidden:
            throw SkyPathErrorResponse(
                status: .forbidden, code: "FEATURE_DISABLED",
                message: "Turbulence is disabled for this company")
        case .locked:
            throw SkyPathErrorResponse(
                status: .init(code: 423, reasonPhrase: "Locked"), code: "USER_LOCKED",
                message: "Too many failed attempts")
        case .upgradeRequired:
            throw SkyPathErrorResponse(
                status: .init(code: 426, reasonPhrase: "Upgrade Required"), code: "UPGRADE_REQUIRED",
                message: "This client version is not supported any more")
        case .rateLimited: throw .tooManyRequests
        case .serverError:
            throw SkyPathErrorResponse(status: .internalServerError, code: "INTERNAL", message: "Something went wrong")
        case .unavailable:
            throw SkyPathErrorResponse(
                status: .serviceUnavailable, code: "UNAVAILABLE", message: "Down for maintenance",
                retryAfter: HTTPDate.text(configuration.clock() + 120))
        default: break
        }
        if let limit = configuration.identicalCallsPerMinute {
            let key = SimulatorState.CallKey(
                path: request.uri.string, body: Array(body.readableBytesView))
            if state.isTooFrequent(key, limit: limit) { throw .tooManyRequests }
        }
    }

    // MARK: Control

    /// `POST /_simulator/fault?name=…&count=…&upstream=…`: 200, or 400 with the names of faults. `name=none` ends the
    /// fault.
    private func setFault(_ request: Request) -> Response {
        let name = request.uri.queryParameters["name"].map { String($0) } ?? ""
        let countText = request.uri.queryParameters["count"].map { String($0) }
        let count = countText.flatMap { Int($0) }
        guard countText == nil || (count.map { $0 > 0 } ?? false) else {
            return SkyPathErrorResponse.validation("querystring/count must be integer >= 1").response
        }
        let fault = Fault(rawValue: name)
        guard fault != nil || name == "none" else {
            let names = Fault.allCases.map(\.rawValue).joined(separator: ", ")
            return SkyPathErrorResponse.validation("querystring/name must be one of none, \(names)").response
        }
        let upstreamText = request.uri.queryParameters["upstream"].map { String($0) }
        let upstream = upstreamText.flatMap { SimulatedUpstream(rawValue: $0) }
        guard upstreamText == nil || upstream != nil else {
            let names = SimulatedUpstream.allCases.map(\.rawValue).joined(separator: ", ")
            return SkyPathErrorResponse.validation("querystring/upstream must be one of \(names)").response
        }
        state.setFault(fault, count: count, of: upstream)
        return faultResponse()
    }

    private func faultResponse() -> Response {
        JSONText.response(
            ByteBuffer(string: #"{"fault":"\#(state.currentFault?.rawValue ?? "none")"}"#))
    }

    /// `POST /_simulator/report?cell=…&alt=…&edr=…[&observedAt=…]`: adds a report to the world.
    private func inject(_ request: Request) -> Response {
        let query = request.uri.queryParameters
        guard let cell = query["cell"].flatMap({ Cell(h3String: $0) }),
            let level = query["alt"].flatMap({ Int($0) }), Report.levels.contains(level),
            let edr = query["edr"].flatMap({ Double($0) }), (0...1).contains(edr)
        else {
            return SkyPathErrorResponse.validation(
                "querystring must have cell (H3 resolution 5), alt (5...52) and edr (0...1)"
            ).response
        }
        state.inject(
            cell: cell, level: level, edr: edr, observedAt: query["observedAt"].flatMap { Int($0) })
        return JSONText.response(ByteBuffer(string: #"{"status":"ok"}"#))
    }
}

/// Marks every response as simulated, including errors.
private struct SimulatedHeaderMiddleware: RouterMiddleware {
    typealias Context = SimulatorContext

    func handle(
        _ request: Request, context: SimulatorContext,
        next: (Request, SimulatorContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as any HTTPResponseError {
            response = try error.response(from: request, context: context)
        }
        if let name = HTTPField.Name("X-Simulated") { response.headers[name] = "true" }
        return response
    }
}

/// Source: RFC 9110 section 5.6.7
enum HTTPDate {
    static func text(_ unixSeconds: Int) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: Double(unixSeconds)))
    }
}
