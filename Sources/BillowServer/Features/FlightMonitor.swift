import BillowAreas
import BillowSnapshot
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Turbulence

/// Where events of monitored flights go.
protocol FlightEvents: Sendable {
    /// Tells those who listen for a flight, and nobody else.
    func tell(_ name: String, _ payload: some Encodable & Sendable, flight: String)
}

extension EventHub: FlightEvents {
    func tell(_ name: String, _ payload: some Encodable & Sendable, flight: String) {
        publish(name, payload, to: .flight(flight))
    }
}

/// Flights that are looked ahead for: at every position and at every publication. Each belongs to the key that registered it.
actor FlightMonitor {
    /// How positions of a flight come.
    enum Follow: Sendable, Hashable {
        /// Posted by whoever registered it.
        case posted
        /// From traffic.
        case aircraft(ICAO24)
        case callsign(String)
    }

    private struct Flight {
        var key: String
        var request: AlertRequest
        var follow: Follow
        var state: FlightState?
        /// The last position, or the registration.
        var heardAt: Instant
        var clusters = AlertClusters()
        /// What the last event said; nil before the first one.
        var sent: Set<AlertItem.Identity>?
        var isLost = false
    }

    private struct PositionLost: Encodable, Sendable {
        var flight: String
        var lastPositionAt: String
    }

    private var flights: [String: Flight] = [:]
    private let alerts: AlertSource
    private let events: any FlightEvents

    /// Flights of all keys, and of one: what one evaluation of all takes stays below a second.
    static let most = 2_000
    static let mostOfAKey = 500
    /// Seconds without a position after which it is lost, and after which the flight ends.
    ///
    /// Source: Billow issue 5
    static let lostAfter = 300
    static let endsAfter = 86_400

    init(alerts: AlertSource, events: any FlightEvents) {
        self.alerts = alerts
        self.events = events
    }

    /// Begins to look ahead for a flight.
    /// - Returns: its id, which can't be guessed.
    func register(_ request: AlertRequest, follow: Follow, key: String, at now: Instant) throws(Problem) -> String {
        guard flights.count < Self.most, flights.values.count(where: { $0.key == key }) < Self.mostOfAKey else {
            throw Problem(
                .tooManyFlights,
                detail: "At most \(Self.mostOfAKey) flights of a key and \(Self.most) in all are monitored.",
                retryAfterSeconds: 60)
        }
        let id = UUID().uuidString.lowercased()
        flights[id] = Flight(key: key, request: request, follow: follow, heardAt: now)
        return id
    }

    /// Whether a key registered a flight.
    func owns(_ id: String, key: String) -> Bool { flights[id]?.key == key }

    /// Ends a flight; false where the key has none of that id.
    func end(_ id: String, key: String) -> Bool {
        guard owns(id, key: key) else { return false }
        flights[id] = nil
        return true
    }

    /// Takes a position and looks ahead from it.
    /// - Returns: what lies ahead; nil where the key has no such flight.
    func position(_ state: FlightState, of id: String, key: String, at now: Instant, in snapshot: Snapshot) async throws
        -> AlertAnswer?
    {
        guard owns(id, key: key) else { return nil }
        flights[id]?.state = state
        flights[id]?.heardAt = now
        flights[id]?.isLost = false
        return try await evaluate(id, in: snapshot)
    }

    /// Looks ahead for every flight, from where it was last.
    func published(_ snapshot: Snapshot) async throws {
        follow(snapshot)
        for id in flights.keys.sorted() { _ = try await evaluate(id, in: snapshot) }
    }

    /// Positions of flights that traffic is looked through for.
    private func follow(_ snapshot: Snapshot) {
        guard flights.values.contains(where: { $0.follow != .posted }) else { return }
        let positions =
            snapshot.positions(at: snapshot.publication.asOf, droppedAfterSeconds: Self.lostAfter) ?? []
        for (id, flight) in flights {
            let found = positions.last { position in
                switch flight.follow {
                case .posted: false
                case .aircraft(let icao24): position.icao24 == icao24
                case .callsign(let callsign): position.callsign == callsign
                }
            }
            guard let found, found.observedAt > flight.heardAt || flight.state == nil,
                let altitude = found.altitudeFeet ?? found.geometricAltitudeFeet
            else { continue }
            flights[id]?.state = FlightState(
                place: found.place, altitudeFeet: Double(altitude), track: found.headingDegrees,
                groundSpeed: found.groundSpeedKnots)
            flights[id]?.heardAt = max(found.observedAt, flight.heardAt)
            flights[id]?.isLost = false
        }
    }

    /// An event carries the whole set, whenever it is another than the last event's; a set that becomes empty is one, too.
    private func evaluate(_ id: String, in snapshot: Snapshot) async throws -> AlertAnswer? {
        guard let flight = flights[id], let state = flight.state, !flight.isLost else { return nil }
        let report = try await alerts.report(flight.request, of: state, in: snapshot)
        // The flight may have ended or moved while the store was asked; then the later answer counts.
        guard var flight = flights[id] else { return nil }
        guard flight.state == state else { return AlertAnswer(report, clusters: [], flight: id) }
        let answer = AlertAnswer(report, clusters: flight.clusters.update(report.items), flight: id)
        let identities = Set(report.items.map(\.identity))
        let isNews = identities != flight.sent ?? []
        flight.sent = identities
        flights[id] = flight
        if isNews { events.tell(EventName.alert.rawValue, answer, flight: id) }
        return answer
    }

    /// Notes flights that were not heard of, and ends those long silent.
    func tick(_ now: Instant) {
        for (id, flight) in flights {
            let silent = now.seconds - flight.heardAt.seconds
            if silent >= Self.endsAfter {
                flights[id] = nil
            } else if silent >= Self.lostAfter, !flight.isLost {
                flights[id]?.isLost = true
                events.tell(
                    EventName.positionLost.rawValue,
                    PositionLost(flight: id, lastPositionAt: flight.heardAt.description), flight: id)
            }
        }
    }
}

/// Has every publication looked through for the monitored flights, and silence noticed.
struct FlightWatch: Service {
    let publisher: SnapshotPublisher
    let monitor: FlightMonitor

    private static let look = Duration.milliseconds(250)

    func run() async throws {
        var last: Publication?
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if let snapshot = publisher.snapshot, snapshot.publication != last {
                last = snapshot.publication
                // A failure to read the store is the publisher's to tell; the next publication tries again.
                try? await monitor.published(snapshot)
            }
            await monitor.tick(publisher.now())
            // Cut short only by the shutdown that ends the loop.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.look) }
        }
    }
}
