import BillowStore
import Datasets
import Geometry
import Turbulence

/// The state of a copy after a response: its cursor, and from when on it is complete.
struct MirrorState {
    let cursor: MirrorCursor
    /// Whether an area that was already complete stays complete from its earlier start.
    private let isContinued: Bool
    private let lastFetch: Instant?
    private let now: Instant

    /// - Parameters:
    ///   - held: the state before; nil if there was none.
    ///   - lacksFeatures: whether features of this response couldn't be used.
    init(
        _ answer: MirrorAnswer, of dataset: Dataset, after held: MirrorCursor?, lacks lacksFeatures: Bool,
        query: String, now: Instant, recheckSeconds: Int
    ) {
        self.now = now
        lastFetch = held?.fetchedAt
        // A whole response without such features heals the copy.
        let isRechecked = answer.isFull && !lacksFeatures
        let recheckAt =
            isRechecked ? nil : lacksFeatures ? now.advanced(by: recheckSeconds) : held?.recheckAt
        // The response has everything from this time on. Of areas it has those that hold now or later.
        let start =
            dataset.areas == nil ? answer.time.advanced(by: 1 - BillowConfiguration.history.seconds) : answer.time
        let longestGap = dataset.kind.longestGapSeconds ?? BillowConfiguration.history.seconds - 1
        let isContiguous = held.map { $0.time >= answer.time.advanced(by: -longestGap) } ?? false
        // The server's own data may begin within that time. Otherwise it lacks something, and doesn't say where.
        let isKnown =
            recheckAt == nil
            && (!answer.isIncomplete || answer.completeSince.map { $0 > start && $0 <= answer.time } ?? false)
        let serverSince = answer.completeSince ?? .distantPast
        var completeSince: Instant?
        if let before = held?.completeSince, isContiguous, isKnown, serverSince <= before {
            completeSince = before
            isContinued = true
        } else {
            completeSince = isKnown ? max(serverSince, start) : nil
            isContinued = false
        }
        cursor = MirrorCursor(
            token: answer.cursor, time: answer.time, fetchedAt: now, completeSince: completeSince,
            recheckAt: recheckAt, query: query)
    }

    /// The areas in which the log has everything of the server, from now on.
    ///
    /// - Parameter isFirst: whether no area was ever recorded. Without any record, a kind of data counts as requested
    ///   for the whole world. So an area that ended long ago is recorded for a copy that isn't complete anywhere.
    func coverage(of kind: FeedKind, rings: [AreaRing?], isFirst: Bool) -> [CoverageChange] {
        func change(_ rings: [AreaRing?], since: Instant, lastFetch: Instant?) -> CoverageChange {
            CoverageChange(
                kind: kind, part: "", rings: rings, since: since, at: now, isContinued: isContinued,
                lastFetch: lastFetch)
        }
        if let completeSince = cursor.completeSince {
            return [change(rings, since: completeSince, lastFetch: lastFetch)]
        }
        guard isFirst else { return [change([], since: now, lastFetch: lastFetch)] }
        return [
            change([nil], since: .distantPast, lastFetch: nil),
            change([], since: now, lastFetch: .distantPast),
        ]
    }
}
