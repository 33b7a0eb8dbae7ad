import Foundation
import UpstreamKit
import JSONKit

/// Parses OpenSky's responses. An invalid row or value doesn't affect others. Malformed JSON invalidates the whole
/// response, because partial data must not look complete.
///
/// Source: docs/upstreams/opensky.md
struct OpenSkyReplyReader {
    /// The valid times in Unix seconds: the years 2000 to 2100.
    private static let times = 946_684_800.0...4_102_444_800.0
    /// The valid altitudes of an aircraft in metres.
    private static let altitudes = -2_000.0...50_000.0
    /// The valid speeds and vertical rates in metres per second.
    private static let speeds = 0.0...2_000.0
    private static let climbs = -500.0...500.0

    private var counts = RowCounts()

    // MARK: - The three kinds of responses

    /// - Throws: `.unreadable`.
    static func states(_ bytes: [UInt8]) throws(UpstreamError) -> StateVectors {
        var reader = OpenSkyReplyReader()
        return try reader.states(bytes)
    }

    /// - Throws: `.unreadable`.
    static func flights(_ bytes: [UInt8]) throws(UpstreamError) -> Flights {
        var reader = OpenSkyReplyReader()
        return try reader.flights(bytes)
    }

    /// - Throws: `.unreadable`.
    static func track(_ bytes: [UInt8]) throws(UpstreamError) -> Track {
        var reader = OpenSkyReplyReader()
        return try reader.track(bytes)
    }

