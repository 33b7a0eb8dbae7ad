extension Result {
    /// The value or the error of an asynchronous body. Task groups, task-local values and cancellation handlers of the
    /// standard library pass errors on without their type; a result keeps it.
    init(_ body: () async throws(Failure) -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension TaskGroup {
    /// The values of all tasks, in the order in which they end. An error cancels the other tasks.
    mutating func successes<Success: Sendable, Failure: Error>() async -> Result<[Success], Failure>
    where ChildTaskResult == Result<Success, Failure> {
        var values: [Success] = []
        while let result = await next() {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error):
                cancelAll()
                return .failure(error)
            }
        }
        return .success(values)
    }
}
