import BillowRaster
import Geometry
package import Turbulence

/// An aircraft as drawn: an outline from above, turned to its heading, or a disc if the heading is unknown. An aircraft
/// on the ground is drawn smaller.
struct TrafficMark: Sendable, Hashable {
    let place: PicturePosition
    /// Degrees clockwise from north, in steps of `headingStep`.
    let heading: Int?
    let isOnGround: Bool
    let isSmall: Bool

    private static let headingStep = 3
    /// The side of the square in which one aircraft is shown at low zoom, in points.
    private static let spacing = 11.0
    private static let reach = 14.0
    /// The lowest zoom at which aircraft have their full size. Below it they have half of it.
    private static let fullSizeZoom = 6
    static let firstLabelZoom = 7

    init(_ position: AircraftPosition, at place: PicturePosition, zoom: Int) {
        self.place = place
        heading = position.headingDegrees.map {
            Int(($0 / Double(TrafficMark.headingStep)).rounded()) * TrafficMark.headingStep % 360
        }
        isOnGround = position.isOnGround
        isSmall = zoom < TrafficMark.fullSizeZoom
    }

    /// The marks of a region, with airborne aircraft on top, and their labels. A label is the call sign and level of an
    /// airborne aircraft. Each 256 × 256 points have at most `labels` of them.
    static func marks(of traffic: DrawnTraffic, labels: Int, in region: MapRegion)
        -> (marks: [TrafficMark], labels: LabelSource?)
    {
        let positions = traffic.positions
        let placed = traffic.placed(on: region.world)
        let marks = grid(region.world).copies(of: placed.symbols, in: region).sorted {
            positions[$0.index].isOnGround && !positions[$1.index].isOnGround
        }.map {
            TrafficMark(positions[$0.index], at: PicturePosition($0.at), zoom: region.zoom)
        }
        guard labels > 0, region.zoom >= firstLabelZoom else { return (marks, nil) }
        let named = placed.named(labels, positions, on: region.world)
        return (
            marks,
            LabelSource(beside: named.symbols, named.anchors, gap: 11, scale: Double(region.scale), size: 10) {
                text(positions[$0])
            }
        )
    }

    /// The aircraft that are visible in a region.
    static func shown(_ traffic: DrawnTraffic, in region: MapRegion) -> [AircraftPosition] {
        grid(region.world).copies(of: traffic.placed(on: region.world).symbols, in: region).map {
            traffic.positions[$0.index]
        }
    }

    fileprivate static func grid(_ world: WorldMap) -> SymbolGrid {
        SymbolGrid(world, points: spacing, reach: reach)
    }

    private static func text(_ position: AircraftPosition) -> String {
        [position.callsign ?? position.icao24.text, position.altitudeFeet.map(FlightLevelText.of)].compactMap { $0 }
            .joined(separator: " ")
    }

    /// Airborne aircraft rank before those on the ground; then the address decides.
    fileprivate static func isBetter(_ a: AircraftPosition, _ b: AircraftPosition) -> Bool {
        a.isOnGround != b.isOnGround ? b.isOnGround : a.icao24 < b.icao24
    }

    func mix(into fingerprint: inout Fingerprint) {
        place.mix(into: &fingerprint)
        fingerprint.mix(UInt64(heading.map { $0 + 1 } ?? 0) << 2 | (isOnGround ? 2 : 0) | (isSmall ? 1 : 0))
    }

    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas) {
        let size = scale * (isSmall ? 0.55 : isOnGround ? 0.7 : 1)
        let symbol = AircraftSymbol(headingDegrees: heading, size: size / scale)
        canvas.draw(symbol.drawing(style.marks), at: place.point, scale: scale)
    }
}

