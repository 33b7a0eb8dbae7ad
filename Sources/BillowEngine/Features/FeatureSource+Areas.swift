package import BillowExchange
package import BillowSnapshot
import BillowStore
import Geometry
package import Turbulence

/// Issued areas that are valid at an instant or during an interval.
extension FeatureSource {
    package func areas(
        _ collection: IssuedArea.DatasetNumber, _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?,
        limit: PageLimit, memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        if memory.prepared == nil {
            let areas = try await areas(collection, query, in: snapshot)
            let made = areas.indices.map { index in
                let area = areas[index]
                if query.isForMirror {
                    let id = MirroredAreaID(area).text
                    return PreparedFeature(id: id) { Feature(area, id: id) }
                }
                // Issues of an area follow each other.
                let isFormer = index + 1 < areas.count && areas[index + 1].id == area.id
                return PreparedFeature(id: area.id) { Feature(area, id: isFormer ? IssueID(area).text : nil) }
            }
            memory.prepared =
                query.isForMirror ? made.sorted { $0.id < $1.id } : Self.ordered(made, along: query.route)
        }
        return try write(memory.prepared ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
    }

    /// Writes an area by its id, as it was issued last for the query's time. The id of an earlier issue selects that
    /// issue, whatever the query's time is.
    package func area(
        _ id: String, _ collection: IssuedArea.DatasetNumber, _ query: FeatureQuery, in snapshot: Snapshot,
        to writer: inout FeatureWriter
    ) async throws(EngineError) {
        let areas = try await areas(collection, query, in: snapshot)
        if let area = areas.last(where: { $0.id == id }) { return writer.write(Feature(area)) }
        guard let wanted = IssueID(id) else { return }
        let then = try await frames.reading(in: snapshot) { () async throws(StoreError) in
            try await store.areas(
                collection, from: wanted.validFrom, to: wanted.validFrom.advanced(by: 1),
                asOf: snapshot.publication.version)
        }
        if let area = then.last(where: { IssueID($0) == wanted }) { writer.write(Feature(area, id: id)) }
    }

    private func areas(_ collection: IssuedArea.DatasetNumber, _ query: FeatureQuery, in snapshot: Snapshot)
        async throws(EngineError)
        -> [IssuedArea]
    {
        let all =
            query.isInterval
            ? try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.areas(
                    collection, from: query.from, to: query.to, asOf: snapshot.publication.version)
            }
            : try await frames.areas(collection, at: query.instant, in: snapshot)
        return all.filter { area in
            query.filter.matches(area) && query.touches(area.geometry)
        }.sorted { ($0.id, $0.validFrom, $0.source) < ($1.id, $1.validFrom, $1.source) }
    }
}
