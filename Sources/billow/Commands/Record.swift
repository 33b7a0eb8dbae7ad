import ArgumentParser
import BillowExchange
import Datasets
import Foundation
import Geometry
import OpenSky
import Turbulence
import JSONKit

/// One record of a service's response: named values in order, and a geometry.
struct Record {
    var id: String
    /// nil without a position.
    var geometry: FeatureGeometry?
    var properties: [(name: StaticString, value: PropertyValue?)]
}

/// The output formats of records.
enum RecordFormat: String, ExpressibleByArgument, CaseIterable {
    /// Aligned columns with headings. On a terminal the headings are underlined and lines are truncated to its width.
    case table
    /// An array of objects.
    case json
    /// A FeatureCollection of the records with a position.
    case geojson

    func text(_ records: [Record]) throws -> [UInt8] {
        switch self {
        case .table:
            let table = Table(records)
            return Array(table.text(width: Terminal.width, isDecorated: Terminal.width != nil).utf8)
        case .json: return Self.json(records)
        case .geojson: return try Self.features(records)
        }
    }

    private static func json(_ records: [Record]) -> [UInt8] {
        var json = JSONWriter()
        json.openArray()
        for record in records {
            json.openObject()
            for (name, value) in record.properties {
                json.name(name)
                if let value { json.value(value) } else { json.null() }
            }
            json.closeObject()
        }
        json.closeArray()
        return json.bytes + [0x0A]
    }

    private static func features(_ records: [Record]) throws -> [UInt8] {
        let placed = records.compactMap { record in
            record.geometry.map { geometry in
                let properties = record.properties.compactMap { name, value in value.map { (name: name, value: $0) } }
                return Feature(id: record.id, geometry: geometry, properties: properties)
            }
        }
        guard !placed.isEmpty || records.isEmpty else {
            throw Failure(.usage, "these records have no position: use --format table or json")
        }
        if placed.count < records.count {
            Terminal.write("\(records.count - placed.count) without a position left out")
        }
        var writer = FeatureWriter(.traffic, as: .geojson)
        writer.begin()
        for feature in placed { writer.write(feature) }
        writer.end()
        return writer.bytes
    }
}

/// Records as aligned columns: numbers to the right, everything else to the left.
struct Table {
    private struct Cell {
        var text: String
        var isNumber: Bool
    }

    private let names: [String]
    private let rows: [[Cell]]

    init(_ records: [Record]) {
        names = records.first?.properties.map { $0.name.description } ?? []
        rows = records.map { record in record.properties.map { Self.cell($0.value) } }
    }

