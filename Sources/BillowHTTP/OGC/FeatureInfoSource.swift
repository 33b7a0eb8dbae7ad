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
        // The instant is that of the picture, whose other layers may reach further than the queried ones.
        let time = parsed.time.requested(of: parsed.pictured, frames, in: snapshot)
        let pictured = try frames.scene(of: parsed.pictured, at: time, in: snapshot)
        let scene = try frames.scene(of: parsed.layers, at: time.at(pictured.instant), in: snapshot)
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

    /// The features of a layer at the pixel, in the order of the picture: what lies uppermost comes first. A client
    /// that wants one feature gets the one whose colour it sees.
    private func find(
        _ layer: Dataset, _ parsed: FeatureInfoParameters, _ instant: Instant, in snapshot: Snapshot
    ) async throws -> [[UInt8]] {
        if case .reports = layer.drawing { return try await reports(layer, parsed, instant, in: snapshot) }
        var found: [[UInt8]] = []
        var known: Set<String> = []
        for area in try await areas(of: layer, parsed, instant, in: snapshot) where found.count < parsed.count {
            var lines = try await features(of: layer, parsed, instant, in: area.box, limit: area.limit, in: snapshot)
            // Of areas that overlap, the worse one is drawn upon the other.
            lines = lines.sorted { $0.severity > $1.severity }
            for line in lines where known.insert(line.id).inserted { found.append(line.bytes) }
        }
        return Array(found.prefix(parsed.count))
    }

    /// A feature as JSON, without a line end.
    private struct FoundFeature {
        let bytes: [UInt8]
        let id: String
        /// -1 without one.
        let severity: Int

        init(_ bytes: [UInt8]) throws {
            let feature = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
            self.bytes = bytes
            id = feature["id"]?.string ?? ""
            severity = feature["properties"]?["severity"]?.number.map { Int($0) } ?? -1
        }
    }

    private func features(
        of layer: Dataset, _ parsed: FeatureInfoParameters, _ instant: Instant, in box: BoundingBox, limit: Int,
        in snapshot: Snapshot
    ) async throws -> [FoundFeature] {
        var reader = features.reader(
            FeatureQuery(picturing: layer, at: instant, filter: parsed.filter, in: box), in: snapshot)
        var writer = FeatureWriter(layer, as: .geojsonl)
        while !reader.isAtEnd, writer.features < limit || !reader.isBetweenFeatures {
            try await reader.read(PageLimit(features: max(limit - writer.features, 1)), to: &writer)
        }
        return try writer.bytes.split(separator: UInt8(ascii: "\n")).map { try FoundFeature(Array($0)) }
    }

    /// The pilot reports at the pixel, by the rank of their symbols: the one that hides the others comes first.
    private func reports(
        _ layer: Dataset, _ parsed: FeatureInfoParameters, _ instant: Instant, in snapshot: Snapshot
    ) async throws -> [[UInt8]] {
        guard let box = parsed.box(of: layer) else { return [] }
        let data = try await pictures.data(for: LayerList(layer), at: instant, filter: parsed.filter, in: snapshot)
        var writer = FeatureWriter(layer, as: .geojsonl)
        for report in data.rankedReports.reports.reversed()
        where writer.features < parsed.count && box.contains(report.place) {
            writer.write(report)
        }
        return writer.bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// A box to search, and how many of its features are of interest.
    private typealias SearchArea = (box: BoundingBox, limit: Int)

    /// The boxes to search, one after the other: the middle of the pixel, then its surroundings. Where the picture has
    /// coarser cells, it is the cell that decides the pixel's colour.
    private func areas(
        of layer: Dataset, _ parsed: FeatureInfoParameters, _ instant: Instant, in snapshot: Snapshot
    ) async throws(EngineError) -> [SearchArea] {
        let around: [SearchArea] = parsed.box(of: layer).map { [($0, parsed.count)] } ?? []
        let place = parsed.region.place(column: parsed.column, row: parsed.row)
        guard let place, layer.geometry == .polygon else { return around }
        // Everything at a place is read, so that the worst of it is found.
        func at(_ place: LonLat) -> [SearchArea] {
            let box = BoundingBox(
                west: place.longitude, south: place.latitude, east: place.longitude, north: place.latitude)
            return box.map { [($0, FeatureInfoParameters.maximumFeatures)] } ?? []
        }
        let resolution = DrawnResolution.of(zoom: parsed.region.zoom)
        guard resolution < Cell.resolution, layer.showsCells,
            let plane = try await pictures.plane(of: layer, at: instant, filter: parsed.filter, in: snapshot),
            let cell = plane.deciding(at: place, resolution: resolution)
        else { return at(place) + around }
        return at(H3.center(of: cell))
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
