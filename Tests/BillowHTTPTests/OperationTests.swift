import EngineTestSupport
import BillowRaster
import BillowStore
import BillowSync
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing
import Turbulence
import JSONKit

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Operation over HTTP")
struct OperationTests {
    @Test("before the store is read, health is well and data is 503 with Retry-After")
    func beforeLoading() async throws {
        try await withWorld(load: false) { world in
            #expect(try await world.get("/healthz").status == .ok)
            let ready = try await world.get("/readyz")
            #expect(ready.status == .serviceUnavailable)
            #expect(try ready.json["status"] == .text("loading"))
            // A matching entity tag must not turn "not ready" into "not modified".
            #expect(try await world.get("/readyz", [.ifNoneMatch: "*"]).status == .serviceUnavailable)
            let status = try await world.json("/status")
            #expect(status["ready"] == .bool(false))
            #expect(status["version"] == nil)
            for uri in [
                "/tiles/hexagons/latest/0/0/0.png", "/tiles/hexagons.json", "/collections",
                "/collections/hexagons/items",
                "/export/hexagons.geojson", "/legend.json",
            ] {
                let response = try await world.get(uri)
                #expect(response.status == .serviceUnavailable, "\(uri)")
                #expect(response.headers[.retryAfter] == "1")
                #expect(try response.json["code"] == .text("starting"))
            }
            try await world.refresh()
            #expect(try await world.get("/readyz").status == .ok)
            #expect(try await world.get("/tiles/hexagons/latest/0/0/0.png").status == .ok)
        }
    }

    @Test("while draining, the server is not ready but still answers")
    func draining() async throws {
        try await withWorld { world in
            #expect(try await world.json("/readyz")["status"] == .text("ready"))
            world.application.readiness.drain()
            let ready = try await world.json("/readyz", status: .serviceUnavailable)
            #expect(ready["status"] == .text("draining"))
            #expect(try await world.json("/status")["draining"] == .bool(true))
            #expect(try await world.get("/healthz").status == .ok)
            #expect(try await world.get("/tiles/hexagons/latest/0/0/0.png").status == .ok)
        }
    }

