package import BillowAreas
package import BillowExchange
package import BillowSnapshot
package import BillowStore
import Datasets
package import Geometry
package import Turbulence

/// Writes features page by page, in a fixed order, from the snapshot or from the log as of the snapshot's version. An
/// answer of any size takes the memory of a page, and no read of the store outlives one.
package struct FeatureSource: Sendable {
    package let frames: FrameSource
    package let store: any Store
    package let polygons: PolygonSource
    /// Which aircraft were seen between two times.
    let aircraftOfTimes: SharedCache<AircraftKey, [ICAO24]>

    package init(frames: FrameSource, store: any Store) {
        self.frames = frames
        self.store = store
        aircraftOfTimes = SharedCache(frames.caches) { $0.count * MemoryLayout<ICAO24>.stride }
        polygons = PolygonSource(frames: frames)
    }

    /// Where a page ends and the next begins: the text of the last feature's place in the order.
    package struct Cursor: Sendable, Hashable {
        package var text: String

        package init(text: String) {
            self.text = text
        }
    }

    /// Rows of the store looked through for one page; a sparse answer goes on in the next.
    static let scanLimit = 100_000
    static let storePage = 5_000

    /// Goes through rows of the store page by page, until there is no room or `scanLimit` rows were looked through.
    /// - Parameters:
    ///   - limit: features that there is room for.
    ///   - after: where the page before ended.
    ///   - page: so many rows of the store after a place.
    ///   - place: where a row stands in the order.
    ///   - write: writes a row where it is wanted, and says whether it did.
    /// - Returns: where the next page begins; nil at the end.
    static func scan<Row, Place: Sendable>(
        limit: Int, after: Place?, page: (_ after: Place?, _ count: Int) async throws -> [Row],
        place: (Row) -> Place, write: (Row) -> Bool
    ) async throws -> Place? {
        var after = after
        var written = 0
        var scanned = 0
        while scanned < scanLimit {
            // One more than wanted tells whether there is a next page.
            let count = min(storePage, max(limit - written + 1, 100, scanned))
            let rows = try await page(after, count)
            for row in rows {
                // The first that has no room any more: the page ends before it.
                if written == limit { return after }
                after = place(row)
                if write(row) { written += 1 }
            }
            if rows.count < count { return nil }
            scanned += rows.count
        }
        return after
    }

    /// Writes up to `limit` features that come after a cursor.
    /// - Returns: the cursor of the next page; nil at the end.
    /// - Throws: `EngineError.invalid` for a cursor that can't be read; `StoreError`.
    package func write(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        var memory = PageMemory()
        return try await write(
            query, in: snapshot, after: cursor, limit: PageLimit(features: limit), memory: &memory, to: &writer)
    }

    /// A reader of all features of a query that come after a cursor.
    package func reader(_ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor? = nil) -> FeatureReader {
        FeatureReader(self, query, in: snapshot, after: cursor)
    }

    /// The same up to a limit of bytes.
    /// - Returns: the cursor of the last feature; nil where nothing follows, or only the rest of a feature that has
    ///   begun (`memory.isInside`).
    package func write(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout PageMemory, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        WorkExecutor.assertIsJob()
        try Task.checkCancellation()
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
                : try await standingRecords(
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

    /// Writes the one feature with an id, where the query's picture or the log has it.
    package func write(id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws
        -> Bool
    {
        switch query.collection.content {
        case .history(.observations) where query.collection.isHexagons:
            try await hexagon(id, query, in: snapshot, to: &writer)
        case .history(.observations): try await observation(id, query, in: snapshot, to: &writer)
        case .history(.reports):
            let report = try await frames.reading(in: snapshot) {
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

    // MARK: - Parts of every collection

    /// A feature that is made when it is written: what is large takes its room only so long.
    package struct Made: Sendable {
        package var id: String
        package var make: @Sendable () -> Feature
        /// In place of the feature's geometry: polygons that are written one by one.
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

    /// Writes a page of features that are all at hand, in the order of their ids.
    package func write(
        _ features: [Made], after cursor: Cursor?, limit: PageLimit, memory: inout PageMemory,
        to writer: inout FeatureWriter
    ) throws -> Cursor? {
        var rest = features[...]
        if let cursor {
            // Issues that follow each other share an id: the cursor says how many of the last one's have been written.
            let parts = cursor.text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let written = Digits.integer(parts[0]) else { throw Self.badCursor(cursor) }
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

    /// Writes polygons of a feature, from where the last piece ended.
    /// - Returns: whether the feature is whole.
    private func write(
        polygonsOf made: Made, upTo bytes: Int, _ memory: inout PageMemory, to writer: inout FeatureWriter
    ) throws -> Bool {
        guard let polygons = made.polygons else { return true }
        let feature = made.make()
        if memory.polygons == 0 { writer.begin(polygonsOf: feature) }
        while memory.polygons < polygons.count {
            writer.write(polygon: polygons.polygon(memory.polygons))
            memory.polygons += 1
            if writer.count >= bytes, memory.polygons < polygons.count {
                try Task.checkCancellation()
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

    /// The outline of a cell, or nothing where it isn't written.
    static func geometry(of cell: Cell, isWritten: Bool) -> FeatureGeometry {
        guard isWritten else { return .encoded([]) }
        let rings = CellPolygon.rings(of: cell)
        return rings.count == 1 ? .polygon(rings) : .multiPolygon(rings.map { [$0] })
    }

    package static func cell(_ text: some StringProtocol) throws(EngineError) -> Cell {
        guard let cell = Cell(h3String: text) else { throw badCursor(Cursor(text: String(text))) }
        return cell
    }

    /// - Throws: for a key beyond any instant, which would turn the order around.
    package static func key(_ text: some StringProtocol) throws(EngineError) -> ObservationKey {
        guard let key = ObservationKey(id: text), key < .first(of: .distantFuture) else {
            throw badCursor(Cursor(text: String(text)))
        }
        return key
    }

    package static func badCursor(_ cursor: Cursor) -> EngineError {
        .invalid(
            ParameterError(parameter: "after", value: cursor.text, expected: "what a 'next' link of ours says"))
    }
}
