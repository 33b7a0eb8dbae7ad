import AviationFormats
import Datasets
import Foundation
import JSONKit

/// A format of hazards of which the simulator makes records. The file that makes them declares it of the format. So the
/// simulator needs no list of products: it serves those of the catalogue.
protocol SimulatedFormat: HazardFormat {
    /// The records in the simulated world at a time in Unix seconds.
    static func records(in world: AviationWeatherWorld, at now: Int) -> [AviationWeatherRecord]
}

/// A simulated product of the Aviation Weather Center.
struct AviationWeatherProduct: Sendable, Hashable {
    /// The last part of its path.
    let name: String
    /// The records in the simulated world at a time in Unix seconds.
    let records: @Sendable (AviationWeatherWorld, Int) -> [AviationWeatherRecord]

    /// The products of the catalogue that have a simulated format.
    static let all: [AviationWeatherProduct] =
        [.pilotReports] + Catalogue.hazardProducts.compactMap(AviationWeatherProduct.init)

    static let pilotReports = AviationWeatherProduct(name: Dataset.Origin.aircraftReports.type) {
        $0.pilotReports(at: $1)
    }

    private init(name: String, records: @escaping @Sendable (AviationWeatherWorld, Int) -> [AviationWeatherRecord]) {
        self.name = name
        self.records = records
    }

    /// nil for a product whose format isn't simulated.
    private init?(_ product: HazardProduct) {
        guard let format = product.format as? any SimulatedFormat.Type else { return nil }
        self.init(name: product.endpoint) { format.records(in: $0, at: $1) }
    }

    static func == (a: AviationWeatherProduct, b: AviationWeatherProduct) -> Bool { a.name == b.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A record as in `format=json`. The GeoJSON format is derived from it: other names, other times, no absent keys.
///
/// Source: docs/upstreams/aviationweather.md, "JSON and GeoJSON use different names"
struct AviationWeatherRecord: Sendable {
    var members: [String: JSONValue]

    subscript(_ name: String) -> JSONValue? { members[name] }

    /// The Unix seconds of a time in either format.
    func time(_ name: String) -> Int? {
        switch members[name] {
        case .number(let seconds): Int(exactly: seconds.rounded(.down))
        case .string(let text): Self.seconds(text)
        default: nil
        }
    }

    /// The time when the record was new: the last of its times, except those at which it ends.
    var newest: Int? {
        ["obsTime", "receiptTime", "creationTime", "validTimeFrom", "issueTime", "validTime"].compactMap(time).max()
    }

    /// The record with all its times shifted.
    func moved(by seconds: Int) -> AviationWeatherRecord {
        var moved = self
        for name in Self.times {
            guard let time = time(name) else { continue }
            moved.members[name] = Self.value(time + seconds, like: members[name])
        }
        if let near = time("validTimeTo") {
            for name in Self.bulletins {
                guard let text = members[name]?.string else { continue }
                moved.members[name] = .string(BulletinTimes.moved(in: text, by: seconds, near: near))
            }
        }
        return moved
    }

    // MARK: GeoJSON

    /// Names that differ between the formats of aircraft reports, JSON's first.
    private static let names = [("fltLvl", "fltlvl"), ("fltLvlType", "fltlvlType"), ("pirepType", "airepType")]
    private static let times = [
        "obsTime", "receiptTime", "creationTime", "validTimeFrom", "validTimeTo", "issueTime", "expireTime",
        "validTime",
    ]

    /// The members with the text of a SIGMET.
    private static let bulletins = ["rawAirSigmet", "rawSigmet"]

    /// The Feature of this record.
    var feature: JSONValue {
        var properties = members.filter { name, value in
            switch value {
            case .null, .string(""): false
            default: !["lat", "lon", "coords"].contains(name)
            }
        }
        for (json, geojson) in Self.names {
            if let value = properties.removeValue(forKey: json) { properties[geojson] = value }
        }
        for name in Self.times {
            guard properties[name] != nil, let time = time(name) else { continue }
            properties[name] = .string(Self.text(time))
        }
        return .object(["type": .string("Feature"), "geometry": geometry, "properties": .object(properties)])
    }

    private var geometry: JSONValue {
        guard let corners = members["coords"]?.array else {
            return .object([
                "type": .string("Point"), "coordinates": .array([members["lon"] ?? .null, members["lat"] ?? .null]),
            ])
        }
        let places = corners.map { JSONValue.array([$0["lon"] ?? .null, $0["lat"] ?? .null]) }
        return members["geom"]?.string == "LINE"
            ? .object(["type": .string("LineString"), "coordinates": .array(places)])
            : .object(["type": .string("Polygon"), "coordinates": .array([.array(places)])])
    }

    /// Makes a record from an aircraft report's Feature; nil for another geometry.
    init?(pilotReport feature: JSONValue) {
        guard case .object(var members) = feature["properties"], let place = feature["geometry"]?["coordinates"]?.array,
            place.count >= 2
        else { return nil }
        for (json, geojson) in Self.names {
            if let value = members.removeValue(forKey: geojson) { members[json] = value }
        }
        members["lon"] = place[0]
        members["lat"] = place[1]
        self.init(members: members)
        if let time = time("obsTime") { self.members["obsTime"] = .number(Double(time)) }
    }

    /// Makes a record from a Feature with a Polygon; nil for any other geometry.
    init?(area feature: JSONValue) {
        guard case .object(var members) = feature["properties"],
            let ring = feature["geometry"]?["coordinates"]?.array?.first?.array
        else { return nil }
        members["geom"] = .string("AREA")
        members["coords"] = .array(
            ring.compactMap(\.array).filter { $0.count >= 2 }.map { .object(["lon": $0[0], "lat": $0[1]]) })
        self.init(members: members)
    }

    init(members: [String: JSONValue]) { self.members = members }

    // MARK: Times

    private static func value(_ seconds: Int, like value: JSONValue?) -> JSONValue {
        if case .string = value { .string(text(seconds)) } else { .number(Double(seconds)) }
    }

    /// The service's format, `2026-07-21T19:49:25.000Z`.
    static func text(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds))
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func seconds(_ text: String) -> Int? {
        // Each style accepts only one of the two formats; a failure means the other one.
        let date =
            (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle()))
        return date.map { Int($0.timeIntervalSince1970.rounded(.down)) }
    }
}
