import BillowEngine
import NIOCore
import NIOHTTP1
import Synchronization

/// Caches the answers of the current second that show the current snapshot. Another request for the same address gets
/// the same bytes, without the router.
///
/// An answer depends on its address, the snapshot, the styles, the sources' states, and the clock in whole seconds. An
/// answer is valid only in the `CacheContext` in which it was requested, so none is older than a second. Each part of
/// the context changes together with what it numbers, so nothing needs to invalidate the cache. A lookup takes constant
/// time. The cache is bounded in number and in bytes.
final class ResponseMicrocache: Sendable {
    /// The inputs that all cached answers share.
    struct CacheContext: Equatable, Sendable {
        /// The clock in whole seconds.
        var second: Int
        /// `SnapshotPublisher.generation`.
        var snapshot: UInt64
        /// `SourceStates.generation`.
        var sources: UInt64
        /// `StyleStore.generation`.
        var styles: UInt64
    }

    /// An answer in the form that the encoder expects.
    struct CachedResponse: Sendable {
        var head: HTTPResponseHead
        var body: ByteBuffer
        /// The counters of its route.
        var metrics: RequestMetrics.Route?
    }

    /// The answers for an address: one for all clients, or one for each content coding.
    private struct Variants {
        var answer: CachedResponse?
        var byCoding: [ContentCoding: CachedResponse] = [:]

        subscript(coding: ContentCoding?) -> CachedResponse? {
            get { if let coding { byCoding[coding] } else { answer } }
            set { if let coding { byCoding[coding] = newValue } else { answer = newValue } }
        }
    }

    private struct CacheState {
        var moment = CacheContext(second: .min, snapshot: 0, sources: 0, styles: 0)
        var answers: [String: Variants] = [:]
        var count = 0
        var bytes = 0
        var hits = 0
        var misses = 0
    }

    /// The most bytes of one body; a tile has some 20 kB.
    static let largestBody = 256 << 10
    /// The most bytes of all bodies and addresses: some thousand tiles.
    private static let capacity = 8 << 20
    /// The most answers, which bounds empty ones.
    private static let countLimit = 8_192

    private let present: @Sendable () -> CacheContext
    private let state = Mutex(CacheState())

    /// - Parameter present: returns the current context.
    init(present: @escaping @Sendable () -> CacheContext) { self.present = present }

    /// The current moment. It must be read before what an answer is made of.
    var moment: CacheContext { present() }

    var statistics: CacheStatistics {
        state.withLock {
            CacheStatistics(entries: $0.count, bytes: $0.bytes, hits: $0.hits, misses: $0.misses)
        }
    }

    /// The cached answer for an address in the current moment.
    /// - Parameter coding: the client's content coding, which is only evaluated if answers differ by it.
    func answer(to address: String, at moment: CacheContext, coding: @autoclosure () -> ContentCoding = .identity)
        -> CachedResponse?
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
    ///   - coding: the client's content coding if answers differ by it, otherwise nil.
    ///   - moment: the moment of the request. An answer that took longer than its moment is not cached.
    func insert(_ answer: CachedResponse, for address: String, coding: ContentCoding? = nil, at moment: CacheContext) {
        let present = self.moment
        guard present == moment else { return }
        state.withLock { state in
            if state.moment != moment {
                // Any other moment is invalid, because the clock may have been set back.
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
