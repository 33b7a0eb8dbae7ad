package import Turbulence

/// Where every aircraft was seen last, as of an instant: immutable.
///
/// A position with a later time waits in `ahead` until its time comes. It never takes the place of what its aircraft,
/// or any other, has until then.
package struct Traffic: Sendable {
    /// How long an aircraft is kept after it was last seen.
    package static let keptSeconds = 600

    /// The newest position of each aircraft at or before `asOf`.
    private var newest: [ICAO24: AircraftPosition] = [:]
    /// Positions after `asOf`, in any order.
    private var ahead: [AircraftPosition] = []
    /// The latest instant that this was brought up to.
    private var asOf: Instant

    /// Nobody in the air.
    package init() { asOf = .distantPast }

    /// - Parameters:
    ///   - asOf: positions after this instant wait for their time.
    ///   - positions: of any aircraft, in any order.
    package init(_ positions: [AircraftPosition], asOf: Instant) {
        self.asOf = asOf
        update(positions)
    }

    package var count: Int { Set(newest.keys).union(ahead.lazy.map(\.icao24)).count }

    /// The time of a source's newest position; nil where it has none.
    func newest(of source: SourceID) -> Instant? {
        let positions = [Array(newest.values), ahead].joined()
        return positions.lazy.filter { $0.source == source }.map(\.observedAt).max()
    }

    /// The aircraft seen in (instant − droppedAfterSeconds, instant], by address.
    ///
    /// - Returns: nil for an instant before `asOf` at which an aircraft had a position that was replaced since: the
    ///   store
    ///   knows it. For `asOf` and later there is always an answer.
    func positions(at instant: Instant, droppedAfterSeconds: Int) -> [AircraftPosition]? {
        guard instant >= asOf || newest.values.allSatisfy({ $0.observedAt <= instant }) else { return nil }
        return Traffic.standing(
            [Array(newest.values), ahead].joined(), at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }

    /// Of any positions, the newest of each aircraft in (instant − droppedAfterSeconds, instant], by address.
    package static func standing(
        _ positions: some Sequence<AircraftPosition>, at instant: Instant, droppedAfterSeconds: Int
    ) -> [AircraftPosition] {
        let oldest = instant.advanced(by: 1 - droppedAfterSeconds)
        var newest: [ICAO24: AircraftPosition] = [:]
        for position in positions where position.observedAt >= oldest && position.observedAt <= instant {
            if isNewer(position, than: newest[position.icao24]) { newest[position.icao24] = position }
        }
        return newest.values.sorted { $0.icao24 < $1.icao24 }
    }

    /// Adds positions, in any order.
    package mutating func update(_ positions: [AircraftPosition]) {
        for position in positions {
            if position.observedAt > asOf {
                ahead.append(position)
            } else if Traffic.isNewer(position, than: newest[position.icao24]) {
                newest[position.icao24] = position
            }
        }
    }

    /// Moves on to an instant: positions whose time has come count, and aircraft not seen for long are removed.
    package mutating func advance(to now: Instant) {
        asOf = max(asOf, now)
        let waiting = ahead
        ahead = []
        update(waiting)
        let oldest = now.advanced(by: -Traffic.keptSeconds)
        newest = newest.filter { $0.value.observedAt > oldest }
    }

    /// Two sources' positions of one second: the first name decides, so that the order of arrival doesn't.
    private static func isNewer(_ position: AircraftPosition, than known: AircraftPosition?) -> Bool {
        guard let known else { return true }
        return known.observedAt == position.observedAt
            ? position.source < known.source : known.observedAt < position.observedAt
    }
}
