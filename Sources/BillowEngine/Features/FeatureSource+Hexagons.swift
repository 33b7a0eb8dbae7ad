package import BillowExchange
package import BillowSnapshot
import BillowStore
import Datasets
import Geometry
import Turbulence

/// Hexagons of the frame at an instant; without aggregation, the observations that they represent.
extension FeatureSource {
    func hexagon(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
    {
        guard let cell = Cell(h3String: id) else { return }
        let frame = try await frames.frame(at: query.instant, filter: query.filter, in: snapshot)
        _ = try await hexagons(frame, in: CellArea(cell), of: snapshot, after: nil, limit: 1, to: &writer)
    }

    /// Writes up to `limit` hexagons of a query after a cursor, those that are wanted. Details of the others are not
    /// even read.
    /// - Parameter isWanted: called once for each hexagon, in order.
    /// - Returns: the cursor of the next page; nil at the end.
    func hexagons(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter,
        where isWanted: (Hexagon) -> Bool
    ) async throws(EngineError) -> Cursor? {
        WorkExecutor.assertIsJob()
        let frame = try await frames.frame(at: query.instant, filter: query.filter, in: snapshot)
        return try await hexagons(
            frame, in: query.cells, of: snapshot, after: cursor, limit: limit, to: &writer, where: isWanted)
    }

    private func hexagons(
        _ frame: Frame, in area: CellArea, of snapshot: Snapshot, after cursor: Cursor?, limit: Int,
        to writer: inout FeatureWriter, where isWanted: (Hexagon) -> Bool
    ) async throws(EngineError) -> Cursor? {
        let start = try cursor.map { (cursor) throws(EngineError) in try Self.cell(cursor.text) }
        // One more than the limit shows whether there is a next page.
        let found = frame.hexagons(after: start, limit: limit + 1, area: area)
        let page = found.prefix(limit).filter(isWanted)
        let details = try await details(of: page.map(\.record.row.key), in: snapshot)
        for hexagon in page {
            let record = hexagon.record
            writer.write(
                Self.feature(hexagon, details[record.row.key]),
                geometry: Self.geometry(of: record.row.cell, isWritten: writer.writesOutlines))
        }
        guard found.count > limit, limit > 0 else { return nil }
        return Cursor(text: found[limit - 1].record.row.cell.h3String)
    }

    package func hexagons(
        _ frame: Frame, in area: CellArea, of snapshot: Snapshot, after cursor: Cursor?, limit: Int,
        to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        try await hexagons(frame, in: area, of: snapshot, after: cursor, limit: limit, to: &writer) { _ in true }
    }

    /// Hexagons in the order of a route.
    package func hexagons(
        _ frame: Frame, _ query: FeatureQuery, of snapshot: Snapshot, along route: RouteOrder, after cursor: Cursor?,
        limit: PageLimit, memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        let start = try cursor.map { (cursor) throws(EngineError) in try Self.cell(cursor.text) }
        let found =
            memory.along
            ?? frame.hexagons(area: query.cells).map { hexagon in
                (hexagon: hexagon, along: route.locator.locate(H3.center(of: hexagon.record.row.cell)).along)
            }.sorted { ($0.along, $0.hexagon.record.row.cell) < ($1.along, $1.hexagon.record.row.cell) }.map(\.hexagon)
        memory.along = found
        // A page starts after the last cell of the previous one, wherever that cell is in the current order.
        let first = start.flatMap { cell in found.firstIndex { $0.record.row.cell == cell } }.map { $0 + 1 } ?? 0
        let page = found[first...].prefix(limit.features)
        let details = try await details(of: page.map(\.record.row.key), in: snapshot)
        for hexagon in page {
            let record = hexagon.record
            writer.write(
                Self.feature(hexagon, details[record.row.key]),
                geometry: Self.geometry(of: record.row.cell, isWritten: writer.writesOutlines),
                more: route.properties(of: H3.center(of: record.row.cell)))
        }
        guard first + page.count < found.count, let last = page.last else { return nil }
        return Cursor(text: last.record.row.cell.h3String)
    }

    package func currentObservations(
        _ frame: Frame, _ query: FeatureQuery, of snapshot: Snapshot, after cursor: Cursor?, limit: Int,
        to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        var start: (Cell, ObservationKey)?
        if let cursor {
            let parts = cursor.text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Self.badCursor(cursor) }
            start = (try Self.cell(parts[0]), try Self.key(parts[1]))
        }
        let found = frame.currentObservations(after: start, limit: limit + 1, area: query.cells)
        let page = found.prefix(limit)
        let details = try await details(of: page.map(\.row.key), in: snapshot)
        for record in page {
            let observation = Self.observation(record.row, record.source, details[record.row.key])
            writer.write(
                ObservationFeature(
                    observation, id: details[record.row.key]?.id ?? record.row.key.id, severity: record.severity,
                    basis: record.basis),
                geometry: Self.geometry(of: record.row.cell, isWritten: writer.writesOutlines))
        }
        guard found.count > limit, let last = page.last else { return nil }
        return Cursor(text: "\(last.row.cell.h3String)-\(last.row.key.id)")
    }

    /// A hexagon of a frame as a feature.
    static func feature(_ hexagon: Hexagon, _ details: ObservationDetails?) -> ObservationFeature {
        let record = hexagon.record
        return ObservationFeature(
            observation(record.row, record.source, details), id: record.row.cell.h3String, severity: record.severity,
            basis: record.basis, reports: hexagon.reports,
            trend: Trend(from: hexagon.severityBefore, to: record.severity))
    }

    private func details(of keys: [ObservationKey], in snapshot: Snapshot) async throws(EngineError)
        -> [ObservationKey: ObservationDetails]
    {
        try await frames.reading(in: snapshot) { () async throws(StoreError) in try await store.details(of: keys) }
    }
}
