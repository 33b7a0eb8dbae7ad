public import Geometry
public import Turbulence

/// One instant of the data: some hours of rows, filtered, as of one instant. All drawings and lists of it use the same
/// rows, so pixels and features always agree.
public struct Frame: Sendable {
    /// The instant of the frame.
    public let instant: Instant
    /// The filter of the frame.
    public let filter: Filter
    private let segments: [Segment]
    /// These segments, and the segments of the frame 30 minutes before.
    private let segmentsForTrend: [Segment]
    private let sources: [SourceNumber: SourceID]
    private let table: SeverityTable
    private let test: RowPredicate
    private let testBefore: RowPredicate

    /// The interval in seconds between a frame and the earlier one that its trends compare it with.
    package static let trendSeconds = 1_800

    /// Makes a frame. `window` must have every row observed in (instant − history, instant]. For trends, it must also
    /// have those of the 30 minutes before.
    public init(window: Window, at instant: Instant, filter: Filter, table: SeverityTable) {
        self.instant = instant
        self.filter = filter
        self.table = table
        segments = window.segments(for: filter, at: instant)
        var longer = filter
        longer.lookBackSeconds += Self.trendSeconds
        segmentsForTrend = window.segments(for: longer, at: instant)
        sources = window.sources
        test = RowPredicate(filter: filter, at: instant, sources: window.sources, table: table)
        testBefore = RowPredicate(
            filter: filter, at: instant.advanced(by: -Self.trendSeconds), sources: window.sources, table: table)
    }

    /// The plane, with one byte per cell.
    /// - Complexity: O(rows of the hours that the history touches)
    public func plane() -> FramePlane { FramePlane(segments: segments, test: test) }

    /// The hexagons in `area` whose cell is after `after`, in cell order, at most `limit` of them.
    public func hexagons(after: Cell? = nil, limit: Int = .max, area: CellArea = .everywhere) -> [Hexagon] {
        var found: [Hexagon] = []
        forEachChunk(after: after, area: area) { chunk in
            var best = [Best?](repeating: nil, count: CellTable.chunkSize)
            standing(inChunk: chunk) { segment, row, severity, columns in
                let dense = RowKey(bits: columns.places[row]).dense
                let position = dense % CellTable.chunkSize
                let candidate = Best(
                    severity: severity, observedAt: columns.observedAt[row], segment: segment, row: row, reports: 1)
                best[position] = best[position].map { $0.joined(candidate) } ?? candidate
            }
            var before: [Severity?]?
            for (position, best) in best.enumerated() {
                guard let best else { continue }
                let cell = Cell(uncheckedDense: UInt32(chunk * CellTable.chunkSize + position))
                if let after, cell <= after { continue }
                guard area.contains(cell), let record = record(best.segment, best.row, best.severity) else { continue }
                before = before ?? severitiesBefore(inChunk: chunk)
                found.append(
                    Hexagon(record: record, reports: best.reports, severityBefore: before?[position]))
                if found.count >= limit { return false }
            }
            return true
        }
        return found
    }

    /// Every standing observation in the order of (cell, key), starting after that pair.
    public func currentObservations(
        after: (Cell, ObservationKey)? = nil, limit: Int = .max, area: CellArea = .everywhere
    ) -> [CurrentObservation] {
        var found: [CurrentObservation] = []
        forEachChunk(after: after?.0, area: area) { chunk in
            var here: [CurrentObservation] = []
            // Whether `area` contains each cell, computed once per cell.
            var isTaken = [Bool?](repeating: nil, count: CellTable.chunkSize)
            standing(inChunk: chunk) { segment, row, severity, columns in
                let cell = Cell(uncheckedDense: UInt32(RowKey(bits: columns.places[row]).dense))
                let position = Int(cell.dense) % CellTable.chunkSize
                let takes = isTaken[position] ?? area.contains(cell)
                isTaken[position] = takes
                guard takes, let record = record(segment, row, severity) else { return }
                if let after, (cell.dense, record.row.key) <= (after.0.dense, after.1) { return }
                here.append(record)
            }
            here.sort { ($0.row.cell.dense, $0.row.key) < ($1.row.cell.dense, $1.row.key) }
            found.append(contentsOf: here.prefix(limit - found.count))
            return found.count < limit
        }
        return found
    }

