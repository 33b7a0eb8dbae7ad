import BillowRaster
import Geometry
import Turbulence

extension HexagonClasses {
    /// The same fills without borders. Adjacent cells of one severity look like one area.
    init(polygonsOf style: Style) {
        colours = Severity.allCases.map { style[$0].fill.colour }
        borders = Severity.allCases.map { _ in nil }
    }
}

/// Draws cells onto canvases, in any region and style. Each pixel is the exact mean of the colours that cover it.
/// `TilePainter` does the same faster for a single layer in plain colours.
final class CellPainter {
    private var raster: CoverageRaster?

    func paint(
        _ content: TileContent, isBordered: Bool, style: Style, region: MapRegion, onto canvas: inout Canvas
    ) throws(ParameterError) {
        guard !content.isEmpty else { return }
        let classes = isBordered ? try HexagonClasses(style) : HexagonClasses(polygonsOf: style)
        let raster = raster(width: region.width, height: region.height)
        cover(content, borders: classes.borders, region: region, raster)
        let inks = Severity.allCases.map {
            ClassInk(style[$0].pattern, over: classes.colours[Int($0.rawValue)], region)
        }
        var mixer = ShareMixer(classes: classes, inks: inks)
        for (index, shares) in raster.drainShares().enumerated() where !shares.isNothing {
            let (y, x) = index.quotientAndRemainder(dividingBy: region.width)
            canvas.lay(mixer.colour(of: shares, x: x, y: y), x: x, y: y)
        }
    }

    private func raster(width: Int, height: Int) -> CoverageRaster {
        if let raster, raster.width == width, raster.height == height { return raster }
        let made = CoverageRaster(width: width, height: height)
        raster = made
        return made
    }

    private func cover(_ content: TileContent, borders: [Int?], region: MapRegion, _ raster: CoverageRaster) {
        let table = CellTable.of(resolution: content.resolution)
        let pixelsPerUnit = region.worldPixels / Double(Grid.world)
        for entry in content.cells {
            let ring = table.vertices(dense: Int(entry >> 3))
            guard (3...CellOutlines.maximumCorners).contains(ring.count) else { continue }
            var (west, east) = (Int32.max, Int32.min)
            for vertex in ring {
                west = min(west, vertex.x)
                east = max(east, vertex.x)
            }
            let (minX, maxX) = (Double(Int64(west) + Grid.half), Double(Int64(east) + Grid.half))
            let lane = Int(entry & 7)
            for copy in region.copies(from: minX * pixelsPerUnit, to: maxX * pixelsPerUnit, margin: 1) {
                var corners = ring.map { region.subpixels($0, copy: Int64(copy)) }
                corners.withUnsafeMutableBufferPointer { corners in
                    raster.add(UnsafeBufferPointer(corners), class: borders[lane] ?? lane)
                    guard let border = borders[lane] else { return }
                    CellOutlines.shrink(corners)
                    var signs = CoverageRaster.Shares.zero
                    signs[border] = .max
                    signs[lane] = 1
                    raster.add(UnsafeBufferPointer(corners), signs: signs)
                }
            }
        }
    }
}

/// The ink of a severity's pattern.
struct ClassInk {
    let pattern: PlacedPattern
    /// The pattern's colour over the fill, premultiplied, in 0…255.
    let colour: SIMD4<Float>

    init?(_ pattern: SeverityPattern?, over fill: StraightColour, _ region: MapRegion) {
        guard let pattern else { return nil }
        self.pattern = PlacedPattern(
            pattern.pattern(scale: region.scale), originX: region.originX, originY: region.originY)
        let above = SIMD4<Float>(pattern.paint.colour)
        colour = above + SIMD4<Float>(fill) * (1 - above.w / 255)
    }

    /// The colour of a pixel that the severity covers completely.
    func colour(over fill: StraightColour, x: Int, y: Int) -> PremultipliedColour {
        let plain = SIMD4<Float>(fill)
        return PremultipliedColour(nearest: plain + (colour - plain) * (Float(pattern.coverage(x: x, y: y)) / 255))
    }
}

/// Mixes the colours of a pixel's shares, weighted by area, in premultiplied space.
private struct ShareMixer {
    private let colours: [SIMD4<Float>]
    private let inks: [ClassInk?]
    private let hasInks: Bool
    private var last: (shares: CoverageRaster.Shares, colour: PremultipliedColour)?

    init(classes: HexagonClasses, inks: [ClassInk?]) {
        colours = classes.colours.map { SIMD4<Float>($0) }
        self.inks = inks + [ClassInk?](repeating: nil, count: max(0, classes.colours.count - inks.count))
        hasInks = inks.contains { $0 != nil }
    }

    mutating func colour(of shares: CoverageRaster.Shares, x: Int, y: Int) -> PremultipliedColour {
        if !hasInks, let last, last.shares == shares { return last.colour }
        var sum = SIMD4<Float>.zero
        for lane in colours.indices where shares[lane] != 0 {
            // Rounding of edges can leave a share a few units below zero.
            let share = Float(Int16(bitPattern: shares[lane])) / Float(CoverageRaster.full)
            var colour = colours[lane]
            if let ink = inks[lane] {
                colour += (ink.colour - colour) * (Float(ink.pattern.coverage(x: x, y: y)) / 255)
            }
            sum += colour * share
        }
        let colour = PremultipliedColour(nearest: sum)
        last = (shares, colour)
        return colour
    }
}

extension SIMD4<Float> {
    /// Premultiplied red, green and blue, and alpha, in 0…255.
    fileprivate init(_ colour: StraightColour) {
        self =
            SIMD4(Float(colour.red), Float(colour.green), Float(colour.blue), 255) * (Float(colour.alpha) / 255)
    }
}

extension PremultipliedColour {
    /// The nearest colour to four channels in 0…255, with halves rounded up.
    fileprivate init(nearest channels: SIMD4<Float>) {
        func byte(_ value: Float, _ limit: UInt8) -> UInt8 {
            min(UInt8(truncatingIfNeeded: Int32(min(max(value + 0.5, 0), 255))), limit)
        }
        let alpha = byte(channels.w, 255)
        self =
            PremultipliedColour(
                red: byte(channels.x, alpha), green: byte(channels.y, alpha), blue: byte(channels.z, alpha),
                alpha: alpha) ?? .clear
    }
}
