package import BillowFields
package import Geometry
package import Turbulence

/// The complete live data at one publication: immutable, replaced as a whole. A request reads it once and uses only
/// that.
package struct Snapshot: Sendable {
    package let publication: Publication
    /// The id of the log.
    package let log: String
    /// The rows from `liveFrom` on.
    package let window: Window
    /// The time from which `window` has every row. Frames that need earlier rows get them from the store.
    package let liveFrom: Instant
    /// Every source, in the order of their numbers.
    package let sources: [SourceRecord]
    /// The time ranges of the log's data at the publication's version.
    package let logExtent: LogExtent
    /// The instants for which there are frames: from the oldest data, or the start of the retention if that is earlier,
    /// to the next minute, because another server may be ahead.
    package let extent: ClosedRange<Instant>
    package let lifetimes: DataLifetimes
    package let severityTable: SeverityTable
    /// The pilot reports from `liveFrom` on, ordered by (time, id).
    package let reports: [PilotReport]
    /// The issued areas that are valid at `liveFrom` or later.
    package let areas: AreaWindow
    package let traffic: Traffic
    /// The version of the last change of each kind of data.
    package let versions: DataVersions
    /// The version of the last change of each live frame.
    package let frameVersions: FrameVersions
    /// All stored fields, of every time. A frame of an earlier version reads them as of that version.
    package private(set) var fields = FieldIndex.empty
    /// The grids of the fields, by number.
    package private(set) var fieldGrids: [Int64: GridDefinition] = [:]
    /// The places and times with fields.
    package private(set) var fieldCoverage = FieldCoverage.empty

    package init(
        publication: Publication, log: String, window: Window, liveFrom: Instant, sources: [SourceRecord],
        extent: LogExtent = LogExtent(), lifetimes: DataLifetimes, severityTable: SeverityTable,
        reports: [PilotReport] = [], areas: AreaWindow = AreaWindow(),
        traffic: Traffic = Traffic(), versions: DataVersions? = nil,
        frameVersions: FrameVersions? = nil
    ) {
        self.publication = publication
        self.log = log
        self.window = window
        self.liveFrom = liveFrom
        self.sources = sources
        logExtent = extent
        self.lifetimes = lifetimes
        let retained = publication.asOf.advanced(by: -lifetimes.retentionSeconds)
        let oldest = extent.oldest.map { min($0, retained) } ?? retained
        self.extent = oldest...max(oldest, publication.asOf.advanced(by: 60))
        self.severityTable = severityTable
        self.reports = reports
        self.areas = areas
        self.traffic = traffic
        self.versions = versions ?? DataVersions(all: publication.version)
        self.frameVersions = frameVersions ?? FrameVersions(fixed: publication.version)
    }

    /// The snapshot with other fields.
    ///
    /// - Parameter previous: a snapshot with most of their grids, whose cached domains are reused.
    package func with(
        _ fields: FieldIndex, on grids: [Int64: GridDefinition], after previous: Snapshot? = nil
    ) -> Snapshot {
        var snapshot = self
        snapshot.fields = fields
        snapshot.fieldGrids = grids
        snapshot.fieldCoverage = FieldCoverage(fields, on: grids, after: previous?.fieldCoverage ?? .empty)
        return snapshot
    }

    /// The snapshot of an older version. None of it is live, so everything is read from the store as of that version.
    /// It has all fields, but newer ones aren't visible in that version (`FieldIndex.frame(at:_:asOf:)`).
    ///
    /// The sources' merge rules are those of this snapshot: the version must not be older than `frameVersions.rules`.
    package func superseded(at version: Version) -> Snapshot {
        Snapshot(
            publication: Publication(version: version, asOf: .distantFuture), log: log, window: Window(),
            liveFrom: .distantFuture, sources: sources, extent: logExtent, lifetimes: lifetimes,
            severityTable: severityTable
        ).with(fields, on: fieldGrids, after: self)
    }

    /// The time of the newest live observation, report or aircraft of a source; nil if there is none.
    package func newest(of source: SourceRecord) -> Instant? {
        [
            window.newest(of: source.number), reports.last { $0.source == source.id }?.observedAt,
            traffic.newest(of: source.id),
        ].compactMap { $0 }.max()
    }

    /// The frame at an instant; nil if it or its trends need rows from before `liveFrom`.
    package func frame(at instant: Instant, filter: Filter) -> Frame? {
        frame(at: instant, filter: filter, marginSeconds: Frame.trendSeconds)
    }

    /// The plane of the frame at an instant, without trends; nil if it needs rows from before `liveFrom`.
    package func plane(at instant: Instant, filter: Filter) -> FramePlane? {
        frame(at: instant, filter: filter, marginSeconds: 0)?.plane()
    }

    private func frame(at instant: Instant, filter: Filter, marginSeconds: Int) -> Frame? {
        guard instant.advanced(by: 1 - filter.lookBackSeconds - marginSeconds) >= liveFrom else { return nil }
        return Frame(window: window, at: instant, filter: filter, table: severityTable)
    }

    /// The pilot reports of (instant − lookBackSeconds, instant]; nil if some are from before `liveFrom`.
    package func reports(at instant: Instant, lookBackSeconds: Int) -> [PilotReport]? {
        let oldest = instant.advanced(by: 1 - lookBackSeconds)
        guard oldest >= liveFrom else { return nil }
        return reports.filter { $0.observedAt >= oldest && $0.observedAt <= instant }
    }

    /// The areas valid at an instant; nil for one before `liveFrom`.
    package func areas(_ collection: IssuedArea.DatasetNumber, at instant: Instant) -> [IssuedArea]? {
        instant >= liveFrom ? areas.valid(at: instant, collection) : nil
    }

    /// The aircraft seen in (instant − droppedAfterSeconds, instant], by address; nil if that is too long ago.
    package func positions(at instant: Instant, droppedAfterSeconds: Int) -> [AircraftPosition]? {
        let remembered = publication.asOf.advanced(by: -Traffic.retentionSeconds)
        guard instant.advanced(by: -droppedAfterSeconds) >= remembered else { return nil }
        return traffic.positions(at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }
}

/// For each kind of data, the last version that changed any of it. Results made from one kind stay valid while other
/// kinds change.
package struct DataVersions: Sendable, Hashable {
    /// The last version that changed observations or the sources' merge rules.
    package var observations: Version
    package var reports: Version
    package var areas: Version
    package var positions: Version
    package var fields: Version

    package init(all version: Version) {
        observations = version
        reports = version
        areas = version
        positions = version
        fields = version
    }
}
