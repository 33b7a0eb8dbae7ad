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

@Suite("Areas and corridors over HTTP")
struct AreaTests {
    @Test("plus signs are blanks in routes and shapes, as forms and scripts write them")
    func plusSigns() async throws {
        try await withWorld { world in
            _ = try await world.insertDisk(.light, at: try place(10, 50), distance: 1)
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

    @Test("a ring that isn't to be simplified, by the body or the query, keeps every position that there is room for")
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

    @Test("an area gives the cells that share a point with it, in either winding, by GET and by POST")
    func area() async throws {
        try await withWorld { world in
            let cells = try await world.insertDisk(.light, at: try place(179.95, 10), distance: 6)
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
            let reversed = "179.5%209.5,179.5%2010.5,180.5%2010.5,180.5%209.5,179.5%209.5"
            let got = try await world.json("/collections/hexagons/area?coords=POLYGON((\(reversed)))")
            #expect(got.features.map { $0["id"]?.string } == ids)
        }
    }

    @Test("a route meets hexagons in order, with distance, side and time")
    func corridor() async throws {
        try await withWorld { world in
            for longitude in [4.0, 1, 7] {
                _ = try await world.insertDisk(.light, at: try place(longitude, 0.2), distance: 0)
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
            ("/collections/hexagons/corridor", #"{"route": "KJFK EGLL", "wdith": 5}"#, "unknown-member"),
            ("/collections/hexagons/area", #"{"polygon": [[0,0],[1,0],[1,1],[0,0]], "hours": 1}"#, "unknown-member"),
            ("/corridors", #"{"route": "KJFK EGLL", "margin": 5}"#, "unknown-member"),
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
}
