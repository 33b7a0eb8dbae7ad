import BillowEngine
import NIOCore
import NIOHTTP1
import Synchronization

/// Caches the answers of the current second that show the current snapshot: a request for the same address gets the
/// same bytes, without a way through the router.
///
/// What an answer depends on is its address, the picture, the styles, the sources' states, and the clock in whole
/// seconds. So all are invalidated when one of those changes, and none is ever older than the second in which it was
/// made. Asking takes constant time; what is kept is bounded in number and in bytes.
final class ResponseMicrocache: Sendable {
    /// What answers are the same in.
    struct Moment: Equatable, Sendable {
        fileprivate var second: Int
        fileprivate var changes: Int
    }

    /// An answer as it goes to the encoder.
    struct CachedAnswer: Sendable {
        var head: HTTPResponseHead
        var body: ByteBuffer
    }

    private struct CacheState {
        var moment = Moment(second: .min, changes: 0)
        var answers: [String: CachedAnswer] = [:]
        var bytes = 0
        var hits = 0
        var misses = 0
    }

    /// Of one answer's body; a tile has some 20 kB.
    static let largestBody = 256 << 10
    /// Of all bodies and addresses together: some thousand tiles.
    private static let capacity = 8 << 20
    /// Where answers are empty, their number bounds them.
    private static let countLimit = 8_192

    private let second: @Sendable () -> Int
    private let changes = Atomic(0)
    private let state = Mutex(CacheState())

    /// - Parameter second: the clock that answers are made by.
    init(second: @escaping @Sendable () -> Int) { self.second = second }

    /// The present.
    var moment: Moment { Moment(second: second(), changes: changes.load(ordering: .acquiring)) }

    /// To be called after what answers are made from has changed.
    func invalidate() { changes.add(1, ordering: .releasing) }

    var statistics: CacheStatistics {
        state.withLock {
            CacheStatistics(entries: $0.answers.count, bytes: $0.bytes, hits: $0.hits, misses: $0.misses)
        }
    }

    /// The answer that was given to an address in the same moment.
    func answer(to address: String, at moment: Moment) -> CachedAnswer? {
        state.withLock { state in
            guard state.moment == moment, let answer = state.answers[address] else {
                state.misses += 1
                return nil
            }
            state.hits += 1
            return answer
        }
    }

    /// - Parameter moment: when it was asked for; an answer that took longer than its moment is of no use.
    func keep(_ answer: CachedAnswer, to address: String, at moment: Moment) {
        let present = self.moment
        guard present == moment else { return }
        state.withLock { state in
            if state.moment != moment {
                // The clock may have been put back: any other moment is not this one.
                state.moment = moment
                state.answers.removeAll(keepingCapacity: true)
                state.bytes = 0
            }
            let bytes = answer.body.readableBytes + address.utf8.count
            guard state.answers.count < Self.countLimit, state.bytes + bytes <= Self.capacity else { return }
            let before = state.answers.updateValue(answer, forKey: address)
            state.bytes += bytes - (before.map { $0.body.readableBytes + address.utf8.count } ?? 0)
        }
    }
}
