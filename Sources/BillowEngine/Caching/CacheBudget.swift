import Synchronization

/// The memory budget that all caches of a server share. The least recently used value is evicted first, whichever cache
/// has it. So a server whose clients request only tiles uses the whole budget for tiles.
package final class CacheBudget: Sendable {
    /// The limit in bytes.
    package let bytes: Int
    private let used = Atomic(0)
    private let clock = Atomic<UInt64>(0)
    private let members = Mutex<[Member]>([])
    private let isTrimming = Mutex(())

    /// The interface of a cache to the budget.
    package struct Member: Sendable {
        /// Reports the last use and the bytes of each value.
        package var forEach: @Sendable (_ body: (_ lastUsed: UInt64, _ bytes: Int) -> Void) -> Void
        /// Evicts the values whose last use was before a time.
        package var drop: @Sendable (_ before: UInt64) -> Void
    }

    /// The default limit in bytes.
    package static let defaultBytes = 48 << 20

    package init(bytes: Int = CacheBudget.defaultBytes) { self.bytes = bytes }

    /// The bytes of all caches.
    package var usedBytes: Int { used.load(ordering: .relaxed) }

    package func add(_ member: Member) { members.withLock { $0.append(member) } }

    /// The current time of uses, as a counter.
    func tick() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

    /// Records a change of a cache's bytes, and evicts values if the limit is exceeded. The cache must not be locked by
    /// the caller.
    package func note(_ change: Int) {
        let total = used.add(change, ordering: .relaxed).newValue
        if change > 0, total > bytes { trim() }
    }

    private static let steps = 256

    /// Evicts down to seven eighths, so that the scan of all values is amortised over many insertions.
    ///
    /// - Complexity: O(values in the caches)
    private func trim() {
        isTrimming.withLock { _ in
            let excess = used.load(ordering: .relaxed) - bytes / 8 * 7
            guard excess > bytes / 8 else { return }
            let members = members.withLock { $0 }
            var oldest = UInt64.max
            for member in members { member.forEach { lastUsed, _ in oldest = min(oldest, lastUsed) } }
            let now = clock.load(ordering: .relaxed)
            guard oldest <= now else { return }
            // The bytes that were last used in each of some equal intervals.
            let width = (now - oldest) / UInt64(Self.steps) + 1
            var used = [Int](repeating: 0, count: Self.steps)
            for member in members {
                member.forEach { lastUsed, bytes in
                    guard (oldest...now).contains(lastUsed) else { return }
                    used[min(Int(clamping: (lastUsed - oldest) / width), Self.steps - 1)] += bytes
                }
            }
            var freed = 0
            var step = 0
            while step < Self.steps, freed < excess {
                freed += used[step]
                step += 1
            }
            for member in members { member.drop(oldest + width * UInt64(step)) }
        }
    }
}
