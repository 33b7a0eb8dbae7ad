import BillowEngine
import BillowParameters
import BillowStore
import Geometry
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /events`: a stream of server-sent events about new data and monitored flights.
///
/// Source: HTML Living Standard, section 9.2 (server-sent events)
struct EventRoutes: Sendable {
    let hub: EventHub
    let publisher: SnapshotPublisher
    let authorizer: Authorizer
    let flights: FlightMonitor
    let airports: AirportTable
    /// The largest area that may be requested, in km².
    let areaLimitKm2: Double
    let work: WorkExecutor

    /// The media type of a stream of events.
    static let mediaType = "text/event-stream"

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/events") { request, _ in try await listen(request) }
    }

    /// A flight's events are for the key that registered it, and no other.
    private func check(_ flight: String, _ request: Request) async throws {
        let key = try await authorizer.authorize(request, needs: .read).key.id
        guard try await flights.owns(flight, key: key) else { throw Problem.unknownFlight(flight) }
    }

    private func listen(_ request: Request) async throws -> Response {
        let reader = try QueryReader(request, known: EventParameters.names)
        let parsed = try await work.run(.query) {
            try EventParameters(reader, airports: airports, limitKm2: areaLimitKm2)
        }
        if let flight = parsed.flight { try await check(flight, request) }
        let headers: HTTPFields = [
            .contentType: Self.mediaType, .cacheControl: "no-store",
            // Proxies such as nginx hold answers back until they have enough.
            .accelBuffering: "no",
        ]
        // HEAD describes the stream and doesn't count as a listener.
        guard request.method != .head else { return Response(status: .ok, headers: headers) }
        let subscription = try hub.subscribe(
            // A browser can't send the header with its first request.
            after: request.headers[.lastEventID] ?? parsed.lastEventID, flight: parsed.flight,
            collections: parsed.datasets.map(EventFeed.announcing), squares: parsed.squares,
            greeting: publisher.snapshot.map(EventFeed.fullReload))
        // A client that hangs up makes room at once, not at the next heartbeat.
        let handler = WorkRequester.current?.onLeave { [weak subscription] in subscription?.cancel() }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                for await bytes in subscription.events { try await writer.write(bytes) }
                subscription.cancel()
                if let handler { WorkRequester.current?.remove(handler) }
                try await writer.finish(nil)
            })
    }
}

extension HTTPField.Name {
    static let lastEventID = Self.make("Last-Event-ID")
    static let accelBuffering = Self.make("X-Accel-Buffering")
}
