package import BillowExchange
package import BillowStore
package import Turbulence

/// Brings files into the store: what `billow import` and an inbox share. The same file twice changes nothing. What is
/// imported stays until it is pruned by hand, also where it is of a source that is fetched.
package struct FileImporter: Sendable {
    let store: any Store
    let now: @Sendable () -> Instant
    let source: SourceID?
    let simulated: Bool?
    let work: any LongWork
    private let agingSeconds: Int?

    private static let batchSize = 10_000
    /// New sources in one file. More are a column of something else that was taken for names.
    static let mostNewSources = 16

    /// - Parameters:
    ///   - source: of observations that name none; `import` by default.
    ///   - simulated: whether what a file holds is made up; nil: whether it says so itself.
    ///   - agingSeconds: what is no older than this isn't kept for ever, but ages as what is fetched does; nil for
    ///     nothing.
    ///   - work: decodes grids.
    package init(
        store: any Store, now: @escaping @Sendable () -> Instant, source: SourceID? = nil, simulated: Bool? = false,
        agingSeconds: Int? = nil, work: any LongWork = InlineWork()
    ) {
        self.store = store
        self.now = now
        self.source = source
        self.simulated = simulated
        self.agingSeconds = agingSeconds
        self.work = work
    }

    /// Reads a file to its end and writes what can be used, batch by batch.
    ///
    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - progress: told after every piece, with the records read so far.
    /// - Throws: `ImportFileError`, `StoreError`, `SimulatedDataError`, `TooManySourcesError`. What was written before
    ///   stays: the file again completes it.
    package func take(_ path: String, progress: (ImportFile.Progress, Int) -> Void = { _, _ in }) async throws
        -> ImportSummary
    {
        var file = try ImportFile(path: path)
        var piece = try file.next()
        if let piece, Self.isGRIB(piece) { return try await takeFields(piece, &file, progress: progress) }
        var reader = ImportReader(now: now(), source: source, fileName: path)
        let importedBefore = agingSeconds.map { now().advanced(by: -$0) } ?? .distantFuture
        let empty = Batch(source: nil, importedBefore: importedBefore)
        var batch = empty
        var duplicates = 0
        let known = try await store.sources()
        let stored = known.lazy.compactMap(\.simulated).first
        var sources = FileSources(known: Set(known.map(\.id)))
        var ids = Set<ReportedID>()
        while true {
            let items = if let piece { reader.read(piece) } else { reader.finish() }
            try check(batch, reader, stored)
            for item in items { duplicates += try await add(item, to: &batch, known: &ids) }
            let count = batch.observations.count + batch.pilotReports.count + batch.areas.count
            if count >= Self.batchSize || piece == nil {
                try check(batch, reader, stored)
                duplicates += try await commit(
                    batch, &sources, simulated ?? (reader.saysSimulated || stored == true ? true : nil))
                batch = empty
            }
            progress(file.progress, reader.summary.read)
            if piece == nil || reader.isUnusable { break }
            piece = try file.next()
        }
        var summary = reader.summary
        summary.duplicates = duplicates
        return summary
    }

    /// Checks that what a file holds may stand beside what is stored.
    private func check(_ batch: Batch, _ reader: ImportReader, _ stored: Bool?) throws(SimulatedDataError) {
        if reader.saysSimulated || simulated == true {
            // Without a word of the settings the database tells; a file alone doesn't settle it.
            guard stored != false, simulated ?? stored ?? false else { throw SimulatedDataError(source: nil) }
        } else if stored == true {
            let real = batch.sources.filter { !$0.name.hasPrefix(SourceID.simulatorName) }.min()
            if let real { throw SimulatedDataError(source: real, isReal: true) }
        }
    }

    /// An id that the file gives to an observation.
    private struct ReportedID: Hashable {
        var source: SourceID
        var id: String
    }

    /// Of observations of one id in a file the first counts: were it the last, the same file again would correct the
    /// first by it once more. Ids of our own making say what their content says, and need no memory.
    /// - Returns: how many were left out.
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
            let reach = HazardPull.reachSeconds
            let stored = try await store.areas(
                .hazards, from: pull.at.advanced(by: -reach), to: pull.at.advanced(by: reach), asOf: nil)
            batch.areas += pull.placed(among: stored)
            return 0
        case .refused: return 0
        }
        let new = found.filter(isNew)
        batch.observations += new
        return found.count - new.count
    }

    /// The sources that a file names, as far as it has been read.
    private struct FileSources {
        let known: Set<SourceID>
        var new: Set<SourceID> = []
    }

    /// - Returns: how many of them were there already.
    private func commit(
        _ batch: Batch, _ sources: inout FileSources, _ isSimulated: Bool?
    ) async throws -> Int {
        guard !batch.observations.isEmpty || !batch.pilotReports.isEmpty || !batch.areas.isEmpty else { return 0 }
        let new = batch.sources.subtracting(sources.known)
        if isSimulated != true,
            let source = new.sorted().first(where: { $0.name.hasPrefix(SourceID.simulatorName) })
        {
            throw SimulatedDataError(source: source)
        }
        sources.new.formUnion(new)
        guard sources.new.count <= Self.mostNewSources else { throw TooManySourcesError(sources.new.sorted()) }
        var batch = batch
        batch.registration = SourceRegistration(new, simulated: isSimulated)
        let result: BatchResult
        do throws(StoreError) { result = try await store.commit(batch) } catch {
            guard case .tooManySources = error else { throw error }
            throw TooManySourcesError(new.sorted())
        }
        return result.duplicates + batch.pilotReports.count - result.pilotReports
            + max(0, batch.areas.count - result.areas)
    }
}

extension Batch {
    /// Whose data it holds.
    fileprivate var sources: Set<SourceID> {
        Set(observations.map(\.source)).union(pilotReports.map(\.source)).union(areas.map(\.source))
    }
}

/// A file that names more new sources than a file may, or than the database has room for.
package struct TooManySourcesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In the order of their names.
    package let sources: [SourceID]

    init(_ sources: [SourceID]) { self.sources = sources }

    package var description: String {
        let names = sources.prefix(3).map(\.name).joined(separator: ", ")
        return
            "the file names new sources (\(names)\(sources.count > 3 ? ", …" : "")), and more than are possible: "
            + "at most \(FileImporter.mostNewSources) in a file, and "
            + "\(SourceRecord.most - SourceRecord.reserved) in a database; is the column 'source' another one?"
    }
}

/// A file of simulated data that was to be mixed with real data, or the other way round.
package struct SimulatedDataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Whose name told; nil where the file says so itself.
    package let source: SourceID?
    /// Whether it is the file that is real.
    package let isReal: Bool

    init(source: SourceID?, isReal: Bool = false) {
        self.source = source
        self.isReal = isReal
    }

    package var description: String {
        if isReal {
            let whose = source.map { " of source '\($0)'" } ?? ""
            return
                "the file holds data\(whose) that isn't said to be simulated, and the database holds simulated data: "
                + "they must not be mixed"
        }
        let sign = source.map { " (source '\($0)')" } ?? ""
        return "the file holds simulated data\(sign); it must not be mixed with real data"
    }
}

extension SourceID {
    /// What the names of the demo's sources begin with; whatever bears such a name is simulated.
    package static let simulatorName = "simulator"
}
