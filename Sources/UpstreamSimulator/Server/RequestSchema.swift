import Foundation
import Geometry
import NIOCore
import JSONKit

/// Validates members of requests, with messages in the wording of Ajv.
enum RequestSchema {
    static let maximumVertices = 250
    static let levels = 5...52

    static func object(_ body: ByteBuffer) throws(SkyPathErrorResponse) -> JSONValue {
        guard body.readableBytes > 0 else {
            throw .badRequest(
                "FST_ERR_CTP_EMPTY_JSON_BODY",
                "Body cannot be empty when content-type is set to 'application/json'")
        }
        // The caller doesn't need the reason for invalid JSON.
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(body.readableBytesView))
        else {
            throw .badRequest(
                "FST_ERR_CTP_INVALID_JSON_BODY",
                "Body is not valid JSON but content-type is set to 'application/json'")
        }
        guard case .object = value else { throw .validation("body must be object") }
        return value
    }

    /// Validates a GeoJSON Polygon: its type, then that it is closed, then its 4 to 250 vertices.
    static func ring(_ polygon: JSONValue, at path: String) throws(SkyPathErrorResponse) -> CorridorRing {
        guard case .object = polygon else { throw .validation("\(path) must be object") }
        guard let type = polygon["type"] else {
            throw .validation("\(path) must have required property 'type'")
        }
        guard type.string == "Polygon" else {
            throw .validation("\(path)/type must be equal to constant")
        }
        guard let coordinates = polygon["coordinates"] else {
            throw .validation("\(path) must have required property 'coordinates'")
        }
        guard let rings = coordinates.array else {
            throw .validation("\(path)/coordinates must be array")
        }
        guard rings.count == 1, let first = rings.first else {
            throw .validation(
                "\(path)/coordinates must NOT have \(rings.isEmpty ? "fewer" : "more") than 1 items")
        }
        guard let items = first.array else { throw .validation("\(path)/coordinates/0 must be array") }
        var points: [(longitude: Double, latitude: Double)] = []
        for (index, item) in items.enumerated() {
            points.append(try position(item, at: "\(path)/coordinates/0/\(index)"))
        }
        if let start = points.first, let end = points.last {
            let closed =
                start.latitude == end.latitude && LonLat.wrap(start.longitude - end.longitude) == 0
            guard closed else { throw .validation("\(path)/coordinates/0 must be a closed ring") }
        }
        guard points.count >= 4 else {
            throw .validation("\(path)/coordinates/0 must NOT have fewer than 4 items")
        }
        guard points.count <= maximumVertices else {
            throw .validation("\(path)/coordinates/0 must NOT have more than \(maximumVertices) items")
        }
        return CorridorRing(points)
    }

    private static func position(
        _ item: JSONValue, at path: String
    ) throws(SkyPathErrorResponse) -> (longitude: Double, latitude: Double) {
        guard let pair = item.array else { throw .validation("\(path) must be array") }
        guard pair.count >= 2 else { throw .validation("\(path) must NOT have fewer than 2 items") }
        guard let longitude = pair[0].number else { throw .validation("\(path)/0 must be number") }
        guard let latitude = pair[1].number else { throw .validation("\(path)/1 must be number") }
        // Longitudes of unrolled rings are within −360 to 360.
        guard abs(longitude) <= 360 else {
            throw .validation("\(path)/0 must be \(longitude < 0 ? ">= -360" : "<= 360")")
        }
        guard abs(latitude) <= 90 else {
            throw .validation("\(path)/1 must be \(latitude < 0 ? ">= -90" : "<= 90")")
        }
        return (longitude, latitude)
    }

    static func integer(_ value: JSONValue?, at path: String, in range: ClosedRange<Int>)
        throws(SkyPathErrorResponse) -> Int?
    {
        guard let value else { return nil }
        guard let number = value.integer else { throw .validation("\(path) must be integer") }
        guard number >= range.lowerBound else {
            throw .validation("\(path) must be >= \(range.lowerBound)")
        }
        guard number <= range.upperBound else {
            throw .validation("\(path) must be <= \(range.upperBound)")
        }
        return number
    }

    static func hours(_ value: JSONValue?, at path: String, of allowed: [Double]) throws(SkyPathErrorResponse)
        -> Double?
    {
        guard let value else { return nil }
        guard let number = value.number else { throw .validation("\(path) must be number") }
        guard allowed.contains(number) else {
            throw .validation("\(path) must be equal to one of the allowed values")
        }
        return number
    }

    static func category(_ value: JSONValue?, at path: String) throws(SkyPathErrorResponse) -> Category {
        guard let value else { return .medium }
        guard let name = value.string else { throw .validation("\(path) must be string") }
        guard let category = Category(name) else {
            throw .validation("\(path) must be equal to one of the allowed values")
        }
        return category
    }
}
