import BillowExchange
package import BillowFields
package import BillowSnapshot
package import BillowSync
import BillowTiles
package import Datasets
package import Geometry
package import Turbulence

/// How fresh, complete and genuine the data behind an answer is. Every answer that shows data says it, so that an old
/// or partial picture never looks like a new and whole one.
package struct Freshness: Sendable, Hashable {
    /// The last successful fetch of the quietest source; nil where one was never fetched, or none is.
    package var dataTime: Instant?
    /// Whether, for any kind of data shown, all its sources have been silent for too long, or there is no source at
    /// all.
    package var isStale: Bool
    /// Whether the log's data is simulated.
    package var isSimulated: Bool
    /// What the log holds of each kind of data shown.
    var coverage: [DataKind: Coverage]
    /// About which time the log had something of each kind of data shown, and has it no more or can't read it.
    var lost: [DataKind: ClosedRange<Instant>] = [:]

    /// Whether anything is lost of what was stored until an instant.
    func hasLost(upTo instant: Instant) -> Bool { lost.values.contains { $0.lowerBound <= instant } }

    /// Where the answer looks.
    var region: GeographicRegion

    /// From when on the log holds all data shown; nil where that isn't known, or where nothing bounds it.
    package var completeSince: Instant? {
        var newest: Instant?
        for (kind, coverage) in coverage {
            guard coverage.isKnown, coverage.reaches(region), lost[kind]?.upperBound != .distantFuture else {
                return nil
            }
            let afterLoss = lost[kind]?.upperBound.advanced(by: 1)
            newest = [newest, coverage.since(in: region), afterLoss].compactMap { $0 }.max()
        }
        return newest
    }

    /// From when on the log is complete, or why it isn't, in words.
    package var sinceWords: String {
        if let completeSince { return "complete since \(completeSince)" }
        return coverage.values.allSatisfy { $0.reaches(region) }
            ? "not known to be complete" : "not all of the area shown is fetched"
    }

    /// The layers by which a picture of an instant is judged: those that it shows, and those of what is to come of
    /// which nothing at all is known. These have no picture, and their absence must not look like calm.
    ///
    /// - Parameter scene: the layers that have a picture of that instant.
    func judged(_ layers: [Dataset], scene: [Dataset]) -> [Dataset] {
        layers.filter { layer in
            if scene.contains(layer) { return true }
            switch layer.content {
            case .areas, .field: return coverage[layer.kind]?.isKnown != true
            case .history, .polygons, .positions: return false
            }
        }
    }

    /// Whether the log lacks some of what a picture shows.
    ///
    /// - Parameter lookBack: how far back the picture looks for each kind of data, in seconds. Other kinds don't count.
    package func isIncomplete(at instant: Instant, lookBack: [DataKind: Int]) -> Bool {
        lookBack.contains { kind, seconds in
            let seen = instant.advanced(by: -seconds)...instant
            return !(coverage[kind] ?? .unknown).covers(instant, lookBackSeconds: seconds, region)
                || lost[kind]?.overlaps(seen) == true
        }
    }
}

/// Where and when the log holds all data of a kind. What isn't known is not covered.
enum Coverage: Sendable, Hashable {
    /// No source is asked for it, and nothing of it was ever stored: nothing is known.
    case nothing
    /// A source was never fetched, or doesn't say from when on it is complete: nothing is known to be complete.
    case unknown
    /// Imports, inbox files and ingest alone: the log holds what was given to it, except what was deleted before an
    /// instant.
    case stored(since: Instant?)
    /// All sources of the kind were fetched.
    case fetched(Span)

    struct Span: Sendable, Hashable {
        /// From when on what was given to the log is there.
        var storedSince: Instant
        /// The oldest instant that retention leaves whole: what its picture looks back to is kept for the longest
        /// history more.
        var retainedSince: Instant
        /// When this was determined: no fetch can tell of later observations.
        var now: Instant
        /// Whether the sources tell of instants after `now` too.
        var looksAhead = false
        var sources: [Source]

        /// The sources by what they fetch from.
        var services: some Collection<[Source]> { Dictionary(grouping: sources, by: \.service).values }
    }

    /// What one source holds.
    struct Source: Sendable, Hashable {
        /// From when on, in all areas.
        var since: Instant
        /// Until when the last fetch counts as current.
        var until: Instant
        /// The kind of service that it fetches from. Another source of one service can stand in for it; one of another
        /// service can't, because that has other data.
        var service = ""
        var kind = DataKind.observations
        /// The areas that it is and was asked for, of all kinds; none of this kind is the world.
        var areas: [CoveredArea] = []
    }

    var isKnown: Bool { self != .unknown && self != .nothing }

