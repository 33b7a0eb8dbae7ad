package import BillowSnapshot
package import Datasets
package import Turbulence

extension FrameSource {
    /// The time until which a frame is valid: the earliest end among its layers. Observations end with
    /// the history, aircraft when they would be dropped, areas with the first one that ends, and a field after an hour.
    package func validUntil(
        _ layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot
    ) async throws(EngineError) -> Instant {
        var end = instant.advanced(by: Self.longestValidity)
        for layer in layers {
            switch layer.content {
            case .history, .polygons: end = min(end, instant.advanced(by: filter.lookBackSeconds))
            case .positions: end = min(end, instant.advanced(by: lifetimes.trafficDropSeconds))
            case .field: end = min(end, instant.advanced(by: Self.fieldValidity))
            case .areas(let collection):
                let areas = try await areas(collection, at: instant, in: snapshot)
                for area in areas where filter.matches(area) { end = min(end, area.validTo) }
            }
        }
        return max(end, instant)
    }

    private static let longestValidity = 6 * 3_600
    private static let fieldValidity = 3_600
}
