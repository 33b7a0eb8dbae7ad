/// Runs long computations on threads separate from request handling, with a limit of concurrent ones.
package protocol ComputationExecutor: Sendable {
    /// - Throws: the errors of the body, or a cancellation before it began.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
}

/// Runs the computation on the caller's thread, for programs that serve no requests.
package struct InlineExecutor: ComputationExecutor {
    package init() {}

    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try body()
    }
}
