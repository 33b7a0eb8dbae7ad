import Foundation
import Synchronization

/// A gate that tasks and threads of a test wait at. It opens by itself after ten minutes, so that a test that fails
/// before it opens the gate leaves no task waiting.
package final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var passed = 0
    }

    private let state = Mutex(State())

    private static let longestSeconds = 600

    package init() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.longestSeconds)) { [weak self] in
            self?.open()
        }
    }

    /// The number of tasks and threads that have reached the gate.
    package var arrivals: Int { state.withLock { $0.passed } }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.passed += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the calling thread until the gate is open, for ten minutes at most.
    package func block() {
        state.withLock { $0.passed += 1 }
        let deadline = ContinuousClock.now + .seconds(Self.longestSeconds)
        while !state.withLock({ $0.isOpen }), ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.005)
        }
    }
}
