public import BillowRaster
import Geometry
public import Turbulence

/// The colours of a style as classes of coverage: one class per fill, and one per colour of borders.
public struct HexagonClasses: Sendable, Hashable {
    /// The colour of each class: the fills by severity, then up to three borders.
    let colours: [StraightColour]
    /// The class of each severity's border; nil if it has none.
    let borders: [Int?]

    /// - Throws: `ParameterError` if a style has more than three different borders, because there are eight classes.
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

    /// Adds everything of the style that affects the bytes of a tile.
    package func mix(into fingerprint: inout Fingerprint) {
        for colour in colours {
            fingerprint.mix(
                UInt64(colour.red) << 24 | UInt64(colour.green) << 16 | UInt64(colour.blue) << 8 | UInt64(colour.alpha))
        }
        for border in borders { fingerprint.mix(UInt64(border.map { $0 + 1 } ?? 0)) }
    }
}

/// Draws tiles of hexagons, one at a time, because it reuses its buffers.
public final class TilePainter {
    /// The rasters of tiles, by their side.
    private var rasters: [Int: InkRaster] = [:]
    /// The last raster of a region that is no tile.
    private var otherRaster: InkRaster?
    private let sprites: SpriteQueue
    private var builder: (classes: HexagonClasses, builder: PaletteBuilder)?

    /// - Parameter sprites: the cache of the sprites of small cells. Several painters may share it.
    public init(sprites: SpriteCache = SpriteCache()) { self.sprites = SpriteQueue(sprites) }

    /// The picture of a tile's content. Its width and height are the size × scale in pixels.
    public func paint(
        _ content: TileContent, at coord: TileCoord, scale: TileScale, size: TileSize = .standard,
        classes: HexagonClasses
    ) -> IndexedPicture {
        let zoom = coord.z + size.addedZooms
        let raster = raster(pixels: size.pixels(scale))
        raster.use(colours: classes.colours)
        cover(
            content, SubpixelProjection(MapRegion(coord, scale: scale, size: size), zoom: zoom),
            sprites(zoom: zoom, scale, size), borders: classes.borders, raster)
        return builder(for: classes).picture(from: raster)
    }

    /// The picture of a region that is clear of the antimeridian; nil for any other region.
    func paint(_ content: TileContent, in region: MapRegion, classes: HexagonClasses) -> IndexedPicture? {
        if let tile = region.tile {
            return paint(content, at: tile.coord, scale: tile.scale, size: tile.size, classes: classes)
        }
        let projection = SubpixelProjection(region, zoom: region.zoomOfTiles)
        guard projection.isInside else { return nil }
        let raster: InkRaster
        if let otherRaster, otherRaster.width == region.width, otherRaster.height == region.height {
            raster = otherRaster
        } else {
            raster = InkRaster(width: region.width, height: region.height)
            otherRaster = raster
        }
        raster.use(colours: classes.colours)
        // Sprites are made for the rasters of tiles.
        cover(content, projection, nil, borders: classes.borders, raster)
        return builder(for: classes).picture(from: raster)
    }

    private func sprites(zoom: Int, _ scale: TileScale, _ size: TileSize) -> SpriteCache.TileAccess? {
        zoom <= SpriteCache.highestZoom ? sprites.store.access(SpriteCache.Size(zoom, scale, size)) : nil
    }

    /// Makes sprites of small cells that were drawn without one, up to a limit. Later pictures of the same places are
    /// drawn faster, with the same pixels. A sprite takes some five times as long as drawing its cell, so no picture
    /// waits for it.
    ///
    /// - Returns: whether more sprites are missing.
    public func prepare(sprites limit: Int) -> Bool { sprites.make(limit) }

    /// Whether cells were drawn without sprites that could be made now.
    var lacksSprites: Bool { !sprites.isEmpty }

    /// The coverage of each pixel by class before colours are applied, for tests.
    func shares(
        of content: TileContent, at coord: TileCoord, scale: TileScale, borders: [Int?]
    ) -> [CoverageRaster.Shares] {
        let raster = raster(pixels: scale.pixels)
        var shares = [CoverageRaster.Shares](repeating: .zero, count: scale.pixels * scale.pixels)
        for first in stride(from: 0, to: CoverageRaster.classes, by: 4) {
            raster.useBareAreas(ofClassesFrom: first + 1)
            cover(
                content, SubpixelProjection(MapRegion(coord, scale: scale), zoom: coord.z),
                sprites(zoom: coord.z, scale, .standard), borders: borders, raster)
            for (pixel, lanes) in raster.drainLanes().enumerated() {
                for lane in 0..<4 { shares[pixel][first + lane] = UInt16(truncatingIfNeeded: lanes[lane]) }
            }
        }
        return shares
    }

