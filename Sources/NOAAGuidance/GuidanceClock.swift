import Foundation

/// The clock of the client, for reading the time and for waiting.
package struct GuidanceClock: Sendable {
    /// The time since 1970-01-01 UTC.
    package var now: @Sendable () -> Duration
    /// Waits; throws if cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The system clock.
    package static let system = GuidanceClock(
        now: { .seconds(Date().timeIntervalSince1970) }, sleep: { try await Task.sleep(for: $0) })

    /// The time in whole Unix seconds.
    package var nowSeconds: Int { Int(now().components.seconds) }
}
