import Geometry
public import Turbulence

/// A feature of any collection: what is not written in the millions. Every form (GeoJSON, CSV, vector tiles) has the same
/// properties in the same order; one that is not known is left out.
public struct Feature: Sendable, Hashable {
    public var id: String
    public var geometry: FeatureGeometry
    /// By name, in the order of the collection's columns.
    public var properties: [(name: StaticString, value: PropertyValue)]

    public init(id: String, geometry: FeatureGeometry, properties: [(name: StaticString, value: PropertyValue?)]) {
        self.id = id
        self.geometry = geometry
        self.properties = properties.compactMap { name, value in value.map { (name, $0) } }
    }

    public static func == (a: Feature, b: Feature) -> Bool {
        a.id == b.id && a.geometry == b.geometry && a.properties.count == b.properties.count
            && zip(a.properties, b.properties).allSatisfy {
                $0.name.description == $1.name.description && $0.value == $1.value
            }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The value of a feature's property.
public enum PropertyValue: Sendable, Hashable {
    case text(String)
    case integer(Int)
    /// With at most so many decimals.
    case decimal(Double, decimals: Int)
    case flag(Bool)
    case instant(Instant)
    /// A list of instants: the time of each vertex of a line.
    case instants([Instant])
}

extension JSONWriter {
    /// Writes a property's value.
    public mutating func value(_ value: PropertyValue) {
        switch value {
        case .text(let text): self.value(text)
        case .integer(let number): self.value(Int64(number))
        case .decimal(let number, let decimals): self.value(number, decimals: decimals)
        case .flag(let flag): self.value(flag)
        case .instant(let instant): self.value(instant)
        case .instants(let instants):
            openArray()
            for instant in instants { self.value(instant) }
            closeArray()
        }
    }
}

extension Feature {
    /// An issued area, as the interface lists a hazard's properties.
    public init(_ area: IssuedArea) {
        let polygons = area.geometry.polygons
        self.init(
            id: area.id,
            geometry: polygons.count == 1 ? .polygon(polygons[0]) : .multiPolygon(polygons),
            properties: [
                ("kind", .text(area.kind)), ("hazard", area.hazard.map { .text($0) }),
                ("severity", area.severity.map { .integer(Int($0.rawValue)) }),
                ("severityName", area.severity.map { .text($0.name) }),
                ("altitudeMin", area.altitudeMinFeet.map { .integer($0) }),
                ("altitudeMax", area.altitudeMaxFeet.map { .integer($0) }),
                ("altitudeReference", area.isAboveGround ? .text("AGL") : nil), ("validFrom", .instant(area.validFrom)),
                ("validTo", .instant(area.validTo)), ("issuedAt", area.issuedAt.map { .instant($0) }),
                ("forecastHour", area.forecastHour.map { .integer($0) }), ("status", area.status.map { .text($0) }),
                ("text", area.text.map { .text($0) }), ("source", .text(area.source.name)),
            ])
    }

    /// An aircraft, as the interface lists a position's properties.
    public init(_ position: AircraftPosition) {
        self.init(
            id: position.icao24.text, geometry: .point(position.place),
            properties: [
                ("icao24", .text(position.icao24.text)), ("callsign", position.callsign.map { .text($0) }),
                ("altitude", position.altitudeFeet.map { .integer($0) }),
                ("geometricAltitude", position.geometricAltitudeFeet.map { .integer($0) }),
                ("groundSpeed", position.groundSpeedKnots.map { .decimal($0, decimals: 1) }),
                ("heading", position.headingDegrees.map { .decimal($0, decimals: 2) }),
                ("verticalRate", position.verticalRateFeetPerMinute.map { .integer($0) }),
                ("onGround", .flag(position.isOnGround)), ("category", position.category.map { .integer(Int($0)) }),
                ("observedAt", .instant(position.observedAt)), ("source", .text(position.source.name)),
            ])
    }
}

extension Feature {
    /// The way of an aircraft: `times` has the time of every vertex, of one line after the other.
    public init(_ track: AircraftTrack) {
        let lines = track.lines.map { $0.map(\.place) }
        let times = track.lines.flatMap { $0.map(\.time) }
        self.init(
            id: track.newest.icao24.text, geometry: lines.count == 1 ? .lineString(lines[0]) : .multiLineString(lines),
            properties: [
                ("icao24", .text(track.newest.icao24.text)), ("callsign", track.newest.callsign.map { .text($0) }),
                ("observedFrom", times.first.map { .instant($0) }), ("observedTo", times.last.map { .instant($0) }),
                ("times", .instants(times)), ("source", .text(track.newest.source.name)),
            ])
    }
}

extension ExportCollection {
    /// The names of the properties that `Feature`s of the collection can have, in order; nil for what has its own writer.
    var propertyNames: [StaticString]? {
        switch self {
        case .observations, .turbulence, .hexagons, .pireps: nil
        case .polygons:
            [
                "severity", "severityName", "history", "mode", "altitudeMin", "altitudeMax", "hexagons", "observedFrom",
                "observedTo", "source",
            ]
        case .hazards, .forecast:
            [
                "kind", "hazard", "severity", "severityName", "altitudeMin", "altitudeMax", "altitudeReference",
                "validFrom", "validTo", "issuedAt", "forecastHour", "status", "text", "source",
            ]
        case .traffic:
            [
                "icao24", "callsign", "altitude", "geometricAltitude", "groundSpeed", "heading", "verticalRate",
                "onGround", "category", "observedAt", "source",
            ]
        case .tracks: ["icao24", "callsign", "observedFrom", "observedTo", "times", "source"]
        }
    }
}