    private func cover(
        _ content: TileContent, _ projection: SubpixelProjection, _ known: SpriteCache.TileAccess?, borders: [Int?],
        _ raster: InkRaster
    ) {
        let table = CellTable.of(resolution: content.resolution)
        var outlines = CellOutlines(borders: borders, raster: raster, projection: projection, sprites: known)
        content.cells.withUnsafeBufferPointer { cells in
            var next = 0
            while next < cells.count {
                // Cells are drawn chunk by chunk.
                let index = Int(cells[next] >> 3) / CellTable.chunkSize
                let end = UInt32(truncatingIfNeeded: (index + 1) * CellTable.chunkSize) << 3
                let start = next
                while next < cells.count, cells[next] < end { next += 1 }
                outlines.add(
                    UnsafeBufferPointer(rebasing: cells[start..<next]), of: table.chunk(index), index: index)
            }
        }
        guard let known, !outlines.unknown.isEmpty else { return }
        sprites.enqueue(
            outlines.unknown.map { chunk, positions in
                SpriteQueue.PendingSprites(
                    size: known.size, pixels: raster, projection: projection, chunk: table.chunk(chunk), index: chunk,
                    positions: positions.reversed())
            })
    }

    private func builder(for classes: HexagonClasses) -> PaletteBuilder {
        if let builder, builder.classes == classes { return builder.builder }
        let made = PaletteBuilder(classColours: classes.colours)
        builder = (classes, made)
        return made
    }

    private func raster(pixels: Int) -> InkRaster {
        if let raster = rasters[pixels] { return raster }
        let raster = InkRaster(width: pixels, height: pixels)
        rasters[pixels] = raster
        return raster
    }
}

/// Adds the outlines of a tile's cells to its raster.
struct CellOutlines {
    /// The raster's classes of each severity, for the border and the inside.
    private let rims: [UInt8]
    private let fills: [UInt8]
    private let raster: InkRaster
    private let projection: SubpixelProjection
    private let sprites: SpriteCache.TileAccess?
    /// The cells without a sprite, by chunk.
    private(set) var unknown: [(chunk: Int, positions: [UInt16])] = []
    /// The class of each cell's rim by position in the chunk that is being drawn, or nothing.
    private var rimOf = [UInt8](repeating: InkRaster.nothing, count: CellTable.chunkSize + 1)

    /// An upper limit for the corners of a cell: six, one per crossed edge of the icosahedron, and three around a pole.
    static let maximumCorners = 16

    fileprivate init(
        borders: [Int?], raster: InkRaster, projection: SubpixelProjection, sprites: SpriteCache.TileAccess?
    ) {
        fills = borders.indices.map { UInt8($0 + 1) }
        rims = borders.enumerated().map { UInt8(($1 ?? $0) + 1) }
        self.raster = raster
        self.projection = projection
        self.sprites = sprites
    }

    /// Adds the cells of one chunk of the table.
    ///
    /// Of two neighbours, the earlier one draws the common edge for both. This requires a tile that shows only the
    /// middle copy of the world.
    mutating func add(_ cells: UnsafeBufferPointer<UInt32>, of chunk: CellChunk, index: Int) {
        let first = index * CellTable.chunkSize
        let isShared = projection.isInside && chunk.isWithinWorld
        if isShared, let sprites = sprites?.sheet(index) {
            if addSprites(cells, of: chunk, first: first, sprites) { return }
            let unknown = cells.compactMap { cell in
                let position = Int(cell >> 3) - first
                return sprites.isUnknown(position) ? UInt16(truncatingIfNeeded: position) : nil
            }
            self.unknown.append((index, unknown))
        }
        if isShared { for cell in cells { rimOf[Int(cell >> 3) - first] = rims[Int(cell & 7)] } }
        let mesh = chunk.mesh
        mesh.points.withUnsafeBufferPointer { points in
            mesh.corners.withUnsafeBufferPointer { corners in
                mesh.neighbours.withUnsafeBufferPointer { neighbours in
                    for cell in cells {
                        let position = Int(cell >> 3) - first
                        let range = mesh.range(of: position)
                        let ring = CellRing(points: points, corners: UnsafeBufferPointer(rebasing: corners[range]))
                        let beyond = UnsafeBufferPointer(rebasing: neighbours[range])
                        if isShared {
                            add(ring, severity: Int(cell & 7), world: 0, beyond, position: UInt16(position))
                        } else {
                            for world in projection.worlds(of: ring) {
                                add(ring, severity: Int(cell & 7), world: world, beyond, position: UInt16(position))
                            }
                        }
                    }
                }
            }
        }
        if isShared { for cell in cells { rimOf[Int(cell >> 3) - first] = InkRaster.nothing } }
    }

