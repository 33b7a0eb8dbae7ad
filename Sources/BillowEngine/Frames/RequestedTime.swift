package import Turbulence

/// The instant that a request names.
package enum RequestedTime: Sendable, Hashable {
    case latest
    case instant(Instant)
    /// One outside `Instant.range`, as it was written.
    case beyond(String)
}
