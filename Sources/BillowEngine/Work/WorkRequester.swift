import Synchronization

/// The client connection that waits for the current task's work. When it closes, its work is cancelled.
package final class WorkRequester: Sendable {
    private struct RequesterState {
        var isGone = false
        var lastID = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(RequesterState())

    /// nil for work without a waiting client.
    @TaskLocal package static var current: WorkRequester?

    package init() {}

    /// Records that the client has disconnected.
    package func leave() {
        let handlers = state.withLock { state in
            state.isGone = true
            defer { state.handlers = [:] }
            return state.handlers.values
        }
        for handler in handlers { handler() }
    }

    /// Whether the client has disconnected.
    package var isGone: Bool { state.withLock { $0.isGone } }

    /// Registers a handler that is called once when the client disconnects; at once if it already has.
    /// - Returns: the id of the handler for `remove`.
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
