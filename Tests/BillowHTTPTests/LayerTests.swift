import Datasets
import EngineTestSupport
import BillowRaster
import BillowStore
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Layers over HTTP")
struct LayerTests {
    private static func report(_ id: String, _ severity: Severity, secondsAgo: Int = 60) throws -> PilotReport {
        PilotReport(
            id: id, place: try place(10, 50), observedAt: noon.advanced(by: -secondsAgo), type: "PIREP",
            aircraft: "B738",
            altitudeFeet: 35_000,
            turbulence: [
                TurbulenceGroup(
                    severity: severity, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
            ], text: "UA", source: try source("awc"))
    }

    private static func area(_ collection: IssuedArea.DatasetNumber, kind: String) throws -> IssuedArea {
        IssuedArea(
            collection: collection, id: "a", source: try source("awc"), kind: kind, hazard: "TURB",
            validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 7_200),
            geometry: try MultiPolygon(
                outline: [try place(8, 48), try place(12, 48), try place(12, 52), try place(8, 52)]
            ).orMissing())
    }

    private static func position(_ secondsAgo: Int = 30, longitude: Double = 10) throws -> AircraftPosition {
        AircraftPosition(
            icao24: try ICAO24("3c6444").orMissing(), callsign: "DLH1", place: try place(longitude, 50),
            source: try source("awc"), observedAt: noon.advanced(by: -secondsAgo), altitudeFeet: 36_000,
            headingDegrees: 90)
    }

    private func colour(_ world: World, _ layers: String, query: String = "") async throws -> StraightColour {
        let pixel = PixelPlace(try place(10, 50), zoom: 6)
        let uri = "/tiles/\(layers)/latest/\(pixel.z)/\(pixel.x)/\(pixel.y).png\(query)"
        return try await world.picture(uri)[pixel.column, pixel.row].orMissing()
    }

