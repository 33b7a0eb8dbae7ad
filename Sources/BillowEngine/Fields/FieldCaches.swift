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

    let planes: SharedCache<PlaneKey, FieldPlane>
    let cells: SharedCache<PlaneKey, FieldCells>
    /// Of grids.
    let grids: SharedCache<GridDefinition, GridCells>

    static let bytes = 64 << 20

    init() {
        let budget = CacheBudget(bytes: Self.bytes)
        planes = SharedCache(budget) { $0.values.count }
        cells = SharedCache(budget) { $0.entries.count * MemoryLayout<FieldCells.Entry>.stride }
        grids = SharedCache(budget) { $0.keptBytes }
    }
}
