import ArgumentParser
import BillowEngine
import BillowExchange
import BillowRaster
import BillowParameters
import BillowSnapshot
import BillowStore
import Datasets
import Foundation
import Turbulence

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write features to standard output or a file.",
        discussion: "The parameters have the names and the meaning of the HTTP interface.")

    private static let formats = DownloadFormat.ofFeatures.map(\.ending).joined(separator: ", ")

    @OptionGroup var common: CommonOptions

    @Argument(help: "\(Catalogue.all.map(\.id).joined(separator: ", ")).")
    var collection: String

    @Option(
        name: [.short, .long],
        help: "The file to write; its ending gives the format. With --since-last a folder.")
    var output: String?

    @Option(help: "\(Export.formats) (default: geojson).")
    var format: String?

    @Option(help: "An instant or an interval a/b.")
    var datetime: String?

    @Option(parsing: .unconditional, help: "west,south,east,north in degrees.")
    var bbox: String?

    @Option(help: "The history in hours: 0.5, 1, 2, 4 or 6.")
    var hours: String?

    @Option(help: "A list of severities, 0 to 4 or their names.")
    var severity: String?

    @Option(name: .customLong("min-severity"), help: "This severity or worse.")
    var minSeverity: String?

    @Option(name: .customLong("min-altitude"), help: "Feet, whole thousands.")
    var minAltitude: String?

    @Option(name: .customLong("max-altitude"), help: "Feet, whole thousands.")
    var maxAltitude: String?

    @Option(help: "A list of sources.")
    var source: String?

    @Option(help: "A list of kinds.")
    var kind: String?

    @Option(help: "The aircraft category, C10 to C110.")
    var category: String?

    @Option(help: "false gives every standing observation, not one hexagon for each cell.")
    var aggregate: String?

    @Option(help: "gtg: cells, or contours by severity.")
    var shape: String?

    @Flag(
        name: .customLong("since-last"),
        help: "Append what was stored since the last run to files of one day each, in the folder of -o.")
    var sinceLast = false

    @Flag(help: "Tell the number of features, and of bytes where the format is text; write nothing.")
    var estimate = false

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            guard let collection = Catalogue.dataset(collection) else {
                throw Failure(
                    .usage,
                    "there is no collection '\(collection)'; it must be "
                        + Catalogue.all.map(\.id).joined(separator: ", "))
            }
            guard !sinceLast else { return try await writeNew(collection) }
            let format = try self.exportFormat
            if estimate { return try await tellSize(collection, format) }
            let isColoured = [.geoPackage, .kmz, .text(.kml)].contains(format)
            let settings = try common.settings(needs: isColoured ? [.stored, .styles] : .stored)
            let style = isColoured ? try Self.style(settings) : nil
            let sink = try OutputFile(output, sparing: settings.database)
            let store = try await settings.openDatabase(.reading)
            try await write(collection, format, style, settings, store, to: sink)
            try store.close()
        }
    }

    private var exportFormat: DownloadFormat {
        get throws {
            if let format {
                guard let known = Self.known(format) else {
                    throw Failure(.usage, "there is no format '\(format)'; it must be \(Self.formats)")
                }
                return known
            }
            guard let output else { return .text(.geojson) }
            guard let known = Self.known(URL(fileURLWithPath: output).pathExtension) else {
                throw Failure(
                    .usage,
                    "the ending of \(output) names no format; give --format, or an ending that is one of "
                        + Self.formats)
            }
            return known
        }
    }

    private static func known(_ ending: String) -> DownloadFormat? {
        DownloadFormat.ofFeatures.first { $0.ending == ending }
    }

    /// The colours of a GeoPackage, and of KML.
    private static func style(_ settings: Settings) throws -> Style {
        try StyleLibrary(folder: settings.server.stylesFolder).default
    }

    private var parameters: [String: String] {
        let all: [(String, String?)] = [
            ("datetime", datetime), ("bbox", bbox), ("hours", hours), ("severity", severity),
            ("minSeverity", minSeverity), ("minAltitude", minAltitude), ("maxAltitude", maxAltitude),
            ("source", source), ("kind", kind), ("category", category), ("aggregate", aggregate),
            ("shape", shape),
        ]
        return Dictionary(uniqueKeysWithValues: all.compactMap { name, value in value.map { (name, $0) } })
    }

    private func write(
        _ collection: Dataset, _ format: DownloadFormat, _ style: Style?, _ settings: Settings,
        _ store: any SQLStore, to sink: OutputFile
    ) async throws {
        let logger = Logs.start(settings)
        let (publisher, frames) = settings.published(
            store, logger, liveSeconds: collection.isOfRows ? 0 : SnapshotPublisher.liveSeconds)
        var count = 0
        try await sink.write(from: store, publisher) {
            let snapshot = try frames.snapshot()
            let query = try FeatureParameters(QueryReader(parameters), of: collection).query(frames, in: snapshot)
            let features = FeatureSource(frames: frames, store: store)
            let policy = FreshnessPolicy(FreshnessRegister(settings.freshness()), frames: frames)
            let dataStatus = policy.dataStatus(query, in: snapshot)
            let total =
                collection.isOfRows && Terminal.isInteractive
                ? try await store.countObservations(from: query.from, to: query.to) : nil
            count = try await WorkExecutor().reserve(.query) {
                switch format {
                case .text(let format):
                    var pieces = FeatureExport(
                        features: features, query: query, format: format, snapshot: snapshot, dataStatus: dataStatus,
                        style: style
                    ).parts(isAhead: true)
                    defer { Terminal.endProgress() }
                    while let piece = try await pieces.next() {
                        try sink.write(piece)
                        Terminal.progress(
                            collection.id, fraction: total.map { Double(pieces.features) / Double(max($0, 1)) },
                            count: pieces.features)
                    }
                    return pieces.features
                case .geoPackage:
                    return try await GeoPackageExport(
                        features: features, query: query, snapshot: snapshot, dataStatus: dataStatus, style: style,
                        request: QueryReader.query(parameters)
                    ).write(to: sink.path)
                case .kmz:
                    return try await KMZExport(
                        features: features, query: query, snapshot: snapshot, dataStatus: dataStatus, style: style
                    ).write(to: sink.path)
                case .tileset, .archive: preconditionFailure("a pack has no features")
                }
            }
        }
        Terminal.write("\(count) features written")
    }

    // MARK: - Sizes

    private func tellSize(_ collection: Dataset, _ format: DownloadFormat) async throws {
        // Other formats have a size that only their file tells.
        let text: ExportFormat? = if case .text(let format) = format { format } else { nil }
        let settings = try common.settings(needs: .stored)
        let store = try await settings.openDatabase(.reading)
        let logger = Logs.start(settings)
        let (publisher, frames) = settings.published(
            store, logger, liveSeconds: collection.isOfRows ? 0 : SnapshotPublisher.liveSeconds)
        try await publisher.refresh()
        let snapshot = try frames.snapshot()
        let query = try FeatureParameters(QueryReader(parameters), of: collection).query(frames, in: snapshot)
        let features = FeatureSource(frames: frames, store: store)
        let status = FreshnessPolicy(FreshnessRegister(settings.freshness()), frames: frames).dataStatus(
            query, in: snapshot)
        let estimate = try await WorkExecutor().reserve(.query) {
            var estimation = FeatureExport.estimate(
                of: query, as: text, features: features, snapshot: snapshot, dataStatus: status)
            while true {
                if let estimate = try await estimation.next() { return estimate }
            }
        }
        try store.close()
        Terminal.write(estimate.text)
    }

    // MARK: - Since the last run

    private func writeNew(_ collection: Dataset) async throws {
        guard collection.openedKind != nil else {
            throw Failure(
                .usage,
                "--since-last works with records only: "
                    + DailyExport.collections.map(\.id).joined(separator: ", ") + "; not with \(collection.id)")
        }
        for (name, value) in [("--datetime", datetime), ("--hours", hours)] where value != nil {
            throw Failure(.usage, "\(name) must be left out with --since-last, which follows what is stored")
        }
        guard let output else { throw Failure(.usage, "--since-last needs a folder: give it with -o") }
        let formats = DailyExport.formats
        guard let format = formats.first(where: { $0.rawValue == self.format ?? formats[0].rawValue }) else {
            throw Failure(
                .usage,
                "--since-last appends, which --format \(self.format ?? "") can't; it must be "
                    + formats.map(\.rawValue).joined(separator: ", "))
        }
        let settings = try common.settings(needs: .stored)
        let store = try await settings.openDatabase(.reading)
        let logger = Logs.start(settings)
        let (publisher, frames) = settings.published(store, logger, liveSeconds: 0)
        try await publisher.refresh()
        let snapshot = try frames.snapshot()
        let query = try FeatureParameters(QueryReader(parameters), of: collection).query(frames, in: snapshot)
        let status = FreshnessPolicy(FreshnessRegister(settings.freshness()), frames: frames).dataStatus(
            query, in: snapshot)
        let export = DailyExport(
            query: query, format: format,
            members: CollectionMembers(query, snapshot: snapshot, dataStatus: status), snapshot: snapshot, store: store,
            parameters: QueryReader.query(parameters))
        if estimate {
            Terminal.write(try await export.estimate(output).text)
        } else {
            let (features, files) = try await export.run(into: output)
            Terminal.write("\(features) features written to \(files) files")
        }
        let damage = store.damage
        try store.close()
        guard damage.isEmpty else {
            throw Failure(.data, "left out unreadable data: \(damage.map(\.description).joined(separator: "; "))")
        }
    }
}
