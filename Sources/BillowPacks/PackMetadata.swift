import Foundation
package import Geometry
package import JSONKit

/// The metadata of a tileset. Both formats have the same members with the same names.
///
/// Source: MBTiles 1.3, section on the table `metadata`; PMTiles 3 section 5; TileJSON 3.0.0
package struct PackMetadata: Sendable {
    package var name: String
    package var description: String
    package var attribution: String
    package var region: BoundingBox
    package var zooms: ClosedRange<Int>
    package var form: TileKind
    /// The version of the log.
    package var version: Int64
    /// The layers of vector tiles in the form of TileJSON.
    package var vectorLayers: [JSONValue]
    /// The legend as a PNG file.
    package var legend: [UInt8]
    /// Further members, in order.
    package var more: [(name: String, value: String)]

    package init(
        name: String, description: String, attribution: String, region: BoundingBox, zooms: ClosedRange<Int>,
        form: TileKind, version: Int64, vectorLayers: [JSONValue], legend: [UInt8],
        more: [(name: String, value: String)]
    ) {
        self.name = name
        self.description = description
        self.attribution = attribution
        self.region = region
        self.zooms = zooms
        self.form = form
        self.version = version
        self.vectorLayers = vectorLayers
        self.legend = legend
        self.more = more
    }

    /// West, south, east and north of the tiles in degrees. West lies below east, so a region across the antimeridian
    /// has all longitudes.
    var bounds: [Double] {
        let limit = UnitMercator.maximumLatitude
        let isCut = region.crossesAntimeridian
        return [
            isCut ? -180 : region.west, max(region.south, -limit), isCut ? 180 : region.east,
            min(region.north, limit),
        ]
    }

    /// The longitude and latitude of the region's center.
    var center: [Double] {
        let east = region.crossesAntimeridian ? region.east + 360 : region.east
        let middle = (region.west + east) / 2
        return [middle > 180 ? middle - 360 : middle, (bounds[1] + bounds[3]) / 2]
    }

    /// Formats a coordinate with up to 7 decimals.
    private static func text(_ numbers: [Double]) -> String {
        numbers.map { "\(($0 * 1e7).rounded() / 1e7)" }.joined(separator: ",")
    }

    /// The legend as HTML for viewers.
    private var legendText: String {
        "<img src=\"data:image/png;base64,\(Data(legend).base64EncodedString())\" alt=\"Legend\">"
    }

    /// The metadata as rows of MBTiles.
    package var rows: [(name: String, value: String)] {
        var rows = [
            (name: "name", value: name), ("format", form == .png ? "png" : "pbf"), ("bounds", Self.text(bounds)),
            ("center", "\(Self.text(center)),\(zooms.lowerBound)"), ("minzoom", "\(zooms.lowerBound)"),
            ("maxzoom", "\(zooms.upperBound)"), ("attribution", attribution), ("description", description),
            ("type", "overlay"), ("version", "\(version)"), ("legend", legendText),
        ]
        if form == .mvt {
            let json = JSONValue.object(["vector_layers": .array(vectorLayers)])
            rows.append((name: "json", value: String(decoding: Self.bytes(json), as: UTF8.self)))
        }
        return rows + more
    }

    /// The metadata as the JSON of PMTiles.
    var json: [UInt8] {
        var members: [String: JSONValue] = [
            "name": .string(name), "description": .string(description), "attribution": .string(attribution),
            "type": .string("overlay"), "version": .string("\(version)"), "legend": .string(legendText),
        ]
        if form == .mvt { members["vector_layers"] = .array(vectorLayers) }
        for (name, value) in more { members[name] = .string(value) }
        return Self.bytes(.object(members))
    }

    private static func bytes(_ value: JSONValue) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and finite numbers can always be encoded as JSON.
        guard let data = try? encoder.encode(value) else { preconditionFailure("metadata has no JSON") }
        return Array(data)
    }
}
