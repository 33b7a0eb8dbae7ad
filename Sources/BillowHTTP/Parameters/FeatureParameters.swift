package import BillowEngine
import BillowExchange
package import BillowSnapshot
package import Datasets
import Geometry
import Turbulence

/// The parameters by which features are asked for: of `/collections/{id}/items`, `…/area`, `…/corridor`, `/export`,
/// `/changes`, and of `billow export`.
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
/// | `aggregate` | true or false | | true |
/// | `deadReckoning` | true or false | | false |
/// | `shape` | fields only | cells or contours | cells |
/// | `mode` | polygons and contours only | exact or atLeast | exact |
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

    /// The parameters that a collection has.
    package static func names(_ collection: Dataset) -> Set<String> {
        let names = QueryReader.filterNames.union(["time", "datetime", "bbox", "aggregate", "deadReckoning", "f"])
        if collection.content == .field { return names.union(PolygonShape.names).union(["shape"]) }
        return collection == .polygons ? names.union(PolygonShape.names) : names
    }

    package init(_ reader: QueryReader, of collection: Dataset) throws(ParameterProblem) {
        self.collection = collection
        self.reader = reader
        var filter = try reader.filter()
        box = try reader.bbox()
        aggregate = try reader.boolean("aggregate") ?? true
        isContoured = collection.content == .field ? try reader.isContoured() : false
        if collection.content == .field, !isContoured,
            let name = PolygonShape.names.sorted().first(where: { reader.has($0) })
        {
            throw reader.invalid(name, reader.text(name) ?? "", "left out unless shape is contours")
        }
        shape = collection == .polygons || isContoured ? try PolygonShape(reader) : PolygonShape()
        // A source of features here, and of no record.
        let isNamed = collection == .polygons && filter.namesOwnPolygons
        issuers = isNamed ? filter.sources : nil
        if isNamed { filter = filter.ofOwnPolygons }
        self.filter = filter
        deadReckoning = try reader.boolean("deadReckoning") ?? false
        time = try reader.time()
        datetime = try reader.datetime()
    }

    /// The query that they make at a snapshot.
    /// - Throws: `ParameterProblem` for times that don't go together; `EngineError` for one that the log doesn't have.
    package func query(_ frames: FrameSource, in snapshot: Snapshot) throws -> FeatureQuery {
        var query = FeatureQuery(collection, at: snapshot.publication.asOf, filter: filter)
        query.categoryIsAsked = reader.has("category")
        query.box = box
        query.aggregate = aggregate
        query.shape = shape
        query.isContoured = isContoured
        query.issuers = issuers
        query.deadReckoning = deadReckoning
        switch collection.selection {
        case .picture: try setPicture(&query, frames, snapshot)
        case .observed: try setRange(&query)
        case .tracks: try setTracks(&query, frames, snapshot)
        case .standing:
            if case .interval = datetime {
                query.isInterval = true
                try setRange(&query)
            } else {
                query.instant = try instant(frames, snapshot)
            }
        }
        return query
    }

    /// The instant of what holds or is seen at one.
    private func instant(_ frames: FrameSource, _ snapshot: Snapshot) throws(EngineError) -> Instant {
        let asked: RequestedTime = if case .instant(let wanted) = datetime { .instant(wanted) } else { time }
        return try frames.instant(
            asked, in: snapshot, parameter: datetime == nil ? "time" : "datetime",
            within: frames.reach(of: collection, in: snapshot))
    }

    /// On hexagons an instant is the picture at it, an interval a/b the picture at b over (a, b], at most 6 h. On fields
    /// it is an instant, ahead too.
    private func setPicture(_ query: inout FeatureQuery, _ frames: FrameSource, _ snapshot: Snapshot) throws {
        if datetime != nil, reader.has("time") {
            throw reader.invalid("time", reader.text("time") ?? "", "left out where datetime is given")
        }
        if collection.content == .field {
            if case .interval = datetime {
                throw reader.invalid("datetime", reader.text("datetime") ?? "", "an instant")
            }
            return query.instant = try instant(frames, snapshot)
        }
        switch datetime {
        case nil: query.instant = try frames.instant(time, in: snapshot)
        case .instant(let wanted):
            query.instant = try frames.instant(.instant(wanted), in: snapshot, parameter: "datetime")
        case .interval(let start, let end):
            if reader.has("hours") {
                throw reader.invalid("hours", reader.text("hours") ?? "", "left out where datetime is an interval")
            }
            query.instant = try frames.instant(
                end.map { .instant($0) } ?? .latest, in: snapshot, parameter: "datetime")
            let seconds = start.map { query.instant.seconds - $0.seconds } ?? .max
            guard (1...History.sixHours.seconds).contains(seconds) else {
                throw reader.invalid(
                    "datetime", reader.text("datetime") ?? "",
                    "an interval with a start, of more than 0 s and at most 6 h")
            }
            query.filter.lookBackSeconds = seconds
            query.hasOwnHistory = true
        }
    }

    /// On tracks an instant is the history before it, and an interval itself.
    private func setTracks(_ query: inout FeatureQuery, _ frames: FrameSource, _ snapshot: Snapshot) throws {
        if case .interval = datetime {
            query.isInterval = true
            return try setRange(&query)
        }
        query.instant = try instant(frames, snapshot)
        query.to = query.instant.advanced(by: 1)
        query.from = query.to.advanced(by: -query.filter.lookBackSeconds)
    }

    /// On observations and pilot reports it filters the time of observation, ends included; without it and without
    /// hours all that is stored is meant.
    private func setRange(_ query: inout FeatureQuery) throws(ParameterProblem) {
        switch datetime {
        case .instant(let instant):
            query.from = instant
            query.to = instant.advanced(by: 1)
        case .interval(let start, let end):
            query.from = start ?? .distantPast
            query.to = end?.advanced(by: 1) ?? .distantFuture
        case nil:
            let end: Instant?
            switch time {
            case .latest: end = nil
            case .instant(let instant): end = instant
            case .beyond(let text): throw reader.invalid("time", text, "an instant from 1970 to 2105")
            }
            guard reader.has("hours") || end != nil else { return }
            // What answers say of themselves is of the time that was asked for.
            if let end { query.instant = end }
            query.to = query.instant.advanced(by: 1)
            query.from = query.to.advanced(by: -query.filter.lookBackSeconds)
        }
    }
}
