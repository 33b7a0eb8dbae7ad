package import Turbulence

/// The instant that a request names.
package enum RequestedTime: Sendable, Hashable {
    case latest
    case instant(Instant)
    /// A time outside `Instant.range`, as text.
    case beyond(String)
}
