import BillowRaster
import Geometry
import Turbulence

/// The part of a region that an upstream's turbulence polygons of one severity cover, as drawn. They have the colours
/// of cells and no borders, as the polygons that Billow dissolves.
struct PolygonMark: Sendable, Hashable {
    let severity: Severity
    /// In the region's pixels, not closed; holes have the opposite winding. The vertices aren't thinned, because
    /// adjacent polygons share edges.
    let rings: [[Point]]

    /// The marks of a region, from the highest severity to the lowest.
    static func marks(of areas: [IssuedArea], in region: MapRegion) -> [PolygonMark] {
        Severity.allCases.reversed().compactMap { severity in
            let polygons: [[[LonLat]]] = areas.filter { $0.severity == severity }.flatMap(\.geometry.polygons)
            let rings: [[Point]] = polygons.flatMap { region.copies(of: $0, margin: 0).flatMap { $0 } }
            return rings.isEmpty ? nil : PolygonMark(severity: severity, rings: rings)
        }
    }

    /// Draws all severities as one layer: if several share a pixel, the higher one takes its share first. So nested
    /// polygons of "this severity or worse" look the same as disjoint ones.
    static func paint(_ marks: [PolygonMark], style: Style, region: MapRegion, onto canvas: inout Canvas) {
        canvas.fill(
            parts: marks.map { mark in
                let ink = style[mark.severity].pattern.map { pattern in
                    Canvas.Ink(
                        pattern: PlacedPattern(
                            pattern.pattern(scale: region.scale), originX: region.originX, originY: region.originY),
                        colour: pattern.paint.colour)
                }
                return Canvas.LayerShape(mark.rings, style[mark.severity].fill.colour, ink: ink)
            })
    }

    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(severity.rawValue) << 32 | UInt64(rings.count))
        for ring in rings {
            fingerprint.mix(UInt64(ring.count))
            for place in ring {
                place.mix(into: &fingerprint)
            }
        }
    }
}
