package import Turbulence

/// When computed turbulence ahead is worth an event of a monitored flight.
///
/// A field is computed anew every 15 minutes, and its cells change with each: a set of cells would be an event each
/// time. So an event comes when the worst severity ahead rises, to moderate or more, above what events have told of.
/// What they told of is forgotten after an hour without as much; until then the same severity again is no event.
package struct FieldNotice: Sendable, Hashable, Codable {
    /// The worst severity that an event told of.
    private var severity: UInt8?
    /// Seconds of Unix time when it was last as bad.
    private var seenAt = 0

    /// What is less causes no event.
    package static let least = Severity.moderate
    /// In seconds.
    package static let forgottenAfter = 3_600

    package init() {}

    /// Takes the worst severity ahead at an instant.
    /// - Returns: whether it is worth an event.
    package mutating func note(_ worst: Severity?, at instant: Instant) -> Bool {
        let worst = worst.map { $0 >= Self.least ? $0.rawValue : 0 } ?? 0
        if let severity, worst < severity, instant.seconds - seenAt >= Self.forgottenAfter {
            self.severity = worst
            seenAt = instant.seconds
        }
        let isNews = worst > severity ?? 0
        if isNews { severity = worst }
        if worst > 0, worst == severity { seenAt = instant.seconds }
        return isNews
    }
}
