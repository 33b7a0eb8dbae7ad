import BillowRaster
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowTiles

@Suite("Backgrounds of maps")
struct BaseMapTests {
    /// A square island with a square lake, a border through it, and nothing else.
    private static let island = """
        {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"kind": "land"}, "geometry": {"type": "MultiPolygon", "coordinates":
        [[[[0, 40], [0, 60], [10, 60], [10, 40], [0, 40]]], [[[10, 40], [10, 60], [20, 60], [20, 40], [10, 40]]]]}},
        {"type": "Feature", "properties": {"kind": "lake"}, "geometry": {"type": "MultiPolygon", "coordinates":
        [[[[4, 48], [4, 52], [6, 52], [6, 48], [4, 48]]]]}},
        {"type": "Feature", "properties": {"kind": "border"}, "geometry": {"type": "MultiLineString", "coordinates":
        [[[15, 40], [15, 60]]]}},
        {"type": "Feature", "properties": {"kind": "place", "name": "A"}, "geometry": {"type": "Point",
        "coordinates": [5, 50]}}]}
        """

    /// A folder of the viewer with that base map, or without any.
    private func withFolder(_ files: [String] = ["coarse", "basemap"], _ test: (String) async throws -> Void)
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-map-\(UUID().uuidString)")
        let maps = folder.appending(path: "vendor/basemap")
        try FileManager.default.createDirectory(at: maps, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in files { try Data(Self.island.utf8).write(to: maps.appending(path: "\(file).geojson")) }
        try await test(folder.path)
    }

    private static let ocean = StraightColour(red: 0xB9, green: 0xC8, blue: 0xD3)
    private static let land = StraightColour(red: 0xD3, green: 0xD8, blue: 0xD3)
    private static let darkOcean = StraightColour(red: 0x10, green: 0x1A, blue: 0x23)

    @Test("the base map has land, lakes and borders, in both copies of the world, without seams between countries")
    func shapes() async throws {
        try await withFolder { folder in
            try await withWorld(publicFolder: folder) { world in
                // The two levels of detail.
                for width in [400, 2_400] {
                    let map = try await world.picture(
                        "/maps/hexagons.png?bbox=-10,30,30,70&width=\(width)&background=map")
                    func at(_ longitude: Double, _ latitude: Double) throws -> StraightColour {
                        let x = (longitude + 10) / 40 * Double(map.width)
                        let (top, bottom) = (UnitMercator.y(latitude: 70), UnitMercator.y(latitude: 30))
                        let y = (UnitMercator.y(latitude: latitude) - top) / (bottom - top) * Double(map.height)
                        return try map[Int(x), Int(y)].orMissing()
                    }
                    #expect(try at(-5, 50) == Self.ocean && at(5, 65) == Self.ocean && at(5, 50) == Self.ocean)
                    for longitude in [1.0, 8, 9.9, 10, 10.1, 13, 19] {
                        #expect(try at(longitude, 45) == Self.land, "\(longitude)")
                    }
                    #expect(try at(15, 45) != Self.land)
                }
                let pacific = try await world.picture("/maps/hexagons.png?bbox=180,30,-170,70&width=100&background=map")
                #expect(try pacific[50, 50].orMissing() == Self.ocean)
            }
        }
    }

