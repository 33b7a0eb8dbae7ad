public import BillowRaster
import Geometry
public import Turbulence

/// A style as the painter needs it: one class of coverage for each fill, and one for each colour of border.
public struct HexagonClasses: Sendable, Hashable {
    /// The colour of every class: the fills by severity, then up to three borders.
    let colours: [StraightColour]
    /// The class of each severity's border; nil where it has none.
    let borders: [Int?]

    /// - Throws: `ParameterError` where a style has more than three different borders: there are eight classes.
    public init(_ style: Style) throws(ParameterError) {
        var colours = Severity.allCases.map { style[$0].fill.colour }
        var borders: [Int?] = []
        for severity in Severity.allCases {
            guard let border = style[severity].border?.colour else {
                borders.append(nil)
                continue
            }
            if let same = colours[Severity.allCases.count...].firstIndex(of: border) {
                borders.append(same)
            } else {
                guard colours.count < CoverageRaster.classes else {
                    throw ParameterError(
                        parameter: "severities", value: style.id, expected: "drawn with at most 3 colours of border")
                }
                borders.append(colours.count)
                colours.append(border)
            }
        }
        self.colours = colours
        self.borders = borders
    }

    /// Adds all that tells two styles' tiles apart.
    public func mix(into fingerprint: inout Fingerprint) {
        for colour in colours {
            fingerprint.mix(
                UInt64(colour.red) << 24 | UInt64(colour.green) << 16 | UInt64(colour.blue) << 8 | UInt64(colour.alpha))
        }
        for border in borders { fingerprint.mix(UInt64(border.map { $0 + 1 } ?? 0)) }
    }
}

/// Draws tiles of hexagons. Holds the buffers that it draws in, so it serves one at a time.
public final class TilePainter {
    private var rasters: [Int: CoverageRaster] = [:]
    private var builder: (classes: HexagonClasses, builder: PaletteBuilder)?
    private let edges = SharedEdges()

    public init() {}

    /// The picture of a tile's content, 256 × scale pixels each way.
    public func paint(_ content: TileContent, at coord: TileCoord, scale: TileScale, classes: HexagonClasses)
        -> IndexedPicture
    {
        let raster = cover(content, at: coord, scale: scale, borders: classes.borders)
        return builder(for: classes).picture(from: raster)
    }

    /// The shares of every pixel before any palette, for tests.
    func shares(
        of content: TileContent, at coord: TileCoord, scale: TileScale, borders: [Int?]
    ) -> [CoverageRaster.Shares] {
        cover(content, at: coord, scale: scale, borders: borders).drainShares()
    }

    private func cover(_ content: TileContent, at coord: TileCoord, scale: TileScale, borders: [Int?])
        -> CoverageRaster
    {
        let raster = raster(pixels: scale.pixels)
        let projection = SubpixelProjection(coord: coord, scale: scale)
        let table = CellTable.of(resolution: content.resolution)
        edges.start(cells: content.count)
        let outline = CellOutlines(edges: edges, raster: raster)
        var next = 0
        while next < content.cells.count {
            // All cells of one chunk after the other.
            let index = Int(content.cells[next] >> 3) / CellTable.chunkSize
            let chunk = table.chunk(index)
            chunk.vertices.withUnsafeBufferPointer { vertices in
                while next < content.cells.count {
                    let entry = content.cells[next]
                    let position = Int(entry >> 3) - index * CellTable.chunkSize
                    guard position < CellTable.chunkSize else { break }
                    let range = Int(chunk.starts[position])..<Int(chunk.starts[position + 1])
                    let ring = UnsafeBufferPointer(rebasing: vertices[range])
                    outline.add(ring, class: Int(entry & 7), border: borders[Int(entry & 7)], projection)
                    next += 1
                }
            }
        }
        edges.drain(into: raster)
        return raster
    }

    private func builder(for classes: HexagonClasses) -> PaletteBuilder {
        if let builder, builder.classes == classes { return builder.builder }
        let made = PaletteBuilder(classColours: classes.colours)
        builder = (classes, made)
        return made
    }

    private func raster(pixels: Int) -> CoverageRaster {
        if let raster = rasters[pixels] { return raster }
        let raster = CoverageRaster(width: pixels, height: pixels)
        rasters[pixels] = raster
        return raster
    }
}

/// The outlines of a tile's cells on their way to its raster.
struct CellOutlines {
    let edges: SharedEdges
    let raster: CoverageRaster

    /// More corners than any cell has: six, one for each edge of the icosahedron it crosses, three around a pole.
    static let mostCorners = 16

    /// Adds a cell in each copy of the world in which the tile shows it: its edges here, and its inset to the raster.
    @inline(__always)
    func add(
        _ ring: UnsafeBufferPointer<GridPoint>, class lane: Int, border: Int?, _ projection: SubpixelProjection
    ) {
        guard ring.count >= 3, ring.count <= Self.mostCorners else { return }
        for world in projection.worlds(of: ring) {
            withUnsafeTemporaryAllocation(of: SIMD2<Int64>.self, capacity: Self.mostCorners) { memory in
                for (corner, vertex) in ring.enumerated() { memory[corner] = projection.project(vertex, world: world) }
                let corners = UnsafeMutableBufferPointer(rebasing: memory[..<ring.count])
                edges.add(ring: UnsafeBufferPointer(corners), class: border ?? lane)
                guard let border else { return }
                // The border is the cell without its inset; the fill is the inset, which touches no other.
                Self.shrink(corners)
                var signs = CoverageRaster.Shares.zero
                signs[border] = .max
                signs[lane] = 1
                raster.add(UnsafeBufferPointer(corners), signs: signs)
            }
        }
    }

