import BillowSnapshot
import Geometry
public import Turbulence

/// The hexagons of a turbulence polygon.
public enum PolygonMode: String, Sendable, Hashable, CaseIterable {
    /// The hexagons of one severity: disjoint sets, which are drawn side by side.
    case exact
    /// The hexagons of a severity and worse. Each set lies within the next lower one.
    case atLeast
}

/// The hexagons of a frame with one severity, or with it and worse, as one area.
public struct TurbulencePolygon: Sendable, Hashable {
    /// The severity of the polygon.
    public var severity: Severity
    /// Whether the polygon includes only that severity, or also worse ones.
    public var mode: PolygonMode
    /// The area; empty if it wasn't requested.
    public var area: PackedArea
    /// The number of its hexagons.
    public var hexagons: Int
    /// The time range of its observations; nil if it wasn't requested.
    public var observed: ClosedRange<Instant>?

    /// The areas of some severities' polygons.
    public static func areas(
        of dissolved: DissolvedCells, mode: PolygonMode, severities: SeveritySet
    ) -> [Severity: PackedArea] {
        let wanted = Severity.allCases.filter { severities.contains($0) }
        return Dictionary(
            uniqueKeysWithValues: wanted.map { severity in
                let value = CellClasses.value(severity)
                return (
                    severity, mode == .exact ? dissolved.packedArea(of: value) : dissolved.packedArea(atLeast: value)
                )
            })
    }

    /// The polygons of a frame in the order of their severities, without empty ones.
    ///
    /// - Parameters:
    ///   - cells: the cells that were dissolved.
    ///   - areas: the result of `areas(of:mode:severities:)`; missing areas are left empty.
    ///   - severities: the severities of the polygons.
    ///   - observed: the time range of the observations of each severity.
    ///   - mode: one severity alone, or it and worse.
    public static func all(
        of cells: CellClasses, areas: [Severity: PackedArea], mode: PolygonMode, severities: SeveritySet,
        observed: [Severity: ClosedRange<Instant>]
    ) -> [TurbulencePolygon] {
        let counts = Severity.allCases.map { cells.count(of: CellClasses.value($0)) }
        return Severity.allCases.filter { severities.contains($0) }.compactMap { severity in
            let parts = mode == .exact ? [severity] : Severity.allCases.filter { $0 >= severity }
            let hexagons = parts.reduce(0) { $0 + counts[Int($1.rawValue)] }
            guard hexagons > 0 else { return nil }
            let ranges = parts.compactMap { observed[$0] }
            let first = ranges.map(\.lowerBound).min()
            let last = ranges.map(\.upperBound).max()
            return TurbulencePolygon(
                severity: severity, mode: mode,
                area: areas[severity] ?? PackedArea(),
                hexagons: hexagons, observed: first.flatMap { first in last.map { first...$0 } })
        }
    }
}

extension CellClasses {
    /// The class of a severity.
    public static func value(_ severity: Severity) -> UInt8 { severity.rawValue + 1 }
}
