package import BillowSnapshot
import Turbulence

/// Whose turbulence polygons are asked for: those dissolved here, or those that a source issued. The sources and kinds
/// of a filter tell; `billow` is the name of ours, and of no source of records.
extension Filter {
    /// Whose polygons they are that were dissolved here.
    static let ownSource = "billow"

    /// Whether ours are asked for by their name.
    package var namesOwnPolygons: Bool { sources?.contains { $0.name == Self.ownSource } ?? false }

    /// The same for the records that ours are made of: of every source where they are asked for by name.
    package var ofOwnPolygons: Filter {
        guard namesOwnPolygons else { return self }
        var filter = self
        filter.sources = nil
        return filter
    }

    /// Whether a picture shows issued polygons where there are any: where their source or kind is named, and ours
    /// aren't.
    var prefersIssuedPolygons: Bool {
        !namesOwnPolygons && areaKinds?.contains(IssuedArea.polygonKind) ?? (sources != nil)
    }

    /// Whether nothing but areas is asked for.
    var takesNoReports: Bool { kinds?.isEmpty ?? false }

    /// Whether an issued polygon is of the sources and kinds asked for.
    func isIssuer(of polygon: IssuedArea) -> Bool {
        sources?.contains(polygon.source) ?? true && areaKinds?.contains(polygon.kind) ?? true
    }
}
