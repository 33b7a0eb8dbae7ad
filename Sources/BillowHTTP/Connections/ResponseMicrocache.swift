import BillowEngine
import NIOCore
import NIOHTTP1
import Synchronization

/// Caches the answers of the current second that show the current snapshot. A request for the same address gets the
/// same bytes, without the router.
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
        /// Where it is counted each time that it is given.
        var metrics: RequestMetrics.Route?
    }

    /// The answers to an address: one for everybody, or one for each coding that clients take.
    private struct Variants {
        var answer: CachedAnswer?
        var byCoding: [ContentCoding: CachedAnswer] = [:]

        subscript(coding: ContentCoding?) -> CachedAnswer? {
            get { if let coding { byCoding[coding] } else { answer } }
            set { if let coding { byCoding[coding] = newValue } else { answer = newValue } }
        }
    }

    private struct CacheState {
        var moment = Moment(second: .min, changes: 0)
        var answers: [String: Variants] = [:]
        var count = 0
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
            CacheStatistics(entries: $0.count, bytes: $0.bytes, hits: $0.hits, misses: $0.misses)
        }
    }

    /// The answer that was given to an address in the same moment.
    /// - Parameter coding: what the client takes; only evaluated where answers differ by it.
    func answer(to address: String, at moment: Moment, coding: @autoclosure () -> ContentCoding = .identity)
        -> CachedAnswer?
    {
        state.withLock { state in
            guard state.moment == moment, let variants = state.answers[address],
                let answer = variants.answer ?? variants.byCoding[coding()]
            else {
                state.misses += 1
                return nil
            }
            state.hits += 1
            return answer
        }
    }

    /// - Parameters:
    ///   - coding: what the client takes, where answers differ by it; nil where they don't.
    ///   - moment: when it was asked for; an answer that took longer than its moment is of no use.
    func insert(_ answer: CachedAnswer, for address: String, coding: ContentCoding? = nil, at moment: Moment) {
        let present = self.moment
        guard present == moment else { return }
        state.withLock { state in
            if state.moment != moment {
                // The clock may have been put back: any other moment is not this one.
                state.moment = moment
                state.answers.removeAll(keepingCapacity: true)
                state.bytes = 0
                state.count = 0
            }
            let bytes = answer.body.readableBytes + address.utf8.count
            guard state.count < Self.countLimit, state.bytes + bytes <= Self.capacity else { return }
            let before = state.answers[address]?[coding]
            state.answers[address, default: Variants()][coding] = answer
            state.count += before == nil ? 1 : 0
            state.bytes += bytes - (before.map { $0.body.readableBytes + address.utf8.count } ?? 0)
        }
    }
}
