package import UpstreamKit

/// The events by which an upstream announces new data. An event only causes an ordinary round; nothing of it is stored.
package protocol UpstreamEvents: Sendable {
    /// The shortest time between the starts of a round and of the next one that an event causes.
    var spacing: Duration { get }

    /// Listens until it is cancelled, over as many connections as necessary, and reports what happens in order.
    func listen(_ report: @escaping @Sendable (UpstreamSignal) async -> Void) async
}

/// What a listener for an upstream's events reports.
package enum UpstreamSignal: Sendable, Hashable {
    /// The upstream sends events from now on.
    case opened
    /// The upstream has new data.
    case changed
    /// It could not connect, or the connection ended.
    /// - `failures`: how many connections in a row ended early.
    /// - `next`: the wait until the next connection.
    case closed(UpstreamError, failures: Int, next: Duration)
}
