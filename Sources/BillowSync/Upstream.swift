package import Turbulence

/// An upstream as the engine sees it: it brings the store up to date.
package protocol Upstream: Sendable {
    var id: SourceID { get }
    /// `skypath`, …
    var kind: String { get }
    var merge: MergeRule { get }
    /// Whether its data is simulated; nil if its responses decide.
    var simulated: Bool? { get }

    /// Fetches new data and writes it to the store. Batches that were written before an error stay, and the error's
    /// outcome counts them.
    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome

    /// The areas that are fetched separately, each with its own rounds and failures; `all` if a single round fetches
    /// everything.
    var areas: [DataQuery.Area] { get }
    /// The request of an area's rounds; nil if there is none.
    func request(of area: DataQuery.Area) -> SyncRequest?
    /// Runs one round of one area, like `synchronise(now:)`.
    func synchronise(_ area: DataQuery.Area, now: Instant) async throws(SyncError) -> SyncOutcome

    /// The current query; nil for an upstream without one.
    var query: DataQuery? { get }
    /// The types of data that a query may request.
    var types: [QueryType] { get }
    /// The collections that it feeds.
    var collections: [String] { get }
    /// The collections that a round of an area would request at this time, each with its areas of the query.
    func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.AreaCollection>
    /// The kinds of data that it feeds, which become stale without a fetch. Empty for a folder, whose files may be a
    /// year apart.
    var feeds: Set<FeedKind> { get }
    /// The shortest time between two rounds that the upstream permits.
    var shortestInterval: Duration { get }
    /// Kinds of data that are requested less often than every round, with their intervals.
    var slowKinds: [FeedKind: Duration] { get }
    /// A fingerprint of its access key that does not reveal the key; nil without a key.
    var credential: String? { get }
    /// The events by which it announces new data; nil if it has none, or if its settings say so.
    var events: (any UpstreamEvents)? { get }

    /// The problem of a query: the offending member, and a sentence about it; nil for a valid query.
    func problem(with query: DataQuery) -> (member: String, text: String)?
    /// The same upstream with another query.
    func with(query: DataQuery) -> any Upstream
    /// Resets the cursors of an area, so that its next round fetches everything.
    func resetCursors(of area: DataQuery.Area) async throws(SyncError)
    /// Lifts the suspension of types that the upstream refused to the account, so that the next round requests them.
    func liftSuspensions()
    /// Records that an area is no longer requested. Data that was stored only for the area ends now; earlier frames
    /// still show it.
    func release(_ area: DataQuery.Area, now: Instant) async throws(SyncError)
    /// Prepares the store after a restart, before the first round, even if none follows. It ends data that was
    /// requested only while the previous process ran, and notes the areas that are no longer requested.
    func prepareAfterRestart(now: Instant) async throws(SyncError)
}

extension Upstream {
    package var areas: [DataQuery.Area] { [.all] }
    package func request(of area: DataQuery.Area) -> SyncRequest? {
        guard let query else { return SyncRequest() }
        return query.requestsAnything ? SyncRequest(query) : nil
    }
    package func synchronise(_ area: DataQuery.Area, now: Instant) async throws(SyncError) -> SyncOutcome {
        try await synchronise(now: now)
    }
    package var query: DataQuery? { nil }
    package var types: [QueryType] { [] }
    package var collections: [String] { query?.types.sorted().flatMap(\.collections) ?? [] }
    package var feeds: Set<FeedKind> { query?.kinds ?? [] }
    package func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.AreaCollection> {
        parts(of: collections)
    }
    package var shortestInterval: Duration { .seconds(1) }
    package var slowKinds: [FeedKind: Duration] { [:] }
    package var credential: String? { nil }
    package var events: (any UpstreamEvents)? { nil }

    package func problem(with query: DataQuery) -> (member: String, text: String)? { nil }
    package func with(query: DataQuery) -> any Upstream { self }
    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {}
    package func liftSuspensions() {}
    package func release(_ area: DataQuery.Area, now: Instant) async throws(SyncError) {}
    package func prepareAfterRestart(now: Instant) async throws(SyncError) {}

    /// Some collections, each in all areas in which it is requested.
    func parts(of collections: [String]) -> Set<SourceState.AreaCollection> {
        Set(
            collections.flatMap { collection in
                (query?.areas(ofCollection: collection) ?? [.global]).map {
                    SourceState.AreaCollection(area: $0, collection: collection)
                }
            })
    }
}

/// The outcome of one round.
package struct SyncOutcome: Sendable, Hashable {
    package var accepted = 0
    package var duplicates = 0
    package var retracted = 0
    package var skipped: [SkipReason: Int] = [:]
    package var adjusted: [Adjustment: Int] = [:]
    /// Whether the upstream answered a request. false if no request was due, or every request was refused: that is no
    /// information about the rest.
    package var wasAnswered = true
    /// Types of data that the account has no access to, with the upstream's message. Other types are unaffected.
    package var disabled: [QueryType: String] = [:]

    package init() {}

    /// Adds another round's outcome.
    mutating func add(_ other: SyncOutcome) {
        accepted += other.accepted
        duplicates += other.duplicates
        retracted += other.retracted
        skipped.merge(other.skipped, uniquingKeysWith: +)
        adjusted.merge(other.adjusted, uniquingKeysWith: +)
        disabled.merge(other.disabled) { $1 }
    }
}
