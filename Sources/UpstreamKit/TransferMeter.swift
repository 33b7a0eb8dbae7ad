import Synchronization

/// Counts the bytes of response bodies that arrive for a task and its child tasks.
package final class TransferMeter: Sendable {
    private let received = Atomic(0)

    package init() {}

    /// The meter of the current task; nil if bytes are not counted.
    @TaskLocal package static var current: TransferMeter?

    func add(_ bytes: Int) { received.add(bytes, ordering: .relaxed) }

    /// The bytes since its creation.
    package var bytes: Int { received.load(ordering: .relaxed) }
}
