/// Runs all work whose cost is not bounded by the size of its response, on threads separate from request handling.
///
/// Request handlers run on the event loop of their connection, which serves many others. There they parse, await and
/// write. Everything else is a job of a class, with a limit of concurrent jobs and of waiting jobs. Beyond these limits
/// a job is rejected with an error.
///
///     let frame = try await work.run(.query) { try await frames.frame(at: instant, filter: filter, in: snapshot) }
package final class WorkExecutor: Sendable {
    private let pools: [WorkClass: WorkThreads]
    private let queues: [WorkClass: WorkQueue]
    private let limits: [WorkClass: WorkLimits]

    /// - Parameters:
    ///   - limits: replace the default limits.
    ///   - hasOwnThreads: whether this executor starts its own threads, which live as long as the process.
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

    /// The threads of a class, for child tasks that services start. These tasks bypass the class's queue.
    package func executor(of workClass: WorkClass) -> (any TaskExecutor)? { pools[workClass] }

    func threads(_ workClass: WorkClass) -> WorkThreads? { pools[workClass] }

    /// The load of a class.
    package func statistics(_ workClass: WorkClass) -> WorkStatistics {
        queues[workClass]?.statistics ?? WorkStatistics(running: 0, waiting: 0, refused: 0)
    }

    /// Runs a job. A nested job is part of the outer job: it starts at once, on the outer job's threads.
    ///
    /// A waiting job is removed if its task is cancelled or its client closes the connection. A running job must check
    /// `Task.isCancelled` at sensible steps.
    ///
    /// - Parameter isContinuing: whether the job continues a response that has begun; such a job is never rejected.
    /// - Throws: `EngineError.work` if the queue is full; `EngineError.cancelled`; the errors of the body.
    package func run<Value: Sendable>(
        _ workClass: WorkClass, isContinuing: Bool = false,
        _ body: @escaping @Sendable () async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        try await result(workClass, isContinuing, body).get()
    }

    /// Runs a job of a request handler, which also throws errors of its own.
    package func run<Value: Sendable>(
        _ workClass: WorkClass, isContinuing: Bool = false, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await result(workClass, isContinuing, body).get()
    }

    /// Runs a job.
    /// - Returns: the result of the body.
    /// - Throws: if the job is rejected or cancelled.
    private func result<Value: Sendable, Failure: Error>(
        _ workClass: WorkClass, _ isContinuing: Bool, _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(EngineError) -> Result<Value, Failure> {
        guard WorkThreads.current == nil, let queue = queues[workClass], let threads = pools[workClass] else {
            return await Result(body)
        }
        // A stream of a disconnected client ends at its next write.
        guard workClass.endsWithItsClient, !isContinuing, let requester = WorkRequester.current else {
            try await queue.enter(isContinuing: isContinuing)
            defer { queue.leave() }
            try Self.checkCancellation()
            return await threads.result(of: body)
        }
        guard !requester.isGone else { throw .cancelled }
        let task = Task(executorPreference: threads) {
            await Result { () async throws(EngineError) in
                try await queue.enter(isContinuing: isContinuing)
                defer { queue.leave() }
                try Self.checkCancellation()
                let result = await WorkThreads.$current.withValue(threads) { await Result(body) }
                // Any error of a cancelled job, for example of the store, is reported as a cancellation.
                if case .failure = result { try Self.checkCancellation() }
                return result
            }
        }
        let id = requester.onLeave { task.cancel() }
        defer { requester.remove(id) }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// - Throws: `EngineError.cancelled` if the current task is cancelled.
    package static func checkCancellation() throws(EngineError) { if Task.isCancelled { throw .cancelled } }

    /// Runs a body on the threads of a class, bypassing its queue: for services that work one step at a time.
    package func reserve<Value: Sendable, Failure: Error>(
        _ workClass: WorkClass, _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let threads = pools[workClass] else { return try await body() }
        return try await threads.result(of: body).get()
    }

    /// A serial executor for an actor that computes.
    func lane(_ workClass: WorkClass) -> WorkLane { WorkLane(on: pools[workClass] ?? WorkThreads.outsideOfJobs) }

    // MARK: - Parts of jobs

    /// Starts a task with several potential waiters, on the threads of the job that starts it. Outside jobs it uses
    /// those of `background`.
    package static func flight<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) -> Task<Result<Value, Failure>, Never> {
        let threads = WorkThreads.current ?? .outsideOfJobs
        return WorkThreads.$current.withValue(threads) {
            Task(executorPreference: threads) { await Result(body) }
        }
    }

    /// Runs a long computation of a job on the job's threads. Outside jobs it uses those of `background`, never an
    /// event loop.
    package static func computing<Value: Sendable, Failure: Error>(
        _ body: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await (WorkThreads.current ?? .outsideOfJobs).result(of: body).get()
    }

    /// Processes parts in parallel, on as many threads as the job has. An error cancels the others.
    ///
    /// - Returns: the results in the order of the parts.
    package static func computing<Part: Sendable, Value: Sendable>(
        _ parts: [Part], _ body: @escaping @Sendable (Part) async throws(EngineError) -> Value
    ) async throws(EngineError) -> [Value] {
        let threads = WorkThreads.current ?? .outsideOfJobs
        return try await WorkThreads.$current.withValue(threads) {
            await withTaskGroup(of: (number: Int, value: Result<Value, EngineError>).self) { group in
                func begin(_ number: Int) {
                    guard number < parts.count else { return }
                    let part = parts[number]
                    group.addTask(executorPreference: threads) {
                        let value = await Result { () async throws(EngineError) in
                            try checkCancellation()
                            return try await body(part)
                        }
                        return (number, value)
                    }
                }
                var begun = min(threads.count, parts.count)
                for number in 0..<begun { begin(number) }
                var values = [Value?](repeating: nil, count: parts.count)
                while let (number, value) = await group.next() {
                    switch value {
                    case .success(let value): values[number] = value
                    case .failure(let error):
                        group.cancelAll()
                        return Result<[Value], EngineError>.failure(error)
                    }
                    begin(begun)
                    begun += 1
                }
                return .success(values.compactMap(\.self))
            }
        }.get()
    }

    // MARK: - Misplaced work

    /// Asserts that expensive work runs in a job: in debug builds it stops a request that computes on an event loop.
    @inline(__always)
    package static func assertIsJob(_ function: StaticString = #function) {
        assert(!isMisplaced, "\(function) computes on a thread that answers requests")
    }

    /// Whether the current task handles a request and does not run on a work thread.
    static var isMisplaced: Bool { isAnswering && !WorkThreads.isOnOne }

    /// Whether the current task handles a client's request; set in debug builds only.
    @TaskLocal package static var isAnswering = false
}

extension WorkThreads {
    /// The result of a body that runs on these threads.
    fileprivate func result<Value: Sendable, Failure: Error>(
        of body: @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await Self.$current.withValue(self) {
            await withTaskExecutorPreference(self) { await Result(body) }
        }
    }
}
