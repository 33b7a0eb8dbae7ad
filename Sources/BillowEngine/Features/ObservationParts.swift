import BillowExchange
import BillowSnapshot
import BillowStore
import DequeModule
import Turbulence

/// All observations of a query, encoded in parallel. One page of rows is read while the job's threads encode the pages
/// before it. The output equals that of a single writer.
struct ObservationParts: ResponseParts {
    private typealias Page = [(row: ObservationRow, details: ObservationDetails)]

    /// The encoded form of one page of rows.
    private struct Part: Sendable {
        var bytes: [UInt8]
        var features: Int
    }

    /// The number of rows in a part. It gives some 500 kB of GeoJSON in some 3 ms, so that a thread switch costs little
    /// in comparison.
    private static let rows = 1_000
    /// The most parts in flight. This exceeds the threads of a small machine, because the part that is being sent waits
    /// too.
    private static let maximumParts = 3

    private let source: FeatureSource
    private let query: FeatureQuery
    private let snapshot: Snapshot
    private let sources: [SourceNumber: SourceID]
    private let cells: CellArea
    private var writer: FeatureWriter
    private var parts = Deque<Task<Result<Part, Never>, Never>>()
    /// The current number of parts in flight. The first piece waits for a single part, so that it arrives early.
    private var width = 1
    /// The next page, which is being read; nil before the first read and after the last one.
    private var nextPage: Task<Result<Page, EngineError>, Never>?
    private var isRead = false
    private var isDone = false
    /// The number of written features.
    private(set) var features = 0

    /// - Parameter writer: has already written everything before the first feature.
    init(_ source: FeatureSource, _ query: FeatureQuery, in snapshot: Snapshot, _ writer: FeatureWriter) {
        self.source = source
        self.query = query
        self.snapshot = snapshot
        sources = Dictionary(snapshot.sources.map { ($0.number, $0.id) }) { first, _ in first }
        cells = query.cells
        self.writer = writer
    }

    mutating func next() async throws(EngineError) -> [UInt8]? {
        guard !isDone else { return nil }
        do {
            while let part = try await nextPart() {
                guard part.features > 0 else { continue }
                // A separator precedes every part except the first.
                let bytes = features == 0 ? writer.drain() + part.bytes.dropFirst(writer.separatorBytes) : part.bytes
                features += part.features
                return bytes
            }
        } catch {
            for part in parts { part.cancel() }
            nextPage?.cancel()
            // The store may be closed after this.
            _ = await nextPage?.value
            throw error
        }
        isDone = true
        writer.end()
        return writer.drain()
    }

    /// The next part, in row order; nil after the last one. Starts further parts.
    private mutating func nextPart() async throws(EngineError) -> Part? {
        while parts.count < width, !isRead { try await begin() }
        width = min(width + 1, Self.maximumParts)
        return await parts.popFirst()?.value.get()
    }

    /// Starts to encode the next page of rows, and to read the one after it.
    private mutating func begin() async throws(EngineError) {
        try WorkExecutor.checkCancellation()
        var rows = try await (nextPage ?? page(after: nil)).value.get()
        isRead = rows.count < Self.rows
        nextPage = isRead ? nil : page(after: rows.last?.row.key)
        // One cache per page: it grows with the cells, and a copy of the pieces would copy it.
        var area = CellContainmentCache(cells)
        rows.removeAll { !area.contains($0.row.cell) }
        guard !rows.isEmpty else { return }
        let (query, snapshot, page, sources, empty) = (query, snapshot, rows, sources, writer.continuation())
        parts.append(
            WorkExecutor.flight {
                var writer = empty
                for (row, details) in page {
                    _ = FeatureSource.write(row, details, of: sources, query, snapshot.severityTable, to: &writer)
                }
                return Part(bytes: writer.drain(), features: writer.features)
            })
    }

    /// Starts to read a page of rows. The task itself only waits: the store reads on threads of its own.
    private func page(after last: ObservationKey?) -> Task<Result<Page, EngineError>, Never> {
        let (source, query, snapshot) = (source, query, snapshot)
        return Task {
            do throws(EngineError) {
                return .success(
                    try await source.frames.reading(in: snapshot) { () async throws(StoreError) in
                        try await source.store.page(
                            after: last, from: query.from, to: query.to, limit: Self.rows,
                            asOf: snapshot.publication.version)
                    })
            } catch { return .failure(error) }
        }
    }
}
