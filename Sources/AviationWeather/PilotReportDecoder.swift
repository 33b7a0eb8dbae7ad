public import Foundation

/// Reads aircraft reports in each of the forms that the service has given them: the JSON array, the GeoJSON
/// FeatureCollection (other names, absent keys, ISO times) and the older ADDS CSV (feet).
public enum PilotReportDecoder {
    /// What an answer held.
    public struct Outcome: Sendable {
        public var reports: [AircraftReport] = []
        /// Records that couldn't be read, by `ReportError.code`.
        public var refused: [String: Int] = [:]
        /// Words outside the documented lists, as `field: word`, in reports that were read.
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

    /// Reads a whole answer, the form told by its first character. An empty body (status 204) is an empty list.
    ///
    /// - Throws: where nothing of it can be read; a single bad record is counted instead.
    public static func decode(_ data: Data) throws(DocumentError) -> Outcome {
        var outcome = Outcome()
        let blank: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        guard let first = data.first(where: { !blank.contains($0) }) else { return outcome }
        switch first {
        case UInt8(ascii: "["):
            for record in try parse([LenientRecord].self, data) { outcome.add(record.result) }
        case UInt8(ascii: "{"):
            let document = try parse(Document.self, data)
            if let error = document.error { throw .service(error) }
            guard let features = document.features else { throw .unknownForm }
            for record in features { outcome.add(record.result) }
        default:
            try decodeADDS(String(decoding: data, as: UTF8.self), into: &outcome)
        }
        return outcome
    }

    /// Reads one record: an object of the JSON array, or one Feature.
    public static func report(json data: Data) throws(ReportError) -> AircraftReport {
        let record: LenientRecord
        do { record = try JSONDecoder().decode(LenientRecord.self, from: data) } catch { throw .notAReport }
        return try record.result.get()
    }

    private static func parse<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(DocumentError) -> Value {
        do { return try JSONDecoder().decode(type, from: data) } catch DecodingError.typeMismatch {
            throw .unknownForm
        } catch { throw .malformed(String(describing: error)) }
    }

    /// A FeatureCollection, or the error body `{"status": "error", "error": "…"}`.
    private struct Document: Decodable {
        var features: [LenientRecord]?
        var error: String?
    }
}

/// A record that never fails to decode, so that a bad one costs no neighbour.
private struct LenientRecord: Decodable {
    let result: Result<AircraftReport, ReportError>

    init(from decoder: any Decoder) {
        do throws(ReportError) { result = .success(try LenientRecord.report(decoder)) } catch {
            result = .failure(error)
        }
    }

    private static func report(_ decoder: any Decoder) throws(ReportError) -> AircraftReport {
        // Any failure to open a container means the same: this is no record.
        guard let record = try? decoder.container(keyedBy: Key.self) else { throw .notAReport }
        guard record.contains(Key("geometry")) || record.contains(Key("properties")) else {
            let wire = WireRecord(values: record)
            return try wire.fields(
                longitude: wire.requiredNumber("lon"), latitude: wire.requiredNumber("lat")
            ).report()
        }
        guard let properties = try? record.nestedContainer(keyedBy: Key.self, forKey: Key("properties")) else {
            throw .notAReport
        }
        guard let geometry = try? record.decode(Point.self, forKey: Key("geometry")), geometry.coordinates.count >= 2
        else { throw .missing(field: "geometry") }
        return try WireRecord(values: properties).fields(
            longitude: geometry.coordinates[0], latitude: geometry.coordinates[1]
        ).report()
    }

    private struct Point: Decodable { let coordinates: [Double] }
}

private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The keys of one record, of which null, the empty text and absence mean the same.
private struct WireRecord {
    let values: KeyedDecodingContainer<Key>

    func fields(longitude: Double, latitude: Double) throws(ReportError) -> ReportFields {
        // Reports from the ground (METAR) have a place, a time and a text as well, and must not pass for silent aircraft.
        let own = ["pirepType", "airepType", "acType", "fltLvl", "fltlvl", "fltLvlType", "fltlvlType", "tbInt1"]
        guard own.contains(where: { values.contains(Key($0)) }) else { throw .notAReport }
        guard let text = text("rawOb") else { throw .missing(field: "rawOb") }
        var fields = ReportFields(
            observedAtSeconds: try observedAtSeconds(), longitude: longitude, latitude: latitude, text: text)
        fields.receivedAt = self.text("receiptTime").flatMap(ReportFields.date)
        fields.kind = self.text("pirepType") ?? self.text("airepType")
        fields.office = self.text("icaoId")
        fields.aircraft = self.text("acType")
        fields.aircraftName = self.text("aircraft")
        fields.levelFeet = try hundredsOfFeet(values.contains(Key("fltLvl")) ? "fltLvl" : "fltlvl")
        fields.levelKind = self.text("fltLvlType") ?? self.text("fltlvlType")
        fields.temperatureCelsius = lenientNumber("temp")
        fields.windDirectionDegrees = lenientNumber("wdir")
        fields.windSpeedKnots = lenientNumber("wspd")
        fields.weather = self.text("wxString")
        fields.qualityFlags = lenientNumber("qcField").flatMap { Int(exactly: $0) } ?? 0
        fields.clouds = clouds()
        for group in ["1", "2"] {
            if let layer = try turbulence(group) { fields.turbulence.append(layer) }
            if let layer = icing(group) { fields.icing.append(layer) }
        }
        return fields
    }

