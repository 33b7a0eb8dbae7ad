import BillowRaster
import BillowSnapshot
import BillowTiles
import BillowTimeline
import Turbulence

/// All frames of a timeline: what an animation is played from. One document of one publication.
struct TimelineManifest: Encodable {
    struct Layer: Encodable {
        var id: String
        var animates: Bool
        var updateInterval: Interval
        /// From when to when it has frames.
        var extent: [String]
        var times: [String]
        var frames: [Frame]
        /// The template of any instant, without a version.
        var tiles: [String]
        var stale: Bool
        var dataTime: String?
        var timeProperty: String?
        /// From when on the log has all that was observed; absent where that isn't known.
        var completeSince: String?
        /// Whether any frame is incomplete.
        var incomplete: Bool
        /// The time of the frame to show at the instant asked for.
        var shown: String?
    }

    /// In seconds; null of what is new at its changes.
    struct Interval: Encodable {
        var seconds: Int?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let seconds { try container.encode(seconds) } else { try container.encodeNil() }
        }
    }

    struct Frame: Encodable {
        var time: String
        var v: Int64
        var tiles: String
        /// Present on frames of times to come.
        var forecast: Bool?
        /// Present on the frame of the publication's minute.
        var live: Bool?
        /// Present on frames that look back to before the log is complete.
        var incomplete: Bool?
    }

    /// When the publication was made that this is of.
    var generated: String
    var version: Int64
    var start: String
    var end: String
    var intervals: Int
    var advice: String?
    var layers: [Layer]
}

/// Makes manifests.
struct TimelineService: Sendable {
    let frames: FrameSource
    let settings: TimelineSettings
    let policy: FreshnessPolicy

    /// What a manifest is asked for.
    struct Request: Sendable {
        var timeline: TimelineRequest
        /// What has frames: each a layer, or several laid over each other.
        var pictures: [[LayerTime]]
        var filter: Filter
        /// Go to this time.
        var time: TimePoint?
        var rule: FrameRule
        var style: Style
        /// What templates begin with.
        var base: String
        /// Parameters that templates carry, `name=value&…`; empty for none.
        var passedOn: String
    }

    /// - Throws: `Problem` 400 for what is no timeline, and for a time to go to outside it.
    func manifest(_ request: Request, in snapshot: Snapshot) async throws -> TimelineManifest {
        let timeline = try timeline(request.timeline, in: snapshot)
        var time: Instant?
        if let point = request.time {
            do { time = try timeline.goTo(point.resolved(now: Self.now(snapshot))) } catch { throw Problem(error) }
        }
        var layers: [TimelineManifest.Layer] = []
        for picture in request.pictures {
            layers.append(try await part(of: picture, timeline, time, request, in: snapshot))
        }
        return TimelineManifest(
            generated: snapshot.publication.asOf.description, version: snapshot.publication.version.rawValue,
            start: timeline.start.description, end: timeline.end.description, intervals: timeline.intervals,
            advice: timeline.advice, layers: layers)
    }

    /// A timeline with its offsets settled.
    /// - Throws: `Problem` 400 for what is none.
    func timeline(_ request: TimelineRequest, in snapshot: Snapshot) throws(Problem) -> Timeline {
        do { return try request.resolved(now: Self.now(snapshot), defaults: settings.defaults) } catch {
            throw Problem(error)
        }
    }

    /// Now, for offsets: the publication's minute.
    private static func now(_ snapshot: Snapshot) -> Instant { snapshot.publication.asOf.floored(toMultipleOf: 60) }

    /// The instants of the frames of some layers, of those of the timeline that any of them has: as often as the one that is
    /// new most often, or at the changes of all where none has an interval.
    func times(of layers: [LayerTime], _ timeline: Timeline, _ filter: Filter, in snapshot: Snapshot) async throws
        -> [Instant]
    {
        let times: [Instant]
        if let seconds = updateSeconds(of: layers) {
            times = timeline.times(updateInterval: seconds)
        } else {
            let range = timeline.start...timeline.end
            times = timeline.times(changes: try await frames.changes(of: layers, in: range, in: snapshot))
        }
        let extents = layers.map { frames.extent(of: $0, in: snapshot) }
        let there = times.filter { time in extents.contains { $0.contains(time) } }
        return try await animates(layers, filter, in: snapshot) ? there : Array(there.suffix(1))
    }

    /// Whether frames of some layers say more than the last one does. An upstream's own polygons have no past: each issue
    /// replaces the one before.
    private func animates(_ layers: [LayerTime], _ filter: Filter, in snapshot: Snapshot) async throws -> Bool {
        guard layers.allSatisfy({ $0.layer == .polygons }) else { return true }
        return try await !frames.showsIssuedPolygons(filter, in: snapshot)
    }

    private func updateSeconds(of layers: [LayerTime]) -> Int? {
        layers.compactMap { settings.update(of: $0).seconds }.min()
    }

    private func part(
        of picture: [LayerTime], _ timeline: Timeline, _ time: Instant?, _ request: Request, in snapshot: Snapshot
    ) async throws -> TimelineManifest.Layer {
        let id = picture.map(\.id).joined(separator: ",")
        let times = try await times(of: picture, timeline, request.filter, in: snapshot)
        let extent = frames.extent(of: picture, in: snapshot)
        let look = frames.look(request.style, in: snapshot)
        let tiles = { (time: String, version: Version?) in
            let query = [version.map { "v=\($0)&s=\(look)" } ?? "", request.passedOn].filter { !$0.isEmpty }
            return "\(request.base)/tiles/\(id)/\(time)/{z}/{x}/{y}.png"
                + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        let freshness = policy.freshness(of: Set(picture.map(\.layer.kind)), in: snapshot, filter: request.filter)
        var list: [TimelineManifest.Frame] = []
        for time in times {
            let there = picture.filter { frames.reach(of: $0, in: snapshot).contains(time) }
            let version = try await frames.frameVersion(of: there, at: time, filter: request.filter, in: snapshot)
            list.append(
                TimelineManifest.Frame(
                    time: time.description, v: version.rawValue, tiles: tiles(time.compact, version),
                    forecast: time > snapshot.publication.asOf ? true : nil,
                    live: time == Self.now(snapshot) ? true : nil,
                    incomplete: freshness.isIncomplete(
                        at: time, lookBack: LayerTime.lookBack(of: there, request.filter)) ? true : nil))
        }
        return TimelineManifest.Layer(
            id: id, animates: try await animates(picture, request.filter, in: snapshot),
            updateInterval: TimelineManifest.Interval(seconds: updateSeconds(of: picture)),
            extent: [extent.lowerBound.description, extent.upperBound.description], times: list.map(\.time),
            frames: list, tiles: [tiles("{time}", nil)], stale: freshness.isStale,
            dataTime: freshness.dataTime?.description,
            timeProperty: picture.count == 1 ? picture.first?.timeProperty : nil,
            completeSince: freshness.completeSince?.description, incomplete: list.contains { $0.incomplete == true },
            shown: time.flatMap { request.rule.frame(at: $0, of: times) }?.description)
    }
}
