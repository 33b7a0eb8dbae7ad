import BillowEngine
import BillowParameters
import BillowAreas
import BillowSnapshot
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// `POST /alerts`: turbulence ahead of a position. `POST /flights`, `PUT /flights/{id}/position` and `DELETE
/// /flights/{id}`: monitored flights. Their alerts are events for listeners with the access key that registered the
/// flight.
struct AlertRoutes: Sendable {
    let frames: FrameSource
    let alerts: AlertSource
    let monitor: FlightMonitor
    let authorizer: Authorizer
    let airports: AirportTable
    let areaLimitKm2: Double
    let now: @Sendable () -> Instant

    func add(to router: some RouterMethods<some RequestContext>) {
        router.post("/alerts") { request, _ in try await alert(request) }
        router.post("/flights") { request, _ in try await register(request) }
        router.put("/flights/:id/position") { request, context in
            try await position(request, context.parameters.text("id"))
        }
        router.delete("/flights/:id") { request, context in try await end(request, context.parameters.text("id")) }
    }

    private static let headers: HTTPFields = [.cacheControl: "private, no-store"]

    /// The headers that describe the data; the response must not be cached.
    private static func headers(_ answer: AlertResponse?) -> HTTPFields {
        guard let answer else { return Self.headers }
        var headers = ResponseHeaders.make(answer.dataStatus, freshSeconds: 0)
        headers[.cacheControl] = Self.headers[.cacheControl]
        return headers
    }

    private func body(of request: Request) async throws -> AlertBody {
        try await JSONBody.read(AlertBody.self, of: request, longest: AlertBody.longest)
    }

    private func alert(_ request: Request) async throws -> Response {
        let body = try await body(of: request)
        let parsed = try body.request(airports, areaLimitKm2: areaLimitKm2)
        let report = try await alerts.report(parsed, of: try body.flight(), in: try frames.snapshot())
        guard report.area.kind != .none else { throw Problem.withoutTrack }
        var clusters = AlertClusters()
        let answer = AlertResponse(report, clusters: try clusters.update(report.items))
        return try JSONResponse.make(answer, headers: Self.headers(answer), request: request)
    }

    private struct RegisteredFlight: Encodable {
        var id: String
        /// The URL of its events.
        var events: String
        /// The turbulence ahead; nil before the first position.
        var alert: AlertResponse?
    }

    private func register(_ request: Request) async throws -> Response {
        let key = try await authorizer.authorize(request, needs: .read).key.id
        let bytes = Data(try await request.bytes(upTo: AlertBody.longest).readableBytesView)
        let body = try JSONBody.decode(AlertBody.self, from: bytes)
        // A position in the registration must be valid.
        let state = body.position == nil ? nil : try body.flight()
        let registration = try FlightBodyReader(airports: airports, areaLimitKm2: areaLimitKm2).read(bytes)
        let id = try await monitor.register(registration, key: key, at: now())
        var answer = RegisteredFlight(id: id, events: "/events?flight=\(id)", alert: nil)
        if let state {
            answer.alert = try await monitor.position(
                state, of: id, key: key, at: now(), in: try frames.snapshot())
        }
        return try JSONResponse.make(
            answer, headers: Self.headers(answer.alert), status: .created, request: request)
    }

    private func position(_ request: Request, _ id: String) async throws -> Response {
        let key = try await authorizer.authorize(request, needs: .read).key.id
        let state = try await body(of: request).flight()
        guard try await monitor.owns(id, key: key) else { throw Problem.unknownFlight(id) }
        let answer = try await monitor.position(state, of: id, key: key, at: now(), in: try frames.snapshot())
        guard let answer else { throw Problem.unknownFlight(id) }
        return try JSONResponse.make(answer, headers: Self.headers(answer), request: request)
    }

    private func end(_ request: Request, _ id: String) async throws -> Response {
        let key = try await authorizer.authorize(request, needs: .read).key.id
        guard try await monitor.end(id, key: key) else { throw Problem.unknownFlight(id) }
        return Response(status: .noContent, headers: Self.headers)
    }

}

extension Problem {
    /// Without a track the response would have no items and look like smooth air.
    fileprivate static let withoutTrack = Problem(
        .areaMissing,
        detail: "Without a track there is no beam: give 'track', a 'route' that is near enough, a "
            + "'polygon' or 'cells'.",
        parameter: "track", value: "missing", allowed: "degrees from 0 to 360")

    static func unknownFlight(_ id: String) -> Problem {
        Problem(
            .unknownFlight, detail: "This key monitors no flight '\(id.prefix(100))'.",
            parameter: "id", value: id, allowed: "the id of a flight that this key registered")
    }
}
