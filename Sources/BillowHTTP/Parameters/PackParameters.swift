import BillowAreas
package import BillowEngine
import BillowPacks
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import BillowTimeline
package import Geometry
import Turbulence

/// The parameters of `/export/{layers}.mbtiles`, `.pmtiles` and `.zip`, and of `billow pack`: those of a filter
/// (`FeatureParameters`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `time` | instant or `latest`; not of archives | the layers' extent | `latest` |
/// | `start`, `end`, `intervals`, `anchor` | of archives, as of `TimelineParameters` | | |
/// | `bbox` | west,south,east,north in degrees | a box with an area | the world |
/// | `route`, `coords`, `width`, `corridor-width`, `width-units`, `crs` | as of `OwnAreaParameters` | | none |
/// | `minzoom`, `maxzoom` | zooms | 0…14 | 0, 8 |
/// | `tiles` | png or mvt | | png |
/// | `scale` | pixels of a point; pictures only | 1…3 | 1 |
/// | `style`, `opacity`, `labels` | pictures only, as of `TileParameters` | | |
/// | `mode`, `shape` | vector tiles only, as of `TileParameters` | | |
/// | `form` | archives: frames or foreflight | | frames |
/// | `tileset` | archives of frames: mbtiles or pmtiles | | mbtiles |
/// | `estimate` | true tells how much it would be | | false |
package struct PackParameters: Sendable {
    private let layers: LayerList
    private let time: RequestedTime
    private let timeline: TimelineRequest?
    private let filter: Filter
    private let cover: FrameTiles
    private let zooms: ClosedRange<Int>
    private let region: GeographicRegion
    private let style: Style
    private let tiles: TileKind
    private let scale: TileScale
    private let labels: Int
    private let mode: PolygonMode
    private let isContoured: Bool
    private let form: PackLayout
    private let query: QueryReader
    /// The tiles of one frame.
    private enum FrameTiles: Sendable {
        case tiles(TileCover)
        /// More than a pack can have.
        case tooMany(Int)

        var count: Int {
            switch self {
            case .tiles(let cover): cover.tiles.count
            case .tooMany(let tiles): tiles
            }
        }
    }

    /// Whether the client requests only the estimated size.
    package let isEstimate: Bool

    private static let common = QueryReader.filterNames.union(OwnAreaParameters.names).union([
        "minzoom", "maxzoom", "tiles", "scale", "style", "opacity", "labels", "mode", "shape", "estimate", "f",
    ])
    private static let ofTilesets = common.union(["time"])
    private static let ofArchives = common.union(["start", "end", "intervals", "anchor", "form", "tileset"])

    /// The parameters that a format has.
    package static func names(_ format: DownloadFormat) -> Set<String> {
        format == .archive ? ofArchives : ofTilesets
    }

    package init(
        layers: LayerList, format: DownloadFormat, _ query: QueryReader, styles: StyleLibrary,
        defaults: TimelineDefaults, airports: AirportTable
    ) throws(ParameterProblem) {
        self.layers = layers
        _ = try query.choice("f", [(format.ending, 0)])
        isContoured = try query.isContoured()
        filter = try query.filter(of: layers.layers, for: .pictures, isContoured: isContoured)
        style = try styles.style(query)
        labels = try query.labels()
        mode = try query.polygonMode()
        tiles = try query.choice("tiles", TileKind.allCases.map { ($0.rawValue, $0) }) ?? .png
        let factor = try query.integer("scale", in: 1...3) ?? 1
        scale = TileScale(rawValue: factor) ?? .one
        if tiles == .mvt, let name = ["scale", "style", "opacity", "labels"].first(where: { query.has($0) }) {
            throw query.invalid(name, query.text(name) ?? "", "left out where tiles is mvt")
        }
        // A bare `?estimate` counts as true.
        isEstimate = try query.text("estimate")?.isEmpty == true ? true : query.boolean("estimate") ?? false
        switch format {
        case .tileset(let format):
            form = .tileset(format)
            timeline = nil
            time = try query.time()
        default:
            let set = try query.choice("tileset", TilesetFormat.allCases.map { ($0.rawValue, $0) })
            let isForeFlight = try query.choice("form", [("frames", false), ("foreflight", true)]) ?? false
            if isForeFlight {
                guard tiles == .png else { throw query.invalid("tiles", "mvt", "png where form is foreflight") }
                guard set ?? .mbtiles == .mbtiles else {
                    throw query.invalid("tileset", "pmtiles", "mbtiles where form is foreflight")
                }
            }
            form = isForeFlight ? .foreFlight : .frames(set ?? .mbtiles)
            timeline = try query.timeline(defaults)
            time = .latest
        }
        (cover, zooms, region) = try Self.cover(query, airports)
        self.query = query
    }

    /// The tiles of `bbox`, a corridor or an area, at the zooms.
    private static func cover(_ query: QueryReader, _ airports: AirportTable) throws(ParameterProblem)
        -> (FrameTiles, ClosedRange<Int>, GeographicRegion)
    {
        let zooms = PackLimits.zooms
        let last = try query.integer("maxzoom", in: zooms)
        let first = try query.integer("minzoom", in: zooms)
        let lowest = first ?? min(PackLimits.defaultZooms.lowerBound, last ?? zooms.upperBound)
        let highest = last ?? max(PackLimits.defaultZooms.upperBound, lowest)
        guard lowest <= highest else {
            throw query.invalid("minzoom", "\(lowest)", "a zoom that is not above maxzoom, \(highest)")
        }
        let wanted = lowest...highest
        func cover(_ make: () throws(TileCover.TooManyTiles) -> TileCover) -> FrameTiles {
            do throws(TileCover.TooManyTiles) { return .tiles(try make()) } catch { return .tooMany(error.tiles) }
        }
        if let area = try OwnAreaParameters(query, airports: airports, limitKm2: nil).area {
            let tiles = cover { () throws(TileCover.TooManyTiles) in
                try TileCover(area, zooms: wanted, limit: PackLimits.tiles)
            }
            return (tiles, wanted, .area(area.area))
        }
        let box = try query.packBox()
        let tiles = cover { () throws(TileCover.TooManyTiles) in
            try TileCover(box, zooms: wanted, limit: PackLimits.tiles)
        }
        return (tiles, wanted, .box(box))
    }

    private static func tooMany(_ tiles: Int, _ name: String, _ value: String) -> ParameterProblem {
        ParameterProblem(
            .tooManyTiles, detail: "The pack would have \(tiles) tiles or more.", parameter: name, value: value,
            allowed:
                "at most \(PackLimits.tiles) tiles of all frames: a lower maxzoom, a smaller region or fewer frames"
        )
    }

    /// The pack that these parameters describe.
    /// - Throws: `EngineError` for times without data; `ParameterProblem` for too many tiles.
    package func request(_ timelines: TimelineService, in snapshot: Snapshot) async throws -> PackRequest {
        guard case .tiles(let cover) = cover else {
            throw Self.tooMany(self.cover.count, "maxzoom", query.text("maxzoom") ?? "\(zooms.upperBound)")
        }
        let scenes = try await scenes(timelines, in: snapshot)
        guard cover.tiles.count * scenes.count <= PackLimits.tiles else {
            throw Self.tooMany(
                cover.tiles.count * scenes.count, "intervals", query.text("intervals") ?? "\(scenes.count)")
        }
        return PackRequest(
            layers: layers, scenes: scenes, cover: cover, region: region, filter: filter, style: style, tiles: tiles,
            scale: scale, labels: labels, mode: mode, isContoured: isContoured, form: form,
            query: query.replacing([:]))
    }

    /// The size of a pack, which may be above the limit.
    package struct Estimate: Encodable, Sendable {
        /// The tiles of all frames.
        package let tiles: Int
        package let frames: Int
        /// The most tiles of a pack, and whether this one has no more.
        let mostTiles: Int
        package let fits: Bool
        let minzoom: Int
        let maxzoom: Int
        let times: [String]
    }

    /// How much it would be.
    /// - Throws: `EngineError` for times without data.
    package func estimate(_ timelines: TimelineService, in snapshot: Snapshot) async throws -> Estimate {
        let scenes = try await scenes(timelines, in: snapshot)
        let tiles = cover.count * scenes.count
        return Estimate(
            tiles: tiles, frames: scenes.count, mostTiles: PackLimits.tiles, fits: tiles <= PackLimits.tiles,
            minzoom: zooms.lowerBound, maxzoom: zooms.upperBound, times: scenes.map(\.instant.description))
    }

    private func scenes(_ timelines: TimelineService, in snapshot: Snapshot) async throws -> [FrameSource.Scene] {
        let frames = timelines.frames
        try frames.polygonHistories.require(filter, for: layers)
        if let timeline {
            let resolved = try timelines.timeline(timeline, in: snapshot)
            let scenes = try await timelines.times(of: layers.layers, resolved, filter, in: snapshot).map {
                frames.scene(of: layers, at: $0, in: snapshot)
            }
            guard !scenes.isEmpty else {
                throw EngineError.noFrames(
                    timeline.blamed, extent: snapshot.extent(of: layers.layers))
            }
            return scenes
        }
        return [try frames.scene(of: layers, at: time, in: snapshot)]
    }
}

extension QueryReader {
    /// The box of a pack.
    fileprivate func packBox() throws(ParameterProblem) -> BoundingBox {
        let box = try bbox() ?? .world
        guard box.south < box.north, box.west != box.east else {
            throw invalid("bbox", text("bbox") ?? "", "a box with an area")
        }
        guard box.south < UnitMercator.maximumLatitude, box.north > -UnitMercator.maximumLatitude else {
            throw invalid(
                "bbox", text("bbox") ?? "", "a box that reaches between 85.0511 degrees south and north")
        }
        return box
    }
}
