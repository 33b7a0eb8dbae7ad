import BillowStore
import Geometry
package import SkyPath
import Turbulence
import UpstreamKit

/// Divides the query into pieces that the upstream can answer.
extension SkyPathUpstream {
    /// The problem of a query with one of SkyPath's APIs: the offending member of the query, and a sentence about it.
    /// nil if there is none.
    package static func problem(with query: DataQuery, api: API, limits: SkyPathLimits) -> (
        member: String, text: String
    )? {
        guard api == .v5, query.types.contains(.turbulence) else { return nil }
        if query.isGlobal(.turbulence), query.category != .default {
            return (
                "category",
                "SkyPath's bulk call knows category \(AircraftCategory.default.name) only, not "
                    + "\(query.category.name): set a polygon, or api v4"
            )
        }
        for (member, ring) in [("polygon", query.polygon), ("viewport", query.viewport)] {
            guard let ring, corridorCalls(ring, limits) > Double(maximumCalls), query.category != .default else {
                continue
            }
            return (
                member,
                "the polygon of \(Int(min(ring.areaKm2, 1e9))) km2 would take more than \(maximumCalls) calls of the "
                    + "upstream's limit, and bulk calls know category \(AircraftCategory.default.name) only: make it "
                    + "smaller, or use api v4"
            )
        }
        return nil
    }

    private static func pieceAreaKm2(_ limits: SkyPathLimits) -> Double {
        (limits.corridorAreaKm2 ?? .infinity) * areaShare
    }

    /// The approximate number of corridor requests for an area.
    private static func corridorCalls(_ ring: AreaRing, _ limits: SkyPathLimits) -> Double {
        ring.areaKm2 / pieceAreaKm2(limits)
    }

    /// The requests for an area's turbulence. Some areas need more corridor requests than a round has time for. They
    /// are fetched by bulk requests for the base cells that they touch. These are fewer, but always whole.
    func pieces(of area: DataQuery.Area) throws(SyncError) -> [SkyPathPiece] {
        let limits = client.configuration.limits
        if let problem = Self.problem(with: wanted, api: api, limits: limits) {
            throw SyncError(kind: .refused, code: .upstream(.queryInvalid), message: problem.text, isReachable: nil)
        }
        guard let ring = ring(of: area) else { return api == .v4 ? SkyPathPiece.map(nil) : SkyPathPiece.baseCells }
        if api == .v4 { return SkyPathPiece.map(ring) }
        if Self.corridorCalls(ring, limits) > Double(Self.maximumCorridorCalls), wanted.category == .default {
            return SkyPathPiece.baseCells(touching: ring)
        }
        let pieces = SkyPathPiece.corridors(ring, maximumAreaKm2: Self.pieceAreaKm2(limits))
        var names = Set<String>()
        return pieces.filter { names.insert($0.name).inserted }
    }

    /// nil for the world.
    func ring(of area: DataQuery.Area) -> AreaRing? {
        switch area {
        case .corridor: wanted.polygon
        case .viewport: wanted.viewport
        case .global, .all: nil
        }
    }
}
