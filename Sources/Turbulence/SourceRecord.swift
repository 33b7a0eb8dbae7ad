package import Geometry

/// An area that a source was asked for: within it and its time the log has all data of a kind.
package struct CoveredArea: Sendable, Hashable {
    package var kind: DataKind
    /// nil for the world.
    package var ring: AreaRing?
    /// From when on the log is complete inside.
    package var since: Instant
    /// The last fetch of an area that is asked for no more; nil while it is asked for.
    package var until: Instant?

    package init(kind: DataKind, ring: AreaRing?, since: Instant, until: Instant?) {
        self.kind = kind
        self.ring = ring
        self.since = since
        self.until = until
    }

    /// Whether it was asked for at an instant.
    package func isRequested(at instant: Instant) -> Bool { since <= instant && instant <= until ?? .distantFuture }
}

/// One source, as the log knows it.
public struct SourceRecord: Sendable, Hashable {
    /// Its number in the log.
    public var number: SourceNumber
    /// Its name.
    public var id: SourceID
    /// What its newer values do to older ones.
    public var merge: MergeRule
    /// Whether its data is made up for demonstration; nil where that isn't known yet: nothing was fetched, and what
    /// was sent in doesn't tell.
    public var simulated: Bool?
    /// When all that was asked of it was last fetched with success; nil before the first time and for what isn't
    /// fetched.
    package var fetchedAt: Instant?
    /// When each kind of data was last fetched with success, where it was told by kind: one may be had while another
    /// isn't.
    package var fetchedKinds: [DataKind: Instant]
    /// Since when each kind was fetched without a gap longer than its `longestGapSeconds`.
    package var fetchedSince: [DataKind: Instant]
    /// The kinds of data that anything was ever stored of for it. Nothing is known of others.
    package var storedKinds: Set<DataKind>
    /// From when on the log is complete for it; nil where nothing is known.
    package var completeSince: Instant?
    /// Between when something was observed, of each kind, that the log had and has no more: it was deleted, or can't be
    /// read. An answer about whatever is stored lacks it.
    package var lost: [DataKind: ClosedRange<Instant>] = [:]
    /// The areas that it is or was asked for, by kind of data. A kind without one is of the whole world.
    package var coveredAreas: [CoveredArea]

    /// A store knows at most this many sources.
    package static let most = 256
    /// Of these, how many only the settings may register: no file and no reporter can use up all numbers.
    package static let reserved = 64

    /// A source of which nothing was fetched.
    public init(number: SourceNumber, id: SourceID, merge: MergeRule) {
        self.init(number: number, id: id, merge: merge, simulated: false)
    }

    package init(
        number: SourceNumber, id: SourceID, merge: MergeRule, simulated: Bool?, fetchedAt: Instant? = nil,
        fetchedKinds: [DataKind: Instant] = [:], fetchedSince: [DataKind: Instant] = [:],
        storedKinds: Set<DataKind> = [], completeSince: Instant? = nil, coveredAreas: [CoveredArea] = []
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

    /// Notes that something of a time is lost.
    package mutating func noteLost(_ kind: DataKind, _ span: ClosedRange<Instant>) {
        let known = lost[kind] ?? span
        lost[kind] = min(known.lowerBound, span.lowerBound)...max(known.upperBound, span.upperBound)
    }

    /// From when on a kind of data is complete; nil where that isn't known.
    package func completeSince(_ kind: DataKind) -> Instant? {
        kind.longestGapSeconds == nil ? completeSince : fetchedSince[kind] ?? completeSince
    }

    /// When a kind of data that it is asked for was last fetched; nil before the first time.
    package func fetchedAt(_ kind: DataKind) -> Instant? { fetchedKinds.isEmpty ? fetchedAt : fetchedKinds[kind] }
}
