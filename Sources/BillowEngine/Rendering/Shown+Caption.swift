package import BillowSnapshot
package import Turbulence

extension Shown {
    /// What a picture says on itself: the time, whether it is of times to come, incomplete, simulated or stale, and
    /// what it was restricted to.
    ///
    /// - Parameter historySeconds: how far back the picture looks for what was observed; 0 for not at all.
    package func caption(_ filter: Filter, historySeconds: Int, asOf: Instant) -> [String] {
        [instant.displayText] + warnings(asOf: asOf) + filter.descriptions(lookBackSeconds: historySeconds)
    }

    /// The words of the caption that a picture of any size must not lose.
    package func warnings(asOf: Instant) -> [String] {
        [
            instant > asOf ? "FORECAST" : nil, isIncomplete ? "INCOMPLETE" : nil,
            freshness.isSimulated ? "SIMULATED" : nil, freshness.isStale ? "STALE" : nil,
        ].compactMap { $0 }
    }
}

extension Instant {
    /// `2026-11-21 02:30 UTC`, with seconds where there are any.
    var displayText: String {
        let text = description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(seconds % 60 == 0 ? 5 : 8)) UTC"
    }
}
