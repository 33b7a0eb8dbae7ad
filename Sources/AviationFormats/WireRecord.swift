import Foundation
import JSONKit

/// The name of a member of a record.
struct WireKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A type that can be decoded from a record.
protocol WireReadable: Sendable {
    init(wire: WireRecord) throws(ReportError)
}

/// A record of a response, in either format: an object of the JSON array, or the properties of a Feature with its
/// geometry. Null, the empty text and absence are equivalent.
package struct WireRecord {
    /// The products whose records are expected.
    let products: [HazardProduct]
    let values: KeyedDecodingContainer<WireKey>
    /// nil in the JSON format, where the place is among the members.
    let geometry: KeyedDecodingContainer<WireKey>?
    /// Whether it is a Feature, even without a geometry.
    let isFeature: Bool

    init(_ decoder: any Decoder) throws(ReportError) {
        products = decoder.userInfo[.hazardProducts] as? [HazardProduct] ?? []
        // Any failure to open a container means that this isn't a record.
        guard let record = try? decoder.container(keyedBy: WireKey.self) else { throw .notAReport }
        isFeature = record.contains(WireKey("geometry")) || record.contains(WireKey("properties"))
        guard isFeature else {
            values = record
            geometry = nil
            return
        }
        guard let properties = try? record.nestedContainer(keyedBy: WireKey.self, forKey: WireKey("properties")) else {
            throw .notAReport
        }
        values = properties
        // A null geometry counts as missing.
        geometry = try? record.nestedContainer(keyedBy: WireKey.self, forKey: WireKey("geometry"))
    }

    /// Whether the member exists, whatever its value.
    func has(_ name: String) -> Bool { values.contains(WireKey(name)) }

    /// The place of a report: a Point, or `lon` and `lat`.
    func point() throws(ReportError) -> HazardPosition {
        guard isFeature else {
            guard let longitude = try number("lon") else { throw .missing(field: "lon") }
            guard let latitude = try number("lat") else { throw .missing(field: "lat") }
            return HazardPosition(longitude: longitude, latitude: latitude)
        }
        guard let coordinates = try? geometry?.decode([Double].self, forKey: WireKey("coordinates")),
            coordinates.count >= 2
        else { throw .missing(field: "geometry") }
        return HazardPosition(longitude: coordinates[0], latitude: coordinates[1])
    }

    func text(_ name: String) -> String? {
        // Values of other types are handled by number().
        guard let text = try? values.decodeIfPresent(String.self, forKey: WireKey(name)) else { return nil }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// A number, or a text with one: for some heights the schema says text, but the service sends numbers.
    func number(_ name: String) throws(ReportError) -> Double? {
        let key = WireKey(name)
        guard values.contains(key), (try? values.decodeNil(forKey: key)) != true else { return nil }
        if let value = try? values.decode(Double.self, forKey: key) { return value }
        guard let text = try? values.decode(String.self, forKey: key) else {
            throw .invalid(name, "another type", "a number")
        }
        if text.trimmingCharacters(in: .whitespaces).isEmpty { return nil }
        guard let value = Double(text), value.isFinite else { throw .invalid(name, text, "a number") }
        return value
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
    /// The first byte after white space and a byte order mark.
    static func firstByte(of data: Data) -> UInt8? {
        let blank: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        return data.first { !blank.contains($0) }
    }

    /// The records of a JSON array or a FeatureCollection, each decoded separately.
    ///
    /// - Throws: if the document can't be parsed, or is the service's error body.
    /// - Parameter products: the products of hazards that are expected.
    static func records<Value: WireReadable>(
        _ type: Value.Type, in data: Data, of products: [HazardProduct] = []
    ) throws(DocumentError) -> [Result<Value, ReportError>] {
        if firstByte(of: data) == UInt8(ascii: "[") {
            return try parse([Lenient<Value>].self, data, products).map(\.result)
        }
        let document = try parse(Document<Value>.self, data, products)
        if let error = document.error { throw .service(error) }
        guard let features = document.features else { throw .unknownForm }
        return features.map(\.result)
    }

    /// Decodes one record.
    static func record<Value: WireReadable>(
        _ type: Value.Type, json data: Data, of products: [HazardProduct] = []
    ) throws(ReportError) -> Value {
        let record: Lenient<Value>
        do { record = try decoder(of: products).decode(Lenient<Value>.self, from: data) } catch { throw .notAReport }
        return try record.result.get()
    }

    private static func decoder(of products: [HazardProduct]) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.userInfo[.hazardProducts] = products
        return decoder
    }

    private static func parse<Value: Decodable>(
        _ type: Value.Type, _ data: Data, _ products: [HazardProduct]
    ) throws(DocumentError) -> Value {
        do { return try decoder(of: products).decode(type, from: data) } catch DecodingError.typeMismatch {
            throw .unknownForm
        } catch DecodingError.dataCorrupted(let context) {
            throw .malformed(context.debugDescription.printable)
        } catch { throw .malformed(error.localizedDescription.printable) }
    }

    /// A FeatureCollection, or the error body `{"status": "error", "error": "…"}`.
    private struct Document<Value: WireReadable>: Decodable {
        var features: [Lenient<Value>]?
        var error: String?
    }

    /// A record that never fails to decode, so that an invalid one doesn't affect others.
    private struct Lenient<Value: WireReadable>: Decodable {
        let result: Result<Value, ReportError>

        init(from decoder: any Decoder) {
            do throws(ReportError) { result = .success(try Value(wire: WireRecord(decoder))) } catch {
                result = .failure(error)
            }
        }
    }
}

extension CodingUserInfoKey {
    /// The products of hazards that a document is expected to have. A record reads them when it is opened.
    fileprivate static let hazardProducts: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "hazardProducts") else { preconditionFailure("any text is a key") }
        return key
    }()
}
