public import BillowSnapshot
public import BillowStore
public import Logging
public import ServiceLifecycle
import Synchronization
public import Turbulence

/// Holds the current snapshot and keeps it current: looks at the store's head a few times a second, loads what changed and
/// swaps the picture whole; and once a minute publishes it anew, because pictures age even when nothing arrives.
///
/// It doesn't matter who wrote: this process's own sync, an import beside it, or another server.
public final class SnapshotPublisher: Service {
    /// How long the live window reaches back: the longest history, the default timeline and the half hour of trends.
    static let liveSeconds = 9 * 3_600
    private static let pollInterval = Duration.milliseconds(250)

    private let store: any Store
    private let severityTable: SeverityTable
    /// The clock by which it publishes.
    let now: @Sendable () -> Instant
    private let logger: Logger
    private let current: Mutex<Snapshot?> = Mutex(nil)
    private let extent: Mutex<ClosedRange<Instant>?> = Mutex(nil)
    private let failure: Mutex<String?> = Mutex(nil)

    public init(
        store: any Store, severityTable: SeverityTable, now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        self.store = store
        self.severityTable = severityTable
        self.now = now
        self.logger = logger
    }

    /// The picture to answer from; nil until the store has been read for the first time.
    public var snapshot: Snapshot? { current.withLock { $0 } }

    /// The oldest and the newest observation of the store; nil when it is empty.
    public var observed: ClosedRange<Instant>? { extent.withLock { $0 } }

    /// Why the store can't be read at present; nil while it can.
    public var storeFailure: String? { failure.withLock { $0 } }

    /// Publishes until the service group shuts down.
    public func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do throws(StoreError) {
                try await refresh()
                recovered()
            } catch {
                failed(error)
            }
            try? await cancelWhenGracefulShutdown {
                // Cut short only by the shutdown that ends the loop.
                try await Task.sleep(for: Self.pollInterval)
            }
        }
    }

    /// Takes in what the store has, and publishes where that or the minute is new.
    public func refresh() async throws(StoreError) {
        let now = now()
        guard let snapshot else { return try await load(asOf: now) }
        // A clock that was ahead and has been put right has let go of hours that count again.
        guard Self.liveFrom(now) >= snapshot.liveFrom else { return try await load(asOf: now) }
        let head = try await store.head()
        if head.version != snapshot.publication.version {
            try await update(snapshot, asOf: now)
        } else if now.floored(toMultipleOf: 60) != snapshot.publication.asOf.floored(toMultipleOf: 60) {
            try await publishAnew(snapshot, asOf: now)
        } else {
            try await noteFetches(snapshot)
        }
    }

    /// A fetch that brought nothing new makes no version, but it was one: the same picture, with the sources' newer times.
    private func noteFetches(_ old: Snapshot) async throws(StoreError) {
        let sources = try await store.sources()
        guard sources != old.sources else { return }
        publish(
            Snapshot(
                publication: old.publication, window: old.window, liveFrom: old.liveFrom, sources: sources,
                severityTable: severityTable))
    }

    private func load(asOf now: Instant) async throws(StoreError) {
        let liveFrom = Self.liveFrom(now)
        let rows = try await store.rows(from: liveFrom, to: .distantFuture)
        try await readExtent()
        publish(
            Snapshot(
                publication: Publication(version: rows.head.version, asOf: now),
                window: Window(rows: rows.rows, sources: rows.sources), liveFrom: liveFrom, sources: rows.sources,
                severityTable: severityTable))
    }

    private func update(_ old: Snapshot, asOf now: Instant) async throws(StoreError) {
        let changes = try await store.changes(since: old.publication.version)
        if changes.head.version < old.publication.version {
            logger.warning("the store went back in time; reading it anew")
            return try await load(asOf: now)
        }
        try await readExtent()
        let liveFrom = Self.liveFrom(now)
        var window = old.window
        window.update(
            opened: changes.opened.filter { $0.observedAt >= liveFrom },
            closed: changes.closed.filter { $0.observedAt >= liveFrom }, sources: changes.sources)
        window.drop(before: liveFrom)
        publish(
            Snapshot(
                publication: Publication(version: changes.head.version, asOf: now), window: window,
                liveFrom: max(liveFrom, old.liveFrom), sources: changes.sources, severityTable: severityTable))
    }

    private func publishAnew(_ old: Snapshot, asOf now: Instant) async throws(StoreError) {
        let sources = try await store.sources()
        var window = old.window
        let liveFrom = Self.liveFrom(now)
        window.drop(before: liveFrom)
        publish(
            Snapshot(
                publication: Publication(version: old.publication.version, asOf: now), window: window,
                liveFrom: max(liveFrom, old.liveFrom), sources: sources, severityTable: severityTable))
    }

    private func readExtent() async throws(StoreError) {
        let range = try await store.extent()
        extent.withLock { $0 = range }
    }

    private func publish(_ snapshot: Snapshot) {
        current.withLock { $0 = snapshot }
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
        let text = error.description
        let isNew = failure.withLock { failure in
            defer { failure = text }
            return failure != text
        }
        if isNew { logger.error("the store can't be read; the last picture is served", metadata: ["error": "\(text)"]) }
    }

    private static func liveFrom(_ now: Instant) -> Instant {
        now.advanced(by: -liveSeconds).floored(toMultipleOf: 3_600)
    }
}
