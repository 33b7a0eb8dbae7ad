/// A state vector in responses. Values used by queries or changed by the clock are fields, the rest is JSON text.
struct OpenSkyVector: Sendable {
    /// Six lower-case hexadecimal digits.
    var icao24: String
    /// Columns 0 to 2 as JSON: address, call sign, country.
    var head: String
    /// The times in Unix seconds.
    var timePosition: Int?
    var lastContact: Int
    /// The position in degrees.
    var longitude: Double?
    var latitude: Double?
    /// Columns 5 to 16 as JSON: longitude to position source.
    var tail: String
    var category: Int

    /// Source: docs/upstreams/opensky.md, "State vectors"
    func json(extended: Bool) -> String {
        "[\(head),\(timePosition.map(String.init) ?? "null"),\(lastContact),\(tail)\(extended ? ",\(category)" : "")]"
    }

    func moved(by seconds: Int) -> OpenSkyVector {
        var moved = self
        moved.timePosition = timePosition.map { $0 + seconds }
        moved.lastContact += seconds
        return moved
    }
}

/// A flight in responses.
struct OpenSkyFlight: Sendable, Decodable {
    var icao24: String
    /// The times in Unix seconds.
    var firstSeen: Int
    var lastSeen: Int
    var estDepartureAirport: String?
    var estArrivalAirport: String?
    var callsign: String?
    /// The distances in metres.
    var estDepartureAirportHorizDistance: Int?
    var estDepartureAirportVertDistance: Int?
    var estArrivalAirportHorizDistance: Int?
    var estArrivalAirportVertDistance: Int?
    var departureAirportCandidatesCount: Int
    var arrivalAirportCandidatesCount: Int

    /// Source: docs/upstreams/opensky.md, "Flights and tracks"
    var json: String {
        func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
        func number(_ value: Int?) -> String { value.map(String.init) ?? "null" }
        return #"{"icao24":"\#(icao24)","firstSeen":\#(firstSeen),"estDepartureAirport":\#(text(estDepartureAirport)),"#
            + #""lastSeen":\#(lastSeen),"estArrivalAirport":\#(text(estArrivalAirport)),"callsign":\#(text(callsign)),"#
            + #""estDepartureAirportHorizDistance":\#(number(estDepartureAirportHorizDistance)),"#
            + #""estDepartureAirportVertDistance":\#(number(estDepartureAirportVertDistance)),"#
            + #""estArrivalAirportHorizDistance":\#(number(estArrivalAirportHorizDistance)),"#
            + #""estArrivalAirportVertDistance":\#(number(estArrivalAirportVertDistance)),"#
            + #""departureAirportCandidatesCount":\#(departureAirportCandidatesCount),"#
            + #""arrivalAirportCandidatesCount":\#(arrivalAirportCandidatesCount)}"#
    }

    func moved(by seconds: Int) -> OpenSkyFlight {
        var moved = self
        moved.firstSeen += seconds
        moved.lastSeen += seconds
        return moved
    }
}

/// A track in responses.
struct OpenSkyTrack: Sendable {
    struct Waypoint: Sendable {
        /// The time in Unix seconds.
        var time: Int
        /// Latitude, longitude, altitude, heading and on-ground flag, as JSON.
        var tail: String
    }

    var icao24: String
    var callsign: String?
    /// At least one point, in chronological order.
    var path: [Waypoint]

    /// The track as JSON. Start and end are in exponent notation, as in the real service.
    ///
    /// Source: docs/upstreams/opensky.md, "Flights and tracks"
    var json: String {
        func exponent(_ seconds: Int) -> String {
            let digits = String(seconds)
            return "\(digits.prefix(1)).\(digits.dropFirst())E\(digits.count - 1)"
        }
        return #"{"icao24":"\#(icao24)","callsign":\#(callsign.map { "\"\($0)\"" } ?? "null"),"#
            + #""startTime":\#(exponent(path.first?.time ?? 0)),"endTime":\#(exponent(path.last?.time ?? 0)),"#
            + #""path":["# + path.map { "[\($0.time),\($0.tail)]" }.joined(separator: ",") + "]}"
    }

    func moved(by seconds: Int) -> OpenSkyTrack {
        var moved = self
        moved.path = path.map { Waypoint(time: $0.time + seconds, tail: $0.tail) }
        return moved
    }
}