    @Test("status reports the version, the extent, the cache and every source")
    func status() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.fetched("skypath", secondsAgo: 40, completeSince: noon.advanced(by: -7_200))
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, at: -100), try observation(cell, altitude: 20, at: -4_000)])
            let path = PixelPlace(H3.center(of: cell), zoom: 8).path()
            _ = try await world.get(path)
            _ = try await world.get(path)
            let response = try await world.get("/status")
            #expect(response.headers[.cacheControl] == "no-store")
            let status = try response.json
            #expect(status["version"] == .number(1))
            #expect(status["asOf"] == .text(noon.description))
            #expect(status["now"] == .text(noon.description))
            #expect(status["ready"] == .bool(true))
            #expect(status["stale"] == .bool(false))
            #expect(status["liveObservations"] == .number(2))
            #expect(status["oldestObservation"] == .text(noon.advanced(by: -4_000).description))
            #expect(status["newestObservation"] == .text(noon.advanced(by: -100).description))
            #expect(status["tileCache"]?["entries"] == .number(1))
            #expect(status["tileCache"]?["hits"] == .number(1))
            #expect(status["tileCache"]?["misses"] == .number(1))
            let sources = status["sources"]?.items ?? []
            #expect(Set(sources.compactMap { $0["id"]?.string }) == ["skypath", "other", "import", "awc"])
            let skypath = try sources.first { $0["id"] == .text("skypath") }.orMissing()
            #expect(skypath["lastSuccess"] == .text(noon.advanced(by: -40).description))
            #expect(skypath["ageSeconds"] == .number(40))
            #expect(skypath["completeSince"] == .text(noon.advanced(by: -7_200).description))
        }
    }

    // MARK: - Freshness

    @Test("stale follows the clock, and a new fetch ends it")
    func staleness() async throws {
        try await withWorld(configured: ["skypath"], staleAfterSeconds: 300) { world in
            func stale() async throws -> [JSON?] {
                [
                    try await world.json("/collections/hexagons/items")["stale"],
                    try await world.json("/tiles/hexagons.json")["billow"]?["stale"],
                    try await world.json("/readyz")["stale"], try await world.json("/status")["stale"],
                ]
            }
            try await world.fetched("skypath", secondsAgo: 1)
            try await world.insert([try observation(try cell(10, 50))])
            #expect(Set(try await stale()) == [.bool(false)])
            world.clock.advance(by: 299)
            try await world.refresh()
            #expect(Set(try await stale()) == [.bool(false)])
            world.clock.advance(by: 60)
            try await world.refresh()
            #expect(Set(try await stale()) == [.bool(true)])
            #expect(try await world.json("/legend.json")["notes"]?[0]?.string?.contains("Stale") == true)
            #expect(
                try await world.get("/tiles/hexagons/latest/0/0/0.png").header("X-Data-Time") == "2026-11-21T11:59:59Z")
            try await world.fetched("skypath")
            world.clock.advance(by: 60)
            try await world.refresh()
            #expect(Set(try await stale()) == [.bool(false)])
        }
    }

    @Test("a layer is as old as the quietest of its sources, and stale when all are silent")
    func severalSources() async throws {
        try await withWorld(configured: ["skypath", "other"]) { world in
            try await world.fetched("skypath", secondsAgo: 1_000)
            try await world.fetched("other", secondsAgo: 10)
            try await world.insert([try observation(try cell(10, 50))])
            let both = try await world.json("/collections/hexagons/items")
            #expect(both["dataTime"] == .text(noon.advanced(by: -1_000).description))
            #expect(both["stale"] == .bool(false))
            let quiet = try await world.json("/collections/hexagons/items?source=skypath")
            #expect(quiet["stale"] == .bool(true))
            let lively = try await world.json("/collections/hexagons/items?source=other")
            #expect(lively["dataTime"] == .text(noon.advanced(by: -10).description))
            #expect(lively["stale"] == .bool(false))
        }
    }

    @Test(
        "a configured source that was never fetched is stale, known to the store or not", arguments: ["skypath", "new"])
    func neverFetched(name: String) async throws {
        try await withWorld(configured: [name]) { world in
            try await world.insert([try observation(try cell(10, 50), source: "import")])
            let response = try await world.get("/collections/hexagons/items")
            #expect(try response.json["stale"] == .bool(true))
            #expect(try response.json["dataTime"] == .null)
            #expect(response.header("X-Data-Time") == nil)
            // What comes from a file alone is not fetched, and doesn't grow stale.
            #expect(try await world.json("/collections/hexagons/items?source=import")["stale"] == .bool(false))
        }
    }

    @Test("with nothing configured, stored data that once was fetched grows stale, and imports don't")
    func nothingConfigured() async throws {
        try await withWorld { world in
            #expect(try await world.json("/readyz")["stale"] == .bool(true), "nothing is known")
            try await world.insert([try observation(try cell(10, 50), source: "import")])
            #expect(try await world.json("/readyz")["stale"] == .bool(false))
            #expect(try await world.json("/collections/hexagons/items")["stale"] == .bool(false))
            try await world.fetched("skypath", secondsAgo: 400)
            try await world.insert([try observation(try cell(10, 50))])
            #expect(try await world.json("/collections/hexagons/items")["stale"] == .bool(true))
        }
    }

    @Test("a clock that jumps ahead and is put right leaves no picture of the future, and loses nothing")
    func clockJump() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderate)])
            world.clock.advance(by: 30 * 86_400)
            try await world.refresh()
            #expect(try await world.colour(cell) == Pixel.none)
            world.clock.advance(by: -30 * 86_400)
            try await world.refresh()
            let tile = try await world.get("/tiles/hexagons/latest/0/0/0.png")
            #expect(tile.header("X-Frame-Time") == noon.description)
            #expect(try await world.colour(cell) == Pixel.moderate)
            #expect(try await world.json("/status")["liveObservations"] == .number(1))
            // A small step back is followed as well.
            world.clock.advance(by: -70)
            try await world.refresh()
            #expect(try await world.json("/status")["asOf"] == .text(noon.advanced(by: -70).description))
            #expect(try await world.colour(cell) == Pixel.none)
        }
    }

    @Test("pictures age by the minute even when nothing arrives")
    func ageing() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, at: -1_770)])
            #expect(try await world.colour(cell, query: "?hours=0.5") == Pixel.moderate)
            world.clock.advance(by: 59)
            try await world.refresh()
            #expect(try await world.get("/status").json["asOf"] == .text(noon.description))
            world.clock.advance(by: 1)
            try await world.refresh()
            #expect(try await world.colour(cell, query: "?hours=0.5") == Pixel.none)
            #expect(try await world.colour(cell) == Pixel.moderate)
        }
    }

    // MARK: - Legend, styles, files

    @Test("the legend as JSON, PNG and SVG")
    func legend() async throws {
        try await withWorld { world in
            let json = try await world.json("/legend.json")
            #expect(json["style"] == .text("skypath"))
            let labels = json["entries"]?.items.compactMap { $0["label"]?.string }
            #expect(labels == ["Smooth", "Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe"])
            let rgba = json["entries"]?.items.map {
                $0["rgba"]?.items.compactMap(\.double).map { String(Int($0)) } ?? []
            }
            #expect(rgba?.map { $0.joined(separator: " ") } == Pixel.bySeverity)
            #expect(json["entries"]?[0]?["border"]?["colour"] == .text("#898989"))

            var sizes: [Int] = []
            for scale in 1...3 { sizes.append(try await world.picture("/legend.png?scale=\(scale)").width) }
            #expect(sizes[1] == sizes[0] * 2 && sizes[2] == sizes[0] * 3)
            let tall = try await world.picture("/legend.png")
            let wide = try await world.picture("/legend.png?orientation=horizontal&theme=dark")
            #expect(wide.width > tall.width && wide.height < tall.height)
            let response = try await world.get("/legend.png")
            let tag = try response.headers[.eTag].orMissing()
            #expect(try await world.get("/legend.png", [.ifNoneMatch: tag]).status == .notModified)
            #expect(response.headers[.cacheControl] == "no-cache")
            let svg = try await world.get("/legend.svg?style=night")
            #expect(svg.headers[.contentType] == "image/svg+xml")
            #expect(svg.text.contains("Moderate-Occasionally Severe"))
            #expect(try await world.json("/legend.json?minSeverity=3")["entries"]?.items.count == 2)
        }
    }

    @Test("legends, and the time on a map, say what a picture was restricted to")
    func restrictions() async throws {
        try await withWorld { world in
            func note(_ query: String) async throws -> String? {
                // There may also be a note that sources without data are stale.
                try await world.json("/legend.json?\(query)")["notes"]?.items.compactMap(\.string)
                    .first { $0.hasPrefix("Shown") }
            }
            #expect(try await note("layer=hexagons&hours=2&minSeverity=0&category=C60") == nil)
            #expect(
                try await note("minAltitude=30000&maxAltitude=41000&hours=0.5&minSeverity=light&category=C20")
                    == "Shown: FL300–FL410 · last 30 min · light or worse · C20")
            #expect(
                try await note("minAltitude=9000&severity=0,4") == "Shown: above 9,000 ft · smooth, moderate-severe")
            #expect(try await note("maxAltitude=24000&severity=moderate") == "Shown: below FL240 · moderate")
            #expect(try await note("source=b,a&kind=in-situ") == "Shown: in-situ · a, b")
            #expect(try await note("source=a,b,c,d,e") == "Shown: 5 sources")
            #expect(try await note("layer=hazards&hours=6") == nil, "areas are of no history")

            let region = "/maps/hexagons.png?bbox=9,49,11,51&width=400"
            for furniture in ["timestamp", "legend"] {
                let whole = try await world.get("\(region)&\(furniture)=true")
                #expect(try await world.get("\(region)&\(furniture)=true&minAltitude=30000").body != whole.body)
            }
            let tiles = try await world.json("/tiles/hexagons.json?minAltitude=30000")
            #expect(tiles["legend"]?.string?.hasSuffix("?layer=hexagons&style=skypath&minAltitude=30000") == true)
        }
    }

    @Test("the viewer's files have their types, are revalidated, and are nothing but files of its folder")
    func files() async throws {
        try await withWorld { world in
            let expected = [
                ("/", "text/html"), ("/index.html", "text/html"), ("/viewer.js", "text/javascript"),
                ("/viewer.css", "text/css"), ("/icon.svg", "image/svg+xml"), ("/js/view.js", "text/javascript"),
            ]
            for (uri, type) in expected {
                let response = try await world.get(uri)
                #expect(response.status == .ok, "\(uri)")
                #expect(response.headers[.contentType]?.hasPrefix(type) == true, "\(uri)")
                #expect(response.headers[.cacheControl] == "no-cache")
                let tag = try response.headers[.eTag].orMissing()
                #expect(try await world.get(uri, [.ifNoneMatch: tag]).status == .notModified)
                #expect(try await world.get(uri, method: .head).body.readableBytes == 0)
            }
        }
    }

    @Test("/status is the page status.html for a browser, and JSON for programs and with f=json")
    func statusPage() async throws {
        let page = "text/html,application/xhtml+xml,*/*;q=0.8"
        try await withWorld(configured: ["skypath"]) { world in
            let answer = try await world.get("/status", [.accept: page])
            #expect(answer.status == .ok && answer.headers[.contentType] == "text/html; charset=utf-8")
            #expect(answer.headers[.vary]?.contains("Accept") == true && answer.text.contains("js/status-page.js"))
            #expect(answer.headers[.contentSecurityPolicy]?.contains("style-src 'self';") == true)
            for (uri, accept) in [("/status", "application/json"), ("/status", "*/*"), ("/status?f=json", page)] {
                let answer = try await world.get(uri, [.accept: accept])
                #expect(answer.headers[.contentType] == "application/json")
                #expect(answer.headers[.cacheControl]?.contains("no-store") == true)
                #expect(answer.headers[.vary]?.hasPrefix("Accept") == true)
            }
        }
    }

    @Test("a file that ends in .geojson is application/geo+json")
    func mediaTypes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("{}".utf8).write(to: folder.appending(path: "land.geojson"))
        let store = try await SQLiteStore.temporary()
        let application = try BillowApplication(
            BillowApplication.Configuration(
                host: "127.0.0.1", port: 0, publicURL: nil, publicFolder: folder.path, retentionSeconds: 86_400,
                freshness: FreshnessSettings(staleAfterSeconds: 300, feeds: [:]), severityTable: SeverityTable()),
            store: store, control: store,
            styles: try StyleLibrary(folder: World.repository.appending(path: "Styles").path), states: SourceStates(),
            now: { noon }, logger: World.quiet())
        try await Application(router: application.router(), logger: World.quiet()).test(.router) { client in
            let response = try await client.executeRequest(uri: "/land.geojson", method: .get, headers: [:], body: nil)
            #expect(response.headers[.contentType] == "application/geo+json")
        }
    }
}
