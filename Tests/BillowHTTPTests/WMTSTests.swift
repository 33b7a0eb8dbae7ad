import BillowRaster
import BillowTiles
import Datasets
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("WMTS")
struct WMTSTests {
    private static func kvp(_ changed: [String: String?] = [:]) -> String {
        var parameters = [
            "SERVICE": "WMTS", "VERSION": "1.0.0", "REQUEST": "GetTile", "LAYER": "hexagons", "STYLE": "skypath",
            "FORMAT": "image/png", "TILEMATRIXSET": "WebMercatorQuad", "TILEMATRIX": "7", "TILEROW": "43",
            "TILECOL": "65",
        ]
        for (name, value) in changed { parameters[name] = value }
        return MapQuery.address("/wmts", parameters)
    }

    private static func fill(_ world: World) async throws {
        _ = try await world.insertDisk(.moderate, at: try #require(LonLat(longitude: 5, latitude: 50)), distance: 3)
    }

    @Test("the capabilities have every layer, its styles, time and templates, by either address")
    func capabilities() async throws {
        try await withWorld(configured: ["skypath"], publicURL: "https://example.org/base", simulated: true) { world in
            try await world.fetched("skypath")
            let byPath = try await world.get("/wmts/1.0.0/WMTSCapabilities.xml")
            let byName = try await world.get("/wmts?service=WMTS&request=GetCapabilities&AcceptVersions=1.0.0")
            #expect(byPath.status == .ok && byPath.body == byName.body)
            let xml = try ReadXML(byPath.text)
            #expect(xml.texts("Contents/Layer/ows:Identifier") == Catalogue.layers.map(\.id))
            let styles = world.application.styles.current.styles.map(\.id)
            #expect(xml.texts("Layer/Style/ows:Identifier") == Catalogue.layers.flatMap { _ in styles })
            #expect(
                xml.all("Layer/Style").filter { $0.attributes["isDefault"] == "true" }.count == Catalogue.layers.count)
            #expect(xml.texts("Dimension/Default") == Catalogue.layers.map { _ in "current" })
            // The time of a layer begins with its data; without any it is an instant.
            #expect(xml.texts("Dimension/Value").allSatisfy { $0.hasSuffix("/PT1M") || !$0.contains("/") })
            #expect(xml.texts("TileMatrixSet/ows:Identifier") == ["WebMercatorQuad"])
            let scales = xml.texts("TileMatrix/ScaleDenominator").compactMap { Double($0) }
            // Source: OGC 07-057r7 annex E.4
            #expect(scales.count == 23 && abs(scales[0] - 559_082_264.028_717_8) < 1e-4)
            let links = xml.elements.compactMap { $0.attributes["xlink:href"] ?? $0.attributes["template"] }
            #expect(links.count > 50 && links.allSatisfy { $0.hasPrefix("https://example.org/base/") })
            #expect(xml.texts("Layer/ows:Abstract").allSatisfy { $0.contains("SIMULATED") })
        }
    }

