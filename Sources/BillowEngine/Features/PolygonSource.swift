package import BillowAreas
package import BillowSnapshot
import BillowStore
import BillowTiles
import Geometry
import ServiceLifecycle
import Synchronization
import Turbulence

/// The shape options of a query for turbulence polygons.
package struct PolygonShape: Sendable, Hashable {
    package var mode = PolygonMode.exact
    /// The tolerance in degrees by which boundaries may move to save vertices.
    package var tolerance = 0.0
    /// The number of corner-cutting iterations.
    package var smoothing = 0

    package init() {}
}

/// Computes turbulence polygons. It caches their areas by the set of cells alone. So histories with equal cells share
/// an entry, and so do minutes without a change.
package final class PolygonSource: Sendable {
    private struct FrameKey: Hashable, Sendable {
        var head: Head
        var instant: Instant
        var filter: Filter
        var area: CellArea
    }

    /// The cells of a frame's polygons.
    private struct Content: Sendable {
        var cells: CellClasses
        var fingerprint: Fingerprint
        var observed: [Severity: ClosedRange<Instant>]
    }

    private struct AreaKey: Hashable, Sendable {
        var cells: Fingerprint
        var shape: PolygonShape
        var severities: SeveritySet
    }

    /// The precomputed polygons of the newest publication.
    private struct PreparedPolygons {
        /// The chunks of the longest history. Only changed chunks are recomputed: most are equal from minute to minute,
        /// and between the longest and shorter histories.
        var chunks = DissolvedChunks(CellClasses([(Cell, UInt8)]()))
        /// The areas of each history, by the fingerprint of its cells.
        var areas: [Fingerprint: [Severity: PackedArea]] = [:]
    }

    /// For this long after a request, polygons are precomputed for each new publication. Clients that follow polygons
    /// request them more often. A server without such clients computes none.
    static let demandSeconds = 3_600

    /// The most vertices of smoothed polygons: some 20 MB of GeoJSON, and 80 MB while they are computed.
    static let maximumCorners = 1_000_000

    private let frames: FrameSource
    private let contents: SharedCache<FrameKey, Content, EngineError>
    private let dissolves: SharedCache<Fingerprint, DissolvedCells, Never>
    private let areas: SharedCache<AreaKey, [Severity: PackedArea], EngineError>
    private let ready = Mutex(PreparedPolygons())
    /// The publication of the newest request.
    private let lastRequest = Mutex(Instant.distantPast)

    init(frames: FrameSource) {
        self.frames = frames
        contents = SharedCache(frames.caches, keyBytes: { $0.filter.estimatedBytes + $0.area.estimatedBytes }) {
            content in
            content.cells.chunks.reduce(1_000) { $0 + $1.values.count + 50 }
        }
        dissolves = SharedCache(frames.caches) { $0.byteCount }
        areas = SharedCache(frames.caches) { areas in areas.values.reduce(1_000) { $0 + $1.byteCount } }
    }

    /// The polygons of a query.
    /// - Throws: `EngineError.historyNotMade` for an unavailable history.
    package func polygons(_ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError) -> [TurbulencePolygon]
    {
        if !query.hasOwnHistory { try frames.polygonHistories.require(query.filter) }
        noteRequest(snapshot)
        let key = FrameKey(
            head: Self.head(snapshot), instant: query.instant, filter: query.filter, area: query.cells)
        let content = try await content(key, snapshot)
        let areas = try await areas(
            of: content.cells, content.fingerprint, shape: query.shape, severities: query.filter.severities)
        return TurbulencePolygon.all(
            of: content.cells, areas: areas, mode: query.shape.mode, severities: query.filter.severities,
            observed: content.observed)
    }

    /// The polygons of a whole frame without their areas, for callers that draw only a part of them.
    func facts(at instant: Instant, _ filter: Filter, mode: PolygonMode, in snapshot: Snapshot)
        async throws(EngineError)
        -> [TurbulencePolygon]
    {
        noteRequest(snapshot)
        let key = FrameKey(
            head: Self.head(snapshot), instant: instant, filter: filter, area: .everywhere)
        let content = try await content(key, snapshot)
        return TurbulencePolygon.all(
            of: content.cells, areas: [:], mode: mode, severities: filter.severities, observed: content.observed)
    }

    /// The last version that changed observations or the sources' rules.
    private static func head(_ snapshot: Snapshot) -> Head {
        Head(version: snapshot.versions.observations, log: snapshot.log)
    }

    private func content(_ key: FrameKey, _ snapshot: Snapshot) async throws(EngineError) -> Content {
        try await contents.value(for: key) { [frames] () async throws(EngineError) in
            let plane = try await frames.plane(at: key.instant, filter: key.filter, in: snapshot)
            let frame = try await frames.frame(at: key.instant, filter: key.filter, in: snapshot)
            let cells = CellClasses(plane, in: key.area)
            return Content(
                cells: cells, fingerprint: cells.fingerprint, observed: frame.observed(in: plane, area: key.area))
        }
    }

    /// The areas of cells by severity class (`CellClasses.value`).
    func areas(of cells: CellClasses, shape: PolygonShape, severities: SeveritySet) async throws(EngineError)
        -> [Severity: PackedArea]
    {
        try await areas(of: cells, cells.fingerprint, shape: shape, severities: severities)
    }

    private func areas(
        of cells: CellClasses, _ fingerprint: Fingerprint, shape: PolygonShape, severities: SeveritySet
    ) async throws(EngineError) -> [Severity: PackedArea] {
        if shape == PolygonShape(), severities == .all, let ready = ready.withLock({ $0.areas[fingerprint] }) {
            return ready
        }
        let key = AreaKey(cells: fingerprint, shape: shape, severities: severities)
        return try await areas.value(for: key) { [self] () async throws(EngineError) in
            var dissolved = await dissolves.value(for: fingerprint) { [self] in
                DissolvedCells(chunks(of: cells))
            }
            try WorkExecutor.checkCancellation()
            if shape.tolerance > 0 || shape.smoothing > 0 {
                do throws(TooManyCorners) {
                    dissolved = try dissolved.simplified(
                        tolerance: shape.tolerance, smoothing: shape.smoothing, maximumCorners: Self.maximumCorners)
                } catch { throw .tooManyCorners(error) }
                try WorkExecutor.checkCancellation()
            }
            return TurbulencePolygon.areas(of: dissolved, mode: shape.mode, severities: severities)
        }
    }

    private func chunks(of cells: CellClasses) -> DissolvedChunks {
        DissolvedChunks(cells, reusing: [ready.withLock { $0.chunks }])
    }

    /// Whether polygons of the newest publication are precomputed.
    var isPrepared: Bool { ready.withLock { !$0.areas.isEmpty } }

    private func noteRequest(_ snapshot: Snapshot) {
        lastRequest.withLock { $0 = max($0, snapshot.publication.asOf) }
    }

    /// Precomputes the most frequent results: the whole world, every configured history, exact sets. Without a request
    /// within `demandSeconds` it computes nothing, and frees what an earlier call computed.
    func prepare(_ snapshot: Snapshot) async throws(EngineError) {
        let expiry = lastRequest.withLock { $0 }.advanced(by: Self.demandSeconds)
        guard snapshot.publication.asOf <= expiry else { return ready.withLock { $0 = PreparedPolygons() } }
        var areas: [Fingerprint: [Severity: PackedArea]] = [:]
        for history in frames.polygonHistories.all.sorted(by: >) {
            let key = FrameKey(
                head: Self.head(snapshot), instant: snapshot.publication.asOf,
                filter: Filter(history: history), area: .everywhere)
            let content = try await content(key, snapshot)
            guard areas[content.fingerprint] == nil else { continue }
            areas[content.fingerprint] = try await prepared(content, isLongest: areas.isEmpty)
            try WorkExecutor.checkCancellation()
        }
        ready.withLock { [areas] in $0.areas = areas }
    }

    private func prepared(_ content: Content, isLongest: Bool) async throws(EngineError) -> [Severity: PackedArea] {
        if let known = ready.withLock({ $0.areas[content.fingerprint] }) { return known }
        let key = AreaKey(cells: content.fingerprint, shape: PolygonShape(), severities: .all)
        return try await areas.value(for: key, isCached: false) { [self] () async throws(EngineError) in
            let chunks = chunks(of: content.cells)
            let areas = TurbulencePolygon.areas(of: DissolvedCells(chunks), mode: .exact, severities: .all)
            ready.withLock { ready in
                if isLongest { ready.chunks = chunks }
                ready.areas[content.fingerprint] = areas
            }
            return areas
        }
    }
}

