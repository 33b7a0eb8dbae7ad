import ArgumentParser
import BillowExchange
import BillowStore
import BillowSync
import Datasets
import Foundation
import Turbulence

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read files of observations, pilot reports, hazards and turbulence grids into the database.",
        discussion: """
            Reads GRIB2, GeoJSON, GeoJSONSeq, CSV, and records as aviationweather.gov sends them: pilot report, \
            \(hazards). The content decides the format. In an archive of hazards, a file is \
            valid until the next one begins, by the times in their names. A second import of a file changes nothing. \
            May run beside a server, which shows the new data within a second.
            """)

    /// The titles of the products of hazards, in words.
    private static var hazards: String {
        var titles: [String] = []
        for kind in Catalogue.areaKinds where kind.product != nil && !titles.contains(kind.title) {
            titles.append(kind.title)
        }
        return titles.formatted(.list(type: .and).locale(Locale(identifier: "en_GB")))
    }

    @OptionGroup var common: CommonOptions

    @Option(help: "The source of observations without one (default: import).")
    var source: String?

    @Flag(help: "The files hold simulated data, and so does the database, which may be empty.")
    var simulated = false

    @Argument(help: ArgumentHelp("The files; - is standard input.", valueName: "file"))
    var files: [String]

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("name at least one file") }
        if let source, SourceID(source) == nil {
            throw ValidationError("--source is '\(source)'; it must be 1 to 64 letters, digits, '-', '_' and '.'")
        }
    }

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .database)
            let store = try await settings.openDatabase(simulated: simulated ? true : nil)
            // Without the flag the database decides, and an empty one is for real data.
            let isStoredSimulated = try await store.sources().contains { $0.simulated == true }
            let importer = FileImporter(
                store: store, now: SystemClock.now, source: source.flatMap { SourceID($0) },
                simulated: simulated ? true : isStoredSimulated ? nil : false)
            var unreadable: ImportFileError?
            var refused = 0
            for file in files {
                do {
                    let summary = try await importFile(file, importer)
                    refused += summary.refusedCount
                    Terminal.write("\(file): \(summary.description)")
                } catch let error as ImportFileError {
                    unreadable = error
                    Terminal.write("billow: \(error.description)")
                }
            }
            try store.close()
            // Their messages are written already.
            if let unreadable { throw ExitCode(Failure.Kind(of: unreadable).rawValue) }
            if refused > 0 { throw ExitCode(Failure.Kind(of: RefusedRecords()).rawValue) }
        }
    }

    private func importFile(_ file: String, _ importer: FileImporter) async throws -> ImportSummary {
        defer { Terminal.endProgress() }
        return try await importer.importFile(file) { progress, count in
            Terminal.progress(file, fraction: progress.fraction, count: count)
        }
    }
}

/// Some records of the files were refused. The summary of each file says which.
struct RefusedRecords: Error {}
