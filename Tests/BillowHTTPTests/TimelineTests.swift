import EngineTestSupport
import BillowSnapshot
import BillowTiles
import BillowStore
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters
@testable import BillowRaster

extension World {
    /// The frames of the hexagons in a manifest.
    fileprivate func frames(_ query: String = "") async throws -> [(time: String, v: Int, tiles: String)] {
        let layer = try await layer(query)
        return try (layer["frames"]?.items ?? []).map {
            ($0["time"]?.string ?? "", Int(try $0["v"]?.double.orMissing() ?? -1), $0["tiles"]?.string ?? "")
        }
    }

    fileprivate func layer(_ query: String = "") async throws -> JSON {
        let manifest = try await json("/timeline.json\(query)")
        return try manifest["layers"]?.items.first { $0["id"]?.string == "hexagons" }.orMissing("hexagons") ?? .null
    }

    /// A tile of a frame's template, around a cell.
    fileprivate func tile(_ template: String, at cell: Cell) -> String {
        let pixel = PixelPlace(H3.center(of: cell), zoom: 8)
        return template.replacing(/^http:\/\/[^\/]*/, with: "").replacing("{z}", with: "8")
            .replacing("{x}", with: "\(pixel.x)").replacing("{y}", with: "\(pixel.y)")
    }
}

@Suite("The timeline over HTTP")
struct TimelineTests {
    @Test("the default manifest begins at its start, continues at round times and ends live, and has the state of each")
    func manifest() async throws {
        try await withWorld(at: noon.advanced(by: 7 * 60 + 5), configured: ["skypath"]) { world in
            try await world.fetched("skypath", secondsAgo: 20)
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            let manifest = try await world.json("/timeline.json")
            #expect(manifest["start"]?.string == "2026-11-21T10:07:00Z")
            #expect(manifest["end"]?.string == "2026-11-21T12:07:00Z")
            #expect(manifest["generated"]?.string == "2026-11-21T12:07:05Z")
            #expect(manifest["advice"] == nil)
            let layer = try await world.layer()
            #expect(layer["animates"]?.bool == true)
            #expect(layer["stale"]?.bool == false)
            #expect(layer["dataTime"]?.string == "2026-11-21T12:06:45Z")
            #expect(layer["timeProperty"]?.string == "observedAt")
            let times = (layer["times"]?.items ?? []).compactMap(\.string)
            #expect(times.count == 13)
            #expect(times.prefix(2) == ["2026-11-21T10:07:00Z", "2026-11-21T10:20:00Z"])
            let live = (layer["frames"]?.items ?? []).map { $0["live"]?.bool ?? false }
            #expect(live == Array(repeating: false, count: 12) + [true])
            #expect(times.suffix(2) == ["2026-11-21T12:00:00Z", "2026-11-21T12:07:00Z"])
            let frames = try await world.frames()
            #expect(frames.map(\.time) == times)
            #expect(frames.dropLast(2).allSatisfy { $0.v == 0 } && frames.suffix(2).allSatisfy { $0.v == 1 })
            #expect(layer["tiles"]?[0]?.string?.hasSuffix("/tiles/hexagons/{time}/{z}/{x}/{y}.png") == true)
            #expect(frames.last?.tiles.contains("/tiles/hexagons/20261121T120700Z/{z}/{x}/{y}.png?v=1&s=") == true)
        }
    }

