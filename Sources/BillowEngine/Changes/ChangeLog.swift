import Foundation

/// The successive states of a query's features. For the last state it has every feature's id, a hash of its content,
/// and the state of its change or removal. Immutable; an update creates a new log.
///
/// It takes some 14 bytes a feature, and those of the id.
package struct ChangeLog: Sendable {
    /// The features' ids, in rising order.
    private var ids = IDList()
    /// The hash of each id's content. A repeated id has the combined hash of its features.
    private var hashes: [UInt64] = []
    /// The position in `states` of each id's last change, from 1; 0 for a change before the first of them.
    private var changes: [UInt16] = []
    /// Removed ids, each with the state of the removal.
    private var removals: [String: UInt64] = [:]
    /// The numbers of the states, in rising order.
    private var states: [UInt64] = []

    private static let maximumStates = 1_000
    private static let leastRemovals = 1_000

    /// The last state; 0 before the first.
    package var state: UInt64 { states.last ?? 0 }

    /// Whether changes since a state are known.
    func holds(_ state: UInt64) -> Bool { states.contains(state) }

    /// The state of a feature's last change; 0 for an unknown feature, and for a change before all known states.
    /// - Complexity: O(log features)
    func changed(_ id: ArraySlice<UInt8>) -> UInt64 {
        let index = ids.firstIndex(notBefore: id, hint: 0)
        return index < ids.count && ids.isEqual(index, id) ? changed(at: index) : 0
    }

    private func changed(at index: Int) -> UInt64 { changes[index] == 0 ? 0 : states[Int(changes[index]) - 1] }

    /// The ids that were removed since a state and not added again, sorted.
    package func removed(since state: UInt64) -> [String] { removals.filter { $0.value > state }.keys.sorted() }

    /// The approximate memory in bytes. Hash tables are three quarters full at most, and half full on average.
    package var bytes: Int {
        let removal = MemoryLayout<String>.stride + MemoryLayout<UInt64>.stride
        let text = removals.keys.reduce(0) { $0 + ($1.utf8.count > 15 ? 32 + $1.utf8.count : 0) }
        return 500 + ids.bytes + hashes.count * 10 + removals.capacity * removal * 4 / 3 + text + states.count * 8
    }

    /// Builds the log of the next state.
    package struct Builder {
        private let old: ChangeLog
        private let state: UInt64
        private var ids = IDList()
        private var hashes: [UInt64] = []
        private var isSorted = true
        /// Whether there are more ids than a log can have.
        private var isFull = false
        /// The position in the old log after the last feature. Features mostly come in the order of their ids.
        private var next = 0

        /// - Parameter state: a number above all states of the log.
        package init(after old: ChangeLog, state: UInt64) {
            self.old = old
            self.state = state
            ids.reserve(old.ids)
            hashes.reserveCapacity(old.hashes.count + old.hashes.count / 32)
        }

        /// Adds a feature. Features that share an id are one entry, which changes with any of them.
        /// - Returns: the state of its last change. Of features that share an id it is the new state.
        /// - Complexity: O(1) in the order of ids, else O(log features)
        package mutating func note(_ id: ArraySlice<UInt8>, _ hash: UInt64) -> UInt64 {
            guard !isFull, ids.hasRoom(for: id) else {
                isFull = true
                return state
            }
            if isSorted, ids.count > 0, !ids.isBefore(ids.count - 1, id) { isSorted = false }
            ids.append(id)
            hashes.append(hash)
            next = old.ids.firstIndex(notBefore: id, hint: next)
            guard next < old.ids.count, old.ids.isEqual(next, id) else { return state }
            next += 1
            return old.hashes[next - 1] == hash ? old.changed(at: next - 1) : state
        }

        /// The log with the new state; the old log if nothing changed. With more than 4 GiB of ids it is empty, so that
        /// every client gets all features.
        /// - Complexity: O(features) if they came in the order of their ids, else O(features · log features)
        package consuming func finish() -> ChangeLog {
            var log = ChangeLog()
            if isFull { return log }
            if !isSorted { sort() }
            log.changes.reserveCapacity(ids.count)
            log.removals = old.removals
            // The number of the new state, unless states are dropped below.
            let new = UInt16(old.states.count + 1)
            var isChanged = false
            var removed: [Int] = []
            var index = 0
            for (position, hash) in hashes.enumerated() {
                let id = ids[position]
                while index < old.ids.count, old.ids.isBefore(index, id) {
                    removed.append(index)
                    index += 1
                }
                let isOld = index < old.ids.count && old.ids.isEqual(index, id)
                let isSame = isOld && old.hashes[index] == hash
                log.changes.append(isSame ? old.changes[index] : new)
                if !isSame { isChanged = true }
                if isOld { index += 1 } else if !log.removals.isEmpty { log.removals[ids.text(position)] = nil }
            }
            removed.append(contentsOf: index..<old.ids.count)
            for index in removed { log.removals[old.ids.text(index)] = state }
            isChanged = isChanged || !removed.isEmpty
            guard isChanged || old.states.isEmpty else { return old }
            log.ids = ids
            log.hashes = hashes
            log.states = old.states + [state]
            log.trim()
            return log
        }

        /// Sorts the features by their ids, and combines those of one id.
        private mutating func sort() {
            let order = (0..<ids.count).sorted { one, other in
                let comparison = ids.compare(one, ids[other])
                return comparison == 0 ? one < other : comparison < 0
            }
            var (sorted, combined) = (IDList(), [UInt64]())
            sorted.reserve(ids)
            combined.reserveCapacity(hashes.count)
            for index in order {
                let id = ids[index]
                if let last = combined.last, sorted.isEqual(sorted.count - 1, id) {
                    combined[combined.count - 1] = last &* 31 ^ hashes[index]
                } else {
                    sorted.append(id)
                    combined.append(hashes[index])
                }
            }
            (ids, hashes, isSorted) = (sorted, combined, true)
        }
    }

    /// Drops the oldest states, and removals that only they need.
    private mutating func trim() {
        if states.count > Self.maximumStates { drop(states.count - Self.maximumStates / 2) }
        expireRemovals()
        while removals.count > max(ids.count, Self.leastRemovals), states.count > 1 {
            drop((states.count + 1) / 2)
            expireRemovals()
        }
    }

    private mutating func drop(_ count: Int) {
        states.removeFirst(count)
        for index in changes.indices { changes[index] = UInt16(max(Int(changes[index]) - count, 0)) }
    }

    private mutating func expireRemovals() {
        guard let first = states.first else { return }
        let hasExpired = removals.values.contains { $0 <= first }
        if hasExpired { removals = removals.filter { $0.value > first } }
    }
}

