package import BillowExchange
package import BillowSnapshot
import BillowStore
import Geometry
import Turbulence

/// The tracks of aircraft, over the history before an instant or over an interval.
extension FeatureSource {
    package func tracks(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        let after = try cursor.map { (cursor) throws(EngineError) -> ICAO24 in
            guard let aircraft = ICAO24(cursor.text) else { throw Self.badCursor(cursor) }
            return aircraft
        }
        if memory.aircraft == nil { memory.aircraft = try await aircraft(query, in: snapshot) }
        let found = memory.aircraft ?? []
        var last: ICAO24?
        var written = 0
        // The first after the cursor; the list is sorted.
        var next = found.partitioningIndex { after == nil || $0 > (after ?? $0) }
        while next < found.count {
            if written == limit.features || written > 0 && writer.count >= limit.bytes {
                return last.map { Cursor(text: $0.text) }
            }
            let aircraft = found[next]
            next += 1
            guard let track = try await track(of: aircraft, query, in: snapshot) else { continue }
            writer.write(Feature(track))
            written += 1
            last = aircraft
            try WorkExecutor.checkCancellation()
        }
        return nil
    }

    /// The aircraft that were seen in the query's time range, sorted by address. All pages of the query share the
    /// result.
    private func aircraft(_ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError) -> [ICAO24] {
        let key = AircraftKey(
            from: query.from, to: query.to, head: Head(version: snapshot.versions.positions, log: snapshot.log))
        return try await aircraftOfTimes.value(for: key) { [frames, store] () async throws(EngineError) in
            try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.aircraft(from: query.from, to: query.to, asOf: snapshot.publication.version)
            }
        }
    }

    struct AircraftKey: Hashable, Sendable {
        var from: Instant
        var to: Instant
        var head: Head
    }

    package func track(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
    {
        guard let aircraft = ICAO24(id), let track = try await track(of: aircraft, query, in: snapshot) else { return }
        writer.write(Feature(track))
    }

    /// The whole track of an aircraft if the query selects any part of it; limited to the selected sources.
    private func track(of aircraft: ICAO24, _ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError)
        -> AircraftTrack?
    {
        let stored = try await frames.reading(in: snapshot) { () async throws(StoreError) in
            try await store.track(of: aircraft, from: query.from, to: query.to, asOf: snapshot.publication.version)
        }
        let positions = stored.filter { query.filter.sources?.contains($0.source) ?? true }
        let isWanted = positions.contains { query.filter.matches($0) && query.contains($0.place) }
        return isWanted ? AircraftTrack(positions) : nil
    }
}

extension Array {
    /// The index of the first element that satisfies a condition, or `count`. All elements after it must satisfy it
    /// too.
    fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
