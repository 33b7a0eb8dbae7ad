import BillowFields
package import BillowSnapshot
package import BillowStore
package import Logging
import ServiceLifecycle
import SpanKit
import Synchronization
package import Turbulence

/// Holds the current snapshot. It polls the store's head a few times a second, loads the changes and swaps the snapshot
/// whole. It also publishes once a minute, because frames age without new data.
///
/// The writer doesn't matter: this process's own sync, a concurrent import, or another server.
package final class SnapshotPublisher: Service {
    /// The length of the live window: the longest history, the default timeline and half an hour for trends.
    package static let liveSeconds = 9 * 3_600
    private static let pollInterval = Duration.milliseconds(250)

    private let store: any Store
    private let liveSeconds: Int
    private let severityTable: SeverityTable
    /// How long data is stored and shown, which every snapshot says.
    package let lifetimes: DataLifetimes
    /// The clock that decides when to publish.
    package let now: @Sendable () -> Instant
    private let logger: Logger
    private let channel = PublicationChannel()
    private let pausing = Mutex(Pausing())
    private let rounds = Mutex(Rounds())
    private let failure: Mutex<StoreError?> = Mutex(nil)
    /// The tables whose damage is already logged.
    private let loggedDamage: Mutex<Set<StoredTable>> = Mutex([])

    /// - Parameter liveSeconds: the length of the live window, rounded up to whole hours. Commands that read rows from
    ///   the store use less than the default; 0 gives a window of less than a minute.
    package init(
        store: any Store, lifetimes: DataLifetimes, severityTable: SeverityTable,
        liveSeconds: Int = SnapshotPublisher.liveSeconds, now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        self.store = store
        self.liveSeconds = liveSeconds
        self.severityTable = severityTable
        self.lifetimes = lifetimes
        self.now = now
        self.logger = logger
    }

    /// The current snapshot; nil until the store has been read for the first time.
    package var snapshot: Snapshot? { channel.snapshot }

    /// The number of snapshots since the start. It changes with the snapshot: a reader of a snapshot never sees the
    /// generation before it. So an answer that was made in one generation shows that generation's snapshot.
    package var generation: UInt64 { channel.generation }

    /// The current snapshot, and then the newest after each publication; `publications.withChanges` for consumers that
    /// must not miss a change (docs/architecture/decisions/0015-publisher-polls-the-head.md).
    package var publications: Publications { Publications(channel) }

    /// The number of consumers of `publications` that wait for the next one.
    var waitingConsumers: Int { channel.waiting }

    /// The reason why the store is unreadable at present; nil while it is readable.
    package var storeFailure: StoreError? { failure.withLock { $0 } }

    /// The known damage of the store.
    package var damage: [StoredDamage] { store.damage }

    private struct Pausing {
        var isWoken = false
        var nap: Task<Void, Never>?
    }

    /// The reads of the store that `run` has begun and finished.
    private struct Rounds {
        var begun = 0
        var finished = 0
    }

    /// The longest wait for a read.
    private static let longestWait = Duration.seconds(2)

    /// Waits until the store was read again, for a request that names a version of another server on the same database.
    /// All requests of a moment wait for the same read. Without a running service it returns at once.
    package func readAgain() async {
        let next = rounds.withLock { $0.begun + 1 }
        guard next > 1 else { return }
        wake()
        let deadline = ContinuousClock.now + Self.longestWait
        while rounds.withLock({ $0.finished }) < next, ContinuousClock.now < deadline, !Task.isCancelled {
            // The only error is a cancellation, which ends the wait.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Publishes until the service group shuts down.
    package func run() async {
        defer { channel.finish() }
        while !ServicePause.hasEnded {
            let round = rounds.withLock { rounds in
                rounds.begun += 1
                return rounds.begun
            }
            do throws(StoreError) {
                try await refresh()
                recovered()
            } catch {
                // A cancelled read is no failure.
                if Task.isCancelled { return }
                failed(error)
                age()
            }
            rounds.withLock { $0.finished = round }
            logDamage()
            await cancelWhenGracefulShutdown { await self.pause() }
        }
    }

    /// Ends the pause early, because this process has written to the store.
    package func wake() {
        pausing.withLock { state in
            state.isWoken = true
            state.nap?.cancel()
        }
    }

    /// Pauses until the next poll or `wake`. A `wake` since the last pause ends it at once.
    private func pause() async {
        // The only error is a cancellation, which ends the sleep early.
        let nap = Task { () -> Void in try? await Task.sleep(for: Self.pollInterval) }
        pausing.withLock { state in
            state.nap = nap
            if state.isWoken { nap.cancel() }
        }
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        pausing.withLock { $0 = Pausing() }
    }

    /// Loads changes from the store, and publishes if there are any or a new minute has begun.
    package func refresh() async throws(StoreError) {
        let now = now()
        guard let snapshot else { return try await loadAll(asOf: now) }
        // A clock that was ahead has dropped hours that are live again after its correction.
        guard liveFrom(now) >= snapshot.liveFrom else { return try await loadAll(asOf: now) }
        let state = try await store.state()
        // Rows were deleted, which a delta doesn't include.
        guard state.head.log == snapshot.log else { return try await loadAll(asOf: now) }
        if state.head.version != snapshot.publication.version {
            do throws(StoreError) {
                try await traced("changes") { () throws(StoreError) in try await update(snapshot, asOf: now) }
            } catch {
                // A delta needs the indices. If one is unreadable, the rows may still be readable.
                guard case .corrupt = error else { throw error }
                try await loadAll(asOf: now)
            }
        } else if now.floored(toMultipleOf: 60) != snapshot.publication.asOf.floored(toMultipleOf: 60) {
            republish(snapshot, state, asOf: now)
        } else {
            noteFetches(snapshot, state)
        }
    }

    private func loadAll(asOf now: Instant) async throws(StoreError) {
        try await traced("everything") { () throws(StoreError) in try await load(asOf: now) }
    }

    /// Records a publication as a span.
    /// - Parameter reads: what it reads from the store.
    private func traced(_ reads: String, _ publish: () async throws(StoreError) -> Void) async throws(StoreError) {
        try await Spans.span("publish snapshot") { span async throws(StoreError) in
            span.set("billow.reads", reads)
            try await publish()
            span.set("billow.version", snapshot?.publication.version.rawValue)
        }
    }

    /// Publishes new fetch times with the same data: a fetch without new data raises no version.
    private func noteFetches(_ old: Snapshot, _ state: LogState) {
        guard state.sources != old.sources || state.extent != old.logExtent else { return }
        publish(
            Snapshot(
                publication: old.publication, log: old.log, window: old.window, liveFrom: old.liveFrom,
                sources: state.sources, extent: state.extent, lifetimes: lifetimes, severityTable: severityTable,
                reports: old.reports, areas: old.areas, traffic: old.traffic, versions: old.versions,
                frameVersions: old.frameVersions
            ).with(old.fields, on: old.fieldGrids, after: old),
            Changes(head: state.head, sources: state.sources, extent: state.extent))
    }

    private func load(asOf now: Instant) async throws(StoreError) {
        let liveFrom = liveFrom(now)
        // All reads use this head, regardless of concurrent commits.
        let state = try await store.state()
        let head = state.head
        let parts = try await windowParts(from: liveFrom, to: now, asOf: head.version)
        let reports = try await store.pilotReports(from: liveFrom, to: .distantFuture, asOf: head.version)
        let areas = try await store.areas(nil, from: liveFrom, to: .distantFuture, asOf: head.version)
        let positions = try await store.positions(
            from: now.advanced(by: -Traffic.retentionSeconds), to: .distantFuture, asOf: head.version)
        let fields: StoredFields
        // A deletion happened during the load; the next poll reloads.
        do throws(StoreError) { fields = try await store.fields(asOf: head.version) } catch {
            guard case .deleted = error else { throw error }
            return
        }
        let changed = try await store.changedTimes(since: .zero, from: liveFrom)
        var frameVersions = FrameVersions(from: liveFrom)
        frameVersions.update(changed, upTo: head.version)
        // After a concurrent deletion, rows may be missing; the next poll reloads.
        let after = try await store.state()
        guard after.head.log == head.log else { return }
        // Damage is known only after the read; it marks the sources as incomplete.
        let sources = store.damage.isEmpty ? state.sources : after.sources
        publish(
            Snapshot(
                publication: Publication(version: head.version, asOf: now), log: head.log,
                window: Window(joining: parts, sources: sources), liveFrom: liveFrom, sources: sources,
                extent: state.extent, lifetimes: lifetimes, severityTable: severityTable, reports: reports,
                areas: AreaWindow(areas),
                traffic: Traffic(positions, asOf: now), frameVersions: frameVersions
            ).with(fields.index, on: fields.grids, after: self.snapshot), nil)
    }

    /// The seconds of a part of the window, and the number of parts that are read concurrently. Rows need more memory
    /// than the columns built from them, so that the rows of an hour exist at a time.
    private static let partSeconds = 1_800
    private static let concurrentParts = 2

    /// Reads the live rows in parts, from the oldest on.
    private func windowParts(
        from liveFrom: Instant, to now: Instant, asOf version: Version
    ) async throws(StoreError) -> [Window] {
        var starts = stride(
            from: liveFrom.seconds, through: max(now, liveFrom).seconds, by: Self.partSeconds
        ).makeIterator()
        let result = await withTaskGroup(of: Result<Window, StoreError>.self) { [store] group in
            func readNext() {
                guard let start = starts.next() else { return }
                let end = start + Self.partSeconds
                group.addTask {
                    do throws(StoreError) {
                        let rows = try await store.rows(
                            from: Instant(clamping: start),
                            to: end > now.seconds ? .distantFuture : Instant(clamping: end), asOf: version)
                        return .success(Window(partOf: rows.rows))
                    } catch { return .failure(error) }
                }
            }
            for _ in 0..<Self.concurrentParts { readNext() }
            var parts: [Window] = []
            for await part in group {
                switch part {
                case .success(let part): parts.append(part)
                case .failure(let error):
                    group.cancelAll()
                    return Result<[Window], StoreError>.failure(error)
                }
                readNext()
            }
            return .success(parts)
        }
        return try result.get()
    }

    /// The number of attempts to read both consistently. After that, newer changes count as the head's, and the next
    /// poll corrects this.
    private static let attempts = 5

    private func update(_ old: Snapshot, asOf now: Instant, attempt: Int = 1) async throws(StoreError) {
        let changes = try await store.changes(since: old.publication.version)
        if changes.head.version < old.publication.version || changes.head.log != old.log {
            logger.notice("the database was replaced or its log changed; reading all of it again")
            return try await load(asOf: now)
        }
        let changed = try await store.changedTimes(since: old.publication.version, from: old.liveFrom)
        if let newest = changed.newest, newest > changes.head.version, attempt < Self.attempts {
            // A commit happened between the two reads, so frame versions can't be derived from them.
            return try await update(old, asOf: now, attempt: attempt + 1)
        }
        publish(old.taking(changes, changed, asOf: now, liveFrom: liveFrom(now)), changes)
    }

    /// Publishes the same version at a later time. The state must be of that version.
    private func republish(_ old: Snapshot, _ state: LogState, asOf now: Instant) {
        let changes = Changes(head: state.head, sources: state.sources, extent: state.extent)
        publish(old.taking(changes, ChangedTimes(), asOf: now, liveFrom: liveFrom(now)), changes)
    }

    /// - Parameter changes: what changed since the snapshot before; nil if any data may have.
    private func publish(_ snapshot: Snapshot, _ changes: Changes?) {
        channel.send(snapshot, changes)
        logger.debug(
            "published",
            metadata: [
                "version": "\(snapshot.publication.version)", "asOf": "\(snapshot.publication.asOf)",
                "rows": "\(snapshot.window.count)",
            ])
    }

    private func recovered() {
        let was = failure.withLock { failure in
            defer { failure = nil }
            return failure
        }
        if was != nil { logger.notice("the store can be read again") }
    }

    private func failed(_ error: StoreError) {
        let isNew = failure.withLock { failure in
            defer { failure = error }
            return failure != error
        }
        if isNew {
            logger.error("the store can't be read; the last snapshot is served", metadata: ["error": "\(error)"])
        }
    }

    /// Publishes the data in memory again at a new minute, so that it ages even while the store is unreadable.
    private func age() {
        let now = now()
        guard let old = snapshot, now.floored(toMultipleOf: 60) > old.publication.asOf.floored(toMultipleOf: 60) else {
            return
        }
        let changes = Changes(
            head: Head(version: old.publication.version, log: old.log), sources: old.sources, extent: old.logExtent)
        publish(old.taking(changes, ChangedTimes(), asOf: now, liveFrom: liveFrom(now)), changes)
    }

    /// Logs damage once per table. The amount grows as more is read; `/status` reports it.
    private func logDamage() {
        let damage = store.damage
        let new = loggedDamage.withLock { logged in damage.filter { logged.insert($0.table).inserted } }
        for damage in new {
            logger.error(
                """
                part of the database can't be read; pictures over it are marked incomplete, and billow salvage reads \
                the rest
                """,
                metadata: ["damage": "\(damage)"])
        }
    }

    /// The start of the live window.
    package static func liveFrom(_ now: Instant, seconds: Int = liveSeconds) -> Instant {
        now.advanced(by: -seconds).floored(toMultipleOf: seconds > 0 ? 3_600 : 60)
    }

    private func liveFrom(_ now: Instant) -> Instant { Self.liveFrom(now, seconds: liveSeconds) }
}

extension Snapshot {
    /// The snapshot after some changes, without rows that left the live window.
    fileprivate func taking(_ changes: Changes, _ changed: ChangedTimes, asOf now: Instant, liveFrom: Instant)
        -> Snapshot
    {
        let version = changes.head.version
        var versions = versions
        var window = window
        let opened = changes.opened.filter { $0.observedAt >= liveFrom }
        let closed = changes.closed.filter { $0.observedAt >= liveFrom }
        let rules = { (sources: [SourceRecord]) in sources.map(\.merge) }
        if !changes.opened.isEmpty || !changes.closed.isEmpty || rules(changes.sources) != rules(sources) {
            window.update(opened: opened, closed: closed, sources: changes.sources)
            versions.observations = version
        }
        window.drop(before: liveFrom)

        var reports = reports
        if !changes.openedReports.isEmpty || !changes.closedReports.isEmpty {
            let gone = Set(changes.closedReports.map(ReportIdentity.init))
                .union(changes.openedReports.map(ReportIdentity.init))
            reports.removeAll { gone.contains(ReportIdentity($0)) }
            reports += changes.openedReports
            reports.sort { ($0.observedAt, $0.id, $0.source) < ($1.observedAt, $1.id, $1.source) }
            versions.reports = version
        }
        reports.removeAll { $0.observedAt < liveFrom }

        var areas = areas
        if !changes.openedAreas.isEmpty || !changes.closedAreas.isEmpty {
            areas.update(opened: changes.openedAreas, closed: changes.closedAreas)
            versions.areas = version
        }
        areas.drop(before: liveFrom)

        var traffic = traffic
        if !changes.positions.isEmpty {
            traffic.update(changes.positions)
            versions.positions = version
        }
        traffic.advance(to: now)

        var fields = fields
        if let remaining = changes.remainingFields {
            fields = remaining
            versions.fields = version
        } else if !changes.fields.isEmpty {
            fields = fields.adding(changes.fields)
            versions.fields = version
        }

        var frameVersions = frameVersions
        frameVersions.update(changed, upTo: version)
        frameVersions.drop(before: liveFrom)

        return Snapshot(
            publication: Publication(version: version, asOf: now), log: log, window: window,
            liveFrom: max(liveFrom, self.liveFrom),
            sources: changes.sources, extent: changes.extent, lifetimes: lifetimes, severityTable: severityTable,
            reports: reports, areas: areas, traffic: traffic, versions: versions, frameVersions: frameVersions
        ).with(fields, on: fieldGrids.merging(changes.fieldGrids) { $1 }, after: self)
    }
}

/// The identity of a pilot report.
private struct ReportIdentity: Hashable {
    var source: SourceID
    var id: String

    init(_ report: PilotReport) {
        source = report.source
        id = report.id
    }
}
