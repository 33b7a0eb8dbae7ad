import BillowExchange
package import BillowFields
package import BillowSnapshot
import BillowTiles
package import Datasets
package import Geometry
package import Turbulence

/// How fresh, complete and genuine the data of a response is. Every response with data states it, so that old or
/// partial data never looks new and complete.
package struct Freshness: Sendable, Hashable {
    /// The oldest of the sources' last successful fetches; nil without a source, or if any source was never fetched.
    package var dataTime: Instant?
    /// Whether any kind of data shown has no source, or only sources that have been silent for too long.
    package var isStale: Bool
    /// Whether the log's data is simulated.
    package var isSimulated: Bool
    /// The coverage of each kind of data shown.
    var coverage: [FeedKind: Coverage]
    /// The time range of deleted or unreadable data, by kind of data shown.
    var lost: [FeedKind: ClosedRange<Instant>] = [:]

    /// Whether any data up to an instant is lost.
    func hasLost(upTo instant: Instant) -> Bool { lost.values.contains { $0.lowerBound <= instant } }

    /// The region of the response.
    var region: GeographicRegion

    /// The time from which the log has all data shown; nil if that is unknown or unbounded.
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

    /// The start of completeness, or the reason for incompleteness, in words.
    package var sinceWords: String {
        if let completeSince { return "complete since \(completeSince)" }
        return coverage.values.allSatisfy { $0.reaches(region) }
            ? "not known to be complete" : "not all of the area shown is fetched"
    }

    /// The layers that decide whether a frame is complete. They are the shown layers, and layers that look ahead of now
    /// but lack any data. The latter have no frame, and their absence must not look like smooth air.
    ///
    /// - Parameter scene: the layers that have a frame at that instant.
    func layersForFreshness(_ layers: [Dataset], scene: [Dataset]) -> [Dataset] {
        layers.filter { layer in
            if scene.contains(layer) { return true }
            switch layer.content {
            case .areas, .field: return coverage[layer.kind]?.isKnown != true
            case .history, .polygons, .positions: return false
            }
        }
    }

    /// Whether the log lacks data of a frame.
    ///
    /// - Parameter lookBack: the seconds that the frame looks back, by kind of data. Other kinds don't count.
    package func isIncomplete(at instant: Instant, lookBack: [FeedKind: Int]) -> Bool {
        lookBack.contains { kind, seconds in
            let seen = instant.advanced(by: -seconds)...instant
            return !(coverage[kind] ?? .unknown).covers(instant, lookBackSeconds: seconds, region)
                || lost[kind]?.overlaps(seen) == true
        }
    }
}

/// Where and when the log has all data of a kind. Unknown ranges count as not covered.
enum Coverage: Sendable, Hashable {
    /// The kind has no source and no stored data, so nothing is known.
    case nothing
    /// A source was never fetched, or doesn't report a start of completeness.
    case unknown
    /// The data comes only from imports, inbox files and ingest. The log has all of it, except data before an instant
    /// that was deleted, up to `horizon`.
    case stored(since: Instant?, horizon: Instant)
    /// All sources of the kind were fetched.
    case fetched(Span)

    struct Span: Sendable, Hashable {
        /// The time from which the log has all imported and ingested data.
        var storedSince: Instant
        /// The oldest instant with a complete frame under retention. Retention keeps the data before it for the longest
        /// history in addition.
        var retainedSince: Instant
        /// The time of this evaluation: a fetch can't cover later observations.
        var now: Instant
        /// For data that is issued in advance: the last instant that it describes. nil for data that is observed or
        /// computed for its own instant; a source covers it only while its last fetch counts as current.
        var horizon: Instant?
        var sources: [Source]

        /// The sources, grouped by service.
        var services: some Collection<[Source]> { Dictionary(grouping: sources, by: \.service).values }
    }

    /// The coverage of one source.
    struct Source: Sendable, Hashable {
        /// The start of coverage, in all areas.
        var since: Instant
        /// The time until which the last fetch counts as current.
        var until: Instant
        /// The kind of service that it fetches from. Sources of one service have the same data and can replace each
        /// other. Sources of another service have other data.
        var service = ""
        var kind = FeedKind.observations
        /// The areas of its current and earlier queries, of all kinds. A kind without an area covers the world.
        var areas: [CoveredArea] = []
    }

