import Foundation

/// The clock that the client reads and waits by.
package struct GuidanceClock: Sendable {
    /// Since 1970-01-01 UTC.
    package var now: @Sendable () -> Duration
    /// Waits, and throws when cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// This machine's.
    package static let system = GuidanceClock(
        now: { .seconds(Date().timeIntervalSince1970) }, sleep: { try await Task.sleep(for: $0) })

    /// Whole Unix seconds.
    package var nowSeconds: Int { Int(now().components.seconds) }
}