    /// Adds cells by their sprites. Cells that are too large for a sprite, or lie only partly in the tile, are added by
    /// their outlines.
    /// - Returns: whether every sprite exists. If one is missing, nothing is added.
    private func addSprites(
        _ cells: UnsafeBufferPointer<UInt32>, of chunk: CellChunk, first: Int, _ sprites: SpriteSheet
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: InkRaster.PlacedSprite.self, capacity: cells.count) { uses in
            let areKnown = sprites.withPlaces { places in
                var areKnown = true
                for (number, cell) in cells.enumerated() {
                    let severity = Int(cell & 7)
                    let place = places[Int(cell >> 3) - first]
                    areKnown = areKnown && place != SpriteSheet.unknown
                    uses[number] = InkRaster.PlacedSprite(place: place, rim: rims[severity], fill: fills[severity])
                }
                return areKnown
            }
            guard areKnown else { return false }
            raster.add(
                UnsafeBufferPointer(uses), of: sprites, tileColumn: projection.firstColumn, tileRow: projection.firstRow
            ) { use in
                let position = Int(cells[use] >> 3) - first
                let mesh = chunk.mesh
                mesh.points.withUnsafeBufferPointer { points in
                    mesh.corners.withUnsafeBufferPointer { corners in
                        Self.noNeighbours.withUnsafeBufferPointer { none in
                            let ring = CellRing(
                                points: points,
                                corners: UnsafeBufferPointer(rebasing: corners[mesh.range(of: position)]))
                            add(ring, severity: Int(cells[use] & 7), world: 0, none, position: UInt16(position))
                        }
                    }
                }
            }
            return true
        }
    }

    /// Calls a function with the outline of a cell, which is valid during the call.
    struct CellRing {
        let points: UnsafeBufferPointer<GridPoint>
        let corners: UnsafeBufferPointer<UInt16>

        @inline(__always) var count: Int { corners.count }
        @inline(__always) subscript(corner: Int) -> GridPoint { points[Int(corners[corner])] }
    }

    private static let noNeighbours = [UInt16](repeating: RingMesh.noNeighbour, count: maximumCorners)

    @inline(__always)
    private func add(
        _ ring: CellRing, severity: Int, world: Int64,
        _ neighbours: UnsafeBufferPointer<UInt16>, position: UInt16
    ) {
        guard ring.count >= 3, ring.count <= Self.maximumCorners else { return }
        withUnsafeTemporaryAllocation(of: SIMD2<Int64>.self, capacity: Self.maximumCorners) { memory in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.maximumCorners) { beyond in
                for corner in 0..<ring.count {
                    memory[corner] = projection.project(ring[corner], world: world)
                    let neighbour = neighbours[corner]
                    let rim = rimOf[Int(neighbour)]
                    let isOfNeighbour = rim != InkRaster.nothing && neighbour < position
                    beyond[corner] = isOfNeighbour ? InkRaster.neighbours : rim
                }
                let corners = UnsafeMutableBufferPointer(rebasing: memory[..<ring.count])
                guard let base = beyond.baseAddress else { return }
                let (rim, fill) = (rims[severity], fills[severity])
                raster.add(UnsafeBufferPointer(corners), class: rim, beyond: base)
                if rim == fill { return }
                // The border is the cell without its inset. The fill is the inset, which touches no other inset.
                Self.shrink(corners)
                raster.change(UnsafeBufferPointer(corners), from: rim, to: fill)
            }
        }
    }

    /// The inset of a cell: its outline moved toward the middle by one pixel, but at most by 6 % of the cell's width.
    /// It is computed from differences to the middle, so it does not depend on where the tile begins.
    static func shrink(_ corners: UnsafeMutableBufferPointer<SIMD2<Int64>>) {
        let count = Double(corners.count)
        var sum = SIMD2<Int64>.zero
        for corner in corners { sum &+= corner }
        let middle = SIMD2(mean(Double(sum.x), of: count), mean(Double(sum.y), of: count))
        // Compares squared lengths, so that only the nearest side needs a square root.
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

    /// Rounds any value within ±2⁵⁰ to the nearest integer: added to 1.5 × 2⁵², it is in the lowest bits.
    @inline(__always)
    private static func whole(_ value: Double) -> Int64 {
        let base = 0x1.8p52
        return Int64(bitPattern: (value + base).bitPattern) &- Int64(bitPattern: base.bitPattern)
    }

    @inline(__always)
    private static func offset(_ point: SIMD2<Int64>, _ middle: SIMD2<Int64>) -> SIMD2<Double> {
        SIMD2(Double(point.x &- middle.x), Double(point.y &- middle.y))
    }

    /// ⌊sum ÷ count⌋. The offset below it is large enough that the rounded value is never midway between two integers.
    @inline(__always)
    private static func mean(_ sum: Double, of count: Double) -> Int64 { whole((sum - (count - 1) / 2) / count) }
}

