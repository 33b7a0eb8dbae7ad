package import BillowAreas
package import BillowSnapshot
package import BillowStore
import Geometry
package import Turbulence

/// A request for turbulence ahead: the area to search, and the aircraft whose own reports are excluded.
package struct AlertRequest: Sendable {
    package var query = AlertQuery()
    /// The aircraft whose reports are excluded, named as in observations.
    package var aircraft: String?
    package var time = RequestedTime.latest
    /// The instant at which the aircraft is at its position. Nil is the searched instant, and warnings of that instant.
    package var departure: Instant?

    package init(
        query: AlertQuery = AlertQuery(), aircraft: String? = nil, time: RequestedTime = RequestedTime.latest
    ) {
        self.query = query
        self.aircraft = aircraft
        self.time = time
    }
}

/// Turbulence ahead at an instant.
package struct AlertReport: Sendable {
    package var time: Instant
    package var query: AlertQuery
    /// The searched altitudes.
    package var altitudes: AltitudeRange
    package var version: Version
    package var area: AlertArea
    /// The nearest items first, at most `AlertSource.maximumItems`.
    package var items: [AlertItem]
    /// The number of all matching items.
    var itemsMatched: Int
    /// The instant at which the aircraft is at its position, if the request names one.
    package var departure: Instant?
    /// Warnings that overlap the area and the altitudes while they are in force; see `AlertSource.hazardsAhead`.
    package var hazards: [IssuedArea]
    /// Computed turbulence in the area; nil if no stored field matches the filter.
    package var field: FieldAhead?
    /// The freshness and completeness of the searched data.
    package var dataStatus: DataStatus
}

/// Searches the current frame for turbulence ahead.
package struct AlertSource: Sendable {
    package let frames: FrameSource
    package let store: any Store
    package let policy: FreshnessPolicy

    package init(frames: FrameSource, store: any Store, policy: FreshnessPolicy) {
        self.frames = frames
        self.store = store
        self.policy = policy
    }

    /// The most items in an answer.
    static let maximumItems = 2_000
    /// The number of observations between two checks for cancellation.
    private static let pageSize = 10_000

    package func report(_ request: AlertRequest, of flight: FlightState, in snapshot: Snapshot)
        async throws(EngineError)
        -> AlertReport
    {
        let area = AlertArea(request.query, of: flight)
        let instant = try frames.instant(request.time, in: snapshot)
        let filter = request.query.filter(of: flight)
        var records: [CurrentObservation] = []
        var hazards: [IssuedArea] = []
        if area.area != nil {
            let frame = try await frames.frame(at: instant, filter: filter, in: snapshot)
            records = try await self.records(request, of: frame, in: area.cells, at: instant, snapshot)
            hazards = try await hazardsAhead(request, of: flight, in: area, at: instant, filter: filter, snapshot)
        }
        let field = try await fieldAhead(
            request, of: flight, in: area, at: request.departure ?? instant, filter: filter, snapshot)
        var dataStatus = policy.turbulenceAndWarnings(
            of: area.area.map(GeographicRegion.area) ?? .everywhere, at: instant, filter: filter, in: snapshot)
        if field?.dataStatus.freshness.isSimulated == true { dataStatus.freshness.isSimulated = true }
        let items: [AlertItem]
        do { items = try AlertItem.items(of: records, request.query, in: area, of: flight) } catch { throw .cancelled }
        return AlertReport(
            time: instant, query: request.query, altitudes: filter.altitudes,
            version: snapshot.publication.version, area: area,
            items: AlertItem.prefix(items, most: Self.maximumItems), itemsMatched: items.count,
            departure: request.departure, hazards: hazards, field: field, dataStatus: dataStatus)
    }

    /// Reads standing observations in an area page by page, without the aircraft's own of the last hour.
    private func records(
        _ request: AlertRequest, of frame: Frame, in area: CellArea, at instant: Instant, _ snapshot: Snapshot
    ) async throws(EngineError) -> [CurrentObservation] {
        var records: [CurrentObservation] = []
        var after: (Cell, ObservationKey)?
        while true {
            try WorkExecutor.checkCancellation()
            let page = frame.currentObservations(after: after, limit: Self.pageSize, area: area)
            records += try await withoutOwnObservations(than: request, page, at: instant, snapshot)
            guard page.count == Self.pageSize, let last = page.last else { return records }
            after = (last.row.cell, last.row.key)
        }
    }

    /// Filters out the aircraft's own observations of the last hour.
    private func withoutOwnObservations(
        than request: AlertRequest, _ records: [CurrentObservation], at instant: Instant, _ snapshot: Snapshot
    ) async throws(EngineError) -> [CurrentObservation] {
        guard let aircraft = request.aircraft else { return records }
        let own = instant.advanced(by: -request.query.excludeOwnSeconds)
        let keys = records.filter { $0.row.observedAt > own }.map(\.row.key)
        let details = try await frames.reading(in: snapshot) { () async throws(StoreError) in
            try await store.details(of: keys)
        }
        return records.filter { $0.row.observedAt <= own || details[$0.row.key]?.aircraft != aircraft }
    }
}

