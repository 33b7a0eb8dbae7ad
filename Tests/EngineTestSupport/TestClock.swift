import Synchronization
package import Turbulence

/// A clock that a test turns.
package final class TestClock: Sendable {
    private let instant: Mutex<Instant>

    package init(_ instant: Instant) { self.instant = Mutex(instant) }

    package var now: Instant { instant.withLock { $0 } }
    package func advance(by seconds: Int) { instant.withLock { $0 = $0.advanced(by: seconds) } }
}

package struct Missing: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}

extension Optional {
    /// The value, or a test failure in place of a trap.
    package func orMissing(_ what: String = "a value") throws -> Wrapped {
        guard let self else { throw Missing(description: what) }
        return self
    }
}

/// 2026-11-21T12:00:00Z.
package let noon = Instant(clamping: 1_795_262_400)
