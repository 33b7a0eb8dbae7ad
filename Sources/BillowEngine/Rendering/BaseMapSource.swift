package import BillowRaster
import BillowTiles
import Foundation

/// What lies below the data of a map image.
package enum MapGround: Sendable, Hashable {
    case colour(StraightColour)
    /// The base map in the colours of a theme.
    case baseMap(Theme)

    /// The theme of what is drawn on it: marks, furniture and the hatching of missing data must stand out.
    package var theme: Theme {
        switch self {
        case .baseMap(let theme): theme
        case .colour(let colour): colour.isDark ? .dark : .light
        }
    }
}

extension StraightColour {
    /// Whether white stands out from it more than black.
    ///
    /// Source: WCAG 2.2, relative luminance and contrast ratio, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
    fileprivate var isDark: Bool {
        func linear(_ channel: UInt8) -> Double {
            let share = Double(channel) / 255
            return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05
    }
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
