import EngineTestSupport
import BillowRaster
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

extension World {
    /// Observations of one severity in a disk of cells.
    fileprivate func takeDisk(
        _ severity: Severity, at place: LonLat, distance: Int, secondsAgo: Int = 60
    ) async throws -> [Cell] {
        let cells = H3.disk(around: H3.cell(at: place), distance: distance).sorted()
        try await take(
            cells.map {
                try observation($0, altitude: 35, severity: severity, at: -secondsAgo)
            })
        return cells
    }
}

@Suite("Areas over HTTP")
struct AreaTests {
    @Test("polygons are the hexagons of each severity, with what they are made of")
    func polygons() async throws {
        try await withWorld { world in
            let cells = try await world.takeDisk(.moderate, at: try place(10, 50), distance: 3)
            try await world.take([
                try observation(try cell(10, 50), altitude: 37, severity: .moderateSevere, at: -10, source: "other")
            ])
            let features = try await world.json("/collections/polygons/items?hours=1").features
            #expect(features.map { $0["id"]?.string } == ["3-1", "4-1"])
            let moderate = try #require(features.first)
            #expect(moderate.property("hexagons")?.double == Double(cells.count - 1))
            #expect(moderate.property("mode")?.string == "exact")
            #expect(moderate.property("history")?.double == 1)
            #expect(moderate.property("observedTo")?.string == noon.advanced(by: -60).description)
            // One area with a hole where it is worse.
            #expect(moderate["geometry"]?["coordinates"]?.items.map(\.items.count) == [2])
            let whole = try await world.json("/collections/polygons/items/3-1?hours=1&mode=atLeast")
            #expect(whole["geometry"]?["coordinates"]?.items.map(\.items.count) == [1])
            #expect(whole.property("hexagons")?.double == Double(cells.count))
            // A band that has only the severe one.
            let above = try await world.json("/collections/polygons/items?hours=1&minAltitude=36000").features
            #expect(above.map { $0["id"]?.string } == ["4-1"])
            // The id names the history, whatever the default is.
            #expect(try await world.json("/collections/polygons/items/4-1").property("history")?.double == 1)
        }
    }

