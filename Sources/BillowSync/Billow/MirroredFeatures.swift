import AviationFormats
import Datasets
import Geometry
import JSONKit
import Turbulence

/// Why a feature of a mirrored server can't be used. The raw value is the text for people.
package enum MirroredFeatureProblem: String, Sendable, Hashable, Error {
    case tooLarge = "feature too large"
    case withoutID = "feature without a usable id"
    case repeated = "the same feature twice"
    case source = "source's name too long here, or none"
    case place = "feature without a usable place"
    case altitude = "feature without a usable altitude"
    case intensity = "feature without a usable intensity"
    case time = "feature without a usable time"
    case unreadable = "feature can't be read"
}

/// The features of a response for a mirror, as the log stores them, under the sources' names of the server.
struct MirroredFeatures: Sendable {
    private(set) var observations: [Observation] = []
    private(set) var reports: [PilotReport] = []
    private(set) var areas: [IssuedArea] = []
    /// The ids of all features, as far as they could be read.
    private(set) var ids: Set<String> = []
    private(set) var problems: [MirroredFeatureProblem: Int] = [:]
    /// The sources of the server whose newer values supersede older ones.
    var computed: Set<String> = []

    private let dataset: Dataset
    /// The identities of features whose id occurred before, from another source.
    private var repeated: Set<[String]> = []
    private var firstSources: [String: String] = [:]

    /// The most bytes of one feature, which is parsed as a tree.
    static let longestFeature = 8 << 20
    /// The longest id and the longest short text in bytes, as in imports.
    private static let longestText = 256

    init(of dataset: Dataset) { self.dataset = dataset }

    var count: Int { observations.count + reports.count + areas.count }

    /// The server's names of the features' sources.
    var sources: Set<String> {
        Set(observations.map(\.source.name) + reports.map(\.source.name) + areas.map(\.source.name))
    }

    /// Reads a feature of the array. A feature that can't be used is counted and costs no other.
    mutating func add(_ scanner: inout JSONScanner) throws(JSONScanner.Malformed) {
        var ahead = scanner
        try ahead.skipValue()
        guard ahead.position - scanner.position <= Self.longestFeature else {
            scanner = ahead
            problems[.tooLarge, default: 0] += 1
            return
        }
        let feature = try scanner.tree()
        do throws(MirroredFeatureProblem) { try add(feature) } catch { problems[error, default: 0] += 1 }
    }

    private mutating func add(_ feature: JSONValue) throws(MirroredFeatureProblem) {
        guard let id = feature["id"]?.string, (1...Self.longestText).contains(id.utf8.count) else { throw .withoutID }
        ids.insert(id)
        let values = Values(feature["properties"] ?? .null)
        guard let source = values.text("source").flatMap({ SourceID($0) }) else { throw .source }
        if let first = firstSources[id] {
            // Two sources may have features with one id. The later of two from one source counts as damage.
            guard first != source.name, repeated.insert([source.name, id]).inserted else { throw .repeated }
        } else {
            firstSources[id] = source.name
        }
        switch dataset.content {
        case .history(.reports): reports.append(try values.report(id, feature["geometry"], source))
        case .areas(let collection): areas.append(try values.area(id, feature["geometry"], source, collection))
        default: observations.append(try values.observation(id, source))
        }
    }
}

/// The properties of a feature.
private struct Values {
    private let properties: JSONValue

    init(_ properties: JSONValue) { self.properties = properties }

    /// nil if it is absent.
    func text(_ name: String) -> String? { properties[name]?.string }

    private func shortText(_ name: String) throws(MirroredFeatureProblem) -> String? {
        guard let value = properties[name], value != .null else { return nil }
        guard let text = value.string, text.utf8.count <= 256 else { throw .unreadable }
        return text
    }

    /// nil if it is absent; feet beyond any flight are an error.
    private func feet(_ name: String) throws(MirroredFeatureProblem) -> Int? {
        guard let value = properties[name], value != .null else { return nil }
        guard let feet = value.integer, (-2_000...1_000_000).contains(feet) else { throw .altitude }
        return feet
    }

    private func instant(_ name: String) throws(MirroredFeatureProblem) -> Instant? {
        guard let value = properties[name], value != .null else { return nil }
        guard let instant = value.string.flatMap({ Instant($0) }) else { throw .time }
        return instant
    }

    private func severity() throws(MirroredFeatureProblem) -> Severity? {
        guard let value = properties["severity"], value != .null else { return nil }
        guard let number = value.integer, let severity = UInt8(exactly: number).flatMap(Severity.init(rawValue:)) else {
            throw .intensity
        }
        return severity
    }

    // MARK: Observations

    func observation(_ id: String, _ source: SourceID) throws(MirroredFeatureProblem) -> Observation {
        guard let cell = text("h3").flatMap({ Cell(h3String: $0) }) else { throw .place }
        guard let lowest = try block("altitudeMin"), let highest = try block("altitudeMax"),
            let altitude = AltitudeBand(lowest: lowest, highest: highest)
        else { throw .altitude }
        guard let observedAt = try instant("observedAt") else { throw .time }
        var category: AircraftCategory?
        if let name = try shortText("category") {
            guard let known = AircraftCategory(name) else { throw .unreadable }
            category = known
        }
        // Superseding observations have a kind that requests can't name.
        guard let kind = ObservationKind.allCases.first(where: { $0.name == text("kind") }) else { throw .unreadable }
        return Observation(
            id: id, cell: cell, altitude: altitude, intensity: try intensity(), observedAt: observedAt,
            category: category, source: source, kind: kind, aircraft: try shortText("aircraft"))
    }

