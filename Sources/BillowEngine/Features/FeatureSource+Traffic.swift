package import BillowExchange
package import BillowSnapshot
import BillowStore
import Geometry
import Turbulence

/// Aircraft: the last position of each at an instant, or every position in an interval.
extension FeatureSource {
    package func traffic(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        guard query.isInterval else {
            if memory.prepared == nil {
                let positions = try await frames.positions(
                    at: query.instant, droppedAfterSeconds: frames.lifetimes.trafficDropSeconds, in: snapshot)
                let made = positions.map { Self.deadReckoned($0, query) }.filter { Self.matches($0, query) }.map {
                    position in
                    PreparedFeature(id: position.icao24.text) { Feature(position) }
                }
                memory.prepared = Self.ordered(made, along: query.route)
            }
            return try write(memory.prepared ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
        }
        let start = try cursor.map { (cursor) throws(EngineError) in try Self.place(cursor) }
        let next = try await Self.scan(limit: limit.features, after: start) {
            (after, count) async throws(EngineError) in
            try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.positions(
                    after: after, from: query.from, to: query.to, limit: count, asOf: snapshot.publication.version)
            }
        } place: {
            PositionCursor($0)
        } write: { position in
            guard Self.matches(position, query) else { return false }
            writer.write(position, id: PositionID(position).text)
            return true
        }
        return next.map(Self.cursor)
    }

    /// Writes an aircraft by its address, where it was at the query's instant or last in its interval. The id of a
    /// position selects that position, whatever the query's time is.
    package func aircraft(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
    {
        if let wanted = PositionID(id) {
            let track = try await stored(
                of: wanted.aircraft, from: wanted.observedAt, to: wanted.observedAt.advanced(by: 1), in: snapshot)
            if let position = track.first(where: { $0.source == wanted.source }) { writer.write(position, id: id) }
            return
        }
        guard let aircraft = ICAO24(id) else { return }
        guard !query.isInterval else {
            let track = try await stored(of: aircraft, from: query.from, to: query.to, in: snapshot)
            if let position = track.last(where: { Self.matches($0, query) }) { writer.write(position) }
            return
        }
        let positions = try await frames.positions(
            at: query.instant, droppedAfterSeconds: frames.lifetimes.trafficDropSeconds, in: snapshot)
        if let position = positions.first(where: { $0.icao24 == aircraft }) {
            writer.write(Self.deadReckoned(position, query))
        }
    }

    private func stored(of aircraft: ICAO24, from: Instant, to: Instant, in snapshot: Snapshot)
        async throws(EngineError) -> [AircraftPosition]
    {
        try await frames.reading(in: snapshot) { () async throws(StoreError) in
            try await store.track(of: aircraft, from: from, to: to, asOf: snapshot.publication.version)
        }
    }

    private static func deadReckoned(_ position: AircraftPosition, _ query: FeatureQuery) -> AircraftPosition {
        query.deadReckoning ? position.deadReckoned(to: query.instant) : position
    }

    private static func matches(_ position: AircraftPosition, _ query: FeatureQuery) -> Bool {
        query.filter.matches(position) && query.contains(position.place)
    }

    private static func cursor(_ place: PositionCursor) -> Cursor {
        Cursor(text: "\(place.observedAt.seconds)-\(place.icao24)-\(place.source)")
    }

    private static func place(_ cursor: Cursor) throws(EngineError) -> PositionCursor {
        let parts = cursor.text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let seconds = PlainInteger.parse(parts[0]), let instant = Instant(seconds: seconds),
            let aircraft = ICAO24(parts[1]), let source = SourceID(parts[2])
        else { throw badCursor(cursor) }
        return PositionCursor(observedAt: instant, icao24: aircraft, source: source)
    }
}
