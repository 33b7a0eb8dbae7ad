import BillowFields
import BillowStore
import Datasets
import EngineTestSupport
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowRaster

extension World {
    /// Stores a field of one value, at levels of 30,000 and 36,000 ft and as the column; the higher level has more.
    fileprivate func insertField(
        _ product: FieldProduct, run: Int, lead: Int = 0, value: UInt8, missing: [Int] = []
    ) async throws {
        let grid = try TestField.grid(20, 16)
        let started = noon.advanced(by: run)
        let identity = try #require(
            FieldIdentity(product: product, run: started, validTime: started.advanced(by: lead)))
        func draft(_ level: FieldLevel, _ value: UInt8) throws -> FieldLevelDraft {
            var values = [UInt8](repeating: value, count: grid.count)
            for point in missing { values[point] = FieldPlane.missing }
            let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
            return FieldLevelDraft(identity: identity, grid: grid, level: level, packed: plane.packed())
        }
        _ = try await store.commit(
            Batch(
                source: source("awc"),
                fields: [
                    try draft(.feet(30_000), value), try draft(.feet(36_000), value + 10),
                    try draft(.column, value + 10),
                ], fetchedAt: clock.now))
        try await refresh()
    }
}

/// A grid of degrees from 100° W 30° N on: 20 by 16 points.
@Suite("Turbulence fields over HTTP")
struct FieldTests {
    /// 95° W 35° N lies in it; it lies wholly in the grid.
    static let tile = "7/30/50"

    private func colours(_ world: World, _ query: String = "", time: String = "latest") async throws -> Set<String> {
        let picture = try await world.picture("/tiles/gtg/\(time)/\(Self.tile).png\(query)")
        return Set(picture.pixels.map { $0.alpha == 0 ? "none" : $0.hexadecimal })
    }

