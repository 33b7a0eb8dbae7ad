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

    /// The time range of a layer's frames from its oldest data on. The range of frames begins with the retention, also
    /// in a young log, whose first frames are empty and incomplete.
    package func dataExtent(of layer: Dataset) -> ClosedRange<Instant> {
        let drawn = extent(of: layer)
        let oldest: Instant? =
            switch layer.content {
            case .history(.observations): logExtent.observed?.lowerBound
            case .history(.reports), .areas: logExtent.oldestReportOrArea
            case .history(.positions), .positions: logExtent.oldestPosition
            case .polygons:
                [logExtent.observed?.lowerBound, logExtent.oldestReportOrArea].compactMap { $0 }.min()
            case .field: drawn.lowerBound
            }
        return min(max(drawn.lowerBound, oldest ?? .distantFuture), drawn.upperBound)...drawn.upperBound
    }

    /// The time range of all features of a dataset: of their instants, validities and histories, ends included. It is
    /// wider than the range of frames, because no frame shows the end of a validity, which is the first second without
    /// the area, and because features may be older than complete frames.
    package func featureExtent(of dataset: Dataset) -> ClosedRange<Instant> {
        let drawn = dataExtent(of: dataset)
        var first = drawn.lowerBound
        var last = drawn.upperBound
        switch dataset.content {
        case .history(.observations): last = max(last, logExtent.observed?.upperBound ?? last)
        case .history(.reports): last = max(last, reports.last?.observedAt ?? last)
        case .history(.positions), .positions:
            first = min(first, logExtent.oldestPosition ?? first)
            last = max(last, traffic.newestTime ?? last)
        case .areas(let collection): last = max(last, areas.ends[collection] ?? last)
        case .polygons:
            // An issued polygon has observations of its history.
            let oldest = logExtent.oldestReportOrArea?.advanced(by: -History.sixHours.seconds)
            first = min(first, oldest ?? first)
            last = max(last, logExtent.observed?.upperBound ?? last, areas.ends[.polygons] ?? last)
        case .field: break
        }
        return first...last
    }

    /// The instants at which a layer may be requested: its extent and the next minute, because another server may be
    /// ahead.
    package func reach(of layer: Dataset) -> ClosedRange<Instant> {
        let own = extent(of: layer)
        return own.lowerBound...max(own.upperBound, extent.upperBound)
    }
}
