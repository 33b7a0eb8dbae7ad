package import BillowSnapshot
package import BillowStore
import ServiceLifecycle
import Synchronization

/// The snapshots of a publisher, starting with the current one. The latest value wins: a slow consumer continues with
/// the newest snapshot, and skips those in between. `withChanges` tells such a consumer what it skipped.
///
/// Any number of consumers may iterate it. A consumer holds only its position, so a slow one costs no memory. The
/// sequence ends with the publisher. It also ends for a consumer that is cancelled or whose service group shuts down.
package struct Publications: AsyncSequence, Sendable {
    fileprivate let channel: PublicationChannel

    init(_ channel: PublicationChannel) { self.channel = channel }

    package func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    /// The same sequence for consumers that must not miss a change.
    package var withChanges: ChangedPublications { ChangedPublications(channel: channel) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let channel: PublicationChannel
        /// The number of the last delivered publication; 0 before the first.
        private var seen: UInt64 = 0

        fileprivate init(channel: PublicationChannel) { self.channel = channel }

        package mutating func next() async -> Snapshot? {
            guard let (number, snapshot, _) = await channel.next(after: seen) else { return nil }
            seen = number
            return snapshot
        }
    }
}

/// A publication with everything that changed since the consumer's previous one.
package struct ChangedPublication: Sendable {
    /// The snapshot that the consumer got before; nil at first.
    package let previous: Snapshot?
    package let snapshot: Snapshot
    /// The changes from the previous snapshot to this one. nil if any data may differ: at first, after the log was read
    /// anew, and for a consumer that is behind by more than `ChangedPublications.maximumRows`.
    package let changes: Changes?
}

/// The publications of a publisher with their changes. Like `Publications`, a slow consumer continues with the newest
/// snapshot, but it gets the changes of the skipped ones too. The rows that wait for it are bounded.
package struct ChangedPublications: AsyncSequence, Sendable {
    /// The most rows that wait for one consumer: some 20 MB. Beyond that it learns only that any data may differ.
    package static let maximumRows = 200_000

    fileprivate let channel: PublicationChannel

    package func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    package struct Iterator: AsyncIteratorProtocol {
        private let backlog: PublicationChannel.Backlog
        private var seen: UInt64 = 0
        private var previous: Snapshot?

        fileprivate init(channel: PublicationChannel) { backlog = PublicationChannel.Backlog(channel) }

        package mutating func next() async -> ChangedPublication? {
            let channel = backlog.channel
            guard let (number, snapshot, changes) = await channel.next(after: seen, taking: backlog) else { return nil }
            defer { (seen, previous) = (number, snapshot) }
            return ChangedPublication(previous: previous, snapshot: snapshot, changes: changes)
        }
    }
}

/// Connects a publisher with the consumers that wait for its snapshots.
final class PublicationChannel: Sendable {
    /// The changes that wait for one consumer. It ends with its last owner, the consumer's iterator.
    fileprivate final class Backlog: Sendable {
        let channel: PublicationChannel
        private let id: UInt64

        init(_ channel: PublicationChannel) {
            self.channel = channel
            id = channel.state.withLock { state in
                state.lastBacklog += 1
                state.backlogs[state.lastBacklog] = .everything
                return state.lastBacklog
            }
        }

        deinit { channel.state.withLock { _ = $0.backlogs.removeValue(forKey: id) } }

        /// Empties the backlog.
        /// - Returns: its changes; nil if any data may have changed.
        func take(from state: inout ChannelState) -> Changes? {
            guard case .changes(let changes) = state.backlogs.updateValue(.empty, forKey: id) else { return nil }
            return changes
        }
    }

    fileprivate enum WaitingChanges {
        case empty
        case changes(Changes)
        case everything

        mutating func append(_ later: Changes?) {
            guard let later else { return self = .everything }
            switch self {
            case .empty: self = .changes(later)
            case .changes(let earlier):
                let isBounded = earlier.rowCount + later.rowCount <= ChangedPublications.maximumRows
                self = isBounded ? .changes(earlier.followed(by: later)) : .everything
            case .everything: break
            }
        }
    }

    fileprivate struct ChannelState {
        var snapshot: Snapshot?
        /// The number of publications.
        var number: UInt64 = 0
        var isFinished = false
        var lastWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// Waiters that were cancelled before they began to wait.
        var abandoned: Set<UInt64> = []
        var lastBacklog: UInt64 = 0
        var backlogs: [UInt64: WaitingChanges] = [:]
    }

    private enum NextResult {
        case publication(UInt64, Snapshot, Changes?)
        case wait(UInt64)
        case end
    }

    fileprivate let state = Mutex(ChannelState())
    private let swaps = Atomic<UInt64>(0)

    /// The newest snapshot.
    var snapshot: Snapshot? { state.withLock { $0.snapshot } }

    /// The number of snapshots so far. Whoever has seen a snapshot reads its number or a later one.
    var generation: UInt64 { swaps.load(ordering: .acquiring) }

    /// The number of consumers that wait for a publication.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Replaces the snapshot. Consumers are resumed only for a new publication, not if only fetch times changed.
    ///
    /// - Parameter changes: what changed since the snapshot before; nil if any data may have.
    func send(_ snapshot: Snapshot, _ changes: Changes?) {
        let waiters = state.withLock { state in
            let old = state.snapshot
            state.snapshot = snapshot
            // Within the lock, so that nobody sees the snapshot with the generation before it.
            swaps.add(1, ordering: .releasing)
            guard old?.publication != snapshot.publication || old?.log != snapshot.log else {
                return [CheckedContinuation<Void, Never>]()
            }
            state.number += 1
            for id in state.backlogs.keys { state.backlogs[id]?.append(changes) }
            return state.removeAllWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Ends the sequence for all consumers.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.removeAllWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The newest publication after a given number, with the changes of a backlog; nil at the end.
    fileprivate func next(after seen: UInt64, taking backlog: Backlog? = nil) async -> (UInt64, Snapshot, Changes?)? {
        while !ServicePause.hasEnded {
            let turn = state.withLock { state -> NextResult in
                if state.isFinished { return .end }
                if let snapshot = state.snapshot, state.number > seen {
                    return .publication(state.number, snapshot, backlog?.take(from: &state))
                }
                state.lastWaiter += 1
                return .wait(state.lastWaiter)
            }
            switch turn {
            case .publication(let number, let snapshot, let changes): return (number, snapshot, changes)
            case .end: return nil
            case .wait(let id): await wait(id, after: seen)
            }
        }
        return nil
    }

    private func wait(_ id: UInt64, after seen: UInt64) async {
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await withCheckedContinuation { continuation in
                    let isNeeded = state.withLock { state in
                        let isAbandoned = state.abandoned.remove(id) != nil
                        guard !isAbandoned, !state.isFinished, state.number <= seen else { return false }
                        state.waiters[id] = continuation
                        return true
                    }
                    if !isNeeded { continuation.resume() }
                }
            } onGracefulShutdown: {
                self.abandon(id)
            }
        } onCancel: {
            abandon(id)
        }
        state.withLock { _ = $0.abandoned.remove(id) }
    }

    private func abandon(_ id: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiters.removeValue(forKey: id) else {
                state.abandoned.insert(id)
                return nil
            }
            return waiter
        }
        waiter?.resume()
    }
}

extension PublicationChannel.ChannelState {
    fileprivate mutating func removeAllWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
