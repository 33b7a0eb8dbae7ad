package import BillowEngine
import BillowExchange
package import BillowSnapshot
package import Datasets
import Geometry
import Turbulence

/// The parameters of queries for features: of `/collections/{id}/items`, `…/area`, `…/corridor`, `/export`, `/changes`,
/// and of `billow export`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `hours` | number | 0.5, 1, 2, 4 or 6 | 2; on observations and pilot reports all |
/// | `severity`, `minSeverity` | list of severities, severity | 0…4 or their names | all |
/// | `minAltitude`, `maxAltitude` | feet | 0…60000, whole thousands | all |
/// | `source`, `kind` | list of names | at most 32 | all |
/// | `category` | aircraft category | C10…C110 | C60 |
/// | `time` | instant or `latest` | the log's extent | `latest` |
/// | `datetime` | instant or interval a/b | the log's extent | that of `time` |
/// | `bbox` | west,south,east,north in degrees | the earth | none |
/// | `aggregate` | true or false | true alone where hexagons or polygons are drawn | true |
/// | `deadReckoning` | true or false | | false |
/// | `shape` | fields only | cells or contours | cells |
/// | `mode` | exact or atLeast | exact alone where there are neither polygons nor contours | exact |
/// | `tolerance`, `smooth` | polygons and contours only: degrees, times | 0…5, 0…3 | 0, 0 |
/// | `f` | format | json or the route's own | the route's own |
package struct FeatureParameters: Sendable {
    package let collection: Dataset
    private let filter: Filter
    private let box: BoundingBox?
    private let aggregate: Bool
    private let shape: PolygonShape
    private let isContoured: Bool
    private let issuers: Set<SourceID>?
    private let deadReckoning: Bool
    private let time: RequestedTime
    private let datetime: DatetimeParameter?
    private let reader: QueryReader

    /// The parameters that a collection supports.
    package static func names(_ collection: Dataset) -> Set<String> {
        let names = QueryReader.filterNames.union(["time", "datetime", "bbox", "deadReckoning", "f"])
        if collection.content == .field { return names.union(PolygonShape.names).union(["shape"]) }
        return collection.isPolygons ? names.union(PolygonShape.names) : names
    }

    package init(_ reader: QueryReader, of collection: Dataset, for use: QueryReader.FilterPurpose = .features)
        throws(ParameterProblem)
    {
        self.collection = collection
        self.reader = reader
        isContoured = collection.content == .field ? try reader.isContoured() : false
        var filter = try reader.filter(of: [collection], for: use, isContoured: isContoured)
        box = try reader.bbox()
        aggregate = try reader.boolean("aggregate") ?? true
        if collection.content == .field, !isContoured,
            let name = PolygonShape.names.subtracting(["mode"]).sorted().first(where: { reader.has($0) })
        {
            throw reader.invalid(name, reader.text(name) ?? "", "left out unless shape is contours")
        }
        shape = collection.isPolygons || isContoured ? try PolygonShape(reader) : PolygonShape()
        // The name selects Billow's own polygons and matches no stored source.
        let isNamed = collection.isPolygons && filter.namesOwnPolygons
        issuers = isNamed ? filter.sources : nil
        if isNamed { filter = filter.ofOwnPolygons }
        self.filter = filter
        deadReckoning = try reader.boolean("deadReckoning") ?? false
        time = try reader.time()
        datetime = try reader.datetime()
        try checkTimes()
    }

    /// - Throws: `ParameterProblem` for times that exclude each other, or that the collection can't have.
    private func checkTimes() throws(ParameterProblem) {
        switch collection.selection {
        case .picture:
            if datetime != nil, reader.has("time") {
                throw reader.invalid("time", reader.text("time") ?? "", "left out where datetime is given")
            }
            guard case .interval = datetime else { return }
            if reader.has("hours") {
                throw reader.invalid("hours", reader.text("hours") ?? "", "left out where datetime is an interval")
            }
        case .observed:
            if datetime == nil, time.moment == .beyond {
                throw reader.invalid("time", time.text, "an instant from 1970 to 2105")
            }
        case .tracks, .standing: break
        }
    }

    /// The query for these parameters at a snapshot.
    /// - Throws: `EngineError.timeOutsideLog` for a time outside the log.
    package func query(_ frames: FrameSource, in snapshot: Snapshot) throws(EngineError) -> FeatureQuery {
        var query = FeatureQuery(collection, at: snapshot.publication.asOf, filter: filter)
        query.hasRequestedCategory = reader.has("category")
        query.box = box
        query.aggregate = aggregate
        query.shape = shape
        query.isContoured = isContoured
        query.issuers = issuers
        query.deadReckoning = deadReckoning
        switch collection.selection {
        case .picture: try setPicture(&query, frames, snapshot)
        case .observed: setRange(&query)
        case .tracks: try setTracks(&query, frames, snapshot)
        case .standing:
            if case .interval = datetime {
                query.isInterval = true
                setRange(&query)
            } else {
                try setInstant(&query, frames, snapshot)
            }
        }
        return query
    }

    /// Sets the instant of a frame, of areas or of aircraft. An instant without data has no features: one in the
    /// future, or one in `datetime` before the retention.
    /// - Throws: `EngineError.timeOutsideLog` for a `time` before the retention.
    private func setInstant(_ query: inout FeatureQuery, _ frames: FrameSource, _ snapshot: Snapshot)
        throws(EngineError)
    {
        let requested =
            if case .instant(let instant) = datetime {
                RequestedTime(.instant(instant), parameter: "datetime", text: reader.text("datetime") ?? "")
            } else { time }
        let reach = snapshot.reach(of: collection)
        if case .instant(let instant) = requested.moment,
            instant > reach.upperBound || datetime != nil && instant < reach.lowerBound
        {
            query.instant = instant
            query.hasNothing = true
            return
        }
        query.instant = try frames.instant(requested, in: snapshot, within: reach)
    }

    /// For hexagons, an instant selects its frame. An interval a/b selects the frame at b with observations in (a, b],
    /// of which the last 6 h count. For fields it selects the field at b, which may be in the future.
    private func setPicture(_ query: inout FeatureQuery, _ frames: FrameSource, _ snapshot: Snapshot)
        throws(EngineError)
    {
        guard case .interval(let start, let end) = datetime else { return try setInstant(&query, frames, snapshot) }
        let reach = snapshot.reach(of: collection)
        // The future has no observations.
        query.instant = end.map { $0 > reach.upperBound ? snapshot.publication.asOf : $0 } ?? snapshot.publication.asOf
        query.hasNothing = query.instant < reach.lowerBound || start.map { $0 > query.instant } ?? false
        // A field has no history: it is the one at the end.
        guard collection.content != .field else { return }
        let seconds = start.map { query.instant.seconds - $0.seconds } ?? .max
        // An interval of zero length is treated as an instant.
        guard seconds > 0 else { return }
        query.filter.lookBackSeconds = min(seconds, History.sixHours.seconds)
        query.hasOwnHistory = true
    }

    /// For tracks, an instant selects the history before it, and an interval selects itself.
    private func setTracks(_ query: inout FeatureQuery, _ frames: FrameSource, _ snapshot: Snapshot)
        throws(EngineError)
    {
        if case .interval = datetime {
            query.isInterval = true
            return setRange(&query)
        }
        try setInstant(&query, frames, snapshot)
        query.to = query.instant.advanced(by: 1)
        query.from = query.to.advanced(by: -query.filter.lookBackSeconds)
    }

    /// For observations and pilot reports it filters the observation time, ends included. Without it and without
    /// `hours` everything stored is selected.
    private func setRange(_ query: inout FeatureQuery) {
        switch datetime {
        case .instant(let instant):
            query.from = instant
            query.to = instant.advanced(by: 1)
        case .interval(let start, let end):
            query.from = start ?? .distantPast
            query.to = end?.advanced(by: 1) ?? .distantFuture
        case nil:
            let end: Instant?
            switch time.moment {
            // `checkTimes` rejects an instant beyond the range.
            case .latest, .beyond: end = nil
            case .instant(let instant): end = instant
            }
            guard reader.has("hours") || end != nil else { return }
            // The response describes itself as of the requested time.
            if let end { query.instant = end }
            query.to = query.instant.advanced(by: 1)
            query.from = query.to.advanced(by: -query.filter.lookBackSeconds)
        }
    }
}
