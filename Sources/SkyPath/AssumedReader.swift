import Geometry
import UpstreamKit
import JSONKit

/// Parses the responses whose format SkyPath does not publish. The members are assumed to have the names that its SDKs
/// use for the same fields.
///
/// Source: docs/upstreams/skypath.md, "Products that are assumed"
struct AssumedReader {
    let limits: SkyPathLimits

    /// Parses a FeatureCollection of Polygons and MultiPolygons. Their properties are `sev`, `altFrom` and `altTo`
    /// (thousands of feet) and `updatedAt`; those of a nowcast also have `ts` and `forecastH`. A record without a
    /// usable area is skipped.
    func areas(_ bytes: [UInt8]) throws(UpstreamError) -> SkyPathReply<SkyPathArea> {
        try reply(bytes, at: ["features"]) { (feature) throws(SkippedRecord) in
            guard let properties = feature["properties"], let geometry = feature["geometry"] else {
                throw SkippedRecord(.unreadable)
            }
            guard let area = Self.area(geometry) else { throw SkippedRecord(.place) }
            return SkyPathArea(
                geometry: area, severity: try Self.severity(properties["sev"]),
                altitudesThousands: try altitudes(properties["altFrom"], properties["altTo"]),
                updatedAt: try time(properties["updatedAt"]), validFrom: try time(properties["ts"]),
                forecastHour: properties["forecastH"]?.integer.flatMap { (0...24).contains($0) ? $0 : nil })
        }
    }

    /// Parses `data.flights`: `id`, `number`, `lon`, `lat`, `altFt`, `hdg`, `spdMs`, `ts`.
    func flights(_ bytes: [UInt8]) throws(UpstreamError) -> SkyPathReply<SkyPathFlight> {
        try reply(bytes, at: ["data", "flights"]) { (flight) throws(SkippedRecord) in
            guard let id = flight["id"]?.string, !id.isEmpty else { throw SkippedRecord(.unreadable) }
            let heading = flight["hdg"]?.number.flatMap { (0...360).contains($0) ? $0 : nil }
            return SkyPathFlight(
                id: id, number: flight["number"]?.string, place: try Self.place(flight),
                altitudeFeet: feet(flight["altFt"]), headingDegrees: heading.map { $0 == 360 ? 0 : $0 },
                speedMetresPerSecond: flight["spdMs"]?.number.flatMap { (0...1_000).contains($0) ? $0 : nil },
                observedAt: try requiredTime(flight["ts"]))
        }
    }

    /// Parses `data.pireps`: `id`, `lon`, `lat`, `altFt`, `sev`, `acType`, `text`, `ts`.
    func pilotReports(_ bytes: [UInt8]) throws(UpstreamError) -> SkyPathReply<SkyPathPilotReport> {
        try reply(bytes, at: ["data", "pireps"]) { (report) throws(SkippedRecord) in
            guard let id = report["id"]?.string, !id.isEmpty else { throw SkippedRecord(.unreadable) }
            let severity = report["sev"]
            return SkyPathPilotReport(
                id: id, place: try Self.place(report), observedAt: try requiredTime(report["ts"]),
                altitudeFeet: feet(report["altFt"]),
                severity: severity == nil || severity == .null ? nil : try Self.severity(severity),
                aircraft: report["acType"]?.string, text: report["text"]?.string ?? "")
        }
    }

    // MARK: Parts

    /// Why a record is skipped.
    private struct SkippedRecord: Error {
        let reason: SkyPathSkipReason

        init(_ reason: SkyPathSkipReason) { self.reason = reason }
    }

    private func reply<Record>(
        _ bytes: [UInt8], at path: [String], _ read: (JSONValue) throws(SkippedRecord) -> Record
    ) throws(UpstreamError) -> SkyPathReply<Record> {
        var tree = JSONValue.null
        do throws(UnreadableResponse) {
            try UnreadableResponse.reading(bytes) { (scanner) throws(JSONScanner.Malformed) in tree = try scanner.tree()
            }
        } catch {
            throw .unreadable(error)
        }
        guard let values = path.reduce(tree, { $0?[$1] })?.array else {
            throw .unreadable(.missing(path.joined(separator: ".")))
        }
        var records: [Record] = []
        var counts = SkyPathCounts()
        for value in values {
            counts.read += 1
            do throws(SkippedRecord) { records.append(try read(value)) } catch { counts.skip(error.reason) }
        }
        return SkyPathReply(records: records, counts: counts)
    }

    private static func area(_ geometry: JSONValue) -> MultiPolygon? {
        let coordinates = geometry["coordinates"]?.array
        let polygons: [JSONValue]? =
            switch geometry["type"]?.string {
            case "Polygon": coordinates.map { [.array($0)] }
            case "MultiPolygon": coordinates
            default: nil
            }
        guard let polygons else { return nil }
        var places: [[[LonLat]]] = []
        for polygon in polygons {
            var rings: [[LonLat]] = []
            for ring in polygon.array ?? [] {
                let positions = ring.array ?? []
                let ring = positions.compactMap { position -> LonLat? in
                    guard let pair = position.array, pair.count >= 2, let longitude = pair[0].number,
                        let latitude = pair[1].number
                    else { return nil }
                    return LonLat(longitude: longitude, latitude: latitude)
                }
                guard ring.count == positions.count else { return nil }
                rings.append(ring)
            }
            places.append(rings)
        }
        return MultiPolygon(rings: places)
    }

    private static func place(_ record: JSONValue) throws(SkippedRecord) -> LonLat {
        guard let longitude = record["lon"]?.number, let latitude = record["lat"]?.number,
            let place = LonLat(longitude: longitude, latitude: latitude)
        else { throw SkippedRecord(.place) }
        return place
    }

    private static func severity(_ value: JSONValue?) throws(SkippedRecord) -> Int {
        guard let severity = value?.integer, (0...4).contains(severity) else { throw SkippedRecord(.severity) }
        return severity
    }

    private func altitudes(_ low: JSONValue?, _ high: JSONValue?) throws(SkippedRecord) -> ClosedRange<Int>? {
        if low ?? .null == .null, high ?? .null == .null { return nil }
        guard let low = low?.integer, let high = high?.integer, low <= high,
            limits.recordAltitudesThousands.contains(low), limits.recordAltitudesThousands.contains(high)
        else { throw SkippedRecord(.altitude) }
        return low...high
    }

    /// The time; nil if it is absent. An impossible time skips the record.
    private func time(_ value: JSONValue?) throws(SkippedRecord) -> Int? {
        guard let value, value != .null else { return nil }
        guard let time = value.integer, limits.observedAt.contains(time) else { throw SkippedRecord(.time) }
        return time
    }

    private func requiredTime(_ value: JSONValue?) throws(SkippedRecord) -> Int {
        guard let time = try time(value) else { throw SkippedRecord(.time) }
        return time
    }

    private func feet(_ value: JSONValue?) -> Int? {
        value?.number.flatMap { Int(exactly: $0.rounded()) }.flatMap { feet in
            (-2_000...limits.recordAltitudesThousands.upperBound * 1_000).contains(feet) ? feet : nil
        }
    }
}
