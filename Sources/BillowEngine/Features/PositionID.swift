import Turbulence

/// The id of one position of an aircraft, in responses with several positions of each:
/// `{icao24}-{observedAt}-{source}`.
struct PositionID: Sendable, Hashable {
    let aircraft: ICAO24
    let observedAt: Instant
    let source: SourceID

    init(_ position: AircraftPosition) {
        aircraft = position.icao24
        observedAt = position.observedAt
        source = position.source
    }

    /// Returns nil for any other text, such as an address alone.
    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let aircraft = ICAO24(parts[0]), let instant = Instant(String(parts[1])),
            let source = SourceID(parts[2])
        else { return nil }
        (self.aircraft, observedAt, self.source) = (aircraft, instant, source)
        guard self.text == text else { return nil }
    }

    var text: String { "\(aircraft)-\(observedAt.compact)-\(source)" }
}