/// The aircraft of an instant. All pictures of it share them, with their places.
package struct DrawnTraffic: Sendable {
    package let positions: [AircraftPosition]
    private let placements = WorldMapCache<Placement>()

    /// The places of the aircraft on a map.
    struct Placement: Sendable {
        /// Those that are shown, in the order of the positions.
        let symbols: [SymbolGrid.PlacedSymbol]
        /// Those that are labelled, if as many are as usual.
        fileprivate let usual: Named
    }

    /// The aircraft that are labelled, the most important first.
    struct Named: Sendable {
        let symbols: [SymbolGrid.PlacedSymbol]
        let anchors: LabelAnchors

        fileprivate init(
            _ symbols: [SymbolGrid.PlacedSymbol], labels: Int, _ positions: [AircraftPosition], on world: WorldMap
        ) {
            self.symbols = TrafficMark.grid(world).first(
                labels, ofEachBlock: symbols.filter { !positions[$0.index].isOnGround })
            anchors = LabelAnchors(of: self.symbols, on: world)
        }
    }

    init(_ positions: [AircraftPosition]) { self.positions = positions }

    func placed(on world: WorldMap) -> Placement {
        placements.value(on: world) { world in
            let symbols = TrafficMark.grid(world).thinned(
                positions, place: \.place, isBetter: TrafficMark.isBetter)
            let labels = world.zoom >= TrafficMark.firstLabelZoom ? PictureContent.defaultLabels : 0
            return Placement(
                symbols: symbols, usual: Named(symbols, labels: labels, positions, on: world))
        }
    }
}

extension DrawnTraffic.Placement {
    /// - Parameter labels: the maximum of each 256 × 256 points.
    fileprivate func named(_ labels: Int, _ positions: [AircraftPosition], on world: WorldMap) -> DrawnTraffic.Named {
        labels == PictureContent.defaultLabels
            ? usual : DrawnTraffic.Named(symbols, labels: labels, positions, on: world)
    }
}

/// The past track of one aircraft, as drawn.
struct TrackMark: Sendable, Hashable {
    let points: [Point]

    /// At low zoom, one track is shown for each square of this side, in points, by its end.
    private static let spacing = 11.0

    /// - Parameter tracks: the positions of one aircraft each, oldest first.
    static func marks(of tracks: [[AircraftPosition]], in region: MapRegion) -> [TrackMark] {
        // The choice of tracks depends on their ends, which may be far from the region.
        let spacing = (region.zoom >= SymbolGrid.wholeZoom ? 1 : TrackMark.spacing) * Double(region.scale)
        var kept: [SIMD2<Int32>: Int] = [:]
        for (index, track) in tracks.enumerated() {
            guard let last = track.last else { continue }
            let end = region.worldPoint(last.place)
            let square = SIMD2(Int32((end.x / spacing).rounded(.down)), Int32((end.y / spacing).rounded(.down)))
            if let other = kept[square], let rival = tracks[other].last, rival.icao24 < last.icao24 { continue }
            kept[square] = index
        }
        return kept.values.sorted().flatMap { index in pieces(tracks[index], in: region) }
    }

    /// A track as polylines with steps of at least a pixel, in every copy of the world. It is split where the aircraft
    /// was not seen.
    private static func pieces(_ track: [AircraftPosition], in region: MapRegion) -> [TrackMark] {
        var lines: [[Point]] = []
        var line: [Point] = []
        var previous: AircraftPosition?
        for position in track {
            var point = region.worldPoint(position.place)
            if let before = previous, let last = line.last {
                if position.observedAt.seconds - before.observedAt.seconds > AircraftTrack.gapSeconds {
                    lines.append(line)
                    line = []
                } else {
                    // Take the shorter way, across the antimeridian.
                    point.x -= ((point.x - last.x) / region.worldPixels).rounded() * region.worldPixels
                    let isLast = position == track.last
                    if !isLast, abs(point.x - last.x) < 1, abs(point.y - last.y) < 1 { continue }
                }
            }
            line.append(point)
            previous = position
        }
        lines.append(line)
        let margin = 4.0 * Double(region.scale)
        return lines.filter { $0.count > 1 }.flatMap { line -> [TrackMark] in
            let (xs, ys) = (line.map(\.x), line.map(\.y))
            guard let minX = xs.min(), let maxX = xs.max(), let minY = ys.min(), let maxY = ys.max(),
                minY <= Double(region.originY + region.height) + margin, maxY >= Double(region.originY) - margin
            else { return [] }
            return region.copies(from: minX, to: maxX, margin: margin).map { copy in
                TrackMark(points: line.map { region.local($0, copy: copy) })
            }
        }
    }

    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(points.count))
        for point in points { point.mix(into: &fingerprint) }
    }

    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas) {
        var halo = style.marks.halo
        halo.alpha = UInt8(Int(halo.alpha) * 160 / 255)
        canvas.stroke(points, with: Stroke(width: 3.2 * scale), colour: halo)
        canvas.stroke(points, with: Stroke(width: 1.5 * scale), colour: style.marks.track)
    }
}
