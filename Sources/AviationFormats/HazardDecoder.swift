public import Foundation
import JSONKit

/// Parses the records of some products, such as G-AIRMETs and SIGMETs, in all formats: the service's JSON array and
/// GeoJSON FeatureCollection. They have today's units, or those from before September 2025. An archive has GeoJSON of
/// the service's responses, about one per hour.
///
/// Source: Data API, schema 4.0, https://aviationweather.gov/data/api/; the archive:
/// https://github.com/louisadamian/sigmet-geojson
public struct HazardDecoder: Sendable {
    /// The products whose records it parses; a record of any other product is refused.
    public let products: [HazardProduct]
    /// Members by which a record is recognised as a hazard.
    public let marks: Set<String>

    /// Makes a decoder of some products.
    public init(of products: [HazardProduct]) {
        self.products = products
        marks = Set(products.flatMap { $0.format.marks })
    }

    /// The result of decoding a response.
    public struct Outcome: Sendable {
        /// The valid reports.
        public var reports: [HazardReport] = []
        /// The number of invalid records, by `ReportError.code`.
        public var refused: [ReportError.Code: Int] = [:]

        /// The number of invalid records that should have been areas. Lines, such as freezing levels, are excluded: no
        /// area is missing because of them.
        public var unreadable: [ReportError.Code: Int] { refused.filter { !$0.key.isHarmless } }

        /// The number of records, valid or not.
        public var count: Int { refused.values.reduce(reports.count, +) }
    }

    /// Decodes a whole response. An empty body (status 204) is an empty list.
    ///
    /// - Throws: if the document can't be parsed; single invalid records are counted instead.
    public func decode(_ data: Data) throws(DocumentError) -> Outcome {
        var outcome = Outcome()
        switch WireDocument.firstByte(of: data) {
        case nil: break
        case UInt8(ascii: "<"): throw .html
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            for record in try WireDocument.records(HazardReport.self, in: data, of: products) {
                switch record {
                case .success(let report): outcome.reports.append(report)
                case .failure(let error): outcome.refused[error.code, default: 0] += 1
                }
            }
        default: throw .unknownForm
        }
        return outcome
    }

    /// Decodes one record: an object of the JSON array, or one Feature.
    package func report(json data: Data) throws(ReportError) -> HazardReport {
        try WireDocument.record(HazardReport.self, json: data, of: products)
    }
}

extension HazardReport: WireReadable {
    init(wire: WireRecord) throws(ReportError) {
        guard let product = wire.products.first(where: { $0.format.matches(wire) }) else { throw .notAReport }
        self = try product.format.report(wire)
    }
}

extension HazardProduct {
    /// G-AIRMET: forecasts of the coming hours over the contiguous US.
    public static let gairmet = HazardProduct("gairmet", endpoint: "gairmet", format: GairmetFormat.self)
    /// Domestic SIGMET of the US.
    public static let sigmet = HazardProduct("sigmet", endpoint: "airsigmet", format: SigmetFormat.self)
    /// International SIGMET, world-wide.
    public static let isigmet = HazardProduct("isigmet", endpoint: "isigmet", format: InternationalSigmetFormat.self)
}

/// The format of G-AIRMETs.
package enum GairmetFormat: HazardFormat {
    package static let marks = ["forecastHour"]
    package static func report(_ record: WireRecord) throws(ReportError) -> HazardReport { try record.gairmet() }
}

/// The format of domestic SIGMETs.
package enum SigmetFormat: HazardFormat {
    package static let marks = ["airSigmetType", "rawAirSigmet"]
    /// G-AIRMETs of an archive also have `rawAirSigmet`.
    package static func matches(_ record: WireRecord) -> Bool {
        marks.contains(where: record.has) && !GairmetFormat.matches(record)
    }
    package static func report(_ record: WireRecord) throws(ReportError) -> HazardReport { try record.sigmet() }
}

/// The format of international SIGMETs.
package enum InternationalSigmetFormat: HazardFormat {
    package static let marks = ["firId", "rawSigmet"]
    package static func report(_ record: WireRecord) throws(ReportError) -> HazardReport {
        try record.internationalSigmet()
    }
}

// MARK: - The products

extension WireRecord {
    /// The validity of an hour's forecast, as the next one is three hours later.
    private static let pictureSeconds: TimeInterval = 3 * 3_600
    /// A longer validity must be an error: SIGMETs of cyclones and ash have six hours.
    private static let longestValidity: TimeInterval = 3 * 86_400

