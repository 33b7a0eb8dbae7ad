package import BillowRaster
package import BillowSnapshot
import BillowFields
import BillowTiles
package import BillowTimeline
package import Datasets
package import Turbulence

/// What a manifest is asked for.
package struct ManifestRequest: Sendable {
    package var timeline: TimelineRequest
    /// What has frames: each a layer, or several laid over each other.
    package var pictures: [[Dataset]]
    package var filter: Filter
    /// Go to this time.
    package var time: TimePoint?
    var rule: FrameRule
    package var style: Style
    /// Makes an address of a template's path and query, of which a signature may leave a part open.
    var address: @Sendable (String, SignedAddress.Opening) -> String
    /// Parameters that templates carry, `name=value&…`; empty for none.
    package var passedOn: String
    /// Whether cells of turbulence are counted.
    var isCounted: Bool

    package init(
        timeline: TimelineRequest, pictures: [[Dataset]], filter: Filter, time: TimePoint? = nil, rule: FrameRule,
        style: Style, address: @escaping @Sendable (String, SignedAddress.Opening) -> String, passedOn: String,
        isCounted: Bool = false
    ) {
        self.timeline = timeline
        self.pictures = pictures
        self.filter = filter
        self.time = time
        self.rule = rule
        self.style = style
        self.address = address
        self.passedOn = passedOn
        self.isCounted = isCounted
    }
}

/// All frames of a timeline: what an animation is played from. One document of one publication.
package struct TimelineManifest: Encodable {
    package struct Layer: Encodable {
        package var id: String
        var animates: Bool
        var updateInterval: Interval
        /// From when to when it has frames.
        package var extent: [String]
        package var times: [String]
        package var frames: [Frame]
        /// Beside `times`: the H3 cells of moderate turbulence or worse in each frame, where that is asked for; absent
        /// of what shows no such cells.
        package var moderateOrWorse: [Int]?
        /// The template of any instant, without a version.
        var tiles: [String]
        var stale: Bool
        package var dataTime: String?
        var timeProperty: String?
        /// From when on the log has all that was observed; absent where that isn't known.
        package var completeSince: String?
        /// Whether any frame is incomplete.
        package var incomplete: Bool
        /// The time of the frame to show at the instant asked for.
        package var shown: String?
    }

    /// In seconds; null of what is new at its changes.
    struct Interval: Encodable {
        var seconds: Int?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let seconds { try container.encode(seconds) } else { try container.encodeNil() }
        }
    }

    package struct Frame: Encodable {
        package var time: String
        var v: Int64
        var tiles: String
        /// Present on frames of times to come.
        package var forecast: Bool?
        /// Present on the frame of the publication's minute.
        var live: Bool?
        /// Present on frames that look back to before the log is complete, or of which it lacks any part of the world.
        package var incomplete: Bool?
        /// Of a turbulence field: `gtgn`, the nowcast, or `gtg`, the forecast.
        package var product: String?
        /// When the field's computation began.
        package var run: String?
        /// How long after its run it is about, in seconds.
        package var lead: Int?
    }

    /// When the publication was made that this is of.
    var generated: String
    package var version: Int64
    package var start: String
    package var end: String
    package var intervals: Int
    var advice: String?
    package var layers: [Layer]
}

