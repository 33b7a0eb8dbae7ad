package import BillowRaster
import Datasets
import Geometry
package import Turbulence

extension AreaAppearance {
    /// An area whose validity ends within this time is drawn faint.
    private static let endingSeconds = 1_800

    package init(of area: IssuedArea, at instant: Instant) {
        let hazard = (area.hazard ?? "").uppercased()
        var isOfTurbulence = ["TURB", "LLWS", "MTW", "WIND"].contains { hazard.contains($0) }
        var sign = AreaSign.advisory
        if case .areas(let drawing) = Catalogue.dataset(of: area.collection)?.drawing {
            sign = drawing.sign(area)
            if hazard.isEmpty { isOfTurbulence = drawing.isUnnamedTurbulence }
        }
        let end = area.statedTo ?? area.validTo
        let isFaint = (area.forecastHour ?? 0) > 0 || end <= instant.advanced(by: AreaAppearance.endingSeconds)
        self.init(kind: sign, subject: isOfTurbulence ? .turbulence : .other, isFaint: isFaint)
    }

    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(kind.rawValue) << 2 | UInt64(subject.rawValue) << 1 | (isFaint ? 1 : 0))
    }
}

extension IssuedArea {
    /// The hazard and the altitude band, such as `TURB-HI FL250–450`.
    package var caption: String? {
        let parts = [hazard, FlightLevelText.band(altitudeMinFeet, altitudeMaxFeet), isAboveGround ? "AGL" : nil]
            .compactMap { $0 }
        return parts.isEmpty ? nil : String(parts.joined(separator: " ").prefix(40))
    }
}

/// An issued area, and what all pictures of an instant show of it: how it looks is found in its texts.
package struct DrawnArea: Sendable {
    package let area: IssuedArea
    let appearance: AreaAppearance
    let caption: String?
    /// The bounds of each polygon's exterior.
    let bounds: [PlaceBounds?]

    init(_ area: IssuedArea, at instant: Instant) {
        self.area = area
        appearance = AreaAppearance(of: area, at: instant)
        caption = area.caption
        bounds = area.geometry.polygons.map { $0.first.flatMap(PlaceBounds.init) }
    }
}

/// The areas of a dataset at an instant. All pictures of it share them, with the places of their labels.
package struct DrawnAreas: Sendable {
    package let areas: [DrawnArea]
    private let placements = WorldMapCache<AreaLabels>()

    init(_ areas: [IssuedArea], at instant: Instant) { self.areas = areas.map { DrawnArea($0, at: instant) } }

    func labels(on world: WorldMap) -> AreaLabels { placements.value(on: world) { AreaLabels(areas, on: $0) } }
}

/// The labels of areas on a map: hazard and altitude band, in the first part of each area. Warnings rank before
/// advisories, turbulence before other hazards, and higher severities before lower ones.
struct AreaLabels: Sendable {
    /// In the order of their rank.
    let labels: [Label]
    let anchors: LabelAnchors

    private static let size = 11.0

    init(_ areas: [DrawnArea], on world: WorldMap) {
        func rank(_ drawn: DrawnArea) -> (UInt8, UInt8, Int, String) {
            let severity = -Int(drawn.area.severity?.rawValue ?? 0)
            return (drawn.appearance.kind.rawValue, drawn.appearance.subject.rawValue, severity, drawn.area.id)
        }
        var labels: [Label] = []
        var anchors: [LabelAnchors.Anchor] = []
        for drawn in areas.sorted(by: { rank($0) < rank($1) }) {
            guard let text = drawn.caption, let ring = drawn.area.geometry.polygons.first?.first, ring.count > 3 else {
                continue
            }
            let places = InteriorPoint.all(of: ring.dropLast().map(world.point))
            anchors += places.map { LabelAnchors.Anchor(item: labels.count, place: $0) }
            labels.append(
                Label(
                    text, size: Self.size, ink: .area(drawn.appearance),
                    spots: places.map {
                        let baseline = Point(x: $0.x, y: $0.y + 0.36 * Self.size * Double(world.scale))
                        return Label.Spot(place: baseline, alignment: .middle)
                    }))
        }
        self.labels = labels
        self.anchors = LabelAnchors(count: labels.count, anchors, on: world)
    }
}