    fileprivate func gairmet() throws(ReportError) -> HazardReport {
        guard let hazard = text("hazard") else { throw .missing(field: "hazard") }
        let (outlines, dropped) = try outlines(shape: text("geom") ?? text("geometryType"))
        // The archive names the forecast hour `validTimeTo`, and the issue `validTimeFrom`.
        let isArchived = !has("validTime")
        let hour = isArchived ? "validTimeTo" : "validTime"
        guard let validFrom = try looseTime(hour) else { throw .missing(field: hour) }
        var report = HazardReport(
            product: .gairmet, series: [hazard, text("tag")].compactMap { $0 }.joined(separator: " "),
            validFrom: validFrom, validTo: validFrom.addingTimeInterval(Self.pictureSeconds), outlines: outlines,
            droppedCorners: dropped)
        report.isArchived = isArchived
        report.hazard = hazard
        report.intensity = text("severity")
        (report.baseFeet, report.topFeet) = try band(base: height("base"), top: height("top"))
        report.issuedAt = lenientLooseTime(isArchived ? "validTimeFrom" : "issueTime")
        report.forecastHour = lenientNumber("forecastHour").flatMap { Int(exactly: $0) }
        report.status = text("status")
        report.text = text("due_to") ?? text("rawAirSigmet")
        return report
    }

    fileprivate func sigmet() throws(ReportError) -> HazardReport {
        let bulletin = SigmetText(text("rawAirSigmet") ?? "")
        if bulletin.saysNone { throw .noHazard }
        let (outlines, dropped) = try outlines(shape: nil)
        let office = text("icaoId") ?? text("airportIcao")
        guard let validTo = try looseTime("validTimeTo") else { throw .missing(field: "validTimeTo") }
        let header = bulletin.issuedAt(before: validTo)
        guard let validFrom = try looseTime("validTimeFrom") ?? header else { throw .missing(field: "validTimeFrom") }
        try check(validFrom, validTo)
        guard let series = bulletin.series ?? text("seriesId") ?? text("alphaChar") else {
            throw .missing(field: "seriesId")
        }
        var report = HazardReport(
            product: .sigmet, series: series, validFrom: validFrom, validTo: validTo, outlines: outlines,
            droppedCorners: dropped)
        report.isArchived = has("airportIcao")
        report.office = office
        report.hazard = text("hazard")
        report.intensity = text("qualifier") ?? bulletin.intensity
        // The lower limit is in one of two members. The upper limit is in either or both, with the higher value in the
        // second.
        let lows = [try feet("altitudeLow1"), try feet("altitudeLow2")].compactMap { $0 }
        let highs = [try feet("altitudeHi1"), try feet("altitudeHi2")].compactMap { $0 }
        (report.baseFeet, report.topFeet) = try band(base: lows.min(), top: highs.max())
        report.issuedAt = lenientLooseTime("creationTime") ?? header
        report.text = bulletin.body
        return report
    }

    fileprivate func internationalSigmet() throws(ReportError) -> HazardReport {
        let bulletin = SigmetText(text("rawSigmet") ?? "")
        let (outlines, dropped) = try outlines(shape: text("geom"))
        guard let validFrom = try looseTime("validTimeFrom") else { throw .missing(field: "validTimeFrom") }
        guard let validTo = try looseTime("validTimeTo") else { throw .missing(field: "validTimeTo") }
        try check(validFrom, validTo)
        guard let region = text("firId") ?? text("icaoId") else { throw .missing(field: "firId") }
        guard let series = text("seriesId") else { throw .missing(field: "seriesId") }
        var report = HazardReport(
            product: .isigmet, series: "\(region) \(series)", validFrom: validFrom, validTo: validTo,
            outlines: outlines, droppedCorners: dropped)
        report.office = text("icaoId")
        report.hazard = text("hazard")
        report.intensity = text("qualifier")
        (report.baseFeet, report.topFeet) = try band(base: feet("base"), top: feet("top"))
        report.issuedAt = bulletin.issuedAt(before: validTo) ?? lenientLooseTime("receiptTime")
        report.status = text("chng")
        report.text = bulletin.body
        return report
    }

    func check(_ validFrom: Date, _ validTo: Date) throws(ReportError) {
        let seconds = validTo.timeIntervalSince(validFrom)
        guard seconds > 0, seconds <= Self.longestValidity else {
            throw .invalid(
                "validTimeTo", validTo.formatted(.iso8601), "after \(validFrom.formatted(.iso8601)), by 3 days at most")
        }
    }

    // MARK: - Heights

    func band(base: Int?, top: Int?) throws(ReportError) -> (Int?, Int?) {
        if let base, let top, base > top { throw .invalid("base", "\(base)", "at most the top, \(top)") }
        return (base, top)
    }

    /// A limit of a G-AIRMET in feet. The unit is hundreds of feet since September 2025, and was feet before. No level
    /// is below 10 in the former, nor below 1,000 in the latter. `FZL`, the freezing level, is not a number of feet.
    func height(_ name: String) throws(ReportError) -> Int? {
        if text(name) == "FZL" { return nil }
        if text(name) == "SFC" { return 0 }
        guard let value = try number(name) else { return nil }
        return try ReportFields.feet(name, value, unit: value < 1_000 ? 100 : 1)
    }

    func feet(_ name: String) throws(ReportError) -> Int? {
        if text(name) == "SFC" { return 0 }
        return try number(name).map { value throws(ReportError) in try ReportFields.feet(name, value, unit: 1) }
    }

