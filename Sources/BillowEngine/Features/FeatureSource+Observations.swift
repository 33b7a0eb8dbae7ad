package import BillowExchange
package import BillowSnapshot
import BillowStore
import Datasets
import Geometry
import Turbulence

/// Every observation that counts at the snapshot's version.
extension FeatureSource {
    package func observation(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws
    {
        let found = try await frames.reading(in: snapshot) {
            try await store.observation(id: id, asOf: snapshot.publication.version)
        }
        guard let (row, details) = found, let source = snapshot.sources.first(where: { $0.number == row.source })?.id
        else { return }
        let observation = Self.observation(row, source, details)
        guard let (severity, basis) = query.severity(of: observation, table: snapshot.severityTable) else { return }
        writer.write(
            ObservationFeature(observation, id: details.id ?? row.key.id, severity: severity, basis: basis),
            geometry: Self.geometry(of: row.cell, isWritten: writer.writesOutlines))
    }

    package func observations(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        let sources = Dictionary(snapshot.sources.map { ($0.number, $0.id) }) { first, _ in first }
        var area = CellAnswers(query.cells)
        let next = try await Self.scan(limit: limit, after: try cursor.map { try Self.key($0.text) }) { after, count in
            try await frames.reading(in: snapshot) {
                try await store.page(
                    after: after, from: query.from, to: query.to, limit: count, asOf: snapshot.publication.version)
            }
        } place: {
            $0.0.key
        } write: { row, details in
            guard let source = sources[row.source], area.contains(row.cell) else { return false }
            let observation = Self.observation(row, source, details)
            guard let (severity, basis) = query.severity(of: observation, table: snapshot.severityTable) else {
                return false
            }
            writer.write(
                ObservationFeature(observation, id: details.id ?? row.key.id, severity: severity, basis: basis),
                geometry: Self.geometry(of: row.cell, isWritten: writer.writesOutlines))
            return true
        }
        return next.map { Cursor(text: $0.id) }
    }
}
