import Foundation
import NIOPosix
import Synchronization

/// The threads of a work class. They live as long as the process, so no work is lost at their end.
final class WorkThreads: TaskExecutor {
    let workClass: WorkClass
    let count: Int
    private let niceness: Int
    private let pool: NIOThreadPool

    /// The threads of the current task's job; nil outside jobs.
    @TaskLocal static var current: WorkThreads?

    /// A thread-local mark on each work thread.
    private static let mark = ThreadSpecificVariable<Mark>()
    private final class Mark: Sendable {}

    /// All started pools, which stay referenced: an unused pool would have to be shut down.
    private static let started = Mutex<[WorkThreads]>([])

    /// The threads that all executors of a process share.
    static let shared: [WorkClass: WorkThreads] = Dictionary(
        uniqueKeysWithValues: WorkClass.allCases.map { ($0, WorkThreads($0, .standard($0))) })

    /// The threads for work outside any job.
    static let outsideOfJobs = shared[.background] ?? WorkThreads(.background, .standard(.background))

    init(_ workClass: WorkClass, _ limits: WorkLimits) {
        self.workClass = workClass
        count = limits.threads
        niceness = limits.niceness
        pool = NIOThreadPool(numberOfThreads: limits.threads)
        pool.start()
        Self.started.withLock { $0.append(self) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs a closure on one of the threads.
    func submit(_ body: @escaping @Sendable () -> Void) {
        pool.submit { [self] _ in
            if Self.mark.currentValue == nil { prepareThread() }
            body()
        }
    }

    private func prepareThread() {
        Self.mark.currentValue = Mark()
        #if os(Linux)
            // Affects the calling thread only. If the system refuses, it keeps the default priority.
            if niceness > 0 { _ = setpriority(Int32(bitPattern: PRIO_PROCESS.rawValue), 0, Int32(niceness)) }
        #endif
    }

    /// Whether the calling thread belongs to any class.
    static var isOnOne: Bool { mark.currentValue != nil }
}