    @Test("a background is below the data; data over a colour is as it is over the same colour in WMS")
    func colours() async throws {
        try await withFolder { folder in
            try await withWorld(publicFolder: folder) { world in
                try await world.insert([try observation(try cell(10, 50))])
                let uri = "/maps/hexagons.png?bbox=9,49,11,51&width=200&height=200"
                let plain = try await world.picture(uri)
                #expect(try plain[5, 5].orMissing().alpha == 0)
                #expect(try await world.get("\(uri)&background=none").body == world.get(uri).body)
                let light = try await world.picture("\(uri)&background=light")
                let dark = try await world.picture("\(uri)&background=dark&opacity=1")
                #expect(try light[5, 5].orMissing() == Self.land && dark[5, 5].orMissing().alpha == 255)
                #expect(try await world.get("\(uri)&background=map").body == world.get("\(uri)&background=light").body)
                #expect(
                    try await world.get("\(uri)&background=map&style=night").body
                        == world.get("\(uri)&background=dark&style=night").body)
                let black = try await world.picture("\(uri)&background=000000")
                #expect(try black[5, 5].orMissing() == StraightColour(red: 0, green: 0, blue: 0))
                #expect(try black[100, 100].orMissing() != StraightColour(red: 0, green: 0, blue: 0))
                let ocean = try await world.picture(
                    "/maps/hexagons.png?bbox=-20,10,-18,12&width=64&height=64&background=dark")
                #expect(try ocean[30, 30].orMissing() == Self.darkOcean)
                // The legend's panel suits the ground.
                let furnished = "/maps/hexagons.png?bbox=9,49,11,51&width=600&height=500&legend=true"
                for (ground, isDark) in [("dark", true), ("light", false), ("14181d", true), ("ffffff", false)] {
                    let panel = try await world.picture("\(furnished)&background=\(ground)")[20, 480].orMissing()
                    #expect((panel.red < 128) == isDark, "\(ground): \(panel)")
                }
                for bad in ["", "blue", "12345", "#123456", "1234567", "0x123456", "gggggg"] {
                    let query = bad.replacing("#", with: "%23")
                    let answer = try await world.get("\(uri)&background=\(query)")
                    #expect(answer.status == .badRequest, "\(bad)")
                    #expect(try answer.json["parameter"]?.string == "background", "\(bad)")
                }
            }
        }
    }

    @Test("frames of an animation and of a sheet have it too")
    func animations() async throws {
        try await withFolder { folder in
            try await withWorld(publicFolder: folder) { world in
                try await world.insert([try observation(try cell(10, 50))])
                let uri = "/animations/hexagons.png?bbox=2,42,4,44&width=80&height=80&legend=false&timestamp=false"
                for form in ["animation", "sheet"] {
                    let picture = try await world.picture("\(uri)&intervals=1&form=\(form)&background=map")
                    #expect(try picture[40, 40].orMissing() == Self.land, "\(form)")
                }
                #expect(
                    try await world.get("\(uri)&intervals=2&background=map").body
                        != world.get("\(uri)&intervals=2").body)
            }
        }
    }

    @Test("without its files the base map is a 404, and colours are drawn all the same", arguments: ["{", "[]", nil])
    func missing(text: String?) async throws {
        try await withFolder([]) { folder in
            if let text {
                try Data(text.utf8).write(to: URL(filePath: folder).appending(path: "vendor/basemap/coarse.geojson"))
            }
            try await withWorld(publicFolder: folder) { world in
                let answer = try await world.get("/maps/hexagons.png?width=64&background=map")
                #expect(answer.status == .notFound)
                #expect(try answer.json["code"]?.string == "base-map-missing")
                #expect(try await world.get("/maps/hexagons.png?width=64&background=ffffff").status == .ok)
            }
        }
    }

    @Test("a header names the requested parts that have no room")
    func omitted() async throws {
        try await withWorld(simulated: true) { world in
            try await world.insert([try observation(try cell(10, 50))])
            let all = "legend=true&timestamp=true&scalebar=true"
            for (size, query, omitted) in [
                ("width=800&height=600", all, nil), ("width=800&height=600", "", nil), ("width=60&height=60", "", nil),
                ("width=12&height=12", all, "timestamp, scalebar, legend"),
                ("width=400&height=60", "legend=true", "legend"),
                ("width=30&height=300", "scalebar=true", "scalebar"),
            ] as [(String, String, String?)] {
                let map = "/maps/hexagons.png?bbox=9,49,11,51&\(size)&\(query)"
                #expect(try await world.get(map).header("X-Omitted") == omitted, "\(map)")
                let wms =
                    "/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=hexagons&SRS=EPSG:4326&BBOX=9,49,11,51"
                    + "&STYLES=&FORMAT=image/png&\(size)&\(query)"
                #expect(try await world.get(wms).header("X-Omitted") == omitted, "\(wms)")
                let frames =
                    map.replacing("/maps/", with: "/animations/")
                    + (query.isEmpty ? "&legend=false&timestamp=false" : "")
                guard query != "legend=true", query != "scalebar=true" else { continue }
                let parts = omitted?.replacing("scalebar, ", with: "")
                #expect(try await world.get(frames).header("X-Omitted") == parts, "\(frames)")
            }
        }
    }
}
