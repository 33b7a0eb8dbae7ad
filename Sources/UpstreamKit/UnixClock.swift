import Foundation

/// The clock that clients read by default.
package enum UnixClock {
    /// Unix seconds of this machine.
    package static let seconds: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
}
