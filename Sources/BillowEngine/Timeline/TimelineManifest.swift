package import BillowRaster
package import BillowSnapshot
import BillowFields
import BillowTiles
package import BillowTimeline
package import Datasets
package import Turbulence

/// A request for a manifest.
package struct ManifestRequest: Sendable {
    package var timeline: TimelineRequest
    /// The pictures with frames. Each is a layer, or several layers on top of each other.
    package var pictures: [[Dataset]]
    package var filter: Filter
    /// The time to go to; nil for none.
    package var time: RequestedTimePoint?
    var rule: FrameRule
    package var style: Style
    /// Converts a template's path and query to an address. A signature may leave a part of it open.
    var address: @Sendable (String, SignedAddress.TemplateVariables) -> String
    /// The parameters of templates, `name=value&…`; empty for none.
    package var passedOn: String
    /// Whether cells and grid points of turbulence are counted.
    var isCounted: Bool

    package init(
        timeline: TimelineRequest, pictures: [[Dataset]], filter: Filter, time: RequestedTimePoint? = nil,
        rule: FrameRule,
        style: Style, address: @escaping @Sendable (String, SignedAddress.TemplateVariables) -> String,
        passedOn: String,
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

/// All frames of a timeline at one publication, from which clients play an animation.
package struct TimelineManifest: Encodable {
    package struct Layer: Encodable {
        package var id: String
        var animates: Bool
        var updateInterval: Interval
        /// The time range with frames.
        package var extent: [String]
        package var times: [String]
        package var frames: [Frame]
        /// The number of H3 cells with moderate turbulence or worse in each frame, in the order of `times`. A number is
        /// nil for a frame without cells, as those ahead are. The list is nil if not requested, and for layers without
        /// cells.
        package var moderateOrWorse: [Int?]?
        /// The number of grid points of computed turbulence, moderate or worse, in each frame; a number is nil for a
        /// frame without a field. The list is nil if not requested, and for layers without a field.
        package var fieldModerateOrWorse: [Int?]?
        /// The template for any instant, without a version.
        var tiles: [String]
        var stale: Bool
        package var dataTime: String?
        var timeProperty: String?
        /// The time from which the log has all observations; nil if that is unknown.
        package var completeSince: String?
        /// Whether any frame is incomplete.
        package var incomplete: Bool
        /// The time of the frame for the requested instant.
        package var shown: String?
    }

    /// The update interval in seconds; null for a layer that is updated at its changes.
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
        /// Set on frames in the future.
        package var forecast: Bool?
        /// Set on the frame of the publication's minute.
        var live: Bool?
        /// Set on frames whose history is not completely in the log, or that lack any part of the world.
        package var incomplete: Bool?
        /// The product of a turbulence field: `gtgn`, the nowcast, or `gtg`, the forecast.
        package var product: String?
        /// The start time of the field's run.
        package var run: String?
        /// The seconds from the field's run to its valid time.
        package var lead: Int?
    }

    /// The time of the publication.
    var generated: String
    package var version: Int64
    package var start: String
    package var end: String
    package var intervals: Int
    var advice: String?
    package var layers: [Layer]
}

/// Makes manifests of timelines.
package struct TimelineService: Sendable {
    package let frames: FrameSource
    package let settings: TimelineSettings
    package let policy: FreshnessPolicy

    package init(frames: FrameSource, settings: TimelineSettings, policy: FreshnessPolicy) {
        self.frames = frames
        self.settings = settings
        self.policy = policy
    }

    /// - Throws: `EngineError.invalid` for an invalid timeline, and for a time outside it.
    package func manifest(_ request: ManifestRequest, in snapshot: Snapshot) async throws(EngineError)
        -> TimelineManifest
    {
        let timeline = try timeline(request.timeline, in: snapshot)
        var time: Instant?
        if let point = request.time {
            do { time = try timeline.seek(to: point.point.resolved(now: Self.now(snapshot)), text: point.text) } catch {
                throw .invalid(error)
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

    /// A timeline with resolved offsets.
    /// - Throws: `EngineError.invalid` for an invalid timeline.
    package func timeline(_ request: TimelineRequest, in snapshot: Snapshot) throws(EngineError) -> Timeline {
        do { return try request.resolved(now: Self.now(snapshot), defaults: settings.defaults) } catch {
            throw .invalid(error)
        }
    }

    /// The reference time of offsets: the publication's minute.
    private static func now(_ snapshot: Snapshot) -> Instant { snapshot.publication.asOf.floored(toMultipleOf: 60) }

    /// The times of the frames of some layers. They follow the shortest update interval, or the changes of all layers
    /// if none has an interval.
    package func times(of layers: [Dataset], _ timeline: Timeline, _ filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
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
        let extents = layers.map { snapshot.extent(of: $0) }
        let there = times.filter { time in extents.contains { $0.contains(time) } }
        return try await animates(layers, filter, in: snapshot) ? there : Array(there.suffix(1))
    }

    /// Whether frames before the last one differ from it. An upstream's own polygons have no past, because each issue
    /// replaces the previous one.
    private func animates(_ layers: [Dataset], _ filter: Filter, in snapshot: Snapshot) async throws(EngineError)
        -> Bool
    {
        guard layers.allSatisfy(\.isPolygons) else { return true }
        return try await !frames.showsIssuedPolygons(filter, in: snapshot)
    }

    private func updateSeconds(of layers: [Dataset]) -> Int? {
        layers.compactMap { settings.update(of: $0).seconds }.min()
    }

    private func part(
        of picture: [Dataset], _ timeline: Timeline, _ time: Instant?, _ request: ManifestRequest, in snapshot: Snapshot
    ) async throws(EngineError) -> TimelineManifest.Layer {
        let id = picture.map(\.id).joined(separator: ",")
        let times = try await times(of: picture, timeline, request.filter, in: snapshot)
        let extent = snapshot.extent(of: picture)
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
        for time in times {
            let there = picture.filter { snapshot.reach(of: $0).contains(time) }
            let version = try await frames.frameVersion(of: there, at: time, filter: request.filter, in: snapshot)
            let showsField = there.contains { $0.content == .field }
            let field = showsField ? snapshot.field(at: time, request.filter)?.identity : nil
            let lookBack = policy.lookBack(
                of: everything.layersForFreshness(picture, scene: there), at: time, filter: request.filter, in: snapshot
            )
            list.append(
                TimelineManifest.Frame(
                    time: time.description, v: version.rawValue, tiles: tiles(time.compact, version),
                    forecast: time > snapshot.publication.asOf ? true : nil,
                    live: time == Self.now(snapshot) ? true : nil,
                    incomplete: everything.isIncomplete(at: time, lookBack: lookBack) ? true : nil,
                    product: field?.product.name, run: field?.run.description, lead: field?.lead))
        }
        let counted = request.isCounted ? picture : []
        let cells = try await counts(of: counted.filter(\.showsCells), at: times, in: snapshot) {
            time async throws(EngineError) in
            try await frames.plane(at: time, filter: request.filter, in: snapshot).count(atLeast: .moderate)
        }
        let points = try await counts(of: counted.filter { $0.content == .field }, at: times, in: snapshot) {
            time async throws(EngineError) in
            try await frames.fieldCount(atLeast: .moderate, at: time, filter: request.filter, in: snapshot)
        }
        return TimelineManifest.Layer(
            id: id, animates: try await animates(picture, request.filter, in: snapshot),
            updateInterval: TimelineManifest.Interval(seconds: updateSeconds(of: picture)),
            extent: [extent.lowerBound.description, extent.upperBound.description], times: list.map(\.time),
            frames: list, moderateOrWorse: cells, fieldModerateOrWorse: points, tiles: [tiles("{time}", nil)],
            stale: freshness.isStale,
            dataTime: freshness.dataTime?.description,
            timeProperty: picture.count == 1 ? picture.first?.timeProperty : nil,
            completeSince: freshness.completeSince?.description, incomplete: list.contains { $0.incomplete == true },
            shown: time.flatMap { request.rule.frame(at: $0, of: times) }?.description)
    }

    /// A number for each time at which a picture shows one of some layers; nil without layers.
    private func counts(
        of layers: [Dataset], at times: [Instant], in snapshot: Snapshot,
        _ count: (Instant) async throws(EngineError) -> Int?
    ) async throws(EngineError) -> [Int?]? {
        guard !layers.isEmpty else { return nil }
        var counts: [Int?] = []
        for time in times {
            let isShown = layers.contains { snapshot.reach(of: $0).contains(time) }
            counts.append(isShown ? try await count(time) : nil)
        }
        return counts
    }
}
