import BillowAreas
import BillowExchange
import BillowFields
package import BillowSnapshot
import Datasets
package import Geometry
import Turbulence

/// The cells of turbulence fields in the order in which a flight meets them, each at the time of the flight there.
extension FeatureSource {
    /// A cell on the way.
    package struct FieldCellAlong: Sendable {
        let cell: Cell
        let distance: Double
        let value: Result<FieldSection.Sample, FieldSection.GapError>
    }

    func fieldCells(
        _ query: FeatureQuery, in snapshot: Snapshot, along route: AlongRoute, after cursor: Cursor?, limit: Int,
        memory: inout PageMemory, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        let start = try cursor.map { try Self.cell($0.text) }
        if memory.fieldCells == nil { memory.fieldCells = try await fieldCells(query, along: route, in: snapshot) }
        let found = memory.fieldCells ?? []
        let first = start.flatMap { cell in found.firstIndex { $0.cell == cell } }.map { $0 + 1 } ?? 0
        let page = found[first...].prefix(limit)
        for cell in page { writer.write(feature(cell, query, route, in: snapshot)) }
        guard first + page.count < found.count, let last = page.last else { return nil }
        return Cursor(text: last.cell.h3String)
    }

    /// The cells that the filter takes, and those of which nothing is known. Smooth air is left out as in pictures.
    ///
    /// - Complexity: that of `fieldSection` for the cells of the corridor.
    private func fieldCells(_ query: FeatureQuery, along route: AlongRoute, in snapshot: Snapshot) async throws
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

    /// Properties are those of `gtg` that have a meaning between fields: of the field before, and as `next…` of the
    /// one after.
    private func feature(_ cell: FieldCellAlong, _ query: FeatureQuery, _ route: AlongRoute, in snapshot: Snapshot)
        -> Feature
    {
        var properties: [(name: StaticString, value: PropertyValue)] = [("h3", .text(cell.cell.h3String))]
        switch cell.value {
        case .failure(let error): properties.append(("unknown", .text(error.gap.rawValue)))
        case .success(let sample):
            let thresholds = snapshot.severityTable.thresholds(for: query.filter.category)
            let severity = thresholds.severity(ofTenThousandths: sample.tenThousandths)
            properties += [
                ("edr", .decimal(Double(sample.tenThousandths) / 10_000, decimals: 4)),
                ("severity", .integer(Int(severity.rawValue))), ("severityName", .text(severity.name)),
            ]
            if let feet = sample.feet { properties.append(("altitude", .integer(feet))) }
            let (before, after) = (sample.before, sample.after)
            properties += [
                ("product", .text(before.identity.product.name)), ("run", .instant(before.identity.run)),
                ("lead", .integer(before.identity.lead)), ("validTime", .instant(before.identity.validTime)),
                ("source", .text(before.source.name)),
            ]
            if after != before {
                properties += [
                    ("nextProduct", .text(after.identity.product.name)), ("nextRun", .instant(after.identity.run)),
                    ("nextLead", .integer(after.identity.lead)), ("nextValidTime", .instant(after.identity.validTime)),
                ]
            }
        }
        properties += route.properties(of: H3.center(of: cell.cell))
        return Feature(
            id: cell.cell.h3String, geometry: Self.geometry(of: cell.cell, isWritten: true), properties: properties)
    }
}

extension FrameSource {
    /// The cells of an area that any of the fields has a point in, rising.
    /// - Complexity: O(chunks of the grids and cells of those in the area), and a second or two for a grid whose cells
    ///   aren't known.
    package func fieldCells(in area: CellArea, filter: Filter, _ snapshot: Snapshot) async throws -> [Cell] {
        let query = FieldIndex.Query(filter)
        let grids = Set(
            snapshot.fields.frames.lazy.filter(query.takes).compactMap { snapshot.fieldGrids[$0.grid] })
        var found: Set<Cell> = []
        for grid in grids {
            let known = try await gridCells(grid)
            for chunk in known.chunks where area.mayHold(chunk: chunk.number) {
                try Task.checkCancellation()
                for cell in known.cells[chunk.cells] where area.contains(cell) { found.insert(cell) }
            }
        }
        return found.sorted()
    }
}