/// The response to an alert request.
package struct AlertResponse: Encodable, Sendable {
    package struct Item: Encodable, Sendable {
        var h3: String
        package var longitude: Double
        package var latitude: Double
        package var severity: Int
        var severityName: String
        var altitudeMin: Int
        var altitudeMax: Int
        package var observedAt: String
        package var source: String
        /// The distance in nautical miles, the bearing in degrees, and the time to reach it in seconds.
        package var distance: Double
        var bearing: Double
        var timeTo: Int?
        var cluster: Int?
    }

    struct Cluster: Encodable, Sendable {
        var id: Int
        var severity: Int
        var severityName: String
        var longitude: Double
        var latitude: Double
        var diameter: Double
        var distance: Double
        var timeTo: Int?
        var timeToPass: Int?
        /// The cell of the nearest member with the highest severity.
        var worst: String
        var members: [String]
        /// The members that no earlier event contained.
        var new: [String]
        var text: String
    }

    package struct Hazard: Encodable, Sendable {
        package var id: String
        package var kind: String
        var hazard: String?
        package var severity: Int?
        var severityName: String?
        /// The limits in feet; nil without a limit.
        var altitudeMin: Int?
        var altitudeMax: Int?
        /// `AGL` for altitudes above the ground.
        var altitudeReference: String?
        var validFrom: String
        var validTo: String
        package var source: String

        package init(_ area: IssuedArea) {
            id = area.id
            kind = area.kind
            hazard = area.hazard
            severity = area.severity.map { Int($0.rawValue) }
            severityName = area.severity?.name
            altitudeMin = area.altitudeMinFeet
            altitudeMax = area.altitudeMaxFeet
            altitudeReference = area.isAboveGround ? "AGL" : nil
            validFrom = area.validFrom.description
            validTo = area.validTo.description
            source = area.source.name
        }
    }

    /// The effective query, including defaults. It lets clients notice a misspelt parameter.
    package struct Query: Encodable, Sendable {
        /// The altitude range in feet.
        package var minAltitude: Int
        package var maxAltitude: Int
        package var severity: [Int]
        package var hours: Double
        package var category: String
        /// The sources; nil for every source.
        package var source: [String]?
        /// The distance and the widths in nautical miles, and the angle in degrees; nil if not applicable.
        package var distance: Double?
        package var angle: Double?
        package var widthAround: Double?
        /// The departure; nil if the request names none.
        package var departure: String?

        init(_ report: AlertReport) {
            minAltitude = report.altitudes.minimum * 1_000
            maxAltitude = min(report.altitudes.maximum, 60) * 1_000
            severity = Severity.allCases.filter(report.query.severities.contains).map { Int($0.rawValue) }
            hours = report.query.history.hours
            category = report.query.category.name
            source = report.query.sources?.map(\.name).sorted()
            let kind = report.area.kind
            distance = kind == .beam || kind == .route ? AlertResponse.rounded(report.area.reachMiles, 1) : nil
            angle = kind == .beam ? report.query.angleSpan : nil
            widthAround = kind == .route ? report.query.widthAround : nil
            departure = report.departure?.description
        }
    }

    /// A time that is encoded as null if unknown, so that the client sees that it is unknown.
    package struct KnownTime: Encodable, Sendable {
        package var instant: Instant?

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(instant?.description)
        }
    }

    package struct Area: Encodable, Sendable {
        package var type = "MultiPolygon"
        package var coordinates: [[[[Double]]]]
    }

    /// The flight's id; nil for a flight that isn't monitored.
    package var flight: String?
    package var time: String
    package var version: Int64
    /// The oldest of the sources' last successful fetches, whether all sources are stale, and whether the data is
    /// simulated. Old data without turbulence does not mean smooth air.
    package var dataTime: KnownTime
    var stale: Bool
    package var simulated: Bool
    /// The time from which the log has all searched data, and whether data is missing. A search of incomplete data
    /// without a result does not mean smooth air.
    package var completeSince: KnownTime
    package var incomplete: Bool
    package var kind: String
    package var query: Query
    package var items: [Item]
    /// The total number of items, including those omitted from `items`; and whether any were omitted.
    var numberMatched: Int
    var truncated: Bool
    var clusters: [Cluster]
    package var hazards: [Hazard]
    /// Computed turbulence, separate from the reports; absent if no stored field matches the query.
    package var field: FieldAheadResponse?
    /// The searched area; nil if nothing was searched.
    package var area: Area?
    /// False if the flight can't be stored at present. A restart then falls back to an earlier position.
    package var stored: Bool?
    /// The source of the answer's headers; not encoded.
    package let dataStatus: DataStatus

    private enum CodingKeys: String, CodingKey {
        case flight, time, version, dataTime, stale, simulated, completeSince, incomplete, kind, query, items
        case numberMatched, truncated, clusters, hazards, field, area, stored
    }

    package init(_ report: AlertReport, clusters: [AlertCluster], flight: String? = nil) {
        self.flight = flight
        dataStatus = report.dataStatus
        time = report.time.description
        version = report.version.rawValue
        dataTime = KnownTime(instant: report.dataStatus.freshness.dataTime)
        stale = report.dataStatus.freshness.isStale
        simulated = report.dataStatus.freshness.isSimulated
        completeSince = KnownTime(instant: report.dataStatus.freshness.completeSince)
        incomplete = report.dataStatus.isIncomplete
        kind = report.area.kind.rawValue
        query = Query(report)
        var clusterOf: [Cell: Int] = [:]
        for cluster in clusters { for member in cluster.members { clusterOf[member.cell] = cluster.id } }
        items = report.items.map { item in
            let center = H3.center(of: item.cell)
            return Item(
                h3: item.cell.h3String, longitude: Self.rounded(center.longitude, 5),
                latitude: Self.rounded(center.latitude, 5), severity: Int(item.record.severity.rawValue),
                severityName: item.record.severity.name, altitudeMin: item.record.row.altitude.lowest.feet,
                altitudeMax: item.record.row.altitude.highest.feet,
                observedAt: item.record.row.observedAt.description, source: item.record.source.name,
                distance: Self.rounded(item.distance, 1), bearing: Self.rounded(item.bearing, 1),
                timeTo: Self.seconds(item.timeTo), cluster: clusterOf[item.cell])
        }
        numberMatched = report.itemsMatched
        truncated = report.itemsMatched > report.items.count
        self.clusters = clusters.map { cluster in
            Cluster(
                id: cluster.id, severity: Int(cluster.severity.rawValue), severityName: cluster.severity.name,
                longitude: Self.rounded(cluster.center.longitude, 5),
                latitude: Self.rounded(cluster.center.latitude, 5),
                diameter: Self.rounded(cluster.diameter, 1), distance: Self.rounded(cluster.distance, 1),
                timeTo: Self.seconds(cluster.timeTo), timeToPass: Self.seconds(cluster.timeToPass),
                worst: cluster.worst.cell.h3String, members: cluster.members.map(\.cell.h3String),
                new: cluster.newCells.map(\.h3String), text: cluster.text)
        }
        hazards = report.hazards.map(Hazard.init)
        field = report.field.map(FieldAheadResponse.init)
        area = report.area.area.map { area in
            Area(
                coordinates: area.polygons.map { rings in
                    rings.map { ring in ring.map { [Self.rounded($0.longitude, 6), Self.rounded($0.latitude, 6)] } }
                })
        }
    }

    static func rounded(_ value: Double, _ decimals: Int) -> Double {
        let scale = [1, 10, 100, 1_000, 10_000, 1e5, 1e6][min(decimals, 6)]
        return (value * scale).rounded() / scale
    }

    /// A time of a year or more becomes nil, which stands for never.
    static func seconds(_ time: Double?) -> Int? { time.flatMap { $0 < 31_536_000 ? Int($0.rounded()) : nil } }
}
