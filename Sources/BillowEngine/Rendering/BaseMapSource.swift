package import BillowRaster
import BillowTiles
import Foundation

/// What lies below the data of a map image.
package enum MapGround: Sendable, Hashable {
    case colour(StraightColour)
    /// The base map in the colours of a theme.
    case baseMap(Theme)
}

/// Reads the base map of map images when one is requested, and keeps it in the memory budget of the caches.
package struct BaseMapSource: Sendable {
    private let folder: String
    private let maps: SharedCache<BaseMap.Detail, BaseMap, EngineError>

    /// The folder of the base map below the viewer's.
    package static let path = "vendor/basemap"

    /// - Parameter folder: the viewer's folder.
    package init(publicFolder folder: String, caches: CacheBudget) {
        self.folder = folder
        maps = SharedCache(caches) { $0.count * 16 }
    }

    /// The base map for a region.
    ///
    /// - Throws: `EngineError.baseMapMissing` if its file can't be read.
    /// - Complexity: O(positions) when it isn't in memory: some 0.1 s for the coarse level, 0.4 s for the fine one.
    func map(for region: MapRegion) async throws(EngineError) -> BaseMap {
        let detail = BaseMap.Detail(for: region)
        return try await maps.value(for: detail) { () async throws(EngineError) in
            let url = URL(fileURLWithPath: folder).appending(path: "\(Self.path)/\(detail.fileName)")
            do { return try BaseMap(try Data(contentsOf: url)) } catch { throw .baseMapMissing }
        }
    }
}
