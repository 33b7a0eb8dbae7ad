import BillowExchange
import BillowFields
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import Datasets
package import Turbulence

extension FrameSource {
    /// The version of a frame: the last version that changed anything in these layers at this instant. Two frames with
    /// the same version, layers, instant and filter have the same image and features.
    package func frameVersion(of layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> Version
    {
        var newest = Version.zero
        for data in seen(in: layers, at: instant, filter: filter) {
            newest = max(newest, try await version(of: data, in: snapshot))
        }
        return max(newest, fieldVersion(of: layers, at: instant, filter: filter, in: snapshot))
    }

    /// The version of the turbulence field that layers show; zero if none is stored. Only fields at or before `asOf`
    /// count (nil: the snapshot's version).
    ///
    /// If fields are stored, but none is of the instant, the picture shows missing data, and no longer nothing. It has
    /// the version of the newest field, so that it is another picture than the one before there was any.
    private func fieldVersion(
        of layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot, asOf version: Version? = nil
    ) -> Version {
        guard layers.contains(where: { $0.content == .field }) else { return .zero }
        let version = version ?? snapshot.publication.version
        if let shown = snapshot.fields.frame(at: instant, FieldIndex.Query(filter), asOf: version) {
            return shown.version
        }
        return snapshot.fields.frames.compactMap { $0.asOf(version)?.version }.max() ?? .zero
    }

    private func seen(in layers: [Dataset], at instant: Instant, filter: Filter) -> [FrameDependency] {
        layers.flatMap { $0.seen(at: instant, filter: filter, trafficDropSeconds: lifetimes.trafficDropSeconds) }
    }

    /// The relation of a URL's revision to the frame's current one.
    package enum RevisionStatus: Sendable, Hashable {
        /// The revision is current, and names everything on which its picture depends.
        case current
        /// The version is current, but the revision names neither the log nor the style. Its picture may change.
        case currentVersion
        /// The revision was current before, and can still be rendered.
        case superseded
        /// The revision was never current, or its render key is another server's. Carries the current one.
        case redirect(FrameRevision)
    }

    /// Compares a revision with the current one.
    package func status(
        of revision: FrameRevision, layers: [Dataset], at instant: Instant, filter: Filter, style: Style,
        in snapshot: Snapshot
    ) async throws(EngineError) -> RevisionStatus {
        let current = FrameRevision(
            version: try await frameVersion(of: layers, at: instant, filter: filter, in: snapshot),
            renderKey: renderKey(style, in: snapshot))
        guard revision.renderKey == nil || revision.renderKey == current.renderKey else { return .redirect(current) }
        if revision.version == current.version { return revision.renderKey == nil ? .currentVersion : .current }
        // Older frames can't be rendered after a change of a source's rule or a deletion.
        guard revision.version < current.version, revision.version >= snapshot.frameVersions.rules else {
            return .redirect(current)
        }
        // It is unknown whether that version showed a field that was deleted since.
        let showsField = layers.contains { $0.content == .field }
        guard !showsField || snapshot.fields.isKnown(at: instant, asOf: revision.version) else {
            return .redirect(current)
        }
        // Before the first version the frame was empty.
        let data = seen(in: layers, at: instant, filter: filter)
        let field = fieldVersion(of: layers, at: instant, filter: filter, in: snapshot, asOf: revision.version)
        let was =
            revision.version == .zero || field == revision.version
            ? true : try await hasChange(of: data, at: revision.version)
        return was ? .superseded : .redirect(current)
    }

    /// The seconds for which retention keeps all data of some layers' frames at an instant; 0 or less if data may
    /// already be deleted.
    package func retainedSeconds(of layers: [Dataset], at instant: Instant, in snapshot: Snapshot) -> Int {
        let age = snapshot.publication.asOf.seconds - instant.seconds
        return layers.map { layer in
            // Retention keeps observations, reports and areas for the longest history in addition.
            let lookBack = layer.positionsSeconds(trafficDropSeconds: lifetimes.trafficDropSeconds)
            return lifetimes.retentionSeconds(of: layer.kind) - lookBack - age
        }.min() ?? 0
    }

    /// The layers and the instant that a request shows.
    package struct Scene: Sendable, Hashable {
        package var instant: Instant
        /// The layers with a frame at that instant, in the requested order.
        package var layers: LayerList
        /// Whether all requested layers have a frame.
        package var isWhole: Bool
    }

    /// The scene of some layers at the requested time. A layer is left out of frames outside its extent: ageing
    /// observations shown in the future would look like a forecast.
    /// - Throws: `EngineError.timeOutsideLog` with the extent if no layer has a frame.
    package func scene(of layers: LayerList, at time: RequestedTime, in snapshot: Snapshot) throws(EngineError) -> Scene
    {
        let reaches = layers.layers.map { snapshot.reach(of: $0) }
        let first = reaches.map(\.lowerBound).min() ?? snapshot.publication.asOf
        let last = reaches.map(\.upperBound).max() ?? snapshot.publication.asOf
        return scene(of: layers, at: try instant(time, in: snapshot, within: first...last), in: snapshot)
    }

    /// The scene at one of the layers' instants.
    package func scene(of layers: LayerList, at instant: Instant, in snapshot: Snapshot) -> Scene {
        let there = layers.filter { snapshot.reach(of: $0).contains(instant) }
        return Scene(instant: instant, layers: there ?? layers, isWhole: there == layers)
    }

    /// The times within a range at which some layers' areas begin or end, and the valid times of fields; sorted,
    /// without duplicates.
    package func changes(
        of layers: [Dataset], filter: Filter, in range: ClosedRange<Instant>, in snapshot: Snapshot
    ) async throws(EngineError) -> [Instant] {
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
