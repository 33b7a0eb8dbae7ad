/// The states that a query's features had one after the other: of the last one every feature's id and a hash of its
/// content, and when each was changed or removed. Immutable; an update makes another one of it.
package struct ChangeLog: Sendable {
    private struct Entry: Sendable {
        var hash: UInt64
        /// The state that changed it last.
        var changed: UInt64
    }

    private var entries: [String: Entry] = [:]
    /// What is no longer there, and the state that removed it.
    private var removals: [String: UInt64] = [:]
    /// In rising order.
    private var states: [UInt64] = []
    /// Of ids that don't fit into their `String`.
    private var textBytes = 0

    private static let mostStates = 1_000
    private static let leastRemovals = 1_000

    /// The last state; 0 before the first.
    package var state: UInt64 { states.last ?? 0 }

    /// Whether what changed since a state is known.
    func holds(_ state: UInt64) -> Bool { states.contains(state) }

    /// The state that changed a feature last; 0 for one that isn't there.
    func changed(_ id: String) -> UInt64 { entries[id]?.changed ?? 0 }

    /// The ids of what was removed since a state and is not back, in their order.
    package func removed(since state: UInt64) -> [String] { removals.filter { $0.value > state }.keys.sorted() }

    /// About what it takes in memory: tables are three quarters full at most, and half full on average.
    package var bytes: Int {
        let entry = MemoryLayout<String>.stride + MemoryLayout<Entry>.stride
        let removal = MemoryLayout<String>.stride + MemoryLayout<UInt64>.stride
        return 500 + (entries.capacity * entry + removals.capacity * removal) * 4 / 3 + textBytes + states.count * 8
    }

    /// Takes in the features of the next state.
    package struct Next {
        private let old: ChangeLog
        private let state: UInt64
        private var entries: [String: Entry] = [:]

        /// - Parameter state: above all states of the log.
        package init(after old: ChangeLog, state: UInt64) {
            self.old = old
            self.state = state
            entries.reserveCapacity(old.entries.count)
        }

        /// Takes in a feature. Features that share an id are one in the log, which changes with any of them.
        /// - Returns: the state that changed it last; of a later one with the same id always this state.
        package mutating func note(_ id: String, _ hash: UInt64) -> UInt64 {
            let earlier = entries[id]
            var entry = Entry(hash: earlier.map { $0.hash &* 31 ^ hash } ?? hash, changed: state)
            if let known = old.entries[id], known.hash == entry.hash { entry.changed = known.changed }
            entries[id] = entry
            return earlier == nil ? entry.changed : state
        }

        /// The log with the state, or as it was where nothing changed.
        package var log: ChangeLog {
            let gone = old.entries.keys.filter { entries[$0] == nil }
            let isChanged = !gone.isEmpty || entries.values.contains { $0.changed == state }
            guard isChanged || old.states.isEmpty else { return old }
            var log = ChangeLog()
            log.entries = entries
            log.removals = old.removals.filter { entries[$0.key] == nil }
            for id in gone { log.removals[id] = state }
            log.states = old.states + [state]
            log.trim()
            log.textBytes = (Array(entries.keys) + log.removals.keys).reduce(0) {
                $0 + ($1.utf8.count > 15 ? 32 + $1.utf8.count : 0)
            }
            return log
        }
    }

    /// Forgets the oldest states, and the removals that only they need.
    private mutating func trim() {
        if states.count > Self.mostStates { states.removeFirst(states.count - Self.mostStates / 2) }
        forgetRemovals()
        while removals.count > max(entries.count, Self.leastRemovals), states.count > 1 {
            states.removeFirst((states.count + 1) / 2)
            forgetRemovals()
        }
    }

    private mutating func forgetRemovals() {
        guard let first = states.first else { return }
        let isForgotten = removals.values.contains { $0 <= first }
        if isForgotten { removals = removals.filter { $0.value > first } }
    }
}
