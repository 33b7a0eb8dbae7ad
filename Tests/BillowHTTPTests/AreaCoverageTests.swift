import BillowSnapshot
import BillowStore
import BillowTiles
import Datasets
import EngineTestSupport
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

/// Data that a source doesn't request isn't known to be empty.
@Suite("Coverage by area")
struct AreaCoverageTests {
    private static func ring(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaRing {
        try AreaRing(
            [(west, south), (east, south), (east, north), (west, north), (west, south)].map {
                try LonLat(longitude: $0.0, latitude: $0.1).orMissing("place")
            })
    }

    private static func region(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws
        -> GeographicRegion
    {
        .box(try BoundingBox(west: west, south: south, east: east, north: north).orMissing("box"))
    }

    private static func area(_ ring: AreaRing?, since: Int, until: Int? = nil) -> CoveredArea {
        CoveredArea(
            kind: .observations, ring: ring, since: noon.advanced(by: since),
            until: until.map { noon.advanced(by: $0) })
    }

    private static func asked(
        _ areas: [CoveredArea], since: Instant = .distantPast, until: Int = 300, service: String = "skypath"
    ) -> Coverage.Source {
        Coverage.Source(since: since, until: noon.advanced(by: until), service: service, areas: areas)
    }

    private static func coverage(_ sources: [Coverage.Source]) -> Coverage {
        .fetched(
            Coverage.Span(
                storedSince: .distantPast, retainedSince: noon.advanced(by: -86_400), now: noon, sources: sources))
    }

    // MARK: - The rule

    enum RequestedAreas: String, Sendable, CaseIterable {
        case world, spain, movedToAmerica, viewportEnded, bothSources, worldAndSpain, worldAndNewSpain, nothingNow
        case spainAndReportsOfTheWorld, spainAndReportsOfAmerica

        func sources() throws -> [Coverage.Source] {
            let (spain, america) = (try ring(-12, 40, 0, 50), try ring(-100, 30, -70, 50))
            return switch self {
            case .world: [asked([area(nil, since: -20_000)])]
            case .spain: [asked([area(spain, since: -20_000)])]
            case .movedToAmerica:
                [asked([area(spain, since: -20_000, until: -7_200), area(america, since: -10_800)])]
            case .viewportEnded: [asked([area(spain, since: -20_000), area(america, since: -20_000, until: -3_600)])]
            case .bothSources: [asked([area(spain, since: -20_000)]), asked([area(america, since: -20_000)])]
            case .worldAndSpain: [asked([area(nil, since: -20_000)]), asked([area(spain, since: -20_000)])]
            // The second source requested Spain only now.
            case .worldAndNewSpain: [asked([], since: .distantPast), asked([area(spain, since: -1_800)])]
            case .nothingNow: [asked([area(spain, since: -20_000, until: -3_600)])]
            case .spainAndReportsOfTheWorld:
                [asked([area(spain, since: -20_000)]), asked([], service: "aviationweather")]
            case .spainAndReportsOfAmerica:
                [
                    asked([area(spain, since: -20_000)]),
                    asked([area(america, since: -20_000)], service: "aviationweather"),
                ]
            }
        }

        /// Whether pictures of a history of an hour are complete now and three hours ago. They are of a place in Spain,
        /// one in America, one in Asia, a box that reaches out of Spain, and the world.
        var complete: (now: String, before: String) {
            switch self {
            case .world: ("sauxw", "sauxw")
            case .spain: ("s", "s")
            case .movedToAmerica: ("a", "s")
            case .viewportEnded: ("s", "sa")
            case .bothSources: ("sa", "sa")
            case .worldAndSpain: ("sauxw", "sauxw")
            case .worldAndNewSpain: ("au", "sauxw")
            case .nothingNow: ("", "s")
            // Reports don't replace hexagons that were never requested.
            case .spainAndReportsOfTheWorld: ("s", "s")
            case .spainAndReportsOfAmerica: ("", "")
            }
        }
    }

    @Test("a picture is complete where and while its region was requested", arguments: RequestedAreas.allCases)
    func table(asked: RequestedAreas) throws {
        let regions: [(Character, GeographicRegion)] = [
            ("s", try Self.region(-10, 42, -2, 48)), ("a", try Self.region(-90, 35, -80, 45)),
            ("u", try Self.region(60, 30, 70, 40)), ("x", try Self.region(-10, 42, 5, 48)), ("w", .everywhere),
        ]
        let coverage = Self.coverage(try asked.sources())
        func complete(at seconds: Int) -> String {
            String(
                regions.filter { coverage.covers(noon.advanced(by: seconds), lookBackSeconds: 3_600, $0.1) }.map(\.0))
        }
        #expect(complete(at: 0) == asked.complete.now)
        #expect(complete(at: -10_800) == asked.complete.before)
    }

    @Test("a smaller region never becomes incomplete, and a larger one never complete", arguments: 1...100)
    func monotonous(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        var sources: [Coverage.Source] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            var areas: [CoveredArea] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let (x, y) = (number(-170...100), number(-60...20))
                let ring =
                    Bool.random(using: &random)
                    ? nil : try Self.ring(x, y, x + number(5...70), y + number(5...60))
                let since = Int.random(in: -20_000...0, using: &random)
                let until = Bool.random(using: &random) ? nil : Int.random(in: since...0, using: &random)
                areas.append(Self.area(ring, since: since, until: until))
            }
            sources.append(Self.asked(areas, until: Int.random(in: -3_600...300, using: &random)))
        }
        let coverage = Self.coverage(sources)
        for _ in 0..<200 {
            let (x, y) = (number(-150...150), number(-60...60))
            let instant = noon.advanced(by: Int.random(in: -12_000...0, using: &random))
            let back = Int.random(in: 0...7_200, using: &random)
            var wasComplete = true
            for size in [0.01, 1, 5, 15] {
                let region = try Self.region(x - 2 * size, y - size, x + 2 * size, y + size)
                let isComplete = coverage.covers(instant, lookBackSeconds: back, region)
                #expect(wasComplete || !isComplete)
                wasComplete = isComplete
            }
            #expect(wasComplete || !coverage.covers(instant, lookBackSeconds: back, .everywhere))
        }
    }

