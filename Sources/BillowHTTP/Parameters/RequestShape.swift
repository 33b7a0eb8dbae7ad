import BillowEngine
package import Foundation
import Geometry
import JSONKit
import Turbulence

/// A line or an area in a request.
enum RequestShape: Sendable, Hashable {
    case line([LonLat])
    /// Rings of polygons, exterior first.
    case polygons([[[LonLat]]])
}

/// The body of a request with a line or an area: GeoJSON, or a small object of Billow's own.
///
///     {"type": "Polygon", "coordinates": [[[-80, 45], …]]}
///     {"polygon": [[-80, 45], …]}
///     {"route": "KJFK 4430N05000W EGLL", "width": 100}
///
/// Source: RFC 7946
package struct ShapeBody: Decodable, Sendable {
    var shape: RequestShape?
    /// The member that has the shape.
    private(set) var member = "coordinates"
    /// Waypoints as text.
    package var route: [String]?
    package var width: Double?
    package var tolerance: Double?
    /// Whether the shape is simplified. false keeps every position within the limit.
    var simplify: Bool?
    var speed: Double?
    package var departure: String?
    /// The level in feet, and the rates in feet per minute.
    var level: Double?
    var climb: Double?
    var descent: Double?

    /// The most bytes of a body: 250 positions take some ten thousand.
    package static let longest = 256 << 10

    /// What a route in a body can be, as a phrase that follows "must be".
    static let routeText = "waypoints as a text or an array, or a GeoJSON LineString"
    fileprivate static let waypointText = "a waypoint as a text, or [longitude, latitude]"

    private enum Keys: String, CodingKey, CaseIterable {
        case type, coordinates, geometry, polygon, route, width, tolerance, simplify, speed, departure, level, climb,
            descent
    }

    /// The members of GeoJSON objects that say nothing here.
    private static let others: Set<String> = ["properties", "id", "bbox", "crs"]

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// - Throws: `ParameterProblem` for an unknown member, because ignoring a misspelt one would give a wrong answer.
    package init(from decoder: any Decoder) throws {
        let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
        if let unknown = names.first(where: { Keys(rawValue: $0) == nil && !Self.others.contains($0) }) {
            throw ParameterProblem(
                .unknownMember, detail: "There is no member '\(unknown.prefix(100))' here.",
                parameter: String(unknown.prefix(100)), value: String(unknown.prefix(100)),
                allowed: Keys.allCases.map(\.rawValue).sorted().joined(separator: ", "))
        }
        try self.init(partOf: decoder)
    }

    /// The shape in a body that has other members too.
    init(partOf decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Keys.self)
        width = try members.decodeIfPresent(Double.self, forKey: .width)
        tolerance = try members.decodeIfPresent(Double.self, forKey: .tolerance)
        simplify = try members.decodeIfPresent(Bool.self, forKey: .simplify)
        speed = try members.decodeIfPresent(Double.self, forKey: .speed)
        departure = try members.decodeIfPresent(String.self, forKey: .departure)
        level = try members.decodeIfPresent(Double.self, forKey: .level)
        climb = try members.decodeIfPresent(Double.self, forKey: .climb)
        descent = try members.decodeIfPresent(Double.self, forKey: .descent)
        if members.contains(.route) {
            member = Keys.route.rawValue
            switch try members.decode(JSONValue.self, forKey: .route) {
            case .string(let text): route = text.split(whereSeparator: \.isWhitespace).map(String.init)
            case .object: shape = try members.decode(ShapeBody.self, forKey: .route).shape
            case .array: route = try members.decode([RouteItem].self, forKey: .route).map(\.text)
            case .null, .bool, .number:
                throw DecodingError.typeMismatch(
                    RouteItem.Whole.self,
                    DecodingError.Context(codingPath: members.codingPath + [Keys.route], debugDescription: ""))
            }
        } else if members.contains(.polygon) {
            member = Keys.polygon.rawValue
            let ring = try members.decode([Position].self, forKey: .polygon)
            shape = .polygons([[ring.map(\.place)]])
        } else if members.contains(.geometry) {
            shape = try members.decode(ShapeBody.self, forKey: .geometry).shape
        } else if let type = try members.decodeIfPresent(String.self, forKey: .type) {
            switch type {
            case "LineString":
                shape = .line(try members.decode([Position].self, forKey: .coordinates).map(\.place))
            case "Polygon":
                let rings = try members.decode([[Position]].self, forKey: .coordinates)
                shape = .polygons([rings.map { $0.map(\.place) }])
            case "MultiPolygon":
                let polygons = try members.decode([[[Position]]].self, forKey: .coordinates)
                shape = .polygons(polygons.map { $0.map { $0.map(\.place) } })
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .type, in: members, debugDescription: "LineString, Polygon or MultiPolygon")
            }
        }
    }

    /// A waypoint, encoded as a text or as a pair of numbers.
    fileprivate struct RouteItem: Decodable {
        /// A mark for errors of the whole route.
        enum Whole {}

        var text: String

        init(from decoder: any Decoder) throws {
            switch try JSONValue(from: decoder) {
            case .string(let text): self.text = text
            case .array:
                let place = try Position(from: decoder).place
                text = "\(place.longitude),\(place.latitude)"
            case .null, .bool, .number, .object:
                throw DecodingError.typeMismatch(
                    RouteItem.self, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: ""))
            }
        }
    }

    /// Longitude and latitude; further numbers are ignored.
    private struct Position: Decodable {
        var place: LonLat

        init(from decoder: any Decoder) throws {
            var numbers = try decoder.unkeyedContainer()
            let longitude = try numbers.decode(Double.self)
            let latitude = try numbers.decode(Double.self)
            guard let place = LonLat(longitude: longitude, latitude: latitude) else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: decoder.codingPath,
                        debugDescription: "a longitude from -360 to 360 and a latitude from -90 to 90"))
            }
            self.place = place
        }
    }
}

