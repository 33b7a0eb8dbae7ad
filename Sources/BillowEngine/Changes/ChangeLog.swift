/// The successive states of a query's features. For the last state it has every feature's id, a hash of its content,
/// and the state of its change or removal. Immutable; an update creates a new log.
package struct ChangeLog: Sendable {
    private struct Entry: Sendable {
        var hash: UInt64
        /// The state of its last change.
        var changed: UInt64
    }

    private var entries: [String: Entry] = [:]
    /// Removed ids, each with the state of the removal.
    private var removals: [String: UInt64] = [:]
    /// The numbers of the states, in rising order.
    private var states: [UInt64] = []
    /// The bytes of ids that are too long for `String`'s inline storage.
    private var textBytes = 0

    private static let maximumStates = 1_000
    private static let leastRemovals = 1_000

    /// The last state; 0 before the first.
    package var state: UInt64 { states.last ?? 0 }

    /// Whether changes since a state are known.
    func holds(_ state: UInt64) -> Bool { states.contains(state) }

    /// The state of a feature's last change; 0 for an unknown feature.
    func changed(_ id: String) -> UInt64 { entries[id]?.changed ?? 0 }

    /// The ids that were removed since a state and not added again, sorted.
    package func removed(since state: UInt64) -> [String] { removals.filter { $0.value > state }.keys.sorted() }

    /// The approximate memory in bytes. Hash tables are three quarters full at most, and half full on average.
    package var bytes: Int {
        let entry = MemoryLayout<String>.stride + MemoryLayout<Entry>.stride
        let removal = MemoryLayout<String>.stride + MemoryLayout<UInt64>.stride
        return 500 + (entries.capacity * entry + removals.capacity * removal) * 4 / 3 + textBytes + states.count * 8
    }

    /// Builds the log of the next state.
    package struct Builder {
        private let old: ChangeLog
        private let state: UInt64
        private var entries: [String: Entry] = [:]

        /// - Parameter state: a number above all states of the log.
        package init(after old: ChangeLog, state: UInt64) {
            self.old = old
            self.state = state
            entries.reserveCapacity(old.entries.count)
        }

        /// Adds a feature. Features that share an id are one entry, which changes with any of them.
        /// - Returns: the state of its last change. For a repeated id this is always the new state.
        package mutating func note(_ id: String, _ hash: UInt64) -> UInt64 {
            let earlier = entries[id]
            var entry = Entry(hash: earlier.map { $0.hash &* 31 ^ hash } ?? hash, changed: state)
            if let known = old.entries[id], known.hash == entry.hash { entry.changed = known.changed }
            entries[id] = entry
            return earlier == nil ? entry.changed : state
        }

        /// The log with the new state; the old log if nothing changed.
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

    /// Drops the oldest states, and removals that only they need.
    private mutating func trim() {
        if states.count > Self.maximumStates { states.removeFirst(states.count - Self.maximumStates / 2) }
        expireRemovals()
        while removals.count > max(entries.count, Self.leastRemovals), states.count > 1 {
            states.removeFirst((states.count + 1) / 2)
            expireRemovals()
        }
    }

    private mutating func expireRemovals() {
        guard let first = states.first else { return }
        let hasExpired = removals.values.contains { $0 <= first }
        if hasExpired { removals = removals.filter { $0.value > first } }
    }
}
