import BillowAreas
import BillowExchange
import BillowFields
package import BillowSnapshot
import Datasets
package import Geometry
import Turbulence

/// The cells of turbulence fields in the order of a flight, each at the time when the flight is there.
extension FeatureSource {
    /// A cell along the flight.
    package struct FieldCellAlong: Sendable {
        let cell: Cell
        let distance: Double
        let value: Result<FieldSection.Sample, FieldSection.GapError>
    }

    func fieldCells(
        _ query: FeatureQuery, in snapshot: Snapshot, along route: RouteOrder, after cursor: Cursor?, limit: Int,
        memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        let start = try cursor.map { (cursor) throws(EngineError) in try Self.cell(cursor.text) }
        if memory.fieldCells == nil { memory.fieldCells = try await fieldCells(query, along: route, in: snapshot) }
        let found = memory.fieldCells ?? []
        let first = start.flatMap { cell in found.firstIndex { $0.cell == cell } }.map { $0 + 1 } ?? 0
        let page = found[first...].prefix(limit)
        for cell in page { writer.write(feature(cell, query, route, in: snapshot)) }
        guard first + page.count < found.count, let last = page.last else { return nil }
        return Cursor(text: last.cell.h3String)
    }

    /// The cells that the filter selects, and those without a known value. Smooth air is excluded, as in frames.
    ///
    /// - Complexity: that of `fieldSection` for the cells of the corridor.
    private func fieldCells(_ query: FeatureQuery, along route: RouteOrder, in snapshot: Snapshot)
        async throws(EngineError)
        -> [FieldCellAlong]
    {
        let cells = try await frames.fieldCells(in: query.cells, filter: query.filter, snapshot)
        let places = cells.map { cell in (cell: cell, along: route.locator.locate(H3.center(of: cell)).along) }
            .sorted { ($0.along, $0.cell) < ($1.along, $1.cell) }
        let flight = route.flight
        let altitudes = places.compactMap { flight.altitudeFeet(at: $0.along) }
        let planned = altitudes.min().flatMap { low in altitudes.max().map { low...$0 } }
        let section = try await frames.fieldSection(
            at: .cells(places.map(\.cell)), times: places.map { flight.time(at: $0.along) },
            levels: planned.map { .around($0) } ?? .shown(query.filter.altitudes), filter: query.filter, in: snapshot)
        let thresholds = snapshot.severityTable.thresholds(for: query.filter.category)
        return places.enumerated().compactMap { site, place in
            let value =
                flight.altitudeFeet(at: place.along).map { section.sample(at: site, feet: $0) }
                ?? section.largest(at: site, in: query.filter.altitudes)
            if case .success(let sample) = value {
                let severity = thresholds.severity(ofTenThousandths: sample.tenThousandths)
                guard query.filter.severities.contains(severity),
                    severity != .smooth || query.filter.field.showsSmoothAir
                else { return nil }
            }
            return FieldCellAlong(cell: place.cell, distance: place.along, value: value)
        }
    }

    /// The feature of a cell, with the properties of `Schema.fieldSamples`.
    private func feature(_ cell: FieldCellAlong, _ query: FeatureQuery, _ route: RouteOrder, in snapshot: Snapshot)
        -> Feature
    {
        var feature = FieldSampleFeature(cell: cell.cell.h3String)
        switch cell.value {
        case .failure(let error): feature.gap = error.gap.rawValue
        case .success(let sample):
            let thresholds = snapshot.severityTable.thresholds(for: query.filter.category)
            feature.tenThousandths = sample.tenThousandths
            feature.severity = thresholds.severity(ofTenThousandths: sample.tenThousandths)
            feature.feet = sample.feet
            feature.identity = sample.before.identity
            feature.source = sample.before.source
            if sample.after != sample.before { feature.next = sample.after.identity }
        }
        var properties = Schema.fieldSamples.values(of: feature)
        properties += route.properties(of: H3.center(of: cell.cell))
        return Feature(
            id: cell.cell.h3String, geometry: Self.geometry(of: cell.cell, isWritten: true), properties: properties)
    }
}

extension FrameSource {
    /// The cells of an area with a point of any of the fields' grids, sorted.
    /// - Complexity: O(chunks of the grids and cells of those in the area), and a second or two for a grid whose cells
    ///   aren't cached.
    package func fieldCells(in area: CellArea, filter: Filter, _ snapshot: Snapshot) async throws(EngineError) -> [Cell]
    {
        WorkExecutor.assertIsJob()
        let query = FieldIndex.Query(filter)
        let grids = Set(
            snapshot.fields.frames.lazy.filter(query.matches).compactMap { snapshot.fieldGrids[$0.grid] })
        return try await WorkExecutor.computing { () async throws(EngineError) in
            var found: Set<Cell> = []
            for grid in grids {
                let known = try await gridCells(grid)
                for chunk in known.chunks where area.mayHold(chunk: chunk.number) {
                    try WorkExecutor.checkCancellation()
                    for cell in known.cells[chunk.cells] where area.contains(cell) { found.insert(cell) }
                }
            }
            return found.sorted()
        }
    }
}
