package import BillowFields
package import BillowSnapshot
import BillowStore
package import BillowTiles
package import Geometry
package import Turbulence

/// The values of a field at some levels, and where they lie.
package struct FieldValues: Sendable {
    package let frame: FieldFrame
    /// Those that the values are the largest of; never empty.
    package let levels: [FieldLevelRecord]
    package let plane: FieldPlane
    package let grid: GridDefinition

    /// The lowest and the highest level in feet; nil for the column of air.
    package var feet: ClosedRange<Int>? {
        let feet = levels.filter { $0.level != .column }.map(\.level.number)
        guard let low = feet.min(), let high = feet.max() else { return nil }
        return low...high
    }
}

/// Finds the turbulence field that an instant shows, and reads its values.
extension FrameSource {
    /// The field that pictures of an instant show at the filter's altitudes; nil where there is none.
    package func fieldValues(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws -> FieldValues? {
        guard let frame = snapshot.field(at: instant, filter) else { return nil }
        return try await fieldValues(of: frame, at: frame.levels(in: filter.altitudes), in: snapshot)
    }

    /// The largest value of some levels at each point of their grid; nil where there is no level.
    ///
    /// - Complexity: O(points × levels) where it isn't known: some 20 ms a level of GTG's.
    package func fieldValues(of frame: FieldFrame, at levels: [FieldLevelRecord], in snapshot: Snapshot) async throws
        -> FieldValues?
    {
        guard !levels.isEmpty, let grid = snapshot.fieldGrids[frame.grid] else { return nil }
        let key = FieldCaches.PlaneKey(log: snapshot.log, rows: levels.map(\.row))
        let plane = try await fields.planes.value(for: key) { [self] in
            try await largest(of: key, on: grid, in: snapshot)
        }
        return FieldValues(frame: frame, levels: levels, plane: plane, grid: grid)
    }

    /// What a picture of an instant is drawn from; nil where there is no field, or none at the filter's altitudes.
    package func fieldPicture(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws -> FieldPicture?
    {
        guard let values = try await fieldValues(at: instant, filter: filter, in: snapshot) else { return nil }
        let look = FieldLook(filter, thresholds: snapshot.severityTable.thresholds(for: filter.category))
        return FieldPicture(plane: values.plane, projection: GridProjection(values.grid), look: look)
    }

    /// The values by H3 cell of a resolution 0…5.
    package func cells(of values: FieldValues, resolution: Int, in snapshot: Snapshot) async throws -> FieldCells {
        let key = FieldCaches.PlaneKey(log: snapshot.log, rows: values.levels.map(\.row))
        let cells = try await fields.cells.value(for: key) { [self] in
            FieldCells(values.plane, try await gridCells(values.grid))
        }
        return cells.coarsened(to: resolution)
    }

    /// The H3 cells of a grid's points.
    func gridCells(_ grid: GridDefinition) async throws -> GridCells {
        try await fields.grids.value(for: grid) { try GridCells(grid) }
    }

    /// Reads planes, and takes the largest of them.
    func largest(of key: FieldCaches.PlaneKey, on grid: GridDefinition, in snapshot: Snapshot) async throws
        -> FieldPlane
    {
        var largest: FieldPlane?
        for row in key.rows {
            try Task.checkCancellation()
            // A level that can't be read is damage, which `reading` makes an error until the snapshot is marked.
            let plane = try await reading(in: snapshot) { try await store.fieldPlane(row: row) }
            guard let plane, plane.width == grid.columns, plane.height == grid.rows else { continue }
            if largest == nil { largest = plane } else { largest?.formMaximum(with: plane) }
        }
        if let largest { return largest }
        // Nothing of it can be read: the snapshot is marked, and what is missing is not smooth.
        let nothing = [UInt8](repeating: FieldPlane.missing, count: grid.count)
        guard let plane = FieldPlane(width: grid.columns, height: grid.rows, values: nothing) else {
            throw EngineError.damageFound
        }
        return plane
    }
}

/// Which levels of a field are asked for at a position.
package enum FieldLevelSelection: Sendable, Hashable {
    /// Every level, and the column.
    case all
    /// The nearest level to each altitude in feet, the lower of two; one asked for twice is given once.
    case nearest([Int])
    /// Those of a range in feet.
    case within(ClosedRange<Int>)

    package func levels(of frame: FieldFrame) -> [FieldLevelRecord] {
        let flown = frame.levels.filter { $0.level != .column }
        switch self {
        case .all: return frame.levels
        case .within(let range): return flown.filter { range.contains($0.level.number) }
        case .nearest(let altitudes):
            var chosen: [FieldLevelRecord] = []
            for feet in altitudes {
                let nearest = flown.min { abs($0.level.number - feet) < abs($1.level.number - feet) }
                if let nearest, !chosen.contains(nearest) { chosen.append(nearest) }
            }
            return chosen
        }
    }
}

/// The value of a field at a place and level.
package struct FieldLevelValue: Sendable, Hashable {
    package let identity: FieldIdentity
    package let source: SourceID
    package let level: FieldLevel
    /// In ten-thousandths of m^(2/3)/s; nil where the grid has no value.
    package let tenThousandths: Int?
    package let severity: Severity?
}

extension FrameSource {
    /// The values of the field of an instant at a place: of the nearest point of its grid, or between the four around
    /// it (`FieldSelection.isSmoothed`). Empty where there is no field, and beyond its grid.
    ///
    /// - Complexity: O(points) for each level that isn't known: some 20 ms of GTG's.
    package func fieldLevels(
        at place: LonLat, _ selection: FieldLevelSelection, instant: Instant, filter: Filter, in snapshot: Snapshot
    ) async throws -> [FieldLevelValue] {
        guard let frame = snapshot.field(at: instant, filter), let grid = snapshot.fieldGrids[frame.grid],
            let position = GridProjection(grid).index(of: place)
        else { return [] }
        let thresholds = snapshot.severityTable.thresholds(for: filter.category)
        let look = FieldLook(thresholds: thresholds, showsSmoothAir: true, isSmoothed: filter.field.isSmoothed)
        var values: [FieldLevelValue] = []
        for level in selection.levels(of: frame) {
            guard let found = try await fieldValues(of: frame, at: [level], in: snapshot),
                let picture = FieldPicture(plane: found.plane, projection: GridProjection(grid), look: look)
            else { continue }
            let edr = look.isSmoothed ? picture.tenThousandths(at: position) : picture.nearest(to: position)
            values.append(
                FieldLevelValue(
                    identity: frame.identity, source: frame.source, level: level.level, tenThousandths: edr,
                    severity: edr.flatMap { look.severity(tenThousandths: $0) }))
        }
        return values
    }
}

extension Snapshot {
    /// The field that pictures of an instant show; nil where there is none.
    package func field(at instant: Instant, _ filter: Filter) -> FieldFrame? {
        fields.frame(at: instant, FieldIndex.Query(filter), asOf: publication.version)
    }

    /// From when to when there are fields; nil where there are none.
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
