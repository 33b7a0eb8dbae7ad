/// Parses a place as it is written in a flight plan or by a user.
package enum Waypoint {
    /// Parses `4038N07347W` (degrees and minutes), `40N073W` (degrees) and `403830N0734700W` (and seconds). Also parses
    /// a pair in decimal degrees, longitude first (`-73.78,40.64`), and an ICAO location indicator of the table
    /// (`KJFK`). Upper and lower case are equal; nil for any other text.
    ///
    /// Source: ICAO Doc 4444, appendix 2, item 15 (significant points)
    package static func place(_ text: some StringProtocol, airports: AirportTable) -> LonLat? {
        let text = text.uppercased()
        if text.contains(",") { return pair(text) }
        if text.utf8.count == 4, let place = airports.place(icao: text) { return place }
        return coordinates(Array(text.utf8))
    }

    private static func pair(_ text: String) -> LonLat? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { part -> Substring in
            var part = part
            while part.first == " " { part.removeFirst() }
            while part.last == " " { part.removeLast() }
            return part
        }
        guard parts.count == 2, parts.allSatisfy(isDecimal), let longitude = Double(parts[0]),
            let latitude = Double(parts[1])
        else { return nil }
        return LonLat(longitude: longitude, latitude: latitude)
    }

    private static func isDecimal(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 25
            && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B }
    }

    private static func coordinates(_ text: [UInt8]) -> LonLat? {
        // Latitude: 2, 4 or 6 digits and N or S; longitude: one digit more and E or W.
        for digits in [2, 4, 6] where text.count == digits * 2 + 3 {
            guard let latitude = angle(text[0..<digits], degrees: 2),
                let longitude = angle(text[digits + 1..<digits * 2 + 2], degrees: 3)
            else { return nil }
            let northSouth = text[digits]
            let eastWest = text[digits * 2 + 2]
            guard northSouth == UInt8(ascii: "N") || northSouth == UInt8(ascii: "S"),
                eastWest == UInt8(ascii: "E") || eastWest == UInt8(ascii: "W"), longitude <= 180
            else { return nil }
            return LonLat(
                longitude: eastWest == UInt8(ascii: "W") ? -longitude : longitude,
                latitude: northSouth == UInt8(ascii: "S") ? -latitude : latitude)
        }
        return nil
    }

    /// The angle of digits: degrees, then minutes and seconds of two digits each.
    private static func angle(_ digits: ArraySlice<UInt8>, degrees: Int) -> Double? {
        var numbers: [Int] = []
        var rest = digits
        while !rest.isEmpty {
            let width = numbers.isEmpty ? degrees : 2
            var number = 0
            for digit in rest.prefix(width) {
                guard digit >= 0x30, digit <= 0x39 else { return nil }
                number = number * 10 + Int(digit - 0x30)
            }
            numbers.append(number)
            rest = rest.dropFirst(width)
        }
        guard numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
        return zip(numbers, [1.0, 60, 3_600]).reduce(0) { $0 + Double($1.0) / $1.1 }
    }
}

/// A table of airports by their ICAO location indicators.
package struct AirportTable: Sendable {
    private let places: [String: LonLat]

    package init(_ places: [String: LonLat]) { self.places = places }

    /// The large airports that are built in.
    package static let large = AirportTable(Airports.places)

    /// The airport's position; nil if it isn't in the table.
    package func place(icao: String) -> LonLat? { places[icao] }

    /// All indicators, sorted.
    package var indicators: [String] { places.keys.sorted() }
}