    private mutating func states(_ bytes: [UInt8]) throws(UpstreamError) -> StateVectors {
        let timeName = Array("time".utf8)
        let statesName = Array("states".utf8)
        var time: Date?
        var vectors: [StateVector]?
        try Self.scan(bytes) { (scanner) throws(JSONScanner.Malformed) in
            guard scanner.peek() == UInt8(ascii: "{") else { return try scanner.skipValue() }
            try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
                if scanner.matches(key, statesName) {
                    vectors = try vectorRows(&scanner)
                } else if scanner.matches(key, timeName) {
                    time = Self.time(try scanner.value())
                } else {
                    try scanner.skipValue()
                }
            }
        }
        guard let vectors else { throw .unreadable(.missing("states")) }
        guard let time = time ?? vectors.map(\.lastContact).max() else { throw .unreadable(.missing("time")) }
        return StateVectors(time: time, vectors: vectors, counts: counts)
    }

    private mutating func flights(_ bytes: [UInt8]) throws(UpstreamError) -> Flights {
        var flights: [Flight]?
        try Self.scan(bytes) { (scanner) throws(JSONScanner.Malformed) in
            guard scanner.peek() == UInt8(ascii: "[") else {
                if case .null = try scanner.value() { flights = [] }
                return
            }
            var list: [Flight] = []
            try scanner.array { (scanner) throws(JSONScanner.Malformed) in
                if let flight = try flight(&scanner) { list.append(flight) }
            }
            flights = list
        }
        guard let flights else { throw .unreadable(.missing("the list of flights")) }
        return Flights(flights, counts: counts)
    }

    private mutating func track(_ bytes: [UInt8]) throws(UpstreamError) -> Track {
        let pathName = Array("path".utf8)
        var members = Members()
        var path: [Track.Waypoint]?
        try Self.scan(bytes) { (scanner) throws(JSONScanner.Malformed) in
            guard scanner.peek() == UInt8(ascii: "{") else { return try scanner.skipValue() }
            try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
                if scanner.matches(key, pathName), scanner.peek() == UInt8(ascii: "[") {
                    path = try waypoints(&scanner)
                } else {
                    try members.read(&scanner, key)
                }
            }
        }
        guard let path else { throw .unreadable(.missing("path")) }
        guard let address = members.text("icao24").flatMap({ TransponderAddress($0) }) else {
            throw .unreadable(.missing("icao24"))
        }
        // If one of both is missing, the other replaces it.
        guard let start = date(members.number("startTime")) ?? path.first?.time,
            let end = date(members.number("endTime")) ?? path.last?.time
        else { throw .unreadable(.missing("startTime")) }
        return Track(
            // The documentation spells it with three l's, the service with two.
            address: address, callsign: Self.trimmed(members.text("callsign") ?? members.text("calllsign")),
            start: start, end: end, path: path, counts: counts)
    }

    // MARK: - Rows

    private mutating func vectorRows(_ scanner: inout JSONScanner) throws(JSONScanner.Malformed) -> [StateVector]? {
        guard scanner.peek() == UInt8(ascii: "[") else {
            if case .null = try scanner.value() { return [] }
            return nil
        }
        var vectors: [StateVector] = []
        try scanner.array { (scanner) throws(JSONScanner.Malformed) in
            counts.read += 1
            guard scanner.peek() == UInt8(ascii: "[") else {
                try scanner.skipValue()
                return counts.skip(.unreadable)
            }
            var row = VectorRow()
            try scanner.array { (scanner) throws(JSONScanner.Malformed) in try row.read(&scanner) }
            switch row.vector {
            case .success(let vector):
                vectors.append(vector)
                counts.droppedValues += row.dropped
            case .failure(let reason): counts.skip(reason.reason)
            }
        }
        return vectors
    }

    private struct SkippedRow: Error {
        let reason: RowCounts.Reason
    }

    /// A state vector, from its columns in order.
    private struct VectorRow {
        private var column = 0
        private(set) var dropped = 0
        private var address: TransponderAddress?
        private var value = StateVector(
            address: VectorRow.noAddress, lastContact: Date(timeIntervalSince1970: 0))
        private var contact: Date?

        private static let noAddress: TransponderAddress = {
            guard let address = TransponderAddress(value: 0) else { preconditionFailure("0 is an address") }
            return address
        }()

        mutating func read(_ scanner: inout JSONScanner) throws(JSONScanner.Malformed) {
            defer { column += 1 }
            if column == 12, scanner.peek() == UInt8(ascii: "[") {
                var sensors: [Int] = []
                try scanner.array { (scanner) throws(JSONScanner.Malformed) in
                    if let serial = try scanner.value().integer { sensors.append(serial) } else { dropped += 1 }
                }
                value.sensors = sensors
                return
            }
            let cell = try scanner.value()
            if case .null = cell { return }
            switch column {
            case 0: address = countingNil(text(scanner, cell).flatMap { TransponderAddress($0) })
            case 1: value.callsign = countingNil(text(scanner, cell)).flatMap { OpenSkyReplyReader.trimmed($0) }
            case 2: value.originCountry = countingNil(text(scanner, cell)).flatMap { OpenSkyReplyReader.trimmed($0) }
            case 3: value.positionTime = countingNil(OpenSkyReplyReader.time(cell))
            case 4: contact = countingNil(OpenSkyReplyReader.time(cell))
            case 5: value.longitude = countingNil(number(cell, in: -180...180))
            case 6: value.latitude = countingNil(number(cell, in: -90...90))
            case 7: value.barometricAltitude = countingNil(number(cell, in: altitudes)).map { Length(metres: $0) }
            case 8: value.isOnGround = countingNil(flag(cell)) ?? false
            case 9: value.groundSpeed = countingNil(number(cell, in: speeds)).map { Speed(metresPerSecond: $0) }
            case 10: value.trackDegrees = countingNil(OpenSkyReplyReader.heading(cell))
            case 11: value.verticalRate = countingNil(number(cell, in: climbs)).map { Speed(metresPerSecond: $0) }
            case 12: dropped += 1
            case 13: value.geometricAltitude = countingNil(number(cell, in: altitudes)).map { Length(metres: $0) }
            case 14: value.squawk = countingNil(text(scanner, cell)).flatMap { OpenSkyReplyReader.trimmed($0) }
            case 15: value.isSpecialPurpose = countingNil(flag(cell)) ?? false
            case 16:
                value.positionSource =
                    countingNil(cell.integer).map { PositionSource(rawValue: $0) } ?? value.positionSource
            case 17: value.category = countingNil(cell.integer).map { EmitterCategory(rawValue: $0) }
            // Later columns aren't known yet.
            default: break
            }
        }

        var vector: Result<StateVector, SkippedRow> {
            guard let address else { return .failure(SkippedRow(reason: .address)) }
            // The reception of a position also counts as contact.
            guard let contact = contact ?? value.positionTime else { return .failure(SkippedRow(reason: .time)) }
            var vector = value
            vector.address = address
            vector.lastContact = contact
            if vector.longitude == nil || vector.latitude == nil {
                vector.longitude = nil
                vector.latitude = nil
            }
            return .success(vector)
        }

        private mutating func countingNil<Value>(_ value: Value?) -> Value? {
            if value == nil { dropped += 1 }
            return value
        }

        private func text(_ scanner: JSONScanner, _ cell: JSONScanner.Value) -> String? {
            guard case .string(let range, let escaped) = cell else { return nil }
            return scanner.text(range, escaped: escaped)
        }

        private func flag(_ cell: JSONScanner.Value) -> Bool? {
            guard case .bool(let flag) = cell else { return nil }
            return flag
        }
    }

    private mutating func flight(_ scanner: inout JSONScanner) throws(JSONScanner.Malformed) -> Flight? {
        counts.read += 1
        guard scanner.peek() == UInt8(ascii: "{") else {
            try scanner.skipValue()
            counts.skip(.unreadable)
            return nil
        }
        var members = Members()
        try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in try members.read(&scanner, key) }
        guard let address = members.text("icao24").flatMap({ TransponderAddress($0) }) else {
            counts.skip(.address)
            return nil
        }
        let first = date(members.number("firstSeen"))
        let last = date(members.number("lastSeen"))
        guard let firstSeen = first ?? last, let lastSeen = last ?? first else {
            counts.skip(.time)
            return nil
        }
        return Flight(
            address: address, callsign: Self.trimmed(members.text("callsign")), firstSeen: firstSeen,
            lastSeen: lastSeen, departure: airport(members, "estDepartureAirport"),
            arrival: airport(members, "estArrivalAirport"),
            departureCandidates: count(members.number("departureAirportCandidatesCount")),
            arrivalCandidates: count(members.number("arrivalAirportCandidatesCount")))
    }

    private func airport(_ members: Members, _ name: String) -> Flight.EstimatedAirport? {
        guard let code = Self.trimmed(members.text(name)) else { return nil }
        return Flight.EstimatedAirport(
            code: code, horizontalDistance: members.number(name + "HorizDistance").map { Length(metres: $0) },
            verticalDistance: members.number(name + "VertDistance").map { Length(metres: $0) })
    }

    private func count(_ number: Double?) -> Int { number.flatMap { Int(exactly: $0.rounded()) } ?? 0 }

    private mutating func waypoints(_ scanner: inout JSONScanner) throws(JSONScanner.Malformed) -> [Track.Waypoint] {
        var path: [Track.Waypoint] = []
        try scanner.array { (scanner) throws(JSONScanner.Malformed) in
            counts.read += 1
            guard scanner.peek() == UInt8(ascii: "[") else {
                try scanner.skipValue()
                return counts.skip(.unreadable)
            }
            var cells: [JSONScanner.Value] = []
            try scanner.array { (scanner) throws(JSONScanner.Malformed) in cells.append(try scanner.value()) }
            func cell(_ column: Int) -> JSONScanner.Value { cells.indices.contains(column) ? cells[column] : .null }
            guard let time = Self.time(cell(0)) else { return counts.skip(.time) }
            // Here latitude comes before longitude.
            let latitude = Self.number(cell(1), in: -90...90)
            let longitude = Self.number(cell(2), in: -180...180)
            let isPlaced = longitude != nil && latitude != nil
            var isOnGround = false
            if case .bool(let flag) = cell(5) { isOnGround = flag }
            path.append(
                Track.Waypoint(
                    time: time, longitude: isPlaced ? longitude : nil, latitude: isPlaced ? latitude : nil,
                    barometricAltitude: Self.number(cell(3), in: Self.altitudes).map { Length(metres: $0) },
                    trackDegrees: Self.heading(cell(4)), isOnGround: isOnGround))
        }
        return path
    }

    // MARK: - Values

    /// The texts and numbers of an object's members.
    private struct Members {
        private var texts: [String: String] = [:]
        private var numbers: [String: Double] = [:]

        mutating func read(_ scanner: inout JSONScanner, _ key: JSONScanner.Key) throws(JSONScanner.Malformed) {
            let name = scanner.text(key.range, escaped: key.escaped)
            let value = try scanner.value()
            if case .string(let range, let escaped) = value {
                texts[name] = scanner.text(range, escaped: escaped)
            } else if let number = value.double, number.isFinite {
                numbers[name] = number
            }
        }

        func text(_ name: String) -> String? { texts[name] }
        func number(_ name: String) -> Double? { numbers[name] }
    }

    private func date(_ seconds: Double?) -> Date? {
        seconds.flatMap { Self.times.contains($0) ? Date(timeIntervalSince1970: $0) : nil }
    }

    private static func time(_ value: JSONScanner.Value) -> Date? {
        number(value, in: times).map { Date(timeIntervalSince1970: $0) }
    }

    private static func number(_ value: JSONScanner.Value, in range: ClosedRange<Double>) -> Double? {
        value.double.flatMap { range.contains($0) ? $0 : nil }
    }

    /// 360 also means north, and some aircraft send angles to the left as negative ones.
    private static func heading(_ value: JSONScanner.Value) -> Double? {
        number(value, in: -180...360).map { degrees in
            let turned = degrees < 0 ? degrees + 360 : degrees
            return turned == 360 ? 0 : turned
        }
    }

    private static func trimmed(_ text: String?) -> String? {
        guard let text else { return nil }
        var rest = Substring(text)
        while rest.last == " " { rest.removeLast() }
        rest = rest.drop { $0 == " " }
        return rest.isEmpty ? nil : String(rest)
    }

    private static func scan(
        _ bytes: [UInt8], _ body: (inout JSONScanner) throws(JSONScanner.Malformed) -> Void
    ) throws(UpstreamError) {
        do throws(UnreadableResponse) { try UnreadableResponse.reading(bytes, body) } catch { throw .unreadable(error) }
    }
}
