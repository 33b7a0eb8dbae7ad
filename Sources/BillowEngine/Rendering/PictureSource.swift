package import BillowSnapshot
package import BillowStore
package import BillowTiles
package import Datasets
package import Turbulence

/// Collects the filtered data that layers are drawn from at an instant. All tiles of a view share each kind of data.
package final class PictureSource: Sendable {
    private struct Key: Hashable, Sendable {
        var layer: Dataset
        var head: Head
        var instant: Instant
        var filter: Filter
    }

    private let frames: FrameSource
    private let store: any Store
    private let records: SharedCache<Key, PictureData, EngineError>
    private struct TrackKey: Hashable, Sendable {
        var minute: Instant
        var head: Head
    }

    /// All tracks at a minute.
    private let tracks: SharedCache<TrackKey, [[AircraftPosition]], EngineError>
    /// The memory budget that all caches of this server share.
    package var caches: CacheBudget { frames.caches }

    package init(frames: FrameSource, store: any Store) {
        self.frames = frames
        self.store = store
        records = SharedCache(frames.caches, keyBytes: { $0.filter.estimatedBytes }) { $0.estimatedBytes }
        tracks = SharedCache(frames.caches) { tracks in
            tracks.reduce(0) { $0 + $1.count * MemoryLayout<AircraftPosition>.stride + 32 }
        }
    }

    /// The last version that changed the frame of some layers at an instant.
    package func version(of list: LayerList, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> Version
    {
        try await frames.frameVersion(of: list.layers, at: instant, filter: filter, in: snapshot)
    }

    /// The data of a list of layers at an instant from `FrameSource.instant`.
    package func data(for list: LayerList, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> PictureData
    {
        var data = PictureData(instant: instant)
        if list.layers.contains(where: { $0.showsCells && !$0.isPolygons }) {
            data.plane = try await frames.plane(at: instant, filter: filter, in: snapshot)
        }
        if list.layers.contains(where: \.isPolygons) {
            data.polygons = try await polygons(at: instant, filter: filter, in: snapshot)
        }
        if list.layers.contains(where: { $0.content == .field }) {
            data.field = try await frames.fieldPicture(at: instant, filter: filter, in: snapshot)
            data.lacksField = snapshot.lacksField(at: instant, filter)
        }
        for layer in list.layers where !layer.showsCells && layer.content != .field {
            // The key has the version of the data, not of the publication: most frames outlive many publications.
            let version = try await frames.frameVersion(
                of: [layer], at: instant, filter: filter, in: snapshot)
            let head = Head(version: version, log: snapshot.log)
            let key = Key(layer: layer, head: head, instant: instant, filter: filter)
            let found = try await records.value(for: key) { [self] () async throws(EngineError) in
                try await records(of: layer, at: instant, filter: filter, in: snapshot)
            }
            switch layer.drawing {
            case nil, .cells, .polygons, .field: break
            case .reports: data.rankedReports = found.rankedReports
            case .areas: data.drawnAreas.merge(found.drawnAreas) { $1 }
            case .aircraft: data.traffic = found.traffic
            case .tracks: data.tracks = found.tracks
            }
        }
        return data
    }

    /// The cells that a layer shows at an instant; nil for issued polygons, and for a layer without cells.
    package func plane(of layer: Dataset, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError) -> FramePlane?
    {
        guard layer.showsCells else { return nil }
        let data = try await data(for: LayerList(layer), at: instant, filter: filter, in: snapshot)
        return switch data.polygons {
        case .cells(let plane): plane
        case .issued: nil
        case nil: data.plane
        }
    }

    /// Issued polygons if they are requested and the history has any, whatever their severity and altitude. Otherwise
    /// Billow's own polygons. Never both.
    private func polygons(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws(EngineError)
        -> PictureData.Polygons
    {
        if filter.prefersIssuedPolygons {
            let issued = try await frames.issuedPolygons(filter, at: instant, in: snapshot)
            if !issued.isEmpty || filter.excludesReports { return .issued(issued.filter(filter.matches)) }
        }
        try frames.polygonHistories.require(filter)
        return .cells(try await frames.plane(at: instant, filter: filter.ofOwnPolygons, in: snapshot))
    }

    private func records(of layer: Dataset, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> PictureData
    {
        var data = PictureData(instant: instant)
        switch layer.drawing {
        case nil, .cells, .polygons, .field: break
        case .reports:
            data.reports = try await frames.reports(
                at: instant, lookBackSeconds: filter.lookBackSeconds, in: snapshot
            ).filter(filter.matches)
        case .areas:
            guard let collection = layer.areas else { break }
            data.areas[collection] = try await frames.areas(collection, at: instant, in: snapshot)
                .filter(filter.matches)
        case .aircraft: data.positions = try await positions(at: instant, filter: filter, in: snapshot)
        case .tracks:
            let ends = try await positions(at: instant, filter: filter, in: snapshot)
            data.tracks = try await tracks(to: ends, at: instant, in: snapshot)
        }
        return data
    }

    private func positions(at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws(EngineError)
        -> [AircraftPosition]
    {
        try await frames.positions(
            at: instant, droppedAfterSeconds: frames.lifetimes.trafficDropSeconds, in: snapshot
        ).filter(filter.matches)
    }

    /// The tracks of some aircraft, read from the store up to the last whole minute. All frames of that minute share
    /// them.
    private func tracks(to ends: [AircraftPosition], at instant: Instant, in snapshot: Snapshot)
        async throws(EngineError)
        -> [[AircraftPosition]]
    {
        let minute = instant.floored(toMultipleOf: 60)
        let key = TrackKey(minute: minute, head: Head(version: snapshot.versions.positions, log: snapshot.log))
        let known = try await tracks.value(for: key) { [frames, store] () async throws(EngineError) in
            let positions = try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.positions(
                    from: minute.advanced(by: -Dataset.trackSeconds), to: minute.advanced(by: 1), asOf: key.head.version
                )
            }
            return Dictionary(grouping: positions, by: \.icao24).values.map { track in
                track.sorted { ($0.observedAt, $0.source) < ($1.observedAt, $1.source) }
            }.sorted { ($0.first?.icao24.rawValue ?? 0) < ($1.first?.icao24.rawValue ?? 0) }
        }
        let endOf = Dictionary(ends.map { ($0.icao24, $0) }) { first, _ in first }
        return known.compactMap { track in
            guard let aircraft = track.first?.icao24, let end = endOf[aircraft] else { return nil }
            return end.observedAt > track[track.count - 1].observedAt ? track + [end] : track
        }
    }
}
