import BillowFields
package import BillowSnapshot
package import BillowStore
package import Logging
import ServiceLifecycle
import Synchronization
package import Turbulence

/// Holds the current snapshot and keeps it current: looks at the store's head a few times a second, loads what changed
/// and swaps the picture whole; and once a minute publishes it anew, because pictures age even when nothing arrives.
///
/// It doesn't matter who wrote: this process's own sync, an import beside it, or another server.
package final class SnapshotPublisher: Service {
    /// How long the live window reaches back: the longest history, the default timeline and the half hour of trends.
    static let liveSeconds = 9 * 3_600
    private static let hour = 3_600
    private static let pollInterval = Duration.milliseconds(250)

    private let store: any Store
    private let severityTable: SeverityTable
    /// The clock by which it publishes.
    package let now: @Sendable () -> Instant
    private let logger: Logger
    private let channel = PublicationChannel()
    private let pausing = Mutex(Pausing())
    private let failure: Mutex<StoreError?> = Mutex(nil)
    /// The tables whose damage is in the log already.
    private let loggedDamage: Mutex<Set<StoredTable>> = Mutex([])
    private let observers: Mutex<[Observer]> = Mutex([])

    /// What is called with the picture before (nil at first), the new one, and the rows that make the difference.
    package typealias Observer = @Sendable (_ old: Snapshot?, _ new: Snapshot, _ changes: Changes) -> Void

    package init(
        store: any Store, severityTable: SeverityTable, now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        self.store = store
        self.severityTable = severityTable
        self.now = now
        self.logger = logger
    }

    /// Calls an observer with every new snapshot, one after the other, before the publication is over.
    ///
    /// For what must not lag behind a publication, or skip one: the response microcache is cleared before a client that
    /// was told of a snapshot asks for it, and events tell each change. All else iterates `publications`.
    package func observe(_ observer: @escaping Observer) { observers.withLock { $0.append(observer) } }

    /// The picture to answer from; nil until the store has been read for the first time.
    package var snapshot: Snapshot? { channel.snapshot }

    /// What is downstream iterates this: the current snapshot, and the newest after each publication.
    package var publications: Publications { Publications(channel) }

    /// Consumers of `publications` that wait for the next one.
    var waitingConsumers: Int { channel.waiting }

    /// Why the store can't be read at present; nil while it can.
    package var storeFailure: StoreError? { failure.withLock { $0 } }

    /// What of the store can't be read.
    package var damage: [StoredDamage] { store.damage }

    private struct Pausing {
        var isWoken = false
        var nap: Task<Void, Never>?
    }

    /// Publishes until the service group shuts down.
    package func run() async throws {
        defer { channel.finish() }
        while !ServicePause.hasEnded {
            do throws(StoreError) {
                try await refresh()
                recovered()
            } catch {
                // Cut short by an end that has its own reason to tell.
                if Task.isCancelled { return }
                failed(error)
                age()
            }
            logDamage()
            await cancelWhenGracefulShutdown { await self.pause() }
        }
    }

    /// Has it look at once: this process has written something.
    package func wake() {
        pausing.withLock { state in
            state.isWoken = true
            state.nap?.cancel()
        }
    }

    /// Until the next look, or until woken, since the last pause if need be.
    private func pause() async {
        // An error is a cancellation, which is what ends a sleep early.
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

    /// Takes in what the store has, and publishes where that or the minute is new.
    package func refresh() async throws(StoreError) {
        let now = now()
        guard let snapshot else { return try await load(asOf: now) }
        // A clock that was ahead and has been put right has let go of hours that count again.
        guard Self.liveFrom(now) >= snapshot.liveFrom else { return try await load(asOf: now) }
        let state = try await store.state()
        // Rows were deleted, which no delta tells.
        guard state.head.log == snapshot.log else { return try await load(asOf: now) }
        if state.head.version != snapshot.publication.version {
            do throws(StoreError) { try await update(snapshot, asOf: now) } catch {
                // Changes are found by indices. Where one can't be read, the rows may be.
                guard case .corrupt = error else { throw error }
                try await load(asOf: now)
            }
        } else if now.floored(toMultipleOf: 60) != snapshot.publication.asOf.floored(toMultipleOf: 60) {
            publishAnew(snapshot, state, asOf: now)
        } else {
            noteFetches(snapshot, state)
        }
    }

    /// A fetch without new data raises no version: publishes the same data with the sources' newer times.
    private func noteFetches(_ old: Snapshot, _ state: LogState) {
        guard state.sources != old.sources || state.extent != old.extent else { return }
        publish(
            Snapshot(
                publication: old.publication, log: old.log, window: old.window, liveFrom: old.liveFrom,
                sources: state.sources, extent: state.extent, severityTable: severityTable, reports: old.reports,
                areas: old.areas, traffic: old.traffic, versions: old.versions, frameVersions: old.frameVersions
            ).with(old.fields, on: old.fieldGrids, after: old))
    }

    private func load(asOf now: Instant) async throws(StoreError) {
        let liveFrom = Self.liveFrom(now)
        // Everything is read as of this head, also what is committed meanwhile.
        let state = try await store.state()
        let head = state.head
        var windows: [Window] = []
        // An hour at a time, because rows take more room than the columns that they become.
        for hour in stride(from: liveFrom.seconds, through: max(now, liveFrom).seconds, by: Self.hour) {
            let end = hour + Self.hour
            let rows = try await store.rows(
                from: Instant(clamping: hour), to: end > now.seconds ? .distantFuture : Instant(clamping: end),
                asOf: head.version)
            windows.append(Window(rows: rows.rows, sources: state.sources))
        }
        let reports = try await store.pilotReports(from: liveFrom, to: .distantFuture, asOf: head.version)
        let areas = try await store.areas(nil, from: liveFrom, to: .distantFuture, asOf: head.version)
        let positions = try await store.positions(
            from: now.advanced(by: -Traffic.keptSeconds), to: .distantFuture, asOf: head.version)
        let fields: StoredFields
        // Deleted while others were read: the next look reads it anew.
        do throws(StoreError) { fields = try await store.fields(asOf: head.version) } catch {
            guard case .deleted = error else { throw error }
            return
        }
        let changed = try await store.changedTimes(since: .zero, from: liveFrom)
        var frameVersions = FrameVersions(from: liveFrom)
        frameVersions.update(changed, upTo: head.version)
        // Rows that were deleted while others were read are missing: the next look reads it anew.
        let after = try await store.state()
        guard after.head.log == head.log else { return }
        // What can't be read is known only after it was read; it marks the sources.
        let sources = store.damage.isEmpty ? state.sources : after.sources
        publish(
            Snapshot(
                publication: Publication(version: head.version, asOf: now), log: head.log,
                window: Window(joining: windows, sources: sources), liveFrom: liveFrom, sources: sources,
                extent: state.extent, severityTable: severityTable, reports: reports, areas: AreaWindow(areas),
                traffic: Traffic(positions, asOf: now), frameVersions: frameVersions
            ).with(fields.index, on: fields.grids, after: self.snapshot))
    }

    /// So often both are read anew; after that what is too new counts as the head, which is true at the next look.
    private static let attempts = 5

    private func update(_ old: Snapshot, asOf now: Instant, attempt: Int = 1) async throws(StoreError) {
        let changes = try await store.changes(since: old.publication.version)
        if changes.head.version < old.publication.version || changes.head.log != old.log {
            logger.notice("the store is another than before; reading it anew")
            return try await load(asOf: now)
        }
        let changed = try await store.changedTimes(since: old.publication.version, from: old.liveFrom)
        if let newest = changed.newest, newest > changes.head.version, attempt < Self.attempts {
            // Something was committed between the two: what a frame's version was before that is known only together.
            return try await update(old, asOf: now, attempt: attempt + 1)
        }
        publish(old.taking(changes, changed, asOf: now, liveFrom: Self.liveFrom(now)), changes)
    }

    /// Publishes the same version, aged. The state is that of the version.
    private func publishAnew(_ old: Snapshot, _ state: LogState, asOf now: Instant) {
        let changes = Changes(head: state.head, sources: state.sources, extent: state.extent)
        publish(old.taking(changes, ChangedTimes(), asOf: now, liveFrom: Self.liveFrom(now)))
    }

    private func publish(_ snapshot: Snapshot, _ changes: Changes? = nil) {
        let old = channel.send(snapshot)
        let head = Head(version: snapshot.publication.version, log: snapshot.log)
        let changes = changes ?? Changes(head: head, sources: snapshot.sources)
        for observer in observers.withLock({ $0 }) { observer(old, snapshot, changes) }
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
            return failure?.description != error.description
        }
        if isNew {
            logger.error("the store can't be read; the last picture is served", metadata: ["error": "\(error)"])
        }
    }

    /// Publishes what is in memory anew when the minute is new: without the store it goes on ageing.
    private func age() {
        let now = now()
        guard let old = snapshot, now.floored(toMultipleOf: 60) > old.publication.asOf.floored(toMultipleOf: 60) else {
            return
        }
        let changes = Changes(
            head: Head(version: old.publication.version, log: old.log), sources: old.sources, extent: old.extent)
        publish(old.taking(changes, ChangedTimes(), asOf: now, liveFrom: Self.liveFrom(now)))
    }

    /// Says once of each table that some of it can't be read. How much grows while it is read; `/status` counts it.
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

    package static func liveFrom(_ now: Instant) -> Instant {
        now.advanced(by: -liveSeconds).floored(toMultipleOf: 3_600)
    }
}

extension Snapshot {
    /// The picture after what came and went, without what is too old to be live.
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
            sources: changes.sources, extent: changes.extent, severityTable: severityTable, reports: reports,
            areas: areas, traffic: traffic, versions: versions, frameVersions: frameVersions
        ).with(fields, on: fieldGrids.merging(changes.fieldGrids) { $1 }, after: self)
    }
}

/// What a pilot report is told apart by.
private struct ReportIdentity: Hashable {
    var source: SourceID
    var id: String

    init(_ report: PilotReport) {
        source = report.source
        id = report.id
    }
}
