import NIOCore
import Synchronization

/// Runs tasks on an event loop.
///
/// The tasks of a connection prefer the executor of its loop. A request then changes threads only for a job of
/// `WorkExecutor`: parsing, routing and writing happen where the bytes arrive and leave. Work that is not bounded is a
/// job, so it never holds up the other connections of the loop.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// The executor of each loop. Loops live as long as the process, so no task is lost at their end.
    private static let executors = Mutex<[ObjectIdentifier: EventLoopExecutor]>([:])

    private init(_ loop: any EventLoop) { self.loop = loop }

    static func of(_ loop: any EventLoop) -> EventLoopExecutor {
        executors.withLock { executors in
            if let executor = executors[ObjectIdentifier(loop)] { return executor }
            let executor = EventLoopExecutor(loop)
            executors[ObjectIdentifier(loop)] = executor
            return executor
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
