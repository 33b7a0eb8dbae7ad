import NIOCore
import NIOPosix

/// Threads of their own for what takes longer than an answer may: pictures, planes of frames, polygons. The threads that
/// answer requests never wait behind them; the system shares the processors out among both.
///
/// It lives as long as the process, like Swift's own pool, so that no work is ever lost at its end.
final class WorkExecutor: TaskExecutor {
    /// One thread more than there are processors: while polygons are made anew, all processors can still draw.
    static let shared = WorkExecutor(threads: System.coreCount + 1)

    private let pool: NIOThreadPool

    private init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] _ in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
