import BillowFields
import Datasets
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("Pictures of a field")
struct FieldContentTests {
    /// GTG's grid with invented values: every point differs from its neighbours, and some have no value.
    static let guidance: FieldPicture = {
        let grid = GridDefinition.turbulenceGuidance
        var random = SeededGenerator(seed: 15)
        let values = (0..<grid.count).map { _ -> UInt8 in
            let bits = random.next()
            return bits % 20 == 0 ? FieldPlane.missing : UInt8(bits >> 8 & 63)
        }
        return picture(grid, values)
    }()

    static func picture(_ grid: GridDefinition, _ values: [UInt8], _ appearance: FieldAppearance = FieldAppearance())
        -> FieldPicture
    {
        FieldPicture(
            plane: FieldPlane(width: grid.columns, height: grid.rows, values: values)!,
            projection: GridProjection(grid), appearance: appearance)!
    }

    /// All of one value, but for what differs.
    static func even(_ value: UInt8, appearance: FieldAppearance = FieldAppearance(), _ other: [(Int, Int, UInt8)] = [])
        -> FieldPicture
    {
        let grid = try! GridDefinition(
            shape: .sphere, columns: 40, rows: 20, projection: .lonLat(west: -110, south: 30, dx: 0.5, dy: 0.5))
        var values = [UInt8](repeating: value, count: grid.count)
        for (column, row, value) in other { values[row * grid.columns + column] = value }
        return picture(grid, values, appearance)
    }

    static func tile(_ z: Int, _ longitude: Double, _ latitude: Double) throws -> TileCoord {
        try #require(TilePainterTests.coord(z: z, longitude: longitude, latitude: latitude))
    }

    struct Question: Encodable {
        var proj: String
        var places: [[Double]]
        var plane: [[Double]] = []
    }

    struct Answer: Decodable { var plane: [[Double]] }

    static let places: [(z: Int, longitude: Double, latitude: Double)] = [
        (0, 0, 0), (2, -100, 40), (3, -134, 50), (4, -61, 22), (5, -97.5, 38), (6, -105, 40), (8, -122.3, 37.6),
        (10, -134.05, 47.8), (13, -73.8, 40.6), (18, -97.5, 38.5),
    ]

