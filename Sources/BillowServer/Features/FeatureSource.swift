public import BillowExchange
public import BillowSnapshot
public import BillowStore
import Geometry
import Turbulence

/// Writes features page by page, in a fixed order, from the picture or from the log: so an answer of any size takes the
/// memory of a page, and no read of the store outlives one.
public struct FeatureSource: Sendable {
    private let frames: FrameSource
    private let store: any Store

    public init(frames: FrameSource, store: any Store) {
        self.frames = frames
        self.store = store
    }

    /// Where a page ends and the next begins: the text of the last feature's place in the order.
    public struct Cursor: Sendable, Hashable {
        public var text: String
    }

    /// Rows of the store looked through for one page; a sparse answer goes on in the next.
    private static let scanLimit = 100_000
    private static let storePage = 5_000

    /// Writes up to `limit` features that come after a cursor.
    /// - Returns: the cursor of the next page; nil at the end.
    /// - Throws: `Problem` for a cursor that can't be read; `StoreError`.
    public func write(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        switch query.collection {
        case .hexagons:
            let frame = try await frames.frame(at: query.instant, filter: query.filter, in: snapshot)
            return query.aggregate
                ? try await hexagons(frame, in: Self.area(query), after: cursor, limit: limit, to: &writer)
                : try await standingRecords(frame, query, after: cursor, limit: limit, to: &writer)
        case .observations:
            return try await observations(query, snapshot.severityTable, after: cursor, limit: limit, to: &writer)
        case .pireps: return try await pilotReports(query, after: cursor, limit: limit, to: &writer)
        case .hazards, .forecast: return try await areas(query, in: snapshot, after: cursor, limit: limit, to: &writer)
        }
    }

    /// Writes the one feature with an id, where the query's picture or the log has it.
    func write(id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter) async throws
        -> Bool
    {
        switch query.collection {
        case .hexagons:
            guard let cell = Cell(h3String: id) else { return false }
            let frame = try await frames.frame(at: query.instant, filter: query.filter, in: snapshot)
            _ = try await hexagons(frame, in: CellArea(cell), after: nil, limit: 1, to: &writer)
        case .observations:
            guard let (row, details) = try await store.observation(id: id),
                let source = try await store.sources().first(where: { $0.number == row.source })?.id
            else { return false }
            let observation = Self.observation(row, source, details)
            guard let (severity, basis) = query.severity(of: observation, table: snapshot.severityTable) else {
                return false
            }
            writer.write(
                observation, id: details.id ?? row.key.id, severity: severity, basis: basis,
                geometry: Self.geometry(of: row.cell))
        case .pireps:
            guard let report = try await store.pilotReport(id: id) else { return false }
            writer.write(report)
        case .hazards, .forecast:
            // Of the issues that share an id, the last of those asked for.
            let found = try await areas(query, in: snapshot).last { $0.id == id }
            guard let found else { return false }
            writer.write(found)
        }
        return writer.features > 0
    }

    // MARK: - From the picture

    private func hexagons(
        _ frame: Frame, in area: CellArea, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        let start = try cursor.map { try Self.cell($0.text) }
        // One more than wanted tells whether there is a next page.
        let found = frame.hexagons(after: start, limit: limit + 1, area: area)
        let page = found.prefix(limit)
        let details = try await store.details(of: page.map(\.record.row.key))
        for hexagon in page {
            let record = hexagon.record
            writer.write(
                hexagon: Self.observation(record.row, record.source, details[record.row.key]),
                severity: record.severity, basis: record.basis, reports: hexagon.reports, trend: nil,
                geometry: Self.geometry(of: record.row.cell))
        }
        guard found.count > limit, let last = page.last else { return nil }
        return Cursor(text: last.record.row.cell.h3String)
    }

