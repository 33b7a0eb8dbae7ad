package import Turbulence

/// The last position of every aircraft as of an instant: immutable.
///
/// A position with a later time waits in `ahead`, and doesn't replace any other before its time.
package struct Traffic: Sendable {
    /// How long an aircraft is retained after its last position, in seconds.
    package static let retentionSeconds = 600

    /// The newest position of each aircraft at or before `asOf`.
    private var newest: [ICAO24: AircraftPosition] = [:]
    /// Positions after `asOf`, in any order.
    private var ahead: [AircraftPosition] = []
    /// The latest instant to which this was advanced.
    private var asOf: Instant

    /// Makes an empty instance, without aircraft.
    package init() { asOf = .distantPast }

    /// - Parameters:
    ///   - asOf: positions after this instant wait for their time.
    ///   - positions: of any aircraft, in any order.
    package init(_ positions: [AircraftPosition], asOf: Instant) {
        self.asOf = asOf
        update(positions)
    }

    package var count: Int { Set(newest.keys).union(ahead.lazy.map(\.icao24)).count }

    /// The time of the newest position; nil if there is none.
    package var newestTime: Instant? {
        [Array(newest.values), ahead].joined().lazy.map(\.observedAt).max()
    }

    /// The time of a source's newest position; nil if it has none.
    func newest(of source: SourceID) -> Instant? {
        let positions = [Array(newest.values), ahead].joined()
        return positions.lazy.filter { $0.source == source }.map(\.observedAt).max()
    }

    /// The aircraft seen in (instant − droppedAfterSeconds, instant], by address.
    ///
    /// - Returns: nil for an instant before `asOf` if an aircraft had a position then that has been replaced since. The
    ///   store has it. For `asOf` and later, the result is never nil.
    func positions(at instant: Instant, droppedAfterSeconds: Int) -> [AircraftPosition]? {
        guard instant >= asOf || newest.values.allSatisfy({ $0.observedAt <= instant }) else { return nil }
        return Traffic.standing(
            [Array(newest.values), ahead].joined(), at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }

    /// The newest of the given positions for each aircraft in (instant − droppedAfterSeconds, instant], by address.
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

    /// Advances to an instant: applies waiting positions whose time has come, and removes aircraft that weren't seen
    /// for long.
    package mutating func advance(to now: Instant) {
        asOf = max(asOf, now)
        let waiting = ahead
        ahead = []
        update(waiting)
        let oldest = now.advanced(by: -Traffic.retentionSeconds)
        newest = newest.filter { $0.value.observedAt > oldest }
    }

    /// If two sources have positions of the same second, the first name wins. So the order of arrival doesn't matter.
    private static func isNewer(_ position: AircraftPosition, than known: AircraftPosition?) -> Bool {
        guard let known else { return true }
        return known.observedAt == position.observedAt
            ? position.source < known.source : known.observedAt < position.observedAt
    }
}