    // MARK: - Answers

    /// A corridor over Spain that was fetched for three hours.
    private func withCorridor(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld(feeds: ["skypath": [.observations]]) { world in
            try await world.insert([try observation(try cell(-5, 45))])
            try await ask(world, [try Self.ring(-12, 40, 0, 50)], since: -10_800)
            try await test(world)
        }
    }

    private func ask(_ world: World, _ rings: [AreaRing?], since: Int, lastFetch: Int? = nil) async throws {
        _ = try await world.store.commit(
            Batch(
                source: try source("skypath"),
                coverage: [
                    CoverageChange(
                        kind: .observations, part: "corridor", rings: rings, since: noon.advanced(by: since),
                        at: world.clock.now, isContinued: false, lastFetch: lastFetch.map { noon.advanced(by: $0) })
                ], fetchedAt: world.clock.now, completeSince: noon.advanced(by: since)))
        try await world.refresh()
    }

    private func isIncomplete(_ world: World, _ address: String) async throws -> Bool {
        let response = try await world.get(address)
        #expect([.ok, .noContent].contains(response.status), "\(address)")
        return response.header("X-Incomplete") == "true"
    }

    @Test("answers about an area that is not requested say that they are incomplete")
    func answers() async throws {
        try await withCorridor { world in
            let inside = PixelPlace(try place(-5, 45), zoom: 7).path("NOW").replacing(".png", with: "")
            let outside = PixelPlace(try place(-90, 40), zoom: 7).path("NOW").replacing(".png", with: "")
            for (inside, outside) in [
                (inside + ".png", outside + ".png"), (inside + "@2x.png", "/tiles/hexagons/NOW/0/0/0.png"),
                (inside + ".mvt", outside + ".mvt"),
                ("/maps/hexagons.png?width=100&time=NOW&bbox=-10,42,-2,48", "/maps/hexagons.png?width=100&time=NOW"),
                ("/maps/hexagons.png?width=100&bbox=-10,42,-2,48", "/maps/hexagons.png?width=100&bbox=-100,30,-70,50"),
                ("/collections/hexagons/items?bbox=-11,41,-1,49&time=NOW", "/collections/hexagons/items?time=NOW"),
                ("/collections/hexagons/items?bbox=-11,41,-1,49", "/collections/hexagons/items?bbox=-100,30,-70,50"),
                ("/changes/hexagons?bbox=-11,41,-1,49", "/changes/hexagons?bbox=-100,30,-70,50"),
                ("/export/hexagons.csv?bbox=-11,41,-1,49", "/export/hexagons.csv"),
                (
                    "/profiles.json?route=45N010W%2045N002W&width=50", "/profiles.json?route=40N090W%2040N080W&width=50"
                ),
            ] {
                let time = noon.compact
                #expect(try await !isIncomplete(world, inside.replacing("NOW", with: time)), "\(inside)")
                #expect(try await isIncomplete(world, outside.replacing("NOW", with: time)), "\(outside)")
            }
            let items = try await world.json("/collections/hexagons/items?bbox=-100,30,-70,50")
            #expect(items["incomplete"]?.bool == true && items["features"]?.items.isEmpty == true)
            for (place, isIncomplete) in [("-6, 45", false), ("-90, 40", true)] {
                let body = #"{"position": [\#(place)], "altitude": 36000, "track": 90, "speed": 450, "distance": 100}"#
                let alert = try await world.post("/alerts", body)
                #expect(alert["incomplete"]?.bool == isIncomplete)
                #expect((alert["completeSince"]?.string == nil) == isIncomplete)
            }
            // Whole pictures are of the world.
            for address in [
                "/tiles/hexagons.json", "/timeline.json?layers=hexagons", "/legend.svg?layer=hexagons",
            ] {
                #expect(try await isIncomplete(world, address), "\(address)")
            }
            let timeline = try await world.json("/timeline.json?layers=hexagons")
            #expect(timeline["layers"]?.items.first?["incomplete"]?.bool == true)
            let legend = String(buffer: try await world.get("/legend.svg?layer=hexagons").body)
            #expect(legend.contains("not all of the area"))
            #expect(try await world.json("/readyz")["layers"]?["hexagons"]?["incomplete"]?.bool == true)
        }
    }

