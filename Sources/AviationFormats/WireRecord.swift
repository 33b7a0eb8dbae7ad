import Foundation
import JSONKit

/// A type that can be decoded from a record.
protocol WireReadable: Sendable {
    init(wire: WireRecord) throws(ReportError)
}

/// A record of a response, in either format: an object of the JSON array, or the properties of a Feature with its
/// geometry. Null, the empty text and absence are equivalent.
package struct WireRecord {
    /// The products whose records are expected.
    let products: [HazardProduct]
    private let members: [String: JSONValue]
    /// nil in the JSON format, where the place is among the members.
    let geometry: JSONValue?
    /// Whether it is a Feature, even without a geometry.
    let isFeature: Bool

    init(_ value: JSONValue, of products: [HazardProduct]) throws(ReportError) {
        self.products = products
        guard case .object(let record) = value else { throw .notAReport }
        isFeature = record["geometry"] != nil || record["properties"] != nil
        guard isFeature else {
            members = record
            geometry = nil
            return
        }
        guard case .object(let properties) = record["properties"] else { throw .notAReport }
        members = properties
        // A null geometry counts as missing.
        geometry = record["geometry"]
    }

    /// Whether the member exists, whatever its value.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// The value of a member; nil if it is missing.
    func value(_ name: String) -> JSONValue? { members[name] }

    /// The place of a report: a Point, or `lon` and `lat`.
    func point() throws(ReportError) -> HazardPosition {
        guard isFeature else {
            guard let longitude = try number("lon") else { throw .missing(field: "lon") }
            guard let latitude = try number("lat") else { throw .missing(field: "lat") }
            return HazardPosition(longitude: longitude, latitude: latitude)
        }
        let coordinates = geometry?["coordinates"]?.array ?? []
        guard coordinates.count >= 2, let longitude = coordinates[0].number, let latitude = coordinates[1].number
        else { throw .missing(field: "geometry") }
        return HazardPosition(longitude: longitude, latitude: latitude)
    }

    func text(_ name: String) -> String? {
        // Values of other types are handled by number().
        guard let text = value(name)?.string else { return nil }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// A number, or a text with one: for some heights the schema says text, but the service sends numbers.
    func number(_ name: String) throws(ReportError) -> Double? {
        switch value(name) {
        case nil, .null: return nil
        case .number(let number):
            guard number.isFinite else { throw .invalid(name, "\(number)", "a number") }
            return number
        case .string(let text):
            if text.trimmingCharacters(in: .whitespaces).isEmpty { return nil }
            guard let number = Double(text), number.isFinite else { throw .invalid(name, text, "a number") }
            return number
        case .bool, .array, .object: throw .invalid(name, "another type", "a number")
        }
    }

    /// An optional number; one that can't be parsed doesn't invalidate the record.
    func lenientNumber(_ name: String) -> Double? { (try? number(name)) ?? nil }

    /// A time: Unix seconds or ISO 8601 with a zone.
    func time(_ name: String) throws(ReportError) -> Date? {
        if let text = text(name), Double(text) == nil {
            guard let date = ReportFields.date(text) else {
                throw .invalid(name, text, "ISO 8601 with a zone, or Unix seconds")
            }
            return date
        }
        return try number(name).map { value throws(ReportError) in
            Date(timeIntervalSince1970: TimeInterval(try ReportFields.seconds(name, value)))
        }
    }

    /// An optional time; one that can't be parsed doesn't invalidate the record.
    func lenientTime(_ name: String) -> Date? { (try? time(name)) ?? nil }

    func hundredsOfFeet(_ name: String) throws(ReportError) -> Int? {
        // The service writes `SFC` for the ground.
        if text(name) == "SFC" { return 0 }
        guard let value = try number(name) else { return nil }
        return try ReportFields.feet(name, value, unit: 100)
    }
}

/// Decodes whole responses and single records of any content.
enum WireDocument {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The first byte after white space and a byte order mark.
    static func firstByte(of data: Data) -> UInt8? {
        let blank = Set<UInt8>([0x20, 0x09, 0x0A, 0x0D] + byteOrderMark)
        return data.first { !blank.contains($0) }
    }

    /// The records of a JSON array or a FeatureCollection, each decoded separately, so that an invalid one doesn't
    /// affect others.
    ///
    /// - Throws: if the document can't be parsed, or is the service's error body,
    ///   `{"status": "error", "error": "…"}`.
    /// - Parameter products: the products of hazards that are expected.
    static func records<Value: WireReadable>(
        _ type: Value.Type, in data: Data, of products: [HazardProduct] = []
    ) throws(DocumentError) -> [Result<Value, ReportError>] {
        let document: JSONValue
        do throws(JSONScanner.Malformed) { document = try tree(data) } catch { throw .notJSON(atByte: error.atByte) }
        if let error = document["error"]?.string { throw .service(error) }
        guard let records = document.array ?? document["features"]?.array else { throw .unknownForm }
        return records.map { value in
            Result { () throws(ReportError) in try Value(wire: WireRecord(value, of: products)) }
        }
    }

    /// Decodes one record.
    static func record<Value: WireReadable>(
        _ type: Value.Type, json data: Data, of products: [HazardProduct] = []
    ) throws(ReportError) -> Value {
        let value: JSONValue
        // Any text that isn't JSON isn't a report.
        do { value = try tree(data) } catch { throw .notAReport }
        return try Value(wire: WireRecord(value, of: products))
    }

    private static func tree(_ data: Data) throws(JSONScanner.Malformed) -> JSONValue {
        let bytes = [UInt8](data)
        let start = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        var scanner = JSONScanner(bytes, in: start..<bytes.count)
        let value = try scanner.tree()
        try scanner.expectEnd()
        return value
    }
}
