import Geometry

/// Validates a query against the limits and encodes it.
struct RequestWriter {
    let wire: SkyPathWire
    let limits: SkyPathLimits

    /// Encodes the corridor call's body.
    ///
    /// - Throws: `.invalidQuery`.
    func corridor(_ query: SkyPathCorridorQuery) throws(UpstreamError) -> String {
        try check(hours: query.hours, among: limits.corridorHours)
        try check(altitudes: query.altitudesThousands)
        var members = [
            member(wire.corridor, try polygon(query.ring)),
            member(wire.hoursAgo, number(query.hours)),
            member(wire.minAltitude, "\(query.altitudesThousands.lowerBound)"),
            member(wire.maxAltitude, "\(query.altitudesThousands.upperBound)"),
        ]
        if let since = query.updatedSince {
            guard limits.observedAt.contains(since) else {
                throw .invalidQuery("updatedSince must be Unix seconds of \(limits.observedAt): \(since)")
            }
            members.append(member(wire.updatedSince, "\(max(0, since - limits.cursorOverlapSeconds))"))
        }
        if let category = query.aircraftCategory { members.append(try self.category(category)) }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Encodes the map call's body.
    ///
    /// - Throws: `.invalidQuery`.
    func map(_ query: SkyPathMapQuery) throws(UpstreamError) -> String {
        var members: [String] = []
        switch query.extent {
        case .hours(let hours):
            try check(hours: hours, among: limits.mapHours)
            members.append(member(wire.mapHours, number(hours)))
        case .since(let tick):
            guard tick >= 0 else { throw .invalidQuery("a tick is at least 0: \(tick)") }
            members.append(member(wire.tick, "\(max(0, tick - limits.tickOverlap))"))
        }
        members.append(member(wire.fields, quoted("turbulence")))
        if let ring = query.ring {
            members.append(member(wire.geofence, try polygon(ring, areaLimitKm2: nil)))
        }
        if let severities = query.severities {
            guard severities.allSatisfy((0...4).contains) else {
                throw .invalidQuery("severities are 0...4: \(severities.sorted())")
            }
            members.append(member(wire.severities, "\(severities.sorted())"))
        }
        if let category = query.aircraftCategory { members.append(try self.category(category)) }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Encodes the bulk call's path and query.
    ///
    /// - Throws: `.invalidQuery`.
    func hexagons(_ query: SkyPathHexagonsQuery) throws(UpstreamError) -> String {
        try check(hours: query.hours, among: limits.hexagonsHours)
        try check(altitudes: query.altitudesThousands)
        guard (0...4).contains(query.minSeverity) else {
            throw .invalidQuery("minSeverity is 0...4: \(query.minSeverity)")
        }
        guard let resolution = H3.resolution(of: query.parent),
            limits.parentResolutions.contains(resolution)
        else {
            throw .invalidQuery(
                "the parent must be an H3 cell of resolution \(limits.parentResolutions): "
                    + String(query.parent, radix: 16))
        }
        return wire.hexagonsPath + String(query.parent, radix: 16)
            + "?\(wire.hoursAgo)=\(number(query.hours))"
            + "&\(wire.minSeverity)=\(query.minSeverity)&\(wire.minAltitude)=\(query.altitudesThousands.lowerBound)"
            + "&\(wire.maxAltitude)=\(query.altitudesThousands.upperBound)"
    }

    // MARK: Parts

    private func polygon(_ ring: [LonLat]) throws(UpstreamError) -> String {
        try polygon(ring, areaLimitKm2: limits.corridorAreaKm2)
    }

    private func polygon(_ ring: [LonLat], areaLimitKm2: Double?) throws(UpstreamError) -> String {
        let ring = SkyPathRing.closed(ring)
        guard limits.corridorVertices.contains(ring.count) else {
            throw .invalidQuery("a closed ring has \(limits.corridorVertices) positions: \(ring.count)")
        }
        let area = SkyPathRing.areaKm2(ring)
        if let areaLimitKm2, area > areaLimitKm2 {
            throw .invalidQuery("a corridor has at most \(areaLimitKm2) km2: \(area.rounded(.up))")
        }
        let positions =
            wire.unrollsAntimeridian
            ? SkyPathRing.unrolled(ring) : ring.map { ($0.longitude, $0.latitude) }
        let text = positions.map { "[\($0.longitude),\($0.latitude)]" }.joined(separator: ",")
        return #"{"type":"Polygon","coordinates":[["# + text + "]]}"
    }

    private func check(hours: Double, among allowed: [Double]) throws(UpstreamError) {
        guard allowed.contains(hours) else {
            throw .invalidQuery("hours must be one of \(allowed): \(hours)")
        }
    }

    private func check(altitudes: ClosedRange<Int>) throws(UpstreamError) {
        let allowed = limits.altitudesThousands
        guard allowed.contains(altitudes.lowerBound), allowed.contains(altitudes.upperBound) else {
            throw .invalidQuery("altitudes must lie in \(allowed) thousand feet: \(altitudes)")
        }
    }

    private func category(_ name: String) throws(UpstreamError) -> String {
        guard name.first == "C", let size = Int(name.dropFirst()), (10...110).contains(size),
            size % 10 == 0,
            name == "C\(size)"
        else { throw .invalidQuery("an aircraft category is one of C10, C20, … C110: \(name)") }
        return member(wire.aircraftCategory, quoted(name))
    }

    private func member(_ name: String, _ value: String) -> String { quoted(name) + ":" + value }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// A number as in SkyPath's documentation: 2, not 2.0.
    private func number(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
