import Datasets
import EngineTestSupport
import BillowRaster
import BillowSnapshot
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// Every answer is of one version of the log, whatever is committed meanwhile.
@Suite("One version an answer")
struct VersionTests {
    private static let yesterday = "2026-11-20T12:00:00Z"

    /// An observation of yesterday's noon, some seconds before.
    private func old(_ place: Cell, at seconds: Int = -60, source: String = "import", severity: Severity = .moderate)
        throws -> Observation
    {
        try observation(place, severity: severity, at: seconds - 86_400, source: source)
    }

    @Test("an archived instant requested between a commit and its publication has no row of it, nor later half of it")
    func betweenCommitAndPublication() async throws {
        try await withWorld { world in
            let (first, second) = (try cell(10, 50), try cell(12, 50))
            try await world.insert([try old(first)])
            let tile = PixelPlace(H3.center(of: second), zoom: 8)
            let items = "/collections/hexagons/items?datetime=\(Self.yesterday)"
            // Another connection registers a source and writes: this server hasn't published it.
            _ = try await world.store.register(try source("two"), merge: .replace, simulated: false)
            let before = try await world.store.head().version
            _ = try await world.store.commit(
                Batch(source: nil, observations: [try old(second, at: -70, source: "two", severity: .smooth)]))
            _ = try await world.store.commit(
                Batch(source: nil, observations: [try old(second, source: "two", severity: .light)]))
            for _ in 0..<2 {
                let answer = try await world.json(items)
                #expect(answer["version"]?.double == Double(before.rawValue))
                #expect(answer.features.count == 1)
                #expect(try await world.colour(second, Self.yesterday) == Pixel.none)
                let vector = "/tiles/hexagons/\(Self.yesterday)/\(tile.z)/\(tile.x)/\(tile.y).mvt"
                #expect(try await world.get(vector).status == .noContent)
            }
            try await world.refresh()
            #expect(try await world.json(items).features.count == 2)
            #expect(try await world.colour(second, Self.yesterday) == Pixel.light, "replaced by the source's rule")
            let records = try await world.json("\(items)&aggregate=false").features
            #expect(records.count == 2, "the smooth one was replaced")
        }
    }

    @Test("no part of an answer is of a version above the snapshot's, seen by every read of the store")
    func versionOfFrames() async throws {
        try await withWorld { world in
            try await world.insert([try old(try cell(10, 50))])
            let frames = world.application.frames
            let snapshot = try frames.snapshot()
            _ = try await world.store.commit(Batch(source: nil, observations: [try old(try cell(12, 50))]))
            let seen = FrameDependency.observed(
                .observations, at: try Instant(Self.yesterday).orMissing(), lookBackSeconds: 7_200)
            #expect(try await world.store.lastChange(of: seen) > snapshot.publication.version)
            #expect(try await frames.version(of: seen, in: snapshot) == snapshot.publication.version)
        }
    }

