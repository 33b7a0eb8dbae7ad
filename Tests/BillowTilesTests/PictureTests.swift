import BillowSnapshot
import Datasets
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("Pictures of several layers")
struct PictureTests {
    static let now = Instant(clamping: 1_795_262_400)

    /// Reports, areas, aircraft and tracks over Europe and across the antimeridian, always the same.
    static let data: PictureData = {
        var random = SeededGenerator(seed: 11)
        func number(_ range: ClosedRange<Double>) -> Double {
            range.lowerBound + Double(random.next() >> 11) / Double(1 << 53) * (range.upperBound - range.lowerBound)
        }
        func place(_ longitude: Double, _ latitude: Double) -> LonLat {
            LonLat(longitude: LonLat.wrap(longitude), latitude: latitude)!
        }
        let source = SourceID("test")!
        var data = PictureData(
            instant: now, plane: TilePainterTests.patchwork, polygons: .cells(TilePainterTests.patchwork))
        for index in 0..<100 {
            let longitude = index.isMultiple(of: 2) ? number(5...15) : number(175...185)
            let latitude = index.isMultiple(of: 2) ? number(46...54) : number(-22 ... -12)
            let severity = Severity(rawValue: UInt8(index % 6))
            data.reports.append(
                PilotReport(
                    id: "\(index)", place: place(longitude, latitude), observedAt: now.advanced(by: -index),
                    type: index.isMultiple(of: 7) ? "Urgent PIREP" : "PIREP", aircraft: nil, altitudeFeet: index * 100,
                    turbulence: severity.map {
                        [
                            TurbulenceGroup(
                                severity: $0, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
                        ]
                    } ?? [], text: "", source: source))
            let track = (0...20).map { step in
                AircraftPosition(
                    icao24: ICAO24(rawValue: UInt32(index * 31 + 1))!, callsign: "TEST\(index)",
                    place: place(longitude + 0.1 * Double(step), latitude - 0.03 * Double(step)), source: source,
                    observedAt: now.advanced(by: (step - 20) * 60), altitudeFeet: 31_000,
                    headingDegrees: index.isMultiple(of: 9) ? nil : number(0...359),
                    isOnGround: index.isMultiple(of: 11))
            }
            data.tracks.append(track)
            data.positions.append(track[20])
        }
        func area(
            _ collection: IssuedArea.DatasetNumber, _ kind: String, _ hazard: String, _ outline: [(Double, Double)]
        ) -> IssuedArea {
            IssuedArea(
                collection: collection, id: kind + hazard, source: source, kind: kind, hazard: hazard,
                altitudeMinFeet: 25_000, altitudeMaxFeet: 41_000, validFrom: now, validTo: now.advanced(by: 9_000),
                geometry: MultiPolygon(outline: outline.map { place($0.0, $0.1) })!)
        }
        data.areas[.hazards] = [
            area(.hazards, "sigmet", "TURB", [(8, 48), (12, 49), (13, 52), (9, 51.5)]),
            area(.hazards, "gairmet", "TURB-HI", [(176, -20), (184, -19), (186, -14), (178, -13)]),
        ]
        data.areas[.forecast] = [area(.forecast, "nowcast", "TURB", [(6, 47), (9, 46.5), (9.5, 49), (6, 50)])]
        return data
    }()

    @Test("the world is drawn a few times at most, however small the picture", arguments: [1, 2, 50, 400, 4_096])
    func copies(side: Int) throws {
        for (width, height) in [(1, side), (side, 1), (side, side)] {
            for scale in 1...3 {
                let region = try #require(MapRegion(.world, width: width, height: height, scale: scale))
                let point = region.copies(from: 0, to: 0, margin: 500)
                let world = region.copies(from: 0, to: region.worldPixels, margin: 500)
                #expect(point.count <= 6)
                #expect(world.count <= 7)
            }
        }
    }

    @Test("an area is faint in its last half hour, and not where only an archive's copy of it ends")
    func ending() throws {
        var area = try #require(Self.data.areas[.hazards]?.first)
        func isFaint(_ seconds: Int) -> Bool {
            AreaAppearance(of: area, at: area.validTo.advanced(by: seconds)).isFaint
        }
        #expect(!isFaint(-1_801) && isFaint(-1_800) && isFaint(-1))
        area.statedTo = area.validTo.advanced(by: 3_600)
        #expect(!isFaint(-1))
        area.statedTo = area.validTo.advanced(by: 600)
        #expect(!isFaint(-1_201) && isFaint(-1_200))
    }

    static let all = try! LayerList("turbulence,hazards,forecast,tracks,traffic,pireps")

    static func canvas(_ list: LayerList, _ region: MapRegion) throws -> Canvas {
        try PicturePainter().canvas(
            PictureContent(list, of: data, in: region), in: region, style: TilePainterTests.style)
    }

    /// How far two pictures' pixels are apart at most, in one channel.
    static func difference(_ a: [PremultipliedColour], _ b: [PremultipliedColour]) -> Int {
        zip(a, b).reduce(0) { worst, pair in
            let channels = [
                (pair.0.red, pair.1.red), (pair.0.green, pair.1.green), (pair.0.blue, pair.1.blue),
                (pair.0.alpha, pair.1.alpha),
            ]
            return channels.reduce(worst) { max($0, abs(Int($1.0) - Int($1.1))) }
        }
    }

    @Test(
        "four tiles of a layer are the quarters of one picture: no symbol, line, pattern or label is cut at an edge",
        arguments: [(6, 9.9, 50.1), (6, 179.9, -17.0), (8, 10.0, 50.0), (4, 10.0, 49.0)])
    func quarters(zoom: Int, longitude: Double, latitude: Double) throws {
        let found = try #require(TilePainterTests.coord(z: zoom, longitude: longitude, latitude: latitude))
        // Around a corner of the grid.
        let (x, y) = (found.x & ~1, found.y & ~1)
        let corner = try #require(TileCoord(z: zoom, x: x, y: y))
        let whole = try Self.canvas(
            Self.all, MapRegion(corner, scale: .one).part(x: 0, y: 0, width: 512, height: 512))
        #expect(Set(whole.pixels).count > 20)
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let tile = try #require(TileCoord(z: zoom, x: x + dx, y: y + dy))
            let quarter = try Self.canvas(Self.all, MapRegion(tile, scale: .one))
            var part: [PremultipliedColour] = []
            for row in 0..<256 {
                let start = (row + dy * 256) * 512 + dx * 256
                part += whole.pixels[start..<start + 256]
            }
            // A share of 1/255 may round to either side.
            #expect(Self.difference(part, quarter.pixels) <= 2, "\(zoom)/\(x + dx)/\(y + dy)")
        }
    }

