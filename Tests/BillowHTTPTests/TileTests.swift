import EngineTestSupport
import BillowRaster
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Tiles over HTTP")
struct TileTests {
    @Test("a pixel wholly inside a hexagon has exactly the documented colour and alpha", arguments: Severity.allCases)
    func colours(severity: Severity) async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: severity)])
            #expect(try await world.colour(cell) == Pixel.bySeverity[Int(severity.rawValue)])
            #expect(try await world.colour(try EngineTestSupport.cell(10.5, 50)) == Pixel.none)
        }
    }

    @Test("the border of smooth air is grey, and half as wide as its cell nowhere")
    func smoothBorder() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .smooth)])
            let pixel = PixelPlace(H3.center(of: cell), zoom: 8)
            let picture = try await world.picture(pixel.path())
            let grey = picture.pixels.filter { $0.alpha > 180 && $0.red < 160 && $0.red == $0.green }.count
            let white = picture.pixels.filter { $0 == StraightColour(red: 255, green: 255, blue: 255, alpha: 153) }
                .count
            #expect(grey > 20)
            #expect(white > grey)
        }
    }

    @Test("@2x and @3x are 512 and 768 pixels wide and show the same", arguments: [1, 2, 3])
    func scales(scale: Int) async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderate)])
            let pixel = PixelPlace(H3.center(of: cell), zoom: 8, scale: scale)
            let picture = try await world.picture(pixel.path(scale: scale))
            #expect(picture.width == 256 * scale)
            #expect(picture.height == 256 * scale)
            #expect(picture[pixel.column, pixel.row] == StraightColour(red: 255, green: 113, blue: 0, alpha: 204))
            let empty = try await world.picture("/tiles/hexagons/latest/8/0/0@\(scale)x.png".replacing("@1x", with: ""))
            #expect(empty.width == 256 * scale)
            #expect(empty.pixels.allSatisfy { $0.alpha == 0 })
        }
    }

    @Test(
        "a tile of 512 points is the four tiles of the next zoom, pixel for pixel",
        arguments: ["hexagons", "polygons", "turbulence,hexagons"], ["", "@2x"])
    func doubleTiles(layers: String, scale: String) async throws {
        try await withWorld { world in
            for (number, severity) in Severity.allCases.enumerated() {
                for longitude in [Double(number) * 3, 179.5] {
                    let place = try #require(LonLat(longitude: longitude, latitude: 50 + Double(number) / 2))
                    _ = try await world.insertDisk(severity, at: place, distance: 3)
                }
            }
            for (z, x, y) in [(0, 0, 0), (4, 8, 5), (5, 31, 10), (5, 0, 10), (6, 32, 21)] {
                for query in ["", "&style=colour-blind&opacity=0.7", "&minSeverity=1&incomplete=hatch"] {
                    let tail = "\(scale).png?hours=2\(query)"
                    let whole = try await world.picture("/tiles/\(layers)/latest/\(z)/\(x)/\(y)\(tail)&size=512")
                    let side = scale.isEmpty ? 256 : 512
                    #expect(whole.width == 2 * side && whole.height == 2 * side)
                    var (worst, drawn) = (0, 0)
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let part = try await world.picture(
                            "/tiles/\(layers)/latest/\(z + 1)/\(x * 2 + dx)/\(y * 2 + dy)\(tail)&size=256")
                        for row in 0..<side {
                            for column in 0..<side {
                                let (one, other) = (whole[dx * side + column, dy * side + row], part[column, row])
                                guard let one, let other else { throw CocoaError(.coderInvalidValue) }
                                drawn += one.alpha > 0 ? 1 : 0
                                if one == other { continue }
                                // What is seen of a colour is its share of the pixel.
                                func seen(_ colour: StraightColour) -> [Int] {
                                    [colour.red, colour.green, colour.blue, 255].map {
                                        Int($0) * Int(colour.alpha) / 255
                                    }
                                }
                                worst = max(worst, zip(seen(one), seen(other)).map { abs($0 - $1) }.max() ?? 0)
                            }
                        }
                    }
                    // A picture of more than 256 colours has a palette of its own, in steps of up to 1/32.
                    #expect(worst <= 8, "\(z)/\(x)/\(y)\(tail)")
                    #expect(drawn > 0, "\(z)/\(x)/\(y)\(tail)")
                }
            }
        }
    }

    @Test("a tile of 512 points has the headers of any tile, and takes no other size, scale or zoom")
    func doubleTileHeaders() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50), at: -1_200)])
            let timeline = try await world.json("/timeline.json?layers=hexagons&start=-10m&end=now&size=512")
            let template = try #require(timeline["layers"]?[0]?["frames"]?[0]?["tiles"]?.string)
            #expect(template.hasSuffix("&size=512"), "\(template)")
            let path = template.replacing("http://localhost", with: "").replacing("{z}", with: "4")
                .replacing("{x}", with: "8").replacing("{y}", with: "5")
            let tile = try await world.get(path)
            #expect(tile.status == .ok)
            #expect(tile.headers[.cacheControl]?.hasSuffix(", immutable") == true)
            let tag = try tile.headers[.eTag].orMissing("ETag")
            #expect(try await world.get(path, [.ifNoneMatch: tag]).status == .notModified)
            let head = try await world.get(path, method: .head)
            #expect(head.headers[.contentLength] == tile.headers[.contentLength] && head.body.readableBytes == 0)
            let standard = try await world.get(path.replacing("&size=512", with: ""))
            #expect(standard.headers[.eTag] != tag)
            #expect(try await world.get(path.replacing("size=512", with: "size=256")).body == standard.body)
            // A vector tile has no pixels.
            let vector = path.replacing(".png", with: ".mvt")
            #expect(try await world.get(vector).body == world.get(vector.replacing("&size=512", with: "")).body)
            // A version that the frame never had.
            let moved = try await world.get(path.replacing(/v=[0-9]+/, with: "v=99999"))
            #expect(moved.status == .temporaryRedirect)
            #expect(moved.headers[.location]?.contains("size=512") == true)
            let empty = try await world.get("/tiles/hexagons/latest/5/0/0.png?size=512")
            #expect(Array(buffer: empty.body) == (try PNG.emptyTile(size: 512)))
            let finest = try await world.picture("/tiles/hexagons/latest/21/0/0.png?size=512")
            #expect(finest.width == 512)
        }
    }

    @Test("every header of a tile is as the interface says")
    func headers() async throws {
        try await withWorld(at: noon.advanced(by: 13), configured: ["skypath"]) { world in
            try await world.fetched("skypath", secondsAgo: 20)
            try await world.insert([try observation(try cell(10, 50))])
            for uri in ["/tiles/hexagons/latest/0/0/0.png", "/tiles/hexagons/latest/9/0/0.png"] {
                let response = try await world.get(uri)
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "image/png")
                #expect(response.headers[.contentLength] == String(response.body.readableBytes))
                #expect(response.headers[.cacheControl] == "public, max-age=47, stale-while-revalidate=5")
                #expect(response.header("X-Frame-Time") == "2026-11-21T12:00:13Z")
                #expect(response.header("X-Data-Time") == "2026-11-21T11:59:53Z")
                #expect(response.headers[.lastModified] == "Sat, 21 Nov 2026 12:00:13 GMT")
                #expect(response.header("X-Simulated") == nil)
                #expect(response.headers[.accessControlAllowOrigin] == "*")
                let exposed = response.header("Access-Control-Expose-Headers") ?? ""
                for name in ["ETag", "X-Frame-Time", "X-Data-Time", "X-Simulated", "Retry-After"] {
                    #expect(exposed.contains(name))
                }
                #expect(response.headers[.eTag]?.hasPrefix("\"") == true)
            }
        }
    }

    @Test("an answer is kept until the next minute by the clock, and hardly at all when the minute is over")
    func freshness() async throws {
        try await withWorld(at: noon.advanced(by: 13)) { world in
            for (seconds, kept) in [(0, 47), (30, 17), (16, 1), (2, 1)] {
                world.clock.advance(by: seconds)
                let response = try await world.get("/tiles/hexagons/latest/0/0/0.png")
                #expect(response.headers[.cacheControl] == "public, max-age=\(kept), stale-while-revalidate=5")
            }
            try await world.refresh()
            let response = try await world.get("/tiles/hexagons/latest/0/0/0.png")
            #expect(response.headers[.cacheControl] == "public, max-age=59, stale-while-revalidate=5")
        }
    }

    @Test("a fetch that brings nothing new moves the data's time, and nothing else")
    func fetchTimes() async throws {
        try await withWorld(at: noon.advanced(by: 13), configured: ["skypath"]) { world in
            try await world.fetched("skypath", secondsAgo: 20)
            try await world.insert([try observation(try cell(10, 50))])
            let before = try await world.get("/tiles/hexagons/latest/9/0/0.png")
            world.clock.advance(by: 10)
            try await world.fetched("skypath")
            try await world.refresh()
            let after = try await world.get("/tiles/hexagons/latest/9/0/0.png")
            #expect(before.header("X-Data-Time") == "2026-11-21T11:59:53Z")
            #expect(after.header("X-Data-Time") == "2026-11-21T12:00:23Z")
            #expect(before.header("X-Frame-Time") == after.header("X-Frame-Time"))
            #expect(before.headers[.eTag] == after.headers[.eTag])
        }
    }

    @Test("simulated data says so")
    func simulated() async throws {
        try await withWorld(simulated: true) { world in
            try await world.insert([try observation(try cell(10, 50))])
            #expect(try await world.get("/tiles/hexagons/latest/0/0/0.png").header("X-Simulated") == "true")
            #expect(try await world.get("/tiles/hexagons.json").header("X-Simulated") == "true")
            let tileJSON = try await world.json("/tiles/hexagons.json")
            #expect(tileJSON["attribution"]?.string?.contains("SIMULATED") == true)
            #expect(try await world.json("/collections/hexagons/items")["simulated"] == .bool(true))
            #expect(try await world.json("/status")["simulated"] == .bool(true))
            #expect(try await world.json("/legend.json")["simulated"] == .bool(true))
        }
    }

    @Test("the entity tag gives 304, and stays while what the tile shows stays")
    func entityTags() async throws {
        try await withWorld { world in
            let here = try cell(10, 50)
            try await world.insert([try observation(here)])
            let path = PixelPlace(H3.center(of: here), zoom: 8).path()
            let first = try await world.get(path)
            let tag = try first.headers[.eTag].orMissing("ETag")
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let response = try await world.get(path, [.ifNoneMatch: known])
                #expect(response.status == .notModified, "\(known)")
                #expect(response.body.readableBytes == 0)
                #expect(response.headers[.eTag] == tag)
                #expect(response.header("X-Frame-Time") != nil)
            }
            #expect(try await world.get(path, [.ifNoneMatch: "\"other\""]).status == .ok)

            // Something far away, a new version, a new minute: this tile shows the same.
            world.clock.advance(by: 61)
            try await world.insert([try observation(try cell(-120, -30), at: 30)])
            let second = try await world.get(path)
            #expect(second.headers[.eTag] == tag)
            #expect(second.body == first.body)
            #expect(second.header("X-Frame-Time") == "2026-11-21T12:01:01Z")

            try await world.insert([try observation(here, severity: .light, at: 40)])
            #expect(try await world.get(path).headers[.eTag] != tag)
            #expect(try await world.get(path, [.ifNoneMatch: tag]).status == .ok)
        }
    }

    @Test("an empty tile is one shared picture of its size, with one entity tag")
    func emptyTiles() async throws {
        try await withWorld { world in
            let before = try await world.get("/tiles/hexagons/latest/3/1/1.png")
            try await world.insert([try observation(try cell(10, 50))])
            let after = try await world.get("/tiles/hexagons/latest/5/0/0.png")
            #expect(before.body == after.body)
            #expect(before.headers[.eTag] == after.headers[.eTag])
            let large = try await world.get("/tiles/hexagons/latest/5/0/0@2x.png")
            #expect(large.headers[.eTag] != after.headers[.eTag])
            #expect(Array(buffer: after.body) == (try PNG.emptyTile(size: 256)))
        }
    }

    @Test("an instant is written in the basic form, with colons, or with encoded colons")
    func instants() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .light, at: -1_800)])
            for time in [
                "20261121T113500Z", "2026-11-21T11:35:00Z", "2026-11-21T11%3A35%3A00Z", "2026-11-21T12:35:00+01:00",
                "2026-11-21T12:35:00%2B01:00",
            ] {
                #expect(try await world.colour(cell, time) == Pixel.light, "\(time)")
                let response = try await world.get("/tiles/hexagons/\(time)/0/0/0.png")
                #expect(response.header("X-Frame-Time") == "2026-11-21T11:35:00Z")
            }
            #expect(try await world.colour(cell, "20261121T112900Z") == Pixel.none)
        }
    }

    @Test("an instant long past has the same pixels as when it was live")
    func archive() async throws {
        try await withWorld { world in
            let cells = try [cell(10, 50), cell(10.4, 50), cell(10.4, 50.3)]
            try await world.insert([
                try observation(cells[0], severity: .moderate, at: -600),
                try observation(cells[1], severity: .light, at: -7_000),
                try observation(cells[2], severity: .smooth, at: -60, source: "import"),
                try observation(cells[2], severity: .moderateSevere, at: -1_200, source: "import"),
            ])
            let path = PixelPlace(H3.center(of: cells[0]), zoom: 7)
            let live = try await world.get(path.path("latest"))
            #expect(try await world.get(path.path("20261121T120000Z")).body == live.body)
            // Three days on, with newer data at the same places.
            world.clock.advance(by: 3 * 86_400)
            try await world.insert([
                try observation(cells[0], severity: .smooth, at: 60), try observation(cells[0], at: 3 * 86_400 - 60),
            ])
            let past = try await world.get(path.path("20261121T120000Z"))
            #expect(past.body == live.body)
            #expect(past.headers[.eTag] == live.headers[.eTag])
            #expect(try await world.colour(cells[0], "20261121T120130Z") == Pixel.smooth)
            let features = try await world.json("/collections/hexagons/items?datetime=2026-11-21T12:00:00Z")
            #expect(features.features.count == 3)
        }
    }

    @Test("an import of a past beyond retention can be drawn")
    func importedPast() async throws {
        try await withWorld { world in
            let cell = try cell(-80, 26)
            let past = -120 * 86_400
            try await world.insert([try observation(cell, severity: .lightModerate, at: past, source: "import")])
            let instant = noon.advanced(by: past + 1_800).compact
            #expect(try await world.colour(cell, instant) == Pixel.lightModerate)
            #expect(try await world.colour(cell) == Pixel.none)
            let before = noon.advanced(by: past - 10).compact
            #expect(try await world.get("/tiles/hexagons/\(before)/0/0/0.png").status == .notFound)
        }
    }

    @Test("filters: history, severities, altitudes, sources, kinds, category")
    func filters() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([
                try observation(cell, altitude: 38, severity: .moderateSevere, at: -3_000, source: "skypath"),
                try observation(cell, altitude: 30, top: 33, severity: .moderate, at: -1_000, source: "import"),
                try observation(
                    cell, altitude: 10, severity: .light, at: -100, source: "awc", kind: .pilotReport),
                try observation(cell, altitude: 45, severity: nil, edr: 0.16, at: -10_000, source: "other"),
            ])
            let expected: [(String, String)] = [
                ("", Pixel.moderateSevere),
                ("?hours=0.5", Pixel.moderate),
                ("?hours=1", Pixel.moderateSevere),
                ("?severity=3", Pixel.moderate),
                ("?severity=light,moderate", Pixel.moderate),
                ("?severity=smooth", Pixel.none),
                ("?minSeverity=moderate-severe", Pixel.moderateSevere),
                ("?minSeverity=4&hours=0.5", Pixel.none),
                ("?severity=0,1,2&minSeverity=1", Pixel.light),
                ("?minAltitude=38000&maxAltitude=39000", Pixel.moderateSevere),
                ("?maxAltitude=38000", Pixel.moderate),
                ("?minAltitude=32000&maxAltitude=33000", Pixel.moderate),
                ("?minAltitude=33000&maxAltitude=38000", Pixel.moderate),
                ("?minAltitude=34000&maxAltitude=38000", Pixel.none),
                ("?maxAltitude=11000", Pixel.light),
                ("?source=awc", Pixel.light),
                ("?source=awc,import", Pixel.moderate),
                ("?source=nobody", Pixel.none),
                ("?kind=pilot-report", Pixel.light),
                ("?kind=in-situ,pilot-report", Pixel.moderateSevere),
                ("?source=other&hours=4", Pixel.lightModerate),
                ("?source=other&hours=4&category=C10", Pixel.lightModerate),
                ("?style=skypath", Pixel.moderateSevere),
                ("?unknown=1&hours=0.5", Pixel.moderate),
            ]
            for (query, colour) in expected {
                #expect(try await world.colour(cell, query: query) == colour, "\(query)")
            }
        }
    }

    @Test("opacity fades every colour; a style gives its own")
    func styles() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderateSevere)])
            #expect(try await world.colour(cell, query: "?opacity=0.5") == "255 0 0 102")
            #expect(try await world.colour(cell, query: "?opacity=1") == Pixel.moderateSevere)
            for id in try await world.json("/styles")["styles"]?.items.compactMap({ $0["id"]?.string }) ?? [] {
                let legend = try await world.json("/legend.json?style=\(id)")
                let rgba = legend["entries"]?[4]?["rgba"]?.items.compactMap(\.double)
                let expected = (rgba ?? []).map { String(Int($0)) }.joined(separator: " ")
                #expect(try await world.colour(cell, query: "?style=\(id)") == expected, "\(id)")
            }
        }
    }

    @Test("HEAD gives the headers of GET and no body")
    func head() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            let get = try await world.get("/tiles/hexagons/latest/0/0/0.png")
            let head = try await world.get("/tiles/hexagons/latest/0/0/0.png", method: .head)
            #expect(head.status == .ok)
            #expect(head.body.readableBytes == 0)
            for name in [HTTPField.Name.eTag, .contentType, .contentLength, .cacheControl] {
                #expect(head.headers[name] == get.headers[name])
            }
        }
    }

    // MARK: - TileJSON

    @Test("TileJSON names tiles that exist, and passes on what a tile understands")
    func tileJSON() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderate)])
            let response = try await world.get("/tiles/hexagons.json")
            #expect(response.headers[.contentType] == "application/json")
            let plain = try response.json
            #expect(plain["tilejson"] == .text("3.0.0"))
            #expect(plain["tileSize"] == .number(256))
            #expect(plain["minzoom"] == .number(0))
            #expect(plain["maxzoom"] == .number(14))
            let bounds = plain["bounds"]?.items.compactMap(\.double) ?? []
            #expect(bounds.count == 4 && bounds[0] < bounds[2] && bounds[1] < bounds[3])
            #expect(plain["tiles"]?[0] == .text("http://localhost/tiles/hexagons/latest/{z}/{x}/{y}.png"))
            #expect(plain["time"]?["extent"]?.items.count == 2)

            let double = try await world.json("/tiles/hexagons.json?size=512")
            #expect(double["tileSize"] == .number(512))
            #expect(double["maxzoom"] == .number(13))
            #expect(double["tiles"]?[0] == .text("http://localhost/tiles/hexagons/latest/{z}/{x}/{y}.png?size=512"))
            let resolutions = plain["billow"]?["resolutions"]?.items ?? []
            #expect(double["billow"]?["resolutions"]?.items == Array(resolutions.dropFirst()))

            let filtered = try await world.json(
                "/tiles/hexagons.json?hours=1&minAltitude=30000&maxAltitude=40000&minSeverity=2&style=night&junk=%22%3C"
            )
            let query = "hours=1&maxAltitude=40000&minAltitude=30000&minSeverity=2&style=night"
            #expect(
                filtered["tiles"]?[0] == .text("http://localhost/tiles/hexagons/latest/{z}/{x}/{y}.png?\(query)"))
            #expect(
                filtered["time"]?["template"]
                    == .text("http://localhost/tiles/hexagons/{time}/{z}/{x}/{y}.png?\(query)"))
            let pixel = PixelPlace(H3.center(of: cell), zoom: 8)
            let template = try filtered["tiles"]?[0]?.string.orMissing("template") ?? ""
            let uri = template.replacing("http://localhost", with: "").replacing("{z}", with: "\(pixel.z)")
                .replacing("{x}", with: "\(pixel.x)").replacing("{y}", with: "\(pixel.y)")
            #expect(try await world.picture(uri).pixels.contains { $0.alpha > 0 })
            for link in [plain["legend"]?.string, filtered["legend"]?.string] {
                let uri = try link.orMissing("legend").replacing("http://localhost", with: "")
                #expect(try await world.get(uri).headers[.contentType] == "image/png")
            }
            #expect(filtered["legend"]?.string?.contains("style=night") == true)
        }
    }

    @Test("TileJSON of an instant names its tiles, and a time outside retention is 404")
    func tileJSONOfAnInstant() async throws {
        try await withWorld { world in
            let response = try await world.get("/tiles/hexagons.json?time=2026-11-21T10:00:00Z&hours=1")
            #expect(response.header("X-Frame-Time") == "2026-11-21T10:00:00Z")
            #expect(
                try response.json["tiles"]?[0]
                    == .text("http://localhost/tiles/hexagons/20261121T100000Z/{z}/{x}/{y}.png?hours=1"))
            #expect(try await world.get("/tiles/hexagons.json?time=latest").header("X-Frame-Time") == noon.description)
            for (time, status) in [
                ("20200101T000000Z", HTTPResponse.Status.notFound), ("20271121T100000Z", .notFound),
                ("2026-11-21", .badRequest), ("now", .badRequest), ("", .badRequest),
            ] {
                let problem = try await world.json("/tiles/hexagons.json?time=\(time)", status: status)
                #expect(problem["parameter"] == .text("time"), "\(time)")
                #expect(problem["allowed"]?.string?.isEmpty == false)
            }
        }
    }

    @Test("redirects stay below the base path of the publicURL setting")
    func redirects() async throws {
        try await withWorld(publicURL: "https://billow.example/base/") { world in
            try await world.insert([try observation(try cell(10, 50))])
            let folder = try await world.get("/examples")
            #expect(folder.headers[.location] == "/base/examples/")
            let job = try await world.send(.post, "/export/hexagons.csv")
            #expect(job.headers[.location]?.hasPrefix("/base/jobs/") == true)
            let tile = try await world.get("/tiles/hexagons/20261121T120000Z/0/0/0.png?v=0&s=0123456789abcdef")
            #expect(tile.headers[.location].map { $0.hasPrefix("/base/tiles/") } ?? true)
        }
    }

    @Test("addresses follow the publicURL setting")
    func publicURL() async throws {
        try await withWorld(publicURL: "https://billow.example/base/") { world in
            let tileJSON = try await world.json("/tiles/hexagons.json")
            #expect(tileJSON["tiles"]?[0]?.string?.hasPrefix("https://billow.example/base/tiles/hexagons/") == true)
            try await world.insert([try observation(try cell(1, 1)), try observation(try cell(2, 2))])
            let page = try await world.json("/collections/hexagons/items?limit=1")
            #expect(
                page.link("next")?.hasPrefix("https://billow.example/base/collections/hexagons/items?") == true)
        }
    }
}
