import Foundation

/// The default clock of clients.
package enum UnixClock {
    /// The local clock in Unix seconds.
    package static let seconds: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
}