    @Test("polygons of our own go by a source of their own, and an upstream's by its name and kind")
    func sources() async throws {
        try await withWorld { world in
            _ = try await world.takeDisk(.moderate, at: try place(10, 50), distance: 1)
            let ring = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try place(10 + $0.0, 50 + $0.1) }
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [],
                    areas: [
                        IssuedArea(
                            collection: .polygons, id: "upstream-3", source: try source("awc"), kind: "polygon",
                            severity: .moderate, validFrom: noon.advanced(by: -60), validTo: noon.advanced(by: 600),
                            historySeconds: 7_200, geometry: try MultiPolygon(outline: ring).orMissing())
                    ]))
            try await world.refresh()
            func ids(_ query: String) async throws -> [String?] {
                try await world.json("/collections/polygons/items\(query)").features.map { $0["id"]?.string }
            }
            #expect(try await ids("") == ["3-2", "upstream-3"])
            #expect(try await ids("?source=billow") == ["3-2"])
            #expect(try await ids("?source=awc") == ["upstream-3"])
            #expect(try await ids("?source=billow,awc") == ["3-2", "upstream-3"])
            #expect(try await ids("?kind=polygon") == ["upstream-3"])
            #expect(try await ids("?hours=1") == ["3-1"], "made for another history")
        }
    }

    @Test("the layer of polygons shows an upstream's where its source or kind is named, and else ours: never both")
    func layer() async throws {
        try await withWorld { world in
            let middle = try place(10.2, 50.2)
            _ = try await world.takeDisk(.light, at: middle, distance: 1)
            let ring = try [(10.0, 50.0), (11, 50), (11, 51), (10, 51)].map { try place($0.0, $0.1) }
            func issued(_ id: String, _ severity: Severity, hours: Int) throws -> IssuedArea {
                IssuedArea(
                    collection: .polygons, id: id, source: try source("skypath"), kind: "polygon", severity: severity,
                    validFrom: noon.advanced(by: -60), validTo: noon.advanced(by: 600), historySeconds: hours * 3_600,
                    geometry: try MultiPolygon(outline: ring).orMissing())
            }
            let before = try await world.json("/timeline.json?layers=polygons&source=skypath&intervals=1")
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    areas: [try issued("a", .moderateSevere, hours: 2), try issued("b", .moderate, hours: 1)]))
            try await world.refresh()
            let pixel = PixelPlace(middle, zoom: 6)
            func tile(_ query: String, _ time: String = "latest", _ suffix: String = "png") -> String {
                "/tiles/polygons/\(time)/6/\(pixel.x)/\(pixel.y).\(suffix)\(query)"
            }
            func colour(_ query: String, _ time: String = "latest") async throws -> String {
                let colour = try await world.picture(tile(query, time))[pixel.column, pixel.row].orMissing()
                return "\(colour.red) \(colour.green) \(colour.blue) \(colour.alpha)"
            }
            for (query, pixel) in [
                ("", Pixel.light), ("?source=billow", Pixel.light), ("?source=skypath", Pixel.moderateSevere),
                ("?kind=polygon", Pixel.moderateSevere), ("?source=skypath&hours=1", Pixel.moderate),
                ("?source=billow,skypath", Pixel.light), ("?source=skypath,other&hours=1", Pixel.moderate),
                ("?source=skypath&kind=in-situ", Pixel.light), ("?source=other", Pixel.none),
                // It was issued, and isn't asked for: nothing takes its place.
                ("?source=skypath&severity=1", Pixel.none),
            ] { #expect(try await colour(query) == pixel, "\(query)") }
            // Of this history none was issued; neither ours nor nothing may stand for it.
            for uri in [
                tile("?source=skypath&hours=4"), tile("?kind=polygon&hours=4"),
                tile("?kind=polygon&hours=4", "latest", "mvt"),
                "/maps/polygons.png?kind=polygon&hours=4", "/collections/polygons/items?kind=polygon&hours=4",
                "/export/polygons.geojson?source=skypath&hours=4",
            ] {
                let problem = try await world.json(uri, status: .notFound)
                #expect(problem["code"]?.string == "history-not-made" && problem["allowed"]?.string == "1, 2", "\(uri)")
            }
            // Before it was issued, and as it was then at a frame's own address.
            #expect(try await colour("?source=skypath", "20261121T115830Z") == Pixel.none)
            let frame = { (manifest: JSON) in manifest["layers"]?[0]?["frames"]?[0]?["v"]?.double }
            let after = try await world.json("/timeline.json?layers=polygons&source=skypath&intervals=1")
            #expect(try #require(frame(after)) > (try #require(frame(before))))
            let ours = try await world.json("/timeline.json?layers=polygons&intervals=1")
            #expect(frame(ours) == frame(before), "what isn't drawn changes no version")
            // Ours have a past; an upstream's only the last issue.
            for (query, animates) in [
                ("", true), ("&source=billow", true), ("&source=skypath", false), ("&kind=polygon", false),
                ("&source=skypath&hours=4", false), ("&source=other", true),
            ] {
                let layer = try await world.json("/timeline.json?layers=polygons\(query)")["layers"]?[0]
                #expect(layer?["animates"]?.bool == animates, "\(query)")
                #expect((layer?["frames"]?.items.count ?? 0 > 1) == animates, "\(query)")
            }
            let features = try await world.get(tile("?source=skypath", "latest", "mvt"))
            let decoded = try DecodedVectorTile(Array(buffer: features.body)).layers.first?.features ?? []
            #expect(decoded.map { $0.properties["id"] } == ["a"])
            #expect(decoded.first?.properties["source"] == "skypath")
            #expect(decoded.first?.properties["severity"] == "4")
        }
    }

    @Test("plus signs are blanks in routes and shapes, as forms and scripts write them")
    func plusSigns() async throws {
        try await withWorld { world in
            _ = try await world.takeDisk(.light, at: try place(10, 50), distance: 1)
            for uri in [
                "/collections/hexagons/corridor?route=9,50+11,50",
                "/collections/hexagons/corridor?route=50N009E+50N011E",
                "/collections/hexagons/corridor?coords=LINESTRING(9+50,11+50)",
                "/collections/hexagons/area?coords=POLYGON((9+49,+11+49,+11+51,+9+51,+9+49))",
            ] {
                #expect(try await world.json(uri).features.count == 7, "\(uri)")
            }
        }
    }

    @Test(
        "a ring keeps every position that there is room for where it isn't to be simplified, said in the body or the query"
    )
    func unsimplified() async throws {
        try await withWorld { world in
            func positions(_ query: String, _ members: String) async throws -> Double {
                let answer = try await world.post("/corridors\(query)", #"{"route": "KJFK EGLL"\#(members)}"#)
                return answer.property("positions")?.double ?? 0
            }
            let coarse = try await positions("", "")
            let fine = try await positions("", #", "simplify": false"#)
            #expect(coarse < 100 && fine > 200)
            #expect(try await positions("?simplify=false", "") == fine)
        }
    }

    @Test("a history without polygons is a 404 that names those with")
    func histories() async throws {
        try await withWorld(histories: PolygonHistories(longest: .oneHour, upTo: true)) { world in
            let problem = try await world.json("/collections/polygons/items?hours=2", status: .notFound)
            #expect(problem["code"]?.string == "history-not-made")
            #expect(problem["allowed"]?.string == "0.5, 1")
            _ = try await world.json("/collections/polygons/items?hours=0.5")
            // An interval is a history of its own.
            let interval = "datetime=\(noon.advanced(by: -7_452).description)/\(noon.description)"
            _ = try await world.takeDisk(.moderate, at: try place(10, 50), distance: 1)
            let polygons = try await world.json("/collections/polygons/items?\(interval)")
            let hexagons = try await world.json("/collections/hexagons/items?\(interval)")
            #expect(polygons.features.count == 1 && hexagons.features.count == 7)
            #expect(polygons.features.first?["properties"]?["hexagons"]?.double == 7)
            for uri in [
                "/tiles/polygons/latest/3/2/2.png?hours=2", "/tiles/polygons/latest/3/2/2.mvt?hours=2",
                "/tiles/polygons.json?hours=2", "/maps/hexagons,polygons.png?hours=2",
                "/export/polygons.geojson?hours=2", "/export/polygons.csv?hours=2",
            ] {
                let problem = try await world.json(uri, status: .notFound)
                #expect(problem["code"]?.string == "history-not-made", "\(uri)")
            }
            // Made of the same cells, but of no dissolve.
            _ = try await world.picture("/tiles/turbulence/latest/3/2/2.png?hours=2")
        }
    }

    @Test("an area gives the cells that share a point with it, in either winding, by GET and by POST")
    func area() async throws {
        try await withWorld { world in
            let cells = try await world.takeDisk(.light, at: try place(179.95, 10), distance: 6)
            let ring = "[179.5,9.5],[-179.5,9.5],[-179.5,10.5],[179.5,10.5],[179.5,9.5]"
            let posted = try await world.post(
                "/collections/hexagons/area", #"{"type":"Polygon","coordinates":[[\#(ring)]]}"#)
            let ids = posted.features.map { $0["id"]?.string }
            let area = try RingRules.area(
                inside: try [(179.5, 9.5), (180.5, 9.5), (180.5, 10.5), (179.5, 10.5), (179.5, 9.5)].map {
                    try place($0.0, $0.1)
                })
            let index = try #require(AreaIndex(area))
            let wanted = cells.filter { index.intersects(CellPolygon.rings(of: $0).map { [$0] }) }
            #expect(ids == wanted.map(\.h3String))
            #expect((20..<cells.count).contains(wanted.count))
            let got = try await world.json(
                "/collections/hexagons/area?coords=POLYGON((179.5%209.5,179.5%2010.5,180.5%2010.5,180.5%209.5,179.5%209.5))"
            )
            #expect(got.features.map { $0["id"]?.string } == ids)
        }
    }

    @Test("a route meets hexagons in order, with distance, side and time")
    func corridor() async throws {
        try await withWorld { world in
            for longitude in [4.0, 1, 7] {
                _ = try await world.takeDisk(.light, at: try place(longitude, 0.2), distance: 0)
            }
            let body = #"{"route": [[0, 0], "00N010E"], "width": 60, "speed": 60}"#
            let answer = try await world.post("/collections/hexagons/corridor", body).features
            let along = answer.compactMap { $0.property("distanceAlong")?.double }
            #expect(along.count == 3)
            #expect(along == along.sorted())
            let first = try #require(along.first)
            #expect(abs(first - 60) < 10)
            let off = try #require(answer[0].property("distanceOff")?.double)
            #expect(off < 0, "north of an eastward route is left")
            // A mile a minute.
            let eta = try #require(answer[0].property("eta")?.string.flatMap { Instant($0) })
            #expect(abs(eta.seconds - noon.seconds - Int((first * 60).rounded())) <= 4)
            // A page of one, and the next.
            let page = try await world.json("/collections/hexagons/corridor?route=00N000E%2000N010E&width=60&limit=1")
            let next = try #require(page.link("next").flatMap { URL(string: $0) })
            let rest = try await world.json("\(next.path)?\(next.query(percentEncoded: true) ?? "")")
            #expect(rest.features.map { $0["id"] } == [answer[1]["id"]])
        }
    }

    @Test(
        "each rule that a body breaks is a 400 with its code",
        arguments: [
            ("/corridors", "", "invalid-body"), ("/corridors", "{}", "invalid-body"),
            ("/corridors", #"{"route": []}"#, "route-too-few-positions"),
            ("/corridors", #"{"route": "KJFK"}"#, "route-too-few-positions"),
            ("/corridors", #"{"route": "KJFK NOWHERE"}"#, "unknown-waypoint"),
            ("/corridors", #"{"route": [[0, 0], [120, 0], [-120, 0], [0, 0]]}"#, "route-around-the-earth"),
            ("/corridors", #"{"route": "KJFK EGLL", "width": 0}"#, "invalid-parameter"),
            ("/corridors", #"{"route": "KJFK EGLL", "width": 5000}"#, "invalid-parameter"),
            ("/corridors", #"{"route": [[0, 91], [1, 1]]}"#, "invalid-body"),
            ("/corridors", String(repeating: "[", count: 5_000), "invalid-body"),
            ("/collections/hexagons/area", #"{"polygon": [[0,0],[1,1],[1,0],[0,1],[0,0]]}"#, "ring-crosses-itself"),
            ("/collections/hexagons/area", #"{"polygon": [[0,0],[1,0],[1,1],[0,1]]}"#, "ring-not-closed"),
            ("/collections/hexagons/area", #"{"polygon": [[0,0],[90,0],[90,60],[0,60],[0,0]]}"#, "area-too-large"),
            ("/collections/hexagons/area", #"{"type": "Point", "coordinates": [0, 0]}"#, "invalid-body"),
            ("/collections/hexagons/corridor", #"{"route": "KJFK EGLL", "speed": 0}"#, "invalid-parameter"),
        ])
    func bodies(_ uri: String, _ body: String, _ code: String) async throws {
        try await withWorld { world in
            let problem = try await world.post(uri, body, status: .badRequest)
            #expect(problem["code"]?.string == code)
        }
    }

    @Test("a corridor's ring has at most 250 positions, and simplified by default fewer")
    func ring() async throws {
        try await withWorld { world in
            let simple = try await world.post("/corridors", #"{"route": "RJTT KLAX"}"#)
            #expect(simple["geometry"]?["type"]?.string == "MultiPolygon")
            #expect(simple.property("width")?.double == 100)
            let ring = simple["ring"]?.items.count ?? 0
            #expect(simple.property("positions")?.double == Double(ring))
            let fine = try await world.post("/corridors?simplify=false", #"{"route": "RJTT KLAX"}"#)
            #expect((ring + 1...250).contains(fine["ring"]?.items.count ?? 0))
        }
    }

    @Test("a profile has the most severe of each stretch and level within its width, as JSON and as a picture")
    func profile() async throws {
        try await withWorld { world in
            _ = try await world.takeDisk(.moderate, at: try place(5, 0), distance: 0)
            let answer = try await world.json("/profiles.json?route=00N000E%2000N010E&stretch=60&minAltitude=30000")
            let altitudes = (answer["altitudes"]?.items ?? []).compactMap(\.double)
            let row = try #require(altitudes.firstIndex(of: 35_000))
            #expect(altitudes.first == 30_000)
            let severities = answer["severities"]?[row]?.items ?? []
            let hits = severities.indices.filter { severities[$0].double == 3 }
            #expect(hits == [5] || hits == [4])
            #expect(answer["records"]?.double == 1)
            let picture = try await world.picture("/profiles.png?route=00N000E%2000N010E")
            #expect(picture.width == 1_000)
            // The legend's swatches are in the colours of the cells, over paper.
            let narrow = try await world.picture("/profiles.png?route=00N000E%2000N010E&width-pixels=320&severity=3,4")
            func colours(_ picture: DecodedPNG) -> Set<StraightColour> {
                Set((0..<picture.height).flatMap { row in (0..<picture.width).compactMap { picture[$0, row] } })
            }
            let severe = colours(picture).subtracting(colours(narrow))
            #expect(!severe.isEmpty, "a legend names what isn't filtered out")
            let far = try await world.json("/profiles.json?route=10N000E%2010N010E")
            #expect(far["records"]?.double == 0)
        }
    }

    @Test("a profile's picture says when its air is simulated or old, as maps do")
    func profileCaption() async throws {
        func header(simulated: Bool, silent: Int) async throws -> Set<Int> {
            let ink = Mutex<Set<Int>>([])
            try await withWorld(configured: ["skypath"], simulated: simulated) { world in
                try await world.fetched("skypath", secondsAgo: silent)
                try await world.refresh()
                let picture = try await world.picture("/profiles.png?route=00N000E%2000N010E")
                let paper = picture[0, 0]
                ink.withLock {
                    $0 = Set(
                        (0..<picture.width).filter { column in (28..<48).contains { picture[column, $0] != paper } })
                }
            }
            return ink.withLock { $0 }
        }
        let plain = try #require(try await header(simulated: false, silent: 10).max())
        let simulated = try #require(try await header(simulated: true, silent: 10).max())
        let both = try #require(try await header(simulated: true, silent: 1_000).max())
        #expect(plain > 100 && simulated > plain + 60 && both > simulated + 40)
    }

    @Test("a hexagon says whether it is worse or better than half an hour before, by the same rule")
    func trend() async throws {
        try await withWorld { world in
            func trend() async throws -> String? {
                try await world.json("/collections/hexagons/items").features.first?.property("trend")?.string
            }
            let place = try place(10, 50)
            _ = try await world.takeDisk(.light, at: place, distance: 0, secondsAgo: 2_400)
            #expect(try await trend() == nil)
            _ = try await world.takeDisk(.moderate, at: place, distance: 0, secondsAgo: 60)
            #expect(try await trend() == "worse")
            _ = try await world.takeDisk(.smooth, at: place, distance: 0, secondsAgo: 30)
            #expect(try await trend() == "better")
        }
    }
}
