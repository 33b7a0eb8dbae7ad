package import BillowExchange
package import BillowSnapshot
package import BillowStore
package import Datasets
import Geometry
package import Turbulence

/// The features of a query that were stored after a place, in the order in which they were stored.
///
/// It follows versions, not times: an observation that arrives late is as new as any other. Memory is bounded by a
/// page.
package struct NewFeatures: Sendable {
    private let store: any SQLStore
    private let query: FeatureQuery
    private let snapshot: Snapshot
    private let kind: OpenedKind
    private let sources: [SourceNumber: SourceID]
    private var area: CellContainmentCache
    /// The place after the last page.
    package private(set) var place: OpenedPlace
    package private(set) var isAtEnd = false

    /// - Returns: nil for a dataset whose features aren't records, such as hexagons.
    package init?(_ query: FeatureQuery, in snapshot: Snapshot, of store: any SQLStore, after place: OpenedPlace) {
        guard let kind = query.collection.openedKind else { return nil }
        self.store = store
        self.query = query
        self.snapshot = snapshot
        self.kind = kind
        self.place = place
        sources = Dictionary(snapshot.sources.map { ($0.number, $0.id) }) { first, _ in first }
        area = CellContainmentCache(query.cells)
    }

    /// An upper bound of the number of features that remain.
    package func count() async throws(StoreError) -> Int {
        try await store.countOpened(kind, after: place, upTo: snapshot.publication.version)
    }

    /// Reads the next page.
    ///
    /// - Parameter body: gets the time of each feature (of an area its start), and a function that writes it.
    /// - Returns: the number of read records; some may not be selected.
    package mutating func next(
        limit: Int, _ body: (Instant, (inout FeatureWriter) -> Void) throws -> Void
    ) async throws -> Int {
        let version = snapshot.publication.version
        let page = try await store.opened(kind, after: place, upTo: version, limit: limit)
        for record in page.records { try write(record, body) }
        place = page.next ?? OpenedPlace(endOf: version)
        isAtEnd = page.next == nil
        return page.records.count
    }

    private mutating func write(
        _ record: OpenedRecord, _ body: (Instant, (inout FeatureWriter) -> Void) throws -> Void
    ) throws {
        switch record {
        case .observation(let row, let details):
            guard area.contains(row.cell), let source = sources[row.source] else { return }
            let observation = FeatureSource.observation(row, source, details)
            guard let (severity, basis) = query.severity(of: observation, table: snapshot.severityTable) else { return }
            try body(row.observedAt) { writer in
                writer.write(
                    ObservationFeature(observation, id: details.id ?? row.key.id, severity: severity, basis: basis),
                    geometry: .encoded([]))
            }
        case .report(let report):
            guard query.filter.matches(report), query.contains(report.place) else { return }
            try body(report.observedAt) { $0.write(report) }
        case .position(let position):
            guard query.filter.matches(position), query.contains(position.place) else { return }
            try body(position.observedAt) { $0.write(position, id: PositionID(position).text) }
        case .area(let issued):
            guard query.filter.matches(issued), query.touches(issued.geometry) else { return }
            // The id of an area is that of all its issues; each issue has one of its own.
            try body(issued.validFrom) { $0.write(Feature(issued, id: IssueID(issued).text)) }
        }
    }
}

extension Dataset {
    /// The records that its features are; nil where features are made of several records.
    package var openedKind: OpenedKind? {
        switch content {
        case .history(.observations): isHexagons ? nil : .observations
        case .history(.reports): .reports
        case .history(.positions), .positions(trackSeconds: 0): .positions
        case .areas(let collection): .areas(collection)
        case .positions, .polygons, .field: nil
        }
    }
}
