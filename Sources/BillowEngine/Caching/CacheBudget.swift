import Synchronization

/// How many bytes the caches of a server may keep together. Whatever was used longest ago goes first, whichever cache
/// has it: who only asks for tiles has all of it for tiles.
package final class CacheBudget: Sendable {
    /// The limit.
    package let bytes: Int
    private let kept = Atomic(0)
    private let clock = Atomic<UInt64>(0)
    private let members = Mutex<[Member]>([])
    private let isTrimming = Mutex(())

    /// A cache, as the budget needs it.
    package struct Member: Sendable {
        /// Hands over when each of its values was last used, and its bytes.
        package var forEach: @Sendable (_ body: (_ lastUsed: UInt64, _ bytes: Int) -> Void) -> Void
        /// Lets go of what was last used before a time.
        package var drop: @Sendable (_ before: UInt64) -> Void
    }

    /// What caches keep where nothing else is said.
    package static let defaultBytes = 48 << 20

    package init(bytes: Int = CacheBudget.defaultBytes) { self.bytes = bytes }

    /// What all caches keep together.
    package var usedBytes: Int { kept.load(ordering: .relaxed) }

    package func add(_ member: Member) { members.withLock { $0.append(member) } }

    /// The time of a use: later ones have larger numbers.
    func tick() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

    /// Notes what a cache keeps more than before, or less, and makes room where it is too much. Not to be called while
    /// the cache is locked.
    package func note(_ change: Int) {
        let total = kept.add(change, ordering: .relaxed).newValue
        if change > 0, total > bytes { trim() }
    }

    private static let steps = 256

    /// Down to seven eighths, so that looking at every value is paid for by many that come.
    ///
    /// - Complexity: O(values kept)
    private func trim() {
        isTrimming.withLock { _ in
            let excess = kept.load(ordering: .relaxed) - bytes / 8 * 7
            guard excess > bytes / 8 else { return }
            let members = members.withLock { $0 }
            var oldest = UInt64.max
            for member in members { member.forEach { lastUsed, _ in oldest = min(oldest, lastUsed) } }
            let now = clock.load(ordering: .relaxed)
            guard oldest <= now else { return }
            // How much was last used in each of some equal stretches of time.
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
