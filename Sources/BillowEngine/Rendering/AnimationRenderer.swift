package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import BillowTimeline
package import Turbulence

/// A request for an animation.
package struct AnimationRequest: Sendable {
    package var layers: LayerList
    /// The requested range.
    package var timeline: TimelineRequest
    /// The times of the frames, in rising order.
    package var times: [Instant]
    package var region: MapRegion
    package var filter: Filter
    package var style: Style
    /// The most labelled aircraft per 256 × 256 pixels.
    package var labels: Int
    package var hasLegend: Bool
    package var hasTimeStamp: Bool
    /// Whether incomplete frames are hatched.
    package var hatchesIncomplete: Bool
    /// What lies below the data; nil leaves the frames transparent.
    package var ground: MapGround?
    package var form: AnimationRenderer.OutputFormat
    /// The duration of a frame. `holdMilliseconds` is the duration of the last frame.
    package var delayMilliseconds: Int
    package var holdMilliseconds: Int
    /// The number of repetitions; 0 repeats forever.
    package var loops: Int

    package init(
        layers: LayerList, timeline: TimelineRequest, times: [Instant], region: MapRegion, filter: Filter, style: Style,
        labels: Int = PictureContent.defaultLabels, hasLegend: Bool = true, hasTimeStamp: Bool = true,
        hatchesIncomplete: Bool = false, ground: MapGround? = nil,
        form: AnimationRenderer.OutputFormat = .animation, delayMilliseconds: Int = AnimationRenderer.defaultDelay,
        holdMilliseconds: Int = 3 * AnimationRenderer.defaultDelay,
        loops: Int = 0
    ) {
        self.layers = layers
        self.timeline = timeline
        self.times = times
        self.region = region
        self.filter = filter
        self.style = style
        self.labels = labels
        self.hasLegend = hasLegend
        self.hasTimeStamp = hasTimeStamp
        self.hatchesIncomplete = hatchesIncomplete
        self.ground = ground
        self.form = form
        self.delayMilliseconds = delayMilliseconds
        self.holdMilliseconds = holdMilliseconds
        self.loops = loops
    }
}