    /// - Parameter width: the columns of the terminal; nil truncates nothing.
    func text(width: Int?, isDecorated: Bool) -> String {
        guard !names.isEmpty else { return "" }
        let widths = names.indices.map { column in
            rows.reduce(names[column].count) { max($0, $1[column].text.count) }
        }
        let isNumber = names.indices.map { column in rows.contains { $0[column].isNumber } }
        func line(_ texts: [String]) -> String {
            let padded = texts.indices.map { column in
                let blanks = String(repeating: " ", count: max(0, widths[column] - texts[column].count))
                return isNumber[column] ? blanks + texts[column] : texts[column] + blanks
            }
            var line = padded.joined(separator: "  ")
            if let width { line = String(line.prefix(width)) }
            while line.last == " " { line.removeLast() }
            return line
        }
        let header = line(names)
        let lines = [isDecorated ? "\u{1B}[4m\(header)\u{1B}[0m" : header] + rows.map { line($0.map(\.text)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func cell(_ value: PropertyValue?) -> Cell {
        switch value {
        // Text from the network must not contain terminal control sequences.
        case .text(let text):
            Cell(text: text.printable, isNumber: false)
        case .integer(let number): Cell(text: "\(number)", isNumber: true)
        case .decimal(let number, let decimals): Cell(text: String(format: "%.\(decimals)f", number), isNumber: true)
        case .flag(let flag): Cell(text: flag ? "yes" : "no", isNumber: false)
        case .instant(let instant): Cell(text: instant.description, isNumber: false)
        case .instants(let instants): Cell(text: "\(instants.count) times", isNumber: false)
        case .groups(let groups): Cell(text: "\(groups.count) groups", isNumber: false)
        case nil: Cell(text: "", isNumber: false)
        }
    }
}

extension Terminal {
    /// The columns of standard output; nil if it is not a terminal.
    static var width: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

// MARK: - Records of OpenSky

extension Record {
    init(_ vector: StateVector) {
        self.init(
            id: vector.address.description, geometry: Self.point(vector.longitude, vector.latitude),
            properties: [
                ("icao24", .text(vector.address.description)), ("callsign", vector.callsign.map { .text($0) }),
                ("country", vector.originCountry.map { .text($0) }),
                ("longitude", vector.longitude.map { .decimal($0, decimals: 4) }),
                ("latitude", vector.latitude.map { .decimal($0, decimals: 4) }),
                ("altitude", Self.feet(vector.barometricAltitude)),
                ("geometricAltitude", Self.feet(vector.geometricAltitude)),
                ("groundSpeed", vector.groundSpeed.map { .decimal($0.knots, decimals: 1) }),
                ("heading", vector.trackDegrees.map { .decimal($0, decimals: 1) }),
                (
                    "verticalRate",
                    vector.verticalRate.flatMap { Int(exactly: $0.feetPerMinute.rounded()) }.map { .integer($0) }
                ),
                ("onGround", .flag(vector.isOnGround)), ("squawk", vector.squawk.map { .text($0) }),
                ("positionSource", .text(vector.positionSource.description)),
                ("category", vector.category.map { .text($0.description) }),
                ("observedAt", vector.positionTime.map { .instant(Instant($0)) }),
                ("lastContact", .instant(Instant(vector.lastContact))),
            ])
    }

    init(_ flight: Flight) {
        self.init(
            id: "\(flight.address)-\(Int(flight.firstSeen.timeIntervalSince1970))", geometry: nil,
            properties: [
                ("icao24", .text(flight.address.description)), ("callsign", flight.callsign.map { .text($0) }),
                ("departure", flight.departure.map { .text($0.code) }),
                ("firstSeen", .instant(Instant(flight.firstSeen))),
                ("arrival", flight.arrival.map { .text($0.code) }),
                ("lastSeen", .instant(Instant(flight.lastSeen))),
            ])
    }

    init(_ waypoint: OpenSky.Track.Waypoint, of track: OpenSky.Track) {
        self.init(
            id: track.address.description, geometry: Self.point(waypoint.longitude, waypoint.latitude),
            properties: [
                ("time", .instant(Instant(waypoint.time))),
                ("longitude", waypoint.longitude.map { .decimal($0, decimals: 4) }),
                ("latitude", waypoint.latitude.map { .decimal($0, decimals: 4) }),
                ("altitude", Self.feet(waypoint.barometricAltitude)),
                ("heading", waypoint.trackDegrees.map { .decimal($0, decimals: 0) }),
                ("onGround", .flag(waypoint.isOnGround)),
            ])
    }

    /// The line of a track; nil if it has fewer than two distinct points.
    init?(_ track: OpenSky.Track, source: SourceID) {
        guard let aircraft = ICAO24(rawValue: track.address.value) else { return nil }
        let positions = track.path.compactMap { waypoint -> AircraftPosition? in
            guard let longitude = waypoint.longitude, let latitude = waypoint.latitude,
                let place = LonLat(longitude: longitude, latitude: latitude)
            else { return nil }
            return AircraftPosition(
                icao24: aircraft, callsign: track.callsign, place: place, source: source,
                observedAt: Instant(waypoint.time))
        }
        guard let line = AircraftTrack(positions) else { return nil }
        let feature = Feature(line)
        self.init(
            id: feature.id, geometry: feature.geometry, properties: feature.properties.map { ($0.name, $0.value) })
    }

    private static func point(_ longitude: Double?, _ latitude: Double?) -> FeatureGeometry? {
        guard let longitude, let latitude else { return nil }
        return LonLat(longitude: longitude, latitude: latitude).map { .point($0) }
    }

    private static func feet(_ length: Length?) -> PropertyValue? {
        length.flatMap { Int(exactly: $0.feet.rounded()) }.map { .integer($0) }
    }
}