    private func standingRecords(
        _ frame: Frame, _ query: FeatureQuery, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        var start: (Cell, ObservationKey)?
        if let cursor {
            let parts = cursor.text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Self.badCursor(cursor) }
            start = (try Self.cell(parts[0]), try Self.key(parts[1]))
        }
        let found = frame.standingRecords(after: start, limit: limit + 1, area: Self.area(query))
        let page = found.prefix(limit)
        let details = try await store.details(of: page.map(\.row.key))
        for record in page {
            writer.write(
                Self.observation(record.row, record.source, details[record.row.key]),
                id: details[record.row.key]?.id ?? record.row.key.id, severity: record.severity, basis: record.basis,
                geometry: Self.geometry(of: record.row.cell))
        }
        guard found.count > limit, let last = page.last else { return nil }
        return Cursor(text: "\(last.row.cell.h3String)-\(last.row.key.id)")
    }

    // MARK: - From the log

    private func observations(
        _ query: FeatureQuery, _ table: SeverityTable, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        var after = try cursor.map { try Self.key($0.text) }
        let sources = Dictionary(try await store.sources().map { ($0.number, $0.id) }) { first, _ in first }
        let area = Self.area(query)
        var written = 0
        var scanned = 0
        while scanned < Self.scanLimit {
            // One more than wanted tells whether there is a next page.
            let asked = min(Self.storePage, max(limit - written + 1, 100))
            let page = try await store.page(after: after, from: query.from, to: query.to, limit: asked)
            for (row, details) in page {
                // The first that has no room any more: the page ends before it.
                if written == limit { return after.map { Cursor(text: $0.id) } }
                after = row.key
                guard let source = sources[row.source], area.contains(row.cell) else { continue }
                let observation = Self.observation(row, source, details)
                guard let (severity, basis) = query.severity(of: observation, table: table) else { continue }
                writer.write(
                    observation, id: details.id ?? row.key.id, severity: severity, basis: basis,
                    geometry: Self.geometry(of: row.cell))
                written += 1
            }
            if page.count < asked { return nil }
            scanned += page.count
        }
        return after.map { Cursor(text: $0.id) }
    }

    private func pilotReports(
        _ query: FeatureQuery, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        var after: (Instant, String)?
        if let cursor {
            guard let dash = cursor.text.firstIndex(of: "-"), let seconds = Digits.integer(cursor.text[..<dash]),
                let instant = Instant(seconds: seconds)
            else { throw Self.badCursor(cursor) }
            after = (instant, String(cursor.text[cursor.text.index(after: dash)...]))
        }
        var written = 0
        var scanned = 0
        while scanned < Self.scanLimit {
            let asked = min(Self.storePage, max(limit - written + 1, 100))
            let page = try await store.pilotReports(after: after, from: query.from, to: query.to, limit: asked)
            for report in page {
                // The page ends before the first that has no room, unless it is the same report from another source,
                // which the place where a page starts couldn't tell apart.
                if written >= limit, after.map({ $0 != (report.observedAt, report.id) }) ?? true {
                    return after.map { Cursor(text: "\($0.0.seconds)-\($0.1)") }
                }
                after = (report.observedAt, report.id)
                guard Self.takes(report, query) else { continue }
                writer.write(report)
                written += 1
            }
            if page.count < asked { return nil }
            scanned += page.count
        }
        return after.map { Cursor(text: "\($0.0.seconds)-\($0.1)") }
    }

    /// A report without severity is shown unless severities are asked for; one without level unless altitudes are.
    private static func takes(_ report: PilotReport, _ query: FeatureQuery) -> Bool {
        let filter = query.filter
        if let box = query.box, !box.contains(report.place) { return false }
        if let sources = filter.sources, !sources.contains(report.source) { return false }
        if let kinds = filter.kinds, !kinds.contains(.pilotReport) { return false }
        if filter.severities != .all {
            guard let severity = report.severity, filter.severities.contains(severity) else { return false }
        }
        if filter.altitudes != .all {
            guard let block = report.altitudeFeet.flatMap({ AltitudeBlock(feet: Double($0)) }),
                filter.altitudes.overlaps(AltitudeBand(block))
            else { return false }
        }
        return true
    }

    // MARK: - Issued areas

    /// Those asked for, in the order of their validity.
    private func areas(_ query: FeatureQuery, in snapshot: Snapshot) async throws -> [IssuedArea] {
        guard let collection = query.collection.areas else { return [] }
        let found =
            query.from.advanced(by: 1) == query.to
            ? try await frames.areas(collection, at: query.from, in: snapshot)
            : try await store.areas(collection, from: query.from, to: query.to, asOf: snapshot.publication.version)
        return found.filter { query.filter.takes($0) && (query.box.map($0.geometry.intersects) ?? true) }
            .sorted { AreaPlace($0) < AreaPlace($1) }
    }

    private func areas(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        let found = try await areas(query, in: snapshot)
        var start = found.startIndex
        if let cursor {
            guard let after = AreaPlace(cursor.text) else { throw Self.badCursor(cursor) }
            start = found.firstIndex { after < AreaPlace($0) } ?? found.endIndex
        }
        let page = found[start...].prefix(limit)
        for area in page { writer.write(area) }
        guard page.endIndex < found.endIndex, let last = page.last else { return nil }
        return Cursor(text: AreaPlace(last).text)
    }

    /// Where an area stands in the order of features.
    private struct AreaPlace: Comparable {
        let validFrom: Instant
        let source: SourceID
        let id: String

        init(_ area: IssuedArea) {
            validFrom = area.validFrom
            source = area.source
            id = area.id
        }

        /// What `text` gives; nil for anything else.
        init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let seconds = Digits.integer(parts[0]), let validFrom = Instant(seconds: seconds),
                let source = SourceID(parts[1])
            else { return nil }
            self.validFrom = validFrom
            self.source = source
            id = String(parts[2])
        }

        var text: String { "\(validFrom.seconds):\(source):\(id)" }

        static func < (a: AreaPlace, b: AreaPlace) -> Bool {
            (a.validFrom, a.source, a.id) < (b.validFrom, b.source, b.id)
        }
    }

    // MARK: - Parts

    private static func area(_ query: FeatureQuery) -> CellArea { query.box.map { CellArea($0) } ?? .everywhere }

    private static func observation(_ row: ObservationRow, _ source: SourceID, _ details: ObservationDetails?)
        -> Observation
    {
        Observation(
            id: details?.id, cell: row.cell, altitude: row.altitude, intensity: row.intensity,
            observedAt: row.observedAt, category: row.category, source: source, kind: row.kind,
            aircraft: details?.aircraft)
    }

    private static func geometry(of cell: Cell) -> FeatureGeometry {
        let rings = CellPolygon.rings(of: cell)
        return rings.count == 1 ? .polygon(rings) : .multiPolygon(rings.map { [$0] })
    }

    private static func cell(_ text: some StringProtocol) throws(Problem) -> Cell {
        guard let cell = Cell(h3String: text) else { throw badCursor(Cursor(text: String(text))) }
        return cell
    }

    /// - Throws: for a key beyond any instant, which would turn the order around.
    private static func key(_ text: some StringProtocol) throws(Problem) -> ObservationKey {
        guard let key = ObservationKey(id: text), key < .first(of: .distantFuture) else {
            throw badCursor(Cursor(text: String(text)))
        }
        return key
    }

    private static func badCursor(_ cursor: Cursor) -> Problem {
        Problem(
            ParameterError(parameter: "after", value: cursor.text, expected: "what a 'next' link of ours says"))
    }
}