    @Test("show at each pixel the point that PROJ puts nearest to it", arguments: places.indices)
    func nearest(_ number: Int) throws {
        let place = Self.places[number]
        let region = MapRegion(try Self.tile(place.z, place.longitude, place.latitude), scale: .one)
        let field = Self.guidance
        let content = try #require(FieldContent(of: field, in: region, paint: .standard))
        let pixels = stride(from: 0, to: 65_536, by: 7).map { (x: $0 % 256, y: $0 / 256) }
        let centres = pixels.map { pixel in
            [
                ((Double(region.originX + pixel.x) + 0.5) / region.worldPixels - 0.5) * 360,
                UnitMercator.latitude(y: (Double(region.originY + pixel.y) + 0.5) / region.worldPixels),
            ]
        }
        let question = Question(
            proj: "+proj=lcc +lat_1=38.5 +lat_2=38.5 +lat_0=38.5 +lon_0=-97.5 +R=6371229",
            places: [[237.280_472 - 360, 21.138_123]] + centres)
        let plane = try Oracle.ask("grids.py", question, answer: Answer.self).plane
        var (judged, values) = (0, 0)
        for (pixel, metres) in zip(pixels, plane.dropFirst()) {
            let (x, y) = ((metres[0] - plane[0][0]) / 3_000, (metres[1] - plane[0][1]) / 3_000)
            let code = content.codes[pixel.y * 256 + pixel.x]
            // On the border between two points either is right.
            guard abs(x - x.rounded(.down) - 0.5) > 1e-6, abs(y - y.rounded(.down) - 0.5) > 1e-6 else { continue }
            judged += 1
            let (column, row) = (Int(x.rounded()), Int(y.rounded()))
            guard (0..<1_799).contains(column), (0..<1_059).contains(row), x > -0.5, y > -0.5 else {
                #expect(code == FieldContent.Code.outside || code == FieldContent.Code.edge)
                continue
            }
            values += 1
            let value = field.plane.values[row * 1_799 + column]
            let expected: UInt8 =
                switch value {
                case FieldPlane.missing: FieldContent.Code.missing
                case 0..<10: FieldContent.Code.nothing
                case 10..<15: 2
                case 15..<20: 3
                case 20..<45: 4
                default: 5
                }
            #expect(
                code == expected || expected == FieldContent.Code.missing && code == FieldContent.Code.edge,
                "\(pixel): \(code) for \(value)")
        }
        #expect(judged > 9_000)
        #expect(values > 100, "the tile shows the field")
    }

    @Test("can show what the four points around each pixel give", arguments: [3, 6, 9, 12])
    func smoothed(zoom: Int) throws {
        let grid = GridDefinition.turbulenceGuidance
        let appearance = FieldAppearance(isSmoothed: true)
        let field = Self.picture(grid, Self.guidance.plane.values, appearance)
        let region = MapRegion(try Self.tile(zoom, -105, 40), scale: .one)
        let content = try #require(FieldContent(of: field, in: region, paint: .standard))
        var values = 0
        for pixel in stride(from: 0, to: 65_536, by: 11) {
            let place = try #require(
                LonLat(
                    longitude: UnitMercator.longitude(
                        x: (Double(region.originX + pixel % 256) + 0.5) / region.worldPixels),
                    latitude: UnitMercator.latitude(
                        y: (Double(region.originY + pixel / 256) + 0.5) / region.worldPixels)))
            let position = field.projection.position(of: place)
            let (x0, y0) = (Int(position.x.rounded(.down)), Int(position.y.rounded(.down)))
            guard (0..<1_798).contains(x0), (0..<1_058).contains(y0) else { continue }
            let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map { field.plane.values[(y0 + $0.1) * 1_799 + x0 + $0.0] }
            guard !corners.contains(FieldPlane.missing) else { continue }
            let (u, v) = (position.x - Double(x0), position.y - Double(y0))
            let weights = [(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v]
            let edr = zip(corners, weights).reduce(0) { $0 + Double($1.0) * $1.1 } / 100
            // A hair from a threshold either is right.
            guard [0.10, 0.15, 0.20, 0.45].allSatisfy({ abs($0 - edr) > 1e-4 }) else { continue }
            values += 1
            let expected = try #require(EDR(edr)).severityForTests
            #expect(content.codes[pixel] == (expected == .smooth ? 0 : 1 + expected.rawValue), "\(edr)")
        }
        #expect(values > 500)
    }

    @Test("run on from tile to tile, and from a tile to a map of any window", arguments: [false, true])
    func seams(isSmoothed: Bool) throws {
        let field = Self.picture(
            .turbulenceGuidance, Self.guidance.plane.values, FieldAppearance(isSmoothed: isSmoothed))
        let center = try #require(LonLat(longitude: -134, latitude: 47.7))
        let map = try #require(MapRegion(center: center, zoom: 6, width: 700, height: 600))
        let whole = try #require(FieldContent(of: field, in: map, paint: .standard))
        var compared = 0
        for y in stride(from: map.originY / 256 * 256, to: map.originY + 600, by: 256) {
            for x in stride(from: map.originX / 256 * 256, to: map.originX + 700, by: 256) {
                let coord = try #require(TileCoord(z: 6, x: x / 256, y: y / 256))
                let region = MapRegion(coord, scale: .one)
                let tile = FieldContent(of: field, in: region, paint: .standard)
                for row in max(y, map.originY)..<min(y + 256, map.originY + 600) {
                    for column in max(x, map.originX)..<min(x + 256, map.originX + 700) {
                        let one = whole.codes[(row - map.originY) * 700 + column - map.originX]
                        let other = tile?.codes[(row - y) * 256 + column - x] ?? FieldContent.Code.outside
                        compared += 1
                        if one != other {
                            Issue.record("\(column), \(row): \(one) in the map, \(other) in the tile")
                            return
                        }
                    }
                }
            }
        }
        #expect(compared == 420_000)
    }

    @Test("exclude smooth air unless it is requested")
    func smoothAir() throws {
        let region = MapRegion(try Self.tile(7, -105, 35), scale: .one)
        #expect(FieldContent(of: Self.even(9), in: region, paint: .standard) == nil)
        let shown = Self.even(9, appearance: FieldAppearance(showsSmoothAir: true))
        #expect(try #require(FieldContent(of: shown, in: region, paint: .standard)).codes.allSatisfy { $0 == 1 })
        #expect(FieldContent(of: Self.even(200), in: region, paint: .standard)?.codes.allSatisfy { $0 == 5 } == true)
        let others = FieldAppearance(severities: SeveritySet([.moderate]))
        #expect(FieldContent(of: Self.even(12, appearance: others), in: region, paint: .standard) == nil)
    }

    @Test("distinguish the edge of the grid from smooth air")
    func edge() throws {
        let far = MapRegion(try Self.tile(5, 20, 50), scale: .one)
        let beyond = try #require(FieldContent(of: Self.even(0), in: far, paint: .standard))
        #expect(beyond.codes.allSatisfy { $0 == FieldContent.Code.outside })
        let picture = FieldPainter(style: TilePainterTests.style, region: far).picture(beyond)
        #expect(picture.palette.count > 1, "hatched")
        // The western edge of smooth air: a line, and nothing on either side.
        let region = MapRegion(try Self.tile(8, -110.2, 34), scale: .two)
        let content = try #require(FieldContent(of: Self.even(0), in: region, paint: .standard))
        let row = Array(content.codes[100 * 512..<101 * 512])
        let line = row.indices.filter { row[$0] == FieldContent.Code.edge }
        #expect(line.count == 2, "as wide as a point is at this scale")
        let first = try #require(line.first)
        #expect(row[..<first].allSatisfy { $0 == FieldContent.Code.outside })
        #expect(row[(first + 2)...].allSatisfy { $0 == FieldContent.Code.nothing })
    }

    @Test("hatch what has no value, or leave it transparent, as the style says")
    func missing() throws {
        let field = Self.even(30, [(9, 9, FieldPlane.missing), (10, 9, FieldPlane.missing)])
        let coord = try Self.tile(9, -105.2, 34.5)
        let content = try #require(FieldContent(of: field, in: MapRegion(coord, scale: .one), paint: .standard))
        let missing = content.codes.indices.filter { content.codes[$0] == FieldContent.Code.missing }
        try #require(missing.count > 1_000)
        let hatched = FieldPainter(style: TilePainterTests.style, region: MapRegion(coord, scale: .one))
            .picture(content)
        let alphas = Set(missing.map { hatched.palette[Int(hatched.indices[$0])].alpha })
        #expect(alphas.contains(0) && (alphas.max() ?? 0) > 60, "hatches and what lies between them")
        let plain = try Self.style(FieldPaint(scale: [], isMissingHatched: false))
        let clear = FieldPainter(style: plain, region: MapRegion(coord, scale: .one)).picture(content)
        #expect(missing.allSatisfy { clear.palette[Int(clear.indices[$0])].alpha == 0 })
    }

    static func style(_ field: FieldPaint?, patterns: Bool = false) throws -> Style {
        func paint(_ colour: String) -> Paint { Paint(StraightColour(colour)!, opacity: 0.8)! }
        let pattern = SeverityPattern(kind: .dots, paint: paint("#000000"), spacing: 8, width: 2)
        let field = try #require(field)
        return try #require(
            Style(
                id: "test", title: "", description: "", theme: .light,
                paints: ["#FFFFFF", "#FFF04C", "#FFBC09", "#FF7100", "#FF0000"].map {
                    SeverityPaint(fill: paint($0), pattern: patterns ? pattern : nil)
                }, marks: nil, field: field))
    }

    static func scale() throws -> FieldPaint {
        func stop(_ edr: Double, _ colour: String) -> FieldPaint.Stop {
            FieldPaint.Stop(edr: edr, Paint(StraightColour(colour)!, opacity: 0.8)!)!
        }
        return try #require(
            FieldPaint(
                scale: [stop(0.05, "#00FFFF"), stop(0.15, "#FFFF00"), stop(0.45, "#FF0000")], isMissingHatched: true))
    }

    @Test("by a scale have the colour of each EDR, from its first stop on")
    func byScale() throws {
        let paint = try Self.scale()
        let region = MapRegion(try Self.tile(7, -105, 35), scale: .one)
        #expect(FieldContent(of: Self.even(4), in: region, paint: paint) == nil)
        for (value, colour) in [(5, "#00FFFF"), (10, "#80FF80"), (15, "#FFFF00"), (30, "#FF8000"), (254, "#FF0000")] {
            let content = try #require(FieldContent(of: Self.even(UInt8(value)), in: region, paint: paint))
            let picture = FieldPainter(style: try Self.style(paint), region: region).picture(content)
            #expect(picture.palette.count == 1)
            #expect(picture.palette[0].hexadecimal == colour)
            #expect(picture.palette[0].alpha == 204)
        }
        let worse = Self.even(12, appearance: FieldAppearance(severities: .atLeast(.moderate)))
        #expect(FieldContent(of: worse, in: region, paint: paint) == nil, "severities that aren't asked for")
    }

    @Test("interpolated by a scale have colours between those of two hundredths")
    func smoothScale() throws {
        let smoothed = FieldAppearance(isSmoothed: true)
        let ramp = Self.even(10, appearance: smoothed, (0..<20).map { (20, $0, 11) })
        // A degree around the column where 0.10 becomes 0.11, and 0.10 again.
        let region = MapRegion(try Self.tile(9, -100.2, 35), scale: .one)
        let paint = try Self.scale()
        let content = try #require(FieldContent(of: ramp, in: region, paint: paint))
        let steps = Set(content.codes)
        #expect(steps.count > 5, "\(steps)")
        for value: UInt8 in [10, 11] {
            let whole = try #require(
                FieldContent(of: Self.even(value, appearance: smoothed), in: region, paint: paint))
            let plain = try #require(FieldContent(of: Self.even(value), in: region, paint: paint))
            #expect(whole == plain, "whole hundredths have the colour that they have without interpolation")
        }
        let picture = FieldPainter(style: try Self.style(paint), region: region).picture(content)
        #expect(picture.palette.count == steps.count)
    }

    @Test("of any field have at most 256 colours", arguments: [1, 2, 3])
    func palette(scale: Int) throws {
        let values = (0..<800).map { UInt8($0 % 256) }
        let grid = try GridDefinition(
            shape: .sphere, columns: 40, rows: 20, projection: .lonLat(west: -110, south: 30, dx: 0.5, dy: 0.5))
        let center = try #require(LonLat(longitude: -100, latitude: 35))
        let region = try #require(MapRegion(center: center, zoom: 5, width: 1_000, height: 800, scale: scale))
        let paint = try Self.scale()
        let content = try #require(FieldContent(of: Self.picture(grid, values), in: region, paint: paint))
        let style = try Self.style(paint)
        let picture = FieldPainter(style: style, region: region).picture(content)
        #expect(picture.palette.count <= 256)
        // Onto a canvas it is the same picture.
        var canvas = try Canvas(width: region.width, height: region.height)
        FieldPainter(style: style, region: region).paint(content, onto: &canvas)
        for (pixel, index) in picture.indices.enumerated() {
            guard canvas.pixels[pixel] == picture.palette[Int(index)].premultiplied else {
                Issue.record("pixel \(pixel): \(canvas.pixels[pixel]), \(picture.palette[Int(index)])")
                return
            }
        }
    }

    @Test("in a style with patterns have them")
    func patterns() throws {
        let coord = try Self.tile(7, -105, 35)
        let style = try Self.style(.standard, patterns: true)
        #expect(!FieldPainter.isPlain(style))
        var data = PictureData(instant: .distantPast)
        data.field = Self.even(30)
        let region = MapRegion(coord, scale: .one)
        let content = PictureContent(LayerList(.gtg), of: data, in: region, style: style)
        let canvas = try PicturePainter().canvas(content, in: region, style: style)
        #expect(Set(canvas.pixels.map(\.red)).count > 1, "dots on the fill")
    }

    @Test("are named by what they show")
    func fingerprints() throws {
        let region = MapRegion(try Self.tile(7, -105, 35), scale: .one)
        func name(_ field: FieldPicture, _ style: Style) throws -> String {
            var data = PictureData(instant: .distantPast)
            data.field = field
            return try PictureContent(LayerList(.gtg), of: data, in: region, style: style).fingerprint(style: style)
                .text
        }
        let plain = try Self.style(.standard)
        let scale = try Self.style(Self.scale())
        #expect(try name(Self.even(30), plain) == name(Self.even(31), plain), "the same severity")
        #expect(try name(Self.even(30), scale) != name(Self.even(31), scale))
        #expect(try name(Self.even(30), plain) != name(Self.even(17), plain))
        #expect(try name(Self.even(30), plain) != name(Self.even(30), scale))
        let transparent = try Self.style(FieldPaint(scale: [], isMissingHatched: false))
        #expect(try name(Self.even(30), plain) != name(Self.even(30), transparent))
    }

    @Test("of a grid around the world have no seam at the antimeridian, smoothed or not", arguments: [false, true])
    func world(isSmoothed: Bool) throws {
        let grid = try GridDefinition(
            shape: .sphere, columns: 360, rows: 181, projection: .lonLat(west: 0, south: -90, dx: 1, dy: 1))
        let field = Self.picture(
            grid, [UInt8](repeating: 30, count: grid.count), FieldAppearance(isSmoothed: isSmoothed))
        for coord in [(0, 0, 0), (4, 0, 7), (4, 15, 7), (5, 16, 0)] {
            let region = MapRegion(try #require(TileCoord(z: coord.0, x: coord.1, y: coord.2)), scale: .one)
            #expect(FieldContent(of: field, in: region, paint: .standard)?.codes.allSatisfy { $0 == 4 } == true)
        }
    }
}

extension EDR {
    fileprivate var severityForTests: Severity { SeverityThresholds.medium.severity(of: self) }
}
