import DequeModule
import Synchronization

/// The serial executor of an actor that computes: its jobs run one after another, always on the threads of a class.
///
/// Without it, an actor's job runs on the thread of the job before it, which may be one that handles requests.
final class WorkLane: SerialExecutor {
    private struct LaneState {
        var waiting: Deque<UnownedJob> = []
        var isRunning = false
    }

    private let threads: WorkThreads
    private let state = Mutex(LaneState())

    init(on threads: WorkThreads) { self.threads = threads }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let begins = state.withLock { state in
            state.waiting.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { runNext() }
    }

    /// Runs one job per turn, because others share the threads.
    private func runNext() {
        threads.submit { [self] in
            state.withLock { $0.waiting.popFirst() }?.runSynchronously(on: asUnownedSerialExecutor())
            let goesOn = state.withLock { state in
                state.isRunning = !state.waiting.isEmpty
                return state.isRunning
            }
            if goesOn { runNext() }
        }
    }
}
