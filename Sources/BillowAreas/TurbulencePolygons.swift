import BillowSnapshot
import Geometry
public import Turbulence

/// Which hexagons a turbulence polygon is made of.
public enum PolygonMode: String, Sendable, Hashable, CaseIterable {
    /// Those of one severity: sets that don't overlap and are drawn beside each other.
    case exact
    /// Those of a severity and worse: each set lies within the one below it.
    case atLeast
}

/// The hexagons of a picture that have one severity, or it and worse, as one area.
public struct TurbulencePolygon: Sendable, Hashable {
    /// The severity that it outlines.
    public var severity: Severity
    /// Whether it outlines that severity alone, or also those above it.
    public var mode: PolygonMode
    /// Empty where it wasn't asked for.
    public var area: PackedArea
    /// How many hexagons it is made of.
    public var hexagons: Int
    /// From when to when the records are that make it; nil when not asked for.
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

    /// The polygons of a picture, without those that are empty, in the order of their severities.
    ///
    /// - Parameters:
    ///   - cells: what was dissolved.
    ///   - areas: what `areas(of:mode:severities:)` gave of them dissolved; those that are missing are left empty.
    ///   - severities: those that polygons are made for.
    ///   - observed: from when to when the records of each severity are.
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
