package import BillowAreas
import BillowExchange
package import BillowFields
package import BillowSnapshot
package import Datasets
import Geometry
package import Turbulence

/// Turbulence fields by H3 cell, with the most severe value and the mean in each; or as areas by severity.
extension FeatureSource {
    func field(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        guard query.isContoured else {
            if let route = query.route {
                return try await fieldCells(
                    query, in: snapshot, along: route, after: cursor, limit: limit.features, memory: &memory,
                    to: &writer)
            }
            return try await fieldCells(query, in: snapshot, after: cursor, limit: limit.features, to: &writer)
        }
        if memory.prepared == nil {
            memory.prepared = Self.ordered(try await fieldContours(query, in: snapshot), along: query.route)
        }
        return try write(memory.prepared ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
    }

    private func fieldCells(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int,
        to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        let start = try cursor.map { (cursor) throws(EngineError) in try Self.cell(cursor.text) }
        guard let field = try await filteredField(query, in: snapshot) else { return nil }
        var area = CellContainmentCache(query.cells)
        var last: Cursor?
        var written = 0
        for entry in field.cells.entries[field.cells.first(after: start)...] {
            let cell = Cell(uncheckedDense: entry.dense)
            guard let feature = field.feature(entry), area.contains(cell) else { continue }
            // One more than the limit shows that there is a next page.
            if written == limit { return last }
            writer.write(
                Feature(
                    id: feature.id, geometry: Self.geometry(of: cell, isWritten: true),
                    properties: Schema.gtg.values(of: feature)))
            written += 1
            last = Cursor(text: feature.id)
        }
        return nil
    }

    /// Returns a cell by its H3 index, or an area by its severity.
    func field(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
    {
        if id.hasPrefix(FieldFeature.contourPrefix) {
            let made = try await fieldContours(query, in: snapshot).first { $0.id == id }
            if let made { writer.write(made.feature) }
            return
        }
        guard let cell = Cell(h3String: id), let field = try await filteredField(query, in: snapshot),
            let entry = field.cells.entries.first(where: { $0.dense == cell.dense }), let feature = field.feature(entry)
        else { return }
        writer.write(
            Feature(
                id: feature.id, geometry: Self.geometry(of: cell, isWritten: true),
                properties: Schema.gtg.values(of: feature)))
    }

    /// The field as areas of one severity, or of at least that severity: its cells dissolved.
    private func fieldContours(_ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError)
        -> [PreparedFeature]
    {
        guard let field = try await filteredField(query, in: snapshot) else { return [] }
        var area = CellContainmentCache(query.cells)
        let entries = field.cells.entries.compactMap { entry -> (FieldCells.Entry, Severity)? in
            guard let severity = field.severity(of: entry), area.contains(Cell(uncheckedDense: entry.dense)) else {
                return nil
            }
            return (entry, severity)
        }
        let classes = CellClasses(
            entries.lazy.map { (Cell(uncheckedDense: $0.0.dense), CellClasses.value($0.1)) })
        let areas = try await polygons.areas(of: classes, shape: query.shape, severities: query.filter.severities)
        return field.contours(of: entries, query.shape.mode).compactMap { feature in
            guard let area = areas[feature.severity] else { return nil }
            return PreparedFeature(id: feature.id, polygons: area) {
                Feature(id: feature.id, geometry: .multiPolygon([]), properties: Schema.gtg.values(of: feature))
            }
        }
    }

    private func filteredField(_ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError) -> FilteredField?
    {
        guard let values = try await frames.fieldValues(at: query.instant, filter: query.filter, in: snapshot) else {
            return nil
        }
        let cells = try await frames.cells(of: values, resolution: Cell.resolution, in: snapshot)
        return FilteredField(values, cells, query.filter, snapshot)
    }
}

/// The cells of a field, and a filter for them.
package struct FilteredField: Sendable {
    package let values: FieldValues
    package let cells: FieldCells
    private let filter: Filter
    private let thresholds: SeverityThresholds

    package init(_ values: FieldValues, _ cells: FieldCells, _ filter: Filter, _ snapshot: Snapshot) {
        self.values = values
        self.cells = cells
        self.filter = filter
        thresholds = snapshot.severityTable.thresholds(for: filter.category)
    }

    /// A cell as a feature; nil if the filter excludes it.
    package func feature(_ entry: FieldCells.Entry) -> FieldFeature? {
        guard let severity = severity(of: entry) else { return nil }
        return FieldFeature(
            identity: values.frame.identity, source: values.frame.source,
            cell: H3.text(dense: Int(entry.dense), resolution: cells.resolution),
            largestEDR: Double(entry.largest) / 100, meanEDR: entry.mean, severity: severity, points: Int(entry.count),
            levels: values.feet)
    }

    /// The severity of a cell; nil if the filter excludes it. Smooth air is excluded, as in frames.
    package func severity(of entry: FieldCells.Entry) -> Severity? {
        guard let edr = EDR(tenThousandths: min(Int(entry.largest) * 100, 10_000)) else { return nil }
        let severity = thresholds.severity(of: edr)
        guard filter.severities.contains(severity), severity != .smooth || filter.field.showsSmoothAir else {
            return nil
        }
        return severity
    }

    /// The properties of the areas that cells make, in the order of their severities; none for a severity without a
    /// cell, and none for smooth air without a smooth cell.
    package func contours(of entries: [(FieldCells.Entry, Severity)], _ mode: PolygonMode) -> [FieldFeature] {
        var parts = [ContourPart](repeating: ContourPart(), count: Severity.allCases.count)
        for (entry, severity) in entries { parts[Int(severity.rawValue)].add(entry) }
        return Severity.allCases.compactMap { severity in
            let own = parts[Int(severity.rawValue)]
            let part =
                mode == .exact ? own : parts[Int(severity.rawValue)...].reduce(into: ContourPart()) { $0.add($1) }
            // Smooth cells are entries only if they were requested. Otherwise their area would be the area of light.
            guard part.hexagons > 0, filter.severities.contains(severity), severity != .smooth || own.hexagons > 0
            else { return nil }
            return FieldFeature(
                identity: values.frame.identity, source: values.frame.source, mode: mode.rawValue,
                hexagons: part.hexagons, largestEDR: Double(part.largest) / 100,
                meanEDR: Double(part.sum) / Double(max(1, part.points)) / 100, severity: severity, points: part.points,
                levels: values.feet)
        }
    }

    /// The combined values of the cells of a severity.
    private struct ContourPart {
        var hexagons = 0
        /// The largest value in hundredths, as in the cells.
        var largest: UInt8 = 0
        var sum = 0
        var points = 0

        mutating func add(_ entry: FieldCells.Entry) {
            hexagons += 1
            largest = max(largest, entry.largest)
            sum += Int(entry.sum)
            points += Int(entry.count)
        }

        mutating func add(_ other: ContourPart) {
            hexagons += other.hexagons
            largest = max(largest, other.largest)
            sum += other.sum
            points += other.points
        }
    }
}

extension FieldCells {
    /// The index of the first entry after a cell.
    /// - Complexity: O(log n)
    fileprivate func first(after cell: Cell?) -> Int {
        guard let cell else { return 0 }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].dense <= cell.dense { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