/// An issued area as drawn.
struct AreaMark: Sendable, Hashable {
    /// The rings in the region's pixels, in one copy of the world.
    let rings: [MarkRing]
    let appearance: AreaAppearance

    struct MarkRing: Sendable, Hashable {
        /// The vertices; the first isn't repeated at the end.
        var places: [Point]
        /// Edges that are no border, because the ring is only cut there at the antimeridian. Each is the index of its
        /// start.
        var seams: Set<Int>
    }

    /// The lowest zoom at which areas are labelled.
    static let firstLabelZoom = 4
    private static let margin = 8.0

    /// The marks of a region, in the order of `areas`.
    static func marks(of areas: [DrawnArea], in region: MapRegion) -> [AreaMark] {
        let margin = margin * Double(region.scale)
        var marks: [AreaMark] = []
        for drawn in areas {
            for (polygon, bounds) in zip(drawn.area.geometry.polygons, drawn.bounds) {
                // Most areas are far from a tile.
                guard let bounds, region.isNear(bounds, margin: margin) else { continue }
                for copy in region.copies(of: polygon, margin: margin) {
                    let rings = zip(polygon, copy).map { MarkRing(thinning: $1, seams: seams($0)) }
                    marks.append(AreaMark(rings: rings, appearance: drawn.appearance))
                }
            }
        }
        return marks
    }

    static func labels(of areas: DrawnAreas, in region: MapRegion) -> LabelSource? {
        guard region.zoom >= firstLabelZoom else { return nil }
        let placed = areas.labels(on: region.world)
        return LabelSource(anchors: placed.anchors) { placed.labels[$0] }
    }

    private static func seams(_ places: [LonLat]) -> Set<Int> {
        Set(
            zip(places, places.dropFirst()).enumerated().filter { _, edge in
                abs(edge.0.longitude) == 180 && edge.0.longitude == edge.1.longitude
            }.map(\.offset))
    }

    func mix(into fingerprint: inout Fingerprint) {
        appearance.mix(into: &fingerprint)
        fingerprint.mix(UInt64(rings.count))
        for ring in rings {
            fingerprint.mix(UInt64(ring.places.count))
            for place in ring.places { place.mix(into: &fingerprint) }
            fingerprint.mix(UInt64(ring.seams.count))
            for seam in ring.seams.sorted() { fingerprint.mix(UInt64(seam)) }
        }
    }

    func paint(_ style: Style, region: MapRegion, onto canvas: inout Canvas) {
        let colour = appearance.colour(style.marks)
        let shape = rings.map(\.places)
        let pattern = PlacedPattern(
            appearance.pattern(scale: region.scale), originX: region.originX, originY: region.originY)
        canvas.fill(shape, with: appearance.ground(style.marks), lines: Canvas.Ink(pattern: pattern, colour: colour))
        let stroke = appearance.stroke(scale: Double(region.scale))
        for ring in rings {
            for line in ring.lines {
                let halo = Stroke(width: stroke.width + 2 * Double(region.scale))
                var ground = style.marks.halo
                ground.alpha = UInt8(Int(ground.alpha) * 150 / 255)
                canvas.stroke(line.points, isClosed: line.isClosed, with: halo, colour: ground)
                canvas.stroke(line.points, isClosed: line.isClosed, with: stroke, colour: colour)
            }
        }
    }
}

extension AreaMark.MarkRing {
    /// Drops vertices less than half a pixel from the one before. They would cost time and wouldn't be visible.
    init(thinning points: [Point], seams: Set<Int>) {
        var places: [Point] = []
        var kept: Set<Int> = []
        for (index, point) in points.enumerated() {
            if let last = places.last, abs(last.x - point.x) < 0.5, abs(last.y - point.y) < 0.5, !seams.contains(index)
            {
                continue
            }
            if seams.contains(index) { kept.insert(places.count) }
            places.append(point)
        }
        self.init(places: places, seams: kept)
    }

