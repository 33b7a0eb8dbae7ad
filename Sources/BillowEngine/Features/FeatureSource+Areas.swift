package import BillowExchange
package import BillowSnapshot
import BillowStore
import Geometry
package import Turbulence

/// Issued areas that are valid at an instant or during an interval.
extension FeatureSource {
    package func areas(
        _ collection: IssuedArea.Collection, _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?,
        limit: PageLimit, memory: inout PageMemory, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        if memory.made == nil {
            let made = try await areas(collection, query, in: snapshot).map { area in
                Made(id: area.id) { Feature(area) }
            }
            memory.made = Self.ordered(made, along: query.route)
        }
        return try write(memory.made ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
    }

    package func area(
        _ id: String, _ collection: IssuedArea.Collection, _ query: FeatureQuery, in snapshot: Snapshot,
        to writer: inout FeatureWriter
    ) async throws {
        let areas = try await areas(collection, query, in: snapshot)
        if let area = areas.last(where: { $0.id == id }) { writer.write(Feature(area)) }
    }

    private func areas(_ collection: IssuedArea.Collection, _ query: FeatureQuery, in snapshot: Snapshot) async throws
        -> [IssuedArea]
    {
        let all =
            query.isInterval
            ? try await frames.reading(in: snapshot) {
                try await store.areas(
                    collection, from: query.from, to: query.to, asOf: snapshot.publication.version)
            }
            : try await frames.areas(collection, at: query.instant, in: snapshot)
        return all.filter { area in
            query.filter.matches(area) && query.touches(area.geometry)
        }
    }
}