    func requiredNumber(_ name: String) throws(ReportError) -> Double {
        guard let value = try number(name) else { throw .missing(field: name) }
        return value
    }

    /// Unix seconds in JSON, ISO 8601 in GeoJSON.
    private func observedAtSeconds() throws(ReportError) -> Int {
        if let text = text("obsTime"), Double(text) == nil {
            guard let date = ReportFields.date(text) else {
                throw .invalid("obsTime", text, "ISO 8601 with a zone, or Unix seconds")
            }
            return try ReportFields.seconds("obsTime", date.timeIntervalSince1970.rounded(.down))
        }
        return try ReportFields.seconds("obsTime", requiredNumber("obsTime"))
    }

    private func turbulence(_ group: String) throws(ReportError) -> TurbulenceLayer? {
        let layer = TurbulenceLayer(
            intensity: text("tbInt" + group).map(TurbulenceIntensity.init(rawValue:)),
            type: text("tbType" + group).map(TurbulenceType.init(rawValue:)),
            frequency: text("tbFreq" + group).map(TurbulenceFrequency.init(rawValue:)),
            baseFeet: try hundredsOfFeet("tbBas" + group), topFeet: try hundredsOfFeet("tbTop" + group))
        return layer.isEmpty ? nil : layer
    }

    /// Icing is told along; what can't be read of it costs no report.
    private func icing(_ group: String) -> IcingLayer? {
        let layer = IcingLayer(
            intensity: text("icgInt" + group).map(IcingIntensity.init(rawValue:)),
            type: text("icgType" + group).map(IcingType.init(rawValue:)),
            baseFeet: try? hundredsOfFeet("icgBas" + group), topFeet: try? hundredsOfFeet("icgTop" + group))
        return layer.isEmpty ? nil : layer
    }

    /// Cloud heights are feet in every form.
    private func clouds() -> [CloudLayer] {
        struct Wire: Decodable {
            var cover: String?
            var base: Double?
            var top: Double?
        }
        // Clouds are told along; what can't be read of them costs no report.
        let layers = (try? values.decodeIfPresent([Wire].self, forKey: Key("clouds"))) ?? []
        return layers.map {
            CloudLayer(
                cover: $0.cover ?? "", baseFeet: $0.base.flatMap { try? ReportFields.feet("base", $0, unit: 1) },
                topFeet: $0.top.flatMap { try? ReportFields.feet("top", $0, unit: 1) })
        }
    }

    private func text(_ name: String) -> String? {
        // Another type than text is for number() to judge.
        guard let text = try? values.decodeIfPresent(String.self, forKey: Key(name)) else { return nil }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The schema says text for some heights and the service sends numbers: both are read.
    private func number(_ name: String) throws(ReportError) -> Double? {
        let key = Key(name)
        guard values.contains(key), (try? values.decodeNil(forKey: key)) != true else { return nil }
        if let value = try? values.decode(Double.self, forKey: key) { return value }
        guard let text = try? values.decode(String.self, forKey: key) else {
            throw .invalid(name, "another type", "a number")
        }
        if text.trimmingCharacters(in: .whitespaces).isEmpty { return nil }
        guard let value = Double(text), value.isFinite else { throw .invalid(name, text, "a number") }
        return value
    }

    private func lenientNumber(_ name: String) -> Double? { (try? number(name)) ?? nil }

    private func hundredsOfFeet(_ name: String) throws(ReportError) -> Int? {
        // `SFC` is what the service's other products write for the ground.
        if text(name) == "SFC" { return 0 }
        guard let value = try number(name) else { return nil }
        return try ReportFields.feet(name, value, unit: 100)
    }
}

extension TurbulenceLayer {
    var isEmpty: Bool { intensity == nil && type == nil && frequency == nil && baseFeet == nil && topFeet == nil }
}

extension IcingLayer {
    var isEmpty: Bool { intensity == nil && type == nil && baseFeet == nil && topFeet == nil }
}
