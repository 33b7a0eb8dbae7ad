import HTTPTypes
public import BillowSnapshot
public import BillowStore
public import Turbulence

/// Finds the picture of any instant: in the live snapshot, or, for one long past, from the hours that the store gives back.
public final class FrameSource: Sendable {
    private struct WindowKey: Hashable, Sendable {
        var endHour: Int
        var version: Version
    }

    struct PlaneKey: Hashable, Sendable {
        var version: Version
        var instant: Instant
        var filter: Filter
    }

    private let publisher: SnapshotPublisher
    private let store: any Store
    private let retentionSeconds: Int
    /// How long after it was last seen an aircraft is shown.
    public let trafficDropSeconds: Int
    /// Archived hours, by rows.
    private let windows = SharedCache<WindowKey, Window>(capacity: 2_000_000) { $0.count + 10_000 }
    /// Planes, by bytes.
    private let planes = SharedCache<PlaneKey, FramePlane>(capacity: 64 << 20) { $0.bytes }

    public init(
        publisher: SnapshotPublisher, store: any Store, retentionSeconds: Int, trafficDropSeconds: Int = 180
    ) {
        self.publisher = publisher
        self.store = store
        self.retentionSeconds = retentionSeconds
        self.trafficDropSeconds = trafficDropSeconds
    }

    /// The current picture.
    /// - Throws: `Problem` 503 until the store has been read for the first time.
    public func snapshot() throws(Problem) -> Snapshot {
        guard let snapshot = publisher.snapshot else {
            throw Problem(
                .serviceUnavailable, code: "starting", detail: "The stored data is being read; try again in a second.",
                retryAfterSeconds: 1)
        }
        return snapshot
    }

    /// Seconds until the picture is published anew because it ages: what is answered until then expires together. At least
    /// 1, for the moment when that is due.
    func freshSeconds(of snapshot: Snapshot) -> Int {
        max(1, snapshot.publication.asOf.floored(toMultipleOf: 60).seconds + 60 - publisher.now().seconds)
    }

    /// From when to when an instant may be asked for.
    public func extent(of snapshot: Snapshot) -> ClosedRange<Instant> {
        let retained = snapshot.publication.asOf.advanced(by: -retentionSeconds)
        let oldest = publisher.observed.map { min($0.lowerBound, retained) } ?? retained
        return oldest...max(oldest, snapshot.publication.asOf.advanced(by: 60))
    }

    /// The instant that a request names, checked against what there is.
    ///
    /// - Parameter ahead: whether it may lie in the future, as far as issued areas reach.
    public func instant(
        _ time: RequestedTime, in snapshot: Snapshot, parameter: String = "time", ahead: Bool = false
    ) throws(Problem) -> Instant {
        switch time {
        case .latest: return snapshot.publication.asOf
        case .instant(let instant):
            var extent = extent(of: snapshot)
            if ahead, let end = snapshot.areas.end { extent = extent.lowerBound...max(extent.upperBound, end) }
            guard extent.contains(instant) else {
                throw Problem(
                    .notFound, code: "time-outside-retention",
                    detail: "There is no picture at \(instant): the log reaches from \(extent.lowerBound) to "
                        + "\(extent.upperBound).", parameter: parameter, value: instant.description,
                    allowed: "\(extent.lowerBound)/\(extent.upperBound)")
            }
            return instant
        }
    }

    /// The picture at an instant that `instant(_:in:)` gave.
    public func frame(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws -> Frame {
        if let frame = snapshot.frame(at: instant, filter: filter) { return frame }
        // Whole hours, so that the frames of a timeline share what is loaded.
        let endHour = instant.seconds / 3_600 + 1
        let key = WindowKey(endHour: endHour, version: snapshot.versions.observations)
        let window = try await windows.value(for: key) { [store] in
            let end = Instant(clamping: endHour * 3_600)
            let rows = try await store.rows(
                from: end.advanced(by: -(History.sixHours.seconds + 3_600 + 1_800)), to: end)
            return Window(rows: rows.rows, sources: rows.sources)
        }
        return Frame(window: window, at: instant, filter: filter, table: snapshot.severityTable)
    }

    /// The same picture as one byte a cell.
    public func plane(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws -> FramePlane {
        let key = PlaneKey(version: snapshot.versions.observations, instant: instant, filter: filter)
        return try await planes.value(for: key) { [self] in
            try await frame(at: instant, filter: filter, in: snapshot).plane()
        }
    }

    /// The pilot reports of the history before an instant, ordered by (time, id).
    public func reports(at instant: Instant, lookBackSeconds: Int, in snapshot: Snapshot) async throws -> [PilotReport]
    {
        if let reports = snapshot.reports(at: instant, lookBackSeconds: lookBackSeconds) { return reports }
        return try await store.pilotReports(
            from: instant.advanced(by: 1 - lookBackSeconds), to: instant.advanced(by: 1),
            asOf: snapshot.publication.version)
    }

    /// The areas of a collection that hold at an instant, by id.
    public func areas(_ collection: IssuedArea.Collection, at instant: Instant, in snapshot: Snapshot) async throws
        -> [IssuedArea]
    {
        if let areas = snapshot.areas(collection, at: instant) { return areas }
        return try await store.areas(
            collection, from: instant, to: instant.advanced(by: 1), asOf: snapshot.publication.version)
    }

    /// The aircraft seen at most `droppedAfterSeconds` before an instant, by address.
    public func positions(at instant: Instant, droppedAfterSeconds: Int, in snapshot: Snapshot) async throws
        -> [AircraftPosition]
    {
        if let positions = snapshot.positions(at: instant, droppedAfterSeconds: droppedAfterSeconds) {
            return positions
        }
        let stored = try await store.positions(
            from: instant.advanced(by: 1 - droppedAfterSeconds), to: instant.advanced(by: 1))
        return Traffic.standing(stored, at: instant, droppedAfterSeconds: droppedAfterSeconds)
    }
}

/// The instant that a request names.
public enum RequestedTime: Sendable, Hashable {
    case latest
    case instant(Instant)
}
