import BillowExchange
package import BillowFields
package import BillowSnapshot
package import Datasets
import Geometry
import Turbulence

/// Turbulence fields by H3 cell: the most severe value in each, and the mean.
extension FeatureSource {
    func fieldCells(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int,
        to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        let start = try cursor.map { try Self.cell($0.text) }
        guard let shown = try await shownField(query, in: snapshot) else { return nil }
        var area = CellAnswers(query.cells)
        var last: Cursor?
        var written = 0
        for entry in shown.cells.entries[shown.cells.first(after: start)...] {
            let cell = Cell(uncheckedDense: entry.dense)
            guard let feature = shown.feature(entry), area.contains(cell) else { continue }
            // One more than wanted tells that there is a next page.
            if written == limit { return last }
            writer.write(
                Feature(
                    id: feature.cell, geometry: Self.geometry(of: cell, isWritten: true),
                    properties: Schema.gtg.values(of: feature)))
            written += 1
            last = Cursor(text: feature.cell)
        }
        return nil
    }

    func fieldCell(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws
    {
        guard let cell = Cell(h3String: id), let shown = try await shownField(query, in: snapshot),
            let entry = shown.cells.entries.first(where: { $0.dense == cell.dense }), let feature = shown.feature(entry)
        else { return }
        writer.write(
            Feature(
                id: feature.cell, geometry: Self.geometry(of: cell, isWritten: true),
                properties: Schema.gtg.values(of: feature)))
    }

    private func shownField(_ query: FeatureQuery, in snapshot: Snapshot) async throws -> ShownField? {
        guard let values = try await frames.fieldValues(at: query.instant, filter: query.filter, in: snapshot) else {
            return nil
        }
        let cells = try await frames.cells(of: values, resolution: Cell.resolution, in: snapshot)
        return ShownField(values, cells, query.filter, snapshot)
    }
}

/// The cells of a field, and what a filter takes of them.
package struct ShownField: Sendable {
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

    /// A cell as a feature; nil where the filter doesn't take it. Smooth air is left out as in pictures.
    package func feature(_ entry: FieldCells.Entry) -> FieldFeature? {
        guard let edr = EDR(tenThousandths: min(Int(entry.largest) * 100, 10_000)) else { return nil }
        let severity = thresholds.severity(of: edr)
        guard filter.severities.contains(severity), severity != .smooth || filter.field.showsSmoothAir else {
            return nil
        }
        return FieldFeature(
            identity: values.frame.identity, source: values.frame.source,
            cell: H3.text(dense: Int(entry.dense), resolution: cells.resolution), resolution: cells.resolution,
            largestEDR: Double(entry.largest) / 100, meanEDR: entry.mean, severity: severity, points: Int(entry.count),
            levels: values.feet)
    }
}

extension FieldCells {
    /// The place of the first entry after a cell.
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
