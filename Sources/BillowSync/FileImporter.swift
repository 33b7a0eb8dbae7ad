public import BillowExchange
public import BillowStore
public import Turbulence

/// Brings files into the store: what `billow import` and an inbox share. The same file twice changes nothing. What is
/// imported stays until it is pruned by hand, also where it is of a source that is fetched.
public struct FileImporter: Sendable {
    private let store: any Store
    private let now: @Sendable () -> Instant
    private let source: SourceID?
    private let simulated: Bool?
    private let agingSeconds: Int?

    private static let batchSize = 10_000
    /// New sources in one file. More are a column of something else that was taken for names.
    static let mostNewSources = 16

    /// - Parameters:
    ///   - source: of observations that name none; `import` by default.
    ///   - simulated: what sources are that the store doesn't know yet; nil: what those are that it knows.
    ///   - agingSeconds: what is no older than this isn't kept for ever, but ages as what is fetched does; nil for nothing.
    public init(
        store: any Store, now: @escaping @Sendable () -> Instant, source: SourceID? = nil, simulated: Bool? = false,
        agingSeconds: Int? = nil
    ) {
        self.store = store
        self.now = now
        self.source = source
        self.simulated = simulated
        self.agingSeconds = agingSeconds
    }

    /// Reads a file to its end and writes what can be used, batch by batch.
    ///
    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - progress: told after every piece, with the records read so far.
    /// - Throws: `ImportFileError`, `StoreError`, `SimulatedDataError`, `TooManySourcesError`. What was written before
    ///   stays: the file again completes it.
    public func take(_ path: String, progress: (ImportFile.Progress, Int) -> Void = { _, _ in }) async throws
        -> ImportSummary
    {
        var file = try ImportFile(path: path)
        var reader = ImportReader(now: now(), source: source, fileName: path)
        let importedBefore = agingSeconds.map { now().advanced(by: -$0) } ?? .distantFuture
        let empty = Batch(source: nil, importedBefore: importedBefore)
        var batch = empty
        var duplicates = 0
        let known = try await store.sources()
        let isSimulated = simulated ?? known.first?.simulated
        var sources = FileSources(known: Set(known.map(\.id)), isSimulated: isSimulated)
        var ids = Set<ReportedID>()
        while true {
            let piece = try file.next()
            let items = if let piece { reader.read(piece) } else { reader.finish() }
            guard isSimulated == true || !reader.saysSimulated else { throw SimulatedDataError(source: nil) }
            for item in items { duplicates += try await add(item, to: &batch, known: &ids) }
            let count = batch.observations.count + batch.pilotReports.count + batch.areas.count
            if count >= Self.batchSize || piece == nil {
                duplicates += try await commit(batch, &sources)
                batch = empty
            }
            progress(file.progress, reader.summary.read)
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
        let isSimulated: Bool?
        var new: Set<SourceID> = []
    }

    /// - Returns: how many of them were there already.
    private func commit(_ batch: Batch, _ sources: inout FileSources) async throws -> Int {
        guard !batch.observations.isEmpty || !batch.pilotReports.isEmpty || !batch.areas.isEmpty else { return 0 }
        let named = Set(batch.observations.map(\.source)).union(batch.pilotReports.map(\.source))
            .union(batch.areas.map(\.source))
        let new = named.subtracting(sources.known)
        if sources.isSimulated != true,
            let source = new.sorted().first(where: { $0.name.hasPrefix(SourceID.simulatorName) })
        {
            throw SimulatedDataError(source: source)
        }
        sources.new.formUnion(new)
        guard sources.new.count <= Self.mostNewSources else { throw TooManySourcesError(sources.new.sorted()) }
        var batch = batch
        batch.registration = SourceRegistration(new, simulated: sources.isSimulated)
        let result: BatchResult
        do throws(StoreError) { result = try await store.commit(batch) } catch {
            guard case .tooManySources = error else { throw error }
            throw TooManySourcesError(new.sorted())
        }
        return result.duplicates + batch.pilotReports.count - result.pilotReports
            + max(0, batch.areas.count - result.areas)
    }
}

/// A file that names more new sources than a file may, or than the database has room for.
public struct TooManySourcesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In the order of their names.
    public let sources: [SourceID]

    init(_ sources: [SourceID]) { self.sources = sources }

    public var description: String {
        let names = sources.prefix(3).map(\.name).joined(separator: ", ")
        return
            "the file names new sources (\(names)\(sources.count > 3 ? ", …" : "")), and more than are possible: at most "
            + "\(FileImporter.mostNewSources) in a file, and \(SourceRecord.most - SourceRecord.reserved) in a database; "
            + "is the column 'source' another one?"
    }
}

/// A file of simulated data that was to be mixed with real data.
public struct SimulatedDataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Whose name told; nil where the file says so itself.
    public let source: SourceID?

    public var description: String {
        let sign = source.map { " (source '\($0)')" } ?? ""
        return "the file holds simulated data\(sign); it must not be mixed with real data"
    }
}

extension SourceID {
    /// What the names of the demo's sources begin with; whatever bears such a name is simulated.
    public static let simulatorName = "simulator"
}
