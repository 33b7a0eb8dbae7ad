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
        var after = try cursor.map { try Self.key($0.text) }
        let sources = Dictionary(snapshot.sources.map { ($0.number, $0.id) }) { first, _ in first }
        var area = CellAnswers(query.cells)
        var written = 0
        var scanned = 0
        while scanned < Self.scanLimit {
            // One more than wanted tells whether there is a next page.
            let asked = min(Self.storePage, max(limit - written + 1, 100, scanned))
            let place = after
            let page = try await frames.reading(in: snapshot) {
                try await store.page(
                    after: place, from: query.from, to: query.to, limit: asked, asOf: snapshot.publication.version)
            }
            for (row, details) in page {
                // The first that has no room any more: the page ends before it.
                if written == limit { return after.map { Cursor(text: $0.id) } }
                after = row.key
                guard let source = sources[row.source], area.contains(row.cell) else { continue }
                let observation = Self.observation(row, source, details)
                guard let (severity, basis) = query.severity(of: observation, table: snapshot.severityTable)
                else { continue }
                writer.write(
                    ObservationFeature(observation, id: details.id ?? row.key.id, severity: severity, basis: basis),
                    geometry: Self.geometry(of: row.cell, isWritten: writer.writesOutlines))
                written += 1
            }
            if page.count < asked { return nil }
            scanned += page.count
        }
        return after.map { Cursor(text: $0.id) }
    }
}