    @Test("tiles are those of /tiles, byte for byte, with their headers, tags and 304")
    func tiles() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.fetched("skypath")
            try await Self.fill(world)
            let time = "2026-11-21T11:59:30Z"
            for (tile, addresses) in [
                (
                    "/tiles/hexagons/latest/7/65/43.png",
                    [
                        Self.kvp(), Self.kvp(["STYLE": "", "TIME": "current"]), Self.kvp(["STYLE": "default"]),
                        Self.kvp(["TILEMATRIXSET": "GoogleMapsCompatible", "FORMAT": nil]),
                        "/wmts/1.0.0/hexagons/default/current/WebMercatorQuad/7/43/65.png",
                    ]
                ),
                (
                    "/tiles/hexagons/\(time)/7/65/43.png?style=print&hours=1",
                    [
                        Self.kvp(["TIME": time, "STYLE": "print", "hours": "1"]),
                        "/wmts/1.0.0/hexagons/print/\(time)/WebMercatorQuad/7/43/65.png?HOURS=1",
                    ]
                ),
            ] {
                let expected = try await world.get(tile)
                #expect(expected.status == .ok && expected.body.readableBytes > 1_000)
                for address in addresses {
                    let answer = try await world.get(address)
                    #expect(answer.body == expected.body, "\(address)")
                    for name in ["ETag", "Cache-Control", "X-Frame-Time", "X-Data-Time", "Content-Type"] {
                        #expect(answer.header(name) == expected.header(name), "\(name)")
                    }
                    let again = try await world.get(address, [.ifNoneMatch: expected.header("ETag") ?? ""])
                    #expect(again.status == .notModified)
                }
            }
        }
    }

    @Test("a template of the capabilities, filled in, is a tile")
    func templates() async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let xml = try ReadXML(try await world.get("/wmts/1.0.0/WMTSCapabilities.xml").text)
            for resource in xml.all("ResourceURL") {
                var address = try #require(resource.attributes["template"])
                for (name, value) in [
                    "Style": "skypath", "time": "current", "TileMatrixSet": "WebMercatorQuad", "TileMatrix": "0",
                    "TileRow": "0", "TileCol": "0", "I": "10", "J": "20",
                ] {
                    address = address.replacing("{\(name)}", with: value)
                }
                let answer = try await world.get(String(address.dropFirst("http://127.0.0.1".count)))
                #expect(answer.status == .ok, "\(address): \(answer.text.prefix(300))")
                #expect(answer.headers[.contentType]?.hasPrefix(resource.attributes["format"] ?? "?") == true)
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var changed: [String: String?]
        var code: String
        var locator: String

        init(_ changed: [String: String?], _ code: String, _ locator: String) {
            (self.changed, self.code, self.locator) = (changed, code, locator)
        }

        var testDescription: String { "\(changed) → \(code)" }
    }

    static let bad: [Case] = [
        Case(["REQUEST": nil], "MissingParameterValue", "REQUEST"),
        Case(["REQUEST": "GetMap"], "OperationNotSupported", "REQUEST"),
        Case(["SERVICE": "WMS"], "InvalidParameterValue", "SERVICE"),
        Case(["LAYER": nil], "MissingParameterValue", "LAYER"),
        Case(["LAYER": "<x>&"], "InvalidParameterValue", "LAYER"),
        Case(["STYLE": "x"], "InvalidParameterValue", "STYLE"),
        Case(["FORMAT": "image/jpeg"], "InvalidParameterValue", "FORMAT"),
        Case(["TILEMATRIXSET": nil], "MissingParameterValue", "TILEMATRIXSET"),
        Case(["TILEMATRIXSET": "WorldCRS84Quad"], "InvalidParameterValue", "TILEMATRIXSET"),
        Case(["TILEMATRIX": "23"], "TileOutOfRange", "TILEMATRIX"),
        Case(["TILEMATRIX": "-1"], "InvalidParameterValue", "TILEMATRIX"),
        Case(["TILEMATRIX": "1e1"], "InvalidParameterValue", "TILEMATRIX"),
        Case(["TILEROW": "128"], "TileOutOfRange", "TILEROW"),
        Case(["TILECOL": "99999999999999999999"], "TileOutOfRange", "TILECOL"),
        Case(["TILECOL": "x.png"], "InvalidParameterValue", "TILECOL"),
        Case(["TIME": "now"], "InvalidParameterValue", "TIME"),
        Case(["TIME": "1999-01-01T00:00:00Z"], "InvalidParameterValue", "TIME"),
        Case(["REQUEST": "GetFeatureInfo", "I": "1"], "MissingParameterValue", "J"),
        Case(["REQUEST": "GetFeatureInfo", "I": "256", "J": "1"], "PointIJOutOfRange", "I"),
        Case(
            ["REQUEST": "GetFeatureInfo", "I": "1", "J": "1", "INFOFORMAT": "text/xml"], "InvalidParameterValue",
            "INFOFORMAT"),
    ]

    @Test("bad input is an exception report that names the parameter", arguments: bad)
    func refused(_ asked: Case) async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let answer = try await world.get(Self.kvp(asked.changed))
            #expect(answer.status == .badRequest && answer.headers[.contentType] == "text/xml")
            let xml = try ReadXML(answer.text)
            let exception = try #require(xml.all("ows:ExceptionReport/ows:Exception").first)
            #expect(exception.attributes["exceptionCode"] == asked.code)
            #expect(exception.attributes["locator"] == asked.locator)
        }
    }

    @Test(
        "a path that is no tile's is an exception report too",
        arguments: [
            "hexagons/skypath/current/WebMercatorQuad/7/43/65", "hexagons/skypath/current/WebMercatorQuad/7/43/65.jpg",
            "hexagons/skypath/current/Other/7/43/65.png", "hexagons/skypath/current/WebMercatorQuad/7/43/165.png",
            "hexagons/skypath/current/WebMercatorQuad/7/43/65/1/2", "x/skypath/current/WebMercatorQuad/7/43/65.png",
            "hexagons/skypath/current/WebMercatorQuad/7/43/65/1/256.json",
        ])
    func paths(_ path: String) async throws {
        try await withWorld { world in
            let answer = try await world.get("/wmts/1.0.0/\(path)")
            #expect(answer.status == .badRequest && answer.text.contains("ows:Exception"), "\(answer.text)")
        }
    }
}
