package import Datasets
import Geometry
package import Turbulence

/// A feature of any dataset except those with millions of features. Every format (GeoJSON, CSV, vector tiles) has the
/// same properties in the same order. Unknown properties are left out.
package struct Feature: Sendable, Hashable {
    package var id: String
    package var geometry: FeatureGeometry
    /// The properties, in the order of the dataset's columns.
    package var properties: [(name: StaticString, value: PropertyValue)]

    package init(id: String, geometry: FeatureGeometry, properties: [(name: StaticString, value: PropertyValue)]) {
        self.id = id
        self.geometry = geometry
        self.properties = properties
    }

    package static func == (a: Feature, b: Feature) -> Bool {
        a.id == b.id && a.geometry == b.geometry && a.properties.count == b.properties.count
            && zip(a.properties, b.properties).allSatisfy {
                $0.name.description == $1.name.description && $0.value == $1.value
            }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension JSONWriter {
    /// Writes a property's value.
    package mutating func value(_ value: PropertyValue) {
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
        case .groups(let groups): self.value(groups)
        }
    }

    private mutating func value(_ groups: [TurbulenceGroup]) {
        func member(_ name: StaticString, _ text: String?, _ json: inout JSONWriter) {
            guard let text else { return }
            json.name(name)
            json.value(text)
        }
        func member(_ name: StaticString, _ feet: Int?, _ json: inout JSONWriter) {
            guard let feet else { return }
            json.name(name)
            json.value(Int64(feet))
        }
        openArray()
        for group in groups {
            openObject()
            member("intensity", group.intensity, &self)
            member("base", group.baseFeet, &self)
            member("top", group.topFeet, &self)
            member("type", group.type, &self)
            member("frequency", group.frequency, &self)
            closeObject()
        }
        closeArray()
    }
}

extension PropertyValue {
    /// JSON text, for formats without lists.
    package var json: String {
        var json = JSONWriter()
        json.value(self)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension Feature {
    /// An issued area.
    ///
    /// - Parameter id: nil for that of the area.
    package init(_ area: IssuedArea, id: String? = nil) {
        let polygons = area.geometry.polygons
        self.init(
            id: id ?? area.id, geometry: polygons.count == 1 ? .polygon(polygons[0]) : .multiPolygon(polygons),
            properties: Schema.areas.values(of: area))
    }

    /// An aircraft.
    ///
    /// - Parameter id: nil for that of the aircraft.
    package init(_ position: AircraftPosition, id: String? = nil) {
        self.init(
            id: id ?? position.icao24.text, geometry: .point(position.place),
            properties: Schema.traffic.values(of: position))
    }

    /// The track of an aircraft.
    package init(_ track: AircraftTrack) {
        let lines = track.lines.map { $0.map(\.place) }
        let times = track.lines.flatMap { $0.map(\.time) }
        self.init(
            id: track.newest.icao24.text, geometry: lines.count == 1 ? .lineString(lines[0]) : .multiLineString(lines),
            properties: Schema.tracks.values(
                of: TrackFeature(
                    newest: track.newest, observedFrom: times.first, observedTo: times.last, times: times)))
    }

    /// A pilot report.
    package init(_ report: PilotReport) {
        self.init(id: report.id, geometry: .point(report.place), properties: Schema.pireps.values(of: report))
    }
}