    @Test("frames ahead count the points of the field, and no cells of observations that are not shown then")
    func counts() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50), severity: .moderateSevere, at: -60)])
            // Moderate begins at 20 hundredths; the column has 10 more than the lower level.
            try await world.insertField(.forecast, run: -3_600, lead: 3_600, value: 9)
            try await world.insertField(.forecast, run: -3_600, lead: 7_200, value: 10, missing: [0, 5, 7])
            let path = "/timeline.json?layers=hexagons,gtg&composed=true&start=-1h&end=%2B1h&intervals=3&counts=true"
            func lists(_ query: String = "") async throws -> (cells: [JSONValue], points: [JSONValue]) {
                let layer = try #require(try await world.json(path + query)["layers"]?[0])
                return (layer["moderateOrWorse"]?.items ?? [], layer["fieldModerateOrWorse"]?.items ?? [])
            }
            let all = try await lists()
            #expect(all.cells == [.number(0), .number(1), .null])
            #expect(all.points.count == 3 && all.points.suffix(2) == [.number(0), .number(320 - 3)])
            let low = try await lists("&maxAltitude=31000")
            #expect(low.points.suffix(2) == [.number(0), .number(0)])
            let light = try await lists("&severity=1")
            #expect(light.points.suffix(2) == [.number(0), .number(0)])
            let alone = try await world.json("/timeline.json?layers=hexagons&counts=true")["layers"]?[0]
            #expect(alone?["fieldModerateOrWorse"] == nil)
        }
    }

    @Test("a tile that was asked for before there was any field shows missing data once there are others")
    func lackingLater() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            let address = "/tiles/gtg/\(noon.advanced(by: -60))/\(Self.tile).png"
            let map = address.replacing("/tiles/", with: "/tiles/hexagons,")
            let empty = try await world.get(address)
            let tag = try #require(empty.headers[.eTag])
            let composed = try await world.get(map)
            #expect(empty.status == .ok && composed.status == .ok)
            // It is of a time six hours ago, which doesn't reach the instant.
            try await world.insertField(.nowcast, run: -21_600, value: 17)
            let lacking = try await world.get(address, [.ifNoneMatch: tag])
            #expect(lacking.status == .ok && lacking.headers[.eTag] != tag && lacking.header("X-Incomplete") == "true")
            let beside = try await world.get(
                address.replacing("\(noon.advanced(by: -60))", with: "\(noon.advanced(by: -120))"))
            #expect(lacking.body == beside.body && lacking.body != empty.body)
            #expect(try await world.get(map).body != composed.body)
        }
    }

    @Test("tiles have the severity of the altitudes that are requested")
    func tiles() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            #expect(try await colours(world) == ["#FF7100"], "0.27 in the column")
            #expect(
                try await colours(world, "?minAltitude=29000&maxAltitude=31000") == ["#FFBC09"], "0.17 at 30,000 ft")
            #expect(try await colours(world, "?minAltitude=29000&maxAltitude=37000") == ["#FF7100"], "the worse of two")
            #expect(try await colours(world, "?minSeverity=4") == ["none"])
        }
    }

    @Test("altitudes and products of which no field is stored are hatched and incomplete, never smooth")
    func lacking() async throws {
        try await withWorld(feeds: ["awc": [.fields]]) { world in
            try await world.insertField(.nowcast, run: -600, value: 0)
            let smooth = try await colours(world, "?minAltitude=29000&maxAltitude=31000")
            #expect(smooth == ["none"])
            for query in ["?minAltitude=10000&maxAltitude=12000", "?product=gtg", "?run=\(noon.description)"] {
                #expect(try await colours(world, query) != smooth, "\(query)")
                let tile = try await world.get("/tiles/gtg/latest/\(Self.tile).png\(query)")
                #expect(tile.header("X-Incomplete") == "true" && tile.header("X-Field") == nil)
                let items = try await world.json("/collections/gtg/items\(query)&bbox=-99,31,-95,35")
                #expect(items["incomplete"]?.bool == true && items.features.isEmpty)
            }
            let known = try await world.get("/tiles/gtg/latest/\(Self.tile).png?minAltitude=29000&maxAltitude=31000")
            #expect(known.header("X-Incomplete") == nil)
            let run = noon.advanced(by: -600)
            #expect(
                known.header("X-Field")
                    == "product=gtgn, run=\"\(run)\", validTime=\"\(run)\", lead=0")
            // What was observed in the hours before doesn't count.
            let items = try await world.json("/collections/gtg/items?bbox=-99,31,-95,35&hours=2")
            #expect(items["incomplete"]?.bool == false)
        }
    }

    @Test("the collection states the time range and the extent of its fields")
    func extent() async throws {
        try await withWorld { world in
            try await world.insertField(.forecast, run: -7_200, lead: 7_200, value: 2)
            try await world.insertField(.forecast, run: -7_200, lead: 14_400, value: 2)
            let extent = try #require(try await world.json("/collections/gtg")["extent"])
            let times = extent["temporal"]?["interval"]?[0]?.items.compactMap(\.string)
            #expect(times == [noon, noon.advanced(by: 7_200)].map(\.description))
            let box = extent["spatial"]?["bbox"]?[0]?.items.compactMap(\.double) ?? []
            #expect(box.count == 4 && box[0] < -99 && box[0] > -102 && box[1] > 28 && box[3] < 60)
            let world = try await world.json("/collections/hexagons")["extent"]?["spatial"]?["bbox"]?[0]
            #expect(world?.items.compactMap(\.double) == [-180, -90, 180, 90])
        }
    }

    @Test("who computed it is named, and that it replaces no SIGMET; simulated, it says that alone")
    func attribution() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            for path in ["/tiles/gtg.json", "/tiles/hexagons,gtg.json", "/collections/gtg"] {
                let text = try #require(try await world.json(path)["attribution"]?.string)
                #expect(text.contains("NOAA/NWS") && text.contains("not a substitute for SIGMETs"), "\(path)")
            }
            #expect(try await world.json("/collections/hexagons")["attribution"] == nil)
            #expect(try await world.json("/tiles/hexagons.json")["attribution"]?.string?.contains("NOAA") == false)
        }
        try await withWorld(simulated: true) { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            let text = try #require(try await world.json("/tiles/gtg.json")["attribution"]?.string)
            #expect(text.contains("SIMULATED") && !text.contains("NOAA"))
        }
    }

    @Test("beyond the grid and after the product is late, answers say so")
    func marks() async throws {
        try await withWorld(feeds: ["awc": [.fields]]) { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            func marks(_ tile: String) async throws -> [Bool?] {
                [
                    try await world.get("/tiles/gtg/latest/\(tile).png").header("X-Incomplete") == "true",
                    try await world.json("/tiles/gtg.json")["billow"]?["stale"]?.bool,
                ]
            }
            #expect(try await marks(Self.tile) == [false, false])
            #expect(try await marks("0/0/0") == [true, false])
            world.clock.advance(by: 1_560)
            try await world.refresh()
            #expect(try await marks(Self.tile) == [true, true])
        }
    }

    @Test("smooth air is excluded unless a requested severity includes it")
    func smooth() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 0)
            #expect(try await colours(world, "?minAltitude=29000&maxAltitude=31000") == ["none"])
            #expect(try await colours(world, "?minAltitude=29000&maxAltitude=31000&minSeverity=0") == ["#FFFFFF"])
        }
    }

    @Test("pictures up to now show nowcasts, later ones forecasts, and either on request")
    func products() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            try await world.insertField(.forecast, run: -7_200, lead: 7_200, value: 2)
            try await world.insertField(.forecast, run: -7_200, lead: 10_800, value: 36)
            #expect(try await colours(world) == ["#FF7100"])
            #expect(try await colours(world, "?product=gtg") == ["#FFF04C"])
            let ahead = noon.advanced(by: 3_600)
            #expect(try await colours(world, time: ahead.compact) == ["#FF0000"])
            #expect(try await colours(world, "?product=gtgn", time: ahead.compact) != ["none"], "hatched")
            let run = noon.advanced(by: -7_200).description
            #expect(try await colours(world, "?run=\(run)") == ["#FFF04C"])
            #expect(try await world.get("/tiles/gtg/latest/\(Self.tile).png?run=today").status == .badRequest)
            #expect(try await world.get("/tiles/gtg/latest/\(Self.tile).png?product=gfs").status == .badRequest)
            let late = noon.advanced(by: 4 * 3_600).compact
            #expect(try await world.get("/tiles/gtg/\(late)/\(Self.tile).png").status == .notFound)
        }
    }

    @Test("the timeline has the valid times, nowcasts up to now and forecasts ahead, each with its version")
    func timeline() async throws {
        try await withWorld { world in
            for quarter in 1...4 {
                try await world.insertField(.nowcast, run: -900 * quarter, value: UInt8(10 * quarter))
            }
            for hour in 0...3 {
                try await world.insertField(.forecast, run: -3_600, lead: hour * 3_600, value: UInt8(11 * hour))
            }
            let layer = try #require(
                try await world.json("/timeline.json?layers=gtg&start=-1h&end=%2B3h&intervals=60")["layers"]?[0])
            let frames = try #require(layer["frames"]?.items)
            #expect(
                frames.map { $0["time"]?.string }
                    == ([-3_600, -2_700, -1_800, -900, 3_600, 7_200]).map { noon.advanced(by: $0).description })
            #expect(frames.map { $0["product"]?.string } == ["gtgn", "gtgn", "gtgn", "gtgn", "gtg", "gtg"])
            #expect(frames.map { $0["lead"]?.double } == [0, 0, 0, 0, 7_200, 10_800])
            #expect(Set(frames.compactMap { $0["run"]?.string }).count == 4, "a nowcast and the forecast began at once")
            #expect(frames.map { $0["forecast"] != nil } == [false, false, false, false, true, true])
            // Each frame has its own picture, under an address that never changes.
            var addresses: [String] = []
            for frame in frames {
                let address = try #require(frame["tiles"]?.string)
                    .replacing("{z}/{x}/{y}", with: Self.tile).replacing("http://127.0.0.1", with: "")
                addresses.append(address)
                #expect(try await world.get(address).status == .ok)
            }
            // A newer run comes: the frames ahead have other addresses, those of nowcasts stay.
            try await world.insertField(.forecast, run: 0, lead: 3_600, value: 50)
            let after = try #require(
                try await world.json("/timeline.json?layers=gtg&start=-1h&end=%2B3h&intervals=60")["layers"]?[0]?[
                    "frames"]?
                    .items)
            #expect(after.prefix(4).map { $0["tiles"]?.string } == frames.prefix(4).map { $0["tiles"]?.string })
            #expect(after[4]["tiles"]?.string != frames[4]["tiles"]?.string)
            #expect(after[4]["run"]?.string == noon.description)
        }
    }

    @Test("an address with a version keeps its picture")
    func versions() async throws {
        try await withWorld { world in
            try await world.insertField(.forecast, run: -3_600, lead: 7_200, value: 2)
            let manifest = "/timeline.json?layers=gtg&start=now&end=%2B2h"
            let frame = try #require(try await world.json(manifest)["layers"]?[0]?["frames"]?[0])
            let address = try #require(frame["tiles"]?.string).replacing("{z}/{x}/{y}", with: Self.tile)
            let before = try await world.picture(address).pixels
            try await world.insertField(.forecast, run: 0, lead: 3_600, value: 40)
            #expect(try await world.picture(address).pixels == before)
            let now = try #require(try await world.json(manifest)["layers"]?[0]?["frames"]?[0]?["tiles"]?.string)
            #expect(now != frame["tiles"]?.string)
            #expect(try await world.picture(now.replacing("{z}/{x}/{y}", with: Self.tile)).pixels != before)
        }
    }

    @Test("a position has the value of every level, or of the nearest to the altitudes that are requested")
    func position() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 17, missing: [0])
            func levels(_ query: String) async throws -> [JSON] {
                try await world.json("/collections/gtg/position?coords=POINT(-95.2%2035.3)\(query)").features
            }
            let all = try await levels("")
            #expect(all.map { $0.property("altitude")?.double } == [nil, 30_000, 36_000])
            #expect(all.map { $0.property("edr")?.double } == [0.27, 0.17, 0.27])
            let one = try await levels("&z=31000")
            #expect(one.count == 1)
            let value = try #require(one.first)
            #expect(value.property("altitude")?.double == 30_000)
            #expect(value.property("edr")?.double == 0.17)
            #expect(value.property("severity")?.double == 2)
            #expect(value.property("product")?.string == "gtgn")
            #expect(value.property("lead")?.double == 0)
            #expect(value.property("run")?.string == noon.advanced(by: -600).description)
            #expect(value.property("validTime")?.string == noon.advanced(by: -600).description)
            #expect(try await levels("&z=29000/36000").count == 2)
            #expect(try await levels("&z=30000,30100,36000").count == 2)
            for (z, isIncomplete) in [("28000", false), ("27900", true), ("30000,1000", true), ("1000/2000", true)] {
                let address = "/collections/gtg/position?coords=POINT(-95.2%2035.3)&z=\(z)"
                #expect(try await world.get(address).header("X-Incomplete") == (isIncomplete ? "true" : nil), "\(z)")
            }
            // Of an interval the end counts, which may be open.
            let now = noon.description
            for interval in [
                "../\(now)", "\(now)/..", "../..", "2026-11-21T00:00:00Z/\(now)", "\(now)/2100-01-01T00:00:00Z",
            ] {
                #expect(try await levels("&datetime=\(interval)") == all, "\(interval)")
            }
            #expect(try await levels("&z=1000").isEmpty, "what lies 29,000 ft above says nothing")
            // A point without a value says so, and there is none beyond the grid.
            let missing = try await world.json("/collections/gtg/position?coords=POINT(-100%2030)&z=30000").features
            #expect(missing.count == 1 && missing[0].property("edr") == nil && missing[0].property("severity") == nil)
            #expect(try await world.json("/collections/gtg/position?coords=POINT(10%2050)").features.isEmpty)
        }
    }

    @Test(
        "bad positions are refused",
        arguments: [
            ("", "coords"), ("?coords=POINT(1)", "coords"), ("?coords=POINT(1%2095)", "coords"),
            ("?coords=POINT(1%202)&z=-1", "z"), ("?coords=POINT(1%202)&z=65001", "z"),
            ("?coords=POINT(1%202)&z=2/1", "z"), ("?coords=POINT(1%202)&z=1,", "z"),
            ("?coords=POINT(1%202)&z=\(Array(repeating: "1", count: 61).joined(separator: ","))", "z"),
            ("?coords=POINT(1%202)&datetime=yesterday", "datetime"), ("?coords=POINT(1%202)&level=3", "level"),
        ])
    func badPositions(query: String, parameter: String) async throws {
        try await withWorld { world in
            let answer = try await world.json("/collections/gtg/position\(query)", status: .badRequest)
            #expect(answer["parameter"]?.string == parameter)
        }
    }

    @Test("points and lines are at no other place", arguments: ["observations", "pireps", "traffic", "tracks"])
    func otherCollections(_ id: String) async throws {
        try await withWorld { world in
            let answer = try await world.json(
                "/collections/\(id)/position?coords=POINT(1%202)", status: .notFound)
            #expect(answer["code"]?.string == "query-not-offered" && answer["value"]?.string == id)
            #expect(answer["allowed"]?.string?.contains("hexagons") == true)
            #expect(try await world.json("/collections/\(id)")["data_queries"]?["position"] == nil)
        }
    }

    @Test("features are the cells with the worst value in each, in pages")
    func features() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            let whole = try await world.json("/collections/gtg/items?limit=10000").features
            // A grid of degrees has a point in few cells.
            #expect(whole.count == 320)
            let first = try #require(whole.first)
            #expect(first.property("edr")?.double == 0.27 && first.property("meanEdr")?.double == 0.27)
            #expect(first.property("severity")?.double == 3 && first.property("points")?.double == 1)
            #expect(first.property("product")?.string == "gtgn" && first.property("altitudeMin") == nil)
            #expect(first["geometry"]?["coordinates"]?[0]?.items.count == 7)
            var paged: [String] = []
            var next: String? = "/collections/gtg/items?limit=100"
            while let address = next {
                let page = try await world.json(address)
                paged += page.features.compactMap { $0["id"]?.string }
                next = page["links"]?.items.first { $0["rel"]?.string == "next" }?["href"]?.string?
                    .replacing("http://127.0.0.1", with: "")
                #expect(paged.count <= 320)
            }
            #expect(paged == whole.map { $0["id"]?.string })
            let firstID = try #require(paged.first)
            let one = try await world.json("/collections/gtg/items/\(firstID)?minAltitude=35000")
            #expect(one.property("altitudeMin")?.double == 36_000 && one.property("altitudeMax")?.double == 36_000)
            #expect(try await world.json("/collections/gtg/items?bbox=-95.5,34.5,-94.5,35.5").features.count == 1)
            #expect(try await world.json("/collections/gtg/items?minSeverity=4").features.isEmpty)
            let csv = String(buffer: try await world.get("/export/gtg.csv").body)
            #expect(csv.split(whereSeparator: \.isNewline).count == 321)
        }
    }

    @Test("vector tiles have the cells, coarser far out")
    func vectorTiles() async throws {
        try await withWorld { world in
            try await world.insertField(.nowcast, run: -600, value: 17)
            for (tile, resolution) in [("2/0/1", 3), (Self.tile, 5)] {
                let answer = try await world.get("/tiles/gtg/latest/\(tile).mvt")
                #expect(answer.status == .ok)
                let decoded = try DecodedVectorTile(Array(buffer: answer.body))
                let layer = try #require(decoded.layers.first)
                #expect(layer.name == "gtg" && !layer.features.isEmpty)
                for feature in layer.features {
                    #expect(feature.properties["resolution"] == "\(resolution)")
                    #expect(feature.properties["severity"] == "3")
                }
            }
            #expect(try await world.get("/tiles/gtg/latest/7/70/50.mvt").status == .noContent)
        }
    }

    @Test("the legend explains what is drawn")
    func legend() async throws {
        try await withWorld { world in
            let entries = try #require(try await world.json("/legend.json?layer=gtg")["entries"]?.items)
            #expect(entries.map { $0["label"]?.string }.last == "No data")
            #expect(entries.count == 5, "no smooth air")
            let both = try #require(try await world.json("/legend.json?layer=gtg,hexagons")["entries"]?.items)
            #expect(both.count == 6, "each severity once")
            let scale = try #require(try await world.json("/legend.json?layer=gtg&style=edr")["entries"]?.items)
            #expect(scale.first?["label"]?.string == "EDR 0.05" && scale.last?["symbol"]?.string == "missing")
            for query in ["layer=gtg", "layer=gtg&style=edr"] {
                _ = try await world.picture("/legend.png?\(query)")
            }
        }
    }
}
