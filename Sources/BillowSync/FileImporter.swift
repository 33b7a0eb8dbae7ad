package import BillowExchange
package import BillowStore
package import Turbulence

/// Imports files into the store, for `billow import` and for an inbox. Importing a file twice changes nothing. Imported
/// data stays until it is pruned manually, even if its source is also fetched.
package struct FileImporter: Sendable {
    let store: any Store
    let now: @Sendable () -> Instant
    let source: SourceID?
    let simulated: Bool?
    let work: any ComputationExecutor
    private let agingSeconds: Int?

    /// The observations of a batch. Two batches, one parsed and one written, take some 90 MB. The store writes a batch
    /// by time, in transactions of a fraction of a second. So a file in no order changes each page of the database only
    /// a few times.
    private static let batchSize = 200_000
    /// The number of observations as which a report or an area counts.
    private static let weight = 20
    /// The most new sources in one file. A file with more probably has another column in place of the source names.
    static let maximumNewSources = 16

    /// - Parameters:
    ///   - source: the source of observations that name none; `import` by default.
    ///   - simulated: whether the files hold simulated data; nil if they state it themselves.
    ///   - agingSeconds: data younger than this obeys retention, like fetched data; nil for none.
    ///   - work: decodes grids.
    package init(
        store: any Store, now: @escaping @Sendable () -> Instant, source: SourceID? = nil, simulated: Bool? = false,
        agingSeconds: Int? = nil, work: any ComputationExecutor = InlineExecutor()
    ) {
        self.store = store
        self.now = now
        self.source = source
        self.simulated = simulated
        self.agingSeconds = agingSeconds
        self.work = work
    }

    /// Reads a file to its end and writes its usable records, batch by batch.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - progress: called after every piece, with the number of records so far.
    /// - Throws: `ImportFileError`, `StoreError`, `SimulatedDataError`, `TooManySourcesError`. Earlier batches stay;
    ///   importing the file again completes it.
    package func importFile(_ path: String, progress: (ImportFile.Progress, Int) -> Void = { _, _ in }) async throws
        -> ImportSummary
    {
        var file = try ImportFile(path: path)
        var piece = try file.next()
        if let piece, Self.isGRIB(piece) { return try await importFields(piece, &file, progress: progress) }
        var reader = ImportReader(now: now(), source: source, fileName: path)
        let importedBefore = agingSeconds.map { now().advanced(by: -$0) } ?? .distantFuture
        let empty = Batch(source: nil, importedBefore: importedBefore)
        var batch = empty
        var duplicates = 0
        let known = try await store.sources()
        let stored = known.lazy.compactMap(\.simulated).first
        var sources = FileSources(known: Set(known.map(\.id)))
        var ids = Set<ReportedID>()
        // One batch is written while the next one is parsed.
        try await withThrowingTaskGroup(of: Int.self) { writes in
            while true {
                let items = if let piece { reader.read(piece) } else { reader.finish() }
                try check(batch, reader, stored)
                for item in items {
                    // A pull is compared with the areas that are stored.
                    if case .pull = item { duplicates += try await writes.next() ?? 0 }
                    duplicates += try await add(item, to: &batch, known: &ids)
                }
                if batch.observations.count + Self.weight * (batch.pilotReports.count + batch.areas.count)
                    >= Self.batchSize || piece == nil
                {
                    try check(batch, reader, stored)
                    try register(&batch, &sources, simulated ?? (reader.saysSimulated || stored == true ? true : nil))
                    duplicates += try await writes.next() ?? 0
                    writes.addTask { [batch] in try await commit(batch) }
                    batch = empty
                }
                progress(file.progress, reader.summary.read)
                if piece == nil || reader.isUnusable { break }
                piece = try file.next()
            }
            duplicates += try await writes.next() ?? 0
        }
        var summary = reader.summary
        summary.duplicates = duplicates
        return summary
    }

    /// Checks that a file's data may share a database with the stored data.
    private func check(_ batch: Batch, _ reader: ImportReader, _ stored: Bool?) throws(SimulatedDataError) {
        if reader.saysSimulated || simulated == true {
            // Without a setting the database decides; a file alone can't make a database simulated.
            guard stored != false, simulated ?? stored ?? false else { throw SimulatedDataError(source: nil) }
        } else if stored == true {
            let real = batch.sources.filter { !$0.name.hasPrefix(SourceID.simulatorName) }.min()
            if let real { throw SimulatedDataError(source: real, isReal: true) }
        }
    }

    /// An id from the file.
    private struct ReportedID: Hashable {
        var source: SourceID
        var id: String
    }

    /// Adds an item to a batch. Of observations with the same id, the first in the file counts. If the last one
    /// counted, importing the file again would correct the first one again. Ids in Billow's own format derive from the
    /// content and need no such check.
    /// - Returns: the number of skipped observations.
    private func add(_ item: ImportItem, to batch: inout Batch, known ids: inout Set<ReportedID>)
        async throws(StoreError)
        -> Int
    {
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
        case .area(let area):
            batch.areas.append(area)
            return 0
        case .pull(let pull):
            let reach = HazardArchiveCopy.reachSeconds
            var stored: [IssuedArea] = []
            for collection in pull.collections {
                stored += try await store.areas(
                    collection, from: pull.at.advanced(by: -reach), to: pull.at.advanced(by: reach), asOf: nil)
            }
            batch.areas += pull.placed(among: stored)
            return 0
        case .refused: return 0
        }
        let new = found.filter(isNew)
        batch.observations += new
        return found.count - new.count
    }

    /// The sources that a file has named so far.
    private struct FileSources {
        let known: Set<SourceID>
        var new: Set<SourceID> = []
    }

    /// Adds a batch's new sources to its registration.
    private func register(_ batch: inout Batch, _ sources: inout FileSources, _ isSimulated: Bool?) throws {
        let new = batch.sources.subtracting(sources.known)
        if isSimulated != true,
            let source = new.sorted().first(where: { $0.name.hasPrefix(SourceID.simulatorName) })
        {
            throw SimulatedDataError(source: source)
        }
        sources.new.formUnion(new)
        guard sources.new.count <= Self.maximumNewSources else { throw TooManySourcesError(sources.new.sorted()) }
        batch.registration = SourceRegistration(new, simulated: isSimulated)
    }

    /// - Returns: the number of rows that were stored already.
    private func commit(_ batch: Batch) async throws -> Int {
        guard !batch.observations.isEmpty || !batch.pilotReports.isEmpty || !batch.areas.isEmpty else { return 0 }
        let result: BatchResult
        do throws(StoreError) { result = try await store.commit(batch) } catch {
            guard case .tooManySources = error else { throw error }
            throw TooManySourcesError((batch.registration?.sources ?? []).sorted())
        }
        return result.duplicates + batch.pilotReports.count - result.pilotReports
            + max(0, batch.areas.count - result.areas)
    }
}

