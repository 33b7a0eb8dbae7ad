import BillowEngine
import BillowSnapshot
import BillowStore
import BillowSync
import Datasets
import Foundation
import Turbulence

/// All metrics of a server: counters and current values.
struct MetricsSource: Sendable {
    let registry: MetricRegistry
    let build: String
    let started: Instant
    let now: @Sendable () -> Instant
    let readiness: Readiness
    let connections: ConnectionTable
    let events: EventHub
    let work: WorkExecutor
    let budget: CacheBudget
    let responses: ResponseBudget
    /// The bytes of the sprites of small cells.
    let spriteBytes: @Sendable () -> Int
    let caches: @Sendable () -> [(name: String, statistics: CacheStatistics)]
    let publisher: SnapshotPublisher
    let policy: FreshnessPolicy
    let sources: SourceStatus
    let loops: SourceLoops
    let sizes: StoreSizes
    let jobs: ExportJobs
    let backups: BackupStatus?
    let certificates: TLSCertificates?
    let fleet: FleetRole?

    func exposition() async -> Exposition {
        var exposition = Exposition()
        let snapshot = publisher.snapshot
        addProcess(to: &exposition)
        addMemory(snapshot, to: &exposition)
        addRequests(to: &exposition)
        addWork(to: &exposition)
        addExportJobs(to: &exposition)
        addCaches(to: &exposition)
        let now = now()
        addData(snapshot, at: now, to: &exposition)
        addSources(snapshot, at: now, to: &exposition)
        addStore(await sizes.size(at: now), to: &exposition)
        backups?.add(to: &exposition)
        return exposition
    }

    private func addProcess(to exposition: inout Exposition) {
        exposition.add(.build, [(labels: [build], value: 1)])
        exposition.add(.startTime, started.seconds)
        exposition.add(.residentMemory, ProcessFacts.residentBytes)
        exposition.add(.descriptors, FileDescriptors.used())
        exposition.add(.draining, readiness.isDraining)
        exposition.add(.traceSpans, from: registry)
        if let fleet { exposition.add(.syncLeader, fleet.isLeading()) }
    }

    /// The parts that grow with data and requests. The others are code, connections, and running work.
    private func addMemory(_ snapshot: Snapshot?, to exposition: inout Exposition) {
        let parts = [
            ("live", snapshot?.window.byteCount ?? 0), ("caches", budget.usedBytes),
            ("sprites", spriteBytes()), ("responses", responses.bytes),
        ]
        exposition.add(.memory, parts.map { (labels: [$0], value: Double($1)) })
    }

    private func addRequests(to exposition: inout Exposition) {
        exposition.add(.requests, from: registry)
        exposition.add(.requestDuration, from: registry)
        exposition.add(.requestsInFlight, readiness.inFlight)
        exposition.add(.connections, connections.count)
        exposition.add(.connectionLimit, connections.settings.maximum)
        exposition.add(.certificateEnd, certificates?.expires.seconds)
        exposition.add(.rateLimited, from: registry)
        exposition.add(.listeners, events.listeners)
        exposition.add(.listenerLimit, events.maximumListeners)
        exposition.add(.renderDuration, from: registry)
    }

    private func addWork(to exposition: inout Exposition) {
        let all = WorkClass.allCases.map { ($0, work.statistics($0)) }
        func samples(_ value: (WorkClass, WorkStatistics) -> Int) -> [(labels: [String], value: Double)] {
            all.map { (labels: [$0.rawValue], value: Double(value($0, $1))) }
        }
        exposition.add(.workRunning, samples { $1.running })
        exposition.add(.workWaiting, samples { $1.waiting })
        exposition.add(.workQueueLimit, samples { workClass, _ in work.limits(workClass).queue })
        exposition.add(.workRefused, samples { $1.refused })
    }

    private func addExportJobs(to exposition: inout Exposition) {
        func samples(_ counts: [ExportJob.Status: Int], _ statuses: [ExportJob.Status]) -> [(
            labels: [String], value: Double
        )] {
            statuses.map { (labels: [$0.rawValue], value: Double(counts[$0, default: 0])) }
        }
        exposition.add(.exportJobs, samples(jobs.counts, [.accepted, .running, .successful, .failed]))
        exposition.add(.exportJobsEnded, samples(jobs.outcomes, [.successful, .failed, .dismissed]))
        exposition.add(.exportJobBytes, jobs.bytes)
    }

    private func addCaches(to exposition: inout Exposition) {
        let all = caches()
        func samples(_ value: (CacheStatistics) -> Int) -> [(labels: [String], value: Double)] {
            all.map { (labels: [$0.name], value: Double(value($0.statistics))) }
        }
        exposition.add(.cacheHits, samples { $0.hits })
        exposition.add(.cacheMisses, samples { $0.misses })
        exposition.add(.cacheEntries, samples { $0.entries })
        exposition.add(.cacheBytes, samples { $0.bytes })
        exposition.add(.cacheBudgetUsed, budget.usedBytes)
        exposition.add(.cacheBudget, budget.bytes)
    }

