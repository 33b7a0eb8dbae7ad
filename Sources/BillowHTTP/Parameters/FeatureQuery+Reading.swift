package import BillowEngine
package import BillowExchange
package import BillowSnapshot
import Turbulence

extension FeatureQuery {
    static func names(_ collection: ExportCollection) -> Set<String> {
        let names = QueryReader.filterNames.union(["time", "datetime", "bbox", "aggregate", "deadReckoning", "f"])
        return collection == .polygons ? names.union(PolygonShape.names) : names
    }

    /// From the parameters of the interface, by name.
    package init(
        parameters: [String: String], collection: ExportCollection, frames: FrameSource, snapshot: Snapshot
    ) throws {
        try self.init(QueryReader(parameters), collection: collection, frames: frames, snapshot: snapshot)
    }

    init(_ reader: QueryReader, collection: ExportCollection, frames: FrameSource, snapshot: Snapshot) throws {
        self.init(collection, at: snapshot.publication.asOf, filter: try reader.filter())
        categoryIsAsked = reader.has("category")
        box = try reader.bbox()
        aggregate = try reader.boolean("aggregate") ?? true
        if collection == .polygons {
            shape = try PolygonShape(reader)
            // A source of features here, and of no record.
            if filter.namesOwnPolygons {
                issuers = filter.sources
                filter = filter.ofOwnPolygons
            }
        }
        deadReckoning = try reader.boolean("deadReckoning") ?? false
        let time = try reader.time()
        let datetime = try reader.datetime()
        switch collection {
        case .turbulence, .hexagons, .polygons: try setPicture(time, datetime, reader, frames, snapshot)
        case .observations, .pireps: try setRange(time, datetime, reader, snapshot)
        case .tracks: try setTracks(time, datetime, reader, frames, snapshot)
        case .hazards, .forecast, .traffic:
            if case .interval = datetime {
                isInterval = true
                try setRange(time, datetime, reader, snapshot)
            } else {
                let asked: RequestedTime = if case .instant(let wanted) = datetime { .instant(wanted) } else { time }
                instant = try frames.instant(
                    asked, in: snapshot, parameter: datetime == nil ? "time" : "datetime",
                    within: frames.reach(of: collection, in: snapshot))
            }
        }
    }

    /// On hexagons an instant is the picture at it, an interval a/b the picture at b over (a, b], at most 6 h.
    private mutating func setPicture(
        _ time: RequestedTime, _ datetime: DatetimeParameter?, _ reader: QueryReader, _ frames: FrameSource,
        _ snapshot: Snapshot
    ) throws {
        if datetime != nil, reader.has("time") {
            throw reader.invalid("time", reader.text("time") ?? "", "left out where datetime is given")
        }
        switch datetime {
        case nil: instant = try frames.instant(time, in: snapshot)
        case .instant(let wanted): instant = try frames.instant(.instant(wanted), in: snapshot, parameter: "datetime")
        case .interval(let start, let end):
            if reader.has("hours") {
                throw reader.invalid("hours", reader.text("hours") ?? "", "left out where datetime is an interval")
            }
            instant = try frames.instant(end.map { .instant($0) } ?? .latest, in: snapshot, parameter: "datetime")
            let seconds = start.map { instant.seconds - $0.seconds } ?? .max
            guard (1...History.sixHours.seconds).contains(seconds) else {
                throw reader.invalid(
                    "datetime", reader.text("datetime") ?? "",
                    "an interval with a start, of more than 0 s and at most 6 h")
            }
            filter.lookBackSeconds = seconds
        }
    }

    /// On tracks an instant is the history before it, and an interval itself.
    private mutating func setTracks(
        _ time: RequestedTime, _ datetime: DatetimeParameter?, _ reader: QueryReader, _ frames: FrameSource,
        _ snapshot: Snapshot
    ) throws {
        if case .interval = datetime {
            isInterval = true
            return try setRange(time, datetime, reader, snapshot)
        }
        let asked: RequestedTime = if case .instant(let wanted) = datetime { .instant(wanted) } else { time }
        instant = try frames.instant(
            asked, in: snapshot, parameter: datetime == nil ? "time" : "datetime",
            within: frames.reach(of: .tracks, in: snapshot))
        to = instant.advanced(by: 1)
        from = to.advanced(by: -filter.lookBackSeconds)
    }

    /// On observations and pilot reports it filters the time of observation, ends included; without it and without hours
    /// all that is stored is meant.
    private mutating func setRange(
        _ time: RequestedTime, _ datetime: DatetimeParameter?, _ reader: QueryReader, _ snapshot: Snapshot
    ) throws {
        switch datetime {
        case .instant(let instant):
            from = instant
            to = instant.advanced(by: 1)
        case .interval(let start, let end):
            from = start ?? .distantPast
            to = end?.advanced(by: 1) ?? .distantFuture
        case nil:
            let end: Instant?
            switch time {
            case .latest: end = nil
            case .instant(let instant): end = instant
            case .beyond(let text): throw reader.invalid("time", text, "an instant from 1970 to 2105")
            }
            guard reader.has("hours") || end != nil else { return }
            // What answers say of themselves is of the time that was asked for.
            if let end { instant = end }
            to = instant.advanced(by: 1)
            from = to.advanced(by: -filter.lookBackSeconds)
        }
    }
}
