import Foundation
import Synchronization

/// Something that tests wait for. It opens by itself after ten minutes: a test that failed before it opened the gate
/// leaves nobody waiting.
package final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var passed = 0
    }

    private let state = Mutex(State())

    package init() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(600)) { [weak self] in self?.open() }
    }

    /// How many have come.
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

    /// Holds the calling thread until the gate is open.
    package func block() {
        state.withLock { $0.passed += 1 }
        while !state.withLock({ $0.isOpen }) { Thread.sleep(forTimeInterval: 0.005) }
    }
}
