import BillowSnapshot
import Datasets
import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("A tile of hexagons is exact")
struct TilePainterTests {
    static let style: Style = {
        func paint(_ colour: String, _ opacity: Double) -> Paint { Paint(StraightColour(colour)!, opacity: opacity)! }
        return Style(
            id: "test", title: "", description: "", theme: .light,
            paints: [
                SeverityPaint(fill: paint("#FFFFFF", 0.6), border: paint("#898989", 0.8)),
                SeverityPaint(fill: paint("#FFF04C", 0.8)), SeverityPaint(fill: paint("#FFBC09", 0.8)),
                SeverityPaint(fill: paint("#FF7100", 0.8)), SeverityPaint(fill: paint("#FF0000", 0.8)),
            ])!
    }()
    static let classes = try! HexagonClasses(style)
    static let bordered: [Int?] = [5, nil, nil, nil, nil]
    static let plain = [Int?](repeating: nil, count: 5)

    /// Tiles over Europe, the antimeridian, high latitudes, a pentagon, and the whole world.
    static let places: [(z: Int, longitude: Double, latitude: Double)] = [
        (0, 0, 0), (2, -170, 70), (3, 179.9, -16), (4, 10, 50), (5, 10, 50), (6, -179.9, 65), (7, 10, 50),
        (8, 179.99, -17), (9, 10.5, 64.7), (10, 0, 84.9), (12, -122, 37), (15, 10, 50), (22, 10, 50),
    ]

    @Test("the share of every pixel is that of a slow exact oracle, to 1/255", arguments: places.indices)
    func oracle(index: Int) throws {
        let place = Self.places[index]
        let coord = try #require(Self.coord(z: place.z, longitude: place.longitude, latitude: place.latitude))
        let content = TileContent(of: Self.patchwork, in: coord)
        try #require(!content.isEmpty)
        let shares = TilePainter().shares(of: content, at: coord, scale: .one, borders: Self.plain)
        let expected = ExactAreaOracle.shares(of: content, at: coord, pixels: 256)
        var worst = 0.0
        for (pixel, share) in shares.enumerated() {
            for lane in 0..<5 {
                worst = max(worst, abs(Double(share[lane]) / 16_384 - expected[lane][pixel]))
            }
        }
        #expect(worst <= 1.0 / 255, "z\(coord.z)/\(coord.x)/\(coord.y): \(worst * 255) / 255")
    }

    /// For a release build or patience: `BILLOW_ORACLE_TILES=300 swift test --filter manyTiles`.
    @Test(
        "the share of every pixel is exact in as many tiles as requested, at all zooms",
        .enabled(if: ProcessInfo.processInfo.environment["BILLOW_ORACLE_TILES"] != nil))
    func manyTiles() throws {
        let wanted = try #require(Int(ProcessInfo.processInfo.environment["BILLOW_ORACLE_TILES"] ?? ""))
        var random = SeededGenerator(seed: 7)
        var drawn = 0
        var worst = 0.0
        while drawn < wanted {
            let zoom = Int(random.next() % UInt64(TileCoord.maximumZoom + 1))
            let size = UInt64(1) << UInt64(zoom)
            // Around one of the places, where there is something to draw.
            let place = Self.places[Int(random.next() % UInt64(Self.places.count))]
            let longitude = place.longitude + Double(random.next() % 4_000) / 1_000 - 2
            let latitude = max(min(place.latitude + Double(random.next() % 4_000) / 1_000 - 2, 85), -85)
            let x = min(max(Int(UnitMercator.x(longitude: longitude) * Double(size)), 0), Int(size) - 1)
            let y = min(max(Int(UnitMercator.y(latitude: latitude) * Double(size)), 0), Int(size) - 1)
            let coord = try #require(TileCoord(z: zoom, x: x, y: y))
            let content = TileContent(of: Self.patchwork, in: coord)
            if content.isEmpty { continue }
            drawn += 1
            let shares = TilePainter().shares(of: content, at: coord, scale: .one, borders: Self.plain)
            let expected = ExactAreaOracle.shares(of: content, at: coord, pixels: 256)
            var off = 0.0
            for (pixel, share) in shares.enumerated() {
                for lane in 0..<5 { off = max(off, abs(Double(share[lane]) / 16_384 - expected[lane][pixel])) }
            }
            #expect(off <= 1.0 / 255, "z\(zoom)/\(x)/\(y): \(off * 255) / 255")
            worst = max(worst, off)
        }
        print("\(drawn) tiles, worst share off by \(worst * 255) / 255")
    }