/// Decodes JSON bodies of limited length.
package enum JSONBody {
    /// - Throws: `ParameterProblem` with the place in the body.
    package static func decode<Body: Decodable>(_ type: Body.Type, from bytes: Data) throws(ParameterProblem) -> Body {
        do { return try JSONDecoder().decode(type, from: bytes) } catch let problem as ParameterProblem {
            throw problem
        } catch { throw problem(error, bytes) }
    }

    /// The member that an error is about, its value in the body, and what may stand there.
    private static func problem(_ error: any Error, _ bytes: Data) -> ParameterProblem {
        switch error as? DecodingError {
        case .typeMismatch(let type, let context): problem(at: context.codingPath, word(for: type), bytes)
        case .valueNotFound(let type, let context): problem(at: context.codingPath, word(for: type), bytes)
        case .keyNotFound(let key, let context): problem(at: context.codingPath + [key], "given", bytes)
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            problem(at: context.codingPath, String(context.debugDescription.prefix(200)), bytes)
        default:
            ParameterProblem(
                .invalidBody, detail: "The body is not JSON that can be read.", parameter: "body",
                value: String(decoding: bytes.prefix(100), as: UTF8.self), allowed: "JSON")
        }
    }

    private static func problem(at path: [any CodingKey], _ expected: String, _ bytes: Data) -> ParameterProblem {
        var name = ""
        // The body was parsed before, so this fails only for a path that it doesn't have.
        var value = try? JSONDecoder().decode(JSONValue.self, from: bytes)
        for key in path {
            if let index = key.intValue {
                name += "[\(index)]"
                value = value?.array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            } else {
                name += (name.isEmpty ? "" : ".") + key.stringValue
                value = value?[key.stringValue]
            }
        }
        let error = ParameterError(
            parameter: name.isEmpty ? "body" : String(name.prefix(200)), value: value?.text ?? ParameterProblem.missing,
            expected: expected)
        return ParameterProblem(error, .invalidBody)
    }

    private static func word(for type: any Any.Type) -> String {
        switch type {
        case is Double.Type: "a number"
        case is Int.Type: "a whole number"
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is ShapeBody.RouteItem.Whole.Type: ShapeBody.routeText
        case is ShapeBody.RouteItem.Type: ShapeBody.waypointText
        case is [Any].Type: "an array"
        default: "an object"
        }
    }
}
