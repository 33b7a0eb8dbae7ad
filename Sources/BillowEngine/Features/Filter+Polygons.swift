package import BillowSnapshot
import Turbulence

/// Selects turbulence polygons: those that Billow dissolves, or those that a source issued. The filter's sources and
/// kinds decide. `billow` names Billow's own polygons, and no source of observations.
extension Filter {
    /// The source name of Billow's own polygons.
    static let ownSource = "billow"

    /// Whether the filter names Billow's own polygons.
    package var namesOwnPolygons: Bool { sources?.contains { $0.name == Self.ownSource } ?? false }

    /// The filter for the observations of Billow's own polygons. If those are named, it selects all sources.
    package var ofOwnPolygons: Filter {
        guard namesOwnPolygons else { return self }
        var filter = self
        filter.sources = nil
        return filter
    }

    /// Whether a frame shows issued polygons if there are any. This needs a filter that names their source or kind, but
    /// not Billow's own.
    var prefersIssuedPolygons: Bool {
        !namesOwnPolygons && areaKinds?.contains(IssuedArea.polygonKind) ?? (sources != nil)
    }

    /// Whether only areas are selected.
    var excludesReports: Bool { kinds?.isEmpty ?? false }

    /// Whether the filter's sources and kinds include an issued polygon.
    func isIssuer(of polygon: IssuedArea) -> Bool {
        sources?.contains(polygon.source) ?? true && areaKinds?.contains(polygon.kind) ?? true
    }
}
