package import BillowFields
package import BillowSnapshot
import BillowStore
package import BillowTiles
package import Geometry
package import Turbulence

/// The values of a field over some levels, and their grid.
package struct FieldValues: Sendable {
    package let frame: FieldFrame
    /// The levels over which the values are the maximum; never empty.
    package let levels: [FieldLevelRecord]
    package let plane: FieldPlane
    package let grid: GridDefinition

    /// The lowest and the highest level in feet; nil for the whole column.
    package var feet: ClosedRange<Int>? {
        let feet = levels.filter { $0.level != .column }.map(\.level.number)
        guard let low = feet.min(), let high = feet.max() else { return nil }
        return low...high
    }
}

/// Finds the turbulence field that is shown at an instant, and reads its values.
extension FrameSource {
    /// The field that frames at an instant show for the filter's altitudes; nil if there is none.
    package func fieldValues(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws(EngineError)
        -> FieldValues?
    {
        guard let frame = snapshot.field(at: instant, filter) else { return nil }
        return try await fieldValues(of: frame, at: frame.levels(in: filter.altitudes), in: snapshot)
    }

    /// The maximum over some levels at each point of their grid; nil without levels.
    ///
    /// - Complexity: O(points × levels) if it isn't cached: some 20 ms per level of GTG.
    package func fieldValues(of frame: FieldFrame, at levels: [FieldLevelRecord], in snapshot: Snapshot)
        async throws(EngineError)
        -> FieldValues?
    {
        guard !levels.isEmpty, let grid = snapshot.fieldGrids[frame.grid] else { return nil }
        let key = FieldCaches.PlaneKey(log: snapshot.log, rows: levels.map(\.row))
        let plane = try await fields.planes.value(for: key) { [self] () async throws(EngineError) in
            try await largest(of: key, on: grid, in: snapshot)
        }
        return FieldValues(frame: frame, levels: levels, plane: plane, grid: grid)
    }

    /// The data for drawing a field at an instant; nil without a field, or without one at the filter's altitudes.
    package func fieldPicture(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws(EngineError)
        -> FieldPicture?
    {
        guard let values = try await fieldValues(at: instant, filter: filter, in: snapshot) else { return nil }
        let appearance = FieldAppearance(filter, thresholds: snapshot.severityTable.thresholds(for: filter.category))
        return FieldPicture(plane: values.plane, projection: GridProjection(values.grid), appearance: appearance)
    }

    /// The number of grid points that frames at an instant show with a severity or a worse one; nil without a field.
    ///
    /// - Complexity: O(points) if it isn't cached, after the values are read.
    func fieldCount(atLeast least: Severity, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> Int?
    {
        guard let frame = snapshot.field(at: instant, filter) else { return nil }
        let levels = frame.levels(in: filter.altitudes)
        let appearance = FieldAppearance(filter, thresholds: snapshot.severityTable.thresholds(for: filter.category))
        let isCounted = (0...255).map { value in
            value != Int(FieldPlane.missing)
                && appearance.severity(tenThousandths: value * 100).map { $0 >= least } ?? false
        }
        let planes = FieldCaches.PlaneKey(log: snapshot.log, rows: levels.map(\.row))
        return try await fields.counts.value(for: FieldCaches.CountKey(planes: planes, isCounted: isCounted)) {
            [self] () async throws(EngineError) -> Int in
            guard let values = try await fieldValues(of: frame, at: levels, in: snapshot) else { return 0 }
            return values.plane.values.withUnsafeBufferPointer { values in
                isCounted.withUnsafeBufferPointer { isCounted in values.count { isCounted[Int($0)] } }
            }
        }
    }

    /// The values by H3 cell of a resolution 0…5.
    package func cells(of values: FieldValues, resolution: Int, in snapshot: Snapshot) async throws(EngineError)
        -> FieldCells
    {
        let planes = FieldCaches.PlaneKey(log: snapshot.log, rows: values.levels.map(\.row))
        let key = FieldCaches.CellKey(planes: planes, resolution: resolution)
        return try await fields.cells.value(for: key) { [self] () async throws(EngineError) in
            guard resolution < Cell.resolution else {
                return FieldCells(values.plane, try await gridCells(values.grid))
            }
            return try await cells(of: values, resolution: Cell.resolution, in: snapshot).coarsened(to: resolution)
        }
    }

    /// The H3 cells of a grid's points.
    func gridCells(_ grid: GridDefinition) async throws(EngineError) -> GridCells {
        try await fields.grids.value(for: grid) { () async throws(EngineError) in
            do { return try GridCells(grid) } catch { throw .cancelled }
        }
    }

    /// The number of groups into which a key's planes are divided for parallel reading. Each takes the memory of two
    /// planes.
    private static let maximumGroups = 4

    /// Reads planes and computes their maximum.
    func largest(of key: FieldCaches.PlaneKey, on grid: GridDefinition, in snapshot: Snapshot) async throws(EngineError)
        -> FieldPlane
    {
        let shares = min(Self.maximumGroups, key.rows.count)
        let parts = (0..<shares).map { first in
            stride(from: first, to: key.rows.count, by: shares).map { key.rows[$0] }
        }
        let found = try await WorkExecutor.computing(parts) { [self] (rows) async throws(EngineError) in
            try await largest(of: rows, on: grid, in: snapshot)
        }
        let planes = found.compactMap(\.self)
        if planes.count == found.count, var largest = planes.first {
            for plane in planes.dropFirst() { largest.formMaximum(with: plane) }
            return largest
        }
        // The maximum of levels of which one is unreadable is unknown. The snapshot is marked as incomplete, and
        // missing values are not smooth air.
        let nothing = [UInt8](repeating: FieldPlane.missing, count: grid.count)
        guard let plane = FieldPlane(width: grid.columns, height: grid.rows, values: nothing) else {
            throw .damageFound
        }
        return plane
    }
}

extension FrameSource {
    /// nil if a row is unreadable.
    private func largest(of rows: [Int64], on grid: GridDefinition, in snapshot: Snapshot) async throws(EngineError)
        -> FieldPlane?
    {
        var largest: FieldPlane?
        for row in rows {
            try WorkExecutor.checkCancellation()
            // An unreadable level is damage. `reading` throws an error for it until the snapshot is marked.
            let plane = try await reading(in: snapshot) { () async throws(StoreError) in
                try await store.fieldPlane(row: row)
            }
            guard let plane, plane.width == grid.columns, plane.height == grid.rows else { return nil }
            if largest == nil { largest = plane } else { largest?.formMaximum(with: plane) }
        }
        return largest
    }
}

/// The levels of a field that a request for a position selects.
package enum FieldLevelSelection: Sendable, Hashable {
    /// Every level and the column.
    case all
    /// The nearest level to each altitude in feet: the lower of two, at most `FieldFrame.farthestNeighbour` away. A
    /// level occurs once.
    case nearest([Int])
    /// The levels of a range in feet.
    case within(ClosedRange<Int>)

    package func levels(of frame: FieldFrame) -> [FieldLevelRecord] {
        let flown = frame.levels.filter { $0.level != .column }
        switch self {
        case .all: return frame.levels
        case .within(let range): return flown.filter { range.contains($0.level.number) }
        case .nearest(let altitudes):
            var chosen: [FieldLevelRecord] = []
            for feet in altitudes {
                if let nearest = Self.nearest(to: feet, of: flown), !chosen.contains(nearest) { chosen.append(nearest) }
            }
            return chosen
        }
    }

    /// Whether a field has a level for everything that is selected.
    package func isKnown(of frame: FieldFrame) -> Bool {
        guard case .nearest(let altitudes) = self else { return !levels(of: frame).isEmpty }
        let flown = frame.levels.filter { $0.level != .column }
        return altitudes.allSatisfy { Self.nearest(to: $0, of: flown) != nil }
    }

    private static func nearest(to feet: Int, of flown: [FieldLevelRecord]) -> FieldLevelRecord? {
        let nearest = flown.min { abs($0.level.number - feet) < abs($1.level.number - feet) }
        return nearest.flatMap { abs($0.level.number - feet) <= FieldFrame.farthestNeighbour ? $0 : nil }
    }
}

/// The value of a field at a place and level.
package struct FieldLevelValue: Sendable, Hashable {
    package let identity: FieldIdentity
    package let source: SourceID
    package let level: FieldLevel
    /// The EDR in ten-thousandths of m^(2/3)/s; nil if the grid has no value.
    package let tenThousandths: Int?
    package let severity: Severity?
}

extension FrameSource {
    /// The values of the field at an instant and a place. A value comes from the nearest grid point, or is interpolated
    /// between the four around the place (`FieldSelection.isSmoothed`). Empty without a field, and outside its grid.
    ///
    /// - Complexity: O(points) for each uncached level: some 20 ms for one of GTG's.
    package func fieldLevels(
        at place: LonLat, _ selection: FieldLevelSelection, instant: Instant, filter: Filter, in snapshot: Snapshot
    ) async throws(EngineError) -> [FieldLevelValue] {
        guard let frame = snapshot.field(at: instant, filter), let grid = snapshot.fieldGrids[frame.grid],
            let position = GridProjection(grid).index(of: place)
        else { return [] }
        let thresholds = snapshot.severityTable.thresholds(for: filter.category)
        let appearance = FieldAppearance(
            thresholds: thresholds, showsSmoothAir: true, isSmoothed: filter.field.isSmoothed)
        var values: [FieldLevelValue] = []
        for level in selection.levels(of: frame) {
            guard let found = try await fieldValues(of: frame, at: [level], in: snapshot),
                let picture = FieldPicture(plane: found.plane, projection: GridProjection(grid), appearance: appearance)
            else { continue }
            let edr = appearance.isSmoothed ? picture.tenThousandths(at: position) : picture.nearest(to: position)
            values.append(
                FieldLevelValue(
                    identity: frame.identity, source: frame.source, level: level.level, tenThousandths: edr,
                    severity: edr.flatMap { appearance.severity(tenThousandths: $0) }))
        }
        return values
    }
}

extension Snapshot {
    /// The field that frames at an instant show; nil if there is none.
    package func field(at instant: Instant, _ filter: Filter) -> FieldFrame? {
        fields.frame(at: instant, FieldIndex.Query(filter), asOf: publication.version)
    }

    /// Whether fields are stored, but none with a level at the filter's altitudes applies to an instant.
    package func lacksField(at instant: Instant, _ filter: Filter) -> Bool {
        guard !fields.frames.isEmpty else { return false }
        return field(at: instant, filter)?.levels(in: filter.altitudes).isEmpty ?? true
    }

    /// The time range of the stored fields; nil if there are none.
    package var fieldExtent: ClosedRange<Instant>? {
        guard let first = fields.frames.first, let last = fields.frames.last else { return nil }
        return first.identity.validTime...last.identity.validTime
    }
}

extension FieldIndex.Query {
    package init(_ filter: Filter) {
        self.init(product: filter.field.product, run: filter.field.run, sources: filter.sources)
    }
}
