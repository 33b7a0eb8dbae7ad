import BillowFields
import Geometry

/// Caches for turbulence fields and values derived from them.
///
/// It has its own budget, so that the planes of an animation stay cached while its tiles are drawn. One plane of GTG is
/// 1.9 MB, and 24 frames are 46 MB.
struct FieldCaches: Sendable {
    struct PlaneKey: Hashable, Sendable {
        var log: String
        /// The rows in the store: each is written once and never changes.
        var rows: [Int64]
    }

    /// The cells of planes at a resolution.
    struct CellKey: Hashable, Sendable {
        var planes: PlaneKey
        var resolution: Int
    }

    /// The points of planes that a count includes.
    struct CountKey: Hashable, Sendable {
        var planes: PlaneKey
        /// One flag for each value of a plane.
        var isCounted: [Bool]
    }

    struct SiteKey: Hashable, Sendable {
        var log: String
        var row: Int64
        /// A key for the places and the kind of sampling.
        var sites: String
    }

    let planes: SharedCache<PlaneKey, FieldPlane, EngineError>
    let cells: SharedCache<CellKey, FieldCells, EngineError>
    /// The numbers of points.
    let counts: SharedCache<CountKey, Int, EngineError>
    /// The cells of grids.
    let grids: SharedCache<GridDefinition, GridCells, EngineError>

    /// The values of levels at the places of a route. The levels themselves aren't cached for routes, because a route
    /// needs more levels than the budget can hold.
    let sites: SharedCache<SiteKey, [Int16], EngineError>
    /// The largest value of a level in each cell of its grid, ordered as `GridCells.cells`.
    let largest: SharedCache<PlaneKey, [UInt8], EngineError>

    static let bytes = 64 << 20

    init() {
        let budget = CacheBudget(bytes: Self.bytes)
        planes = SharedCache(budget) { $0.values.count }
        cells = SharedCache(budget) { $0.entries.count * MemoryLayout<FieldCells.Entry>.stride }
        counts = SharedCache(budget, keyBytes: { $0.isCounted.count + $0.planes.rows.count * 8 }) { _ in 8 }
        grids = SharedCache(budget) { $0.estimatedBytes }
        sites = SharedCache(budget, keyBytes: { $0.log.utf8.count + $0.sites.utf8.count }) { $0.count * 2 }
        largest = SharedCache(budget) { $0.count }
    }
}