    // MARK: - Iterating over rows

    private struct Best {
        var severity: Severity
        var observedAt: UInt32
        var segment: Int
        var row: Int
        var reports: Int

        /// The more severe of both; a tie goes to the newer, then to the one found first.
        func joined(_ other: Best) -> Best {
            var winner = (other.severity, other.observedAt) > (severity, observedAt) ? other : self
            winner.reports = reports + other.reports
            return winner
        }
    }

    private func forEachChunk(after: Cell?, area: CellArea, _ body: (Int) -> Bool) {
        let first = after.map { Int($0.dense) / CellTable.chunkSize } ?? 0
        for chunk in first..<Segment.chunks {
            guard segments.contains(where: { !$0.rows(inChunk: chunk).isEmpty }), area.mayHold(chunk: chunk) else {
                continue
            }
            guard body(chunk) else { return }
        }
    }

    private func standing(
        inChunk chunk: Int, _ body: (_ segment: Int, _ row: Int, Severity, borrowing SegmentColumns) -> Void
    ) {
        for (index, segment) in segments.enumerated() {
            let rows = segment.rows(inChunk: chunk)
            guard !rows.isEmpty else { continue }
            segment.withColumns { columns in
                for row in rows {
                    if let severity = test.severity(of: row, in: columns) { body(index, row, severity, columns) }
                }
            }
        }
    }

    /// The severities of a chunk's hexagons 30 minutes before.
    private func severitiesBefore(inChunk chunk: Int) -> [Severity?] {
        var severities = [Severity?](repeating: nil, count: CellTable.chunkSize)
        for segment in segmentsForTrend {
            let rows = segment.rows(inChunk: chunk)
            guard !rows.isEmpty else { continue }
            segment.withColumns { columns in
                for row in rows {
                    guard let severity = testBefore.severity(of: row, in: columns) else { continue }
                    let position = RowKey(bits: columns.places[row]).dense % CellTable.chunkSize
                    severities[position] = severities[position].map { max($0, severity) } ?? severity
                }
            }
        }
        return severities
    }

    /// The time range of the observations that decide each severity of the frame: those with their cell's own
    /// severity.
    /// - Complexity: O(rows of the hours that the history touches)
    package func observed(in plane: FramePlane, area: CellArea = .everywhere) -> [Severity: ClosedRange<Instant>] {
        var bounds = [(first: UInt32, last: UInt32)?](repeating: nil, count: Severity.allCases.count)
        forEachChunk(after: nil, area: area) { chunk in
            let values = plane.values(inChunk: chunk)
            guard !values.isEmpty else { return true }
            standing(inChunk: chunk) { _, row, severity, columns in
                let dense = RowKey(bits: columns.places[row]).dense
                guard values[values.startIndex + dense % CellTable.chunkSize] == FramePlane.value(severity),
                    area == .everywhere || area.contains(Cell(uncheckedDense: UInt32(dense)))
                else { return }
                let observed = columns.observedAt[row]
                let index = Int(severity.rawValue)
                bounds[index] =
                    bounds[index].map { (min($0.first, observed), max($0.last, observed)) }
                    ?? (observed, observed)
            }
            return true
        }
        var found: [Severity: ClosedRange<Instant>] = [:]
        for severity in Severity.allCases {
            if let (first, last) = bounds[Int(severity.rawValue)] {
                found[severity] = Instant(clamping: Int(first))...Instant(clamping: Int(last))
            }
        }
        return found
    }

    private func record(_ segment: Int, _ row: Int, _ severity: Severity) -> CurrentObservation? {
        guard let found = segments[segment].row(row), let source = sources[found.source] else { return nil }
        let isDerived = segments[segment].withColumns { test.isDerived(row, in: $0) }
        return CurrentObservation(row: found, source: source, severity: severity, basis: isDerived ? .edr : .reported)
    }
}

/// An observation that is current at the frame's instant, with its severity.
public struct CurrentObservation: Sendable, Hashable {
    /// The observation itself.
    public var row: ObservationRow
    /// The source that reported it.
    public var source: SourceID
    /// The severity for the filter's category.
    public var severity: Severity
    /// Whether the severity was reported, or derived from the EDR.
    public var basis: SeverityBasis
}

