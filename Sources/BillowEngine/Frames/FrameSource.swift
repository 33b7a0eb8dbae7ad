package import BillowSnapshot
package import BillowStore
import Datasets
package import Logging
package import Turbulence

/// Finds the frame of any instant: from the live snapshot, or from archive parts for older instants.
package final class FrameSource: Sendable {
    // Cache keys include the log's name, because versions of two logs are not comparable.

    private struct WindowKey: Hashable, Sendable {
        var parts: ClosedRange<ArchivePart>
        var head: Head
    }

    private struct PartKey: Hashable, Sendable {
        var part: ArchivePart
        var head: Head
    }

    private struct ChangeKey: Hashable, Sendable {
        var data: FrameDependency
        var head: Head
    }

    /// The key of archived reports and areas of a frame, at the version of their last change.
    private struct SeenKey: Hashable, Sendable {
        var data: FrameDependency
        var instant: Instant
        var head: Head
    }

    private struct AreaChangesKey: Hashable, Sendable {
        var collection: IssuedArea.DatasetNumber
        var range: ClosedRange<Instant>
        var head: Head
    }

    struct PlaneKey: Hashable, Sendable {
        var head: Head
        var instant: Instant
        var filter: Filter
    }

    private let publisher: SnapshotPublisher
    let store: any Store
    /// The histories for which turbulence polygons are computed.
    package let polygonHistories: PolygonHistories
    /// Data older than the live window.
    package let archive: Archive
    /// The memory budget that all caches of this server share.
    package let caches: CacheBudget
    /// The cache of archived windows.
    private let windows: SharedCache<WindowKey, Window, EngineError>
    /// The cache of single parts: overlapping windows share their columns.
    private let parts: SharedCache<PartKey, WindowPart, EngineError>
    /// The cache of change versions of archived data.
    private let changes: SharedCache<ChangeKey, Version, EngineError>
    /// The caches of archived pilot reports and areas.
    private let reports: SharedCache<SeenKey, [PilotReport], EngineError>
    private let areas: SharedCache<SeenKey, [IssuedArea], EngineError>
    /// The cache of the times at which archived areas begin and end.
    private let areaChanges: SharedCache<AreaChangesKey, [Instant], EngineError>
    private let planes: SharedCache<PlaneKey, FramePlane, EngineError>
    /// The caches of turbulence fields.
    let fields = FieldCaches()

    package init(
        publisher: SnapshotPublisher, store: any Store, polygonHistories: PolygonHistories = PolygonHistories(),
        caches: CacheBudget = CacheBudget(), logger: Logger
    ) {
        archive = Archive(store: store, logger: logger)
        self.caches = caches
        windows = SharedCache(caches) { $0.estimatedBytesOfLinks }
        parts = SharedCache(caches) { $0.estimatedBytes }
        changes = SharedCache(caches) { _ in 0 }
        reports = SharedCache(caches) { $0.reduce(0) { $0 + $1.estimatedBytes } }
        areas = SharedCache(caches) { $0.reduce(0) { $0 + $1.estimatedBytes } }
        areaChanges = SharedCache(caches) { $0.count * MemoryLayout<Instant>.stride }
        planes = SharedCache(caches, keyBytes: { $0.filter.estimatedBytes }) { $0.bytes }
        self.publisher = publisher
        self.store = store
        self.polygonHistories = polygonHistories
    }

    /// How long data is stored and shown.
    package var lifetimes: DataLifetimes { publisher.lifetimes }

    /// The current snapshot.
    /// - Throws: `EngineError.starting` until the store has been read for the first time.
    package func snapshot() throws(EngineError) -> Snapshot {
        guard let snapshot = publisher.snapshot else { throw .starting }
        return snapshot
    }

    /// The current snapshot, at a version that a request names if the log has that version. Another server on the same
    /// database may be ahead, and its addresses must give the same pictures here.
    package func snapshot(knowing version: Version?) async throws(EngineError) -> Snapshot {
        let current = try snapshot()
        let own = current.publication.version
        guard let version, version > own, version.rawValue - own.rawValue <= Self.longestLead else { return current }
        await publisher.readAgain()
        return try snapshot()
    }

    /// The most versions by which another server may be ahead.
    private static let longestLead: Int64 = 10_000

    /// The snapshot at the version of an earlier page.
    ///
    /// - Parameter snapshot: the current snapshot.
    /// - Throws: `EngineError.versionExpired` if that version is no longer readable, `.logChanged` if this server
    ///   hasn't read it yet; `.store`.
    package func snapshot(of head: Head, now snapshot: Snapshot) async throws(EngineError) -> Snapshot {
        if head == snapshot.head { return snapshot }
        if head.log == snapshot.log, head.version < snapshot.publication.version,
            head.version >= snapshot.frameVersions.rules
        {
            return snapshot.superseded(at: head.version)
        }
        let stored: Head
        do { stored = try await store.head() } catch { throw .store(error) }
        // Another server on the same database may be ahead.
        if head.log == stored.log, head.version > snapshot.publication.version, head.version <= stored.version {
            let newer = try await self.snapshot(knowing: head.version)
            guard newer.publication.version >= head.version, newer.log == head.log else { throw .logChanged }
            return newer.head == head ? newer : newer.superseded(at: head.version)
        }
        throw .versionExpired
    }

    /// The seconds until the next publication due to age. All answers until then expire at the same time. At least 1,
    /// if the publication is already due.
    package func freshSeconds(of snapshot: Snapshot) -> Int {
        max(1, snapshot.publication.asOf.floored(toMultipleOf: 60).seconds + 60 - publisher.now().seconds)
    }

    /// The instant that a request names, validated against an extent.
    ///
    /// - Parameter reach: the valid range, if it is not the whole log.
    package func instant(
        _ time: RequestedTime, in snapshot: Snapshot, within reach: ClosedRange<Instant>? = nil
    ) throws(EngineError) -> Instant {
        let extent = reach ?? snapshot.extent
        switch time.moment {
        case .latest: return snapshot.publication.asOf
        case .instant(let instant) where extent.contains(instant): return instant
        case .instant, .beyond: throw .timeOutsideLog(time, extent: extent)
        }
    }

    /// Reads from the store for a response to a snapshot.
    ///
    /// Rows at a version never change until they are deleted, and before a deletion the log gets another name. If rows
    /// are unreadable, the snapshot's sources mark the response as incomplete, or the read fails.
    /// - Throws: `EngineError.logChanged` if the log is no longer the snapshot's, `.versionExpired` if rows of an older
    ///   version were deleted, `.damageFound` if rows are unreadable and the snapshot isn't marked; `.store`.
    package func reading<Value>(in snapshot: Snapshot, _ body: () async throws(StoreError) -> Value)
        async throws(EngineError) -> Value
    {
        let value: Value
        let log: String
        do {
            value = try await body()
            log = try await store.head().log
        } catch {
            // An old version has no live rows, and rows that were deleted since never come back.
            if case .deleted = error, snapshot.liveFrom == .distantFuture { throw .versionExpired }
            throw .store(error)
        }
        guard log == snapshot.log else { throw .logChanged }
        guard store.damage.isEmpty || store.marked(snapshot.sources) == snapshot.sources else { throw .damageFound }
        return value
    }

    /// The frame at an instant from `instant(_:in:)`, including earlier rows for trends.
    package func frame(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws(EngineError) -> Frame {
        if let frame = snapshot.frame(at: instant, filter: filter) { return frame }
        return try await archived(at: instant, filter: filter, marginSeconds: Frame.trendSeconds, in: snapshot)
    }

    private func archived(at instant: Instant, filter: Filter, marginSeconds: Int, in snapshot: Snapshot)
        async throws(EngineError)
        -> Frame
    {
        let first = ArchivePart(instant.advanced(by: 1 - filter.lookBackSeconds - marginSeconds))
        let window = try await window(of: first...ArchivePart(instant), in: snapshot)
        return Frame(window: window, at: instant, filter: filter, table: snapshot.severityTable)
    }

    /// A window of archive parts at the version of their last change. The snapshot's sources apply to it, because no
    /// later version changed a rule.
    private func window(of range: ClosedRange<ArchivePart>, in snapshot: Snapshot) async throws(EngineError) -> Window {
        let head = try await head(of: ArchivePart.seen(range), in: snapshot)
        return try await windows.value(for: WindowKey(parts: range, head: head)) {
            [self] () async throws(EngineError) in
            let parts = await withTaskGroup { group in
                for number in range.lowerBound.number...range.upperBound.number {
                    group.addTask {
                        await Result { () async throws(EngineError) in
                            try await self.part(ArchivePart(number: number), in: snapshot)
                        }
                    }
                }
                return await group.successes()
            }
            return Window(joining: try parts.get(), sources: snapshot.sources)
        }
    }

    private func part(_ part: ArchivePart, in snapshot: Snapshot) async throws(EngineError) -> WindowPart {
        let head = try await head(of: ArchivePart.seen(part...part), in: snapshot)
        return try await parts.value(for: PartKey(part: part, head: head)) { [self] () async throws(EngineError) in
            try await reading(in: snapshot) { () async throws(StoreError) in
                try await archive.part(part, asOf: head.version)
            }
        }
    }

    /// The frame with one byte per cell.
    package func plane(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws(EngineError)
        -> FramePlane
    {
        let seen = FrameDependency.observed(.observations, at: instant, lookBackSeconds: filter.lookBackSeconds)
        // The key has the version of the data, not of the publication: most frames outlive many publications.
        let key = PlaneKey(head: try await head(of: seen, in: snapshot), instant: instant, filter: filter)
        return try await planes.value(for: key) { [self] () async throws(EngineError) in
            if let plane = snapshot.plane(at: instant, filter: filter) { return plane }
            return try await archived(at: instant, filter: filter, marginSeconds: 0, in: snapshot).plane()
        }
    }

    /// The last version that changed some data, as the snapshot knows it. It is never above the snapshot's version,
    /// even if the store has newer ones. An unpublished change counts as the snapshot's version until it is published.
    package func version(of data: FrameDependency, in snapshot: Snapshot) async throws(EngineError) -> Version {
        let newest = snapshot.publication.version
        if let version = snapshot.frameVersions.version(of: data) { return min(version, newest) }
        return try await changes.value(for: ChangeKey(data: data, head: snapshot.head)) {
            [store] () async throws(EngineError) in
            do throws(StoreError) { return min(try await store.lastChange(of: data), newest) } catch {
                throw .store(error)
            }
        }
    }

    /// The version of some data together with the log's name, for cache keys.
    private func head(of data: FrameDependency, in snapshot: Snapshot) async throws(EngineError) -> Head {
        Head(version: try await version(of: data, in: snapshot), log: snapshot.log)
    }

    /// Whether a version changed any of some data.
    func hasChange(of data: [FrameDependency], at version: Version) async throws(EngineError) -> Bool {
        do {
            for data in data where try await store.hasChange(of: data, at: version) { return true }
            return false
        } catch { throw .store(error) }
    }

    /// The pilot reports of the history before an instant, ordered by (time, id).
    package func reports(at instant: Instant, lookBackSeconds: Int, in snapshot: Snapshot) async throws(EngineError)
        -> [PilotReport]
    {
        if let reports = snapshot.reports(at: instant, lookBackSeconds: lookBackSeconds) { return reports }
        let seen = FrameDependency.observed(.reports, at: instant, lookBackSeconds: lookBackSeconds)
        let head = try await head(of: seen, in: snapshot)
        return try await self.reports.value(for: SeenKey(data: seen, instant: instant, head: head)) {
            [self] () async throws(EngineError) in
            try await reading(in: snapshot) { () async throws(StoreError) in
                try await store.pilotReports(
                    from: instant.advanced(by: 1 - lookBackSeconds), to: instant.advanced(by: 1), asOf: head.version)
            }
        }
    }

    /// The areas of a collection that are valid at an instant, sorted by id.
    package func areas(_ collection: IssuedArea.DatasetNumber, at instant: Instant, in snapshot: Snapshot)
        async throws(EngineError)
        -> [IssuedArea]
    {
        if let areas = snapshot.areas(collection, at: instant) { return areas }
        let seen = FrameDependency.areas(collection, at: instant)
        let head = try await head(of: seen, in: snapshot)
        return try await self.areas.value(for: SeenKey(data: seen, instant: instant, head: head)) {
            [self] () async throws(EngineError) in
            try await reading(in: snapshot) { () async throws(StoreError) in
                try await store.areas(collection, from: instant, to: instant.advanced(by: 1), asOf: head.version)
            }
        }
    }

    /// The areas of a collection that are valid at any time of `from` ≤ t < `to`, sorted by id.
    func areas(
        _ collection: IssuedArea.DatasetNumber, from: Instant, to: Instant, in snapshot: Snapshot
    ) async throws(EngineError) -> [IssuedArea] {
        if from >= snapshot.liveFrom { return snapshot.areas.valid(from: from, to: to, collection) }
        return try await reading(in: snapshot) { () async throws(StoreError) in
            try await store.areas(collection, from: from, to: to, asOf: snapshot.publication.version)
        }
    }

    /// The warnings in force at an instant, of all datasets that have any (`Catalogue.warnings`).
    package func warnings(at instant: Instant, in snapshot: Snapshot) async throws(EngineError) -> [IssuedArea] {
        var warnings: [IssuedArea] = []
        for areas in Catalogue.warnings.compactMap(\.areas) {
            warnings += try await self.areas(areas, at: instant, in: snapshot)
        }
        return warnings
    }

    /// The warnings in force at any time of `from` ≤ t < `to`, of all datasets that have any.
    package func warnings(from: Instant, to: Instant, in snapshot: Snapshot) async throws(EngineError) -> [IssuedArea] {
        var warnings: [IssuedArea] = []
        for areas in Catalogue.warnings.compactMap(\.areas) {
            warnings += try await self.areas(areas, from: from, to: to, in: snapshot)
        }
        return warnings
    }

    /// The times within a range at which areas of a collection begin or end, sorted, without duplicates.
    package func changes(of collection: IssuedArea.DatasetNumber, in range: ClosedRange<Instant>, in snapshot: Snapshot)
        async throws(EngineError) -> [Instant]
    {
        if range.lowerBound >= snapshot.liveFrom { return snapshot.areas.changes(of: collection, in: range) }
        let head = Head(version: snapshot.versions.areas, log: snapshot.log)
        return try await areaChanges.value(for: AreaChangesKey(collection: collection, range: range, head: head)) {
            [self] () async throws(EngineError) in
            try await reading(in: snapshot) { () async throws(StoreError) in
                try await store.areaChanges(of: collection, in: range, asOf: head.version)
            }
        }
    }

    /// The aircraft seen at most `droppedAfterSeconds` before an instant, sorted by address.
    package func positions(at instant: Instant, droppedAfterSeconds: Int, in snapshot: Snapshot)
        async throws(EngineError)
        -> [AircraftPosition]
    {
        if let positions = snapshot.positions(at: instant, droppedAfterSeconds: droppedAfterSeconds) {
            return positions
        }
        let stored = try await reading(in: snapshot) { () async throws(StoreError) in
            try await store.positions(
                from: instant.advanced(by: 1 - droppedAfterSeconds), to: instant.advanced(by: 1),
                asOf: snapshot.publication.version)
        }
        return Traffic.standing(stored, at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }
}

extension Snapshot {
    /// Its version and its log's name.
    package var head: Head { Head(version: publication.version, log: log) }
}
