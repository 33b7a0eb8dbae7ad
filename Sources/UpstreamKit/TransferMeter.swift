import Synchronization

/// Counts the bytes of answers' bodies that arrive for a task and those that it starts.
package final class TransferMeter: Sendable {
    private let received = Atomic(0)

    package init() {}

    /// The meter of the current task; nil where nobody counts.
    @TaskLocal package static var current: TransferMeter?

    func add(_ bytes: Int) { received.add(bytes, ordering: .relaxed) }

    /// Since it was made.
    package var bytes: Int { received.load(ordering: .relaxed) }
}
