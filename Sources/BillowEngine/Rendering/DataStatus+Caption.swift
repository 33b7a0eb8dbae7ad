import BillowFields
package import BillowSnapshot
package import Turbulence

extension DataStatus {
    /// The caption of an image: the time, the turbulence field, and the filter. It also states whether the image is of
    /// the future, incomplete, simulated or stale.
    ///
    /// - Parameter historySeconds: the seconds that the image looks back for observations; 0 if it doesn't.
    package func caption(_ filter: Filter, historySeconds: Int, asOf: Instant) -> [String] {
        [instant.displayText] + (field.map { [$0.displayText] } ?? []) + warnings(asOf: asOf)
            + filter.descriptions(lookBackSeconds: historySeconds)
    }

    /// The parts of the caption that must not be cut at any size.
    package func warnings(asOf: Instant) -> [String] {
        [
            instant > asOf ? "FORECAST" : nil, isIncomplete ? "INCOMPLETE" : nil,
            freshness.isSimulated ? "SIMULATED" : nil, freshness.isStale ? "STALE" : nil,
        ].compactMap { $0 }
    }
}

extension FieldIdentity {
    /// `GTGN of 02:15 UTC`, or `GTG of 02:00 UTC + 3 h`.
    var displayText: String {
        let begin = "\(product.name.uppercased()) of \(run.description.dropFirst(11).prefix(5)) UTC"
        return lead == 0 ? begin : begin + " + \(lead % 3_600 == 0 ? "\(lead / 3_600) h" : "\(lead / 60) min")"
    }
}

extension Instant {
    /// `2026-11-21 02:30 UTC`, with seconds only if they are not 0.
    var displayText: String {
        let text = description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(seconds % 60 == 0 ? 5 : 8)) UTC"
    }
}