    /// The cell without its border: drawn in toward its middle by one pixel, but at most 6 % of the cell's width. All in
    /// differences from the middle, so the same wherever the tile begins.
    static func shrink(_ corners: UnsafeMutableBufferPointer<SIMD2<Int64>>) {
        let count = Double(corners.count)
        var sum = SIMD2<Int64>.zero
        for corner in corners { sum &+= corner }
        let middle = SIMD2(mean(Double(sum.x), of: count), mean(Double(sum.y), of: count))
        // Squared lengths, so that only the nearest side costs a root.
        var nearest = Double.infinity
        var previous = offset(corners[corners.count - 1], middle)
        for corner in corners {
            let current = offset(corner, middle)
            let edge = current - previous
            let length = edge.x * edge.x + edge.y * edge.y
            let area = previous.x * current.y - previous.y * current.x
            if length > 0 { nearest = min(nearest, area * area / length) }
            previous = current
        }
        let inradius = nearest.squareRoot()
        let band = min(Double(CoverageRaster.subpixels), inradius * 2 * 0.06)
        let factor = inradius > 0 && inradius.isFinite ? 1 - band / inradius : 0
        for index in corners.indices {
            let offset = offset(corners[index], middle) * factor
            corners[index] = middle &+ SIMD2(whole(offset.x), whole(offset.y))
        }
    }

    /// To the nearest, of any value within ±2⁵⁰: added to 1.5 × 2⁵², it stands in the lowest bits.
    @inline(__always)
    private static func whole(_ value: Double) -> Int64 {
        let base = 0x1.8p52
        return Int64(bitPattern: (value + base).bitPattern) &- Int64(bitPattern: base.bitPattern)
    }

    @inline(__always)
    private static func offset(_ point: SIMD2<Int64>, _ middle: SIMD2<Int64>) -> SIMD2<Double> {
        SIMD2(Double(point.x &- middle.x), Double(point.y &- middle.y))
    }

    /// ⌊sum ÷ count⌋: so far below it that what is rounded never lies in the middle between two.
    @inline(__always)
    private static func mean(_ sum: Double, of count: Double) -> Int64 { whole((sum - (count - 1) / 2) / count) }
}

/// From grid units to subpixels from a tile's north-west corner. A grid point has the same place in the world's subpixels
/// for every tile of a zoom and scale: rounding never depends on where a tile begins.
struct SubpixelProjection {
    private let scale: Int64
    private let down: Int64
    private let up: Int64
    private let round: Int64
    private let origin: SIMD2<Int64>
    private let box: GridBox
    /// Whether the tile doesn't touch the antimeridian.
    private let isInside: Bool

    init(coord: TileCoord, scale: TileScale) {
        self.scale = Int64(scale.rawValue)
        // A world is 2^(z + 8) pixels of 2^10 subpixels wide, times the scale, and 2^31 units.
        let shift = Int64(coord.z) + 18 - 31
        down = max(-shift, 0)
        up = max(shift, 0)
        round = down > 0 ? 1 << (down - 1) : 0
        let tile = Int64(scale.pixels) * CoverageRaster.subpixels
        origin = SIMD2(Int64(coord.x) * tile, Int64(coord.y) * tile)
        box = coord.box
        isInside = box.minX > -Grid.half && box.maxX < Grid.half
    }

    @inline(__always)
    func project(_ point: GridPoint, world: Int64) -> SIMD2<Int64> {
        let x = (((Int64(point.x) + Grid.half + world << 31) * scale + round) >> down) << up
        let y = (((Int64(point.y) + Grid.half) * scale + round) >> down) << up
        return SIMD2(x, y) &- origin
    }

    /// In which copies of the world a cell shares a point with the tile.
    func worlds(of vertices: UnsafeBufferPointer<GridPoint>) -> ClosedRange<Int64> {
        // A cell within one world, as nearly all are, in a tile that is.
        var outside: UInt32 = 0
        for vertex in vertices { outside |= UInt32(bitPattern: vertex.x) &+ 0x4000_0000 }
        if isInside && outside < 0x8000_0000 { return 0...0 }
        var minX = Int64.max
        var maxX = Int64.min
        for vertex in vertices {
            minX = min(minX, Int64(vertex.x))
            maxX = max(maxX, Int64(vertex.x))
        }
        let here = minX <= box.maxX && box.minX <= maxX
        let east = minX + Grid.world <= box.maxX && box.minX <= maxX + Grid.world
        let west = minX - Grid.world <= box.maxX && box.minX <= maxX - Grid.world
        let first: Int64 = west ? -1 : here ? 0 : 1
        let last: Int64 = east ? 1 : here ? 0 : -1
        return first <= last ? first...last : 0...0
    }
}