    /// The border: the whole ring, or the parts between its seams.
    var lines: [(points: [Point], isClosed: Bool)] {
        guard let seam = seams.min() else { return [(places, true)] }
        var lines: [(points: [Point], isClosed: Bool)] = []
        var line: [Point] = []
        for step in 1...places.count {
            let index = (seam + step) % places.count
            line.append(places[index])
            if seams.contains(index) {
                if line.count > 1 { lines.append((line, false)) }
                line = []
            }
        }
        return lines
    }
}

/// Finds places inside a ring for its label.
enum InteriorPoint {
    /// Heights to try, as shares of the ring's height from its top, the best first.
    private static let shares = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]

    /// The middle of the widest interval inside the ring on several horizontal lines. The first line is at half height,
    /// the others lie above and below. The result is the same for every region of a scale.
    static func all(of ring: [Point]) -> [Point] {
        let top = ring.map(\.y).min() ?? 0
        let bottom = ring.map(\.y).max() ?? 0
        return shares.compactMap { share in
            let y = top + (bottom - top) * share
            return widest(of: ring, at: y).map { Point(x: $0, y: y) }
        }
    }

    /// The middle of the widest interval inside the ring on a horizontal line; nil if the line misses the ring.
    private static func widest(of ring: [Point], at y: Double) -> Double? {
        var crossings: [Double] = []
        for (index, a) in ring.enumerated() {
            let b = ring[(index + 1) % ring.count]
            if (a.y > y) != (b.y > y) { crossings.append(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y)) }
        }
        crossings.sort()
        var widest: (x: Double, width: Double)?
        for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
            let width = crossings[pair + 1] - crossings[pair]
            if width > widest?.width ?? -1 { widest = ((crossings[pair] + crossings[pair + 1]) / 2, width) }
        }
        return widest?.x
    }
}

/// The least and the greatest longitude and latitude of some places, in degrees.
struct PlaceBounds: Sendable, Hashable {
    let northWest: LonLat
    let southEast: LonLat

    /// Returns nil for no places.
    init?(_ places: [LonLat]) {
        guard let first = places.first else { return nil }
        var (west, east, south, north) = (first.longitude, first.longitude, first.latitude, first.latitude)
        for place in places {
            west = min(west, place.longitude)
            east = max(east, place.longitude)
            south = min(south, place.latitude)
            north = max(north, place.latitude)
        }
        guard let northWest = LonLat(longitude: west, latitude: north),
            let southEast = LonLat(longitude: east, latitude: south)
        else { return nil }
        self.northWest = northWest
        self.southEast = southEast
    }
}

extension MapRegion {
    /// Whether something within some bounds can come near the region.
    /// - Parameter margin: pixels around the region that count as near.
    func isNear(_ bounds: PlaceBounds, margin: Double) -> Bool {
        let (first, last) = (worldPoint(bounds.northWest), worldPoint(bounds.southEast))
        return first.y <= Double(originY + height) + margin && last.y >= Double(originY) - margin
            && !copies(from: first.x, to: last.x, margin: margin).isEmpty
    }

    /// The rings of a polygon in the region's pixels, once for each copy of the world in which they come near it. The
    /// rings aren't closed.
    /// - Parameter margin: pixels around the region that count as near.
    func copies(of polygon: [[LonLat]], margin: Double) -> [[[Point]]] {
        guard let exterior = polygon.first, exterior.count > 3 else { return [] }
        let worlds = polygon.map { $0.dropLast().map(worldPoint) }
        let xs = worlds[0].map(\.x)
        let ys = worlds[0].map(\.y)
        guard let minX = xs.min(), let maxX = xs.max(), let minY = ys.min(), let maxY = ys.max(),
            minY <= Double(originY + height) + margin, maxY >= Double(originY) - margin
        else { return [] }
        return copies(from: minX, to: maxX, margin: margin).map { copy in
            worlds.map { ring in ring.map { local($0, copy: copy) } }
        }
    }
}
