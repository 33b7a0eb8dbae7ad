package import Geometry

/// An area that a source is queried for: within it and its time the log has all data of a kind.
package struct CoveredArea: Sendable, Hashable {
    package var kind: FeedKind
    /// The boundary; nil for the world.
    package var ring: AreaRing?
    /// The time from which the log is complete inside.
    package var since: Instant
    /// The last fetch of an area that is no longer requested; nil while it is requested.
    package var until: Instant?

    package init(kind: FeedKind, ring: AreaRing?, since: Instant, until: Instant?) {
        self.kind = kind
        self.ring = ring
        self.since = since
        self.until = until
    }

    /// Whether the area was requested at an instant.
    package func isRequested(at instant: Instant) -> Bool { since <= instant && instant <= until ?? .distantFuture }
}

/// The log's record of a source.
public struct SourceRecord: Sendable, Hashable {
    /// The source's number in the log.
    public var number: SourceNumber
    /// The source's name.
    public var id: SourceID
    /// How its newer values affect older ones.
    public var merge: MergeRule
    /// Whether its data is simulated for demonstration. It is nil while unknown: nothing was fetched, and submitted
    /// data doesn't say.
    public var simulated: Bool?
    /// The last fetch in which all requests succeeded; nil before the first one, and for a source that isn't fetched.
    package var fetchedAt: Instant?
    /// The last successful fetch of each kind of data, if known by kind. Some kinds can succeed while others fail.
    package var fetchedKinds: [FeedKind: Instant]
    /// For each kind, the start of the period of fetches without a gap longer than its `longestGapSeconds`.
    package var fetchedSince: [FeedKind: Instant]
    /// The kinds of data that were ever stored for the source. The log has no information about other kinds.
    package var storedKinds: Set<FeedKind>
    /// The time from which its data in the log is complete; nil if unknown.
    package var completeSince: Instant?
    /// For each kind, the time range of data that the log has lost: it was deleted, or can't be read. Responses for all
    /// stored data lack it.
    package var lost: [FeedKind: ClosedRange<Instant>] = [:]
    /// The areas that are or were requested, by kind of data. A kind without any is requested for the whole world.
    package var coveredAreas: [CoveredArea]

    /// The maximum number of sources in a store.
    package static let most = 256
    /// The part of these numbers that only settings may register, so that files and reporters can't use up all of them.
    package static let reserved = 64

    /// Makes the record of a source without any fetch.
    public init(number: SourceNumber, id: SourceID, merge: MergeRule) {
        self.init(number: number, id: id, merge: merge, simulated: false)
    }

    package init(
        number: SourceNumber, id: SourceID, merge: MergeRule, simulated: Bool?, fetchedAt: Instant? = nil,
        fetchedKinds: [FeedKind: Instant] = [:], fetchedSince: [FeedKind: Instant] = [:],
        storedKinds: Set<FeedKind> = [], completeSince: Instant? = nil, coveredAreas: [CoveredArea] = []
    ) {
        self.number = number
        self.id = id
        self.merge = merge
        self.simulated = simulated
        self.fetchedAt = fetchedAt
        self.fetchedKinds = fetchedKinds
        self.fetchedSince = fetchedSince
        self.storedKinds = storedKinds
        self.completeSince = completeSince
        self.coveredAreas = coveredAreas
    }

    /// Records a time range of lost data.
    package mutating func noteLost(_ kind: FeedKind, _ span: ClosedRange<Instant>) {
        let known = lost[kind] ?? span
        lost[kind] = min(known.lowerBound, span.lowerBound)...max(known.upperBound, span.upperBound)
    }

    /// Whether it mirrors another server, whose own sources have the names `{id}.{name}` here.
    package var isMirror: Bool { fetchedKinds.keys.contains { $0.isConfirmation } }

    /// Whether another source holds a part of the data that this one mirrors.
    package func mirrors(_ other: SourceID) -> Bool { isMirror && other.name.hasPrefix(id.name + ".") }

    /// The last time at which a kind of data was known to be current; that of its last fetch, unless a mirrored server
    /// gives its own. nil before the first one.
    package func confirmedAt(_ kind: FeedKind) -> Instant? { fetchedKinds[kind.confirmation] ?? fetchedAt(kind) }

    /// The last fetch of a kind of data that is requested; nil before the first one.
    package func fetchedAt(_ kind: FeedKind) -> Instant? { fetchedKinds.isEmpty ? fetchedAt : fetchedKinds[kind] }
}
