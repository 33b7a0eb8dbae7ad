import BillowEngine
package import Foundation
import Geometry

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
    /// Waypoints as text.
    package var route: [String]?
    package var width: Double?
    package var tolerance: Double?
    /// false keeps every position within the limit.
    var simplify: Bool?
    var speed: Double?
    package var departure: String?
    /// The level in feet, and the rates in feet per minute.
    var level: Double?
    var climb: Double?
    var descent: Double?

    /// The most bytes of a body: 250 positions take some ten thousand.
    package static let longest = 256 << 10

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
            if let text = try? members.decode(String.self, forKey: .route) {
                route = text.split(whereSeparator: \.isWhitespace).map(String.init)
            } else if let line = try? members.decode(ShapeBody.self, forKey: .route) {
                shape = line.shape
            } else {
                route = try members.decode([RouteItem].self, forKey: .route).map(\.text)
            }
        } else if members.contains(.polygon) {
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
                    forKey: .type, in: members, debugDescription: "'\(type.prefix(50))' is no LineString or Polygon")
            }
        }
    }

    /// A waypoint, encoded as a text or as a pair of numbers.
    private struct RouteItem: Decodable {
        var text: String

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self.text = text
            } else {
                let place = try Position(from: decoder).place
                text = "\(place.longitude),\(place.latitude)"
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
                        debugDescription: "longitude must be from -360 to 360 and latitude from -90 to 90"))
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
        } catch {
            throw ParameterProblem(.invalidBody, detail: Self.sentence(error))
        }
    }

    private static func sentence(_ error: any Error) -> String {
        func at(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
            return path.isEmpty ? "The body" : "The body at \(path.prefix(200))"
        }
        func word(for type: any Any.Type) -> String {
            switch type {
            case is Double.Type: "a number"
            case is Int.Type: "a whole number"
            case is String.Type: "a text"
            case is Bool.Type: "true or false"
            case is [Any].Type: "an array"
            default: "an object"
            }
        }
        switch error as? DecodingError {
        case .typeMismatch(let type, let context): return "\(at(context)) must be \(word(for: type))."
        case .valueNotFound(_, let context): return "\(at(context)) is null or missing."
        case .keyNotFound(let key, let context): return "\(at(context)) has no member '\(key.stringValue)'."
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "\(at(context)) can't be used: \(context.debugDescription.prefix(200))."
        default: return "The body is not JSON that can be read."
        }
    }
}