    // MARK: - Times

    /// A time in the archive's format: the first of an array, without seconds and zone (it is UTC).
    func looseTime(_ name: String) throws(ReportError) -> Date? {
        let texts = value(name)?.array.map { $0.first?.string ?? "" }
        guard var text = texts ?? self.text(name), Double(text) == nil else {
            return try time(name)
        }
        if text.isEmpty { return nil }
        if text.count == "2025-12-19T02:18".count { text += ":00" }
        guard let date = ReportFields.date(text) ?? ReportFields.date(text + "Z") else {
            throw .invalid(name, text, "ISO 8601, or Unix seconds")
        }
        return Date(
            timeIntervalSince1970: TimeInterval(
                try ReportFields.seconds(name, date.timeIntervalSince1970.rounded(.down))))
    }

    func lenientLooseTime(_ name: String) -> Date? { (try? looseTime(name)) ?? nil }

    // MARK: - Outlines

    /// The outlines, and the number of corners without coordinates.
    ///
    /// - Parameter shape: the shape's name in the JSON format: `AREA`, `AREAS`, `LINE`.
    func outlines(shape: String?) throws(ReportError) -> ([[HazardPosition]], dropped: Int) {
        let rings: [[WireCorner]]
        if isFeature {
            guard let geometry, let type = geometry["type"]?.string else { throw .missing(field: "geometry") }
            let coordinates = geometry["coordinates"]?.array ?? []
            switch type {
            case "Polygon": rings = WireCorner.rings(coordinates.prefix(1))
            case "MultiPolygon": rings = WireCorner.rings(coordinates.compactMap { $0.array?.first })
            default: throw .notAnArea(type)
            }
        } else {
            if shape == "LINE" { throw .notAnArea("LINE") }
            let coordinates = value("coords")?.array ?? []
            rings = WireCorner.ring(coordinates).map { [$0] } ?? WireCorner.rings(coordinates)
        }
        guard !rings.isEmpty else { throw .missing(field: isFeature ? "coordinates" : "coords") }
        var outlines: [[HazardPosition]] = []
        var dropped = 0
        for ring in rings {
            let places = ring.compactMap(\.place)
            for place in places where abs(place.longitude) > 360 || abs(place.latitude) > 90 {
                throw .invalid("coords", "\(place.longitude) \(place.latitude)", "longitude and latitude in degrees")
            }
            guard Set(places).count >= 3 else {
                throw .invalid("coords", "\(Set(places).count) places", "at least 3 different ones")
            }
            dropped += ring.count - places.count
            outlines.append(places)
        }
        return (outlines, dropped)
    }
}

/// A corner in any format: `{"lat": 46.55, "lon": "-95.03"}` or `["-95.03", 46.55]`, with numbers or texts.
private struct WireCorner {
    /// nil if a number is missing or invalid.
    let place: HazardPosition?

    /// The corner of a value; nil if the value is no corner, such as a list of corners.
    init?(_ value: JSONValue) {
        let pair: (longitude: JSONValue?, latitude: JSONValue?)
        switch value {
        case .array(let list) where list.count >= 2: pair = (list[0], list[1])
        case .object: pair = (value["lon"], value["lat"])
        default: return nil
        }
        guard Self.isNumber(pair.longitude), Self.isNumber(pair.latitude) else { return nil }
        if let longitude = Self.number(pair.longitude), let latitude = Self.number(pair.latitude) {
            place = HazardPosition(longitude: longitude, latitude: latitude)
        } else {
            place = nil
        }
    }

    /// The corners of a ring; nil if a value is no corner, or without corners.
    static func ring(_ values: [JSONValue]) -> [WireCorner]? {
        let corners = values.compactMap { WireCorner($0) }
        return corners.count == values.count && !corners.isEmpty ? corners : nil
    }

    /// The rings of a list; none if one of them isn't a ring.
    static func rings(_ values: some Sequence<JSONValue>) -> [[WireCorner]] {
        var rings: [[WireCorner]] = []
        for value in values {
            guard let ring = ring(value.array ?? []) else { return [] }
            rings.append(ring)
        }
        return rings
    }

    /// Whether a value can be a number: a number, a text, null, or absent.
    private static func isNumber(_ value: JSONValue?) -> Bool {
        switch value {
        case nil, .null, .number, .string: true
        case .bool, .array, .object: false
        }
    }

    private static func number(_ value: JSONValue?) -> Double? {
        (value?.number ?? value?.string.flatMap { Double($0) }).flatMap { $0.isFinite ? $0 : nil }
    }
}

extension HazardReport {
    /// Makes a report with its mandatory parts; all other parts are nil.
    init(
        product: HazardProduct, series: String, validFrom: Date, validTo: Date, outlines: [[HazardPosition]],
        droppedCorners: Int
    ) {
        self.product = product
        self.series = series
        self.validFrom = validFrom
        self.validTo = validTo
        self.outlines = outlines
        self.droppedCorners = droppedCorners
        isArchived = false
    }
}
