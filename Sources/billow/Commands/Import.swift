import ArgumentParser
import BillowExchange
import BillowStore
import Foundation
import Turbulence

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read files of observations and pilot reports into the database.",
        discussion: """
            GeoJSON, GeoJSONSeq, CSV, and pilot reports as aviationweather.gov sends them; the form is told by the content. \
            The same file twice changes nothing. May run beside a server, which shows the new data within a second.
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The source of observations that name none (default: import).")
    var source: String?

    @Argument(help: ArgumentHelp("The files; - is standard input.", valueName: "file"))
    var files: [String]

    private static let batchSize = 10_000

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("name at least one file") }
        if let source, SourceID(source) == nil {
            throw ValidationError("--source is '\(source)'; it must be 1 to 64 letters, digits, '-', '_' and '.'")
        }
    }

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings()
            let store = try await SQLiteStore.open(path: settings.database, simulated: false)
            var unreadable = 0
            var refused = 0
            for file in files {
                do {
                    let summary = try await take(file, into: store)
                    refused += summary.refusedCount
                    Terminal.say("\(file): \(summary.description)")
                } catch let error as ImportFileError {
                    unreadable += 1
                    Terminal.say("billow: \(error.description)")
                }
            }
            try store.close()
            if unreadable > 0 { throw ExitCode(Failure.Kind.inputOutput.rawValue) }
            if refused > 0 { throw ExitCode(Failure.Kind.data.rawValue) }
        }
    }

    private func take(_ path: String, into store: SQLiteStore) async throws -> ImportSummary {
        var file = try ImportFile(path: path)
        var reader = ImportReader(now: SystemClock.now(), source: source.flatMap { SourceID($0) })
        var batch = Batch(source: nil)
        var duplicates = 0
        var registered = Set(try await store.sources().map(\.id))
        var ids = Set<ReportedID>()
        defer { Terminal.endProgress() }
        while true {
            let piece = try file.next()
            let items = if let piece { reader.read(piece) } else { reader.finish() }
            for item in items { duplicates += Self.add(item, to: &batch, known: &ids) }
            if batch.observations.count + batch.pilotReports.count >= Self.batchSize || piece == nil {
                duplicates += try await commit(batch, to: store, &registered)
                batch = Batch(source: nil)
            }
            Terminal.progress(path, fraction: file.progress.fraction, count: reader.summary.read)
            if piece == nil || reader.isUnusable { break }
        }
        var summary = reader.summary
        summary.duplicates = duplicates
        return summary
    }

    /// An id that the file gives to an observation.
    private struct ReportedID: Hashable {
        var source: SourceID
        var id: String
    }

    /// Of observations of one id in a file the first counts: were it the last, the same file again would correct the first
    /// by it once more. Ids of our own making say what their content says, and need no memory.
    /// - Returns: how many were left out.
    private static func add(_ item: ImportItem, to batch: inout Batch, known ids: inout Set<ReportedID>) -> Int {
        func isNew(_ observation: Observation) -> Bool {
            guard let id = observation.id, ObservationKey(id: id) == nil else { return true }
            return ids.insert(ReportedID(source: observation.source, id: id)).inserted
        }
        let found: [Observation]
        switch item {
        case .observation(let observation): found = [observation]
        case .pilotReport(let report, let observations):
            batch.pilotReports.append(report)
            found = observations
        case .refused: return 0
        }
        let new = found.filter(isNew)
        batch.observations += new
        return found.count - new.count
    }

    /// - Returns: how many of them were there already.
    private func commit(_ batch: Batch, to store: SQLiteStore, _ registered: inout Set<SourceID>) async throws -> Int {
        guard !batch.observations.isEmpty || !batch.pilotReports.isEmpty else { return 0 }
        let sources = Set(batch.observations.map(\.source)).union(batch.pilotReports.map(\.source))
        for source in sources.subtracting(registered).sorted() {
            guard source != .simulator else {
                throw Failure(
                    .data, "the file holds simulated data (source '\(source)'); it must not be mixed with real data")
            }
            _ = try await store.register(source, merge: .keep, simulated: false)
            registered.insert(source)
        }
        let result = try await store.commit(batch)
        return result.duplicates + batch.pilotReports.count - result.pilotReports
    }
}
