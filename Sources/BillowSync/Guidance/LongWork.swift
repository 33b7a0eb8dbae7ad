/// Runs work that computes for long, on threads apart from those that answer requests, and a bounded number at once.
package protocol LongWork: Sendable {
    /// - Throws: what the body throws, or that the work was cancelled before it began.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
}

/// Runs it where it is: for programs that answer no requests.
package struct InlineWork: LongWork {
    package init() {}

    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try body()
    }
}
