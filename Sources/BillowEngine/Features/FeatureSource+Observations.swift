package import BillowExchange
package import BillowSnapshot
import BillowStore
import Datasets
import Geometry
package import Turbulence

/// All observations that are open at the snapshot's version.
extension FeatureSource {
    package func observation(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
    {
        let found = try await frames.reading(in: snapshot) { () async throws(StoreError) in
            try await store.observation(id: id, asOf: snapshot.publication.version)
        }
        guard let (row, details) = found, let source = snapshot.sources.first(where: { $0.number == row.source })?.id
        else { return }
        let observation = Self.observation(row, source, details)
        guard let (severity, basis) = query.severity(of: observation, table: snapshot.severityTable) else { return }
        Self.write(observation, row, details, severity, basis, to: &writer)
    }

    package func observations(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        let sources = Dictionary(snapshot.sources.map { ($0.number, $0.id) }) { first, _ in first }
        let start = try cursor.map { (cursor) throws(EngineError) in try Self.key(cursor.text) }
        // The log is in the order of time, and the live window in that of place too.
        let from = max(query.from, snapshot.logExtent.observed?.lowerBound ?? .distantFuture)
        if query.cells != .everywhere, from >= snapshot.liveFrom, from < query.to {
            // The keys that are known but not yet read.
            var known: ArraySlice<ObservationKey> = []
            let next = try await Self.scan(limit: limit, after: start) {
                (after, count) async throws(EngineError) -> [LiveRow] in
                if known.count < count {
                    known += snapshot.window.keys(
                        in: query.cells, from..<query.to, after: known.last ?? after, wanted: count - known.count)
                }
                let keys = Array(known.prefix(count))
                known = known.dropFirst(count)
                let found = try await frames.reading(in: snapshot) { () async throws(StoreError) in
                    try await store.observations(of: keys)
                }
                return keys.map { LiveRow(key: $0, found: found[$0]) }
            } place: {
                $0.key
            } write: { live in
                guard let (row, details) = live.found else { return false }
                return Self.write(row, details, of: sources, query, snapshot.severityTable, to: &writer)
            }
            return next.map { Cursor(text: $0.id) }
        }
        var area = CellContainmentCache(query.cells)
        let next = try await Self.scan(limit: limit, after: start) { (after, count) async throws(EngineError) in
            try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.page(
                    after: after, from: query.from, to: query.to, limit: count, asOf: snapshot.publication.version)
            }
        } place: {
            $0.0.key
        } write: { row, details in
            area.contains(row.cell)
                && Self.write(row, details, of: sources, query, snapshot.severityTable, to: &writer)
        }
        return next.map { Cursor(text: $0.id) }
    }

    /// A row of the live window as the store has it.
    private struct LiveRow {
        var key: ObservationKey
        /// nil for a row that became unreadable, which is passed over.
        var found: (row: ObservationRow, details: ObservationDetails)?
    }

    /// Writes the selected ones of some observations, from evenly spaced times of a range.
    /// - Returns: the number of rows read.
    package func sample(
        _ query: FeatureQuery, in snapshot: Snapshot, of range: Range<Instant>, places: Int, rows: Int,
        to writer: inout FeatureWriter
    ) async throws(EngineError) -> Int {
        let sources = Dictionary(snapshot.sources.map { ($0.number, $0.id) }) { first, _ in first }
        var area = CellContainmentCache(query.cells)
        let seconds = range.upperBound.seconds - range.lowerBound.seconds
        var read = 0
        for place in 0..<places {
            let from = range.lowerBound.advanced(by: seconds / places * place)
            let to = place + 1 < places ? from.advanced(by: seconds / places) : range.upperBound
            let page = try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.page(after: nil, from: from, to: to, limit: rows, asOf: snapshot.publication.version)
            }
            for (row, details) in page where area.contains(row.cell) {
                _ = Self.write(row, details, of: sources, query, snapshot.severityTable, to: &writer)
            }
            read += page.count
        }
        return read
    }

    /// Writes a row if the query selects it; its place isn't checked.
    /// - Returns: whether it was written.
    static func write(
        _ row: ObservationRow, _ details: ObservationDetails, of sources: [SourceNumber: SourceID],
        _ query: FeatureQuery, _ table: SeverityTable, to writer: inout FeatureWriter
    ) -> Bool {
        guard let source = sources[row.source] else { return false }
        let observation = observation(row, source, details)
        guard let (severity, basis) = query.severity(of: observation, table: table) else { return false }
        write(observation, row, details, severity, basis, to: &writer)
        return true
    }

    private static func write(
        _ observation: Observation, _ row: ObservationRow, _ details: ObservationDetails, _ severity: Severity,
        _ basis: SeverityBasis, to writer: inout FeatureWriter
    ) {
        writer.write(
            ObservationFeature(observation, id: details.id ?? row.key.id, severity: severity, basis: basis),
            geometry: geometry(of: row.cell, isWritten: writer.writesOutlines))
    }
}