    var isKnown: Bool { self != .unknown && self != .nothing }

    /// Whether every service has a source whose current query includes a region.
    func reaches(_ region: GeographicRegion) -> Bool {
        guard case .fetched(let span) = self else { return true }
        return span.services.allSatisfy { $0.contains { $0.since(in: region, at: span.now) != nil } }
    }

    /// The time from which all of a region is covered; nil if unbounded or unknown.
    func since(in region: GeographicRegion) -> Instant? {
        switch self {
        case .nothing, .unknown: nil
        case .stored(let since, _): since
        case .fetched(let span):
            span.sources.reduce(max(span.storedSince, span.retainedSince)) { since, source in
                max(since, source.since(in: region, at: span.now) ?? since)
            }
        }
    }

    /// Whether the history of a region's frame at an instant is covered. Each service must have a source that covers
    /// the whole region. No source may lack data that it requested there.
    func covers(_ instant: Instant, lookBackSeconds: Int, _ region: GeographicRegion = .everywhere) -> Bool {
        let first = instant.advanced(by: -lookBackSeconds)
        switch self {
        case .nothing, .unknown: return false
        case .stored(let since, let horizon): return first >= since ?? .distantPast && instant <= horizon
        case .fetched(let span):
            guard instant >= span.retainedSince,
                first >= max(span.storedSince, span.retainedSince.advanced(by: -History.sixHours.seconds))
            else { return false }
            if let horizon = span.horizon, instant > horizon { return false }
            // Data that is issued in advance is fetched before it becomes valid.
            let last = span.horizon == nil ? instant : min(instant, span.now)
            return !span.sources.isEmpty
                && span.services.allSatisfy { sources in
                    let shares = sources.map { $0.share(of: region, from: first, to: last) }
                    return shares.contains(.all) && !shares.contains(.lacking)
                }
        }
    }
}

extension Coverage.Source {
    enum RegionCoverage: Sendable, Hashable {
        /// The source covers the whole region.
        case all
        /// The source has everything that it requested there, but did not request the whole region.
        case part
        /// The source lacks data that it requested there.
        case lacking
    }

    func share(of region: GeographicRegion, from first: Instant, to last: Instant) -> RegionCoverage {
        guard areas.contains(where: { $0.kind == kind }) else {
            return first >= since && last <= until ? .all : .lacking
        }
        if areas.contains(where: { holds($0, from: first, to: last) && region.isInside($0.ring) }) { return .all }
        return areas.contains { area in
            area.kind == kind && area.isRequested(at: last) && !holds(area, from: first, to: last)
                && region.touches(area.ring)
        } ? .lacking : .part
    }

