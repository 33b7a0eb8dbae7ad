import Synchronization

/// A port number that comes later, or the reason why it never will. Answered once; later answers are ignored.
final class PortPromise: Sendable {
    private enum PromiseState {
        case waiting([CheckedContinuation<Int, any Error>])
        case done(Result<Int, any Error>)
    }

    private let state = Mutex(PromiseState.waiting([]))

    func succeed(_ port: Int) { finish(.success(port)) }
    func fail(_ error: any Error) { finish(.failure(error)) }

    private func finish(_ result: Result<Int, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Int, any Error>] in
            guard case .waiting(let waiting) = state else { return [] }
            state = .done(result)
            return waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Waits as long as nobody answers; `run()` answers when it ends, so only a simulator never run keeps one waiting.
    func value() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Int, any Error>? in
                switch state {
                case .waiting(let waiting):
                    state = .waiting(waiting + [continuation])
                    return nil
                case .done(let result): return result
                }
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