    @Test(
        "a tile of 512 points shows what the four tiles of the next zoom show, in every style",
        arguments: [
            (0, 0.0, 0.0), (3, 9.9, 50.1), (5, 179.9, -17.0), (5, -179.9, -17.0), (7, 10.0, 50.0), (5, -105.0, 40.0),
        ], TileSize.double.scales)
    func doubleTiles(place: (zoom: Int, longitude: Double, latitude: Double), scale: TileScale) throws {
        let coord = try #require(
            TilePainterTests.coord(z: place.zoom, longitude: place.longitude, latitude: place.latitude))
        let region = MapRegion(coord, scale: scale, size: .double)
        let side = scale.pixels
        #expect(region.width == 2 * side && region.zoom == coord.z + 1)
        #expect(region.tile?.coord == coord && region.tile?.size == .double)
        let patterns = try FieldContentTests.style(FieldContentTests.scale(), patterns: true)
        var data = Self.data
        data.field = FieldContentTests.guidance
        let all = try LayerList("gtg,turbulence,hazards,forecast,tracks,traffic,pireps")
        let painter = PicturePainter()
        for (list, style) in [(all, TilePainterTests.style), (all, patterns), (LayerList(.hexagons), patterns)] {
            func canvas(_ region: MapRegion) throws -> Canvas {
                let content = PictureContent(list, of: data, in: region, isHatched: list == all, style: style)
                return try painter.canvas(content, in: region, style: style)
            }
            let whole = try canvas(region)
            #expect(Set(whole.pixels).count > 4 || list != all)
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let child = try #require(TileCoord(z: coord.z + 1, x: coord.x * 2 + dx, y: coord.y * 2 + dy))
                let quarter = try canvas(MapRegion(child, scale: scale))
                var part: [PremultipliedColour] = []
                for row in 0..<side {
                    let start = (row + dy * side) * 2 * side + dx * side
                    part += whole.pixels[start..<start + side]
                }
                // A share of 1/255 may round to either side, and where many lie over each other, roundings add up.
                #expect(Self.difference(part, quarter.pixels) <= 4, "\(child), \(list)")
            }
        }
    }

    @Test("the western edge of the world continues what the eastern edge shows")
    func antimeridian() throws {
        let west = try #require(TileCoord(z: 5, x: 31, y: 17))
        let east = try #require(TileCoord(z: 5, x: 0, y: 17))
        let across = MapRegion(west, scale: .one).part(x: 128, y: 0, width: 256, height: 256)
        let whole = try Self.canvas(Self.all, across)
        let (left, right) = (
            try Self.canvas(Self.all, MapRegion(west, scale: .one)),
            try Self.canvas(Self.all, MapRegion(east, scale: .one))
        )
        for row in 0..<256 {
            let expected =
                left.pixels[row * 256 + 128..<row * 256 + 256] + right.pixels[row * 256..<row * 256 + 128]
            // Where many lie over each other, roundings add up.
            #expect(Self.difference(Array(expected), Array(whole.pixels[row * 256..<row * 256 + 256])) <= 8)
        }
    }

    @Test("a window that is a tile shows the tile's cells, and a map its four")
    func mapIsTiles() throws {
        let coord = try #require(TilePainterTests.coord(z: 7, longitude: 10, latitude: 50))
        let tile = TilePainter().paint(
            TileContent(of: TilePainterTests.patchwork, in: coord), at: coord, scale: .two,
            classes: TilePainterTests.classes)
        let canvas = try Self.canvas(LayerList(.hexagons), MapRegion(coord, scale: .two))
        let exact = tile.indices.map { tile.palette[Int($0)].premultiplied }
        // The tile's palette tells shares apart in 1/64 at least.
        #expect(Self.difference(exact, canvas.pixels) <= 255 / tile.shareSteps + 6)
        let box = try #require(BoundingBox(west: 5, south: 45, east: 15, north: 55))
        let region = try #require(MapRegion(box, width: 700, height: 900))
        let map = try PicturePainter().canvas(Self.all, of: Self.data, in: region, style: TilePainterTests.style)
        let content = PictureContent(Self.all, of: Self.data, in: region, within: region)
        let whole = try PicturePainter().canvas(content, in: region, style: TilePainterTests.style)
        #expect(Self.difference(map.pixels, whole.pixels) <= 2)
    }

    @Test("a map's edge cuts no label, where a tile's edge leaves the rest of it to the next tile")
    func labelsAtTheEdge() throws {
        let coord = try #require(TilePainterTests.coord(z: 8, longitude: 10, latitude: 50))
        let region = MapRegion(coord, scale: .one)
        let tile = PictureContent(Self.all, of: Self.data, in: region).labels
        let map = PictureContent(Self.all, of: Self.data, in: region, within: region).labels
        #expect(!map.isEmpty && map.count < tile.count)
        for label in map {
            #expect(tile.contains(label))
            let across = label.alignment == .start ? 0...256.0 : 1...256
            #expect(across.contains(label.place.point.x) && (8...256).contains(label.place.point.y))
        }
    }

    @Test("issued polygons have the colours of cells, the worse one where they overlap, and no seam where they meet")
    func issuedPolygons() throws {
        func issued(_ severity: Severity?, _ west: Double, _ east: Double) throws -> IssuedArea {
            let ring = [(west, 40.0), (east, 40), (east, 50), (west, 50)].map {
                LonLat(longitude: $0.0, latitude: $0.1)!
            }
            return IssuedArea(
                collection: .polygons, id: "\(west)", source: try #require(SourceID("test")), kind: "polygon",
                severity: severity, validFrom: Self.now, validTo: now(600),
                geometry: try #require(MultiPolygon(outline: ring)))
        }
        let data = PictureData(
            instant: Self.now,
            polygons: .issued([
                try issued(.light, 0, 20), try issued(.moderate, 10, 20), try issued(.moderate, 20, 30.013),
                try issued(nil, 40, 50),
            ]))
        // A picture of nowhere in particular shows them, not a corner.
        #expect(data.placeWithMostData?.latitude == 45)
        let box = try #require(BoundingBox(west: -5, south: 41, east: 55, north: 49))
        let region = try #require(MapRegion(box, width: 601, height: 97))
        let canvas = try PicturePainter().canvas(
            LayerList(.polygons), of: data, in: region, style: TilePainterTests.style)
        func column(_ longitude: Double) -> Int {
            Int(region.local(region.worldPoint(LonLat(longitude: longitude, latitude: 45)!), copy: 0).x)
        }
        func colour(_ severity: Severity) -> PremultipliedColour {
            TilePainterTests.style[severity].fill.colour.premultiplied
        }
        for row in [0, 48, 96] {
            #expect(canvas[column(5), row] == colour(.light))
            for x in column(10) + 1..<column(30) { #expect(canvas[x, row] == colour(.moderate), "\(x)") }
            #expect(canvas[column(45), row] == .clear)
        }
    }

    @Test("a map is the same whichever maps of the same data were drawn before", arguments: [4, 8])
    func mapsInTurn(zoom: Int) throws {
        let coord = try #require(TilePainterTests.coord(z: zoom, longitude: 10, latitude: 50))
        let worlds = Double(1 << zoom)
        // As wide as the tile, so their worlds have equally many pixels: shifted by parts of a pixel, and in degrees.
        func shifted(_ pixels: Double) throws -> MapRegion {
            let (x, y) = (Double(coord.x) + pixels / 256, Double(coord.y) + pixels / 256)
            let box = try #require(
                PlaneBox(minX: x / worlds, minY: y / worlds, maxX: (x + 1) / worlds, maxY: (y + 1) / worlds))
            return try #require(MapRegion(.mercator, exactly: box, width: 256, height: 256))
        }
        let x = Double(coord.x) / worlds
        let y = (90 - 50.0) / 360 - 0.5 / worlds
        let degrees = try #require(PlaneBox(minX: x, minY: y, maxX: x + 1 / worlds, maxY: y + 1 / worlds))
        let regions = [
            MapRegion(coord, scale: .one), try shifted(0.3), try shifted(-0.4),
            try #require(MapRegion(.geographic, exactly: degrees, width: 256, height: 256)),
        ]
        #expect(Set(regions.map(\.worldPixels)).count == 1)
        func unused() -> PictureData {
            var data = Self.data
            data.reports = Self.data.reports
            data.areas = Self.data.areas
            data.positions = Self.data.positions
            return data
        }
        let list = try LayerList("hazards,forecast,pireps,traffic")
        let alone = regions.map { PictureContent(list, of: unused(), in: $0) }
        #expect(alone.allSatisfy { !$0.isEmpty } && Set(alone).count == regions.count)
        for order in [Array(regions.indices), regions.indices.reversed()] {
            let data = unused()
            for index in order {
                #expect(PictureContent(list, of: data, in: regions[index]) == alone[index], "\(regions[index])")
            }
        }
    }

    @Test("layers lie over each other in the order given")
    func order() throws {
        let coord = try #require(TilePainterTests.coord(z: 6, longitude: 10, latitude: 50))
        let region = MapRegion(coord, scale: .one)
        let below = try Self.canvas(try LayerList("pireps,hazards"), region)
        let above = try Self.canvas(try LayerList("hazards,pireps"), region)
        #expect(below.pixels != above.pixels)
        // Symbols are drawn last. Where a pixel is equal on black and on white, the symbol is opaque.
        let grounds = try [UInt8(0), 255].map { value in
            var canvas = try Canvas(width: region.width, height: region.height)
            canvas.fill(with: StraightColour(red: value, green: value, blue: value, alpha: 255))
            for mark in ReportMark.marks(of: Self.data.rankedReports, in: region).marks {
                mark.paint(TilePainterTests.style, scale: 1, onto: &canvas)
            }
            return canvas.pixels
        }
        var opaque = 0
        for (index, pixel) in above.pixels.enumerated() where grounds[0][index] == grounds[1][index] {
            opaque += 1
            #expect(pixel == grounds[0][index])
        }
        #expect(opaque > 500)
    }

    @Test("turbulence is polygons up to zoom 5 and hexagons from 6 on, at every scale")
    func turbulenceSwitch() throws {
        for zoom in 4...7 {
            let coord = try #require(TilePainterTests.coord(z: zoom, longitude: 10, latitude: 50))
            for scale in TileScale.allCases {
                let region = MapRegion(coord, scale: scale)
                func content(_ layer: Dataset) -> PictureContent {
                    PictureContent(LayerList(layer), of: Self.data, in: region)
                }
                #expect(content(.turbulence) == content(zoom >= 6 ? .hexagons : .polygons))
                #expect(content(.turbulence) != content(zoom >= 6 ? .polygons : .hexagons))
            }
        }
    }

    @Test("empty content changes no fingerprint; visible content does")
    func fingerprints() throws {
        let coord = try #require(TilePainterTests.coord(z: 6, longitude: 10, latitude: 50))
        let region = MapRegion(coord, scale: .one)
        var data = Self.data
        func fingerprint(_ list: String) throws -> Fingerprint {
            try PictureContent(LayerList(list), of: data, in: region).fingerprint(style: TilePainterTests.style)
        }
        let alone = try fingerprint("hexagons")
        let all = try fingerprint("hexagons,pireps")
        #expect(alone != all)
        data.areas[.hazards] = []
        #expect(try fingerprint("hexagons,hazards") == alone)
        data.reports[0].observedAt = now(-1)
        #expect(try fingerprint("hexagons,pireps") == all)
        data.reports.removeAll()
        #expect(try fingerprint("hexagons,pireps") == alone)
    }

    @Test("areas and tracks whose pixels differ have different fingerprints, by fractions of a pixel or a seam")
    func exactFingerprints() throws {
        func place(_ longitude: Double, _ latitude: Double) throws -> LonLat {
            try #require(LonLat(longitude: longitude, latitude: latitude))
        }
        func area(_ west: Double, _ north: Double) throws -> IssuedArea {
            let ring = try [(west, 10.0), (-100, 10), (-100, north), (west, north), (west, 10)].map {
                try place($0.0, $0.1)
            }
            return IssuedArea(
                collection: .hazards, id: "a", source: try #require(SourceID("test")), kind: "sigmet", hazard: "TURB",
                severity: .moderate, altitudeMinFeet: 0, altitudeMaxFeet: 40_000, validFrom: now(-60),
                validTo: now(7_200), text: "", geometry: MultiPolygon(polygons: [[ring]]))
        }
        func track(_ latitude: Double) throws -> [AircraftPosition] {
            try [-170.0, -120].enumerated().map { step, longitude in
                AircraftPosition(
                    icao24: try #require(ICAO24("3c0001")), callsign: nil, place: try place(longitude, latitude),
                    source: try #require(SourceID("test")), observedAt: now(-60 + step), altitudeFeet: 30_000,
                    groundSpeedKnots: nil, headingDegrees: nil, isOnGround: false)
            }
        }
        var all: [PictureData] = []
        for shift in 0..<12 {
            // A pixel of zoom 2 is a third of a degree.
            let north = 40 + Double(shift) * 0.003
            var data = PictureData(instant: Self.now)
            data.areas[.hazards] = [try area(-160, north)]
            data.tracks = [try track(north + 20)]
            all.append(data)
        }
        for west in [-180, -179.999_999_99] {
            var data = PictureData(instant: Self.now)
            data.areas[.hazards] = [try area(west, 40)]
            all.append(data)
        }
        let region = MapRegion(try #require(TileCoord(z: 2, x: 0, y: 1)), scale: .one)
        for list in [LayerList(.hazards), LayerList(.tracks)] {
            var pixels: [Fingerprint: [PremultipliedColour]] = [:]
            var pictures = Set<[PremultipliedColour]>()
            for data in all {
                let content = PictureContent(list, of: data, in: region)
                let fingerprint = try content.fingerprint(style: TilePainterTests.style)
                let drawn = try PicturePainter().canvas(content, in: region, style: TilePainterTests.style).pixels
                #expect(pixels[fingerprint] ?? drawn == drawn)
                pixels[fingerprint] = drawn
                pictures.insert(drawn)
            }
            #expect(pictures.count > 8, "fractions of a pixel are seen")
        }
    }

    private func now(_ seconds: Int) -> Instant { Self.now.advanced(by: seconds) }

    @Test("a tile of every layer has symbols bounded in number at every zoom, whatever the data")
    func bounded() throws {
        var data = PictureData(instant: Self.now)
        var random = SeededGenerator(seed: 3)
        let source = try #require(SourceID("test"))
        var positions: [AircraftPosition] = []
        for index in 0..<8_000 {
            let longitude = 9 + Double(random.next() % 100_000) / 50_000
            let latitude = 49 + Double(random.next() % 100_000) / 50_000
            positions.append(
                AircraftPosition(
                    icao24: try #require(ICAO24(rawValue: UInt32(index))),
                    place: try #require(LonLat(longitude: longitude, latitude: latitude)), source: source,
                    observedAt: Self.now))
        }
        data.positions = positions
        for zoom in [0, 4, 8, 9] {
            let coord = try #require(TilePainterTests.coord(z: zoom, longitude: 10, latitude: 50))
            let content = PictureContent(LayerList(.traffic), of: data, in: MapRegion(coord, scale: .one))
            guard case .traffic(let marks) = try #require(content.parts.first) else { return }
            #expect(marks.count < 2_500, "zoom \(zoom)")
        }
    }

    /// Aircraft, reports and areas so close that few of their labels have room.
    private static let crowd: PictureData = {
        var data = PictureData(instant: now)
        var random = SeededGenerator(seed: 5)
        let source = SourceID("test")!
        func place(_ longitude: Double) -> LonLat {
            LonLat(
                longitude: LonLat.wrap(longitude + Double(random.next() % 100_000) / 50_000),
                latitude: 49.5 + Double(random.next() % 100_000) / 100_000)!
        }
        for index in 0..<120 {
            let middle = index % 2 == 0 ? 9.0 : 179
            data.positions.append(
                AircraftPosition(
                    icao24: ICAO24(rawValue: UInt32(index + 1))!, callsign: "TEST\(index)", place: place(middle),
                    source: source, observedAt: now, altitudeFeet: 31_000))
            data.reports.append(
                PilotReport(
                    id: "\(index)", place: place(middle), observedAt: now, type: "PIREP", aircraft: nil,
                    altitudeFeet: 9_000, turbulence: [], text: "", source: source))
        }
        let outline = [(9.2, 49.4), (10.8, 49.5), (10.6, 50.6), (9.1, 50.4)]
        data.areas[.hazards] = (0..<9).map { index in
            IssuedArea(
                collection: .hazards, id: "\(index)", source: source, kind: "gairmet", hazard: "TURB-HI",
                altitudeMinFeet: 25_000, altitudeMaxFeet: 41_000, validFrom: now, validTo: now.advanced(by: 9_000),
                geometry: MultiPolygon(
                    outline: outline.map { LonLat(longitude: $0.0, latitude: $0.1 + Double(index) * 0.01)! })!)
        }
        return data
    }()

    private static var crowded: LayerList { get throws { try LayerList("hazards,pireps,traffic") } }

    @Test("no label covers another, whatever layer it is of; and there are many", arguments: [7, 8, 9, 12])
    func labels(zoom: Int) throws {
        let center = try #require(LonLat(longitude: 10, latitude: 50))
        let region = try #require(MapRegion(center: center, zoom: zoom, width: 700, height: 700))
        let labels = PictureContent(try Self.crowded, of: Self.crowd, in: region).labels
        #expect(labels.count > 8)
        let font = try TextRenderer()
        let boxes = try labels.map { label in
            let width = try font.width(of: label.text, size: label.size)
            let shift = label.alignment == .start ? 0 : label.alignment == .middle ? width / 2 : width
            let (x, y) = (label.place.point.x - shift, label.place.point.y)
            return PixelBox(minX: x, minY: y - 0.75 * label.size, maxX: x + width, maxY: y + 0.2 * label.size)
        }
        for (index, box) in boxes.enumerated() {
            for other in boxes[..<index] { #expect(!box.overlaps(other, world: 1e9)) }
        }
    }

    @Test("the bound of a text's width is none less, and not half as much more")
    func widthBounds() throws {
        let font = try TextRenderer()
        for text in [
            "TURB-HI FL250–FL450", "CONVECTIVE below FL600", "LLWS", "MTW 2,000 ft–16,000 ft", "BLW123 FL380",
            "DLH4WM 9,000 ft", "WWWWMMMM @%", "iiiiIIIIjjjlll", "ÄÖÜ …", "abcdefghijklmnopqrstuvwxyz",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789",
        ] {
            let (bound, width) = (Label.widthBound(of: text) * 10, try font.width(of: text, size: 10))
            #expect(bound >= width && bound < width * 1.6, "\(text): \(bound) for \(width)")
        }
    }

    @Test("tiles of a crowd fit together: each shows the same labels", arguments: [(7, 10.0), (9, 10.0), (8, 180.0)])
    func crowdedTiles(zoom: Int, longitude: Double) throws {
        let found = try #require(TilePainterTests.coord(z: zoom, longitude: longitude - 0.01, latitude: 50))
        let last = 1 << zoom
        let region = MapRegion(found, scale: .one).part(x: -256, y: -256, width: 768, height: 768)
        let whole = Set(PictureContent(try Self.crowded, of: Self.crowd, in: region).labels.map(\.text))
        var parts: Set<String> = []
        for dy in -1...1 {
            for dx in -1...1 {
                let coord = try #require(TileCoord(z: zoom, x: (found.x + dx + last) % last, y: found.y + dy))
                parts.formUnion(
                    PictureContent(try Self.crowded, of: Self.crowd, in: MapRegion(coord, scale: .one)).labels.map(
                        \.text))
            }
        }
        #expect(whole == parts && whole.count > 4)
    }

    @Test("patterns run on from tile to tile")
    func patterns() {
        for kind in Pattern.Kind.allCases {
            let pattern = Pattern(kind, period: 16, width: 2)
            let inked = (0..<256).map { pattern.coverage(x: $0 % 16, y: $0 / 16) }
            #expect(inked.contains { $0 > 128 } && inked.contains(0))
            #expect(pattern.coverage(x: -3, y: 40) == pattern.coverage(x: 13, y: 8))
        }
    }
}
