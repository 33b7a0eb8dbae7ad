import BillowAreas
import BillowSnapshot
import Geometry
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization
public import Turbulence

/// How turbulence polygons are asked for.
struct PolygonShape: Sendable, Hashable {
    var mode = PolygonMode.exact
    /// Degrees by which boundaries may move to save corners.
    var tolerance = 0.0
    /// How often corners are cut.
    var smoothing = 0

    static let names: Set<String> = ["mode", "tolerance", "smooth"]
    private static let tolerances = 0.0...5.0

    init() {}

    init(_ reader: QueryReader) throws(Problem) {
        mode = try reader.polygonMode()
        tolerance = try reader.number("tolerance", in: Self.tolerances) ?? 0
        smoothing = try reader.integer("smooth", in: 0...3) ?? 0
    }
}

extension QueryReader {
    /// Which hexagons polygons are made of.
    func polygonMode() throws(Problem) -> PolygonMode {
        try choice("mode", PolygonMode.allCases.map { ($0.rawValue, $0) }) ?? .exact
    }
}

/// Makes turbulence polygons and remembers them: one dissolve for each picture, and what was asked of it.
final class PolygonSource: Sendable {
    private struct Picture: Hashable, Sendable {
        var version: Version
        var instant: Instant
        var filter: Filter
        var area: CellArea
    }

    private struct Key: Hashable, Sendable {
        var picture: Picture
        var shape: PolygonShape
    }

    /// What a picture's polygons are made of.
    private struct Content: Sendable {
        var cells: CellClasses
        var observed: [Severity: ClosedRange<Instant>]
    }

    private struct Dissolve: Sendable {
        var content: Content
        var dissolved: DissolvedCells
    }

    private let frames: FrameSource
    /// By cells, a byte each.
    private let contents = SharedCache<Picture, Content>(capacity: 16_000_000) { content in
        content.cells.chunks.reduce(1_000) { $0 + $1.values.count }
    }
    /// In bytes.
    private let dissolves = SharedCache<Picture, Dissolve>(capacity: 16 << 20) { $0.dissolved.byteCount }
    private let polygons = SharedCache<Key, [TurbulencePolygon]>(capacity: 4_000_000) { polygons in
        polygons.reduce(1_000) { $0 + $1.area.polygons.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } } }
    }
    /// The newest chunks of each history over the whole world: from minute to minute, and from history to history, most of
    /// them are the same.
    private let newest = Mutex<[Filter: DissolvedChunks]>([:])

    init(frames: FrameSource) { self.frames = frames }

    /// The polygons of a query.
    /// - Throws: `Problem` 404 for a history that isn't made.
    func polygons(_ query: FeatureQuery, in snapshot: Snapshot) async throws -> [TurbulencePolygon] {
        try frames.polygonHistories.require(query.filter)
        return try await polygons(
            at: query.instant, query.filter, in: query.cells, shape: query.shape, snapshot: snapshot)
    }

    /// The polygons of a picture of the whole world, without their areas: for those that draw only a part of them.
    func facts(at instant: Instant, _ filter: Filter, mode: PolygonMode, in snapshot: Snapshot) async throws
        -> [TurbulencePolygon]
    {
        let picture = Picture(
            version: snapshot.versions.observations, instant: instant, filter: filter, area: .everywhere)
        let content = try await content(picture, snapshot)
        return TurbulencePolygon.all(
            of: content.cells, nil, mode: mode, severities: filter.severities, observed: content.observed)
    }

    private func polygons(
        at instant: Instant, _ filter: Filter, in area: CellArea, shape: PolygonShape, snapshot: Snapshot
    ) async throws -> [TurbulencePolygon] {
        let picture = Picture(
            version: snapshot.versions.observations, instant: instant, filter: filter, area: area)
        return try await polygons.value(for: Key(picture: picture, shape: shape)) { [self] in
            let made = try await dissolve(picture, snapshot)
            let dissolved =
                shape.tolerance > 0 || shape.smoothing > 0
                ? made.dissolved.simplified(tolerance: shape.tolerance, smoothing: shape.smoothing) : made.dissolved
            return TurbulencePolygon.all(
                of: made.content.cells, dissolved, mode: shape.mode, severities: filter.severities,
                observed: made.content.observed)
        }
    }

    private func content(_ picture: Picture, _ snapshot: Snapshot) async throws -> Content {
        try await contents.value(for: picture) { [frames] in
            let plane = try await frames.plane(at: picture.instant, filter: picture.filter, in: snapshot)
            let frame = try await frames.frame(at: picture.instant, filter: picture.filter, in: snapshot)
            return Content(
                cells: CellClasses(plane, in: picture.area), observed: frame.observed(in: plane, area: picture.area))
        }
    }

    private func dissolve(_ picture: Picture, _ snapshot: Snapshot) async throws -> Dissolve {
        try await dissolves.value(for: picture) { [self] in
            let content = try await content(picture, snapshot)
            guard picture.area == .everywhere,
                frames.polygonHistories.all.contains(where: { Filter(history: $0) == picture.filter })
            else { return Dissolve(content: content, dissolved: DissolvedCells(content.cells)) }
            let known = newest.withLock { newest in
                // Its own first: most of them are the same.
                [newest[picture.filter]].compactMap { $0 } + newest.filter { $0.key != picture.filter }.values
            }
            let chunks = DissolvedChunks(content.cells, reusing: known)
            newest.withLock { $0[picture.filter] = chunks }
            return Dissolve(content: content, dissolved: DissolvedCells(chunks))
        }
    }

    /// Makes what is asked for most: the whole world, every history that is configured, exact sets.
    func prepare(_ snapshot: Snapshot) async throws {
        for history in frames.polygonHistories.all {
            _ = try await polygons(
                at: snapshot.publication.asOf, Filter(history: history), in: .everywhere, shape: PolygonShape(),
                snapshot: snapshot)
        }
    }
}

/// Keeps the polygons of the configured histories ready: made as soon as a picture is published, in the background. Who asks
/// in between waits for that making.
struct PolygonPreparation: Service {
    let publisher: SnapshotPublisher
    let polygons: PolygonSource

    private static let pause = Duration.milliseconds(250)

    func run() async throws {
        var prepared: Publication?
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if let snapshot = publisher.snapshot, snapshot.publication != prepared {
                prepared = snapshot.publication
                // A failure to read the store is the publisher's to tell; the next publication tries again.
                try? await cancelWhenGracefulShutdown { try await polygons.prepare(snapshot) }
            }
            // Cut short only by the shutdown that ends the loop.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
        }
    }
}