    @Test("a frame's picture may be kept for ever, under the version that it has")
    func immutable() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderate, at: -660)])
            let frame = try await world.frames().last.orMissing()
            let answer = try await world.get(world.tile(frame.tiles, at: cell))
            #expect(answer.status == .ok)
            // As long as retention keeps what it shows.
            #expect(answer.headers[.cacheControl] == "public, max-age=604800, immutable")
            #expect(try await world.colour(cell, "20261121T120000Z", query: "?v=\(frame.v)") == Pixel.moderate)
            // A version alone names neither the log nor the style: a restored log counts the same versions again.
            for ending in ["png", "mvt"] {
                let tile = world.tile(frame.tiles, at: cell).replacing(".png", with: ".\(ending)")
                let bare = try #require(tile.split(separator: "&s=").first)
                let unnamed = try await world.get(String(bare))
                #expect(unnamed.status == .ok)
                #expect(unnamed.headers[.cacheControl]?.contains("immutable") == false, "\(bare)")
            }
        }
    }

    @Test("data of now changes the first and the live frame and leaves the others their addresses")
    func unchanged() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50), at: -5_000)])
            let before = try await world.frames()
            world.clock.advance(by: 60)
            try await world.insert([try observation(try cell(11, 50), at: 30)])
            let after = try await world.frames()
            #expect(Set(after.map(\.tiles)).subtracting(before.map(\.tiles)).count == 2)
            #expect(after.last?.v == 2)
        }
    }

    @Test("after a correction a frame's former version still answers; an unknown version redirects to the current one")
    func former() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(id: "a", cell, severity: .light, at: -660)])
            let before = try await world.frames().last.orMissing()
            try await world.insert([try observation(id: "a", cell, severity: .moderateSevere, at: -660)])
            try await world.insert([try observation(try EngineTestSupport.cell(40, 50), at: -30_000)])
            let after = try await world.frames().last.orMissing()
            #expect(before.v == 1 && after.v == 2)
            let time = "20261121T120000Z"
            #expect(try await world.colour(cell, time, query: "?v=1") == Pixel.light)
            #expect(try await world.colour(cell, time, query: "?v=2") == Pixel.moderateSevere)
            #expect(try await world.colour(cell, time, query: "?v=0") == Pixel.none)
            // What a superseded version lacks, and whether it was complete, can't be told by what is known now.
            for (version, isCurrent) in [(0, false), (1, false), (2, true)] {
                let tile = world.tile(after.tiles, at: cell).replacing("v=2", with: "v=\(version)")
                for address in [tile, tile.replacing(".png", with: ".mvt")] {
                    let answer = try await world.get(address)
                    #expect(answer.headers[.cacheControl]?.contains("immutable") == isCurrent, "\(address)")
                    #expect((answer.header("X-Incomplete") == nil) == isCurrent, "\(address)")
                    #expect(isCurrent || answer.header("X-Data-Time") == nil, "\(address)")
                    #expect((answer.headers[.lastModified] != nil) == isCurrent, "\(address)")
                }
            }
            #expect(try await world.colour(cell, time) == Pixel.moderateSevere)
            for wrong in [3, 999_999] {
                let tile = world.tile(after.tiles, at: cell).replacing("v=2", with: "hours=4&v=\(wrong)")
                let answer = try await world.get(tile)
                #expect(answer.status == .temporaryRedirect)
                #expect(answer.headers[.cacheControl] == "no-store")
                let location = try answer.headers[.location].orMissing("location")
                #expect(location.hasPrefix("/tiles/hexagons/20261121T120000Z/8/") && location.hasSuffix("&v=2"))
                #expect(location.contains("?hours=4&s="))
                #expect(try await world.get(location).status == .ok)
            }
        }
    }

    @Test("an archived frame has versions too, and its pictures stay what they were")
    func archived() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            let day = 86_400
            try await world.insert([try observation(id: "a", cell, severity: .light, at: -2 * day - 60)])
            try await world.insert([try observation(try EngineTestSupport.cell(40, 50), at: -60)])
            let query = "?start=-P2D&end=2026-11-19T12:10:00Z&intervals=2"
            let before = try await world.frames(query)
            #expect(before.map(\.v) == [1, 1])
            try await world.insert([try observation(id: "a", cell, severity: .moderate, at: -2 * day - 60)])
            #expect(try await world.frames(query).map(\.v) == [3, 3])
            #expect(try await world.colour(cell, "20261119T120000Z", query: "?v=1") == Pixel.light)
            #expect(try await world.colour(cell, "20261119T120000Z", query: "?v=3") == Pixel.moderate)
            #expect(try await world.colour(cell, "20261119T120000Z") == Pixel.moderate)
            let answer = try await world.get("/tiles/hexagons/20261119T120000Z/0/0/0.png?v=2")
            #expect(answer.headers[.location]?.hasSuffix("&v=3") == true)
        }
    }

    @Test("frames that reach beyond the layer are left out, and the spacing stays that of what was asked")
    func beyond() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            let layer = try await world.layer("?start=-4d&end=%2B4d&intervals=9")
            #expect(
                (layer["times"]?.items ?? []).compactMap(\.string).map { $0.prefix(10) } == [
                    "2026-11-17", "2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21",
                ])
            let early = try await world.layer("?start=2026-11-10T12:00:00Z&end=2026-11-15T12:00:00Z&intervals=6")
            #expect(
                (early["times"]?.items ?? []).compactMap(\.string).map { $0.prefix(10) } == [
                    "2026-11-14", "2026-11-15",
                ])
        }
    }

    @Test("filters and style go into the frames' addresses, other parameters don't")
    func passedOn() async throws {
        try await withWorld { world in
            let frames = try await world.frames("?hours=4&minSeverity=3&style=night&foo=1&intervals=2")
            #expect(
                frames.first?.tiles.contains(/\.png\?v=0&s=[0-9a-f]{16}&hours=4&minSeverity=3&style=night$/) == true)
        }
    }

    @Test("going to a time names the frame that is shown then, by each rule")
    func seek() async throws {
        try await withWorld { world in
            func shown(_ rule: String) async throws -> String? {
                try await world.layer("?intervals=3&time=2026-11-21T11:40:00Z\(rule)")["shown"]?.string
            }
            #expect(try await shown("") == "2026-11-21T11:00:00Z")
            #expect(try await shown("&rule=nearest") == "2026-11-21T12:00:00Z")
            #expect(try await shown("&rule=exact") == nil)
            let hourAgo = try await world.layer("?time=-1h")
            #expect(hourAgo["shown"]?.string == "2026-11-21T11:00:00Z")
        }
    }

    @Test("frames of any span can lie on round times, so that they stay what they are")
    func anchored() async throws {
        try await withWorld(at: noon.advanced(by: 7 * 60)) { world in
            let times = try await world.frames("?start=-6h&end=now&intervals=19&anchor=true").map(\.time)
            #expect(times.count == 19 && times.last == "2026-11-21T12:07:00Z")
            #expect(times.dropLast().last == "2026-11-21T12:00:00Z" && times.first == "2026-11-21T06:07:00Z")
            let drifting = try await world.frames("?start=-6h&end=now&intervals=19").map(\.time)
            #expect(drifting.first == "2026-11-21T06:07:00Z")
        }
    }

    @Test("an instant that no instant can be is refused with the range that can")
    func range() async throws {
        try await withWorld { world in
            let answer = try await world.get("/timeline.json?start=1900-01-01T00:00:00Z&end=1900-01-02T00:00:00Z")
            #expect(answer.status == .badRequest)
            #expect(String(buffer: answer.body).contains("must be from 1970-01-01T00:00:00Z to 2105-12-31T23:59:59Z"))
        }
    }

    @Test("frames that look back to before the log is complete say so, in the manifest and on pictures")
    func incomplete() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.fetched("skypath", completeSince: noon.advanced(by: -10_800))
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            let layer = try await world.layer("?start=-2h&intervals=3")
            #expect(layer["completeSince"]?.string == "2026-11-21T09:00:00Z")
            #expect((layer["frames"]?.items ?? []).map { $0["incomplete"]?.bool ?? false } == [true, false, false])
            let hazards = try await world.json("/timeline.json?start=-2h&layers=hazards")["layers"]?[0]
            #expect(hazards?["frames"]?.items.allSatisfy { $0["incomplete"] == nil } == true)
            func caption(_ layer: Dataset, at seconds: Int) throws -> [String] {
                let snapshot = try world.application.frames.snapshot()
                return world.application.policy.dataStatus(
                    LayerList(layer), at: noon.advanced(by: seconds), filter: Filter(), in: snapshot
                ).caption(Filter(), historySeconds: 0, asOf: noon)
            }
            #expect(try caption(.hexagons, at: -3_601) == ["2026-11-21 10:59:59 UTC", "INCOMPLETE"])
            #expect(try caption(.hexagons, at: -3_600).count == 1)
            #expect(try caption(.hazards, at: -3_601).count == 1)
        }
    }

    @Test(
        "pictures of hazards and traffic from before they were fetched, or of an outage, say that they are incomplete")
    func neverFetched() async throws {
        try await withWorld(feeds: ["awc": [.hazards, .positions]]) { world in
            func fetch(_ kinds: Set<FeedKind>, minutesAgo: Int) async throws {
                let at = noon.advanced(by: -60 * minutesAgo)
                let times = Dictionary(uniqueKeysWithValues: kinds.map { ($0, at) })
                _ = try await world.store.commit(
                    Batch(source: try source("awc"), fetchedAt: at, fetchedKinds: times))
                try await world.refresh()
            }
            func marked(_ layer: String) async throws -> [Bool] {
                let json = try await world.json("/timeline.json?start=-2h&intervals=5&layers=\(layer)")
                return (json["layers"]?[0]?["frames"]?.items ?? []).map { $0["incomplete"]?.bool ?? false }
            }
            try await fetch([.hazards, .positions], minutesAgo: 75)
            try await fetch([.hazards, .positions], minutesAgo: 60)
            // Traffic is away for three quarters of an hour.
            try await fetch([.hazards], minutesAgo: 30)
            try await fetch([.hazards, .positions], minutesAgo: 15)
            try await fetch([.hazards, .positions], minutesAgo: 0)
            #expect(try await marked("traffic") == [true, true, true, true, false])
            // Hazards' frames lie at their changes: the range's begin alone, two hours ago.
            #expect(try await marked("hazards") == [true])
            let page = try await world.json("/collections/traffic/items?datetime=2026-11-21T11:30:00Z")
            #expect(page["completeSince"]?.string == "2026-11-21T11:45:00Z")
        }
    }

    @Test("an anchored manifest whose end lies ahead has a live frame, as the last of what doesn't reach ahead")
    func liveAhead() async throws {
        try await withWorld(at: noon.advanced(by: 7 * 60 + 5)) { world in
            let layer = try await world.layer("?start=-3h&end=%2B3h&anchor=true")
            let last = try (layer["frames"]?.items.last).orMissing()
            #expect(last["time"]?.string == "2026-11-21T12:07:00Z")
            #expect(last["live"]?.bool == true && last["forecast"] == nil)
            #expect(layer["frames"]?[0]?["time"]?.string == "2026-11-21T09:07:00Z")
        }
    }

    @Test("tracks animate: each frame shows where aircraft had come from until then")
    func tracks() async throws {
        try await withWorld { world in
            let positions = try (0..<60).map { minute in
                AircraftPosition(
                    icao24: try ICAO24("3c6444").orMissing(), place: try place(8 + Double(minute) * 0.2, 50),
                    source: try source("awc"), observedAt: noon.advanced(by: (minute - 59) * 60), headingDegrees: 90)
            }
            _ = try await world.store.commit(Batch(source: nil, positions: positions))
            try await world.refresh()
            let manifest = try await world.json("/timeline.json?layers=tracks&start=-30m&intervals=7")
            let layer = try (manifest["layers"]?[0]).orMissing()
            #expect(layer["animates"]?.bool == true)
            let frames = layer["frames"]?.items ?? []
            #expect(frames.count == 7)
            var pictures = Set<[UInt8]>()
            for frame in frames {
                let address = try frame["tiles"]?.string.orMissing() ?? ""
                let path = address.replacing(/^http:\/\/[^\/]*/, with: "").replacing("{z}/{x}/{y}", with: "4/8/5")
                let answer = try await world.get(path)
                #expect(answer.status == .ok)
                pictures.insert(Array(buffer: answer.body))
            }
            #expect(pictures.count == 7)
        }
    }

    @Test("twenty-one frames come with advice")
    func advice() async throws {
        try await withWorld { world in
            let manifest = try await world.json("/timeline.json?intervals=21")
            #expect(manifest["advice"]?.string?.contains("20 or fewer") == true)
        }
    }

    @Test("clients of RainViewer's interface find frames whose paths give tiles")
    func weatherMaps() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderate, at: -660)])
            let maps = try await world.json("/public/weather-maps.json")
            #expect(maps["version"]?.string == "2.0")
            #expect(maps["generated"]?.double == Double(noon.seconds))
            let past = maps["radar"]?["past"]?.items ?? []
            #expect(past.count == 13)
            #expect(past.last?["time"]?.double == Double(noon.seconds))
            #expect(maps["radar"]?["nowcast"]?.items == [])
            #expect(maps["satellite"] == nil, "the example page waits for its first frame for ever")
            let path = try past.last?["path"]?.string.orMissing() ?? ""
            let pixel = PixelPlace(H3.center(of: cell), zoom: 8)
            let one = try await world.picture("\(path)/256/8/\(pixel.x)/\(pixel.y)/2/1_1.png")
            #expect(
                one.width == 256
                    && one[pixel.column, pixel.row] == StraightColour(red: 255, green: 113, blue: 0, alpha: 204))
            let two = try await world.picture("\(path)/512/8/\(pixel.x)/\(pixel.y)/2/1_1.png")
            #expect(two.width == 512)
            #expect(try await world.get("\(path)/1024/8/0/0/2/1_1.png").status == .badRequest)
            #expect(try await world.get("/v2/radar/nonsense/256/8/0/0/2/1_1.png").status == .notFound)
        }
    }

    @Test("frames of cells are counted where that is requested, as their features are")
    func counts() async throws {
        try await withWorld { world in
            let severities: [Severity] = [.smooth, .light, .moderate, .moderateSevere, .moderate]
            try await world.insert(
                try severities.enumerated().map { index, severity in
                    try observation(try cell(Double(index) * 5, 50), severity: severity, at: -60 - index * 1_500)
                })
            let path = "/timeline.json?layers=hexagons,hazards&start=-2h&intervals=5&hours=1"
            #expect(try await world.json(path)["layers"]?[0]?["moderateOrWorse"] == nil)
            let layers = try await world.json(path + "&counts=true")["layers"]
            #expect(layers?[1]?["moderateOrWorse"] == nil)
            let counts = (layers?[0]?["moderateOrWorse"]?.items ?? []).compactMap(\.integer)
            let times = (layers?[0]?["times"]?.items ?? []).compactMap(\.string)
            #expect(counts.count == times.count && counts.contains { $0 > 0 })
            for (time, count) in zip(times, counts) {
                let page = try await world.json("/collections/hexagons/items?time=\(time)&hours=1&minSeverity=3")
                #expect(page.features.count == count, "\(time)")
            }
            let light = try await world.json(path + "&counts=true&severity=1")["layers"]?[0]?["moderateOrWorse"]
            #expect(light?.items.allSatisfy { $0 == .number(0) } == true)
        }
    }

    @Test(
        "an invalid timeline is rejected with parameter and range",
        arguments: [
            ("start=now", "start", "before the end"), ("start=-1h&end=-2h", "end", "after the start"),
            ("intervals=0", "intervals", "from 1 to 500"), ("intervals=-1", "intervals", "from 1 to 500"),
            ("intervals=10000", "intervals", "from 1 to 500"), ("intervals=1.5", "intervals", "from 1 to 500"),
            ("start=-3650d", "start", "P366D"), ("start=-P1M", "start", "no months"), ("end=P1Y", "end", "no months"),
            ("start=2016-12-31T23:59:60Z", "start", "zone"), ("start=2026-11-21T10:00:00", "start", "zone"),
            ("start=yesterday", "start", "now"), ("layers=clouds", "layers", "hexagons"),
            ("layers=", "layers", "hexagons"),
            ("layers=hexagons,hexagons", "layers", "each once"), ("hours=3", "hours", "0.5"),
            ("style=neon", "style", "skypath"), ("time=-3h", "time", "from 2026-11-21T10:00:00Z"),
            ("time=%2B1s", "time", "to 2026-11-21T12:00:00Z"), ("time=x", "time", "zone"),
            ("rule=best", "rule", "nearest"),
            ("anchor=yes", "anchor", "true"),
        ])
    func refused(query: String, parameter: String, allowed: String) async throws {
        try await withWorld { world in
            let problem = try await world.json("/timeline.json?\(query)", status: .badRequest)
            #expect(problem["parameter"]?.string == parameter)
            #expect(problem["allowed"]?.string?.contains(allowed) == true, "\(problem)")
        }
    }

    @Test("a frame's address names the picture's appearance, and redirects when that has changed")
    func look() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderate, at: -660)])
            let before = world.tile(try await world.frames().last.orMissing().tiles, at: cell)
            #expect(try await world.get(before).headers[.cacheControl]?.hasSuffix("immutable") == true)
            let original = world.application.styles.current
            world.application.styles.replace(by: try Self.styles { $0.replacing("#FF7100", with: "#0000FF") })
            let moved = try await world.get(before)
            #expect(moved.status == .temporaryRedirect && moved.headers[.cacheControl] == "no-store")
            let after = world.tile(try await world.frames().last.orMissing().tiles, at: cell)
            #expect(after != before)
            let place = PixelPlace(H3.center(of: cell), zoom: 8)
            let picture = try await world.picture(try moved.headers[.location].orMissing("location"))
            #expect(try picture[place.column, place.row].orMissing().blue == 255)
            #expect(try await world.picture(after).pixels == picture.pixels)
            // What it looked like once is what it looks like again.
            world.application.styles.replace(by: original)
            #expect(try await world.get(before).status == .ok)
            // Another style has another render key; an invalid key is rejected.
            #expect(try await world.get("\(before)&style=night").status == .temporaryRedirect)
            let problem = try await world.json(
                "/tiles/hexagons/20261121T120000Z/0/0/0.png?v=0&s=abc", status: .badRequest)
            #expect(problem["parameter"]?.string == "s")
        }
    }

    /// The styles of the repository with other content.
    private static func styles(_ change: (String) -> String) throws -> StyleLibrary {
        let folder = FileManager.default.temporaryDirectory.appending(path: "styles-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: World.repository.appending(path: "Styles"), to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "skypath.json")
        try change(String(contentsOf: file, encoding: .utf8)).write(to: file, atomically: true, encoding: .utf8)
        return try StyleLibrary(folder: folder.path)
    }

    @Test("styles that differ in their theme alone draw missing data in other colours, and have other names")
    func themes() async throws {
        try await withWorld { world in
            _ = try await world.store.commit(
                Batch(
                    source: source("awc"), fields: [try TestField.draft(run: noon, on: TestField.grid())],
                    fetchedAt: noon))
            try await world.refresh()
            let marks = MarkColours.keys.map { "\"\($0.name)\": \"#14181D\"" }.joined(separator: ", ")
            let styles = try Theme.allCases.map { theme in
                try Self.styles { text in
                    text.replacing("\"theme\": \"light\",", with: "\"theme\": \"\(theme)\", \"marks\": {\(marks)},")
                }
            }
            // Places around the field have no data.
            let address = "/tiles/gtg/20261121T120000Z/3/2/3.png"
            var colours: [Set<String>] = []
            var tags: Set<String?> = []
            for style in styles {
                world.application.styles.replace(by: style)
                let picture = try await world.picture(address)
                colours.append(Set(picture.pixels.filter { $0.alpha > 0 }.map(\.hexadecimal)))
                tags.insert(try await world.get(address).headers[.eTag])
            }
            #expect(colours[0] != colours[1])
            #expect(tags.count == 2)
            let keys = styles.map {
                RenderKey(log: "a", style: $0.default, severityTable: SeverityTable(), trafficDropSeconds: 180)
            }
            #expect(keys[0] != keys[1])
        }
    }

    @Test("an appearance is the same for the same log and settings, and another if any of them differs")
    func looks() throws {
        let styles = try StyleLibrary(folder: World.repository.appending(path: "Styles").path)
        func look(
            log: String = "a", _ style: Style? = nil, light: Double = 0.1, drop: Int = 180
        ) throws -> RenderKey {
            let thresholds = SeverityThresholds(
                light: try EDR(light).orMissing(), lightModerate: try EDR(0.15).orMissing(),
                moderate: try EDR(0.2).orMissing(), moderateSevere: try EDR(0.45).orMissing())
            return RenderKey(
                log: log, style: style ?? styles.default,
                severityTable: SeverityTable([.default: try thresholds.orMissing()]), trafficDropSeconds: drop)
        }
        let all = try [
            look(), look(log: "b"), look(styles["night"].orMissing()), look(styles.default.faded(by: 0.5)),
            look(light: 0.11), look(drop: 60),
        ]
        #expect(Set(all).count == all.count)
        #expect(try look() == look())
        #expect(
            RenderKey(
                log: "a", style: styles.default, severityTable: SeverityTable(), trafficDropSeconds: 180)
                == all[0], "the table's defaults, said or not")
        #expect(RenderKey(all[0].description) == all[0])
    }

    @Test("a former version of traffic and tracks shows who was known then, before and after a restart")
    func formerTraffic() async throws {
        try await withWorld { world in
            func position(_ longitude: Double, at seconds: Int) throws -> AircraftPosition {
                AircraftPosition(
                    icao24: try ICAO24("3c6444").orMissing(), place: try place(longitude, 50),
                    source: try source("awc"), observedAt: noon.advanced(by: seconds), headingDegrees: 90)
            }
            func insert(_ positions: [AircraftPosition]) async throws {
                _ = try await world.store.commit(Batch(source: nil, positions: positions))
                try await world.refresh()
            }
            @Sendable func tags(_ version: Int, of world: World) async throws -> [String?] {
                var tags: [String?] = []
                for layer in ["traffic", "tracks"] {
                    let answer = try await world.get("/tiles/\(layer)/20261121T120000Z/4/8/5.png?v=\(version)")
                    #expect(answer.status == .ok)
                    tags.append(answer.headers[.eTag])
                }
                return tags
            }
            try await insert([position(8, at: -120), position(9, at: -60)])
            let first = try await tags(1, of: world)
            try await insert([position(10, at: -30)])
            #expect(try await tags(1, of: world) == first)
            let second = try await tags(2, of: world)
            #expect(zip(first, second).allSatisfy { $0 != $1 })
            // Nothing is remembered in another process; it answers the same.
            try await world.restarted { other in
                let again = try await [tags(1, of: other), tags(2, of: other)]
                #expect(again == [first, second])
            }
        }
    }

    @Test("what an operator deletes is gone from the pictures of a running server, and their addresses lead on")
    func pruned() async throws {
        try await withWorld { world in
            let (wrong, right) = (try cell(10, 50), try cell(10.5, 50))
            try await world.insert([
                try observation(wrong, severity: .moderateSevere, at: -661, source: "import"),
                try observation(right, severity: .light, at: -660),
            ])
            let before = world.tile(try await world.frames().last.orMissing().tiles, at: wrong)
            #expect(try await world.colour(wrong) == Pixel.moderateSevere)
            _ = try await world.store.prune(
                Pruning(before: noon, sources: [try source("import")], changesPictures: true))
            try await world.refresh()
            #expect(try await world.colour(wrong) == Pixel.none)
            #expect(try await world.colour(right) == Pixel.light)
            #expect(try await world.colour(wrong, "20261121T120000Z") == Pixel.none)
            #expect(try await world.get(before).status == .temporaryRedirect)
            #expect(try await world.frames().last.orMissing().v == 2)
        }
    }

    @Test("a version that ceased to be a frame's is answered for a day and more, and leads on once its rows are gone")
    func ceased() async throws {
        try await withWorld { world in
            let (cell, other) = (try cell(10, 50), try EngineTestSupport.cell(40, 50))
            let day = 86_400
            try await world.insert([try observation(id: "a", cell, severity: .light, at: -660, source: "import")])
            let tile = world.tile(try await world.frames().last.orMissing().tiles, at: cell)
            let before = try await world.get(tile)
            #expect(before.status == .ok && tile.contains("v=1&s="))
            // It ceases to be: another value, and a row of the same frame that stays.
            try await world.insert([
                try observation(id: "a", cell, severity: .moderateSevere, at: -660, source: "import"),
                try observation(other, at: -700),
            ])
            for seconds in [0, day - 1, day, 6 * day] {
                world.clock.advance(by: seconds - (world.clock.now.seconds - noon.seconds))
                try await Retention(
                    store: world.store, lifetimes: DataLifetimes(retentionSeconds: 7 * day), now: { world.clock.now },
                    logger: World.quiet()
                ).prune()
                try await world.refresh()
                try await world.restarted { server in
                    for world in [world, server] {
                        let answer = try await world.get(tile)
                        #expect(answer.status == .ok && answer.body == before.body, "\(seconds) s")
                        #expect(answer.headers[.eTag] == before.headers[.eTag])
                    }
                }
            }
            _ = try await world.store.prune(
                Pruning(before: noon, sources: [try source("import")], changesPictures: true))
            try await world.refresh()
            let after = try await world.get(tile)
            #expect(after.status == .temporaryRedirect)
            let location = try after.headers[.location].orMissing("location")
            #expect(location.contains("v=3"))
            #expect(try await world.get(location).status == .ok)
        }
    }

    @Test("a version that is no number is refused", arguments: ["", "x", "-1", "1e3", "01", "99999999999999999999"])
    func wrongVersion(text: String) async throws {
        try await withWorld { world in
            let problem = try await world.json(
                "/tiles/hexagons/20261121T120000Z/0/0/0.png?v=\(text)", status: .badRequest)
            #expect(problem["parameter"]?.string == "v")
        }
    }
}
