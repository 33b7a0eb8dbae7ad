package import BillowEngine
package import BillowRaster
package import BillowSnapshot
import BillowTiles
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/tiles/{layers}.json` and `/tiles/{layers}/{time}/{z}/{x}/{y}[@2x|@3x].png`.
struct TileRoutes: Sendable {
    let frames: FrameSource
    let tiles: TileService
    let shelf: StyleShelf
    let policy: FreshnessPolicy
    let publicURL: String?
    let hot: HotTiles
    let vectors: VectorTileSource

    /// The parameters of a tile; others are ignored, and passed on to no address.
    private static let passedOn = QueryReader.filterNames.union(["style", "opacity", "labels", "mode", "incomplete"])

    /// As long as a picture may be cached.
    private static let longestSeconds = 31_536_000

    private var styles: StyleLibrary { shelf.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/tiles/:layers/:time/:z/:x/:y") { request, context in
            try await tile(request, context.parameters)
        }
        router.get("/v2/radar/:frame/:size/:z/:x/:y/:color/:options") { request, context in
            try await weatherMapTile(request, context.parameters)
        }
        router.get("/tiles/:layers") { request, context in try tileJSON(request, context.parameters) }
    }

    // MARK: - Tiles

    /// 200 with the picture or the vector tile, 204 for an empty vector tile, 304, 307 to the frame's own version, 400 for what can't be read, 404 outside the grid or retention,
    /// 503 when overloaded.
    private func tile(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let query = try QueryReader(request)
        let time = try QueryReader.time(parameters.text("time"))
        // What is newest has no version of its own.
        let name = if case .instant = time { try query.frameName() } else { nil as FrameName? }
        return try await tile(
            TilePath(z: parameters.get("z") ?? "", x: parameters.get("x") ?? "", y: parameters.get("y") ?? ""),
            layers: LayerList(parameter: parameters.text("layers")), time, name, query, request
        ) { "\(request.uri.path)?\(query.replacing($0.parameters))" }
    }

    /// - Parameter address: where the same tile under another name is.
    private func tile(
        _ place: TilePath, layers: LayerList, _ time: RequestedTime, _ name: FrameName?, _ query: QueryReader,
        _ request: Request, address: (FrameName) -> String
    ) async throws -> Response {
        let filter = try query.filter()
        let style = try styles.style(query)
        let snapshot = try frames.snapshot()
        let scene = try frames.scene(of: layers, at: time, in: snapshot)
        let (instant, shown) = (scene.instant, LayerTime.list(of: scene.layers))
        let answered = policy.shown(
            layers, scene: scene.layers, of: place.coord.region, at: instant, filter: filter, in: snapshot)
        var headers = AnswerHeaders.make(answered, freshSeconds: frames.freshSeconds(of: snapshot))
        var drawn = snapshot
        // A picture that lacks a layer for now is another when time has come as far: nobody is to keep it.
        if let name, scene.isWhole {
            let standing = try await frames.standing(
                of: name, layers: shown, at: instant, filter: filter, style: style, in: snapshot)
            switch standing {
            case .moved(let name):
                headers[.cacheControl] = "no-store"
                headers[.location] = address(name)
                return Response(status: .temporaryRedirect, headers: headers)
            case .former: drawn = snapshot.former(name.version)
            case .current: break
            }
            // What an incomplete picture lacks may still arrive, and what retention deletes is another picture.
            let seconds = frames.retainedSeconds(of: shown, at: instant, in: snapshot)
            if !answered.isIncomplete, seconds > 0 {
                headers[.cacheControl] = "public, max-age=\(min(seconds, Self.longestSeconds)), immutable"
            }
        }
        if place.format == .vector {
            let order = VectorTileSource.Request(
                layers: scene.layers, coord: place.coord, instant: instant, filter: filter,
                mode: try query.polygonMode())
            let bytes = try await vectors.tile(order, in: drawn)
            guard !bytes.isEmpty else { return Response(status: .noContent, headers: headers) }
            headers[.contentType] = "application/vnd.mapbox-vector-tile"
            return try BytesAnswer.make(bytes, headers: headers, request: request)
        }
        let known = EntityTags(request.headers[.ifNoneMatch])
        let wanted = TileService.Request(
            layers: scene.layers, coord: place.coord, scale: place.scale, instant: instant, filter: filter,
            style: style,
            labels: try query.labels(), isHatched: try query.hatchesIncomplete() && answered.isIncomplete)
        let isRenewal = hot.note(
            wanted, isLatest: time == .latest, publication: snapshot.publication, now: snapshot.publication.asOf)
        let tile = try await tiles.tile(wanted, in: drawn, isRenewal: isRenewal) { known.match($0) }
        return try PictureAnswer.make(tile, headers: headers, known: known)
    }

    /// A tile by the path that `/public/weather-maps.json` gives: `{layer}-{time}-{v}-{s}`, 256 or 512 pixels. Colour schemes and
    /// options are RainViewer's and mean nothing here.
    private func weatherMapTile(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let frame = parameters.text("frame")
        let parts = frame.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let instant = Instant(parts[1]), let number = Digits.integer(parts[2]),
            let look = PictureLook(parts[3])
        else {
            throw Problem(
                .unknownFrame, detail: "There is no frame '\(frame.prefix(100))'.",
                parameter: "frame",
                value: String(frame.prefix(100)), allowed: "a path of /public/weather-maps.json")
        }
        let sizes = ["256": ".png", "512": "@2x.png"]
        let size = parameters.get("size") ?? ""
        guard let suffix = sizes[size] else {
            throw Problem(ParameterError(parameter: "size", value: size, expected: "256 or 512"))
        }
        let rest = ["size", "z", "x", "y", "color", "options"].map { parameters.get($0) ?? "" }.joined(separator: "/")
        return try await tile(
            TilePath(
                z: parameters.get("z") ?? "", x: parameters.get("x") ?? "", y: (parameters.get("y") ?? "") + suffix),
            layers: LayerList(parameter: parts[0]), .instant(instant),
            FrameName(version: Version(rawValue: Int64(number)), look: look), QueryReader([:]), request
        ) { "\(FrameName.weatherMapPath(layer: parts[0], time: parts[1], $0))/\(rest)" }
    }

    // MARK: - TileJSON

    /// Source: TileJSON 3.0.0, github.com/mapbox/tilejson-spec
    private struct TileJSON: Encodable {
        struct Time: Encodable {
            var latest: String
            var extent: [String]
            var template: String
        }

        struct VectorLayer: Encodable {
            var id: String
            var description: String
            var minzoom = 0
            var maxzoom = 14
            var fields: [String: String]

            init(_ layer: Layer) {
                id = layer.rawValue
                description = layer.summary
                fields = layer.vectorFields
            }
        }

        struct State: Encodable {
            var version: Int64
            var asOf: String
            var dataTime: String?
            var stale: Bool
            var simulated: Bool
            /// Whether the log lacks some of the picture of the time asked for, and from when on it lacks nothing.
            var incomplete: Bool
            var completeSince: String?
            /// The H3 resolution drawn at each zoom.
            var resolutions: [Int]
        }

        var tilejson = "3.0.0"
        var name: String
        var description: String
        var attribution: String
        var tiles: [String]
        var tileSize = 256
        var minzoom = 0
        var maxzoom = 14
        var bounds = [-180.0, -85.051_128_779_806_6, 180, 85.051_128_779_806_6]
        var center = [0.0, 30, 2]
        var scheme = "xyz"
        var legend: String
        var vectorLayers: [VectorLayer]
        var time: Time
        var billow: State

        private enum CodingKeys: String, CodingKey {
            case tilejson, name, description, attribution, tiles, tileSize, minzoom, maxzoom, bounds, center, scheme
            case legend, time, billow
            case vectorLayers = "vector_layers"
        }
    }

    /// 200, 304, 400 for what can't be read, 404 for a layer that isn't there and a time outside retention.
    private func tileJSON(_ request: Request, _ parameters: Parameters) throws -> Response {
        let document = parameters.text("layers")
        guard document.hasSuffix(".json") else {
            throw Problem(
                .noSuchRoute, detail: "There is nothing at \(request.uri.path.prefix(200)).",
                allowed: "/tiles/{layers}.json and /tiles/{layers}/{time}/{z}/{x}/{y}.png")
        }
        let layers = try LayerList(parameter: document.dropLast(5))
        let query = try QueryReader(request)
        let filter = try query.filter()
        try frames.polygonHistories.require(filter, for: layers)
        let style = try styles.style(query)
        _ = try query.labels()
        _ = try query.hatchesIncomplete()
        let snapshot = try frames.snapshot()
        let time = try query.time()
        let shownLayers = LayerTime.list(of: layers)
        let scene = try frames.scene(of: layers, at: time, in: snapshot)
        let answered = policy.shown(layers, scene: scene.layers, at: scene.instant, filter: filter, in: snapshot)
        let freshness = answered.freshness
        let extent = frames.extent(of: shownLayers, in: snapshot)
        let base = BaseURL.of(request, publicURL)
        // The filters and the time asked for here are those of the tiles that it names.
        let passed = query.passedOn(Self.passedOn)
        let filters = query.passedOn(QueryReader.filterNames.union(["opacity"])).dropFirst()
        let shown = if case .instant = time { scene.instant.compact } else { "latest" }
        let suffix = try query.choice("f", [("png", "png"), ("mvt", "mvt"), ("json", "png")]) ?? "png"
        let answer = TileJSON(
            name: "Billow: \(layers.title)", description: layers.layers.map(\.summary).joined(separator: " "),
            attribution: freshness.isSimulated ? "SIMULATED turbulence, not for operational use" : "Turbulence: Billow",
            tiles: ["\(base)/tiles/\(layers)/\(shown)/{z}/{x}/{y}.\(suffix)\(passed)"],
            legend: "\(base)/legend.png?layer=\(layers)&style=\(style.id)" + (filters.isEmpty ? "" : "&\(filters)"),
            vectorLayers: layers.layers.map(TileJSON.VectorLayer.init),
            time: TileJSON.Time(
                latest: snapshot.publication.asOf.description,
                extent: [extent.lowerBound.description, extent.upperBound.description],
                template: "\(base)/tiles/\(layers)/{time}/{z}/{x}/{y}.\(suffix)\(passed)"),
            billow: TileJSON.State(
                version: snapshot.publication.version.rawValue, asOf: snapshot.publication.asOf.description,
                dataTime: freshness.dataTime?.description, stale: freshness.isStale, simulated: freshness.isSimulated,
                incomplete: answered.isIncomplete, completeSince: freshness.completeSince?.description,
                resolutions: (0...14).map(DrawnResolution.of)))
        var headers = AnswerHeaders.make(answered, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.cacheControl] = "no-cache"
        return try JSONAnswer.make(answer, headers: headers, request: request)
    }
}

/// The z/x/y part of a tile's path: plain decimal digits, and the suffix `.png`, `@2x.png`, `@3x.png` or `.mvt`.
struct TilePath {
    enum Format: Sendable, Hashable {
        case picture, vector
    }

    let format: Format
    let coord: TileCoord
    let scale: TileScale

    init(z: String, x: String, y: String) throws(Problem) {
        var row = y[...]
        guard row.hasSuffix(".png") || row.hasSuffix(".mvt") else {
            throw Self.unreadable("y", y, "a number followed by .png, @2x.png, @3x.png or .mvt")
        }
        format = row.hasSuffix(".mvt") ? .vector : .picture
        row = row.dropLast(4)
        if format == .picture, let at = row.firstIndex(of: "@") {
            guard let scale = TileScale.allCases.first(where: { $0 != .one && row[at...] == "@\($0.rawValue)x" }) else {
                throw Self.unreadable("y", y, "a number followed by .png, @2x.png, @3x.png or .mvt")
            }
            self.scale = scale
            row = row[..<at]
        } else {
            scale = .one
        }
        func number(_ name: String, _ text: some StringProtocol) throws(Problem) -> Int {
            if let value = Digits.integer(text) { return value }
            // More digits than any number of ours has: readable, and outside every range.
            if Digits.areTooMany(text) { return .max }
            throw Self.unreadable(name, String(text), "a whole number in plain digits")
        }
        let zoom = try number("z", z)
        let column = try number("x", x)
        let line = try number("y", row)
        guard zoom <= TileCoord.maximumZoom else {
            throw Self.outside("z", z, "from 0 to \(TileCoord.maximumZoom)")
        }
        let last = (1 << zoom) - 1
        guard column <= last else { throw Self.outside("x", x, "from 0 to \(last) at zoom \(zoom)") }
        guard line <= last else { throw Self.outside("y", String(row), "from 0 to \(last) at zoom \(zoom)") }
        guard let coord = TileCoord(z: zoom, x: column, y: line) else {
            throw Self.outside("z", z, "from 0 to \(TileCoord.maximumZoom)")
        }
        self.coord = coord
    }

    private static func unreadable(_ name: String, _ value: String, _ expected: String) -> Problem {
        Problem(ParameterError(parameter: name, value: value, expected: expected))
    }

    private static func outside(_ name: String, _ value: String, _ allowed: String) -> Problem {
        Problem(
            ParameterError(parameter: name, value: String(value.prefix(100)), expected: allowed), .outsideGrid)
    }
}

extension StyleLibrary {
    /// The style and opacity that a request asks for.
    func style(_ query: QueryReader) throws(Problem) -> Style {
        let id = query.text("style") ?? StyleLibrary.defaultID
        guard let style = self[id] else {
            throw query.invalid("style", id, styles.map(\.id).joined(separator: ", "))
        }
        guard let text = query.text("opacity") else { return style }
        guard let opacity = QueryReader.decimal(text), opacity >= 0, opacity <= 1 else {
            throw query.invalid("opacity", text, "a number from 0 to 1")
        }
        return style.faded(by: opacity)
    }
}

extension TileService {
    /// The picture of a tile, `z/x/y` with or without `@2x`, as `/tiles` would draw it for the same parameters.
    /// - Throws: `Problem` for what can't be read.
    package func png(
        layers: String, place: String, parameters: [String: String], frames: FrameSource, snapshot: Snapshot,
        styles: StyleLibrary, policy: FreshnessPolicy
    ) async throws -> [UInt8] {
        let parts = place.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else {
            throw Problem(ParameterError(parameter: "tile", value: place, expected: "z/x/y or z/x/y@2x"))
        }
        let path = try TilePath(z: parts[0], x: parts[1], y: parts[2] + ".png")
        let query = QueryReader(parameters)
        let list = try LayerList(parameter: layers)
        let scene = try frames.scene(of: list, at: try query.time(), in: snapshot)
        let filter = try query.filter()
        let shown = policy.shown(
            list, scene: scene.layers, of: path.coord.region, at: scene.instant, filter: filter, in: snapshot)
        let request = TileService.Request(
            layers: scene.layers, coord: path.coord, scale: path.scale, instant: scene.instant, filter: filter,
            style: try styles.style(query), labels: try query.labels(),
            isHatched: try query.hatchesIncomplete() && shown.isIncomplete)
        return try await tile(request, in: snapshot) { _ in false }.png
    }
}
