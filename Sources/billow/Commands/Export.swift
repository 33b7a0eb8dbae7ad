import ArgumentParser
import BillowExchange
import BillowRaster
import BillowEngine
import BillowParameters
import BillowStore
import BillowSync
import Datasets
import Foundation
import Turbulence

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write features to standard output or a file.",
        discussion: "The parameters are those of the HTTP interface, and mean the same.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "observations, hexagons, polygons, pireps, hazards, forecast, traffic, …")
    var collection: String

    @Option(name: [.short, .long], help: "The file to write; its ending gives the format.")
    var output: String?

    @Option(help: "geojson, geojsonl, geojsons or csv (default: geojson).")
    var format: String?

    @Option(help: "An instant or an interval a/b.")
    var datetime: String?

    @Option(help: "west,south,east,north in degrees.")
    var bbox: String?

    @Option(help: "How far back: 0.5, 1, 2, 4 or 6.")
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

    @Option(help: "false gives every standing record in place of one hexagon a cell.")
    var aggregate: String?

    @Option(help: "gtg: cells, or contours by severity.")
    var shape: String?

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            guard let collection = Catalogue.dataset(collection) else {
                throw Failure(
                    .usage,
                    "there is no collection '\(collection)'; it must be "
                        + Catalogue.all.map(\.id).joined(separator: ", "))
            }
            let format = try self.exportFormat
            let settings = try common.settings(needs: .stored)
            let sink = try OutputFile(output, sparing: settings.database)
            let store = try await SQLiteStore.open(path: settings.database, access: .reading)
            try await write(collection, format, settings, store, to: sink)
            try store.close()
        }
    }

    private var exportFormat: ExportFormat {
        get throws {
            let names = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            if let format {
                guard let known = ExportFormat(rawValue: format) else {
                    throw Failure(.usage, "there is no format '\(format)'; it must be \(names)")
                }
                return known
            }
            guard let output else { return .geojson }
            guard let known = ExportFormat(rawValue: URL(fileURLWithPath: output).pathExtension) else {
                throw Failure(
                    .usage,
                    "the ending of \(output) names no format; give --format, or an ending that is one of \(names)")
            }
            return known
        }
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
        _ collection: Dataset, _ format: ExportFormat, _ settings: Settings, _ store: SQLiteStore,
        to sink: OutputFile
    ) async throws {
        let logger = Logs.start(level: settings.logLevel)
        let publisher = SnapshotPublisher(
            store: store, severityTable: settings.severityTable, now: SystemClock.now, logger: logger)
        let frames = FrameSource(
            publisher: publisher, store: store, retentionSeconds: settings.retentionSeconds,
            trafficRetentionSeconds: settings.trafficRetentionSeconds,
            fieldRetentionSeconds: settings.fieldRetentionSeconds, trafficDropSeconds: settings.trafficDropSeconds,
            polygonHistories: settings.polygons, logger: logger)
        var count = 0
        try await sink.write(from: store, publisher) {
            let snapshot = try frames.snapshot()
            let query = try FeatureParameters(QueryReader(parameters), of: collection).query(frames, in: snapshot)
            let export = FeatureExport(
                features: FeatureSource(frames: frames, store: store), query: query, format: format,
                snapshot: snapshot,
                policy: FreshnessPolicy(settings.freshness(), states: SourceStates(), frames: frames))
            count = try await export.write { try sink.write($0) }
        }
        Terminal.say("\(count) features written")
    }
}
