import DequeModule
import Synchronization

/// The jobs of a class: so many at once, so many that wait in turn.
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
    /// - Parameter isContinuing: whether this goes on with an answer that has begun. Such a job is never refused: as
    ///   many can wait as answers are under way.
    /// - Throws: `WorkError.overloaded`, `CancellationError`.
    func enter(isContinuing: Bool = false) async throws {
        let id = try state.withLock { state -> UInt64? in
            if state.running < limits.jobs {
                state.running += 1
                return nil
            }
            guard isContinuing || state.waiting.count < limits.queue else {
                state.refused += 1
                throw WorkError.overloaded(workClass)
            }
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return }
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The turn may have come, or the task may have been cancelled, since it was counted above.
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
        guard hasTurn else { throw CancellationError() }
    }

    /// Ends a turn and gives it to the one that has waited longest.
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

/// What a class of work has to do.
package struct WorkStatistics: Sendable, Hashable {
    package var running: Int
    package var waiting: Int
    /// Since the start.
    package var refused: Int
}