extension CellClasses {
    /// A key for the cells to dissolve.
    fileprivate var fingerprint: Fingerprint {
        var fingerprint = Fingerprint()
        for chunk in chunks {
            fingerprint.mix(UInt64(chunk.index))
            chunk.values.withUnsafeBytes { values in
                for start in stride(from: 0, to: values.count, by: 8) {
                    var eight: UInt64 = 0
                    withUnsafeMutableBytes(of: &eight) {
                        $0.copyMemory(
                            from: UnsafeRawBufferPointer(rebasing: values[start..<min(start + 8, values.count)]))
                    }
                    fingerprint.mix(eight)
                }
            }
        }
        return fingerprint
    }
}

/// Precomputes the polygons of the configured histories in the background, as soon as a snapshot is published. A
/// concurrent request waits for that computation.
package struct PolygonPreparation: Service {
    package let publisher: SnapshotPublisher
    package let polygons: PolygonSource

    package init(publisher: SnapshotPublisher, polygons: PolygonSource) {
        self.publisher = publisher
        self.polygons = polygons
    }

    package func run() async {
        for await snapshot in publisher.publications {
            // The publisher reports store failures; the next publication retries.
            try? await cancelWhenGracefulShutdown { try await polygons.prepare(snapshot) }
        }
    }
}
