import BillowRaster
import BillowSnapshot
import Turbulence

extension FrameSource {
    /// The version of a frame: the last one that changed anything in these layers at this instant. Of two frames with the
    /// same version, layers, instant and filter the pictures are the same.
    func frameVersion(of layers: [LayerTime], at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws
        -> Version
    {
        var newest = Version.zero
        for data in seen(in: layers, at: instant, filter: filter) {
            newest = max(newest, try await version(of: data, in: snapshot))
        }
        return newest
    }

    private func seen(in layers: [LayerTime], at instant: Instant, filter: Filter) -> [SeenData] {
        layers.flatMap { $0.seen(at: instant, filter: filter, trafficDropSeconds: trafficDropSeconds) }
    }

    /// How an address that names a frame's picture stands to the frame's own.
    enum Standing: Sendable, Hashable {
        /// It is the frame's name.
        case current
        /// It was, and what it showed can still be drawn.
        case former
        /// It never was, or nobody draws like that any more: this is the frame's name.
        case moved(FrameName)
    }

    func standing(
        of name: FrameName, layers: [LayerTime], at instant: Instant, filter: Filter, style: Style,
        in snapshot: Snapshot
    ) async throws -> Standing {
        let current = FrameName(
            version: try await frameVersion(of: layers, at: instant, filter: filter, in: snapshot),
            look: look(style, in: snapshot))
        guard name.look == nil || name.look == current.look else { return .moved(current) }
        if name.version == current.version { return .current }
        guard name.version < current.version else { return .moved(current) }
        // Before the first version there was nothing to see.
        let data = seen(in: layers, at: instant, filter: filter)
        let was = name.version == .zero ? true : try await hasChange(of: data, at: name.version)
        return was ? .former : .moved(current)
    }

    /// From when to when there are pictures of some layers: as far as any of them reaches.
    func extent(of layers: [LayerTime], in snapshot: Snapshot) -> ClosedRange<Instant> {
        let extent = extent(of: snapshot)
        let ends = layers.map { self.extent(of: $0, in: snapshot).upperBound }
        return extent.lowerBound...max(extent.upperBound, ends.max() ?? extent.upperBound)
    }

    /// From when to when a layer has frames.
    func extent(of layer: LayerTime, in snapshot: Snapshot) -> ClosedRange<Instant> {
        let extent = extent(of: snapshot)
        guard layer.reachesAhead else {
            return extent.lowerBound...max(extent.lowerBound, snapshot.publication.asOf)
        }
        // The last second at which any of its areas holds.
        let ends = snapshot.areas.all.filter { area in
            layer.contents.contains { if case .areas(area.collection) = $0 { true } else { false } }
        }.map { $0.validTo.advanced(by: -1) }
        return extent.lowerBound...max(snapshot.publication.asOf, ends.max() ?? extent.lowerBound)
    }
}
