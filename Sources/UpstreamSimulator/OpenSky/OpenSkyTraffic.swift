import Foundation
import Geometry
import Synchronization

/// The world's flights as OpenSky receives them.
final class OpenSkyTraffic: Sendable {
    private let world: World
    /// A cache of the flights in the air in the last requested minute (Unix time ÷ 60).
    private let lastMinute = Mutex<(minute: Int, flights: [SimulatedFlight])?>(nil)

    private static let metresPerFoot = 0.3048
    /// The interval over which a flight's speed is computed.
    static let speedSeconds = 10
    private static let waypointSeconds = 120

    init(world: World) { self.world = world }

    /// All aircraft in the air at a Unix second; each address occurs once.
    func vectors(at time: Int) -> [OpenSkyVector] {
        var seen = Set<String>()
        return airborneFlights(at: time).compactMap { flight in
            let airframe = Airframe(flight, seed: world.seed)
            guard seen.insert(airframe.icao24).inserted else { return nil }
            return vector(of: flight, airframe, at: time)
        }
    }

    /// The flights in the air at any time of `from` ≤ t ≤ `to`, in the order of their departure.
    func flights(from: Int, to: Int) -> [OpenSkyFlight] {
        ((from - SimulatedFlight.longestDuration) / 60...max(from, to) / 60).flatMap { world.departures(minute: $0) }
            .filter { $0.arrival >= from && $0.departure <= to && $0.arrival > $0.departure }
            .map { flight in
                let airframe = Airframe(flight, seed: world.seed)
                return OpenSkyFlight(
                    icao24: airframe.icao24, firstSeen: flight.departure, lastSeen: min(flight.arrival, to),
                    estDepartureAirport: flight.origin,
                    estArrivalAirport: flight.arrival <= to ? flight.destination : nil,
                    callsign: airframe.callsign, estDepartureAirportHorizDistance: 420,
                    estDepartureAirportVertDistance: 36,
                    estArrivalAirportHorizDistance: flight.arrival <= to ? 310 : nil,
                    estArrivalAirportVertDistance: flight.arrival <= to ? 48 : nil,
                    departureAirportCandidatesCount: 1, arrivalAirportCandidatesCount: flight.arrival <= to ? 1 : 0)
            }
    }

    /// The track up to `now` of the aircraft's flight at a Unix second.
    func track(of icao24: String, at time: Int, now: Int) -> OpenSkyTrack? {
        let found = airborneFlights(at: time).first { Airframe($0, seed: world.seed).icao24 == icao24 }
        guard let flight = found else { return nil }
        let end = min(now, flight.arrival)
        let times = Array(stride(from: flight.departure, to: end, by: Self.waypointSeconds)) + [end]
        let path = times.compactMap { time -> OpenSkyTrack.Waypoint? in
            guard let state = flight.state(at: time) else { return nil }
            let metres = Int(state.altitudeFeet * Self.metresPerFoot)
            let heading = Motion(of: flight, at: time, over: Self.speedSeconds).map { "\(Int($0.headingDegrees))" }
            return OpenSkyTrack.Waypoint(
                time: time,
                tail: "\(text(state.place.latitude, 4)),\(text(state.place.longitude, 4)),\(metres),"
                    + "\(heading ?? "null"),\(metres == 0)")
        }
        guard !path.isEmpty else { return nil }
        return OpenSkyTrack(icao24: icao24, callsign: Airframe(flight, seed: world.seed).callsign, path: path)
    }

    func airborneFlights(at time: Int) -> [SimulatedFlight] {
        let minute = time / 60
        let flights = lastMinute.withLock { last in
            if let last, last.minute == minute { return last.flights }
            let first = (time - SimulatedFlight.longestDuration) / 60
            let flights = (first...minute).flatMap { world.departures(minute: $0) }
                .filter { $0.arrival >= minute * 60 }
            last = (minute, flights)
            return flights
        }
        return flights.filter { $0.departure <= time && $0.arrival >= time }
    }