/// Renders timelines of a region, as an animated image or as a sheet of frames. Its work class runs one job at a time,
/// from the first frame to the encoded file. So at most one animation's frames are in memory.
package final class AnimationRenderer: Sendable {
    /// The output form.
    package enum OutputFormat: Sendable, Hashable {
        case animation
        /// All frames in one image.
        case sheet
    }

    /// The permitted durations of a frame in milliseconds.
    package static let delays = 20...60_000
    package static let defaultDelay = 500
    /// The most pixels of all frames: 64 MB while they are rendered, some seconds of drawing.
    package static let maximumPixels = 16 << 20

    private let maps: MapRenderer
    private let policy: FreshnessPolicy
    private let made: SharedCache<Key, [UInt8], EngineError>

    /// Everything that the bytes depend on: the data and all drawing options, including the caption texts.
    private struct Key: Hashable, Sendable {
        var log: String
        var versions: [Version]
        var maps: [MapRequest]
        var isSimulated: Bool
        /// The duration of a frame in milliseconds.
        var delay: Int
        var hold: Int
        var loops: Int
        var form: OutputFormat

        var estimatedBytes: Int {
            let words = maps.reduce(0) { $0 + $1.furniture.timeStamp.reduce(32) { $0 + $1.utf8.count + 16 } }
            let filter = maps.first?.filter.estimatedBytes ?? 0
            return 1_000 + maps.count * (MemoryLayout<MapRequest>.stride + 64) + filter + words
        }
    }

    /// A frame of an animation.
    private struct Frame: Sendable {
        var scene: FrameSource.Scene
        var dataStatus: DataStatus
        var caption: [String]
        /// The parts of the caption that must not be cut.
        var warnings: [String]
    }

    private let frames: FrameSource

    package init(maps: MapRenderer, frames: FrameSource, policy: FreshnessPolicy) {
        self.maps = maps
        self.frames = frames
        self.policy = policy
        made = SharedCache(frames.caches, keyBytes: { $0.estimatedBytes }) { $0.count }
    }

    /// The animation as a PNG file.
    /// - Throws: `EngineError.tooManyPixels` above `maximumPixels`, `.noFrames` without a frame; the errors of
    ///   `MapRenderer`.
    package func png(_ request: AnimationRequest, in snapshot: Snapshot) async throws(EngineError) -> [UInt8] {
        guard !request.times.isEmpty else {
            let extent = snapshot.extent(of: request.layers.layers)
            throw .noFrames(request.timeline.blamed, extent: extent)
        }
        let pixels = request.region.width * request.region.height * request.times.count
        guard pixels <= Self.maximumPixels else {
            throw .tooManyPixels(
                frames: request.times.count, width: request.region.width, height: request.region.height)
        }
        let frames = scenes(of: request, in: snapshot)
        var versions: [Version] = []
        for scene in frames.map(\.scene) {
            versions.append(
                try await self.frames.frameVersion(
                    of: scene.layers.layers, at: scene.instant, filter: request.filter, in: snapshot))
        }
        let key = Key(
            log: snapshot.log, versions: versions, maps: frames.map { map(request, $0) },
            isSimulated: frames.contains { $0.dataStatus.freshness.isSimulated },
            delay: request.delayMilliseconds, hold: request.holdMilliseconds, loops: request.loops, form: request.form)
        return try await made.value(for: key) { [self] () async throws(EngineError) in
            switch request.form {
            case .animation: try await animation(request, frames, in: snapshot)
            case .sheet: try await sheet(request, frames, in: snapshot)
            }
        }
    }

    /// The requested furniture that frames have no room for, by the names of its parameters. A sheet has its legend
    /// below the frames.
    package func omittedParts(_ request: AnimationRequest, in snapshot: Snapshot) throws(EngineError) -> [String] {
        guard let last = scenes(of: request, in: snapshot).last else { return [] }
        var order = map(request, last)
        if request.form == .sheet { order.furniture.legend = nil }
        return try MapComposition(order).omittedParts()
    }

    /// Describes the last frame of an animation; incomplete if any frame is.
    package func dataStatus(_ request: AnimationRequest, in snapshot: Snapshot) -> DataStatus {
        let frames = scenes(of: request, in: snapshot)
        var dataStatus =
            frames.last?.dataStatus
            ?? policy.dataStatus(
                request.layers, of: request.region.region, at: snapshot.publication.asOf, filter: request.filter,
                in: snapshot)
        dataStatus.isIncomplete = frames.contains { $0.dataStatus.isIncomplete }
        return dataStatus
    }

    private func scenes(of request: AnimationRequest, in snapshot: Snapshot) -> [Frame] {
        request.times.map { time in
            let scene = frames.scene(of: request.layers, at: time, in: snapshot)
            let dataStatus = policy.dataStatus(
                request.layers, scene: scene.layers, of: request.region.region, at: scene.instant,
                filter: request.filter, in: snapshot)
            return Frame(
                scene: scene, dataStatus: dataStatus,
                caption: request.hasTimeStamp
                    ? dataStatus.caption(
                        request.filter,
                        historySeconds: scene.layers.historySeconds(request.filter),
                        asOf: snapshot.publication.asOf) : [],
                warnings: request.hasTimeStamp ? dataStatus.warnings(asOf: snapshot.publication.asOf) : [])
        }
    }

    private func animation(_ request: AnimationRequest, _ frames: [Frame], in snapshot: Snapshot)
        async throws(EngineError)
        -> [UInt8]
    {
        var encoded: [AnimationFrame] = []
        for (number, frame) in frames.enumerated() {
            let canvas = try await maps.canvas(map(request, frame), in: snapshot)
            let isLast = number == frames.count - 1
            encoded.append(
                AnimationFrame(
                    pixels: canvas.pixels.map(\.straight),
                    delayMilliseconds: isLast ? request.holdMilliseconds : request.delayMilliseconds))
        }
        do {
            return try AnimatedPNG.encode(
                width: request.region.width, height: request.region.height, frames: encoded, loops: request.loops)
        } catch { throw .picture(.png(error)) }
    }

    /// Arranges frames in rows, about as wide as high.
    private func sheet(_ request: AnimationRequest, _ frames: [Frame], in snapshot: Snapshot) async throws(EngineError)
        -> [UInt8]
    {
        let count = frames.count
        let (width, height) = (request.region.width, request.region.height)
        let columns = (1...count).first { $0 * width >= (count + $0 - 1) / $0 * height } ?? count
        let gap = 4 * request.region.scale
        let rows = (count + columns - 1) / columns
        let isSimulated = frames.contains { $0.dataStatus.freshness.isSimulated }
        let card: Canvas?
        do {
            card = try legend(request, isSimulated: isSimulated).map { (legend) throws(PictureError) in
                try MapFurniture.card(legend, scale: request.region.scale, theme: request.style.theme)
            }
        } catch { throw .picture(error) }
        let (across, down) = (columns * (width + gap) - gap, rows * (height + gap) - gap)
        // A single legend, below the frames.
        var sheet: Canvas
        do {
            sheet = try Canvas(
                width: max(across, card?.width ?? 0), height: down + (card.map { $0.height + gap } ?? 0))
        } catch { throw .picture(.canvas(error)) }
        if let card { sheet.lay(card, x: 0, y: down + gap) }
        for (number, frame) in frames.enumerated() {
            var order = map(request, frame)
            order.furniture.legend = nil
            let canvas = try await maps.canvas(order, in: snapshot)
            sheet.lay(canvas, x: number % columns * (width + gap), y: number / columns * (height + gap))
        }
        do { return try sheet.png() } catch { throw .picture(.png(error)) }
    }

    private func map(_ request: AnimationRequest, _ frame: Frame) -> MapRequest {
        MapRequest(
            layers: frame.scene.layers, region: request.region, instant: frame.scene.instant, filter: request.filter,
            style: request.style, labels: request.labels,
            furniture: MapFurniture(
                legend: legend(request, isSimulated: frame.dataStatus.freshness.isSimulated), timeStamp: frame.caption,
                warnings: frame.warnings),
            isHatched: request.hatchesIncomplete && frame.dataStatus.isIncomplete, ground: request.ground)
    }

    private func legend(_ request: AnimationRequest, isSimulated: Bool) -> Legend? {
        guard request.hasLegend else { return nil }
        return request.layers.legend(
            style: request.style, severities: request.filter.severities, simulated: isSimulated,
            notes: request.filter.notes(
                lookBackSeconds: request.layers.historySeconds(request.filter)))
    }
}