extension Batch {
    /// The sources of its data.
    fileprivate var sources: Set<SourceID> {
        Set(observations.map(\.source)).union(pilotReports.map(\.source)).union(areas.map(\.source))
    }
}

/// A file names more new sources than permitted, or than the database has room for.
package struct TooManySourcesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Sorted by name.
    package let sources: [SourceID]

    init(_ sources: [SourceID]) { self.sources = sources }

    package var description: String {
        let names = sources.prefix(3).map(\.name).joined(separator: ", ")
        return
            "the file names new sources (\(names)\(sources.count > 3 ? ", …" : "")), and they are too many: "
            + "at most \(FileImporter.maximumNewSources) in a file, and "
            + "\(SourceRecord.most - SourceRecord.reserved) in a database; has the column "
            + "'source' another meaning?"
    }
}

/// A file would mix simulated and real data.
package struct SimulatedDataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The source whose name decided this; nil if the file states it itself.
    package let source: SourceID?
    /// Whether the file's data is the real part.
    package let isReal: Bool

    init(source: SourceID?, isReal: Bool = false) {
        self.source = source
        self.isReal = isReal
    }

    package var description: String {
        if isReal {
            let whose = source.map { " of source '\($0)'" } ?? ""
            return
                "the file holds data\(whose) that isn't marked as simulated, and the database holds simulated data: "
                + "they must not be mixed"
        }
        let sign = source.map { " (source '\($0)')" } ?? ""
        return "the file holds simulated data\(sign); it must not be mixed with real data, and only a database of "
            + "simulated data takes it"
    }
}

extension SourceID {
    /// The prefix of the demo's source names; every source with this prefix is simulated.
    package static let simulatorName = "simulator"
}