    /// The vector of a flight. As in real responses, some have no position, no call sign or an old position.
    private func vector(of flight: SimulatedFlight, _ airframe: Airframe, at time: Int) -> OpenSkyVector? {
        let age = airframe.number % 10 == 0 ? airframe.number % 40 : 0
        let positionTime = max(flight.departure, time - age)
        guard let state = flight.state(at: positionTime) else { return nil }
        let motion = Motion(of: flight, at: positionTime, over: Self.speedSeconds)
        let isPlaced = airframe.number % 97 != 0
        let callsign = airframe.number % 41 == 0 ? "" : airframe.callsign
        let metres = state.altitudeFeet * Self.metresPerFoot
        func number(_ value: Double?, _ digits: Int = 2) -> String { value.map { text($0, digits) } ?? "null" }
        let longitude = isPlaced ? state.place.longitude : nil
        let latitude = isPlaced ? state.place.latitude : nil
        let squawk = airframe.number % 3 == 0 ? "null" : "\"\(airframe.squawk)\""
        return OpenSkyVector(
            icao24: airframe.icao24, head: #""\#(airframe.icao24)","\#(callsign)","Simulation""#,
            timePosition: isPlaced ? positionTime : nil, lastContact: time - age / 4,
            longitude: longitude, latitude: latitude,
            tail: "\(number(longitude, 4)),\(number(latitude, 4)),\(number(metres)),false,"
                + "\(number(motion?.metresPerSecond)),\(number(motion?.headingDegrees)),"
                + "\(number(motion?.climbMetresPerSecond)),null,\(number(metres + 60)),\(squawk),false,0",
            category: airframe.isHeavy ? 6 : 4)
    }

    private func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}

/// The aircraft of a flight, derived from the flight's id, so that it is constant.
struct Airframe {
    let number: Int
    let icao24: String
    let callsign: String
    let squawk: String
    let isHeavy: Bool

    /// Fictitious airlines.
    private static let airlines = ["BLW", "KHZ", "RIQ", "EDY", "ROT", "ZEF"]

    init(_ flight: SimulatedFlight, seed: UInt64) {
        var random = SeededRandom(seed: seed, flight.id)
        number = Int(random.next() & 0xFF_FFFF)
        icao24 = String(format: "%06x", number)
        let airline = Self.airlines[number % Self.airlines.count]
        callsign = (airline + String(100 + number % 8_900)).padding(toLength: 8, withPad: " ", startingAt: 0)
        squawk = String(format: "%04o", number % 0o7777)
        isHeavy = flight.arrival - flight.departure > 5 * 3_600
    }
}

/// The motion of a flight, from its positions now and a little later (or before, at its end).
struct Motion {
    let metresPerSecond: Double
    /// Degrees clockwise from north, 0 ..< 360.
    let headingDegrees: Double
    let climbMetresPerSecond: Double

    init?(of flight: SimulatedFlight, at time: Int, over seconds: Int) {
        let start = flight.state(at: time + seconds) == nil ? time - seconds : time
        guard let a = flight.state(at: start), let b = flight.state(at: start + seconds) else { return nil }
        let from = Vector(a.place)
        let to = Vector(b.place)
        metresPerSecond = atan2(from.cross(to).length, from.dot(to)) * earthRadiusMetres / Double(seconds)
        climbMetresPerSecond = (b.altitudeFeet - a.altitudeFeet) * 0.3048 / Double(seconds)
        // Source: great-circle initial bearing, e.g. Ed Williams, "Aviation Formulary", course between points.
        let latitude = a.place.latitude * .pi / 180
        let laterLatitude = b.place.latitude * .pi / 180
        let east = (b.place.longitude - a.place.longitude) * .pi / 180
        let bearing =
            atan2(
                sin(east) * cos(laterLatitude),
                cos(latitude) * sin(laterLatitude) - sin(latitude) * cos(laterLatitude) * cos(east)) * 180 / .pi
        headingDegrees = bearing < 0 ? bearing + 360 : bearing
    }
}
