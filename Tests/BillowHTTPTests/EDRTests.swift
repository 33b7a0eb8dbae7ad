import BillowFields
import BillowStore
import Datasets
import EngineTestSupport
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

@Suite("OGC API EDR")
struct EDRTests {
    // MARK: - Features

    @Test("a radius has what lies within the distance in every unit, across the antimeridian and around a pole")
    func radius() async throws {
        try await withWorld { world in
            for (spot, longitude) in [((10.0, 50.0), "10"), ((179.9, 10.0), "-180.1"), ((30, 89.6), "210")] {
                let cells = try await world.insertDisk(.light, at: try place(spot.0, spot.1), distance: 7)
                let base = "/collections/hexagons/radius?coords=POINT(\(longitude)%20\(spot.1))"
                // The third centre is opposite the disk, 0.8° away by way of the pole.
                let within = spot.1 > 80 ? 60.0 : 30.0
                let found = try await world.json("\(base)&within=\(within)").features.compactMap { $0["id"]?.string }
                let centre = try place(Double(longitude) ?? 0, spot.1)
                for cell in cells {
                    let near = H3.boundary(h3: cell.h3).map { Geodesic.path(from: centre, to: $0).metres }.min() ?? 0
                    if near < within * 1_852 * 0.999 { #expect(found.contains(cell.h3String)) }
                    if near > within * 1_852 + 12_000 { #expect(!found.contains(cell.h3String)) }
                }
                #expect(!found.isEmpty && found.count < cells.count, "\(found.count) of \(cells.count)")
                for (unit, metres) in [("km", 1_000.0), ("m", 1), ("mi", 1_609.344), ("NM", 1_852), ("nmi", 1_852)] {
                    let same = try await world.json("\(base)&within=\(within * 1_852 / metres)&within-units=\(unit)")
                    #expect(same.features.compactMap { $0["id"]?.string } == found, "\(unit)")
                }
            }
        }
    }

    @Test("a cube has what lies in the box and at the altitudes, of six numbers or of z")
    func cube() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(id: "low", try cell(10, 50), altitude: 20, at: -60),
                try observation(id: "high", try cell(10, 50), altitude: 35, at: -60),
                try observation(id: "far", try cell(12, 50), altitude: 35, at: -60),
            ])
            func ids(_ query: String) async throws -> [String] {
                try await world.json("/collections/observations/cube?\(query)").features
                    .compactMap { $0["id"]?.string }.sorted()
            }
            #expect(try await ids("bbox=9,49,11,51") == ["high", "low"])
            #expect(try await ids("bbox=9,49,30000,11,51,36000") == ["high"])
            #expect(try await ids("bbox=9,49,11,51&z=20000") == ["low"])
            #expect(try await ids("bbox=9,49,11,51&z=20999/34000") == ["low"])
            #expect(try await ids("bbox=9,49,13,51&z=30000/60000") == ["far", "high"])
        }
    }

    @Test("a trajectory has what the line meets, in the order of the flight, in pages too")
    func trajectory() async throws {
        try await withWorld { world in
            let cells = try await world.insertDisk(.moderate, at: try place(10, 50), distance: 8)
            let address = "/collections/hexagons/trajectory?coords=LINESTRING(12%2050,10%2050.2,8%2050)"
            let found = try await world.json(address).features
            let along = found.compactMap { $0.property("distanceAlong")?.double }
            #expect(found.count > 8 && found.count < cells.count / 3 && along == along.sorted())
            let route = try Route([try place(12, 50), try place(10, 50.2), try place(8, 50)])
            let met = Set(
                route.stations(every: 100).map { H3.cell(at: $0.place) }.filter { cells.contains($0) }
                    .map(\.h3String))
            // Cells of which the line cuts a corner shorter than a step may be there too.
            #expect(met.isSubset(of: found.compactMap { $0["id"]?.string }) && found.count <= met.count + 4)
            var paged: [JSON?] = []
            var next: String? = address + "&limit=3"
            while let page = next {
                let answer = try await world.json(page)
                paged += answer.features.map { $0["id"] }
                next = answer.link("next")?.replacing("http://127.0.0.1", with: "")
                    .replacing("http://localhost", with: "")
                #expect(paged.count <= found.count)
            }
            #expect(paged == found.map { $0["id"] })
        }
    }

    @Test("areas along a line and in a corridor come in the order in which the route meets them")
    func order() async throws {
        try await withWorld { world in
            let areas = try [30.0, 10, 20].enumerated().map { number, west in
                IssuedArea(
                    collection: .hazards, id: "a\(number)", source: try source("awc"), kind: "sigmet",
                    validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 600),
                    geometry: try MultiPolygon(
                        outline: [
                            try place(west, -1), try place(west + 2, -1), try place(west + 2, 1), try place(west, 1),
                        ]
                    ).orMissing())
            }
            _ = try await world.store.commit(Batch(source: try source("awc"), areas: areas))
            try await world.refresh()
            for query in ["trajectory?coords=LINESTRING(%,0.3%)", "corridor?coords=LINESTRING(%,0.3%)"] {
                for (from, to, expected) in [
                    ("5%200", "35%20", ["a1", "a2", "a0"]), ("35%200", "5%20", ["a0", "a2", "a1"]),
                ] {
                    let parts = query.split(separator: "%").map(String.init)
                    let address = "/collections/hazards/\(parts[0])\(from),\(to)0.3)"
                    let found = try await world.json(address).features.compactMap { $0["id"]?.string }
                    #expect(found == expected, "\(address)")
                    let first = try await world.json(address + "&limit=2")
                    let next = try #require(first.link("next")).replacing("http://localhost", with: "")
                        .replacing("http://127.0.0.1", with: "")
                    let rest = try await world.json(next).features.compactMap { $0["id"]?.string }
                    #expect(rest == [expected[2]])
                }
            }
        }
    }

    @Test("locations are the airports, and a location has what lies around it")
    func locations() async throws {
        try await withWorld { world in
            _ = try await world.insertDisk(.light, at: try place(-73.78, 40.64), distance: 2)
            let list = try await world.json("/collections/hexagons/locations")
            #expect(list.features.count == AirportTable.large.indicators.count)
            let some = try await world.json("/collections/hexagons/locations?bbox=-75,40,-73,42").features
            #expect(some.compactMap { $0["id"]?.string } == ["KEWR", "KJFK"])
            let endpoint = try #require(some[1].property("edrqueryendpoint")?.string)
            #expect(endpoint.hasSuffix("/collections/hexagons/locations/KJFK"))
            let around = try await world.json("/collections/hexagons/locations/KJFK").features
            let radius = try await world.json(
                "/collections/hexagons/radius?coords=POINT(-73.78%2040.64)&within=50"
            ).features
            #expect(around == radius && around.count == 19)
            let near = try await world.json("/collections/hexagons/locations/KJFK?within=1&within-units=km").features
            #expect((1...3).contains(near.count))
            #expect(try await world.get("/collections/hexagons/locations/XXXX").status == .notFound)
        }
    }

    @Test(
        "only the wanted properties are given, whatever writes the feature",
        arguments: ["properties", "parameter-name"])
    func selectedProperties(_ name: String) async throws {
        try await withWorld { world in
            _ = try await world.insertDisk(.light, at: try place(10, 50), distance: 1)
            let route = name == "properties" ? "items?" : "cube?bbox=9,49,11,51&"
            for collection in ["hexagons", "polygons", "observations"] {
                let found = try await world.json("/collections/\(collection)/\(route)\(name)=severityName,severity")
                #expect(!found.features.isEmpty)
                for feature in found.features {
                    #expect(feature["properties"]?.members.keys.sorted() == ["severity", "severityName"])
                }
            }
            let problem = try await world.json("/collections/hexagons/\(route)\(name)=colour", status: .badRequest)
            #expect(problem["parameter"]?.string == name)
        }
    }

    @Test(
        "bad input is refused by its parameter, its value and what is allowed",
        arguments: [
            ("radius?coords=POINT(1%202)", "within"), ("radius?within=10", "coords"),
            ("radius?coords=POINT(1%202)&within=0", "within"), ("radius?coords=POINT(1%202)&within=nan", "within"),
            ("radius?coords=POINT(1%202)&within=1e400", "within"),
            ("radius?coords=POINT(1%202)&within=99999", "within"),
            ("radius?coords=POINT(1%202)&within=1&within-units=ft", "within-units"),
            ("radius?coords=LINESTRING(1%202,3%204)&within=1", "coords"),
            ("radius?coords=POINT(1%2095)&within=1", "coords"), ("cube", "bbox"), ("cube?bbox=1,2,3", "bbox"),
            ("cube?bbox=1,2,3,4,5", "bbox"), ("cube?bbox=1,2,3,4&z=-1", "z"), ("cube?bbox=1,2,3,4&z=1,2", "z"),
            ("cube?bbox=1,2,9000,3,4,8000", "bbox"), ("cube?bbox=1,2,0,3,4,1000&z=3", "z"),
            ("cube?bbox=1,2,3,4&z=3000&minAltitude=1000", "minAltitude"), ("cube?bbox=1,2,3,4&crs=EPSG:3857", "crs"),
            ("cube?bbox=1,2,3,4&f=CoverageJSON", "f"), ("cube?bbox=1,2,3,4&f=NetCDF", "f"),
            ("cube?bbox=1,2,3,4&parameter-name=x", "parameter-name"), ("trajectory?coords=POINT(1%202)", "coords"),
            ("trajectory?coords=LINESTRINGZ(1%202,3%204)", "coords"), ("trajectory", "route"),
            ("trajectory?coords=LINESTRING(1%202,3%204)&width=10", "width"),
            ("trajectory?coords=LINESTRINGZ(1%202%2070000,3%204%201)", "coords"),
            ("corridor?coords=LINESTRING(1%202,3%204)&corridor-height=1000", "corridor-height"),
            ("corridor?coords=LINESTRING(1%202,3%204)&corridor-height=-1&level=30000", "corridor-height"),
            ("corridor?coords=LINESTRING(1%202,3%204)&f=CoverageJSON", "f"),
            ("locations?f=CoverageJSON", "f"), ("locations?bbox=1", "bbox"), ("locations/KJFK?within=0", "within"),
            ("locations/kjfk", "locId"),
        ])
    func badInput(_ query: String, _ parameter: String) async throws {
        try await withWorld { world in
            let answer = try await world.get("/collections/hexagons/\(query)")
            #expect([400, 404].contains(answer.status.code), "\(answer.status)")
            #expect(try answer.json["parameter"]?.string == parameter)
            if answer.status == .badRequest, try answer.json["code"]?.string != "missing-parameter" {
                #expect(try answer.json["allowed"]?.string?.isEmpty == false)
            }
        }
    }

    @Test("a corridor with a height has what lies in it")
    func corridorHeight() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(id: "low", try cell(10, 50), altitude: 20, at: -60),
                try observation(id: "high", try cell(10, 50), altitude: 35, at: -60),
            ])
            for (query, ids) in [
                ("", ["low", "high"]), ("&corridor-height=4000&level=35000", ["high"]),
                ("&corridor-height=1&height-units=km&z=21000", ["low"]),
            ] {
                let address = "/collections/observations/corridor?coords=LINESTRING(9%2050,11%2050)\(query)"
                let found = try await world.json(address).features.compactMap { $0["id"]?.string }
                #expect(Set(found) == Set(ids), "\(query)")
            }
            let line = "LINESTRINGZ(9%2050%2034500,11%2050%2035500)"
            let found = try await world.json(
                "/collections/observations/corridor?coords=\(line)&corridor-height=100"
            ).features
            #expect(found.compactMap { $0["id"]?.string } == ["high"])
        }
    }

    // MARK: - Fields

    /// A world with a field of degrees from 100° W 30° N on, 20 by 16 points: the value rises by a hundredth a column,
    /// and by another ten at 36,000 ft. An hour later all is 0.2 more.
    private func withField(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            let grid = try TestField.grid(20, 16)
            var drafts: [FieldLevelDraft] = []
            for (lead, more) in [(0, UInt8(0)), (3_600, 20)] {
                let run = noon
                let identity = try #require(
                    FieldIdentity(product: .forecast, run: run, validTime: run.advanced(by: lead)))
                for (feet, extra) in [(UInt16(30_000), UInt8(0)), (36_000, 10)] {
                    let values = (0..<grid.count).map { UInt8($0 % 20) + 1 + extra + more }
                    let plane = try #require(FieldPlane(width: 20, height: 16, values: values))
                    drafts.append(
                        FieldLevelDraft(identity: identity, grid: grid, level: .feet(feet), packed: plane.packed()))
                }
            }
            _ = try await world.store.commit(
                Batch(source: try source("awc"), fields: drafts, fetchedAt: world.clock.now))
            try await world.refresh()
            try await test(world)
        }
    }

    private func values(_ coverage: JSON, _ name: String = "edr") -> [Double?] {
        coverage["ranges"]?[name]?["values"]?.items.map(\.double) ?? []
    }

    private func axis(_ coverage: JSON, _ name: String) -> JSON? { coverage["domain"]?["axes"]?[name] }

    @Test("a position has the areas that contain it, and none where a box excludes it")
    func areasAtPositions() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(id: "a", try cell(10, 50)), try observation(id: "b", try cell(11, 51)),
            ])
            for id in ["hexagons", "polygons"] {
                let base = "/collections/\(id)/position?coords=POINT"
                let there = try await world.json(base + "(10%2050)").features
                #expect(there.count == 1, "\(id)")
                if id == "hexagons" { #expect(there.first?["id"]?.string == (try cell(10, 50)).h3String) }
                for none in ["(30%2050)", "(10%2050)&bbox=20,50,21,51", "(10%2050)&z=60000"] {
                    #expect(try await world.json(base + none).features.isEmpty, "\(id)\(none)")
                }
                #expect(try await world.json("/collections/\(id)")["data_queries"]?["position"] != nil)
            }
            let bad = try await world.json("/collections/hexagons/position?coords=POINT(1)", status: .badRequest)
            #expect(bad["parameter"]?.string == "coords")
        }
    }

    @Test("a position is a vertical profile, or a point for one level, as CoverageJSON")
    func profile() async throws {
        try await withField { world in
            let base = "/collections/gtg/position?coords=POINT(-95%2035)"
            let answer = try await world.get(base + "&f=CoverageJSON")
            #expect(answer.headers[.contentType] == "application/prs.coverage+json")
            let profile = try answer.json
            #expect(profile["domain"]?["domainType"]?.string == "VerticalProfile")
            #expect(axis(profile, "z")?["values"]?.items.compactMap(\.double) == [30_000, 36_000])
            #expect(values(profile) == [0.06, 0.16])
            #expect(profile["ranges"]?["edr"]?["shape"]?.items.compactMap(\.double) == [2])
            #expect(values(profile, "severity") == [0, 2])
            let features = try await world.json(base).features
            #expect(features.compactMap { $0.property("edr")?.double } == [0.06, 0.16])
            let point = try await world.json(base + "&z=36000&f=CoverageJSON&parameter-name=edr")
            #expect(point["domain"]?["domainType"]?.string == "Point" && values(point) == [0.16])
            #expect(point["ranges"]?.members.keys.sorted() == ["edr"])
            let byAccept = try await world.get(base, [.accept: "application/prs.coverage+json"])
            #expect(byAccept.body == answer.body)
            let beyond = try await world.json("/collections/gtg/position?coords=POINT(10%2050)&f=CoverageJSON")
            #expect(beyond["type"]?.string == "CoverageCollection" && beyond["coverages"]?.items.isEmpty == true)
            let location = try await world.json("/collections/gtg/locations/KDFW?f=CoverageJSON&z=30000")
            #expect(location["domain"]?["domainType"]?.string == "Point" && values(location) == [0.04])
        }
    }

    @Test("a trajectory has the value of each point at its time and altitude")
    func fieldTrajectory() async throws {
        try await withField { world in
            let start = noon.seconds
            let line = "LINESTRINGZM(-99%2035%2030000%20\(start),-89%2035%2036000%20\(start + 3_600))"
            let flight = try await world.json("/collections/gtg/trajectory?coords=\(line)").features
            #expect(flight.count > 100)
            let first = try #require(flight.first)
            let last = try #require(flight.last)
            #expect(first.property("edr")?.double == 0.02 && first.property("altitude")?.double == 30_000)
            #expect(first.property("eta")?.string == noon.description)
            #expect(last.property("edr")?.double == 0.42 && last.property("altitude")?.double == 36_000)
            #expect(last.property("eta")?.string == noon.advanced(by: 3_600).description)
            let middle = flight[flight.count / 2]
            #expect(abs((middle.property("altitude")?.double ?? 0) - 33_000) < 60)
            // No stored level is near 33,000 ft.
            #expect(middle.property("edr") == nil && middle.property("unknown")?.string == "level")
            let coverage = try await world.json("/collections/gtg/trajectory?coords=\(line)&f=CoverageJSON")
            #expect(coverage["domain"]?["domainType"]?.string == "Trajectory")
            let tuples = axis(coverage, "composite")?["values"]?.items ?? []
            #expect(tuples.count == flight.count && tuples[0].items.count == 4)
            #expect(values(coverage) == flight.map { $0.property("edr")?.double })
            // The same flight by departure and speed at one level.
            let metres = try Route([try place(-99, 35), try place(-89, 35)]).metres
            let knots = metres / 1_852
            let planned = try await world.json(
                "/collections/gtg/trajectory?coords=LINESTRING(-99%2035,-89%2035)&z=30000&departure=\(noon)"
                    + "&speed=\(knots)"
            ).features
            #expect(planned.last?.property("edr")?.double == 0.32)
            // Without a level the largest of all, without a time that of the instant.
            let plain = try await world.json("/collections/gtg/trajectory?coords=LINESTRING(-99%2035,-89%2035)")
                .features
            #expect(plain.first?.property("edr")?.double == 0.12 && plain.last?.property("eta") == nil)
            let outside = try await world.get("/collections/gtg/trajectory?coords=LINESTRING(-99%2035,-120%2035)")
            #expect(outside.header("X-Incomplete") == "true")
            #expect(try outside.json.features.last?.property("unknown")?.string == "outside")
        }
    }

    @Test("a corridor is a grid as CoverageJSON: values along the route, and nulls beside it")
    func corridorGrid() async throws {
        try await withField { world in
            let line = "coords=LINESTRING(-98%2033,-94%2035)&width=80"
            let base = "/collections/gtg/corridor?\(line)&f=CoverageJSON"
            let corridor = try await world.json(base + "&z=30000")
            #expect(corridor["domain"]?["domainType"]?.string == "Grid")
            #expect(axis(corridor, "z")?["values"]?.items.compactMap(\.double) == [30_000])
            // Every value is that of the place's position.
            let (x, y) = (try #require(axis(corridor, "x")), try #require(axis(corridor, "y")))
            func places(_ axis: JSON) -> [Double] {
                let (start, stop) = (axis["start"]?.double ?? 0, axis["stop"]?.double ?? 0)
                let count = Int(axis["num"]?.double ?? 0)
                return (0..<count).map { start + (stop - start) * Double($0) / Double(max(count - 1, 1)) }
            }
            let found = values(corridor)
            var known = 0
            for (index, value) in found.enumerated() {
                guard let value else { continue }
                known += 1
                let (longitude, latitude) = (places(x)[index % places(x).count], places(y)[index / places(x).count])
                let position = try await world.json(
                    "/collections/gtg/position?coords=POINT(\(longitude)%20\(latitude))&z=30000&f=CoverageJSON")
                #expect(values(position) == [value], "\(longitude) \(latitude)")
            }
            #expect(known >= 4 && known < found.count)
            let band = try await world.json(base + "&z=33000&corridor-height=7000")
            #expect(axis(band, "z")?["values"]?.items.compactMap(\.double) == [30_000, 36_000])
            let largest = try await world.json(base)
            #expect(axis(largest, "z") == nil && values(largest).compactMap { $0 }.count == known)
            let byAccept = try await world.get(
                "/collections/gtg/corridor?\(line)&z=30000", [.accept: "application/prs.coverage+json"])
            #expect(try byAccept.json["domain"] == corridor["domain"])
        }
    }

    @Test("a cube, an area and a radius are grids as CoverageJSON, and never larger than a response may be")
    func grids() async throws {
        try await withField { world in
            let base = "/collections/gtg/cube?bbox=-99,31,-96,32&f=CoverageJSON"
            let cube = try await world.json(base + "&z=30000,36000")
            #expect(cube["domain"]?["domainType"]?.string == "Grid")
            #expect(axis(cube, "x")?["start"]?.double == -99 && axis(cube, "x")?["stop"]?.double == -96)
            #expect(axis(cube, "x")?["num"]?.double == 4 && axis(cube, "y")?["num"]?.double == 2)
            #expect(cube["ranges"]?["edr"]?["axisNames"]?.items.compactMap(\.string) == ["z", "y", "x"])
            #expect(
                values(cube) == [
                    0.02, 0.03, 0.04, 0.05, 0.02, 0.03, 0.04, 0.05, 0.12, 0.13, 0.14, 0.15, 0.12, 0.13, 0.14, 0.15,
                ])
            let flat = try await world.json(base)
            #expect(axis(flat, "z") == nil && values(flat).first == 0.12)
            let six = try await world.json(
                "/collections/gtg/cube?bbox=-99,31,29000,-96,32,31000&f=CoverageJSON")
            #expect(axis(six, "z")?["values"]?.items.compactMap(\.double) == [30_000])
            let triangle = "POLYGON((-99.5%2030.5,-95.5%2030.5,-99.5%2034.5,-99.5%2030.5))"
            let area = try await world.json("/collections/gtg/area?coords=\(triangle)&z=30000&f=CoverageJSON")
            let found = values(area)
            #expect(found.contains(nil) && found.compactMap { $0 }.count >= 6)
            let radius = try await world.json(
                "/collections/gtg/radius?coords=POINT(-95%2035)&within=70&z=30000&f=CoverageJSON")
            #expect(!values(radius).compactMap { $0 }.isEmpty)
            let world84 = "/collections/gtg/cube?bbox=-180,-90,180,90&f=CoverageJSON"
            #expect(try await world.get(world84).status == .ok, "a grid of degrees is small")
            let many = (0..<50).map { "\(30_000 + $0)" }.joined(separator: ",")
            #expect(try await world.get(world84 + "&z=\(many)").status == .ok, "the same level is there once")
            for query in ["&limit=3", "&shape=contours"] {
                #expect(try await world.get(base + query).status == .badRequest)
            }
        }
    }

    @Test(
        "a duplicate member of a flight is rejected",
        arguments: [
            ("LINESTRINGM(-99%2035%201,-89%2035%202)&datetime=2026-11-21T12:00:00Z", "datetime"),
            ("LINESTRINGM(-99%2035%201,-89%2035%202)&speed=400", "speed"),
            ("LINESTRINGM(-99%2035%202,-89%2035%201)", "coords"),
            ("LINESTRINGZ(-99%2035%201,-89%2035%202)&z=3", "z"),
            ("LINESTRINGZ(-99%2035%201,-89%2035%202)&level=3", "level"),
            ("LINESTRING(-99%2035,-89%2035)&level=3&z=3", "z"), ("LINESTRING(-99%2035,-89%2035)&f=Grid", "f"),
            ("LINESTRING(-99%2035,-89%2035)&limit=3", "limit"),
            ("LINESTRING(-99%2035,-89%2035)&datetime=yesterday", "datetime"),
        ])
    func badFlights(_ query: String, _ parameter: String) async throws {
        try await withField { world in
            let answer = try await world.json("/collections/gtg/trajectory?coords=\(query)", status: .badRequest)
            #expect(answer["parameter"]?.string == parameter)
        }
    }

    // MARK: - Descriptions

    @Test(
        "each collection describes its queries, and each query that it describes is answered", arguments: Catalogue.all)
    func descriptions(_ dataset: Dataset) async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let collection = try await world.json("/collections/\(dataset.id)")
            let queries = collection["data_queries"]?.members ?? [:]
            #expect(
                Set(queries.keys) == Set(EDRQuery.allCases.filter { $0.isOffered(by: dataset) }.map(\.rawValue)))
            let samples = [
                "items": "", "position": "?coords=POINT(1%202)", "radius": "?coords=POINT(1%202)&within=10",
                "area": "?coords=POLYGON((1%202,3%202,3%204,1%202))", "cube": "?bbox=1,2,3,4",
                "trajectory": "?coords=LINESTRING(1%202,3%204)", "corridor": "?coords=LINESTRING(1%202,3%204)",
                "locations": "",
            ]
            for (name, query) in queries {
                let path = try #require(query["link"]?["href"]?.string).replacing("http://127.0.0.1", with: "")
                    .replacing("http://localhost", with: "")
                let sample = try #require(samples[name])
                for format in query["link"]?["variables"]?["output_formats"]?.items.compactMap(\.string) ?? [] {
                    guard name != "locations" || format == "GeoJSON" else { continue }
                    let answer = try await world.get("\(path)\(sample)\(sample.isEmpty ? "?" : "&")f=\(format)")
                    #expect(answer.status == .ok, "\(path) \(format): \(answer.text.prefix(300))")
                }
            }
            #expect(
                Set(collection["parameter_names"]?.members.keys.map { $0 } ?? []) == Set(dataset.propertyNames))
        }
    }
}
