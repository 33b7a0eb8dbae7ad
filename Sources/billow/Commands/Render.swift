import ArgumentParser
import BillowRaster
import BillowEngine
import BillowParameters
import BillowSnapshot
import BillowStore
import BillowTiles
import Datasets
import Foundation
import Geometry
import Turbulence

struct Render: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw tiles and maps from the stored data.",
        subcommands: [RenderMap.self, RenderTile.self, RenderSheet.self])
}

/// The options of all pictures.
struct RenderOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(name: [.short, .long], help: "The PNG file to write (default: standard output).")
    var output: String?

    @Option(help: "Parameters as the HTTP interface has them: 'style=night&hours=1&bbox=-125,24,-66,50'.")
    var query: String?

    func parameters() throws -> [String: String] {
        guard let query else { return [:] }
        guard let items = URLComponents(string: "?\(query)")?.queryItems else {
            throw Failure(.usage, "--query is '\(query)'; it must be name=value pairs joined by '&'")
        }
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    /// Opens the data of pictures, and writes the picture that `draw` returns.
    func write(_ draw: (RenderContext) async throws -> [UInt8]) async throws {
        let settings = try common.settings(needs: [.stored, .styles])
        let logger = Logs.start(settings)
        let sink = try OutputFile(output, sparing: settings.database)
        let store = try await settings.openDatabase(.reading)
        let styles = try StyleLibrary(folder: settings.server.stylesFolder)
        let (publisher, frames) = settings.published(store, logger)
        let parameters = try parameters()
        try await sink.write(from: store, publisher) {
            let context = RenderContext(
                frames: frames, snapshot: try frames.snapshot(),
                pictures: PictureSource(frames: frames, store: store), styles: styles, parameters: parameters,
                timeline: settings.timeline,
                policy: FreshnessPolicy(FreshnessRegister(settings.freshness()), frames: frames),
                baseMaps: BaseMapSource(publicFolder: settings.server.publicFolder, caches: frames.caches))
            try sink.write(try await draw(context))
        }
        try store.close()
    }
}

/// The data and the renderers of pictures.
struct RenderContext {
    let frames: FrameSource
    let snapshot: Snapshot
    let pictures: PictureSource
    let styles: StyleLibrary
    let parameters: [String: String]
    let timeline: TimelineSettings
    let policy: FreshnessPolicy
    let baseMaps: BaseMapSource

    var maps: MapRenderer { get throws { try MapRenderer(pictures: pictures, baseMaps: baseMaps) } }

    /// The picture that `/maps` returns for the same parameters.
    func mapRequest(layers: LayerList) throws -> MapRequest {
        try MapParameters(layers: layers, QueryReader(parameters), styles: styles).request(
            frames, policy, in: snapshot
        ).request
    }

    /// The tile that `/tiles` returns for the same parameters.
    func tile(layers: String, place: String) async throws -> [UInt8] {
        let parsed = try TileParameters(layers: layers, place: place, QueryReader(parameters), styles: styles)
        let scene = try frames.scene(of: parsed.layers, at: parsed.time, in: snapshot)
        let dataStatus = policy.dataStatus(
            parsed.layers, scene: scene.layers, of: parsed.place.coord.region, at: scene.instant,
            filter: parsed.filter, in: snapshot)
        let request = parsed.request(scene, isIncomplete: dataStatus.isIncomplete)
        return try await TileService(pictures: pictures).tile(request, in: snapshot) { _ in false }.png
    }
}

struct RenderMap: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Draw a picture of a region.",
        discussion: """
            --query takes what /maps takes: bbox, width, height, scale, legend, timestamp, scalebar, …; with --animate \
            what /animations takes: start, end, intervals, bbox, width, delay, hold, loop, form=sheet, …
            """)

    @OptionGroup var options: RenderOptions

    @Flag(help: "Draw a timeline as an animated PNG.")
    var animate = false

    @Argument(help: "Layers, separated by commas, the lowest first.")
    var layers: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            try await options.write { context in
                let maps = try context.maps
                if animate {
                    let parsed = try AnimationParameters(
                        layers: LayerList(parameter: layers), QueryReader(context.parameters), styles: context.styles,
                        defaults: context.timeline.defaults)
                    let timelines = TimelineService(
                        frames: context.frames, settings: context.timeline, policy: context.policy)
                    return try await AnimationRenderer(maps: maps, frames: context.frames, policy: context.policy).png(
                        try await parsed.request(timelines, in: context.snapshot), in: context.snapshot)
                }
                let request = try context.mapRequest(layers: LayerList(parameter: layers))
                return try await maps.png(request, in: context.snapshot)
            }
        }
    }
}

struct RenderTile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tile", abstract: "One tile.")

    @OptionGroup var options: RenderOptions

    @Argument(help: "Layers, separated by commas, the lowest first.")
    var layers: String

    @Argument(help: "z/x/y or z/x/y@2x.")
    var tile: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            try await options.write { context in
                try await context.tile(layers: layers, place: tile)
            }
        }
    }
}

struct RenderSheet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sheet", abstract: "Draw a contact sheet: every layer in every style at some zooms.")

    @OptionGroup var options: RenderOptions

    @Option(help: "Rows, each a list of layers separated by commas (default: each layer by itself).")
    var layers: String?

    @Option(help: "Styles, separated by commas (default: all).")
    var styles: String?

    @Option(help: "Zooms, separated by commas.")
    var zooms = "2,4,6,8"

    @Option(help: "Longitude and latitude of the centre (default: where the layers of a row have the most data).")
    var center: String?

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            try await options.write { context in
                let request = try context.mapRequest(layers: LayerList(.turbulence))
                let sheet = ContactSheet(
                    layers: try rows(), styles: try chosen(from: context.styles), zooms: try wholeNumbers(),
                    center: try middle(), filter: request.filter)
                return try await sheet.png(
                    context.maps, at: request.instant, in: context.snapshot)
            }
        }
    }

    private func rows() throws -> [LayerList] {
        guard let layers else { return Catalogue.layers.map { LayerList($0) } }
        return try layers.split(separator: " ").map { text in
            do { return try LayerList(text) } catch {
                throw Failure(
                    .usage,
                    "'\(text)' is no list of layers; they are \(Catalogue.layers.map(\.id).joined(separator: ", "))"
                )
            }
        }
    }

    private func chosen(from library: StyleLibrary) throws -> [Style] {
        guard let styles else { return library.styles }
        return try styles.split(separator: ",").map { id in
            guard let style = library[String(id)] else { throw Failure(.usage, "there is no style '\(id)'") }
            return style
        }
    }

    private func wholeNumbers() throws -> [Int] {
        try zooms.split(separator: ",").map { text in
            guard let zoom = Int(text), (0...TileCoord.maximumZoom).contains(zoom) else {
                throw Failure(.usage, "--zooms has '\(text)'; a zoom must be 0 to \(TileCoord.maximumZoom)")
            }
            return zoom
        }
    }

    private func middle() throws -> LonLat? {
        guard let center else { return nil }
        let numbers = center.split(separator: ",").compactMap { Double($0) }
        guard numbers.count == 2, let place = LonLat(longitude: numbers[0], latitude: numbers[1]) else {
            throw Failure(.usage, "--center is '\(center)'; it must be a longitude and a latitude joined by ','")
        }
        return place
    }
}