    private func addData(_ snapshot: Snapshot?, at now: Instant, to exposition: inout Exposition) {
        exposition.add(.version, (snapshot?.publication.version.rawValue).map { Int($0) })
        exposition.add(.publications, Int(publisher.generation))
        exposition.add(.publicationTime, snapshot?.publication.asOf.seconds)
        exposition.add(.liveObservations, snapshot?.window.count)
        guard let snapshot else { return }
        let layers = Catalogue.layers.map { layer in
            (layer.id, policy.freshness(of: [layer], at: now, in: snapshot, filter: Filter(), now: now))
        }
        exposition.add(.layerStale, layers.map { (labels: [$0], value: $1.isStale ? 1 : 0) })
        exposition.add(
            .layerAge,
            layers.compactMap { id, freshness in
                freshness.dataTime.map { (labels: [id], value: Double(now.seconds - $0.seconds)) }
            })
    }

    // MARK: - Sources

    /// The maximum number of reasons with their own label. These are names in the code; files may contain others.
    private static let maximumReasons = 32

    /// Configured sources only, because clients choose the names of others.
    private func addSources(_ snapshot: Snapshot?, at now: Instant, to exposition: inout Exposition) {
        let all = sources.all(snapshot, at: now).filter { $0.update != nil }
        func samples(_ value: (SourceStatus.Source) -> Int?) -> [(labels: [String], value: Double)] {
            all.compactMap { source in value(source).map { (labels: [source.id], value: Double($0)) } }
        }
        exposition.add(.sourceReachable, samples { $0.reachable.map { $0 ? 1 : 0 } })
        exposition.add(.sourceKeyAccepted, samples { $0.session.map { $0 ? 1 : 0 } })
        exposition.add(.sourceStale, samples { $0.stale ? 1 : 0 })
        exposition.add(.sourceAge, samples(\.ageSeconds))
        exposition.add(.sourceLag, samples(\.lagSeconds))
        exposition.add(.sourceFailures, samples(\.consecutiveFailures))
        let rounds = sources.states.all.flatMap { state in
            [
                (labels: [state.id.name, "ok"], value: Double(state.areas.values.reduce(0) { $0 + $1.successes })),
                (labels: [state.id.name, "failed"], value: Double(state.areas.values.reduce(0) { $0 + $1.failures })),
            ]
        }
        exposition.add(.sourceRounds, rounds)
        exposition.add(
            .sourceRecords,
            all.flatMap { source in
                [
                    ("accepted", source.counts.accepted), ("duplicate", source.counts.duplicates),
                    ("retracted", source.counts.retracted),
                ].map { (labels: [source.id, $0.0], value: Double($0.1)) }
            })
        exposition.add(.sourceSkipped, all.flatMap { Self.reasons($0.id, $0.kind, $0.counts.skipped) })
        exposition.add(.sourceAdjusted, all.flatMap { Self.reasons($0.id, $0.kind, $0.counts.adjusted) })
        let received = sources.states.all.compactMap { state in
            loops[state.id].map { (labels: [state.id.name], value: Double($0.receivedBytes)) }
        }
        exposition.add(.sourceReceived, received)
        exposition.add(.sourceListening, samples { $0.listening.map { $0 ? 1 : 0 } })
        exposition.add(.sourceEventRounds, samples(\.counts.eventRounds))
    }

    /// A source's counts by reason. Reasons of records in files share a label. The upstream's own text after a colon is
    /// left out.
    private static func reasons(_ source: String, _ kind: String, _ counts: [String: Int]) -> [(
        labels: [String], value: Double
    )] {
        guard !counts.isEmpty else { return [] }
        let byWords = Dictionary(
            counts.map { reason, count in (String(reason.prefix { $0 != ":" }), count) }, uniquingKeysWith: +)
        let sorted = byWords.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = kind == InboxUpstream.kind ? [] : sorted.prefix(maximumReasons)
        let rest = sorted.dropFirst(shown.count).reduce(0) { $0 + $1.value }
        return shown.map { (labels: [source, $0.key], value: Double($0.value)) }
            + (rest > 0 ? [(labels: [source, "other"], value: Double(rest))] : [])
    }

    // MARK: - Store

    private func addStore(_ size: StoreSize?, to exposition: inout Exposition) {
        exposition.add(.storeFailing, publisher.storeFailure != nil)
        exposition.add(
            .storeDamaged, publisher.damage.map { (labels: [$0.table.rawValue], value: Double($0.rows)) })
        guard let size else { return }
        exposition.add(
            .storeBytes,
            [(labels: ["main"], value: Double(size.bytes)), (labels: ["log"], value: Double(size.logBytes))])
        exposition.add(.storeFree, size.freeBytes)
        exposition.add(
            .storeRows,
            size.rows.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                (labels: [$0.key.rawValue], value: Double($0.value))
            })
    }
}

/// The size of the store. Rows are counted every ten minutes at most, because counting reads an index of each table.
actor StoreSizes {
    private static let pauseSeconds = 600

    private let store: any Store
    private var rows: [StoredTable: Int] = [:]
    private var countedAt: Instant?

    init(store: any Store) { self.store = store }

    /// nil if the store can't be read, or has no size.
    func size(at now: Instant) async -> StoreSize? {
        let counts = countedAt.map { now.seconds - $0.seconds >= Self.pauseSeconds || now < $0 } ?? true
        if counts { countedAt = now }
        // Another metric reports a failing store.
        guard var size = try? await store.size(counting: counts) else { return nil }
        if counts { rows = size.rows } else { size.rows = rows }
        return size
    }
}

/// The operating system's figures about this process.
enum ProcessFacts {
    /// nil if the system does not report it.
    ///
    /// Source: proc(5), /proc/pid/statm
    static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
    }
}