/// Makes manifests.
package struct TimelineService: Sendable {
    package let frames: FrameSource
    package let settings: TimelineSettings
    package let policy: FreshnessPolicy

    package init(frames: FrameSource, settings: TimelineSettings, policy: FreshnessPolicy) {
        self.frames = frames
        self.settings = settings
        self.policy = policy
    }

    /// - Throws: `EngineError.invalid` for what is no timeline, and for a time to go to outside it.
    package func manifest(_ request: ManifestRequest, in snapshot: Snapshot) async throws -> TimelineManifest {
        let timeline = try timeline(request.timeline, in: snapshot)
        var time: Instant?
        if let point = request.time {
            do { time = try timeline.goTo(point.resolved(now: Self.now(snapshot))) } catch {
                throw EngineError.invalid(error)
            }
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
    /// - Throws: `EngineError.invalid` for what is none.
    package func timeline(_ request: TimelineRequest, in snapshot: Snapshot) throws(EngineError) -> Timeline {
        do { return try request.resolved(now: Self.now(snapshot), defaults: settings.defaults) } catch {
            throw .invalid(error)
        }
    }

    /// Now, for offsets: the publication's minute.
    private static func now(_ snapshot: Snapshot) -> Instant { snapshot.publication.asOf.floored(toMultipleOf: 60) }

    /// The instants of the frames of some layers. They are as frequent as those of the layer with the shortest
    /// interval, or at the changes of all where none has an interval.
    package func times(of layers: [Dataset], _ timeline: Timeline, _ filter: Filter, in snapshot: Snapshot)
        async throws
        -> [Instant]
    {
        let times: [Instant]
        if let seconds = updateSeconds(of: layers) {
            times = timeline.times(updateInterval: seconds)
        } else {
            let range = timeline.start...timeline.end
            times = timeline.times(
                changes: try await frames.changes(of: layers, filter: filter, in: range, in: snapshot))
        }
        let extents = layers.map { frames.extent(of: $0, in: snapshot) }
        let there = times.filter { time in extents.contains { $0.contains(time) } }
        return try await animates(layers, filter, in: snapshot) ? there : Array(there.suffix(1))
    }

    /// Whether frames of some layers say more than the last one does. An upstream's own polygons have no past: each
    /// issue replaces the one before.
    private func animates(_ layers: [Dataset], _ filter: Filter, in snapshot: Snapshot) async throws -> Bool {
        guard layers.allSatisfy(\.isPolygons) else { return true }
        return try await !frames.showsIssuedPolygons(filter, in: snapshot)
    }

    private func updateSeconds(of layers: [Dataset]) -> Int? {
        layers.compactMap { settings.update(of: $0).seconds }.min()
    }

    private func part(
        of picture: [Dataset], _ timeline: Timeline, _ time: Instant?, _ request: ManifestRequest, in snapshot: Snapshot
    ) async throws -> TimelineManifest.Layer {
        let id = picture.map(\.id).joined(separator: ",")
        let times = try await times(of: picture, timeline, request.filter, in: snapshot)
        let extent = frames.extent(of: picture, in: snapshot)
        let renderKey = frames.renderKey(request.style, in: snapshot)
        let tiles = { (time: String, version: Version?) in
            let query = [version.map { "v=\($0)&s=\(renderKey)" } ?? "", request.passedOn].filter { !$0.isEmpty }
            let template =
                "/tiles/\(id)/\(time)/{z}/{x}/{y}.png" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
            return request.address(template, version == nil ? .frames : .tiles)
        }
        let freshness = policy.freshness(
            of: picture, at: snapshot.publication.asOf, in: snapshot, filter: request.filter)
        let everything = policy.freshness(
            of: Set(picture.flatMap(\.kinds)), in: snapshot,
            filter: picture.contains(where: \.isPolygons) ? request.filter.ofOwnPolygons : request.filter)
        var list: [TimelineManifest.Frame] = []
        var counts: [Int] = []
        let isCounted = request.isCounted && picture.contains(where: \.showsCells)
        for time in times {
            let there = picture.filter { frames.reach(of: $0, in: snapshot).contains(time) }
            let version = try await frames.frameVersion(of: there, at: time, filter: request.filter, in: snapshot)
            let showsField = there.contains { $0.content == .field }
            let field = showsField ? snapshot.field(at: time, request.filter)?.identity : nil
            let lookBack = policy.lookBack(
                of: everything.judged(picture, scene: there), at: time, filter: request.filter, in: snapshot)
            list.append(
                TimelineManifest.Frame(
                    time: time.description, v: version.rawValue, tiles: tiles(time.compact, version),
                    forecast: time > snapshot.publication.asOf ? true : nil,
                    live: time == Self.now(snapshot) ? true : nil,
                    incomplete: everything.isIncomplete(at: time, lookBack: lookBack) ? true : nil,
                    product: field?.product.name, run: field?.run.description, lead: field?.lead))
        }
        if isCounted {
            for time in times {
                let plane = try await frames.plane(at: time, filter: request.filter, in: snapshot)
                counts.append(plane.count(atLeast: .moderate))
            }
        }
        return TimelineManifest.Layer(
            id: id, animates: try await animates(picture, request.filter, in: snapshot),
            updateInterval: TimelineManifest.Interval(seconds: updateSeconds(of: picture)),
            extent: [extent.lowerBound.description, extent.upperBound.description], times: list.map(\.time),
            frames: list, moderateOrWorse: isCounted ? counts : nil, tiles: [tiles("{time}", nil)],
            stale: freshness.isStale,
            dataTime: freshness.dataTime?.description,
            timeProperty: picture.count == 1 ? picture.first?.timeProperty : nil,
            completeSince: freshness.completeSince?.description, incomplete: list.contains { $0.incomplete == true },
            shown: time.flatMap { request.rule.frame(at: $0, of: times) }?.description)
    }
}
