/// What a test waited for in vain, and where.
package struct NotInTime: Error, CustomStringConvertible {
    package var description: String
}

/// Waits until a condition holds: the one way in which tests wait.
///
/// - Parameters:
///   - what: the condition in words, for the failure.
///   - limit: how long it waits; never less than a minute, because a busy machine must not decide a test.
/// - Throws: ``NotInTime``, which names the place of the call; `CancellationError` where the test was cancelled; what
///   the condition throws.
package func eventually(
    _ what: String, within limit: Duration = .seconds(300), fileID: String = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let limit = max(limit, .seconds(60))
    let deadline = clock.now + limit
    while try await !condition() {
        guard clock.now < deadline else {
            throw NotInTime(description: "\(fileID):\(line): not within \(limit.components.seconds) s: \(what)")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}
