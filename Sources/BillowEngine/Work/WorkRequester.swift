import Synchronization

/// Who waits for the work of the current task: a connection. When it closes, its work is cancelled.
package final class WorkRequester: Sendable {
    private struct RequesterState {
        var isGone = false
        var lastID = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(RequesterState())

    /// nil for work that nobody in particular waits for.
    @TaskLocal package static var current: WorkRequester?

    package init() {}

    /// Notes that nobody waits any more.
    package func leave() {
        let handlers = state.withLock { state in
            state.isGone = true
            defer { state.handlers = [:] }
            return state.handlers.values
        }
        for handler in handlers { handler() }
    }

    /// Whether nobody waits any more.
    package var isGone: Bool { state.withLock { $0.isGone } }

    /// Has a handler called once when the requester leaves; at once where it has left.
    /// - Returns: what `remove` takes.
    package func onLeave(_ handler: @escaping @Sendable () -> Void) -> Int {
        let id = state.withLock { state -> Int? in
            if state.isGone { return nil }
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        if id == nil { handler() }
        return id ?? 0
    }

    package func remove(_ id: Int) { state.withLock { $0.handlers[id] = nil } }
}
