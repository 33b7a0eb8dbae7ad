import BillowEngine
import BillowExchange
import BillowParameters
import BillowSnapshot
import BillowTiles
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import JSONKit
import Turbulence

/// Answers GetFeatureInfo of WMS and WMTS: the features at a pixel. These are the features from which the image is
/// drawn. At low zooms, where an image shows coarser cells, it is the cell that decides the colour of the coarser one.
struct FeatureInfoSource: Sendable {
    let frames: FrameSource
    let pictures: PictureSource
    let features: FeatureSource
    let policy: FreshnessPolicy
    let work: WorkExecutor

    /// The features of one layer at the pixel.
    private struct LayerFeatures: Sendable {
        var layer: Dataset
        /// Each is a feature as JSON, without a line end.
        var features: [[UInt8]]
    }

    /// Responds with 200 and the features, or with an error if the time has no frame.
    func answer(_ parsed: FeatureInfoParameters, _ request: Request) async throws -> Response {
        let snapshot = try frames.snapshot()
        try frames.polygonHistories.require(parsed.filter, for: parsed.layers)
        let time = parsed.time.requested(of: parsed.layers, frames, in: snapshot)
        let scene = try frames.scene(of: parsed.layers, at: time, in: snapshot)
        let region = parsed.region.box(column: parsed.column, row: parsed.row, reach: 1).map(GeographicRegion.box)
        let dataStatus = policy.dataStatus(
            parsed.layers, scene: scene.layers, of: region ?? .everywhere, at: scene.instant, filter: parsed.filter,
            in: snapshot)
        let bytes = try await work.run(.query) { [self] in
            var found: [LayerFeatures] = []
            // The topmost layer comes first.
            for layer in scene.layers.layers.reversed() {
                found.append(
                    LayerFeatures(layer: layer, features: try await find(layer, parsed, scene.instant, in: snapshot)))
            }
            return try parsed.format == .text
                ? Self.text(found, parsed, dataStatus) : Self.json(found, parsed, dataStatus)
        }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = parsed.format == .text ? "text/plain; charset=utf-8" : parsed.format.rawValue
        return try BytesResponse.make(bytes, headers: headers, request: request)
    }

    private func find(
        _ layer: Dataset, _ parsed: FeatureInfoParameters, _ instant: Instant, in snapshot: Snapshot
    ) async throws -> [[UInt8]] {
        guard let box = try await box(of: layer, parsed, instant, in: snapshot) else { return [] }
        var reader = features.reader(
            FeatureQuery(picturing: layer, at: instant, filter: parsed.filter, in: box), in: snapshot)
        var writer = FeatureWriter(layer, as: .geojsonl)
        while !reader.isAtEnd, writer.features < parsed.count || !reader.isBetweenFeatures {
            try await reader.read(PageLimit(features: max(parsed.count - writer.features, 1)), to: &writer)
        }
        return writer.bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// The box to search: around the pixel, or the centre of the cell that decides its colour.
    private func box(
        of layer: Dataset, _ parsed: FeatureInfoParameters, _ instant: Instant, in snapshot: Snapshot
    ) async throws(EngineError) -> BoundingBox? {
        let resolution = DrawnResolution.of(zoom: parsed.region.zoom)
        let place = parsed.region.place(column: parsed.column, row: parsed.row)
        guard resolution < Cell.resolution, layer.showsCells, let place,
            let plane = try await pictures.plane(of: layer, at: instant, filter: parsed.filter, in: snapshot),
            let cell = plane.deciding(at: place, resolution: resolution)
        else { return parsed.box(of: layer) }
        let centre = H3.center(of: cell)
        return BoundingBox(
            west: centre.longitude, south: centre.latitude, east: centre.longitude, north: centre.latitude)
    }

    private static func json(_ found: [LayerFeatures], _ parsed: FeatureInfoParameters, _ dataStatus: DataStatus) throws
        -> [UInt8]
    {
        var members = dataStatus.members
        members["numberReturned"] = .number(Double(found.reduce(0) { $0 + $1.features.count }))
        if let place = parsed.region.place(column: parsed.column, row: parsed.row) {
            members["place"] = [.number(place.longitude), .number(place.latitude)]
        }
        var bytes = Array("{\"type\":\"FeatureCollection\",\"features\":[".utf8)
        var isFirst = true
        for layer in found {
            for feature in layer.features {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                // Inserted before the feature's own members.
                bytes += Array("{\"layer\":\"\(layer.layer.id)\",".utf8) + feature.dropFirst()
            }
        }
        return bytes + Array("],".utf8) + Array(try JSONBytes.encode(members).readableBytesView).dropFirst()
    }

    private static func text(_ found: [LayerFeatures], _ parsed: FeatureInfoParameters, _ dataStatus: DataStatus) throws
        -> [UInt8]
    {
        var lines = ["time: \(dataStatus.instant)"]
        if let place = parsed.region.place(column: parsed.column, row: parsed.row) {
            func degrees(_ value: Double) -> String { String(format: "%.5f", value) }
            lines.append("place: \(degrees(place.longitude)) \(degrees(place.latitude)) (longitude, latitude)")
        }
        if let dataTime = dataStatus.freshness.dataTime { lines.append("last data: \(dataTime)") }
        if dataStatus.freshness.isSimulated { lines.append("SIMULATED") }
        if dataStatus.freshness.isStale { lines.append("STALE") }
        if dataStatus.isIncomplete { lines.append("INCOMPLETE") }
        for layer in found {
            lines.append("")
            lines.append("\(layer.layer.title) (\(layer.layer.id)): \(layer.features.count)")
            for (number, bytes) in layer.features.enumerated() {
                if number > 0 { lines.append("  --") }
                let feature = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
                lines.append("  id: \(words(feature["id"] ?? .null))")
                for property in layer.layer.properties {
                    guard let value = feature["properties"]?["\(property.name)"], value != .null else { continue }
                    lines.append("  \(property.name): \(words(value))\(property.unit.map { " \($0)" } ?? "")")
                }
            }
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// A value as one line, because the texts of reports contain line breaks.
    private static func words(_ value: JSONValue) -> String {
        let text = value.string ?? value.text
        return String(text.map { $0.isNewline ? " " : $0 })
    }
}

extension DataStatus {
    /// The members of a document that tell of which time its features are, and how far they can be relied on.
    var members: [String: JSONValue] {
        [
            "time": .string(instant.description), "stale": .bool(freshness.isStale),
            "simulated": .bool(freshness.isSimulated), "incomplete": .bool(isIncomplete),
            "dataTime": freshness.dataTime.map { .string($0.description) } ?? .null,
        ]
    }
}
