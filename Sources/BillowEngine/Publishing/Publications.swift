package import BillowSnapshot
import ServiceLifecycle
import Synchronization

/// The snapshots of a publisher, starting with the current one. The latest value wins: a slow consumer continues with
/// the newest snapshot, and skips those in between.
///
/// Any number of consumers may iterate it. A consumer holds only its position, so a slow one costs no memory. The
/// sequence ends with the publisher. It also ends for a consumer that is cancelled or whose service group shuts down.
package struct Publications: AsyncSequence, Sendable {
    fileprivate let channel: PublicationChannel

    init(_ channel: PublicationChannel) { self.channel = channel }

    package func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let channel: PublicationChannel
        /// The number of the last delivered publication; 0 before the first.
        private var seen: UInt64 = 0

        fileprivate init(channel: PublicationChannel) { self.channel = channel }

        package mutating func next() async -> Snapshot? {
            guard let (number, snapshot) = await channel.next(after: seen) else { return nil }
            seen = number
            return snapshot
        }
    }
}

/// Connects a publisher with the consumers that wait for its snapshots.
final class PublicationChannel: Sendable {
    fileprivate struct ChannelState {
        var snapshot: Snapshot?
        /// The number of publications.
        var number: UInt64 = 0
        var isFinished = false
        var lastWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// Waiters that were cancelled before they began to wait.
        var abandoned: Set<UInt64> = []
    }

    private enum NextResult {
        case publication(UInt64, Snapshot)
        case wait(UInt64)
        case end
    }

    private let state = Mutex(ChannelState())

    /// The newest snapshot.
    var snapshot: Snapshot? { state.withLock { $0.snapshot } }

    /// The number of consumers that wait for a publication.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Replaces the snapshot. Consumers are resumed only for a new publication, not if only fetch times changed.
    /// - Returns: the previous snapshot.
    func send(_ snapshot: Snapshot) -> Snapshot? {
        let (old, waiters) = state.withLock { state in
            let old = state.snapshot
            state.snapshot = snapshot
            guard old?.publication != snapshot.publication || old?.log != snapshot.log else {
                return (old, [CheckedContinuation<Void, Never>]())
            }
            state.number += 1
            return (old, state.removeAllWaiters())
        }
        for waiter in waiters { waiter.resume() }
        return old
    }

    /// Ends the sequence for all consumers.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.removeAllWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The newest publication after a given number; nil at the end.
    fileprivate func next(after seen: UInt64) async -> (UInt64, Snapshot)? {
        while !ServicePause.hasEnded {
            let turn = state.withLock { state -> NextResult in
                if state.isFinished { return .end }
                if let snapshot = state.snapshot, state.number > seen { return .publication(state.number, snapshot) }
                state.lastWaiter += 1
                return .wait(state.lastWaiter)
            }
            switch turn {
            case .publication(let number, let snapshot): return (number, snapshot)
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