    @Test("an area that is no longer requested is incomplete from then on, and complete before")
    func moved() async throws {
        try await withCorridor { world in
            let spain = "/collections/hexagons/items?bbox=-11,41,-1,49"
            let america = "/collections/hexagons/items?bbox=-99,31,-71,49"
            #expect(try await !isIncomplete(world, spain))
            world.clock.advance(by: 60)
            try await ask(world, [try Self.ring(-100, 30, -70, 50)], since: -7_140, lastFetch: 30)
            #expect(try await isIncomplete(world, spain))
            #expect(try await !isIncomplete(world, america))
            let time = "&time=" + noon.description
            #expect(try await !isIncomplete(world, spain + time))
            #expect(try await isIncomplete(world, america + time))
            let later = "&time=" + noon.advanced(by: 45).description
            #expect(try await isIncomplete(world, spain + later))
            // The pictures of before are kept for ever, under the same address.
            let tile = PixelPlace(try place(-5, 45), zoom: 7)
            let frames = world.application.frames
            let version = try await frames.frameVersion(
                of: [.hexagons], at: noon, filter: Filter(), in: frames.snapshot())
            for (time, isKept) in [(noon, true), (noon.advanced(by: 45), false)] {
                let answer = try await world.get(tile.path(time.compact, query: world.revision(version)))
                #expect(answer.status == .ok)
                #expect(answer.headers[.cacheControl]?.contains("immutable") == isKept)
            }
        }
    }

    @Test("data requested for the whole world is never marked incomplete")
    func world() async throws {
        try await withWorld(feeds: ["skypath": [.observations]]) { world in
            try await world.insert([try observation(try cell(-5, 45))])
            try await ask(world, [nil], since: -10_800)
            for address in [
                "/tiles/hexagons/latest/0/0/0.png", "/tiles/hexagons/latest/7/1/2.png", "/maps/hexagons.png?width=100",
                "/collections/hexagons/items", "/tiles/hexagons.json", "/legend.svg?layer=hexagons",
            ] { #expect(try await !isIncomplete(world, address), "\(address)") }
            let body = #"{"position": [-90, 40], "altitude": 36000, "track": 90}"#
            #expect(try await world.post("/alerts", body)["incomplete"]?.bool == false)
        }
    }
}