    @Test("a region of one severity has one colour inside, at every zoom and scale", arguments: [5, 6, 7, 8, 9, 11])
    func noSeams(zoom: Int) throws {
        for severity in [Severity.light, .moderateSevere] {
            let plane = Self.plane { _ in severity }
            let coord = try #require(Self.coord(z: zoom, longitude: 10, latitude: 50))
            for scale in TileScale.allCases {
                let picture = TilePainter().paint(
                    TileContent(of: plane, in: coord), at: coord, scale: scale, classes: Self.classes)
                let fill = Self.style[severity].fill.colour
                #expect(picture.indices.allSatisfy { picture.palette[Int($0)] == fill })
            }
        }
    }

    /// Zooms 5 and 6 are drawn by sprites, but for the cells at a tile's edge; 7 and 8 by outlines.
    @Test("four tiles are the quarters of the one above at twice the scale", arguments: [5, 6, 7])
    func quarters(zoom: Int) throws {
        let parent = try #require(Self.coord(z: zoom, longitude: 10, latitude: 50))
        let painter = TilePainter()
        let whole = painter.shares(
            of: TileContent(of: Self.patchwork, in: parent), at: parent, scale: .two, borders: Self.bordered)
        #expect(!painter.prepare(sprites: .max))
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let child = try #require(TileCoord(z: zoom + 1, x: parent.x * 2 + dx, y: parent.y * 2 + dy))
            let content = TileContent(of: Self.patchwork, in: child)
            // The second time half of the cells have sprites, the third time all.
            for time in 0..<3 {
                let quarter = painter.shares(of: content, at: child, scale: .one, borders: Self.bordered)
                for row in 0..<256 {
                    let start = (row + dy * 256) * 512 + dx * 256
                    #expect(Array(whole[start..<start + 256]) == Array(quarter[row * 256..<row * 256 + 256]))
                }
                // From zoom 7 on cells are too large for sprites.
                #expect(painter.prepare(sprites: time == 0 ? content.cells.count / 2 : .max) == (time == 0 && zoom < 6))
            }
        }
    }

    @Test("sprites of one size of raster draw nothing in a raster of another size")
    func spritesOfAnotherRaster() throws {
        let cache = SpriteCache()
        let painter = TilePainter(sprites: cache)
        let coord = try #require(Self.coord(z: 4, longitude: 10, latitude: 50))
        let content = TileContent(of: Self.patchwork, in: coord)
        _ = painter.paint(content, at: coord, scale: .one, classes: Self.classes)
        #expect(!painter.prepare(sprites: .max))
        let sheets = Set(content.cells.map { Int($0 >> 3) / CellTable.chunkSize }).map {
            cache.sheet(of: SpriteCache.Size(coord.z, .one), chunk: $0)
        }
        for side in [255, 256, 512] {
            let raster = InkRaster(width: side, height: side)
            raster.useBareAreas(ofClassesFrom: 1)
            var uses = 0
            var others = 0
            for sheet in sheets {
                let known = sheet.withPlaces { $0.filter { $0 != SpriteSheet.unknown } }
                uses += known.count
                known.map { InkRaster.PlacedSprite(place: $0, rim: 1, fill: 1) }.withUnsafeBufferPointer {
                    raster.add($0, of: sheet, tileColumn: coord.x * 256, tileRow: coord.y * 256) { _ in others += 1 }
                }
            }
            try #require(uses > 100)
            #expect(side == 256 ? others < uses : others == uses, "\(side) pixels")
            #expect(raster.drainLanes().contains { $0.x > 0 } == (side == 256), "\(side) pixels")
        }
    }

    @Test("a region with the pixels of tiles has the colours of those tiles", arguments: [4, 6, 8])
    func regionOfTiles(zoom: Int) throws {
        let painter = TilePainter()
        let coord = try #require(Self.coord(z: zoom, longitude: 10, latitude: 50))
        let side = exp2(Double(-zoom))
        let box = try #require(
            PlaneBox(
                minX: Double(coord.x) * side, minY: Double(coord.y) * side, maxX: Double(coord.x + 1) * side,
                maxY: Double(coord.y + 1) * side))
        // Four tiles of the next zoom, and parts of them that begin within a tile.
        let whole = try #require(MapRegion(.mercator, exactly: box, width: 512, height: 512))
        #expect(whole.tile?.coord == coord && whole.tile?.size == .double)
        let tiles = try (0..<4).map { number in
            let tile = try #require(
                TileCoord(z: zoom + 1, x: coord.x * 2 + number % 2, y: coord.y * 2 + number / 2))
            return painter.paint(
                TileContent(of: Self.sparse, in: tile), at: tile, scale: .one, classes: Self.classes)
        }
        for (x, y, width, height) in [(0, 0, 512, 512), (100, 30, 300, 400), (255, 256, 2, 200)] {
            let region = whole.part(x: x, y: y, width: width, height: height)
            let content = TileContent(
                of: Self.sparse, in: region.box(), resolution: DrawnResolution.of(zoom: zoom + 1))
            let picture = try #require(painter.paint(content, in: region, classes: Self.classes))
            #expect(picture.width == width && picture.height == height)
            var (worst, drawn) = (0, 0)
            for row in 0..<height {
                for column in 0..<width {
                    let (px, py) = (x + column, y + row)
                    let tile = tiles[py / 256 * 2 + px / 256]
                    let expected = tile.palette[Int(tile.indices[py % 256 * 256 + px % 256])].premultiplied
                    let found = picture.palette[Int(picture.indices[row * width + column])].premultiplied
                    // Pictures with more than 256 colours are quantised to steps of their own.
                    let step = 255 / min(tile.shareSteps, picture.shareSteps)
                    let channels = [
                        (expected.red, found.red), (expected.green, found.green), (expected.blue, found.blue),
                        (expected.alpha, found.alpha),
                    ]
                    worst = max(worst, channels.map { abs(Int($0) - Int($1)) / step }.max() ?? 0)
                    drawn += found.alpha > 0 ? 1 : 0
                }
            }
            #expect(worst <= 1, "\(x), \(y)")
            #expect(drawn > 0 || width < 10)
        }
    }

    @Test(
        "a region of any pixels has the colours of the painter of canvases",
        arguments: [MapProjection.mercator, .geographic], [true, false])
    func anyRegion(projection: MapProjection, isBordered: Bool) throws {
        let (west, north, east, south) = (0.3, 55.2, 21.7, 39.9)
        let box = try #require(
            PlaneBox(
                minX: (west + 180) / 360, minY: projection.y(latitude: north), maxX: (east + 180) / 360,
                maxY: projection.y(latitude: south)))
        // Pixels that aren't square, and a corner between two pixels.
        let region = try #require(MapRegion(projection, exactly: box, width: 431, height: 300))
        #expect(region.zoomOfTiles == nil && region.offset != .zero)
        let content = TileContent(
            of: Self.patchwork, in: region.box(), resolution: DrawnResolution.of(zoom: region.zoom))
        let classes = isBordered ? try HexagonClasses(Self.style) : HexagonClasses(polygonsOf: Self.style)
        let picture = try #require(TilePainter().paint(content, in: region, classes: classes))
        var canvas = try Canvas(width: region.width, height: region.height)
        try CellPainter().paint(content, isBordered: isBordered, style: Self.style, region: region, onto: &canvas)
        var (worst, drawn) = (0, 0)
        for (index, expected) in zip(picture.indices, canvas.pixels) {
            let found = picture.palette[Int(index)].premultiplied
            let step = 255 / picture.shareSteps
            let channels = [
                (expected.red, found.red), (expected.green, found.green), (expected.blue, found.blue),
                (expected.alpha, found.alpha),
            ]
            worst = max(worst, channels.map { (abs(Int($0) - Int($1)) + step - 1) / step }.max() ?? 0)
            drawn += found.alpha > 0 ? 1 : 0
        }
        #expect(worst <= 2)
        #expect(drawn > 10_000)
    }

    @Test("tiles of all scales and windows that are no tiles share sprites, and stay what they are without")
    func sharedSprites() throws {
        let cache = SpriteCache()
        let shared = PicturePainter(sprites: cache)
        let coord = try #require(Self.coord(z: 4, longitude: 10, latitude: 50))
        let box = try #require(BoundingBox(west: 0, south: 40, east: 20, north: 55))
        let windows =
            TileScale.allCases.map { MapRegion(coord, scale: $0) }
            + TileSize.double.scales.map { MapRegion(coord, scale: $0, size: .double) }
            + [(512, 512), (256, 512), (300, 256)].compactMap { MapRegion(box, width: $0.0, height: $0.1) }
        try #require(windows.count == 8)
        let data = PictureData(instant: PictureTests.now, plane: Self.patchwork)
        let encoder = try IndexedPNGEncoder()
        for _ in 0..<3 {
            for window in windows {
                let map = MapContent(LayerList(.hexagons), of: data, in: window)
                func png(_ painter: PicturePainter) throws -> [UInt8] {
                    let plain = try painter.png(likeTile: map, style: Self.style, background: nil, encoder: encoder)
                    return try plain
                        ?? painter.png(painter.canvas(map, style: Self.style), keeping: [], encoder: encoder)
                }
                #expect(try png(shared) == png(PicturePainter()))
            }
            while shared.prepare() {}
        }
    }

    @Test("two severities of almost one colour keep their own, in a picture with too many colours")
    func nearlyOneColour() throws {
        func paint(_ colour: String, _ opacity: Double) -> Paint { Paint(StraightColour(colour)!, opacity: opacity)! }
        let style = try #require(
            Style(
                id: "test", title: "", description: "", theme: .light,
                paints: [
                    SeverityPaint(fill: paint("#FFFFFF", 0.6), border: paint("#898989", 0.8)),
                    SeverityPaint(fill: paint("#FFF04C", 0.8)), SeverityPaint(fill: paint("#FFF14C", 0.8)),
                    SeverityPaint(fill: paint("#4C00FF", 0.8)), SeverityPaint(fill: paint("#00FF00", 0.8)),
                ]))
        let classes = try HexagonClasses(style)
        let coord = try #require(Self.coord(z: 7, longitude: 10, latitude: 50))
        let content = TileContent(of: Self.sparse, in: coord)
        let shares = TilePainter().shares(of: content, at: coord, scale: .one, borders: Self.bordered)
        let picture = TilePainter().paint(content, at: coord, scale: .one, classes: classes)
        try #require(picture.shareSteps < 255)
        var seen = Set<Int>()
        for (index, share) in zip(picture.indices, shares) {
            for lane in classes.colours.indices where share[lane] == CoverageRaster.full {
                #expect(picture.palette[Int(index)] == classes.colours[lane])
                seen.insert(lane)
            }
        }
        #expect(seen.isSuperset(of: [1, 2]))
    }

    @Test("the smooth border lies inside its cell and never reaches a neighbour")
    func smoothBorder() throws {
        let coord = try #require(Self.coord(z: 9, longitude: 10, latitude: 50))
        let content = TileContent(of: Self.patchwork, in: coord)
        let plain = TilePainter().shares(of: content, at: coord, scale: .one, borders: Self.plain)
        let bordered = TilePainter().shares(of: content, at: coord, scale: .one, borders: Self.bordered)
        var borderPixels = 0
        for (without, with) in zip(plain, bordered) {
            for lane in 1..<5 { #expect(without[lane] == with[lane]) }
            #expect(without[0] == with[0] &+ with[5])
            if with[5] > 0 { borderPixels += 1 }
        }
        #expect(borderPixels > 100)
    }

    @Test("a cell across the antimeridian is drawn in both edge tiles")
    func antimeridian() throws {
        let cell = H3.cell(at: try #require(LonLat(longitude: 180, latitude: -17)))
        let plane = Self.plane { $0 == cell ? .moderate : nil }
        let west = try #require(Self.coord(z: 6, longitude: 179.99, latitude: -17))
        let east = try #require(Self.coord(z: 6, longitude: -179.99, latitude: -17))
        let areas = [west, east].map { coord in
            TilePainter().shares(
                of: TileContent(of: plane, in: coord), at: coord, scale: .one, borders: Self.plain
            ).reduce(0) { $0 + Int($1[3]) }
        }
        #expect(areas[0] > 0 && areas[1] > 0)
        let exact = ExactAreaOracle.shares(of: TileContent(of: plane, in: west), at: west, pixels: 256)[3]
            .reduce(0, +)
        #expect(abs(Double(areas[0]) / 16_384 - exact) < 0.05)
    }

    @Test("a picture with no more than 256 colours is exact; one with more says how coarse it is")
    func quantisation() throws {
        // Sparse, and with more than 256 colours.
        let coord = try #require(Self.coord(z: 7, longitude: 10, latitude: 50))
        let content = TileContent(of: Self.sparse, in: coord)
        let shares = TilePainter().shares(of: content, at: coord, scale: .one, borders: Self.bordered)
        let picture = TilePainter().paint(content, at: coord, scale: .one, classes: Self.classes)
        #expect(picture.palette.count <= 256 && picture.shareSteps < 255)
        #expect(Set(picture.palette).count == picture.palette.count)
        func channels(_ colour: StraightColour) -> [Double] {
            [colour.red, colour.green, colour.blue, 255].map { Double($0) * Double(colour.alpha) / 255 }
        }
        let classes = Self.classes.colours.map(channels)
        // Each channel has 64 steps, then so many, and is rounded to a palette entry.
        let tolerance = 255.0 / 64 + 255.0 / Double(picture.shareSteps) + 1.5
        for (index, share) in zip(picture.indices, shares) {
            for lane in Self.classes.colours.indices where share[lane] == CoverageRaster.full {
                #expect(picture.palette[Int(index)] == Self.classes.colours[lane])
            }
            if share == .zero { #expect(picture.palette[Int(index)] == .clear) }
        }
        for (index, share) in zip(picture.indices, shares) {
            let painted = channels(picture.palette[Int(index)])
            for channel in 0..<4 {
                var expected = 0.0
                for (lane, colour) in classes.enumerated() {
                    expected += Double(share[lane]) / 16_384 * colour[channel]
                }
                #expect(abs(painted[channel] - expected) <= tolerance)
            }
        }
        let light = Self.plane { _ in .light }
        let edge = TileContent(of: light, in: try #require(Self.coord(z: 5, longitude: 37, latitude: 50)))
        #expect(
            TilePainter().paint(
                edge, at: try #require(Self.coord(z: 5, longitude: 37, latitude: 50)), scale: .one,
                classes: Self.classes
            ).shareSteps == 255)
    }

    @Test(
        "tile coordinates outside the grid are refused",
        arguments: [
            (-1, 0, 0), (23, 0, 0), (0, 1, 0), (0, 0, 1), (5, 32, 0), (5, 0, -1), (.max, .max, .max), (22, 1 << 22, 0),
        ])
    func outsideGrid(z: Int, x: Int, y: Int) {
        #expect(TileCoord(z: z, x: x, y: y) == nil)
    }

    // MARK: - Pictures to draw

    static let now = Instant(clamping: 1_790_000_000)

    /// A mix of severities and gaps around all the places, without any pattern.
    static let patchwork = plane { cell in
        switch (cell.dense &* 2_654_435_761) >> 24 {
        case 0..<60: nil
        case 60..<150: .smooth
        case 150..<190: .light
        case 190..<215: .lightModerate
        case 215..<240: .moderate
        default: .moderateSevere
        }
    }

    /// One cell in three, of all severities.
    static let sparse = plane { cell in
        let mixed = (cell.dense &* 2_654_435_761) >> 20
        return mixed % 3 == 0 ? Severity(rawValue: UInt8(mixed / 3 % 5)) : nil
    }

    /// A picture of the cells around the places.
    static func plane(_ severity: (Cell) -> Severity?) -> FramePlane {
        var cells = Set<Cell>()
        for place in places + [(5, 37, 50), (5, 180, -17)] {
            guard let center = LonLat(longitude: place.longitude, latitude: place.latitude) else { continue }
            cells.formUnion(H3.disk(around: H3.cell(at: center), distance: place.z == 5 || place.z == 10 ? 80 : 30))
        }
        guard let source = SourceID("test"), let altitude = AltitudeBlock(thousands: 35) else { return empty }
        let rows = cells.sorted().compactMap { cell in
            severity(cell).map {
                ObservationRow(
                    key: ObservationKey(observedAt: now, tag: cell.dense), cell: cell,
                    altitude: AltitudeBand(altitude), intensity: .reported($0, edr: nil), observedAt: now,
                    category: nil, source: SourceNumber(rawValue: 0), kind: .inSitu, since: .zero)
            }
        }
        let window = Window(
            rows: rows, sources: [SourceRecord(number: SourceNumber(rawValue: 0), id: source, merge: .keep)])
        return Frame(window: window, at: now, filter: Filter(), table: SeverityTable()).plane()
    }

    static let empty = Frame(window: Window(), at: now, filter: Filter(), table: SeverityTable()).plane()

    static func coord(z: Int, longitude: Double, latitude: Double) -> TileCoord? {
        let size = Double(1 << z)
        return TileCoord(
            z: z, x: Int(UnitMercator.x(longitude: longitude) * size), y: Int(UnitMercator.y(latitude: latitude) * size)
        )
    }
}

/// The share of each pixel, slow and obvious. It clips every cell against every pixel that it may touch, in floating
/// point, from the table's own vertices.
enum ExactAreaOracle {
    /// By class, then by pixel.
    static func shares(of content: TileContent, at coord: TileCoord, pixels: Int) -> [[Double]] {
        var shares = [[Double]](repeating: [Double](repeating: 0, count: pixels * pixels), count: 5)
        let box = coord.box
        let unitsPerPixel = Double(Grid.world >> Int64(coord.z)) / Double(pixels)
        let table = CellTable.of(resolution: content.resolution)
        for entry in content.cells {
            for world in -1...1 {
                let polygon = table.vertices(dense: Int(entry >> 3)).map { vertex in
                    SIMD2(
                        Double(Int64(vertex.x) + Int64(world) << 31 - box.minX) / unitsPerPixel,
                        Double(Int64(vertex.y) - box.minY) / unitsPerPixel)
                }
                let xs = polygon.map(\.x)
                let ys = polygon.map(\.y)
                guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else {
                    continue
                }
                guard right > 0, left < Double(pixels), bottom > 0, top < Double(pixels) else { continue }
                for row in Int(max(top, 0))..<min(Int(bottom) + 1, pixels) {
                    let strip = clip(
                        clip(polygon, axis: 1, limit: Double(row), keepAbove: true),
                        axis: 1, limit: Double(row + 1), keepAbove: false)
                    for column in Int(max(left, 0))..<min(Int(right) + 1, pixels) {
                        let part = clip(
                            clip(strip, axis: 0, limit: Double(column), keepAbove: true),
                            axis: 0, limit: Double(column + 1), keepAbove: false)
                        shares[Int(entry & 7)][row * pixels + column] += area(part)
                    }
                }
            }
        }
        return shares
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974), doi:10.1145/360767.360802
    private static func clip(_ polygon: [SIMD2<Double>], axis: Int, limit: Double, keepAbove: Bool) -> [SIMD2<Double>] {
        var result: [SIMD2<Double>] = []
        guard var previous = polygon.last else { return [] }
        for point in polygon {
            let inside = keepAbove ? point[axis] >= limit : point[axis] <= limit
            let wasInside = keepAbove ? previous[axis] >= limit : previous[axis] <= limit
            if inside != wasInside {
                let t = (limit - previous[axis]) / (point[axis] - previous[axis])
                result.append(previous + (point - previous) * t)
            }
            if inside { result.append(point) }
            previous = point
        }
        return result
    }

    private static func area(_ polygon: [SIMD2<Double>]) -> Double {
        guard var previous = polygon.last else { return 0 }
        var sum = 0.0
        for point in polygon {
            sum += point.x * previous.y - previous.x * point.y
            previous = point
        }
        return abs(sum) / 2
    }
}
