package import BillowStore
package import Datasets
import Geometry
package import Turbulence
import UpstreamKit

/// Mirrors datasets of another Billow server, or the part of them in a box.
///
/// The first round requests everything, later ones what changed since the server's cursor. The copy has the server's
/// ids. Data of its source `name` has the source `{id}.{name}` here, so that no data of this server is mixed with it.
/// What the server says about freshness and completeness applies to the copy too.
package struct BillowUpstream: Upstream {
    package let id: SourceID
    package static let kind = "billow"
    package var kind: String { Self.kind }
    package let merge = MergeRule.keep
    package let simulated: Bool?
    package let events: (any UpstreamEvents)?
    private let server: any MirroredServer
    private let datasets: [Dataset]
    private let store: any Store
    private let retentionSeconds: Int
    /// The most observations of one transaction.
    var batchSize = 10_000

    /// The time until everything is requested again after features that couldn't be used.
    private static let recheckSeconds = 3_600
    /// Observations further in the future than this are rejected, because a clock is wrong.
    private static let futureSeconds = Instant.clockToleranceSeconds
    /// A server publishes at least once a minute. A snapshot of this age is not older than the response.
    private static let publicationSeconds = 90
    /// The keys of the stored values: the names of the logs that the server has, and this server's own name as a
    /// mirror. A log gets another name when data is deleted, but that name never changes.
    private static let (logsName, ownName) = ("logs", "server")

    /// - Parameters:
    ///   - datasets: those of `Catalogue.mirrored` to mirror.
    ///   - events: the server's events, each of which causes a round; nil without.
    package init(
        id: SourceID, server: any MirroredServer, datasets: [Dataset] = Catalogue.mirrored,
        events: (any UpstreamEvents)? = nil, simulated: Bool?, store: any Store, retentionSeconds: Int
    ) {
        self.id = id
        self.server = server
        self.datasets = datasets
        self.events = events
        self.simulated = simulated
        self.store = store
        self.retentionSeconds = retentionSeconds
    }

    package var feeds: Set<FeedKind> { Set(datasets.map(\.kind)) }
    package var collections: [String] {
        Catalogue.all.filter { datasets.contains($0) || $0.areas == nil && feeds.contains($0.kind) }.map(\.id)
    }
    package var credential: String? { server.configuration.apiKey?.fingerprint }

    /// What a server that mirrors another one says of itself, by the stored values of the source: its own name as a
    /// mirror, and the logs that the other one has.
    package static func mirroredLogs(_ values: [String: String]) -> [String] {
        [values[ownName]].compactMap(\.self) + (values[logsName]?.split(separator: " ").map(String.init) ?? [])
    }

    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {
        guard try await known(in: store) != nil else { return }
        let cursors = Dictionary(uniqueKeysWithValues: datasets.map { ($0.id, String?.none) })
        _ = try await stored { () async throws(StoreError) in
            try await store.commit(Batch(source: id, cursors: cursors))
        }
    }

    // MARK: - A round

    package func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        do throws(SyncError) { try await round(now, &outcome) } catch { throw error.after(outcome) }
        return outcome
    }

    private func round(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let (own, name) = try await ownNames()
        var failure: SyncError?
        var isAnswered = false
        for dataset in datasets {
            if Task.isCancelled { throw .cancelled }
            do throws(SyncError) {
                let isLast = dataset == datasets.last && failure == nil
                try await mirror(dataset, own: own, name: name, isLast: isLast, now, &outcome)
                isAnswered = true
            } catch {
                // The failure of one dataset does not affect the others.
                guard error.isAboutOneProduct else { throw error }
                failure = failure ?? error
            }
        }
        outcome.wasAnswered = isAnswered
        if let failure { throw failure.besides(answered: isAnswered) }
    }

    private func mirror(
        _ dataset: Dataset, own: Set<String>, name: String, isLast: Bool, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let held = try await held(dataset, at: now)
        let cursor = held.flatMap { held in held.recheckAt.map { $0 <= now } ?? false ? nil : held.token }
        let answer: MirrorAnswer
        do throws(UpstreamError) { answer = try await server.changes(of: dataset, since: cursor) } catch {
            throw SyncError(error)
        }
        guard own.isDisjoint(with: answer.logs) else {
            throw SyncError(
                kind: .refused, code: .upstream(.configurationInvalid),
                message: "\(server.configuration.baseURL) is this server, or mirrors it: nothing was stored",
                isReachable: true)
        }
        guard answer.isFull || cursor != nil && answer.since == cursor else {
            throw SyncError(.unreadable(.undecodable("changes since a cursor that was not sent")))
        }
        try await register(
            in: store, answerIsSimulated: answer.isSimulated, from: server.configuration.baseURL)
        var copy = MirroredCopy(answer, of: dataset, into: id)
        copy.limit(from: now.advanced(by: -retentionSeconds), to: now.advanced(by: Self.futureSeconds))
        var use = RecordCounts()
        use.add(used: copy.count, unusable: copy.unusable)
        if answer.isFull { try use.check() }
        outcome.skipped.merge(copy.skipped, uniquingKeysWith: +)
        let sources = try await register(copy, isSimulated: simulated ?? answer.isSimulated)
        let record = try await known(in: store)
        let state = MirrorState(
            answer, of: dataset, after: held, lacks: !copy.unusable.isEmpty, query: identity(of: dataset), now: now,
            recheckSeconds: Self.recheckSeconds)
        var last = Batch(
            source: id,
            coverage: state.coverage(
                of: dataset.kind, rings: server.configuration.rings,
                isFirst: record?.coveredAreas.contains { $0.kind == dataset.kind } != true),
            cursors: [dataset.id: state.cursor.text],
            values: [Self.logsName: answer.logs.joined(separator: " "), Self.ownName: name],
            fetchedAt: isLast ? now : nil, fetchedKinds: fetched(dataset.kind, answer, now))
        last.mirror = MirrorChange(sources: sources, content: .none)
        try await write(copy, at: answer.time, last, &outcome)
    }

    /// The names by which this server would find itself in a loop of mirrors, and the one of this source.
    private func ownNames() async throws(SyncError) -> (all: Set<String>, name: String) {
        var name: String?
        var all: Set = [try await stored { () async throws(StoreError) in try await store.head().log }]
        let sources = try await stored { () async throws(StoreError) in try await store.sources() }
        for source in sources where source.isMirror {
            let values = try await stored { () async throws(StoreError) in try await store.values(of: source.id) }
            guard let known = values[Self.ownName] else { continue }
            all.insert(known)
            if source.id == id { name = known }
        }
        return (all, name ?? String(UInt64.random(in: .min ... .max), radix: 16))
    }

    /// The stored state of the copy of a dataset; nil if everything must be requested.
    private func held(_ dataset: Dataset, at now: Instant) async throws(SyncError) -> MirrorCursor? {
        guard try await known(in: store) != nil else { return nil }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        guard let held = cursors[dataset.id].flatMap(MirrorCursor.init(text:)), held.query == identity(of: dataset),
            !held.fetchedAt.isAhead(of: now)
        else { return nil }
        return held
    }

    private func identity(of dataset: Dataset) -> String {
        server.configuration.baseURL + server.configuration.path(of: dataset)
    }

    /// Registers the sources of a copy with the rules by which their values supersede each other.
    /// - Returns: all sources that hold data of the server.
    private func register(_ copy: MirroredCopy, isSimulated: Bool) async throws(SyncError) -> Set<SourceID> {
        let known = try await stored { () async throws(StoreError) in try await store.sources() }
        let prefix = id.name + "."
        var sources = Set(known.map(\.id).filter { $0.name.hasPrefix(prefix) })
        for (source, rule) in copy.rules.sorted(by: { $0.key < $1.key }) {
            sources.insert(source)
            if known.contains(where: { $0.id == source && $0.merge == rule && $0.simulated == isSimulated }) {
                continue
            }
            _ = try await stored { () async throws(StoreError) in
                try await store.register(source, merge: rule, simulated: isSimulated)
            }
        }
        return sources
    }

    /// The time of the server's data, and the time at which the server said that it is current.
    private func fetched(_ kind: FeedKind, _ answer: MirrorAnswer, _ now: Instant) -> [FeedKind: Instant] {
        let isRecent = answer.time >= now.advanced(by: -Self.publicationSeconds)
        let confirmed = answer.isStale ? .distantPast : isRecent ? now : answer.time
        var times = [kind.confirmation: confirmed]
        // Data that was sent to the server has no time of its own.
        if let dataTime = answer.dataTime ?? (answer.isStale ? nil : answer.time) { times[kind] = min(dataTime, now) }
        return times
    }

    /// Writes a copy in transactions of bounded size. The last one also closes what is gone, and has the cursor.
    private func write(
        _ copy: MirroredCopy, at time: Instant, _ last: Batch, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let sources = last.mirror?.sources ?? []
        var (rest, ids) = (copy.bySizeOfBatches(batchSize), Set<String>())
        let final = rest.popLast() ?? []
        for observations in rest {
            if Task.isCancelled { throw .cancelled }
            var part = Batch(source: id, observations: observations)
            part.mirror = MirrorChange(sources: sources, content: copy.content(of: observations, at: time))
            try await commit(part, &outcome)
            ids.formUnion(observations.compactMap(\.id))
        }
        var last = last
        last.observations = final
        last.mirror = MirrorChange(sources: sources, content: copy.content(at: time, except: ids))
        last.pilotReports = copy.reports
        last.areas = copy.areas
        try await commit(last, &outcome)
    }

    private func commit(_ batch: Batch, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let result = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        outcome.accepted += result.accepted + result.pilotReports + result.areas
        outcome.duplicates += result.duplicates
        outcome.retracted += result.retracted
    }
}
