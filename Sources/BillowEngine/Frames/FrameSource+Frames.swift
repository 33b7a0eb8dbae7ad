import BillowExchange
import BillowFields
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import Datasets
package import Turbulence

extension FrameSource {
    /// The version of a frame: the last one that changed anything in these layers at this instant. Two frames with the
    /// same version, layers, instant and filter have the same pictures and features.
    package func frameVersion(of layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws
        -> Version
    {
        var newest = Version.zero
        for data in seen(in: layers, at: instant, filter: filter) {
            newest = max(newest, try await version(of: data, in: snapshot))
        }
        return max(newest, fieldVersion(of: layers, at: instant, filter: filter, in: snapshot))
    }

    /// The version of the turbulence field that layers show, of those that were known at a version (nil: the
    /// snapshot's); zero where they show none.
    private func fieldVersion(
        of layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot, asOf version: Version? = nil
    ) -> Version {
        guard layers.contains(where: { $0.content == .field }) else { return .zero }
        let version = version ?? snapshot.publication.version
        return snapshot.fields.frame(at: instant, FieldIndex.Query(filter), asOf: version)?.version ?? .zero
    }

    private func seen(in layers: [Dataset], at instant: Instant, filter: Filter) -> [FrameDependency] {
        layers.flatMap { $0.seen(at: instant, filter: filter, trafficDropSeconds: trafficDropSeconds) }
    }

    /// How the revision that an address names relates to the frame's current one.
    package enum RevisionStatus: Sendable, Hashable {
        /// It is the current one.
        case current
        /// It was current before, and can still be drawn.
        case superseded
        /// It never was current, or its render key is another server's: this is the current one.
        case redirect(FrameRevision)
    }

    /// Compares a revision with the current one.
    package func status(
        of revision: FrameRevision, layers: [Dataset], at instant: Instant, filter: Filter, style: Style,
        in snapshot: Snapshot
    ) async throws -> RevisionStatus {
        let current = FrameRevision(
            version: try await frameVersion(of: layers, at: instant, filter: filter, in: snapshot),
            renderKey: renderKey(style, in: snapshot))
        guard revision.renderKey == nil || revision.renderKey == current.renderKey else { return .redirect(current) }
        if revision.version == current.version { return .current }
        // Frames from before the last change of a source's rule, or the last deletion, can't be drawn as they were.
        guard revision.version < current.version, revision.version >= snapshot.frameVersions.rules else {
            return .redirect(current)
        }
        // Of a deleted field nobody knows whether that version showed it.
        let showsField = layers.contains { $0.content == .field }
        guard !showsField || snapshot.fields.isKnown(at: instant, asOf: revision.version) else {
            return .redirect(current)
        }
        // Before the first version there was nothing to see.
        let data = seen(in: layers, at: instant, filter: filter)
        let field = fieldVersion(of: layers, at: instant, filter: filter, in: snapshot, asOf: revision.version)
        let was =
            revision.version == .zero || field == revision.version
            ? true : try await hasChange(of: data, at: revision.version)
        return was ? .superseded : .redirect(current)
    }

    /// From when to when there are pictures of some layers: as far as any of them reaches.
    package func extent(of layers: [Dataset], in snapshot: Snapshot) -> ClosedRange<Instant> {
        let extents = layers.map { extent(of: $0, in: snapshot) }
        guard let first = extents.map(\.lowerBound).min(), let last = extents.map(\.upperBound).max() else {
            return extent(of: snapshot)
        }
        return first...last
    }

    /// From when to when a layer has frames.
    package func extent(of layer: Dataset, in snapshot: Snapshot) -> ClosedRange<Instant> {
        let asOf = snapshot.publication.asOf
        var first = extent(of: snapshot).lowerBound
        var last = asOf
        switch layer.content {
        case .history, .polygons: break
        case .positions:
            let lookBack = layer.positionsSeconds(trafficDropSeconds: trafficDropSeconds)
            first = max(first, positionsExtent(lookBackSeconds: lookBack, of: snapshot))
        case .areas(let collection):
            // Through the last second at which any of its areas holds.
            if let end = snapshot.areas.ends[collection] { last = max(last, end.advanced(by: -1)) }
        case .field:
            if let extent = snapshot.fieldExtent {
                first = max(first, extent.lowerBound)
                last = max(last, extent.upperBound)
            }
        }
        return min(first, last)...last
    }

    /// For how many seconds retention leaves the pictures of some layers at an instant whole; 0 or less where it
    /// doesn't.
    package func retainedSeconds(of layers: [Dataset], at instant: Instant, in snapshot: Snapshot) -> Int {
        let age = snapshot.publication.asOf.seconds - instant.seconds
        return layers.map { layer in
            // Of observations, reports and areas the longest history is kept in addition.
            let lookBack = layer.positionsSeconds(trafficDropSeconds: trafficDropSeconds)
            return retentionSeconds(of: layer.kind) - lookBack - age
        }.min() ?? 0
    }

    /// What of some layers a request for a time is shown.
    package struct Scene: Sendable, Hashable {
        package var instant: Instant
        /// Those that have a picture of that instant, in the order asked for.
        package var layers: LayerList
        /// Whether these are all that were asked for.
        package var isWhole: Bool
    }

    /// What there is of some layers at the time that a request names. A layer is no part of pictures from beyond its
    /// extent: observations that age on into the future would look like a forecast.
    /// - Throws: `EngineError.timeOutsideLog` with the range where none of them has a picture.
    package func scene(of layers: LayerList, at time: RequestedTime, in snapshot: Snapshot) throws(EngineError) -> Scene
    {
        let reaches = layers.layers.map { reach(of: $0, in: snapshot) }
        let first = reaches.map(\.lowerBound).min() ?? snapshot.publication.asOf
        let last = reaches.map(\.upperBound).max() ?? snapshot.publication.asOf
        return scene(of: layers, at: try instant(time, in: snapshot, within: first...last), in: snapshot)
    }

    /// The same at one of their instants.
    package func scene(of layers: LayerList, at instant: Instant, in snapshot: Snapshot) -> Scene {
        let there = layers.filter { reach(of: $0, in: snapshot).contains(instant) }
        return Scene(instant: instant, layers: there ?? layers, isWhole: there == layers)
    }

    /// From when to when a layer may be asked for: its extent, and what publications of the next minute name, as
    /// another server may be ahead.
    package func reach(of layer: Dataset, in snapshot: Snapshot) -> ClosedRange<Instant> {
        let own = extent(of: layer, in: snapshot)
        return own.lowerBound...max(own.upperBound, extent(of: snapshot).upperBound)
    }

    /// When any of some layers' areas begin or end within a range, and when its fields are about, in rising order, each
    /// once.
    package func changes(
        of layers: [Dataset], filter: Filter, in range: ClosedRange<Instant>, in snapshot: Snapshot
    ) async throws -> [Instant] {
        var changes = Set<Instant>()
        if layers.contains(where: { $0.content == .field }) {
            changes.formUnion(
                snapshot.fields.validTimes(
                    in: range, FieldIndex.Query(filter), asOf: snapshot.publication.version))
        }
        for collection in layers.compactMap(\.areas) {
            changes.formUnion(try await self.changes(of: collection, in: range, in: snapshot))
        }
        return changes.sorted()
    }
}