    /// Whether a region is one that some source is asked for.
    func reaches(_ region: GeographicRegion) -> Bool {
        guard case .fetched(let span) = self else { return true }
        return span.services.allSatisfy { $0.contains { $0.since(in: region, at: span.now) != nil } }
    }

    /// From when on all of a region is covered; nil for no bound, or an unknown one.
    func since(in region: GeographicRegion) -> Instant? {
        switch self {
        case .nothing, .unknown: nil
        case .stored(let since): since
        case .fetched(let span):
            span.sources.reduce(max(span.storedSince, span.retainedSince)) { since, source in
                max(since, source.since(in: region, at: span.now) ?? since)
            }
        }
    }

    /// Whether it covers what a picture of a region at an instant looks back to: of each service some source has all of
    /// the region, and none lacks any of what it was asked for there.
    func covers(_ instant: Instant, lookBackSeconds: Int, _ region: GeographicRegion = .everywhere) -> Bool {
        let first = instant.advanced(by: -lookBackSeconds)
        switch self {
        case .nothing, .unknown: return false
        case .stored(let since): return first >= since ?? .distantPast
        case .fetched(let span):
            guard instant >= span.retainedSince,
                first >= max(span.storedSince, span.retainedSince.advanced(by: -History.sixHours.seconds))
            else { return false }
            let last = span.looksAhead ? instant : min(instant, span.now)
            return !span.sources.isEmpty
                && span.services.allSatisfy { sources in
                    let shares = sources.map { $0.share(of: region, from: first, to: last) }
                    return shares.contains(.all) && !shares.contains(.lacking)
                }
        }
    }
}

extension Coverage.Source {
    enum Share: Sendable, Hashable {
        /// All of the region.
        case all
        /// All that it was asked for there, which is not the whole region.
        case part
        /// It was asked for something there that it doesn't have.
        case lacking
    }

    func share(of region: GeographicRegion, from first: Instant, to last: Instant) -> Share {
        guard areas.contains(where: { $0.kind == kind }) else {
            return first >= since && last <= until ? .all : .lacking
        }
        if areas.contains(where: { holds($0, from: first, to: last) && region.isInside($0.ring) }) { return .all }
        return areas.contains { area in
            area.kind == kind && area.isRequested(at: last) && !holds(area, from: first, to: last)
                && region.touches(area.ring)
        } ? .lacking : .part
    }

    /// From when on it has all of a region that it is asked for now; nil where it isn't.
    func since(in region: GeographicRegion, at now: Instant) -> Instant? {
        guard areas.contains(where: { $0.kind == kind }) else { return since }
        return areas.lazy.filter { $0.kind == kind && $0.isRequested(at: now) && region.isInside($0.ring) }.map {
            max($0.since, since)
        }.min()
    }

    private func holds(_ area: CoveredArea, from first: Instant, to last: Instant) -> Bool {
        area.kind == kind && first >= max(area.since, since) && last <= area.until ?? until
    }
}

/// What the freshness of data is determined by, as it is configured.
package struct FreshnessSettings: Sendable {
    /// What a configured source is fetched for.
    package struct Feed: Sendable, Hashable {
        /// Empty for a folder, which isn't fetched: its files may be a year apart.
        package var kinds: Set<DataKind>
        /// The kind of service that it is fetched from.
        package var service: String
        /// Between two fetches by the clock; nil where it is stopped.
        package var intervalSeconds: Int?
        /// A setting of its own.
        package var staleAfterSeconds: Int?
        /// Kinds that are fetched less often, and how often.
        var slowKinds: [DataKind: Int] = [:]
        /// The products of fields that it is asked for; nil for those that it has.
        package var fieldProducts: Set<FieldProduct>?

        package init(
            kinds: Set<DataKind>, service: String = "", intervalSeconds: Int? = 60, staleAfterSeconds: Int? = nil,
            fieldProducts: Set<FieldProduct>? = nil
        ) {
            self.fieldProducts = fieldProducts
            self.kinds = kinds
            self.service = service
            self.intervalSeconds = intervalSeconds
            self.staleAfterSeconds = staleAfterSeconds
        }
    }

    /// How long a source may be silent where no setting says so, unless it is fetched less often than twice in that
    /// time.
    package static let defaultStaleAfterSeconds = 300

    /// For all sources that have no setting of their own.
    fileprivate let staleAfterSeconds: Int?
    /// The configured sources. Others are stored data; where nothing is configured, any source that was ever fetched
    /// counts.
    fileprivate let feeds: [SourceID: Feed]

    package init(staleAfterSeconds: Int?, feeds: [SourceID: Feed]) {
        self.staleAfterSeconds = staleAfterSeconds
        self.feeds = feeds
    }

    /// The configured sources.
    package var sources: Set<SourceID> { Set(feeds.keys) }
}

