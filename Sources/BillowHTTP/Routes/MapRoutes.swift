package import BillowEngine
package import BillowRaster
package import BillowSnapshot
import BillowTiles
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// `/maps/{layers}.png`: one picture of a region.
struct MapRoutes: Sendable {
    let frames: FrameSource
    let maps: MapRenderer
    let shelf: StyleShelf
    let policy: FreshnessPolicy

    private var styles: StyleLibrary { shelf.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/maps/:layers") { request, context in try await map(request, context.parameters) }
    }

    /// 200 image/png, 304, 400 for what can't be read, 404 for an unknown layer or a time outside retention, 503 when too
    /// many wait.
    private func map(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let document = parameters.text("layers")
        guard document.hasSuffix(".png") else {
            throw Problem(
                .noSuchRoute, detail: "There is nothing at \(request.uri.path.prefix(200)).",
                allowed: "/maps/{layers}.png")
        }
        let query = try QueryReader(request)
        let snapshot = try frames.snapshot()
        let layers = try LayerList(parameter: document.dropLast(4))
        let (order, shown) = try MapRenderer.Request.make(
            layers: layers, query, frames: frames, snapshot: snapshot, styles: styles, policy: policy)
        let known = EntityTags(request.headers[.ifNoneMatch])
        let picture = try await maps.picture(order, in: snapshot) { known.match($0) }
        let headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        return try PictureAnswer.make(picture, headers: headers, known: known)
    }
}

extension MapRenderer.Request {
    private static let defaultWidth = 1_024

    /// What `/maps` would draw for the same parameters.
    /// - Throws: `Problem` for what can't be read.
    package init(
        layers: String, parameters: [String: String], frames: FrameSource, snapshot: Snapshot, styles: StyleLibrary,
        policy: FreshnessPolicy
    ) throws {
        self = try Self.make(
            layers: LayerList(parameter: layers), QueryReader(parameters), frames: frames, snapshot: snapshot,
            styles: styles, policy: policy
        ).request
    }

    /// The request, and what its picture shows.
    static func make(
        layers: LayerList, _ query: QueryReader, frames: FrameSource, snapshot: Snapshot, styles: StyleLibrary,
        policy: FreshnessPolicy
    ) throws -> (request: Self, shown: Shown) {
        let scene = try frames.scene(of: layers, at: try query.time(), in: snapshot)
        let filter = try query.filter()
        let region = try query.region(defaultWidth: Self.defaultWidth)
        let shown = policy.shown(
            layers, scene: scene.layers, of: region.region, at: scene.instant, filter: filter, in: snapshot)
        let lookBackSeconds = LayerTime.historySeconds(of: scene.layers, filter)
        let style = try styles.style(query)
        let hasLegend = try query.boolean("legend") ?? false
        let hasTime = try query.boolean("timestamp") ?? false
        let request = Self(
            layers: scene.layers, region: region, instant: scene.instant, filter: filter,
            style: style, labels: try query.labels(),
            furniture: MapFurniture(
                legend: hasLegend
                    ? scene.layers.legend(
                        style: style, severities: filter.severities, simulated: shown.freshness.isSimulated,
                        notes: filter.notes(lookBackSeconds: lookBackSeconds)) : nil,
                timeStamp: hasTime
                    ? shown.caption(filter, historySeconds: lookBackSeconds, asOf: snapshot.publication.asOf) : [],
                warnings: hasTime ? shown.warnings(asOf: snapshot.publication.asOf) : [],
                showsScaleBar: try query.boolean("scalebar") ?? false),
            isHatched: try query.hatchesIncomplete() && shown.isIncomplete)
        return (request, shown)
    }
}

extension LayerList {
    /// The layers that a path names.
    init(parameter text: some StringProtocol) throws(Problem) {
        do { try self.init(text) } catch {
            switch error {
            case .unusable(let error): throw Problem(error)
            case .unknown(let name):
                throw Problem(
                    .unknownLayer, detail: "There is no layer '\(name)'.", parameter: "layers",
                    value: name, allowed: Layer.allCases.map(\.rawValue).joined(separator: ", "))
            }
        }
    }
}

extension QueryReader {
    /// Whether incomplete pictures are to be hatched.
    func hatchesIncomplete() throws(Problem) -> Bool {
        try choice("incomplete", [("hatch", true), ("none", false)]) ?? false
    }

    /// How many aircraft of a block are named.
    func labels() throws(Problem) -> Int {
        try integer("labels", in: PictureContent.labelCounts) ?? PictureContent.defaultLabels
    }

    /// The layers of a legend.
    func layers(_ name: String) throws(Problem) -> LayerList {
        let text = text(name) ?? Layer.hexagons.rawValue
        do { return try LayerList(text) } catch {
            throw invalid(
                name, text, "a list without repeats of " + Layer.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    /// The window that `bbox`, `width`, `height` and `scale` ask for; one side alone brings the other.
    func region(defaultWidth: Int) throws(Problem) -> MapRegion {
        let box = try bbox() ?? .world
        func unusable(_ expected: String) -> Problem { invalid("bbox", text("bbox") ?? "", expected) }
        guard box.south < box.north, box.west != box.east, !(box.west == 180 && box.east == -180) else {
            throw unusable("a box with an area")
        }
        // What lies beyond has no place on the map: a picture of it would look as if nothing were there.
        guard box.south < UnitMercator.maximumLatitude, box.north > -UnitMercator.maximumLatitude else {
            throw unusable("a box that reaches between 85.0511 degrees south and north, where web mercator ends")
        }
        // To filter by, it is the world; a picture would be of another region than the one asked for.
        guard try bboxWidth() ?? 360 <= 360 else { throw unusable("a box at most 360 degrees wide") }
        let width = try integer("width", in: MapRegion.sides)
        let height = try integer("height", in: MapRegion.sides)
        let scale = try integer("scale", in: 1...3) ?? 1
        let across = width ?? height.map { MapRegion.width(of: box, height: $0) } ?? defaultWidth
        guard
            let region = MapRegion(
                box, width: across, height: height ?? MapRegion.height(of: box, width: across), scale: scale)
        else { throw unusable("a box that fits a picture") }
        return region
    }
}