    private func block(_ name: String) throws(MirroredFeatureProblem) -> AltitudeBlock? {
        try feet(name).flatMap { $0 % 1_000 == 0 ? AltitudeBlock(thousands: $0 / 1_000) : nil }
    }

    private func intensity() throws(MirroredFeatureProblem) -> Intensity {
        var edr: EDR?
        if let value = properties["edr"], value != .null {
            guard let known = value.number.flatMap({ EDR($0) }) else { throw .intensity }
            edr = known
        }
        // A severity that was derived from the EDR is derived here again, with this server's table.
        if let edr, text("severityBasis") == SeverityBasis.edr.rawValue { return .measured(edr) }
        guard let severity = try severity() else { throw .intensity }
        return .reported(severity, edr: edr)
    }

    // MARK: Pilot reports

    func report(_ id: String, _ geometry: JSONValue?, _ source: SourceID) throws(MirroredFeatureProblem)
        -> PilotReport
    {
        guard geometry?["type"]?.string == "Point", let place = geometry?["coordinates"].flatMap(Self.place) else {
            throw .place
        }
        guard let observedAt = try instant("observedAt") else { throw .time }
        guard let type = try shortText("type"), let words = text("text") else { throw .unreadable }
        var groups: [TurbulenceGroup] = []
        if let value = properties["turbulence"], value != .null {
            guard let list = value.array, list.count <= 100 else { throw .unreadable }
            for group in list { groups.append(try Self.group(group)) }
        }
        // Some services give a severity without a word for the intensity.
        let given = try severity()
        if given != groups.compactMap(\.severity).max() {
            for index in groups.indices where groups[index].intensity == nil { groups[index].severity = given }
        }
        return PilotReport(
            id: id, place: place, observedAt: observedAt, type: type, aircraft: try shortText("aircraft"),
            altitudeFeet: try feet("altitude"), turbulence: groups, text: words, source: source)
    }

    private static func group(_ value: JSONValue) throws(MirroredFeatureProblem) -> TurbulenceGroup {
        guard case .object = value else { throw .unreadable }
        let values = Values(value)
        let intensity = try values.shortText("intensity")
        return TurbulenceGroup(
            severity: intensity.flatMap { TurbulenceIntensity(rawValue: $0).step }
                .flatMap { Severity(rawValue: UInt8(clamping: $0)) },
            intensity: intensity, baseFeet: try values.feet("base"), topFeet: try values.feet("top"),
            type: try values.shortText("type"), frequency: try values.shortText("frequency"))
    }

    // MARK: Areas

    func area(
        _ id: String, _ geometry: JSONValue?, _ source: SourceID, _ collection: IssuedArea.DatasetNumber
    ) throws(MirroredFeatureProblem) -> IssuedArea {
        guard let named = MirroredAreaID(id), named.source == source.name else { throw .withoutID }
        guard let validFrom = try instant("validFrom"), let validTo = try instant("validTo"), validFrom < validTo,
            validFrom == named.validFrom
        else { throw .time }
        guard let kind = try shortText("kind") else { throw .unreadable }
        var forecastHour: Int?
        if let value = properties["forecastHour"], value != .null {
            guard let hour = value.integer, (0...1_000).contains(hour) else { throw .unreadable }
            forecastHour = hour
        }
        return IssuedArea(
            collection: collection, id: named.area, source: source, kind: kind, hazard: try shortText("hazard"),
            severity: try severity(), altitudeMinFeet: try feet("altitudeMin"),
            altitudeMaxFeet: try feet("altitudeMax"), validFrom: validFrom, validTo: validTo,
            issuedAt: try instant("issuedAt"), forecastHour: forecastHour, status: try shortText("status"),
            text: text("text"), geometry: try Self.polygons(geometry))
    }

    private static func polygons(_ geometry: JSONValue?) throws(MirroredFeatureProblem) -> MultiPolygon {
        guard let coordinates = geometry?["coordinates"]?.array else { throw .place }
        let list: [JSONValue]
        switch geometry?["type"]?.string {
        case "Polygon": list = [.array(coordinates)]
        case "MultiPolygon": list = coordinates
        default: throw .place
        }
        var polygons: [[[LonLat]]] = []
        for polygon in list {
            guard let rings = polygon.array, !rings.isEmpty else { throw .place }
            polygons.append(try rings.map { ring throws(MirroredFeatureProblem) in try Self.ring(ring) })
        }
        guard !polygons.isEmpty else { throw .place }
        return MultiPolygon(polygons: polygons)
    }

    /// A closed ring of at least three corners.
    private static func ring(_ value: JSONValue) throws(MirroredFeatureProblem) -> [LonLat] {
        guard let positions = value.array else { throw .place }
        let places = positions.compactMap(place)
        guard places.count == positions.count, places.count >= 4, places.first == places.last else { throw .place }
        return places
    }

    private static func place(_ value: JSONValue) -> LonLat? {
        guard let pair = value.array, pair.count == 2, let longitude = pair[0].number, let latitude = pair[1].number,
            abs(longitude) <= 180
        else { return nil }
        return LonLat(longitude: longitude, latitude: latitude)
    }
}
