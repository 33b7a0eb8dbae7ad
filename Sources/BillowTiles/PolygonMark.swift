import BillowRaster
import Geometry
import Turbulence

/// What an upstream's turbulence polygons cover of a window in one severity, as drawn: in the colours of cells and
/// without borders, so that their picture reads as that of polygons dissolved here.
struct PolygonMark: Sendable, Hashable {
    let severity: Severity
    /// In the window's pixels, not closed; holes wind the other way. Not thinned out: neighbours share their edges.
    let rings: [[Point]]

    /// The marks of a window, the worst severity first.
    static func marks(of areas: [IssuedArea], in region: MapRegion) -> [PolygonMark] {
        Severity.allCases.reversed().compactMap { severity in
            let polygons: [[[LonLat]]] = areas.filter { $0.severity == severity }.flatMap(\.geometry.polygons)
            let rings: [[Point]] = polygons.flatMap { region.copies(of: $0, margin: 0).flatMap { $0 } }
            return rings.isEmpty ? nil : PolygonMark(severity: severity, rings: rings)
        }
    }

    /// As one layer: where severities share a pixel, the worse takes its share first. So sets of "this severity or
    /// worse", which lie upon each other, look as exact ones do.
    static func paint(_ marks: [PolygonMark], style: Style, region: MapRegion, onto canvas: inout Canvas) {
        canvas.fill(
            parts: marks.map { mark in
                let ink = style[mark.severity].pattern.map { pattern in
                    Canvas.Ink(
                        pattern: PlacedPattern(
                            pattern.pattern(scale: region.scale), originX: region.originX, originY: region.originY),
                        colour: pattern.paint.colour)
                }
                return Canvas.Part(mark.rings, style[mark.severity].fill.colour, ink: ink)
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
