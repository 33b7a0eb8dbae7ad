import BillowFields
import Geometry

/// What has been read of turbulence fields, and worked out of it.
///
/// It has a budget of its own, so that the planes of an animation stay while tiles are made of them: one of GTG's is
/// 1.9 MB, and 24 frames are 46 MB.
struct FieldCaches: Sendable {
    struct PlaneKey: Hashable, Sendable {
        var log: String
        /// Rows in the store: each is written once and never changes.
        var rows: [Int64]
    }

    struct SiteKey: Hashable, Sendable {
        var log: String
        var row: Int64
        /// Names the places, and how they are looked at.
        var sites: String
    }

    let planes: SharedCache<PlaneKey, FieldPlane>
    let cells: SharedCache<PlaneKey, FieldCells>
    /// Of grids.
    let grids: SharedCache<GridDefinition, GridCells>

    /// Of levels at the places of a route. The level itself isn't cached for them: a route needs more levels than
    /// there is room for.
    let sites: SharedCache<SiteKey, [Int16]>
    /// The largest value of a level in each cell of its grid, by `GridCells.cells`.
    let largest: SharedCache<PlaneKey, [UInt8]>

    static let bytes = 64 << 20

    init() {
        let budget = CacheBudget(bytes: Self.bytes)
        planes = SharedCache(budget) { $0.values.count }
        cells = SharedCache(budget) { $0.entries.count * MemoryLayout<FieldCells.Entry>.stride }
        grids = SharedCache(budget) { $0.keptBytes }
        sites = SharedCache(budget, keyBytes: { $0.log.utf8.count + $0.sites.utf8.count }) { $0.count * 2 }
        largest = SharedCache(budget) { $0.count }
    }
}