/// Determines the freshness of data: by the sources that feed it, and by no others. It always follows the sources'
/// current queries and intervals, which can change while the server runs: settings alone determine nothing.
package struct FreshnessPolicy: Sendable {
    private let settings: FreshnessSettings
    private let states: SourceStates
    private let frames: FrameSource

    package init(_ settings: FreshnessSettings, states: SourceStates, frames: FrameSource) {
        self.settings = settings
        self.states = states
        self.frames = frames
    }

    private func feed(_ id: SourceID) -> FreshnessSettings.Feed? {
        guard var feed = settings.feeds[id], let state = states[id] else { return settings.feeds[id] }
        feed.kinds = state.feeds
        feed.intervalSeconds = state.interval.map { Int($0.components.seconds) }
        feed.slowKinds = state.slowKinds.mapValues { Int($0.components.seconds) }
        return feed
    }

    /// After how many seconds of silence a source is stale for a kind of data; nil is all kinds.
    private func staleAfterSeconds(_ feed: FreshnessSettings.Feed?, _ kind: DataKind?) -> Int {
        let seconds =
            feed?.staleAfterSeconds ?? settings.staleAfterSeconds
            ?? max(FreshnessSettings.defaultStaleAfterSeconds, 2 * (feed?.intervalSeconds ?? 0))
        return max(seconds, 2 * (kind.flatMap { feed?.slowKinds[$0] } ?? 0))
    }

    /// Whether a source was last fetched, for a kind of data or at all, too long ago; one that never was is.
    package func isStale(_ id: SourceID, _ kind: DataKind? = nil, fetchedAt: Instant?, at now: Instant) -> Bool {
        guard let fetchedAt, !fetchedAt.isAhead(of: now) else { return true }
        return fetchedAt < now.advanced(by: -staleAfterSeconds(feed(id), kind))
    }

    /// The freshness of what a filter selects of some kinds of data, at the snapshot's time or a later one.
    package func freshness(
        of kinds: Set<DataKind>, of region: GeographicRegion = .everywhere, in snapshot: Snapshot, filter: Filter,
        at now: Instant? = nil
    ) -> Freshness {
        let now = now ?? snapshot.publication.asOf
        let sources = SelectedSources(snapshot.sources.filter { filter.sources?.contains($0.id) ?? true })
        let configured = settings.feeds.keys.filter { filter.sources?.contains($0) ?? true }
        let storedSources = sources.records.filter { feed($0.id)?.kinds.isEmpty ?? ($0.fetchedAt == nil) }
        let stored = Dictionary(
            uniqueKeysWithValues: kinds.map { kind in (kind, storedSources.filter { $0.storedKinds.contains(kind) }) })
        let feeding = Dictionary(
            uniqueKeysWithValues: kinds.map { kind in
                let feeding = self.feeding(kind, configured, sources)
                return (kind, feeding.map { $0.known(at: now) })
            })
        let times = feeding.values.flatMap { $0.map(\.fetchedAt) }
        return Freshness(
            dataTime: times.contains(nil) ? nil : times.compactMap { $0 }.min(),
            // Nothing is known of what has neither a source nor stored data.
            isStale: times.isEmpty && stored.values.allSatisfy(\.isEmpty)
                || feeding.contains { kind, sources in
                    !sources.isEmpty
                        && sources.allSatisfy {
                            kind == .fields
                                ? isOverdue($0, in: snapshot, at: now)
                                : isStale($0.id, kind, fetchedAt: $0.fetchedAt, at: now)
                        }
                },
            // A log holds simulated data alone or none, whatever a filter selects of it.
            isSimulated: snapshot.sources.contains { $0.simulated == true },
            coverage: Dictionary(
                uniqueKeysWithValues: feeding.map { kind, feeding in
                    (
                        kind,
                        kind == .fields
                            ? fieldCoverage(feeding: feeding, sources, in: snapshot, at: now)
                            : coverage(of: kind, feeding: feeding, sources, stored: stored[kind] ?? [], at: now)
                    )
                }),
            lost: sources.records.reduce(into: [:]) { lost, source in
                for (kind, span) in source.lost where kinds.contains(kind) {
                    let known = lost[kind] ?? span
                    lost[kind] =
                        min(known.lowerBound, span.lowerBound)...max(known.upperBound, span.upperBound)
                }
            }, region: region)
    }

    /// The same of pictures of some layers at an instant.
    package func freshness(
        of layers: [Dataset], of region: GeographicRegion = .everywhere, at instant: Instant, in snapshot: Snapshot,
        filter: Filter, now: Instant? = nil
    ) -> Freshness {
        let kinds = lookBack(of: layers, at: instant, filter: filter, in: snapshot).keys
        // Our own polygons have a source name of their own, which no stored source has.
        let filter = layers.contains(.polygons) ? filter.ofOwnPolygons : filter
        return freshness(of: Set(kinds), of: region, in: snapshot, filter: filter, at: now)
    }

    /// A source that feeds a kind of data, and when it was last fetched for it.
    private struct Feeding {
        var id: SourceID
        var fetchedAt: Instant?

        /// Of a fetch that lies ahead nobody knows when it was: the clock was wrong then, or is now.
        func known(at now: Instant) -> Feeding {
            fetchedAt?.isAhead(of: now) == true ? Feeding(id: id, fetchedAt: nil) : self
        }
    }

    private struct SelectedSources {
        var records: [SourceRecord]
        var byID: [SourceID: SourceRecord]

        init(_ records: [SourceRecord]) {
            self.records = records
            byID = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The sources that feed a kind. One that is stopped, or is fetched for it no longer, still feeds it what it has:
    /// that becomes stale.
    private func feeding(_ kind: DataKind, _ configured: [SourceID], _ sources: SelectedSources) -> [Feeding] {
        if settings.feeds.isEmpty {
            return sources.records.compactMap { record in
                // A source that never had a field feeds none.
                guard record.fetchedAt != nil, kind != .fields || record.fetchedKinds[kind] != nil else { return nil }
                return record.fetchedAt(kind).map { Feeding(id: record.id, fetchedAt: $0) }
            }
        }
        return configured.compactMap { id in
            guard let feed = feed(id) else { return nil }
            let record = sources.byID[id]
            if feed.intervalSeconds != nil, feed.kinds.contains(kind) {
                return Feeding(id: id, fetchedAt: record?.fetchedAt(kind))
            }
            return record?.fetchedKinds[kind].map { Feeding(id: id, fetchedAt: $0) }
        }
    }

    /// Whether there is any source or stored data that a kind of data could come from.
    func offers(_ kind: DataKind, in snapshot: Snapshot, filter: Filter) -> Bool {
        freshness(of: [kind], in: snapshot, filter: filter).coverage[kind] != .nothing
    }

    /// Whether a product of a source is late by its own schedule, whenever the source was last asked.
    private func isOverdue(_ source: Feeding, in snapshot: Snapshot, at now: Instant) -> Bool {
        guard let fetchedAt = source.fetchedAt else { return true }
        if let seconds = feed(source.id)?.staleAfterSeconds, fetchedAt < now.advanced(by: -seconds) { return true }
        let newest = snapshot.fieldCoverage.newest[source.id] ?? [:]
        let products = feed(source.id)?.fieldProducts ?? Set(newest.keys)
        return products.isEmpty
            || products.contains { product in
                guard let last = newest[product] else { return true }
                return now.seconds - last.seconds > product.longestSilence
            }
    }

    /// Fields tell by themselves where and when they are: nothing that is fetched besides is shown with them.
    private func fieldCoverage(
        feeding: [Feeding], _ sources: SelectedSources, in snapshot: Snapshot, at now: Instant
    ) -> Coverage {
        let known = snapshot.fieldCoverage.areas.filter { sources.byID[$0.key] != nil }
        guard !known.isEmpty else { return feeding.isEmpty ? .nothing : .unknown }
        return .fetched(
            Coverage.Span(
                storedSince: .distantPast, retainedSince: .distantPast, now: now, looksAhead: true,
                sources: known.values.map {
                    Coverage.Source(since: .distantPast, until: .distantFuture, kind: .fields, areas: $0)
                }))
    }

    private func coverage(
        of kind: DataKind, feeding: [Feeding], _ sources: SelectedSources, stored: [SourceRecord], at now: Instant
    ) -> Coverage {
        let storedSince = stored.compactMap(\.completeSince).max()
        guard !feeding.isEmpty else { return stored.isEmpty ? .nothing : .stored(since: storedSince) }
        var span = Coverage.Span(
            storedSince: storedSince ?? .distantPast,
            retainedSince: now.advanced(by: -frames.retentionSeconds(of: kind)),
            now: now, sources: [])
        for source in feeding {
            guard let fetchedAt = source.fetchedAt, let record = sources.byID[source.id] else { return .unknown }
            // Areas say themselves from when on what is fetched of the past is complete.
            let areasTellAll =
                kind.longestGapSeconds == nil && record.coveredAreas.contains { $0.kind == kind }
            guard let since = areasTellAll ? .distantPast : record.completeSince(kind) else { return .unknown }
            span.sources.append(
                Coverage.Source(
                    since: since, until: fetchedAt.advanced(by: staleAfterSeconds(feed(source.id), kind)),
                    service: feed(source.id)?.service ?? "", kind: kind, areas: record.coveredAreas))
        }
        return .fetched(span)
    }
}
