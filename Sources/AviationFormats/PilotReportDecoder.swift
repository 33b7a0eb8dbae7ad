public import Foundation
import JSONKit

/// Parses aircraft reports in all of the service's formats. These are the JSON array, the GeoJSON FeatureCollection
/// (other names, absent keys, ISO times) and the older ADDS CSV (feet).
///
/// ```swift
/// let outcome = try PilotReportDecoder.decode(data)
/// for report in outcome.reports { print(report.text) }
/// for (reason, count) in outcome.refused { print("\(count) × \(reason)") }
/// ```
public enum PilotReportDecoder {
    /// The result of decoding a response.
    public struct Outcome: Sendable {
        /// The valid reports.
        public var reports: [AircraftReport] = []
        /// The number of invalid records, by `ReportError.code`.
        public var refused: [ReportError.Code: Int] = [:]
        /// Words outside the documented lists, as `field: word`, in valid reports.
        public var unknownWords: [String: Int] = [:]

        init() {}

        mutating func add(_ result: Result<AircraftReport, ReportError>) {
            switch result {
            case .success(let report):
                reports.append(report)
                for word in report.unknownWords { unknownWords[word, default: 0] += 1 }
            case .failure(let error): refused[error.code, default: 0] += 1
            }
        }
    }

    /// Decodes a whole response; the first character decides the format. An empty body (status 204) is an empty list.
    ///
    /// - Throws: if the document can't be parsed; single invalid records are counted instead.
    public static func decode(_ data: Data) throws(DocumentError) -> Outcome {
        var outcome = Outcome()
        switch WireDocument.firstByte(of: data) {
        case nil: break
        case UInt8(ascii: "<"): throw .html
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            for record in try WireDocument.records(AircraftReport.self, in: data) { outcome.add(record) }
        default:
            try decodeADDS(String(decoding: data, as: UTF8.self), into: &outcome)
        }
        return outcome
    }

    /// Decodes one record: an object of the JSON array, or one Feature.
    package static func report(json data: Data) throws(ReportError) -> AircraftReport {
        try WireDocument.record(AircraftReport.self, json: data)
    }
}

extension AircraftReport: WireReadable {
    init(wire: WireRecord) throws(ReportError) {
        // Reports from the ground (METAR) also have a place, a time and a text. They must not become aircraft reports
        // without turbulence.
        let own = ["pirepType", "airepType", "acType", "fltLvl", "fltlvl", "fltLvlType", "fltlvlType", "tbInt1"]
        guard own.contains(where: wire.has) else { throw .notAReport }
        let place = try wire.point()
        guard let text = wire.text("rawOb") else { throw .missing(field: "rawOb") }
        guard let observedAt = try wire.time("obsTime") else { throw .missing(field: "obsTime") }
        var fields = ReportFields(
            observedAtSeconds: try ReportFields.seconds("obsTime", observedAt.timeIntervalSince1970.rounded(.down)),
            longitude: place.longitude, latitude: place.latitude, text: text)
        fields.receivedAt = wire.lenientTime("receiptTime")
        fields.kind = wire.text("pirepType") ?? wire.text("airepType")
        fields.office = wire.text("icaoId")
        fields.aircraft = wire.text("acType")
        fields.aircraftName = wire.text("aircraft")
        fields.levelFeet = try wire.hundredsOfFeet(wire.has("fltLvl") ? "fltLvl" : "fltlvl")
        fields.levelKind = wire.text("fltLvlType") ?? wire.text("fltlvlType")
        fields.temperatureCelsius = wire.lenientNumber("temp")
        fields.windDirectionDegrees = wire.lenientNumber("wdir")
        fields.windSpeedKnots = wire.lenientNumber("wspd")
        fields.weather = wire.text("wxString")
        fields.qualityFlags = wire.lenientNumber("qcField").flatMap { Int(exactly: $0) } ?? 0
        fields.clouds = wire.clouds()
        for group in ["1", "2"] {
            if let layer = try wire.turbulence(group) { fields.turbulence.append(layer) }
            if let layer = wire.icing(group) { fields.icing.append(layer) }
        }
        self = try fields.report()
    }
}

extension WireRecord {
    fileprivate func turbulence(_ group: String) throws(ReportError) -> TurbulenceLayer? {
        let layer = TurbulenceLayer(
            intensity: text("tbInt" + group).map(TurbulenceIntensity.init(rawValue:)),
            type: text("tbType" + group).map(TurbulenceType.init(rawValue:)),
            frequency: text("tbFreq" + group).map(TurbulenceFrequency.init(rawValue:)),
            baseFeet: try hundredsOfFeet("tbBas" + group), topFeet: try hundredsOfFeet("tbTop" + group))
        return layer.isEmpty ? nil : layer
    }

    /// An icing layer. Values that can't be parsed don't invalidate the report.
    fileprivate func icing(_ group: String) -> IcingLayer? {
        let layer = IcingLayer(
            intensity: text("icgInt" + group).map(IcingIntensity.init(rawValue:)),
            type: text("icgType" + group).map(IcingType.init(rawValue:)),
            baseFeet: try? hundredsOfFeet("icgBas" + group), topFeet: try? hundredsOfFeet("icgTop" + group))
        return layer.isEmpty ? nil : layer
    }

    /// The cloud layers. Their heights are feet in every format.
    fileprivate func clouds() -> [CloudLayer] {
        // Heights that can't be parsed don't invalidate the report.
        func feet(_ value: JSONValue?) -> Int? {
            value?.number.flatMap { try? ReportFields.feet("clouds", $0, unit: 1) }
        }
        return (value("clouds")?.array ?? []).map { layer in
            CloudLayer(
                cover: layer["cover"]?.string ?? "", baseFeet: feet(layer["base"]), topFeet: feet(layer["top"]))
        }
    }
}

extension TurbulenceLayer {
    var isEmpty: Bool { intensity == nil && type == nil && frequency == nil && baseFeet == nil && topFeet == nil }
}

extension IcingLayer {
    var isEmpty: Bool { intensity == nil && type == nil && baseFeet == nil && topFeet == nil }
}
