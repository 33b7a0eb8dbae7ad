import ArgumentParser
import BillowEngine
import BillowPacks
import BillowParameters
import BillowRaster
import BillowStore
import BillowTiles
import Foundation
import Geometry

struct Pack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write tiles for offline use: MBTiles, PMTiles, or an archive of frames.",
        discussion: """
            --query takes what /export takes for packs: time, bbox, route, minzoom, maxzoom, tiles, scale, start, end, \
            intervals, form, tileset, … The file gets its name when it is complete.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Layers, separated by commas, the lowest first.")
    var layers: String

    @Option(name: [.short, .long], help: "The file to write; its ending is mbtiles, pmtiles or zip.")
    var output: String?

    @Option(parsing: .unconditional, help: "West, south, east and north in degrees: -125,24,-66,50.")
    var bbox: String?

    @Option(help: "Waypoints: 'KJFK EGLL', with a corridor of 100 NM.")
    var route: String?

    @Option(help: "The lowest zoom.")
    var minzoom: String?

    @Option(help: "The highest zoom.")
    var maxzoom: String?

    @Option(help: "More parameters, as the HTTP interface has them: 'time=latest&scale=2'.")
    var query: String?

    @Flag(help: "Update an MBTiles file of the same request; only changed tiles are made and written.")
    var update = false

    @Flag(help: "Tell the number of tiles and frames, and write nothing.")
    var estimate = false

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            guard output != nil || estimate else { throw Failure(.usage, "-o is missing: name the file to write") }
            let output = output ?? "estimate.mbtiles"
            guard let format = DownloadFormat(ending: URL(fileURLWithPath: output).pathExtension), format.isPack else {
                let endings = DownloadFormat.allCases.filter(\.isPack).map(\.ending).joined(separator: ", ")
                throw Failure(.usage, "the ending of \(output) names no pack; it must be one of \(endings)")
            }
            if update, format != .tileset(.mbtiles) {
                throw Failure(.usage, "--update works with MBTiles only; \(output) has another ending")
            }
            let settings = try common.settings(needs: [.stored, .styles])
            let logger = Logs.start(settings)
            guard !DatabaseNames(settings.database).areLost(byWriting: output) else {
                throw Failure(
                    .usage, "\(output) is a database, or a file that belongs to one: give another file to write to")
            }
            let store = try await settings.openDatabase(.reading)
            let styles = try StyleLibrary(folder: settings.server.stylesFolder)
            let (publisher, frames) = settings.published(store, logger)
            try await publisher.refresh()
            let snapshot = try frames.snapshot()
            let policy = FreshnessPolicy(FreshnessRegister(settings.freshness()), frames: frames)
            let timelines = TimelineService(frames: frames, settings: settings.timeline, policy: policy)
            let reader = try QueryReader(try items(), known: PackParameters.names(format))
            let parsed = try PackParameters(
                layers: LayerList(parameter: layers), format: format, reader, styles: styles,
                defaults: settings.timeline.defaults, airports: .large)
            let pictures = PictureSource(frames: frames, store: store)
            let features = FeatureSource(frames: frames, store: store)
            let work = WorkExecutor()
            let source = PackSource(
                frames: frames, tiles: try TileService(pictures: pictures, work: work),
                vectors: VectorTileSource(
                    frames: frames, pictures: pictures, polygons: features.polygons, store: store, work: work),
                policy: policy)
            if estimate || parsed.isEstimate {
                let size = try await work.reserve(.query) { try await parsed.estimate(timelines, in: snapshot) }
                let excess = size.fits ? "" : ", more than the \(PackLimits.tiles) of a pack"
                let frames = size.frames == 1 ? "1 frame" : "\(size.frames) frames"
                return Terminal.write("\(size.tiles) tiles in \(frames)\(excess)")
            }
            let request = try await work.reserve(.query) { try await parsed.request(timelines, in: snapshot) }
            let tiles = request.cover.tiles.count * request.scenes.count
            let changes = try await write(PackFile(source, request, in: snapshot), to: output, work)
            try store.close()
            Terminal.write(changes.map { "\(tiles) tiles, \($0) of them changed" } ?? "\(tiles) tiles written")
        }
    }

    private func items() throws -> [(name: String, value: String)] {
        let own = [("bbox", bbox), ("route", route), ("minzoom", minzoom), ("maxzoom", maxzoom)].compactMap { option in
            option.1.map { (name: option.0, value: $0) }
        }
        guard let query else { return own }
        guard let items = URLComponents(string: "?\(query)")?.queryItems else {
            throw Failure(.usage, "--query is '\(query)'; it must be name=value pairs joined by '&'")
        }
        return own + items.map { ($0.name, $0.value ?? "") }
    }

    /// - Returns: how many tiles an update changed; nil where all were written.
    private func write(_ pack: PackFile, to output: String, _ work: WorkExecutor) async throws -> Int? {
        let isUpdate = update && FileManager.default.fileExists(atPath: output)
        let unfinished = try UnfinishedFile(for: output)
        do {
            let changes = try await work.reserve(.query) { () async throws -> Int? in
                if isUpdate {
                    do {
                        try Data(contentsOf: URL(fileURLWithPath: output), options: .alwaysMapped).write(
                            to: URL(fileURLWithPath: unfinished.path))
                    } catch {
                        throw Failure(.inputOutput, "\(output) can't be copied: \(error.localizedDescription)")
                    }
                    return try await pack.update(copy: unfinished.path)
                }
                var parts = try await pack.begin(in: .path(unfinished.path))
                while try await parts.next() {}
                return nil
            }
            try Task.checkCancellation()
            try unfinished.finish(replacing: true)
            return changes
        } catch {
            unfinished.discard()
            throw error
        }
    }
}