/// Ids one after the other in one buffer.
private struct IDList: Sendable {
    private var text: [UInt8] = []
    /// The end of each id in `text`.
    private var ends: [UInt32] = []

    var count: Int { ends.count }
    var bytes: Int { text.count + ends.count * MemoryLayout<UInt32>.stride }

    mutating func reserve(_ other: IDList) {
        text.reserveCapacity(other.text.count + other.text.count / 32)
        ends.reserveCapacity(other.ends.count + other.ends.count / 32)
    }

    func hasRoom(for id: ArraySlice<UInt8>) -> Bool { text.count + id.count <= UInt32.max }

    mutating func append(_ id: ArraySlice<UInt8>) {
        text.append(contentsOf: id)
        ends.append(UInt32(text.count))
    }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index]) }

    subscript(index: Int) -> ArraySlice<UInt8> { text[range(index)] }

    func text(_ index: Int) -> String { String(decoding: self[index], as: UTF8.self) }

    /// Negative, zero or positive, in the order of bytes.
    func compare(_ index: Int, _ id: ArraySlice<UInt8>) -> Int {
        let range = range(index)
        return text.withUnsafeBytes { text in
            id.withUnsafeBytes { id in
                let common = min(range.count, id.count)
                if common > 0, let one = text.baseAddress, let other = id.baseAddress {
                    let difference = memcmp(one + range.lowerBound, other, common)
                    if difference != 0 { return Int(difference) }
                }
                return range.count - id.count
            }
        }
    }

    func isBefore(_ index: Int, _ id: ArraySlice<UInt8>) -> Bool { compare(index, id) < 0 }

    func isEqual(_ index: Int, _ id: ArraySlice<UInt8>) -> Bool { compare(index, id) == 0 }

    /// The first index of a sorted list whose id is not before another one. It looks at `hint` first.
    /// - Complexity: O(log distance) from a hint at or before the result, else O(log count)
    func firstIndex(notBefore id: ArraySlice<UInt8>, hint: Int) -> Int {
        var (low, high) = (0, count)
        if hint == 0 || isBefore(hint - 1, id) {
            low = hint
            // Steps that double, because the id is mostly near.
            var step = 1
            while low + step <= count, isBefore(low + step - 1, id) {
                low += step
                step *= 2
            }
            high = min(low + step - 1, count)
        }
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle, id) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
