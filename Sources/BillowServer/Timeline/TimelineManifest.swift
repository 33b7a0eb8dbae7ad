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
        /// Seconds.
        var updateInterval: Int
        /// From when to when it has frames.
        var extent: [String]
        var times: [String]
        var frames: [Frame]
        /// The template of any instant, without a version.
        var tiles: [String]
        var stale: Bool
        var dataTime: String?
        var timeProperty: String?
        /// The time of the frame to show at the instant asked for.
        var shown: String?
    }

    struct Frame: Encodable {
        var time: String
        var v: Int64
        var tiles: String
        /// Present on frames of times to come.
        var forecast: Bool?
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
    let ageRule: AgeRule

    /// What a manifest is asked for.
    struct Request: Sendable {
        var timeline: TimelineRequest
        var layers: [LayerTime]
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
        for layer in request.layers {
            layers.append(try await part(of: layer, timeline, time, request, in: snapshot))
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

    /// The instants of a picture of some layers: as often as the one that is new most often.
    func times(of layers: [LayerTime], _ timeline: Timeline, in snapshot: Snapshot) -> [Instant] {
        let extents = layers.map { frames.extent(of: $0, in: snapshot) }
        let update = layers.map { settings.updateSeconds(of: $0.id) }.min() ?? 60
        return timeline.times(updateInterval: update).filter { time in extents.contains { $0.contains(time) } }
    }

    /// The instants of a layer's frames: those of the timeline that it has.
    func times(of layer: LayerTime, _ timeline: Timeline, in snapshot: Snapshot) -> [Instant] {
        let extent = frames.extent(of: layer, in: snapshot)
        let times = timeline.times(updateInterval: settings.updateSeconds(of: layer.id)).filter(extent.contains)
        return layer.animates ? times : Array(times.suffix(1))
    }

    private func part(
        of layer: LayerTime, _ timeline: Timeline, _ time: Instant?, _ request: Request, in snapshot: Snapshot
    ) async throws -> TimelineManifest.Layer {
        let times = times(of: layer, timeline, in: snapshot)
        let extent = frames.extent(of: layer, in: snapshot)
        let look = frames.look(request.style, in: snapshot)
        let tiles = { (time: String, version: Version?) in
            let query = [version.map { "v=\($0)&s=\(look)" } ?? "", request.passedOn].filter { !$0.isEmpty }
            return "\(request.base)/tiles/\(layer.id)/\(time)/{z}/{x}/{y}.png"
                + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        var list: [TimelineManifest.Frame] = []
        for time in times {
            let version = try await frames.frameVersion(of: [layer], at: time, filter: request.filter, in: snapshot)
            list.append(
                TimelineManifest.Frame(
                    time: time.description, v: version.rawValue, tiles: tiles(time.compact, version),
                    forecast: time > snapshot.publication.asOf ? true : nil))
        }
        let age = ageRule.age(of: LayerList(layer.layer), in: snapshot, filter: request.filter)
        return TimelineManifest.Layer(
            id: layer.id, animates: layer.animates, updateInterval: settings.updateSeconds(of: layer.id),
            extent: [extent.lowerBound.description, extent.upperBound.description], times: list.map(\.time),
            frames: list, tiles: [tiles("{time}", nil)], stale: age.isStale, dataTime: age.dataTime?.description,
            timeProperty: layer.timeProperty,
            shown: time.flatMap { request.rule.frame(at: $0, of: times) }?.description)
    }
}
