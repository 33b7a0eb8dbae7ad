package import BillowAreas
package import BillowExchange
package import BillowSnapshot
package import BillowStore
import Datasets
package import Geometry
package import Turbulence

/// Writes features page by page, in a fixed order, from the snapshot or from the log at the snapshot's version. Memory
/// is bounded by one page, and so is the duration of a read.
package struct FeatureSource: Sendable {
    package let frames: FrameSource
    package let store: any Store
    package let polygons: PolygonSource
    /// The aircraft that were seen between two times.
    let aircraftOfTimes: SharedCache<AircraftKey, [ICAO24], EngineError>

    package init(frames: FrameSource, store: any Store) {
        self.frames = frames
        self.store = store
        aircraftOfTimes = SharedCache(frames.caches) { $0.count * MemoryLayout<ICAO24>.stride }
        polygons = PolygonSource(frames: frames)
    }

    /// The end of a page and the start of the next: the position of the last feature in the order, as text.
    package struct Cursor: Sendable, Hashable {
        package var text: String

        package init(text: String) {
            self.text = text
        }
    }

    /// The most rows that are scanned for one page; a sparse answer continues on the next page.
    static let scanLimit = 100_000
    static let storePage = 5_000

    /// Scans rows of the store in pages, until the limit or `scanLimit` is reached.
    /// - Parameters:
    ///   - limit: the most features to write.
    ///   - after: the end of the previous page.
    ///   - page: reads a number of rows after a place.
    ///   - place: the position of a row in the order.
    ///   - write: writes a row if it is selected, and returns whether it did.
    /// - Returns: the start of the next page; nil at the end.
    static func scan<Row, Place: Sendable>(
        limit: Int, after: Place?, page: (_ after: Place?, _ count: Int) async throws(EngineError) -> [Row],
        place: (Row) -> Place, write: (Row) -> Bool
    ) async throws(EngineError) -> Place? {
        var after = after
        var written = 0
        var scanned = 0
        while scanned < scanLimit {
            // One more than the limit shows whether there is a next page.
            let count = min(storePage, max(limit - written + 1, 100, scanned))
            let rows = try await page(after, count)
            for row in rows {
                // The first row that doesn't fit: the page ends before it.
                if written == limit { return after }
                after = place(row)
                if write(row) { written += 1 }
            }
            if rows.count < count { return nil }
            scanned += rows.count
        }
        return after
    }

    /// Writes up to `limit` features after a cursor.
    /// - Returns: the cursor of the next page; nil at the end.
    /// - Throws: `EngineError.invalid` for an invalid cursor; `.store`.
    package func write(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        var memory = QueryIntermediates()
        return try await write(
            query, in: snapshot, after: cursor, limit: PageLimit(features: limit), memory: &memory, to: &writer)
    }

    /// A reader of all features of a query after a cursor.
    package func reader(_ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor? = nil) -> FeatureReader {
        FeatureReader(self, query, in: snapshot, after: cursor)
    }

    /// Writes features after a cursor up to a number of features and bytes.
    /// - Returns: the cursor of the last feature; nil if no feature follows, or only the rest of a partly written one
    ///   (`memory.isInside`).
    package func write(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        WorkExecutor.assertIsJob()
        try WorkExecutor.checkCancellation()
        guard !query.hasNothing else { return nil }
        switch query.collection.content {
        case .history(.observations) where query.collection.isHexagons:
            let frame = try await frames.frame(at: query.instant, filter: query.filter, in: snapshot)
            if let route = query.route, query.aggregate {
                return try await hexagons(
                    frame, query, of: snapshot, along: route, after: cursor, limit: limit, memory: &memory, to: &writer)
            }
            return query.aggregate
                ? try await hexagons(
                    frame, in: query.cells, of: snapshot, after: cursor, limit: limit.features, to: &writer)
                : try await currentObservations(
                    frame, query, of: snapshot, after: cursor, limit: limit.features, to: &writer)
        case .history(.observations):
            return try await observations(
                query, in: snapshot, after: cursor, limit: limit.features, to: &writer)
        case .history(.reports):
            return try await pilotReports(query, in: snapshot, after: cursor, limit: limit, to: &writer)
        case .field:
            return try await field(query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        case .polygons:
            return try await polygons(query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        case .areas(let collection):
            return try await areas(
                collection, query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        case .history(.positions), .positions(trackSeconds: 0):
            return try await traffic(query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        case .positions:
            return try await tracks(query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        }
    }

    /// The number of features of a query, if it is known without reading them.
    package func total(_ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError) -> Int? {
        if query.hasNothing { return 0 }
        guard query.collection.isHexagons, query.aggregate, query.cells == .everywhere else { return nil }
        return try await frames.plane(at: query.instant, filter: query.filter, in: snapshot).count
    }

    /// Writes the feature with an id, if the query's frame or the log has it.
    package func write(id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
        -> Bool
    {
        guard !query.hasNothing else { return false }
        switch query.collection.content {
        case .history(.observations) where query.collection.isHexagons:
            try await hexagon(id, query, in: snapshot, to: &writer)
        case .history(.observations): try await observation(id, query, in: snapshot, to: &writer)
        case .history(.reports):
            let report = try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.pilotReport(id: id, asOf: snapshot.publication.version)
            }
            if let report { writer.write(report) }
        case .field: try await field(id, query, in: snapshot, to: &writer)
        case .polygons: try await polygon(id, query, in: snapshot, to: &writer)
        case .areas(let collection): try await area(id, collection, query, in: snapshot, to: &writer)
        case .history(.positions), .positions(trackSeconds: 0): try await aircraft(id, query, in: snapshot, to: &writer)
        case .positions: try await track(id, query, in: snapshot, to: &writer)
        }
        return writer.features > 0
    }

    // MARK: - Shared by the collections

    /// A feature whose geometry is created only when it is written, to limit its time in memory.
    package struct PreparedFeature: Sendable {
        package var id: String
        package var make: @Sendable () -> Feature
        /// Replaces the feature's geometry: polygons that are written one by one.
        package var polygons: PackedArea?

        init(id: String, polygons: PackedArea? = nil, make: @escaping @Sendable () -> Feature) {
            self.id = id
            self.polygons = polygons
            self.make = make
        }

        /// The feature with its geometry.
        var feature: Feature {
            var feature = make()
            if let polygons { feature.geometry = .multiPolygon(polygons.multiPolygon.polygons) }
            return feature
        }
    }

    /// Writes a page of prepared features, in the order of their ids.
    package func write(
        _ features: [PreparedFeature], after cursor: Cursor?, limit: PageLimit, memory: inout QueryIntermediates,
        to writer: inout FeatureWriter
    ) throws(EngineError) -> Cursor? {
        var rest = features[...]
        if let cursor {
            // Consecutive issues of an area share an id, so the cursor includes the number of those that are written.
            let parts = cursor.text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let written = PlainInteger.parse(parts[0]) else { throw Self.badCursor(cursor) }
            rest = rest.drop { $0.id < parts[1] }
            rest = rest.dropFirst(rest.prefix(written).prefix { $0.id == parts[1] }.count)
        }
        var last: Cursor?
        var written = 0
        for index in rest.indices {
            guard written < limit.features, written == 0 || writer.count < limit.bytes else { return last }
            let made = features[index]
            if made.polygons != nil {
                guard try write(polygonsOf: made, upTo: limit.bytes, &memory, to: &writer) else { return last }
            } else {
                writer.write(made.make())
            }
            written += 1
            let count = features[...index].reversed().prefix { $0.id == made.id }.count
            last = Cursor(text: "\(count):\(made.id)")
        }
        return nil
    }

    /// Writes polygons of a feature, starting at the end of the last piece.
    /// - Returns: whether the feature is complete.
    private func write(
        polygonsOf made: PreparedFeature, upTo bytes: Int, _ memory: inout QueryIntermediates,
        to writer: inout FeatureWriter
    ) throws(EngineError) -> Bool {
        guard let polygons = made.polygons else { return true }
        let feature = made.make()
        if memory.polygons == 0 { writer.begin(polygonsOf: feature) }
        while memory.polygons < polygons.count {
            writer.write(polygon: polygons.polygon(memory.polygons))
            memory.polygons += 1
            if writer.count >= bytes, memory.polygons < polygons.count {
                try WorkExecutor.checkCancellation()
                return false
            }
        }
        writer.end(polygonsOf: feature)
        memory.polygons = 0
        return true
    }

    package static func observation(_ row: ObservationRow, _ source: SourceID, _ details: ObservationDetails?)
        -> Observation
    {
        Observation(
            id: details?.id, cell: row.cell, altitude: row.altitude, intensity: row.intensity,
            observedAt: row.observedAt, category: row.category, source: source, kind: row.kind,
            aircraft: details?.aircraft)
    }

    /// The outline of a cell, or no geometry if the query omits it.
    static func geometry(of cell: Cell, isWritten: Bool) -> FeatureGeometry {
        guard isWritten else { return .encoded([]) }
        let rings = CellPolygon.rings(of: cell)
        return rings.count == 1 ? .polygon(rings) : .multiPolygon(rings.map { [$0] })
    }

    package static func cell(_ text: some StringProtocol) throws(EngineError) -> Cell {
        guard let cell = Cell(h3String: text) else { throw badCursor(Cursor(text: String(text))) }
        return cell
    }

    /// - Throws: for a key outside the range of instants, which would reverse the order.
    package static func key(_ text: some StringProtocol) throws(EngineError) -> ObservationKey {
        guard let key = ObservationKey(id: text), key < .first(of: .distantFuture) else {
            throw badCursor(Cursor(text: String(text)))
        }
        return key
    }

    package static func badCursor(_ cursor: Cursor) -> EngineError {
        .invalid(
            ParameterError(
                parameter: "after", value: cursor.text, expected: "the value in a 'next' link of this server"))
    }
}
