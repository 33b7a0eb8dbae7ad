package import BillowSnapshot
package import BillowStore
package import Logging
package import Turbulence

/// Finds the picture of any instant: in the live snapshot, or, for one long past, from the parts of the archive.
package final class FrameSource: Sendable {
    // Keys of caches name the log beside the version: versions of two logs have nothing in common.

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

    /// What an archived picture shows of reports and areas, as it was at the last version that changed that.
    private struct SeenKey: Hashable, Sendable {
        var data: FrameDependency
        var instant: Instant
        var head: Head
    }

    private struct AreaChangesKey: Hashable, Sendable {
        var collection: IssuedArea.Collection
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
    private let retentionSeconds: Int
    /// Of positions of aircraft.
    private let trafficRetentionSeconds: Int
    private let fieldRetentionSeconds: Int
    /// How long after it was last seen an aircraft is shown.
    package let trafficDropSeconds: Int
    /// The histories that turbulence polygons are made for.
    package let polygonHistories: PolygonHistories
    /// What is long past.
    package let archive: Archive
    /// What all caches of this server keep together.
    package let caches: CacheBudget
    /// Archived windows.
    private let windows: SharedCache<WindowKey, Window>
    /// Their single parts: windows that overlap share their columns.
    private let parts: SharedCache<PartKey, WindowPart>
    /// When what is archived last changed.
    private let changes: SharedCache<ChangeKey, Version>
    /// Archived pilot reports and areas.
    private let reports: SharedCache<SeenKey, [PilotReport]>
    private let areas: SharedCache<SeenKey, [IssuedArea]>
    /// When archived areas begin and end.
    private let areaChanges: SharedCache<AreaChangesKey, [Instant]>
    private let planes: SharedCache<PlaneKey, FramePlane>
    /// Turbulence fields.
    let fields = FieldCaches()

    package init(
        publisher: SnapshotPublisher, store: any Store, retentionSeconds: Int, trafficRetentionSeconds: Int? = nil,
        fieldRetentionSeconds: Int = Retention.defaultFieldSeconds, trafficDropSeconds: Int = 180,
        polygonHistories: PolygonHistories = PolygonHistories(), caches: CacheBudget = CacheBudget(), logger: Logger
    ) {
        archive = Archive(store: store, logger: logger)
        self.caches = caches
        windows = SharedCache(caches) { $0.keptBytesOfLinks }
        parts = SharedCache(caches) { $0.keptBytes }
        changes = SharedCache(caches) { _ in 0 }
        reports = SharedCache(caches) { $0.reduce(0) { $0 + $1.keptBytes } }
        areas = SharedCache(caches) { $0.reduce(0) { $0 + $1.keptBytes } }
        areaChanges = SharedCache(caches) { $0.count * MemoryLayout<Instant>.stride }
        planes = SharedCache(caches, keyBytes: { $0.filter.keptBytes }) { $0.bytes }
        self.publisher = publisher
        self.store = store
        self.retentionSeconds = retentionSeconds
        self.trafficRetentionSeconds = min(trafficRetentionSeconds ?? retentionSeconds, retentionSeconds)
        self.fieldRetentionSeconds = min(fieldRetentionSeconds, retentionSeconds)
        self.trafficDropSeconds = trafficDropSeconds
        self.polygonHistories = polygonHistories
    }

    /// How long what was fetched of a kind of data is kept.
    package func retentionSeconds(of kind: DataKind) -> Int {
        switch kind {
        case .positions: trafficRetentionSeconds
        case .fields: fieldRetentionSeconds
        default: retentionSeconds
        }
    }

    /// The current picture.
    /// - Throws: `EngineError.starting` until the store has been read for the first time.
    package func snapshot() throws(EngineError) -> Snapshot {
        guard let snapshot = publisher.snapshot else { throw .starting }
        return snapshot
    }

    /// The snapshot of the version that an earlier answer was read at.
    ///
    /// - Parameter snapshot: the current one.
    /// - Throws: `EngineError.versionExpired` where that version can't be read any more, `.logChanged` where this
    ///   server hasn't read it yet; `StoreError`.
    package func snapshot(of head: Head, now snapshot: Snapshot) async throws -> Snapshot {
        if head == snapshot.head { return snapshot }
        if head.log == snapshot.log, head.version < snapshot.publication.version,
            head.version >= snapshot.frameVersions.rules
        {
            return snapshot.superseded(at: head.version)
        }
        let stored = try await store.head()
        // Another server of the same database may be ahead.
        if head.log == stored.log, head.version > snapshot.publication.version, head.version <= stored.version {
            throw EngineError.logChanged
        }
        throw EngineError.versionExpired
    }

    /// Seconds until the picture is published anew because it ages: what is answered until then expires together. At
    /// least 1, for the moment when that is due.
    package func freshSeconds(of snapshot: Snapshot) -> Int {
        max(1, snapshot.publication.asOf.floored(toMultipleOf: 60).seconds + 60 - publisher.now().seconds)
    }

    /// From when to when an instant may be asked for.
    package func extent(of snapshot: Snapshot) -> ClosedRange<Instant> {
        let retained = snapshot.publication.asOf.advanced(by: -retentionSeconds)
        let oldest = snapshot.extent.oldest.map { min($0, retained) } ?? retained
        return oldest...max(oldest, snapshot.publication.asOf.advanced(by: 60))
    }

    /// From when on the positions of aircraft are all there, of so many seconds before an instant.
    func positionsExtent(lookBackSeconds: Int, of snapshot: Snapshot) -> Instant {
        snapshot.publication.asOf.advanced(by: lookBackSeconds - trafficRetentionSeconds)
    }

    /// The instant that a request names, checked against what there is.
    ///
    /// - Parameter reach: what there is, where that is not all of the log.
    package func instant(
        _ time: RequestedTime, in snapshot: Snapshot, parameter: String = "time",
        within reach: ClosedRange<Instant>? = nil
    ) throws(EngineError) -> Instant {
        let extent = reach ?? extent(of: snapshot)
        let asked: String
        switch time {
        case .latest: return snapshot.publication.asOf
        case .instant(let instant) where extent.contains(instant): return instant
        case .instant(let instant): asked = instant.description
        case .beyond(let text): asked = text
        }
        throw .timeOutsideLog(asked, extent: extent, parameter: parameter)
    }

    /// Reads from the store what an answer from a snapshot needs. What is read as of a version never changes, unless
    /// rows are deleted; then the log has another name before the first of them goes. And what can't be read is missing
    /// in no answer that the snapshot's sources don't mark as incomplete, whichever read meets it first.
    /// - Throws: `EngineError.logChanged` where the log isn't the snapshot's any more, `.versionExpired` where rows of an
    ///   older version were deleted, `.damageFound` where rows can't be read and the snapshot doesn't say so yet;
    ///   `StoreError`.
    package func reading<Value>(in snapshot: Snapshot, _ body: () async throws -> Value) async throws -> Value {
        let value: Value
        // Of a former version nothing is live, and what was deleted since then never comes back.
        do { value = try await body() } catch StoreError.deleted where snapshot.liveFrom == .distantFuture {
            throw EngineError.versionExpired
        }
        guard try await store.head().log == snapshot.log else { throw EngineError.logChanged }
        guard store.damage.isEmpty || store.marked(snapshot.sources) == snapshot.sources else {
            throw EngineError.damageFound
        }
        return value
    }

    /// The frame at an instant that `instant(_:in:)` gave, with what trends look back to.
    package func frame(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws -> Frame {
        if let frame = snapshot.frame(at: instant, filter: filter) { return frame }
        return try await archived(at: instant, filter: filter, marginSeconds: Frame.trendSeconds, in: snapshot)
    }

    private func archived(at instant: Instant, filter: Filter, marginSeconds: Int, in snapshot: Snapshot) async throws
        -> Frame
    {
        let first = ArchivePart(instant.advanced(by: 1 - filter.lookBackSeconds - marginSeconds))
        let window = try await window(of: first...ArchivePart(instant), in: snapshot)
        return Frame(window: window, at: instant, filter: filter, table: snapshot.severityTable)
    }

    /// Parts of the archive, as they were at the last version that changed them. The rows are read as of that version,
    /// and the snapshot's sources are those of it: no version in between changed a rule.
    private func window(of range: ClosedRange<ArchivePart>, in snapshot: Snapshot) async throws -> Window {
        let head = try await head(of: ArchivePart.seen(range), in: snapshot)
        return try await windows.value(for: WindowKey(parts: range, head: head)) { [self] in
            let parts = try await withThrowingTaskGroup { group in
                for number in range.lowerBound.number...range.upperBound.number {
                    group.addTask { try await self.part(ArchivePart(number: number), in: snapshot) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            return Window(joining: parts, sources: snapshot.sources)
        }
    }

    private func part(_ part: ArchivePart, in snapshot: Snapshot) async throws -> WindowPart {
        let head = try await head(of: ArchivePart.seen(part...part), in: snapshot)
        return try await parts.value(for: PartKey(part: part, head: head)) { [self] in
            try await reading(in: snapshot) {
                try await archive.part(part, asOf: head.version)
            }
        }
    }

    /// The same picture as one byte a cell.
    package func plane(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws -> FramePlane {
        let seen = FrameDependency.observed(.observations, at: instant, lookBackSeconds: filter.lookBackSeconds)
        // By what it shows and not by the publication: most frames outlive many of those.
        let key = PlaneKey(head: try await head(of: seen, in: snapshot), instant: instant, filter: filter)
        return try await planes.value(for: key) { [self] in
            if let plane = snapshot.plane(at: instant, filter: filter) { return plane }
            return try await archived(at: instant, filter: filter, marginSeconds: 0, in: snapshot).plane()
        }
    }

    /// The last version that changed what is seen, of those that the snapshot knows: never one above its own, even
    /// where the store has newer ones. A change that is not published yet counts as the snapshot's version until it is.
    package func version(of data: FrameDependency, in snapshot: Snapshot) async throws -> Version {
        let newest = snapshot.publication.version
        if let version = snapshot.frameVersions.version(of: data) { return min(version, newest) }
        return try await changes.value(for: ChangeKey(data: data, head: snapshot.head)) { [store] in
            min(try await store.lastChange(of: data), newest)
        }
    }

    /// The same with the log that it is a version of: what a cache's key names.
    private func head(of data: FrameDependency, in snapshot: Snapshot) async throws -> Head {
        Head(version: try await version(of: data, in: snapshot), log: snapshot.log)
    }

    /// Whether a version changed any of what is seen.
    func hasChange(of data: [FrameDependency], at version: Version) async throws -> Bool {
        for data in data where try await store.hasChange(of: data, at: version) { return true }
        return false
    }

    /// The pilot reports of the history before an instant, ordered by (time, id).
    package func reports(at instant: Instant, lookBackSeconds: Int, in snapshot: Snapshot) async throws -> [PilotReport]
    {
        if let reports = snapshot.reports(at: instant, lookBackSeconds: lookBackSeconds) { return reports }
        let seen = FrameDependency.observed(.reports, at: instant, lookBackSeconds: lookBackSeconds)
        let head = try await head(of: seen, in: snapshot)
        return try await self.reports.value(for: SeenKey(data: seen, instant: instant, head: head)) { [self] in
            try await reading(in: snapshot) {
                try await store.pilotReports(
                    from: instant.advanced(by: 1 - lookBackSeconds), to: instant.advanced(by: 1), asOf: head.version)
            }
        }
    }

    /// The areas of a collection that hold at an instant, by id.
    package func areas(_ collection: IssuedArea.Collection, at instant: Instant, in snapshot: Snapshot) async throws
        -> [IssuedArea]
    {
        if let areas = snapshot.areas(collection, at: instant) { return areas }
        let seen = FrameDependency.areas(collection, at: instant)
        let head = try await head(of: seen, in: snapshot)
        return try await self.areas.value(for: SeenKey(data: seen, instant: instant, head: head)) { [self] in
            try await reading(in: snapshot) {
                try await store.areas(collection, from: instant, to: instant.advanced(by: 1), asOf: head.version)
            }
        }
    }

    /// When areas of a collection begin or end within a range, in rising order, each once.
    package func changes(of collection: IssuedArea.Collection, in range: ClosedRange<Instant>, in snapshot: Snapshot)
        async throws -> [Instant]
    {
        if range.lowerBound >= snapshot.liveFrom { return snapshot.areas.changes(of: collection, in: range) }
        let head = Head(version: snapshot.versions.areas, log: snapshot.log)
        return try await areaChanges.value(for: AreaChangesKey(collection: collection, range: range, head: head)) {
            [self] in
            try await reading(in: snapshot) {
                try await store.areaChanges(of: collection, in: range, asOf: head.version)
            }
        }
    }

    /// The aircraft seen at most `droppedAfterSeconds` before an instant, by address.
    package func positions(at instant: Instant, droppedAfterSeconds: Int, in snapshot: Snapshot) async throws
        -> [AircraftPosition]
    {
        if let positions = snapshot.positions(at: instant, droppedAfterSeconds: droppedAfterSeconds) {
            return positions
        }
        let stored = try await reading(in: snapshot) {
            try await store.positions(
                from: instant.advanced(by: 1 - droppedAfterSeconds), to: instant.advanced(by: 1),
                asOf: snapshot.publication.version)
        }
        return Traffic.standing(stored, at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }
}

extension Snapshot {
    /// Its version, and the log that it is a version of.
    package var head: Head { Head(version: publication.version, log: log) }
}
