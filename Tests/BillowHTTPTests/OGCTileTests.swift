import BillowRaster
import BillowTiles
import Datasets
import EngineTestSupport
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

@Suite("OGC API Tiles and Maps")
struct OGCTileTests {
    private static func fill(_ world: World) async throws {
        _ = try await world.insertDisk(.moderate, at: try #require(LonLat(longitude: 5, latitude: 50)), distance: 3)
    }

    @Test("a collection that is drawn leads to its tile sets, and these to tiles and to the tile matrix set")
    func links() async throws {
        try await withWorld { world in
            try await Self.fill(world)
            func path(_ address: String?) throws -> String {
                String(try #require(address).dropFirst("http://127.0.0.1".count))
            }
            for (relation, type, tile) in [
                ("vector", "application/vnd.mapbox-vector-tile", ".mvt"), ("map", "image/png", ".png"),
            ] {
                let collection = try await world.json("/collections/hexagons")
                let sets = try await world.json(
                    try path(collection.link("http://www.opengis.net/def/rel/ogc/1.0/tilesets-\(relation)")))
                let first = try #require(sets["tilesets"]?[0])
                #expect(first["dataType"]?.string == relation)
                #expect(first["tileMatrixSetURI"]?.string?.hasSuffix("/WebMercatorQuad") == true)
                let set = try await world.json(try path(first.link("self")))
                let item = try #require(set["links"]?.items.first { $0["rel"]?.string == "item" })
                #expect(item["templated"]?.bool == true && item["type"]?.string == type)
                let template = try path(item["href"]?.string)
                let address = template.replacing("{tileMatrix}", with: "7").replacing("{tileRow}", with: "43")
                    .replacing("{tileCol}", with: "65")
                let answer = try await world.get(address)
                let expected = try await world.get("/tiles/hexagons/latest/7/65/43\(tile)")
                #expect(answer.headers[.contentType] == type)
                #expect(answer.body == expected.body && answer.headers[.eTag] == expected.headers[.eTag])
                let matrices = try await world.json(
                    try path(set.link("http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme")))
                #expect(matrices["tileMatrices"]?.items.count == 23)
                #expect(matrices["tileMatrices"]?[3]?["matrixWidth"]?.integer == 8)
            }
            let classes = try await world.json("/conformance")["conformsTo"]?.items.compactMap(\.string) ?? []
            #expect(classes.contains("http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core"))
            #expect(classes.contains("http://www.opengis.net/spec/ogcapi-maps-1/1.0/conf/collection-map"))
            #expect(Set(classes).count == classes.count)
        }
    }

    @Test("what isn't drawn has no tiles, and an unknown parameter, set or place is named")
    func refused() async throws {
        try await withWorld { world in
            for (path, status, code) in [
                ("/collections/observations/tiles", 404, "unknown-layer"),
                ("/collections/x/map", 404, "unknown-collection"),
                ("/collections/observations/map", 404, "unknown-layer"),
                ("/collections/hexagons/tiles/WorldCRS84Quad", 404, "no-such-route"),
                ("/tileMatrixSets/WorldCRS84Quad", 404, "no-such-route"),
                ("/collections/hexagons/tiles/WebMercatorQuad/23/0/0", 404, "outside-grid"),
                ("/collections/hexagons/map/tiles/WebMercatorQuad/1/2/0", 404, "outside-grid"),
                ("/collections/hexagons/map/tiles/WebMercatorQuad/1/x/0", 400, "invalid-parameter"),
                ("/collections/hexagons/map/tiles/WebMercatorQuad/1/0/0?foo=1", 400, "unknown-parameter"),
                ("/collections/hexagons/map/tiles/WebMercatorQuad/1/0/0?f=mvt", 400, "invalid-parameter"),
                ("/collections/hexagons/tiles/WebMercatorQuad/1/0/0?datetime=x", 400, "invalid-parameter"),
                ("/collections/hexagons/map?foo=1", 400, "unknown-parameter"),
                ("/collections/hexagons/map?width=1&width=2", 400, "repeated-parameter"),
                ("/collections/hexagons/map?width=0", 400, "invalid-parameter"),
                ("/collections/hexagons/map?width=4097", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox=1,2,3", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox=1,2,3,NaN", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox=0,10,10,0", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox=0,0,1e400,1", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox=0,0,1e-9,1e-9", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox=0,86,10,89&crs=[EPSG:3857]", 400, "invalid-parameter"),
                ("/collections/hexagons/map?crs=EPSG:2154", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bbox-crs=x", 400, "invalid-parameter"),
                ("/collections/hexagons/map?bgcolor=red", 400, "invalid-parameter"),
                ("/collections/hexagons/map?datetime=1999-01-01T00:00:00Z", 404, "time-outside-retention"),
            ] {
                let answer = try await world.get(path)
                #expect(answer.status.code == status, "\(path): \(answer.text.prefix(300))")
                #expect(try answer.json["code"]?.string == code, "\(path)")
            }
        }
    }

    @Test("a map shows its box in its system, and says which")
    func map() async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
            for (query, size, system, box) in [
                ("bbox=0,45,10,55&width=400", (400, 400), crs84, "0.0,45.0,10.0,55.0"),
                ("bbox=0,45,10,55&height=100", (100, 100), crs84, "0.0,45.0,10.0,55.0"),
                ("bbox=0,45,10,55&width=300&height=100", (300, 100), crs84, "0.0,45.0,10.0,55.0"),
                (
                    "bbox=45,0,55,10&bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326&width=200"
                        + "&crs=%5BEPSG:4326%5D", (200, 200), "http://www.opengis.net/def/crs/EPSG/0/4326",
                    "45.0,0.0,55.0,10.0"
                ),
                ("", (1_024, 512), crs84, "-180.0,-90.0,180.0,90.0"),
                (
                    "crs=%5BEPSG:3857%5D&width=256", (256, 256), "http://www.opengis.net/def/crs/EPSG/0/3857",
                    "-20037508.3427892,-20037508.3427892,20037508.3427892,20037508.3427892"
                ),
            ] as [(String, (Int, Int), String, String)] {
                let answer = try await world.get("/collections/hexagons/map?\(query)")
                #expect(answer.status == .ok, "\(query): \(answer.text.prefix(300))")
                let picture = try PNG.decode(Array(buffer: answer.body))
                #expect((picture.width, picture.height) == size, "\(query)")
                #expect(answer.header("Content-Crs") == "<\(system)>")
                #expect(answer.header("Content-Bbox") == box)
                // 5° E 50° N lies in the middle where the box is named.
                if query.contains("bbox") {
                    let middle = try #require(picture[picture.width / 2, picture.height / 2])
                    #expect(
                        "\(middle.red) \(middle.green) \(middle.blue) \(middle.alpha)" == Pixel.moderate, "\(query)")
                }
            }
        }
    }

    @Test("a map of web mercator over a tile is that of WMS, and datetime is the picture at its end")
    func sameAsWMS() async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let box = MapQuery.box(z: 6, x: 32, y: 21)
            let map = try await world.picture(
                "/collections/hexagons/map?crs=%5BEPSG:3857%5D&bbox-crs=%5BEPSG:3857%5D&bbox=\(box)&width=300"
                    + "&height=300")
            let wms = try await world.picture(MapQuery.wms(["BBOX": box, "WIDTH": "300", "HEIGHT": "300"]))
            #expect(map.pixels == wms.pixels)
            let past = try await world.get("/collections/hexagons/map?datetime=../2026-11-21T11:00:00Z")
            #expect(past.header("X-Frame-Time") == "2026-11-21T11:00:00Z")
        }
    }
}