/// One cell of the aggregated frame.
public struct Hexagon: Sendable, Hashable {
    /// The observation that decides the hexagon's severity.
    public var record: CurrentObservation
    /// The number of standing observations in the cell, including that one.
    public var reports: Int
    /// The hexagon's severity 30 minutes before, by the same rule; nil if there was none.
    public var severityBefore: Severity?
}

/// A cache of which cells an area contains, because many rows share a cell.
package struct CellContainmentCache: Sendable {
    private let area: CellArea
    private var known: [Cell: Bool] = [:]

    private let isEverywhere: Bool

    package init(_ area: CellArea) {
        self.area = area
        isEverywhere = area == .everywhere
    }

    package mutating func contains(_ cell: Cell) -> Bool {
        if isEverywhere { return true }
        if let answer = known[cell] { return answer }
        let answer = area.contains(cell)
        known[cell] = answer
        return answer
    }
}

/// An area as a predicate on cells.
public struct CellArea: Sendable, Hashable {
    private enum Shape: Sendable, Hashable {
        case everywhere
        case cell(Cell)
        case box(BoundingBox, GridBox)
        case area(AreaIndex, GridBox)
        /// Both the box and the area, where there is one.
        case centres(BoundingBox?, AreaIndex?, GridBox)
        case cells(Set<Cell>)
    }

    private let shape: Shape

    /// Every cell.
    public static let everywhere = CellArea(shape: .everywhere)

    /// The cells that share a point with the box.
    public init(_ box: BoundingBox) { shape = .box(box, GridBox(box)) }

    /// A single cell.
    public init(_ cell: Cell) { shape = .cell(cell) }

    /// The cells that share a point with the area.
    public init(_ area: AreaIndex) { shape = .area(area, GridBox(area.box)) }

    /// The cells whose centres lie in the box and in the area. Without both, every cell.
    package init(centresIn box: BoundingBox?, _ area: AreaIndex?) {
        guard let outer = area?.box ?? box else {
            shape = .everywhere
            return
        }
        shape = .centres(box, area, GridBox(outer))
    }

    /// A set of cells.
    public init(_ cells: Set<Cell>) { shape = .cells(cells) }

    private init(shape: Shape) { self.shape = shape }

    /// Whether a chunk of 343 cells may contain a cell of the area; false is always right.
    package func mayHold(chunk: Int) -> Bool {
        switch shape {
        case .everywhere: true
        case .cell(let cell): Int(cell.dense) / CellTable.chunkSize == chunk
        case .box(_, let grid), .area(_, let grid), .centres(_, _, let grid):
            CellTree.shared.mayIntersect(resolution: 2, dense: chunk, grid)
        case .cells(let cells): cells.contains { Int($0.dense) / CellTable.chunkSize == chunk }
        }
    }

    /// Whether the area contains a cell.
    public func contains(_ cell: Cell) -> Bool {
        switch shape {
        case .everywhere: true
        case .cell(let only): cell == only
        case .box(let box, _): box.intersects(outlineOf: cell)
        case .area(let area, _):
            area.box.intersects(BoundingBox(of: cell)) && area.intersects(CellPolygon.rings(of: cell).map { [$0] })
        case .centres(let box, let area, _):
            { box?.contains($0) ?? true && area?.contains($0) ?? true }(H3.center(of: cell))
        case .cells(let cells): cells.contains(cell)
        }
    }
}

extension BoundingBox {
    /// Whether a point of a cell's outline or interior lies in the box.
    fileprivate func intersects(outlineOf cell: Cell) -> Bool {
        let bounds = BoundingBox(of: cell)
        guard intersects(bounds) else { return false }
        // Only cells at the edge of the box need their outline.
        let isInside =
            !crossesAntimeridian && !bounds.crossesAntimeridian && west <= bounds.west && bounds.east <= east
            && south <= bounds.south && bounds.north <= north
        return isInside || MultiPolygon(polygons: CellPolygon.rings(of: cell).map { [$0] }).intersects(self)
    }
}
