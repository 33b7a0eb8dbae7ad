import DequeModule
import Synchronization

/// The queue of a work class, with a limit of running jobs and of waiting jobs.
final class WorkQueue: Sendable {
    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct QueueState {
        var running = 0
        var waiting: Deque<Waiter> = []
        var lastID: UInt64 = 0
        var refused = 0
    }

    private let workClass: WorkClass
    private let limits: WorkLimits
    private let state = Mutex(QueueState())

    init(_ workClass: WorkClass, _ limits: WorkLimits) {
        self.workClass = workClass
        self.limits = limits
    }

    var statistics: WorkStatistics {
        state.withLock { WorkStatistics(running: $0.running, waiting: $0.waiting.count, refused: $0.refused) }
    }

    /// Waits for a turn. Each success must be followed by one `leave`.
    ///
    /// - Parameter isContinuing: whether the job continues a response that has begun. Such a job is never rejected:
    ///   their number is limited by that of responses in flight.
    /// - Throws: `EngineError.work`, `EngineError.cancelled`.
    func enter(isContinuing: Bool = false) async throws(EngineError) {
        let id = try state.withLock { (state) throws(EngineError) -> UInt64? in
            if state.running < limits.jobs {
                state.running += 1
                return nil
            }
            guard isContinuing || state.waiting.count < limits.queue else {
                state.refused += 1
                throw .work(.overloaded(workClass))
            }
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return }
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The turn may have come, or the task may have been cancelled, since the check above.
                let isAtOnce = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.running < limits.jobs {
                        state.running += 1
                        return true
                    }
                    state.waiting.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let isAtOnce { continuation.resume(returning: isAtOnce) }
            }
        } onCancel: {
            cancel(id)
        }
        guard hasTurn else { throw .cancelled }
    }

    /// Ends a turn and passes it to the job that has waited longest.
    func leave() {
        let next = state.withLock { state -> Waiter? in
            if let next = state.waiting.popFirst() { return next }
            state.running -= 1
            return nil
        }
        next?.continuation.resume(returning: true)
    }

    private func cancel(_ id: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiting.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }
}

/// The load of a work class.
package struct WorkStatistics: Sendable, Hashable {
    package var running: Int
    package var waiting: Int
    /// The number of rejected jobs since the start.
    package var refused: Int
}
