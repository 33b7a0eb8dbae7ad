package import BillowSnapshot
package import Datasets
package import Turbulence

extension FrameSource {
    /// The time until which a frame is valid: the earliest end among its layers. Observations end with the history,
    /// aircraft when they would be dropped, and a field after an hour. Areas are valid until the first of them begins
    /// or ends: a frame lacks an area that is known but has not begun.
    ///
    /// - Parameter hasIssuedPolygons: whether issued polygons are among Billow's own, as they are among features. In
    ///   pictures the filter decides.
    package func validUntil(
        _ layers: [Dataset], at instant: Instant, filter: Filter, hasIssuedPolygons: Bool = false, in snapshot: Snapshot
    ) async throws(EngineError) -> Instant {
        var end = instant.advanced(by: Self.longestValidity)
        for layer in layers {
            switch layer.content {
            case .history: end = min(end, instant.advanced(by: filter.lookBackSeconds))
            case .polygons:
                end = min(end, instant.advanced(by: filter.lookBackSeconds))
                guard hasIssuedPolygons || filter.prefersIssuedPolygons else { continue }
                let issued = try await issuedPolygons(filter, at: instant, in: snapshot)
                for area in issued where filter.matches(area) { end = min(end, area.validTo) }
            case .positions: end = min(end, instant.advanced(by: lifetimes.trafficDropSeconds))
            case .field: end = min(end, instant.advanced(by: Self.fieldValidity))
            case .areas(let collection):
                for area in try await areas(collection, from: instant, to: end, in: snapshot)
                where filter.matches(area) {
                    end = min(end, area.validFrom > instant ? area.validFrom : area.validTo)
                }
            }
        }
        return max(end, instant)
    }

    private static let longestValidity = 6 * 3_600
    private static let fieldValidity = 3_600
}