    @Test("every layer is drawn from what the store has, and nothing else is")
    func every() async throws {
        try await withWorld { world in
            for layer in ["turbulence", "hexagons", "polygons", "pireps", "hazards", "forecast", "traffic", "tracks"] {
                #expect(try await colour(world, layer).alpha == 0, "\(layer) of an empty store")
            }
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [try observation(try cell(10, 50))],
                    pilotReports: [try Self.report("r", .moderate)],
                    areas: [try Self.area(.hazards, kind: "sigmet"), try Self.area(.forecast, kind: "nowcast")],
                    positions: try (1...9).map { try Self.position($0 * 60, longitude: 10.8 - Double($0) * 0.2) }))
            try await world.refresh()
            for layer in ["turbulence", "hexagons", "polygons", "pireps", "hazards", "forecast", "tracks"] {
                #expect(try await colour(world, layer).alpha > 0, "\(layer)")
            }
            let pixel = PixelPlace(try place(10.6, 50), zoom: 6)
            let picture = try await world.picture("/tiles/traffic/latest/\(pixel.z)/\(pixel.x)/\(pixel.y).png")
            #expect(try picture[pixel.column, pixel.row].orMissing().alpha == 255)
        }
    }

    @Test("the filters hold for every layer: an altitude that nothing is at leaves nothing")
    func filters() async throws {
        try await withWorld { world in
            _ = try await world.store.commit(
                Batch(
                    source: nil, pilotReports: [try Self.report("r", .moderate)], positions: [try Self.position(10)]))
            try await world.refresh()
            let empty = try await world.get("/tiles/hexagons/latest/0/0/0.png")
            for query in ["minAltitude=50000", "source=nobody"] {
                let tile = try await world.get("/tiles/pireps,traffic/latest/0/0/0.png?\(query)")
                #expect(tile.body == empty.body, "\(query)")
            }
            let severe = try await world.get("/tiles/pireps/latest/0/0/0.png?minSeverity=4")
            #expect(severe.body == empty.body)
        }
    }

    @Test("a tile's tag stays while other layers change, and an empty layer adds nothing")
    func tags() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            func tag(_ layers: String) async throws -> String {
                try await world.get("/tiles/\(layers)/latest/0/0/0.png").headers[.eTag].orMissing("ETag")
            }
            let before = try await tag("hexagons")
            #expect(try await tag("hexagons,traffic") == before)
            _ = try await world.store.commit(Batch(source: nil, positions: [try Self.position(10)]))
            try await world.refresh()
            #expect(try await tag("hexagons") == before)
            #expect(try await tag("hexagons,traffic") != before)
            let moved = try await tag("hexagons,traffic")
            #expect(try await tag("traffic,hexagons") != moved)
        }
    }

    @Test("an area is drawn at the instants at which it holds, also long after")
    func validity() async throws {
        try await withWorld { world in
            _ = try await world.store.commit(Batch(source: nil, areas: [try Self.area(.hazards, kind: "gairmet")]))
            try await world.refresh()
            func isShown(_ time: String) async throws -> Bool {
                let pixel = PixelPlace(try place(10, 50), zoom: 6)
                let uri = "/tiles/hazards/\(time)/\(pixel.z)/\(pixel.x)/\(pixel.y).png"
                return try await world.picture(uri)[pixel.column, pixel.row].orMissing().alpha > 0
            }
            #expect(try await isShown("latest"))
            #expect(try await !isShown("20261121T114900Z"))
            // It holds for two hours more: a map and a tile of then show it, of later there is neither.
            #expect(try await isShown("20261121T135900Z"))
            let map = "/maps/hazards.png?bbox=8,48,12,52&width=100&time=2026-11-21T"
            #expect(try await world.picture("\(map)13:59:00Z")[50, 50].orMissing().alpha > 0)
            #expect(try await world.get("\(map)14:01:00Z").status == .notFound)
            world.clock.advance(by: 40 * 3_600)
            try await world.refresh()
            #expect(try await !isShown("latest"))
            #expect(try await isShown("20261121T120000Z"))
        }
    }

    @Test("a map has the size that is requested, and shows its box; one side brings the other")
    func maps() async throws {
        try await withWorld { world in
            try await world.insert(
                [try observation(try cell(10, 50))], reports: [try Self.report("r", .moderateSevere)])
            let map = try await world.picture("/maps/hexagons,pireps.png?bbox=9,49,11,51&width=300&height=200")
            #expect(map.width == 300 && map.height == 200)
            #expect(try map[150, 100].orMissing().alpha == 255)
            let wide = try await world.picture("/maps/hexagons.png?bbox=0,40,20,60&width=100")
            #expect(wide.width == 100 && wide.height > 120)
            let tall = try await world.picture("/maps/hexagons.png?bbox=0,40,20,60&height=\(wide.height)")
            #expect(abs(tall.width - 100) <= 1)
            let world0 = try await world.picture("/maps/hexagons.png")
            #expect(world0.width == 1_024 && world0.height == 1_024)
        }
    }

    @Test("legend, time and scale bar are drawn where they are requested")
    func furniture() async throws {
        try await withWorld(simulated: true) { world in
            try await world.insert([try observation(try cell(10, 50))])
            let plain = try await world.get("/maps/hexagons.png?bbox=9,49,11,51&width=300&height=300")
            for (flag, corner) in [("timestamp", (14, 14)), ("legend", (30, 280)), ("scalebar", (280, 280))] {
                let uri = "/maps/hexagons.png?bbox=9,49,11,51&width=300&height=300&\(flag)=true"
                let picture = try await world.picture(uri)
                #expect(try picture[corner.0, corner.1].orMissing().alpha > 200, "\(flag)")
                #expect(try await world.get(uri).body != plain.body)
                #expect(try await world.get("\(uri)&\(flag)=false").status == .badRequest)
            }
        }
    }

    @Test("a map is drawn once: its tag stays while nothing in it changes, and the same again is not drawn")
    func mapTags() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            let uri = "/maps/hexagons,pireps.png?bbox=9,49,11,51&width=300"
            let tag = try await world.get(uri).headers[.eTag].orMissing()
            world.clock.advance(by: 60)
            try await world.insert([], reports: [])
            #expect(try await world.get(uri, [.ifNoneMatch: tag]).status == .notModified)
            for other in ["&scalebar=true", "&style=night", "&timestamp=true", "&height=301", "&opacity=0.5"] {
                #expect(try await world.get(uri + other).headers[.eTag] != tag, "\(other)")
            }
            let cache = try await world.json("/status")["mapCache"].orMissing()
            _ = try await world.get(uri)
            let after = try await world.json("/status")["mapCache"].orMissing()
            #expect(after["misses"] == cache["misses"] && after["hits"] != cache["hits"])
        }
    }

    @Test("a box without an area, and a parameter with two values, are refused")
    func unusableMaps() async throws {
        try await withWorld { world in
            for query in ["bbox=0,0,0,0", "bbox=5,1,5,2", "bbox=1,5,2,5", "bbox=180,0,-180,1", "hours=2&hours=4"] {
                let refused = try await world.get("/maps/hexagons.png?\(query)")
                #expect(refused.status == .badRequest, "\(query)")
            }
            let repeated = try await world.get("/tiles/hexagons/latest/0/0/0.png?x=1&x=2&hours=2&hours=2")
            #expect(repeated.status == .ok)
        }
    }

    @Test("a composed tile is an indexed PNG that decodes at its scale")
    func composed() async throws {
        try await withWorld { world in
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [try observation(try cell(10, 50))],
                    pilotReports: [try Self.report("r", .light)], areas: [try Self.area(.hazards, kind: "sigmet")]))
            try await world.refresh()
            let pixel = PixelPlace(try place(10, 50), zoom: 6)
            for (suffix, side) in [("", 256), ("@2x", 512), ("@3x", 768)] {
                let uri = "/tiles/turbulence,hazards,pireps/latest/6/\(pixel.x)/\(pixel.y)\(suffix).png"
                #expect(try await world.picture(uri).width == side)
                // Colour type 3.
                let png = try await world.get(uri).body
                #expect(png.getInteger(at: png.readerIndex + 25, as: UInt8.self) == 3)
                let again = try await world.get(uri, [.ifNoneMatch: "*"])
                #expect(again.status == .notModified)
            }
        }
    }
}
