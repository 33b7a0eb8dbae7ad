/// Does all work whose cost is not bounded by the size of its answer, on threads apart from those that answer requests.
///
/// Request handlers run on Swift's cooperative pool, which has as many threads as processors. There they parse, await
/// and write. Everything else is a job of a class: so many at once, so many that wait, and an error beyond.
///
///     let frame = try await work.run(.query) { try await frames.frame(at: instant, filter: filter, in: snapshot) }
package final class WorkExecutor: Sendable {
    private let pools: [WorkClass: WorkThreads]
    private let queues: [WorkClass: WorkQueue]
    private let limits: [WorkClass: WorkLimits]

    /// - Parameters:
    ///   - limits: in place of the standard ones.
    ///   - hasOwnThreads: whether this executor starts threads for itself. They live as long as the process.
    package init(limits: [WorkClass: WorkLimits] = [:], hasOwnThreads: Bool = false) {
        var pools: [WorkClass: WorkThreads] = [:]
        var queues: [WorkClass: WorkQueue] = [:]
        var all: [WorkClass: WorkLimits] = [:]
        for workClass in WorkClass.allCases {
            let limit = limits[workClass] ?? .standard(workClass)
            all[workClass] = limit
            queues[workClass] = WorkQueue(workClass, limit)
            pools[workClass] = hasOwnThreads ? WorkThreads(workClass, limit) : WorkThreads.shared[workClass]
        }
        self.limits = all
        self.queues = queues
        self.pools = pools
    }

    package func limits(_ workClass: WorkClass) -> WorkLimits { limits[workClass] ?? .standard(workClass) }

    func threads(_ workClass: WorkClass) -> WorkThreads? { pools[workClass] }

    /// What each class has to do.
    package func statistics(_ workClass: WorkClass) -> WorkStatistics {
        queues[workClass]?.statistics ?? WorkStatistics(running: 0, waiting: 0, refused: 0)
    }

    /// Does a job. Within another job it is a part of that: then it starts at once, on the threads of that.
    ///
    /// A job that waits is removed when its task is cancelled, or its client closes the connection. One that runs finds
    /// its task cancelled (`Task.isCancelled`) and must look for that at sensible steps.
    ///
    /// - Parameter isContinuing: whether this goes on with an answer that has begun; such a job is never refused.
    /// - Throws: `WorkError.overloaded` when the queue is full; `CancellationError`; what the body throws.
    package func run<Value: Sendable>(
        _ workClass: WorkClass, isContinuing: Bool = false, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard WorkThreads.current == nil, let queue = queues[workClass], let threads = pools[workClass] else {
            return try await body()
        }
        // A stream whose client has gone ends when it is written to.
        guard workClass.endsWithItsClient, !isContinuing, let requester = WorkRequester.current else {
            try await queue.enter(isContinuing: isContinuing)
            defer { queue.leave() }
            try Task.checkCancellation()
            return try await WorkThreads.$current.withValue(threads) {
                try await withTaskExecutorPreference(threads, operation: body)
            }
        }
        guard !requester.isGone else { throw CancellationError() }
        let task = Task(executorPreference: threads) {
            try await queue.enter(isContinuing: isContinuing)
            defer { queue.leave() }
            try Task.checkCancellation()
            do { return try await WorkThreads.$current.withValue(threads, operation: body) } catch {
                // Whatever a cancelled job fails with, the store for one, is no failure of its own.
                if Task.isCancelled { throw CancellationError() }
                throw error
            }
        }
        let id = requester.onLeave { task.cancel() }
        defer { requester.remove(id) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Runs something on the threads of a class without a turn in its queue: for services that work one step at a time.
    package func reserve<Value: Sendable>(
        _ workClass: WorkClass, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let threads = pools[workClass] else { return try await body() }
        return try await WorkThreads.$current.withValue(threads) {
            try await withTaskExecutorPreference(threads, operation: body)
        }
    }

    /// Starts something that several may wait for, on the threads of the job that begins it. Outside of jobs it may
    /// only await.
    package static func flight<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        Task(executorPreference: WorkThreads.current, operation: body)
    }

    /// To be called where much is computed: in debug builds it stops a request that would do that on the cooperative
    /// pool.
    @inline(__always)
    package static func assertIsJob(_ function: StaticString = #function) {
        assert(!isMisplaced, "\(function) computes on a thread that answers requests")
    }

    /// Whether the current task answers a request, and not on a thread of work.
    static var isMisplaced: Bool { isAnswering && !WorkThreads.isOnOne }

    /// Whether the current task answers a request of a client, in debug builds.
    @TaskLocal package static var isAnswering = false
}
