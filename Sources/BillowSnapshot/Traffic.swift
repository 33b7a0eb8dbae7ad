public import Turbulence

/// Where every aircraft was seen last: immutable.
public struct Traffic: Sendable {
    /// How long an aircraft is kept after it was last seen.
    public static let keptSeconds = 600

    private var newest: [ICAO24: AircraftPosition] = [:]
    /// The time of the newest position; nil when empty.
    public private(set) var newestAt: Instant?

    /// Nobody in the air.
    public init() {}

    public init(_ positions: [AircraftPosition]) { update(positions) }

    public var count: Int { newest.count }

    /// The time of a source's newest position; nil where it has none.
    func newest(of source: SourceID) -> Instant? {
        newest.values.lazy.filter { $0.source == source }.map(\.observedAt).max()
    }

    /// The aircraft seen in (instant − droppedAfterSeconds, instant], by address; nil for an instant before the newest
    /// position, as it forgets where an aircraft was before.
    func positions(at instant: Instant, droppedAfterSeconds: Int) -> [AircraftPosition]? {
        if let newestAt, newestAt > instant { return nil }
        return Traffic.standing(newest.values, at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }

    /// Of any positions, the newest of each aircraft in (instant − droppedAfterSeconds, instant], by address.
    public static func standing(
        _ positions: some Sequence<AircraftPosition>, at instant: Instant, droppedAfterSeconds: Int
    ) -> [AircraftPosition] {
        let oldest = instant.advanced(by: 1 - droppedAfterSeconds)
        var newest: [ICAO24: AircraftPosition] = [:]
        for position in positions where position.observedAt >= oldest && position.observedAt <= instant {
            if isNewer(position, than: newest[position.icao24]) { newest[position.icao24] = position }
        }
        return newest.values.sorted { $0.icao24 < $1.icao24 }
    }

    /// Takes in positions, in any order.
    public mutating func update(_ positions: [AircraftPosition]) {
        for position in positions where Traffic.isNewer(position, than: newest[position.icao24]) {
            newest[position.icao24] = position
            newestAt = max(newestAt ?? .distantPast, position.observedAt)
        }
    }

    /// Lets go of who wasn't seen for long.
    public mutating func drop(asOf now: Instant) {
        let oldest = now.advanced(by: -Traffic.keptSeconds)
        newest = newest.filter { $0.value.observedAt > oldest }
        if newest.isEmpty { newestAt = nil }
    }

    /// Two sources' positions of one second: the first name decides, so that the order of arrival doesn't.
    private static func isNewer(_ position: AircraftPosition, than known: AircraftPosition?) -> Bool {
        guard let known else { return true }
        return known.observedAt == position.observedAt
            ? position.source < known.source : known.observedAt < position.observedAt
    }
}
