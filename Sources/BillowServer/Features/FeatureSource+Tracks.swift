import BillowExchange
import BillowSnapshot
import BillowStore
import Geometry
import Turbulence

/// The ways that aircraft took, over the history before an instant or over an interval.
extension FeatureSource {
    func tracks(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: Int, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        let after = try cursor.map { (cursor) throws(Problem) -> ICAO24 in
            guard let aircraft = ICAO24(cursor.text) else { throw Self.badCursor(cursor) }
            return aircraft
        }
        var last: ICAO24?
        var written = 0
        for aircraft in try await store.aircraft(from: query.from, to: query.to) {
            if let after, aircraft <= after { continue }
            if written == limit { return last.map { Cursor(text: $0.text) } }
            guard let track = try await track(of: aircraft, query) else { continue }
            writer.write(Feature(track))
            written += 1
            last = aircraft
        }
        return nil
    }

    func track(_ id: String, _ query: FeatureQuery, to writer: inout FeatureWriter) async throws {
        guard let aircraft = ICAO24(id), let track = try await track(of: aircraft, query) else { return }
        writer.write(Feature(track))
    }

    /// Whole, where some of it is wanted; of the sources that are.
    private func track(of aircraft: ICAO24, _ query: FeatureQuery) async throws -> AircraftTrack? {
        let positions = try await store.track(of: aircraft, from: query.from, to: query.to)
            .filter { query.filter.sources?.contains($0.source) ?? true }
        let isWanted = positions.contains { query.filter.takes($0) && query.contains($0.place) }
        return isWanted ? AircraftTrack(positions) : nil
    }
}