    /// The time from which the source covers the region under its current query; nil if the query doesn't include the
    /// region.
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

/// The configuration of freshness.
package struct FreshnessSettings: Sendable {
    /// The configuration of a fetched source.
    package struct FetchedSource: Sendable, Hashable {
        /// The fetched kinds of data. It is empty for a folder, which isn't fetched: its files may be a year apart.
        package var kinds: Set<FeedKind>
        /// The kind of service that it is fetched from.
        package var service: String
        /// The seconds between two scheduled fetches; nil if the schedule is stopped.
        package var intervalSeconds: Int?
        /// The source's own setting.
        package var staleAfterSeconds: Int?
        /// Kinds that are fetched less often, with their intervals in seconds.
        var slowKinds: [FeedKind: Int] = [:]
        /// The field products that the source requests; nil if it delivers all products that it has.
        package var fieldProducts: Set<FieldProduct>?

        package init(
            kinds: Set<FeedKind>, service: String = "", intervalSeconds: Int? = 60, staleAfterSeconds: Int? = nil,
            fieldProducts: Set<FieldProduct>? = nil
        ) {
            self.fieldProducts = fieldProducts
            self.kinds = kinds
            self.service = service
            self.intervalSeconds = intervalSeconds
            self.staleAfterSeconds = staleAfterSeconds
        }
    }

    /// The current requests of a running source, which settings may change at run time.
    package struct Requests: Sendable, Hashable {
        /// The fetched kinds of data.
        var kinds: Set<FeedKind>
        /// The seconds between two scheduled fetches; nil if the schedule is stopped.
        var intervalSeconds: Int?
        /// Kinds that are fetched less often, with their intervals in seconds.
        var slowKinds: [FeedKind: Int]

        package init(kinds: Set<FeedKind>, intervalSeconds: Int?, slowKinds: [FeedKind: Int]) {
            self.kinds = kinds
            self.intervalSeconds = intervalSeconds
            self.slowKinds = slowKinds
        }
    }

    /// The default time of silence before a source is stale. It applies unless the source's interval is more than half
    /// of it.
    package static let defaultStaleAfterSeconds = 300

    /// The setting for sources without their own.
    fileprivate let staleAfterSeconds: Int?
    /// The configured sources. All others are stored data. Without any configured source, every source that was ever
    /// fetched counts.
    fileprivate let feeds: [SourceID: FetchedSource]
    /// Whether the sources are simulated; nil if their responses determine it.
    package var isSimulated: Bool?

    package init(staleAfterSeconds: Int?, feeds: [SourceID: FetchedSource], isSimulated: Bool? = nil) {
        self.staleAfterSeconds = staleAfterSeconds
        self.feeds = feeds
        self.isSimulated = isSimulated
    }

    /// The configured sources.
    package var sources: Set<SourceID> { Set(feeds.keys) }
}

/// Determines the freshness of data from the sources that feed it. It follows the sources' current queries and
/// intervals, which may change at run time. Settings alone determine nothing.
package struct FreshnessPolicy: Sendable {
    private let register: FreshnessRegister
    private let frames: FrameSource
    private let requests: @Sendable (SourceID) -> FreshnessSettings.Requests?

    /// - Parameter requests: the current requests of a source; nil if it isn't running.
    package init(
        _ register: FreshnessRegister, frames: FrameSource,
        requests: @escaping @Sendable (SourceID) -> FreshnessSettings.Requests? = { _ in nil }
    ) {
        self.register = register
        self.frames = frames
        self.requests = requests
    }

    private var settings: FreshnessSettings { register.current }

    private func feed(_ id: SourceID) -> FreshnessSettings.FetchedSource? {
        guard var feed = settings.feeds[id], let requests = requests(id) else { return settings.feeds[id] }
        feed.kinds = requests.kinds
        feed.intervalSeconds = requests.intervalSeconds
        feed.slowKinds = requests.slowKinds
        return feed
    }

    /// The seconds of silence after which a source is stale for a kind of data; nil stands for all kinds.
    private func staleAfterSeconds(_ feed: FreshnessSettings.FetchedSource?, _ kind: FeedKind?) -> Int {
        let seconds =
            feed?.staleAfterSeconds ?? settings.staleAfterSeconds
            ?? max(FreshnessSettings.defaultStaleAfterSeconds, 2 * (feed?.intervalSeconds ?? 0))
        return max(seconds, 2 * (kind.flatMap { feed?.slowKinds[$0] } ?? 0))
    }

    /// Whether the last fetch of a source is too long ago, for a kind of data or for all; true if it was never fetched.
    package func isStale(_ id: SourceID, _ kind: FeedKind? = nil, fetchedAt: Instant?, at now: Instant) -> Bool {
        guard let fetchedAt, !fetchedAt.isAhead(of: now) else { return true }
        return fetchedAt < now.advanced(by: -staleAfterSeconds(feed(id), kind))
    }

    /// The freshness of some kinds of data under a filter, at the snapshot's time or a later one.
    package func freshness(
        of kinds: Set<FeedKind>, of region: GeographicRegion = .everywhere, in snapshot: Snapshot, filter: Filter,
        at now: Instant? = nil
    ) -> Freshness {
        let now = now ?? snapshot.publication.asOf
        let mirrors = snapshot.sources.filter(\.isMirror)
        // The freshness of mirrored data is that of its mirror, whatever part of it is selected.
        let selected = filter.sources.map { names in
            names.union(mirrors.filter { names.contains(where: $0.mirrors) }.map(\.id))
        }
        let sources = SelectedSources(snapshot.sources.filter { selected?.contains($0.id) ?? true })
        let configured = settings.feeds.keys.filter { selected?.contains($0) ?? true }
        let storedSources = sources.records.filter { record in
            !mirrors.contains { $0.mirrors(record.id) } && feed(record.id)?.kinds.isEmpty ?? (record.fetchedAt == nil)
        }
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
            // A kind without a source and without stored data is stale.
            isStale: times.isEmpty && stored.values.allSatisfy(\.isEmpty)
                || feeding.contains { kind, sources in
                    !sources.isEmpty
                        && sources.allSatisfy {
                            kind == .fields
                                ? isOverdue($0, in: snapshot, at: now)
                                : isStale($0.id, kind, fetchedAt: $0.confirmedAt, at: now)
                        }
                },
            // The log's data is either all simulated or all real, whatever the filter selects.
            isSimulated: snapshot.sources.contains { $0.simulated == true },
            coverage: Dictionary(
                uniqueKeysWithValues: feeding.map { kind, feeding in
                    (
                        kind,
                        kind == .fields
                            ? fieldCoverage(feeding: feeding, sources, in: snapshot, at: now)
                            : coverage(
                                of: kind, feeding: feeding, sources, stored: stored[kind] ?? [], in: snapshot, at: now)
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

    /// The freshness of frames of some layers at an instant.
    package func freshness(
        of layers: [Dataset], of region: GeographicRegion = .everywhere, at instant: Instant, in snapshot: Snapshot,
        filter: Filter, now: Instant? = nil
    ) -> Freshness {
        let kinds = lookBack(of: layers, at: instant, filter: filter, in: snapshot).keys
        // The source name of Billow's own polygons is not among the stored sources.
        let filter = layers.contains(where: \.isPolygons) ? filter.ofOwnPolygons : filter
        return freshness(of: Set(kinds), of: region, in: snapshot, filter: filter, at: now)
    }

    /// A source of a kind of data, and the time of its last fetch for that kind.
    private struct FetchRecord {
        var id: SourceID
        var fetchedAt: Instant?
        /// The last time at which the data was known to be current, from which silence counts.
        var confirmedAt: Instant?

        init(id: SourceID, fetchedAt: Instant?, confirmedAt: Instant?) {
            self.id = id
            self.fetchedAt = fetchedAt
            self.confirmedAt = confirmedAt
        }

        /// The fetches of a kind of data; of a source without a record, none.
        init(_ id: SourceID, _ record: SourceRecord?, _ kind: FeedKind) {
            self.init(id: id, fetchedAt: record?.fetchedAt(kind), confirmedAt: record?.confirmedAt(kind))
        }

        /// A fetch time in the future is treated as unknown, because the clock was wrong then or is now.
        func known(at now: Instant) -> FetchRecord {
            fetchedAt?.isAhead(of: now) == true || confirmedAt?.isAhead(of: now) == true
                ? FetchRecord(id: id, fetchedAt: nil, confirmedAt: nil) : self
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

    /// The sources of a kind of data. A source that is stopped, or no longer fetched for the kind, still counts with
    /// its stored data, which becomes stale.
    private func feeding(_ kind: FeedKind, _ configured: [SourceID], _ sources: SelectedSources) -> [FetchRecord] {
        if settings.feeds.isEmpty {
            return sources.records.compactMap { record in
                // A source that never delivered a field is no source of fields.
                guard record.fetchedAt != nil, kind != .fields || record.fetchedKinds[kind] != nil else { return nil }
                return record.fetchedAt(kind).map { _ in FetchRecord(record.id, record, kind) }
            }
        }
        return configured.compactMap { id in
            guard let feed = feed(id) else { return nil }
            let record = sources.byID[id]
            if feed.intervalSeconds != nil, feed.kinds.contains(kind) {
                return FetchRecord(id, record, kind)
            }
            return record?.fetchedKinds[kind].map { _ in FetchRecord(id, record, kind) }
        }
    }

    /// The names of the sources of some kinds of data, both fetched and stored.
    package func sourceNames(of kinds: Set<FeedKind>, in snapshot: Snapshot) -> [String] {
        let sources = SelectedSources(snapshot.sources)
        let fed = kinds.flatMap { feeding($0, Array(settings.feeds.keys), sources).map(\.id) }
        let stored = snapshot.sources.filter { !kinds.isDisjoint(with: $0.storedKinds) }.map(\.id)
        return Set(fed + stored).map(\.name).sorted()
    }

    /// Whether a kind of data has any source or stored data.
    func offers(_ kind: FeedKind, in snapshot: Snapshot, filter: Filter) -> Bool {
        freshness(of: [kind], in: snapshot, filter: filter).coverage[kind] != .nothing
    }

    /// Whether a product of a source is late by its own schedule, regardless of the last fetch.
    private func isOverdue(_ source: FetchRecord, in snapshot: Snapshot, at now: Instant) -> Bool {
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

    /// The coverage of fields, which each field states itself. Fetch times and areas of queries don't matter.
    private func fieldCoverage(
        feeding: [FetchRecord], _ sources: SelectedSources, in snapshot: Snapshot, at now: Instant
    ) -> Coverage {
        let known = snapshot.fieldCoverage.areas.filter { sources.byID[$0.key] != nil }
        guard !known.isEmpty else { return feeding.isEmpty ? .nothing : .unknown }
        return .fetched(
            Coverage.Span(
                storedSince: .distantPast, retainedSince: .distantPast, now: now,
                sources: known.values.map {
                    Coverage.Source(since: .distantPast, until: .distantFuture, kind: .fields, areas: $0)
                }))
    }

    private func coverage(
        of kind: FeedKind, feeding: [FetchRecord], _ sources: SelectedSources, stored: [SourceRecord],
        in snapshot: Snapshot, at now: Instant
    ) -> Coverage {
        let storedSince = stored.compactMap(\.completeSince).max()
        let issuedUntil = issuedUntil(kind, in: snapshot, at: now)
        guard !feeding.isEmpty else {
            let horizon = issuedUntil ?? now.advanced(by: Self.aheadSeconds)
            return stored.isEmpty ? .nothing : .stored(since: storedSince, horizon: horizon)
        }
        var span = Coverage.Span(
            storedSince: storedSince ?? .distantPast,
            retainedSince: now.advanced(by: -frames.lifetimes.retentionSeconds(of: kind)),
            now: now, horizon: issuedUntil, sources: [])
        for source in feeding {
            guard source.fetchedAt != nil, let confirmedAt = source.confirmedAt,
                let record = sources.byID[source.id]
            else { return .unknown }
            // The areas of the query record since when fetched data of the past is complete.
            let areasTellAll =
                kind.longestGapSeconds == nil && record.coveredAreas.contains { $0.kind == kind }
            guard let since = areasTellAll ? .distantPast : record.completeSince(kind) else { return .unknown }
            span.sources.append(
                Coverage.Source(
                    since: since, until: confirmedAt.advanced(by: staleAfterSeconds(feed(source.id), kind)),
                    service: feed(source.id)?.service ?? "", kind: kind, areas: record.coveredAreas))
        }
        return .fetched(span)
    }

    /// The seconds by which frames of the present may be ahead of the publication.
    private static let aheadSeconds = 60

    /// The last instant at which any issued area of a kind is valid, or the present; nil for data that isn't issued.
    private func issuedUntil(_ kind: FeedKind, in snapshot: Snapshot, at now: Instant) -> Instant? {
        let collections: [IssuedArea.DatasetNumber] = Catalogue.layers.compactMap { layer in
            guard layer.kind == kind, case .areas(let collection) = layer.content else { return nil }
            return collection
        }
        guard !collections.isEmpty else { return nil }
        return collections.compactMap { snapshot.areas.ends[$0] }.reduce(now.advanced(by: Self.aheadSeconds), max)
    }
}
