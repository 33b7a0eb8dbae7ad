package import Turbulence

/// One upstream, as the engine sees it: something that brings the store up to date.
package protocol Upstream: Sendable {
    var id: SourceID { get }
    /// `skypath`, …
    var kind: String { get }
    var merge: MergeRule { get }
    /// Whether its data is made up; nil where its answers tell.
    var simulated: Bool? { get }

    /// Asks for what is new and writes it to the store. What was written before an error stays: it is whole batches,
    /// and the error's outcome counts it.
    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome

    /// The areas that are fetched apart, each in rounds and with failures of its own; `all` where everything is one
    /// round.
    var areas: [DataQuery.Area] { get }
    /// What the rounds of an area ask for; nil where there is nothing to ask for there.
    func request(of area: DataQuery.Area) -> SyncRequest?
    /// One round of one area, as `synchronise(now:)`.
    func synchronise(_ area: DataQuery.Area, now: Instant) async throws(SyncError) -> SyncOutcome

    /// What is asked for; nil where there is nothing to choose.
    var query: DataQuery? { get }
    /// The types of data that may be asked for.
    var types: [DataQuery.DataType] { get }
    /// The collections that it feeds.
    var collections: [String] { get }
    /// The collections that a round of an area at this time would ask for, each with the areas of the query that it
    /// is of.
    func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.Part>
    /// The kinds of data that it is fetched for, and that are stale when it is silent. Nothing for a folder, whose
    /// files may be a year apart.
    var feeds: Set<DataKind> { get }
    /// The shortest time between two rounds that the upstream allows.
    var shortestInterval: Duration { get }
    /// Kinds of data that are asked for more seldom than rounds are made, and how often.
    var slowKinds: [DataKind: Duration] { get }
    /// Tells one key of ours from another without giving it away; nil where none is sent.
    var credential: String? { get }

    /// Why a query can't be asked: the member of the query that is to blame, and a sentence about it; nil where it can.
    func problem(with query: DataQuery) -> (member: String, text: String)?
    /// The same upstream, asked for something else.
    func with(query: DataQuery) -> any Upstream
    /// Resets the cursors of an area, so that its next round fetches everything.
    func resetCursors(of area: DataQuery.Area) async throws(SyncError)
    /// Lifts the suspension of types that the account was refused, so that the next round asks for them.
    func liftSuspensions()
    /// Notes that an area is asked for no more. What was stored for only as long as that ends now; pictures of before
    /// keep it.
    func release(_ area: DataQuery.Area, now: Instant) async throws(SyncError)
    /// Prepares the store after a restart, before the first round and whether there will be one or not: ends data
    /// that was wanted for as long as the process before ran, and notes which areas are asked for no more.
    func prepareAfterRestart(now: Instant) async throws(SyncError)
}

extension Upstream {
    package var areas: [DataQuery.Area] { [.all] }
    package func request(of area: DataQuery.Area) -> SyncRequest? {
        guard let query else { return SyncRequest() }
        return query.asksForAnything ? SyncRequest(query) : nil
    }
    package func synchronise(_ area: DataQuery.Area, now: Instant) async throws(SyncError) -> SyncOutcome {
        try await synchronise(now: now)
    }
    package var query: DataQuery? { nil }
    package var types: [DataQuery.DataType] { [] }
    package var collections: [String] { query?.types.sorted().flatMap(\.collections) ?? ["turbulence"] }
    package var feeds: Set<DataKind> { query?.kinds ?? [] }
    package func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.Part> { parts(of: collections) }
    package var shortestInterval: Duration { .seconds(1) }
    package var slowKinds: [DataKind: Duration] { [:] }
    package var credential: String? { nil }

    package func problem(with query: DataQuery) -> (member: String, text: String)? { nil }
    package func with(query: DataQuery) -> any Upstream { self }
    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {}
    package func liftSuspensions() {}
    package func release(_ area: DataQuery.Area, now: Instant) async throws(SyncError) {}
    package func prepareAfterRestart(now: Instant) async throws(SyncError) {}

    /// Some collections in all areas that they are wanted in.
    func parts(of collections: [String]) -> Set<SourceState.Part> {
        Set(
            collections.flatMap { collection in
                (query?.areas(ofCollection: collection) ?? [.global]).map {
                    SourceState.Part(area: $0, collection: collection)
                }
            })
    }
}

/// What one round brought.
package struct SyncOutcome: Sendable, Hashable {
    package var accepted = 0
    package var duplicates = 0
    package var retracted = 0
    package var skipped: [SkipReason: Int] = [:]
    package var adjusted: [Adjustment: Int] = [:]
    /// Whether the upstream gave what it was asked for. false where nothing was due, or nothing but what it won't
    /// give: that tells nothing of the rest.
    package var wasAnswered = true
    /// Types of data that the upstream won't give to this account, and its words; the others go on.
    package var disabled: [DataQuery.DataType: String] = [:]

    package init() {}

    /// Adds another round's.
    mutating func add(_ other: SyncOutcome) {
        accepted += other.accepted
        duplicates += other.duplicates
        retracted += other.retracted
        skipped.merge(other.skipped, uniquingKeysWith: +)
        adjusted.merge(other.adjusted, uniquingKeysWith: +)
        disabled.merge(other.disabled) { $1 }
    }
}