    @Test("the extent of a snapshot is that of its version")
    func extents() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            let extent = { try await world.json("/collections/hexagons")["extent"]?["temporal"]?["interval"] }
            let before = try await extent()
            // Ten days ago: the extent reaches back to it once it is published.
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    observations: [try observation(try cell(10, 50), at: -10 * 86_400, source: "import")]))
            #expect(try await extent() == before)
            #expect(try world.application.frames.snapshot().logExtent.observed?.lowerBound == noon.advanced(by: -60))
            try await world.refresh()
            #expect(try await extent() != before)
            #expect(
                try world.application.frames.snapshot().logExtent.oldest == noon.advanced(by: -10 * 86_400))
            #expect(
                try await world.json("/status")["oldestObservation"]?.string
                    == noon.advanced(by: -10 * 86_400).description)
        }
    }

    // MARK: - Features of the log

    @Test("observations are those of the version that the answer names, not of the head")
    func observationsAtTheVersion() async throws {
        try await withWorld { world in
            let place = try cell(10, 50)
            try await world.insert([
                try observation(id: "a", place, altitude: 30, source: "import"),
                try observation(id: "b", place, altitude: 31, source: "import"),
            ])
            let items = "/collections/observations/items"
            let version = try await world.json(items)["version"]?.double
            // Corrected and added, and not published yet.
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    observations: [
                        try observation(id: "a", place, altitude: 30, severity: .light, source: "import"),
                        try observation(id: "c", place, altitude: 32, source: "import"),
                    ]))
            let answer = try await world.json(items)
            #expect(answer["version"]?.double == version)
            #expect(Set(answer.features.compactMap { $0["id"]?.string }) == ["a", "b"])
            #expect(answer.features.allSatisfy { $0.property("severity")?.double == 3 })
            #expect(try await world.json("\(items)/a").property("severity")?.double == 3)
            #expect(try await world.get("\(items)/c").status == .notFound)
            let export = try await world.json("/export/observations.geojson")
            #expect(export.features.count == 2)
            try await world.refresh()
            #expect(try await world.json(items).features.count == 3)
            #expect(try await world.json("\(items)/a").property("severity")?.double == 1)
        }
    }

    @Test(
        "every page after the first is of the first one's version",
        arguments: [
            "/collections/observations/items?hours=2", "/collections/observations/items",
            "/collections/hexagons/items", "/collections/hexagons/items?aggregate=false",
            "/collections/pireps/items?hours=2", "/collections/polygons/items?hours=1",
            "/collections/hexagons/items?datetime=2026-11-20T11:50:00Z/2026-11-20T12:00:00Z",
            "/collections/observations/items?datetime=2026-11-20T11:50:00Z/2026-11-20T12:00:00Z",
        ])
    func pages(_ path: String) async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 2).sorted()
            func observations(_ severity: Severity, shift: Int) throws -> [Observation] {
                try cells.enumerated().flatMap { index, cell in
                    try [0, -86_400].map { day in
                        try observation(
                            id: "\(cell.h3String)\(day)", cell, severity: index % 2 == 0 ? severity : .light,
                            at: -100 + shift + day, source: "import")
                    }
                }
            }
            func reports(_ text: String) throws -> [PilotReport] {
                try (0..<5).map { number in
                    PilotReport(
                        id: "r\(number)", place: try place(10, 50), observedAt: noon.advanced(by: -100 - number),
                        type: "PIREP", aircraft: nil, altitudeFeet: nil, turbulence: [], text: text,
                        source: try source("awc"))
                }
            }
            try await world.insert(try observations(.moderate, shift: 0), reports: try reports("UA ONE"))
            let whole = try await world.json(path)
            let isOfAnInstant = path.contains("hours") || !path.contains("observations")
            let limit = path.contains("polygons") ? 1 : 2
            let separator = path.contains("?") ? "&" : "?"
            var page = try await world.json("\(path)\(separator)limit=\(limit)")
            var found = page.features
            var next = page.link("next")
            #expect(next != nil)
            var step = 0
            while let address = next {
                // Everything is corrected, and a minute passes, between any two pages.
                step += 1
                world.clock.advance(by: 60)
                try await world.insert(
                    try observations(step % 2 == 0 ? .moderate : .moderateSevere, shift: step % 7),
                    reports: try reports("UA \(step)"))
                page = try await world.json(address)
                #expect(page["version"] == whole["version"])
                if isOfAnInstant { #expect(page["time"] == whole["time"]) }
                found += page.features
                next = page.link("next")
            }
            #expect(found == whole.features)
        }
    }

    @Test("a later page has the data time of the first one, whatever was fetched meanwhile")
    func dataTimes() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 1).sorted()
            try await world.insert(try cells.map { try observation($0) })
            try await world.fetched("skypath")
            try await world.refresh()
            for collection in ["observations", "hexagons"] {
                let first = try await world.json("/collections/\(collection)/items?limit=2")
                let dataTime = try #require(first["dataTime"]?.string)
                world.clock.advance(by: 60)
                try await world.fetched("skypath")
                try await world.refresh()
                let fresh = try await world.json("/collections/\(collection)/items?limit=2")
                #expect(fresh["dataTime"]?.string != dataTime)
                var next = first.link("next")
                while let address = next {
                    let answer = try await world.get(address)
                    let page = try answer.json
                    #expect(page["dataTime"]?.string == dataTime && answer.header("X-Data-Time") == dataTime)
                    next = page.link("next")
                }
            }
        }
    }

    @Test("a page of a version that can't be read any more is 410; one of a version yet to be read here 503")
    func expired() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 2).sorted()
            try await world.insert(try cells.map { try observation($0, source: "import") })
            let first = try await world.json("/collections/observations/items?limit=2")
            let next = try #require(first.link("next"))
            try await world.restarted { second in
                #expect(try await second.get(next).status == .ok, "a version is the log's, not the server's")
                try await world.insert([try observation(try cell(12, 50), source: "import")])
                let ahead = try #require(
                    try await world.json("/collections/observations/items?limit=2").link("next"))
                let early = try await second.get(ahead)
                #expect(early.status == .serviceUnavailable)
                #expect(early.headers[.retryAfter] == "1")
                try await second.refresh()
                #expect(try await second.get(ahead).status == .ok)
            }
            let log = try await world.store.head().log
            for head in [
                Head(version: Version(rawValue: 999), log: log),
                Head(version: Version(rawValue: 1), log: "0123456789abcdef"),
            ] {
                let cursor = FeatureSource.Cursor(text: "o0000000000000001")
                let start = PageStart(head: head, cursor: cursor, dataTime: nil, of: [:]).text
                let gone = try await world.get("/collections/observations/items?after=\(start)")
                #expect(gone.status == .gone, "\(head)")
                #expect(try gone.json["code"]?.string == "version-expired")
            }
            // A start with another version, log, data time or feature is none that the server gave.
            let given = PageStart(
                head: try await world.store.head(), cursor: FeatureSource.Cursor(text: "o0000000000000001"),
                dataTime: noon, of: [:])
            #expect(try await world.get("/collections/observations/items?after=\(given.text)").status == .ok)
            var changed = [given, given, given, given]
            changed[0].head.version = .zero
            changed[1].head.log = "0123456789abcdef"
            changed[2].dataTime = noon.advanced(by: 1)
            changed[3].cursor = FeatureSource.Cursor(text: "o0000000000000002")
            for text in changed.map(\.text) + [
                "x", "1-\(log)-x", "-1-\(log)-o0000000000000001", "99999999999999999999-\(log)-x",
            ] {
                let bad = try await world.get("/collections/observations/items?after=\(text)")
                #expect(bad.status == .badRequest, "\(text)")
                #expect(try bad.json["parameter"]?.string == "after")
            }
            // A rule changes how all versions before it are drawn.
            _ = try await world.store.register(try source("import"), merge: .replace, simulated: false)
            try await world.refresh()
            #expect(try await world.get(next).status == .gone)
        }
    }

    @Test("the start of a page belongs to its filters; format, properties and limit may change")
    func selection() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 2).sorted()
            try await world.insert(try cells.map { try observation($0, source: "import") })
            for path in [
                "/collections/observations/items?hours=2&minSeverity=1", "/collections/hexagons/items?hours=2",
                "/collections/hexagons/items?bbox=0,40,20,60&severity=3",
                "/collections/observations/radius?coords=POINT(10 50)&within=900",
            ] {
                let address = path.replacing(" ", with: "%20")
                let next = try #require(try await world.json("\(address)&limit=2").link("next"))
                for change in ["limit=3", "f=geojson", "properties=severity"]
                where !next.contains("radius") || change != "f=csv" {
                    let name = change.prefix { $0 != "=" }
                    let other = next.replacing(/&limit=[0-9]+/, with: name == "limit" ? "" : "&limit=2") + "&\(change)"
                    #expect(try await world.get(other).status == .ok, "\(other)")
                }
                var others = [
                    next.replacing("hours=2", with: "hours=1"), next + "&source=import", next + "&minAltitude=1000",
                ]
                others += [
                    next.replacing(/datetime=[^&]*/, with: "datetime=2026-11-20T11:59:00Z"),
                    next.replacing("within=900", with: "within=800"),
                ]
                for other in others where other != next {
                    let answer = try await world.get(other)
                    #expect(answer.status == .badRequest, "\(other)")
                    #expect(try answer.json["parameter"]?.string == "after", "\(other)")
                }
            }
        }
    }

    // MARK: - Frames

    @Test("a trend looks back half an hour at the live edge too, and the frame's version covers that")
    func trends() async throws {
        try await withWorld { world in
            let place = try cell(10, 50)
            // The oldest live frame: 02:00 is where the live window begins, 9 hours before the hour.
            let edge = "2026-11-21T05:00:00Z"
            let instant = try Instant(edge).orMissing()
            let liveFrom = try world.application.frames.snapshot().liveFrom
            #expect(liveFrom == noon.advanced(by: -9 * 3_600))
            let seconds = instant.seconds - noon.seconds
            try await world.insert([
                try observation(place, altitude: 38, severity: .light, at: seconds - 60, source: "import"),
                try observation(
                    place, altitude: 38, severity: .moderateSevere, at: seconds - 7_200 - 600, source: "import"),
            ])
            for time in [edge, "2026-11-21T05:00:01Z", "2026-11-21T04:59:59Z"] {
                let items = try await world.json("/collections/hexagons/items?datetime=\(time)")
                #expect(items.features.first?.property("trend")?.string == "better", "\(time)")
            }
            // A late observation in the half hour before the history changes the trend, so the tile's address too.
            let tile = PixelPlace(H3.center(of: place), zoom: 8)
            func version() async throws -> String {
                let answer = try await world.get(
                    "/tiles/hexagons/\(edge)/\(tile.z)/\(tile.x)/\(tile.y).mvt?v=999999999")
                return try answer.headers[.location].orMissing()
            }
            let address = try await version()
            let bytes = try await world.get(address)
            #expect(bytes.header("cache-control")?.contains("immutable") == true)
            #expect(bytes.header("X-Incomplete") == nil)
            try await world.insert([
                try observation(
                    place, altitude: 39, severity: .light, at: seconds - 7_200 - 900, source: "import")
            ])
            #expect(try await version() != address)
            #expect(try await world.get(address).body == bytes.body, "the former frame")
        }
    }

    @Test("an address of a frame from before a source's rule changed leads on, and is never drawn by the new rule")
    func formerRules() async throws {
        try await withWorld { world in
            let place = try cell(10, 50)
            try await world.insert([
                try observation(place, severity: .moderate, at: -1_200, source: "import"),
                try observation(place, severity: .light, at: -600, source: "import"),
            ])
            func named() async throws -> String {
                let manifest = try await world.json("/timeline.json?start=-10m&end=now&intervals=2&layers=hexagons")
                let frame = manifest["layers"]?[0]?["frames"]?.items.last
                let tile = PixelPlace(H3.center(of: place), zoom: 8)
                return try frame?["tiles"]?.string.orMissing()
                    .replacing("{z}", with: "\(tile.z)").replacing("{x}", with: "\(tile.x)")
                    .replacing("{y}", with: "\(tile.y)") ?? ""
            }
            let address = try await named()
            let before = try await world.get(address)
            #expect(before.status == .ok)
            #expect(before.header("cache-control")?.contains("immutable") == true)
            _ = try await world.store.register(try source("import"), merge: .replace, simulated: false)
            try await world.refresh()
            let after = try await world.get(address)
            #expect(after.status == .temporaryRedirect)
            #expect(after.header("cache-control") == "no-store")
            let moved = try await world.get(try after.headers[.location].orMissing())
            #expect(moved.status == .ok)
            #expect(moved.body != before.body, "the rule matters here")
        }
    }

    @Test("after a deletion the log has another name, so old versions are not read")
    func deletedWhileServed() async throws {
        try await withWorld { world in
            try await world.insert([try old(try cell(10, 50))])
            let items = "/collections/observations/items?datetime=2026-11-20T00:00:00Z/.."
            #expect(try await world.json(items).features.count == 1)
            _ = try await world.store.prune(
                Pruning(before: noon.advanced(by: -3_600), changesPictures: true))
            for path in [items, "/tiles/hexagons/\(Self.yesterday)/0/0/0.png"] {
                let answer = try await world.get(path)
                #expect(answer.status == .serviceUnavailable, "\(path)")
                #expect(answer.headers[.retryAfter] == "1")
            }
            try await world.refresh()
            #expect(try await world.json(items).features.isEmpty)
        }
    }

    @Test("an animation that is kept doesn't go on saying FORECAST of a time that has passed")
    func forecastThatPassed() async throws {
        try await withWorld { world in
            let corners = try [(9.0, 49.5), (11, 49.5), (11, 50.5), (9, 50.5)].map { try place($0.0, $0.1) }
            let hazard = IssuedArea(
                collection: .hazards, id: "h", source: try source("awc"), kind: "sigmet", hazard: "TURB",
                severity: .moderate, altitudeMinFeet: 0, altitudeMaxFeet: 40_000,
                validFrom: noon.advanced(by: -3_600), validTo: noon.advanced(by: 7_200), text: "TURB",
                geometry: try MultiPolygon(outline: corners).orMissing())
            _ = try await world.store.commit(Batch(source: nil, areas: [hazard]))
            try await world.refresh()
            let path =
                "/animations/hazards.png?bbox=6,49,14,51&width=480&legend=false&intervals=2"
                + "&start=2026-11-21T12:10:00Z&end=2026-11-21T12:20:00Z"
            let ahead = try await world.get(path)
            #expect(ahead.status == .ok)
            world.clock.advance(by: 1_800)
            try await world.refresh()
            let passed = try await world.get(path)
            #expect(passed.status == .ok)
            #expect(passed.body != ahead.body)
            try await world.restarted { second in
                let fresh = try await second.get(path).body
                #expect(fresh == passed.body, "as a server draws it that never had it")
            }
        }
    }
}
