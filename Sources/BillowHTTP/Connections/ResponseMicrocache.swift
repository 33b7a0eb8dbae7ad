import BillowEngine
import NIOCore
import NIOHTTP1
import Synchronization

/// Caches the answers that show the current snapshot. Another request for the same address gets the same bytes, without
/// the router.
///
/// An answer depends on its address, the snapshot, the styles, the configuration of freshness, the sources' states, and
/// the clock in whole seconds. An answer is valid only in the `CacheContext` in which it was requested, so none is
/// older than a second. The exception is an answer that declares itself immutable for some seconds. For so long it does
/// not depend on the clock, and the cache states its age. Each part of the context changes together with what it
/// numbers, so nothing needs to invalidate the cache. A lookup takes constant time. The cache is bounded in number and
/// in bytes.
///
/// Source: RFC 9111 section 5.1 (`Age`), RFC 8246 (`immutable`)
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
        /// `FreshnessRegister.generation`.
        var freshness: UInt64

        /// Whether both differ in their time at most.
        func showsSame(as other: CacheContext) -> Bool {
            var other = other
            other.second = second
            return self == other
        }
    }

    /// What an answer is stored under.
    struct CacheKey: Hashable, Sendable {
        var address: String
        /// Whether the answer is the one to clients that have the content.
        var isUnchanged: Bool

        init(_ address: String, isUnchanged: Bool = false) {
            self.address = address
            self.isUnchanged = isUnchanged
        }
    }

    /// An answer.
    final class CachedResponse: Sendable {
        let head: HTTPResponseHead
        let body: ByteBuffer
        /// The counters of its route.
        let metrics: RequestMetrics.Route?
        /// For how many seconds the answer is immutable; nil if it may change with the clock.
        let immutableSeconds: Int?
        /// The tag that conditions are compared with, without its quotes; nil if only the router can compare it.
        let comparedTag: String?
        /// The head as bytes; nil if it lacks the length of the body.
        let encoded: EncodedHead?
        /// The head of 304 as bytes; nil without `comparedTag`.
        let encodedUnchanged: EncodedHead?
        /// About the memory of body and heads.
        let bytes: Int
        /// The usual memory of the fields of a head that has no encoded form.
        private static let fieldBytes = 512

        init(
            head: HTTPResponseHead, body: ByteBuffer, metrics: RequestMetrics.Route? = nil, immutableSeconds: Int? = nil
        ) {
            self.head = head
            self.body = body
            self.metrics = metrics
            self.immutableSeconds = immutableSeconds
            // Where an answer has several codings, the router repeats the tag in the form that the client has.
            comparedTag =
                head.headers.contains(name: "Vary")
                ? nil : head.headers.first(name: "ETag").map { String($0.dropFirst().dropLast()) }
            encoded = EncodedHead(head, isUnchanged: false)
            encodedUnchanged = comparedTag == nil ? nil : EncodedHead(head, isUnchanged: true)
            // The fields take about as much as their encoded form. Iterating them would allocate.
            let fields = encoded?.capacity ?? Self.fieldBytes
            bytes = body.readableBytes + fields + (encoded?.capacity ?? 0) + (encodedUnchanged?.capacity ?? 0)
        }

        /// The head of the answer to a client that has the content.
        var headOfUnchanged: HTTPResponseHead {
            let fields = head.headers.filter { !EncodedHead.describesBody($0.name) }
            return HTTPResponseHead(
                version: head.version, status: .notModified, headers: HTTPHeaders(fields.map { ($0.name, $0.value) }))
        }
    }

    /// The answers for a key: one for all clients, or one for each content coding.
    private struct Variants {
        /// An answer and the second in which it was requested.
        typealias Dated = (answer: CachedResponse, second: Int)

        var answer: Dated?
        var byCoding: [ContentCoding: Dated] = [:]

        subscript(coding: ContentCoding?) -> Dated? {
            get { if let coding { byCoding[coding] } else { answer } }
            set { if let coding { byCoding[coding] = newValue } else { answer = newValue } }
        }
    }

    /// Answers by key, with their number and their bytes.
    private struct Answers {
        var byKey: [CacheKey: Variants] = [:]
        var count = 0
        var bytes = 0

        /// Stores an answer. If it does not fit, it replaces all answers. Frequent addresses return with their next
        /// request.
        /// - Returns: the replaced answers, which the caller frees after it has released the lock.
        mutating func insert(_ answer: CachedResponse, for key: CacheKey, coding: ContentCoding?, second: Int)
            -> Self?
        {
            let size = answer.bytes + key.address.utf8.count
            guard size <= capacity else { return nil }
            let before = byKey[key]?[coding].map { $0.answer.bytes + key.address.utf8.count }
            var dropped: Self?
            if bytes + size - (before ?? 0) > capacity || (before == nil && count >= countLimit) {
                dropped = self
                self = Self()
                count = 1
                bytes = size
            } else {
                count += before == nil ? 1 : 0
                bytes += size - (before ?? 0)
            }
            byKey[key, default: Variants()][coding] = (answer, second)
            return dropped
        }
    }

    private struct CacheState {
        var moment = CacheContext(second: .min, snapshot: 0, sources: 0, styles: 0, freshness: 0)
        /// The answers of the current second.
        var brief = Answers()
        /// The answers that do not change with the clock.
        var immutable = Answers()
        var hits = 0
        var misses = 0

        /// A valid answer and its age in seconds.
        func answer(to key: CacheKey, at moment: CacheContext, coding: () -> ContentCoding)
            -> (answer: CachedResponse, age: Int)?
        {
            guard self.moment.showsSame(as: moment) else { return nil }
            if let variants = immutable.byKey[key], let dated = variants.answer ?? variants.byCoding[coding()],
                case let age = moment.second - dated.second, age >= 0, age < dated.answer.immutableSeconds ?? 0
            {
                return (dated.answer, age)
            }
            guard self.moment.second == moment.second, let variants = brief.byKey[key],
                let dated = variants.answer ?? variants.byCoding[coding()]
            else { return nil }
            return (dated.answer, 0)
        }
    }

    /// The most bytes of one body; a tile has some 20 kB.
    static let largestBody = 256 << 10
    /// The most bytes of the brief answers with their addresses, and of the immutable ones: some hundred tiles each.
    static let capacity = 8 << 20
    /// The most answers of either kind, which bounds empty ones.
    static let countLimit = 8_192

    private let present: @Sendable () -> CacheContext
    private let state = Mutex(CacheState())

    /// The hosts that get answers: the router, which refuses others, isn't asked.
    let hosts: AllowedHosts

    /// - Parameters:
    ///   - hosts: the hosts that get answers.
    ///   - present: returns the current context.
    init(hosts: AllowedHosts = AllowedHosts(), present: @escaping @Sendable () -> CacheContext) {
        self.hosts = hosts
        self.present = present
    }

    /// The current moment. It must be read before what an answer is made of.
    var moment: CacheContext { present() }

    var statistics: CacheStatistics {
        state.withLock {
            CacheStatistics(
                entries: $0.brief.count + $0.immutable.count, bytes: $0.brief.bytes + $0.immutable.bytes,
                hits: $0.hits, misses: $0.misses)
        }
    }

    /// The cached answer for an address in the current moment.
    /// - Parameters:
    ///   - isConditional: whether an answer to clients that have the content suffices. After a publication most such
    ///     answers come before any whole one.
    ///   - isCounted: whether the statistics count a miss. A hit always counts.
    ///   - coding: the client's content coding, which is only evaluated if answers differ by it.
    /// - Returns: the answer and its age in seconds.
    func answer(
        to address: String, isConditional: Bool = false, at moment: CacheContext, isCounted: Bool = true,
        coding: @autoclosure () -> ContentCoding = .identity
    ) -> (answer: CachedResponse, age: Int)? {
        state.withLock { state in
            let found =
                state.answer(to: CacheKey(address), at: moment, coding: coding)
                ?? (isConditional
                    ? state.answer(to: CacheKey(address, isUnchanged: true), at: moment, coding: coding) : nil)
            if found != nil { state.hits += 1 } else if isCounted { state.misses += 1 }
            return found
        }
    }

    /// - Parameters:
    ///   - coding: the client's content coding if answers differ by it, otherwise nil.
    ///   - moment: the moment of the request. An answer that took longer than its moment is not cached. For an
    ///     immutable answer only the snapshot, the source states and the styles must be the same.
    func insert(_ answer: CachedResponse, for key: CacheKey, coding: ContentCoding? = nil, at moment: CacheContext) {
        let present = self.moment
        let isImmutable = (answer.immutableSeconds ?? 0) > 0
        guard isImmutable ? present.showsSame(as: moment) : present == moment else { return }
        // The lock is released before the dropped answers are freed.
        let dropped: [Answers] = state.withLock { state in
            var dropped: [Answers] = []
            // Any other moment is invalid, because the clock may have been set back.
            if state.moment != present {
                dropped.append(state.brief)
                state.brief = Answers()
                if !state.moment.showsSame(as: present) {
                    dropped.append(state.immutable)
                    state.immutable = Answers()
                }
                state.moment = present
            }
            let full =
                isImmutable
                ? state.immutable.insert(answer, for: key, coding: coding, second: moment.second)
                : state.brief.insert(answer, for: key, coding: coding, second: moment.second)
            return full.map { dropped + [$0] } ?? dropped
        }
        withExtendedLifetime(dropped) {}
    }
}
