package import BillowFields
package import Geometry
package import Turbulence

/// The whole live picture at one publication: immutable, swapped whole. A request takes it once and answers from it
/// alone.
package struct Snapshot: Sendable {
    package let publication: Publication
    /// Names the log that it is of, among all others.
    package let log: String
    /// The rows from `liveFrom` on.
    package let window: Window
    /// From when on every row is in `window`; what a picture needs from before comes from the store.
    package let liveFrom: Instant
    /// Every source, in the order of their numbers.
    package let sources: [SourceRecord]
    /// What times the log held at the publication's version.
    package let extent: LogExtent
    package let severityTable: SeverityTable
    /// The pilot reports from `liveFrom` on, ordered by (time, id).
    package let reports: [PilotReport]
    /// The issued areas that hold at `liveFrom` or later.
    package let areas: AreaWindow
    package let traffic: Traffic
    /// When each kind of data last changed.
    package let versions: DataVersions
    /// When each of the live pictures last changed.
    package let frameVersions: FrameVersions
    /// All fields that are stored, of every time. A picture of an earlier version takes them as of that version.
    package private(set) var fields = FieldIndex.empty
    /// Their grids, by the numbers that fields have.
    package private(set) var fieldGrids: [Int64: GridDefinition] = [:]
    /// Where and when there are fields.
    package private(set) var fieldCoverage = FieldCoverage.empty

    package init(
        publication: Publication, log: String, window: Window, liveFrom: Instant, sources: [SourceRecord],
        extent: LogExtent = LogExtent(), severityTable: SeverityTable, reports: [PilotReport] = [],
        areas: AreaWindow = AreaWindow(),
        traffic: Traffic = Traffic(), versions: DataVersions? = nil,
        frameVersions: FrameVersions? = nil
    ) {
        self.publication = publication
        self.log = log
        self.window = window
        self.liveFrom = liveFrom
        self.sources = sources
        self.extent = extent
        self.severityTable = severityTable
        self.reports = reports
        self.areas = areas
        self.traffic = traffic
        self.versions = versions ?? DataVersions(all: publication.version)
        self.frameVersions = frameVersions ?? FrameVersions(fixed: publication.version)
    }

    /// The same with other fields.
    ///
    /// - Parameter former: a snapshot with most of their grids.
    package func with(
        _ fields: FieldIndex, on grids: [Int64: GridDefinition], after former: Snapshot? = nil
    ) -> Snapshot {
        var snapshot = self
        snapshot.fields = fields
        snapshot.fieldGrids = grids
        snapshot.fieldCoverage = FieldCoverage(fields, on: grids, after: former?.fieldCoverage ?? .empty)
        return snapshot
    }

    /// The snapshot of an older version: none of it is live, so everything is read from the store as of that version.
    /// The fields are all there; those that are newer are none of that version's (`FieldIndex.frame(at:_:asOf:)`).
    ///
    /// The sources' rules are those of this snapshot: the version must not be older than `frameVersions.rules`.
    package func superseded(at version: Version) -> Snapshot {
        Snapshot(
            publication: Publication(version: version, asOf: .distantFuture), log: log, window: Window(),
            liveFrom: .distantFuture, sources: sources, extent: extent, severityTable: severityTable
        ).with(fields, on: fieldGrids, after: self)
    }

    /// When the newest of what is live of a source was observed: reports and aircraft as well as turbulence; nil where
    /// there is nothing.
    package func newest(of source: SourceRecord) -> Instant? {
        [
            window.newest(of: source.number), reports.last { $0.source == source.id }?.observedAt,
            traffic.newest(of: source.id),
        ].compactMap { $0 }.max()
    }

    /// The frame at an instant, or nil where it or its trends need rows from before `liveFrom`.
    package func frame(at instant: Instant, filter: Filter) -> Frame? {
        frame(at: instant, filter: filter, marginSeconds: Frame.trendSeconds)
    }

    /// The plane of the frame at an instant, or nil where it needs rows from before `liveFrom`. It has no trends.
    package func plane(at instant: Instant, filter: Filter) -> FramePlane? {
        frame(at: instant, filter: filter, marginSeconds: 0)?.plane()
    }

    private func frame(at instant: Instant, filter: Filter, marginSeconds: Int) -> Frame? {
        guard instant.advanced(by: 1 - filter.lookBackSeconds - marginSeconds) >= liveFrom else { return nil }
        return Frame(window: window, at: instant, filter: filter, table: severityTable)
    }

    /// The pilot reports of (instant − lookBackSeconds, instant], or nil where some are from before `liveFrom`.
    package func reports(at instant: Instant, lookBackSeconds: Int) -> [PilotReport]? {
        let oldest = instant.advanced(by: 1 - lookBackSeconds)
        guard oldest >= liveFrom else { return nil }
        return reports.filter { $0.observedAt >= oldest && $0.observedAt <= instant }
    }

    /// The areas that hold at an instant, or nil for one before `liveFrom`.
    package func areas(_ collection: IssuedArea.Collection, at instant: Instant) -> [IssuedArea]? {
        instant >= liveFrom ? areas.valid(at: instant, collection) : nil
    }

    /// The aircraft seen in (instant − droppedAfterSeconds, instant], by address, or nil where that is not remembered.
    package func positions(at instant: Instant, droppedAfterSeconds: Int) -> [AircraftPosition]? {
        let remembered = publication.asOf.advanced(by: -Traffic.keptSeconds)
        guard instant.advanced(by: -droppedAfterSeconds) >= remembered else { return nil }
        return traffic.positions(at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }
}

/// For each kind of data the last version that changed any of it: what is made of one kind stays the same while others
/// move.
package struct DataVersions: Sendable, Hashable {
    /// Observations, and the sources' rules.
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
