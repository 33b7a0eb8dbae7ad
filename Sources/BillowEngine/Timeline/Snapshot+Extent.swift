package import BillowSnapshot
package import Datasets
package import Turbulence

/// The instants of frames of a layer.
extension Snapshot {
    /// The time range of frames of some layers: the union of the layers' ranges.
    package func extent(of layers: [Dataset]) -> ClosedRange<Instant> {
        let extents = layers.map { extent(of: $0) }
        guard let first = extents.map(\.lowerBound).min(), let last = extents.map(\.upperBound).max() else {
            return extent
        }
        return first...last
    }

    /// The time range of a layer's frames.
    package func extent(of layer: Dataset) -> ClosedRange<Instant> {
        let asOf = publication.asOf
        var first = extent.lowerBound
        var last = asOf
        switch layer.content {
        case .history, .polygons: break
        case .positions:
            // The log must have all positions that the frame looks back for.
            let lookBack = layer.positionsSeconds(trafficDropSeconds: lifetimes.trafficDropSeconds)
            first = max(first, asOf.advanced(by: lookBack - lifetimes.trafficRetentionSeconds))
        case .areas(let collection):
            // Includes the last second at which any of its areas is valid.
            if let end = areas.ends[collection] { last = max(last, end.advanced(by: -1)) }
        case .field:
            if let fields = fieldExtent {
                first = max(first, fields.lowerBound)
                last = max(last, fields.upperBound)
            }
        }
        return min(first, last)...last
    }

    /// The instants at which a layer may be requested: its extent and the next minute, because another server may be
    /// ahead.
    package func reach(of layer: Dataset) -> ClosedRange<Instant> {
        let own = extent(of: layer)
        return own.lowerBound...max(own.upperBound, extent.upperBound)
    }
}
