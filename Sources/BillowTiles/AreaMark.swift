import BillowRaster
import Geometry
import Turbulence

extension AreaLook {
    /// Areas that end within this time are faint.
    private static let endingSeconds = 1_800

    init(of area: IssuedArea, at instant: Instant) {
        let hazard = (area.hazard ?? "").uppercased()
        let isOfTurbulence = hazard.isEmpty || ["TURB", "LLWS", "MTW", "WIND"].contains { hazard.contains($0) }
        let kind: Kind =
            area.collection == .forecast
            ? .forecast : area.kind.lowercased().contains("sigmet") ? .warning : .advisory
        let isFaint = (area.forecastHour ?? 0) > 0 || area.validTo <= instant.advanced(by: AreaLook.endingSeconds)
        self.init(kind: kind, subject: isOfTurbulence ? .turbulence : .other, isFaint: isFaint)
    }

    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(kind.rawValue) << 2 | UInt64(subject.rawValue) << 1 | (isFaint ? 1 : 0))
    }
}

/// An issued area as drawn.
struct AreaMark: Sendable, Hashable {
    /// Its rings in the window's pixels, as drawn in one copy of the world.
    let rings: [Ring]
    let look: AreaLook
    let label: Label?

    struct Ring: Sendable, Hashable {
        /// Not closed.
        var places: [Point]
        /// Which edges are no border, because the antimeridian only cuts the ring there: by the index of their start.
        var seams: Set<Int>
    }

    struct Label: Sendable, Hashable {
        var text: String
        var place: PicturePlace
    }

    /// From here on an area's label stands in it.
    static let firstLabelZoom = 4
    private static let margin = 160.0

    /// The marks of a window, in the order of `areas`.
    static func marks(of areas: [IssuedArea], at instant: Instant, in region: MapRegion) -> [AreaMark] {
        areas.flatMap { area in
            let look = AreaLook(of: area, at: instant)
            let text = region.zoom >= firstLabelZoom ? label(of: area) : nil
            return area.geometry.polygons.enumerated().flatMap { index, polygon in
                // One label for an area in two parts.
                marks(of: polygon, look, index == 0 ? text : nil, in: region)
            }
        }
    }

    private static func marks(
        of polygon: [[LonLat]], _ look: AreaLook, _ text: String?, in region: MapRegion
    ) -> [AreaMark] {
        guard let exterior = polygon.first, exterior.count > 3 else { return [] }
        let worlds = polygon.map { $0.dropLast().map(region.worldPoint) }
        let xs = worlds[0].map(\.x)
        let ys = worlds[0].map(\.y)
        guard let minX = xs.min(), let maxX = xs.max(), let minY = ys.min(), let maxY = ys.max() else { return [] }
        let margin = margin * Double(region.scale)
        guard minY <= Double(region.originY + region.height) + margin, maxY >= Double(region.originY) - margin else {
            return []
        }
        let labelPoint = text.map { _ in InteriorPoint.of(worlds[0]) }
        return region.copies(from: minX, to: maxX, margin: margin).map { copy in
            let rings = zip(polygon, worlds).map { places, points in
                Ring(thinning: points.map { region.local($0, copy: copy) }, seams: seams(places))
            }
            let label = text.flatMap { text in
                labelPoint.map { Label(text: text, place: PicturePlace(region.local($0, copy: copy))) }
            }
            return AreaMark(rings: rings, look: look, label: label)
        }
    }

    private static func seams(_ places: [LonLat]) -> Set<Int> {
        Set(
            zip(places, places.dropFirst()).enumerated().filter { _, edge in
                abs(edge.0.longitude) == 180 && edge.0.longitude == edge.1.longitude
            }.map(\.offset))
    }

    /// `TURB-HI FL250–450`: what, and how high.
    private static func label(of area: IssuedArea) -> String? {
        let parts = [area.hazard, FlightLevelText.band(area.altitudeMinFeet, area.altitudeMaxFeet)].compactMap { $0 }
        return parts.isEmpty ? nil : String(parts.joined(separator: " ").prefix(40))
    }

    func mix(into fingerprint: inout Fingerprint) {
        look.mix(into: &fingerprint)
        for ring in rings {
            fingerprint.mix(UInt64(ring.places.count))
            for place in ring.places {
                PicturePlace(place).mix(into: &fingerprint)
            }
        }
        fingerprint.mix(label?.text ?? "")
        label?.place.mix(into: &fingerprint)
    }

    func paint(_ style: Style, region: MapRegion, onto canvas: inout Canvas) {
        let colour = look.colour(style.marks)
        let shape = rings.map(\.places)
        let pattern = PlacedPattern(
            look.pattern(scale: region.scale), originX: region.originX, originY: region.originY)
        canvas.fill(shape, with: look.ground(style.marks))
        canvas.fill(shape, with: colour, pattern: pattern)
        let stroke = look.stroke(scale: Double(region.scale))
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

    func paintLabel(_ style: Style, scale: Double, onto canvas: inout Canvas, text: LabelPainter) throws(TextError) {
        guard let label else { return }
        let size = 11 * scale
        let width = try text.width(of: label.text, size: size)
        let start = Point(x: label.place.point.x - width / 2, y: label.place.point.y + size * 0.36)
        try text.draw(label.text, at: start, size: size, style.marks, colour: look.colour(style.marks), on: &canvas)
    }
}

extension AreaMark.Ring {
    /// Without places less than half a pixel from the one before: what can't be seen costs nothing.
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

    /// Its border: the ring itself, or the stretches between its seams.
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

/// A point inside a ring for its label.
enum InteriorPoint {
    /// The middle of the widest stretch inside, along the horizontal line half-way down; simple, and the same for every
    /// window of a scale.
    static func of(_ ring: [Point]) -> Point {
        let top = ring.map(\.y).min() ?? 0
        let bottom = ring.map(\.y).max() ?? 0
        let y = (top + bottom) / 2
        var crossings: [Double] = []
        for (index, a) in ring.enumerated() {
            let b = ring[(index + 1) % ring.count]
            if (a.y > y) != (b.y > y) { crossings.append(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y)) }
        }
        crossings.sort()
        var widest = (x: ring.first?.x ?? 0, width: 0.0)
        for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
            let width = crossings[pair + 1] - crossings[pair]
            if width > widest.width { widest = ((crossings[pair] + crossings[pair + 1]) / 2, width) }
        }
        return Point(x: widest.x, y: y)
    }
}
