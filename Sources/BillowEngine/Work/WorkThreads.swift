import Foundation
import NIOPosix
import Synchronization

/// The threads of a class of work. They live as long as the process, so no work is lost at their end.
final class WorkThreads: TaskExecutor {
    let workClass: WorkClass
    private let niceness: Int
    private let pool: NIOThreadPool

    /// The threads that the current task's job runs on; nil outside of jobs.
    @TaskLocal static var current: WorkThreads?

    /// Set on each thread of any class.
    private static let mark = ThreadSpecificVariable<Mark>()
    private final class Mark: Sendable {}

    /// Every pool that was started: an unused one would have to be shut down.
    private static let started = Mutex<[WorkThreads]>([])

    /// Those that all executors of a process share.
    static let shared: [WorkClass: WorkThreads] = Dictionary(
        uniqueKeysWithValues: WorkClass.allCases.map { ($0, WorkThreads($0, .standard($0))) })

    init(_ workClass: WorkClass, _ limits: WorkLimits) {
        self.workClass = workClass
        niceness = limits.niceness
        pool = NIOThreadPool(numberOfThreads: limits.threads)
        pool.start()
        Self.started.withLock { $0.append(self) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] _ in
            if Self.mark.currentValue == nil { prepareThread() }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private func prepareThread() {
        Self.mark.currentValue = Mark()
        #if os(Linux)
            // Of the calling thread alone. Where the system refuses, it has the usual priority.
            if niceness > 0 { _ = setpriority(Int32(bitPattern: PRIO_PROCESS.rawValue), 0, Int32(niceness)) }
        #endif
    }

    /// Whether the calling thread belongs to any class.
    static var isOnOne: Bool { mark.currentValue != nil }
}
