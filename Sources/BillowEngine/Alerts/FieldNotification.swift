package import Turbulence

/// Decides when computed turbulence ahead causes an event of a monitored flight.
///
/// A new field arrives every 15 minutes, and its cells always differ. An event for each set of cells would be one event
/// per field. So an event is sent only if the worst severity ahead rises to moderate or more, and above the last
/// notified severity. The last notified severity expires after an hour without turbulence as severe. Until then, the
/// same severity causes no event.
package struct FieldNotification: Sendable, Hashable, Codable {
    /// The last notified severity.
    private var severity: UInt8?
    /// The time in Unix seconds when turbulence was last as severe.
    private var seenAt = 0

    /// The lowest severity that causes an event.
    package static let least = Severity.moderate
    /// The seconds after which the last notified severity expires.
    package static let forgottenAfter = 3_600

    package init() {}

    /// Records the worst severity ahead at an instant.
    /// - Returns: whether to send an event.
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