/// Converts grid units to subpixels from a region's north-west corner. A grid point has the same position in the
/// world's subpixels for every tile of a zoom and scale, so rounding never depends on where a tile begins.
struct SubpixelProjection {
    /// The region, unless its pixels are those of tiles.
    private let other: MapRegion?
    private let scale: Int64
    private let down: Int64
    private let up: Int64
    private let round: Int64
    private let origin: SIMD2<Int64>
    private let box: GridBox
    /// Whether the tile is clear of the antimeridian.
    let isInside: Bool
    /// The tile's north-western pixel, counted from the north-western pixel of the world.
    var firstColumn: Int { Int(origin.x >> 10) }
    var firstRow: Int { Int(origin.y >> 10) }

    /// - Parameter zoom: the zoom of the tiles whose pixels the region has; nil for a region with other pixels.
    init(_ region: MapRegion, zoom: Int?) {
        other = zoom == nil ? region : nil
        let zoom = zoom ?? 0
        scale = Int64(region.scale)
        // The world is 2^(z + 8) pixels of 2^10 subpixels wide, times the scale, and 2^31 grid units.
        let shift = Int64(zoom) + 18 - 31
        down = max(-shift, 0)
        up = max(shift, 0)
        round = down > 0 ? 1 << (down - 1) : 0
        origin = SIMD2(Int64(region.originX), Int64(region.originY)) &* CoverageRaster.subpixels
        box = region.box()
        isInside = box.minX > -Grid.half && box.maxX < Grid.half
    }

    @inline(__always)
    func project(_ point: GridPoint, world: Int64) -> SIMD2<Int64> {
        if let other { return other.subpixels(point, copy: world) }
        let x = (((Int64(point.x) + Grid.half + world << 31) * scale + round) >> down) << up
        let y = (((Int64(point.y) + Grid.half) * scale + round) >> down) << up
        return SIMD2(x, y) &- origin
    }

    /// The copies of the world in which a cell shares a point with the tile.
    func worlds(of ring: CellOutlines.CellRing) -> ClosedRange<Int64> {
        // The common case: the cell and the tile both lie within one copy of the world.
        var outside: UInt32 = 0
        for corner in 0..<ring.count { outside |= UInt32(bitPattern: ring[corner].x) &+ 0x4000_0000 }
        if isInside && outside < 0x8000_0000 { return 0...0 }
        var minX = Int64.max
        var maxX = Int64.min
        for corner in 0..<ring.count {
            minX = min(minX, Int64(ring[corner].x))
            maxX = max(maxX, Int64(ring[corner].x))
        }
        let here = minX <= box.maxX && box.minX <= maxX
        let east = minX + Grid.world <= box.maxX && box.minX <= maxX + Grid.world
        let west = minX - Grid.world <= box.maxX && box.minX <= maxX - Grid.world
        let first: Int64 = west ? -1 : here ? 0 : 1
        let last: Int64 = east ? 1 : here ? 0 : -1
        return first <= last ? first...last : 0...0
    }
}
