import BillowRaster
import BillowStore
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

@Suite("WMS")
struct WMSTests {
    // MARK: - Capabilities

    @Test("the capabilities have every layer with every style, time and place", arguments: WMSVersion.allCases)
    func capabilities(_ version: WMSVersion) async throws {
        try await withWorld(configured: ["skypath"], publicURL: "https://example.org/base/", simulated: true) { world in
            try await world.fetched("skypath")
            let answer = try await world.get("/wms?service=WMS&request=GetCapabilities&version=\(version.rawValue)")
            #expect(answer.status == .ok)
            let isNew = version == .v130
            #expect(answer.headers[.contentType] == (isNew ? "text/xml" : "application/vnd.ogc.wms_xml"))
            let xml = try ReadXML(answer.text)
            #expect(xml.elements.first?.attributes["version"] == version.rawValue)
            #expect(xml.texts("Capability/Layer/Layer/Name") == Catalogue.layers.map(\.id))
            let styles = world.application.styles.current.styles.map(\.id)
            #expect(xml.texts("Layer/Layer/Style/Name") == Catalogue.layers.flatMap { _ in styles })
            #expect(xml.all("LegendURL").allSatisfy { Int($0.attributes["width"] ?? "") ?? 0 > 50 })
            let crs = xml.texts("Capability/Layer/\(isNew ? "CRS" : "SRS")")
            #expect(crs == (isNew ? ["EPSG:3857", "EPSG:4326", "CRS:84"] : ["EPSG:3857", "EPSG:4326"]))
            let abstracts = xml.texts("Layer/Layer/Abstract")
            #expect(abstracts.allSatisfy { $0.contains("SIMULATED") })
            #expect(abstracts[0].contains("Sources: skypath"))
            let links = xml.elements.compactMap { $0.attributes["xlink:href"] }
            #expect(links.allSatisfy { $0.hasPrefix("https://example.org/base/") })
            for name in ["time", "elevation"] {
                let dimension = xml.all("Layer/Layer/\(isNew ? "Dimension" : "Extent")").filter {
                    $0.attributes["name"] == name
                }
                #expect(dimension.count == Catalogue.layers.count)
                #expect(dimension.allSatisfy { $0.attributes["default"] != nil && !$0.text.isEmpty })
            }
            let again = try await world.get(
                "/wms?service=WMS&request=GetCapabilities&version=\(version.rawValue)",
                [.ifNoneMatch: try #require(answer.headers[.eTag])])
            #expect(again.status == .notModified)
        }
    }

    @Test(
        "versions are negotiated",
        arguments: [
            ("", "1.3.0"), ("&version=1.3.0", "1.3.0"), ("&version=1.1.1", "1.1.1"), ("&VERSION=1.0.0", "1.1.1"),
            ("&version=1.2.0", "1.1.1"), ("&version=2.0.0", "1.3.0"), ("&version=9", "1.3.0"),
        ])
    func negotiation(_ query: String, _ version: String) async throws {
        try await withWorld { world in
            let xml = try ReadXML(try await world.get("/wms?SERVICE=wms&REQUEST=getcapabilities\(query)").text)
            #expect(xml.elements.first?.attributes["version"] == version)
        }
    }

    // MARK: - GetMap

    @Test("a window that is a tile is that tile, byte for byte, with its headers and tag")
    func tile() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.fetched("skypath")
            try await MapQuery.fill(world)
            for (z, x, y) in [(0, 0, 0), (4, 8, 5), (7, 65, 43)] {
                let tile = try await world.get("/tiles/hexagons/latest/\(z)/\(x)/\(y).png")
                let map = try await world.get(MapQuery.wms(["BBOX": MapQuery.box(z: z, x: x, y: y)]))
                #expect(map.status == .ok, "\(map.text.prefix(300))")
                #expect(map.body == tile.body)
                for name in ["ETag", "X-Frame-Time", "X-Data-Time", "Cache-Control", "Content-Type"] {
                    #expect(map.header(name) == tile.header(name), "\(name)")
                }
                let again = try await world.get(
                    MapQuery.wms(["BBOX": MapQuery.box(z: z, x: x, y: y)]), [.ifNoneMatch: tile.header("ETag") ?? ""])
                #expect(again.status == .notModified)
            }
        }
    }

    @Test("a window over four tiles is those four, pixel for pixel")
    func fourTiles() async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
            let map = try await world.picture(
                MapQuery.wms([
                    "BBOX": MapQuery.box(z: 6, x: 32, y: 21), "WIDTH": "512", "HEIGHT": "512", "LAYERS": "hexagons",
                ]))
            var drawn = 0
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let tile = try await world.picture("/tiles/hexagons/latest/7/\(64 + dx)/\(42 + dy).png")
                for row in 0..<256 {
                    for column in 0..<256 {
                        let (one, other) = (map[dx * 256 + column, dy * 256 + row], tile[column, row])
                        drawn += one?.alpha ?? 0 > 0 ? 1 : 0
                        guard let one, let other else { throw CocoaError(.coderInvalidValue) }
                        // Each has a palette of its own. What is seen of a colour is its share of the pixel.
                        func seen(_ colour: StraightColour) -> [Int] {
                            [colour.red, colour.green, colour.blue, 255].map { Int($0) * Int(colour.alpha) / 255 }
                        }
                        let off = zip(seen(one), seen(other)).map { abs($0 - $1) }.max() ?? 0
                        #expect(off <= 8, "\(column) \(row): \(one) \(other)")
                    }
                }
            }
            #expect(drawn > 5_000)
        }
    }

    @Test("in degrees a place has the colour that it has on the tile, whatever the order of the axes")
    func axes() async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
            let pixel = "255 113 0 204"
            let window = (west: 5.0, south: 45.0, east: 15.0, north: 55.0)
            let lonLat = "\(window.west),\(window.south),\(window.east),\(window.north)"
            let latLon = "\(window.south),\(window.west),\(window.north),\(window.east)"
            for changed in [
                ["CRS": "EPSG:4326", "BBOX": latLon], ["CRS": "CRS:84", "BBOX": lonLat],
                ["VERSION": "1.1.1", "CRS": nil, "SRS": "EPSG:4326", "BBOX": lonLat],
            ] as [[String: String?]] {
                var changed = changed
                changed["WIDTH"] = "400"
                changed["HEIGHT"] = "400"
                let picture = try await world.picture(MapQuery.wms(changed))
                // Moderate lies at 9° E 50° N.
                let colour = try #require(picture[160, 200])
                #expect("\(colour.red) \(colour.green) \(colour.blue) \(colour.alpha)" == pixel, "\(changed)")
                #expect(picture[380, 20]?.alpha == 0)
            }
        }
    }

    @Test("an opaque map lies on its colour, which is white unless another is named")
    func background() async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
            for (changed, ground) in [
                (["TRANSPARENT": nil], (255, 255, 255)),
                (["TRANSPARENT": "false", "BGCOLOR": "0x102030"], (16, 32, 48)),
            ] as [([String: String?], (Int, Int, Int))] {
                let picture = try await world.picture(MapQuery.wms(changed))
                #expect(picture.pixels.allSatisfy { $0.alpha == 255 })
                let corner = try #require(picture[0, 0])
                #expect((Int(corner.red), Int(corner.green), Int(corner.blue)) == ground)
            }
        }
    }

    @Test("several layers are drawn in their order, each in its style")
    func styles() async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
            let all = ["BBOX": MapQuery.box(z: 5, x: 16, y: 10)]
            func map(_ layers: String, _ styles: String) async throws -> [StraightColour] {
                try await world.picture(MapQuery.wms(all.merging(["LAYERS": layers, "STYLES": styles]) { $1 })).pixels
            }
            let plain = try await map("hexagons,pireps", "")
            #expect(try await map("hexagons,pireps", "skypath,") == plain)
            let print = try await map("hexagons,pireps", "print,skypath")
            #expect(print != plain)
            #expect(try await map("hexagons", "print") == print)
        }
    }

    @Test("TIME is an instant, an interval of which the end is shown, or a word for now")
    func time() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(id: "old", try cell(10, 50), at: -7 * 3_600),
                try observation(id: "new", try cell(12, 50), at: -60),
            ])
            func shown(_ time: String) async throws -> String? {
                let answer = try await world.get(
                    MapQuery.wms(["TIME": time, "BBOX": MapQuery.box(z: 6, x: 33, y: 21)]))
                #expect(answer.status == .ok, "\(time): \(answer.text.prefix(300))")
                return answer.header("X-Frame-Time")
            }
            let now = noon.description
            for word in ["current", "latest", "default", "CURRENT"] { #expect(try await shown(word) == now) }
            #expect(try await shown("2026-11-21T05:30:00Z") == "2026-11-21T05:30:00Z")
            #expect(try await shown("2026-11-21T05:30:00.000Z") == "2026-11-21T05:30:00Z")
            #expect(try await shown("2026-11-21T04:00:00Z/2026-11-21T05:00:00Z") == "2026-11-21T05:00:00Z")
            #expect(try await shown("2026-11-21T04:00:00Z/2026-11-21T05:00:00Z/PT5M") == "2026-11-21T05:00:00Z")
            #expect(try await shown("2026-11-21T11:00:00Z/2026-11-22T05:00:00Z") == now)
        }
    }

    @Test("ELEVATION is an altitude in feet or a band, ends included")
    func elevation() async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), altitude: 35, at: -60)])
            let box = MapQuery.box(z: 8, x: 135, y: 86)
            func isShown(_ elevation: String) async throws -> Bool {
                try await world.picture(MapQuery.wms(["ELEVATION": elevation, "BBOX": box]))
                    .pixels.contains { $0.alpha > 0 }
            }
            for elevation in ["35000", "35999", "35500.5", "30000/35000", "35000/60000", "0/60000", "0/60000/1000"] {
                #expect(try await isShown(elevation), "\(elevation)")
            }
            for elevation in ["34999", "36000", "36000/60999", "0/34000", "60500"] {
                #expect(try await !isShown(elevation), "\(elevation)")
            }
            let same = try await world.get(MapQuery.wms(["MINALTITUDE": "36000", "BBOX": box]))
            #expect(try PNG.decode(Array(buffer: same.body)).pixels.allSatisfy { $0.alpha == 0 })
        }
    }

    @Test("parameters of other servers are passed over, and names are in any case")
    func vendor() async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
            let plain = try await world.get(MapQuery.wms())
            let other = MapQuery.wms().replacing("LAYERS=", with: "layers=").replacing("BBOX=", with: "bBox=")
            for more in [
                "&MAP=/x.map&TILED=true&FORMAT_OPTIONS=dpi:96&_olSalt=0.3", "&Exceptions=INIMAGE", "&foo=&bar",
            ] {
                #expect(try await world.get(other + more).body == plain.body)
            }
            // Twice the resolution is twice the size of symbols, lines and letters.
            let fine = try await world.get(MapQuery.wms(["DPI": "192", "WIDTH": "512", "HEIGHT": "512"]))
            #expect(fine.body == (try await world.get("/tiles/hexagons/latest/0/0/0@2x.png")).body)
        }
    }

    @Test("a picture of simulated, stale and incomplete data says so in its headers, as tiles do")
    func freshness() async throws {
        try await withWorld(configured: ["skypath"], simulated: true) { world in
            for address in [MapQuery.wms(), MapQuery.wms(["WIDTH": "300", "CRS": "CRS:84", "BBOX": "0,0,10,10"])] {
                let answer = try await world.get(address)
                #expect(answer.header("X-Simulated") == "true" && answer.header("X-Incomplete") == "true")
            }
        }
    }

    // MARK: - Errors

    struct Case: Sendable, CustomTestStringConvertible {
        var changed: [String: String?]
        var code: String?
        var locator: String?

        init(_ changed: [String: String?], _ code: String?, _ locator: String? = nil) {
            (self.changed, self.code, self.locator) = (changed, code, locator)
        }

        var testDescription: String { "\(changed) → \(code ?? "none")" }
    }

    static let bad: [Case] = [
        Case(["REQUEST": nil], "MissingParameterValue", "REQUEST"),
        Case(["REQUEST": "GetFeature"], "OperationNotSupported", "REQUEST"),
        Case(["REQUEST": "<script>&\"'"], "OperationNotSupported", "REQUEST"),
        Case(["REQUEST": "\u{1}\u{FFFE}"], "OperationNotSupported", "REQUEST"),
        Case(["SERVICE": "WFS"], "InvalidParameterValue", "SERVICE"),
        Case(["VERSION": "x"], "InvalidParameterValue", "VERSION"),
        Case(["VERSION": "1.3.0.0"], "InvalidParameterValue", "VERSION"),
        Case(["LAYERS": nil], "MissingParameterValue", "LAYERS"),
        Case(["LAYERS": ""], "MissingParameterValue", "LAYERS"),
        Case(["LAYERS": "clouds"], "LayerNotDefined", "LAYERS"),
        Case(["LAYERS": "observations"], "LayerNotDefined", "LAYERS"),
        Case(["LAYERS": "hexagons,"], "LayerNotDefined", "LAYERS"),
        Case(["LAYERS": "hexagons,hexagons"], "InvalidParameterValue", "LAYERS"),
        Case(["STYLES": "nothing"], "StyleNotDefined", "STYLES"),
        Case(["STYLES": "skypath,skypath"], "StyleNotDefined", "STYLES"),
        Case(["CRS": nil], "MissingParameterValue", "CRS"),
        Case(["CRS": nil, "SRS": "EPSG:3857"], "MissingParameterValue", "CRS"),
        Case(["CRS": "EPSG:2154"], "InvalidCRS", "CRS"),
        Case(["CRS": "EPSG:4326; DROP"], "InvalidCRS", "CRS"),
        Case(["BBOX": nil], "MissingParameterValue", "BBOX"),
        Case(["BBOX": "1,2,3"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "1,2,3,4,5"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "0,0,NaN,1"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "0,0,1e400,1"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "0,0,inf,1"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "10,0,0,10"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "0,10,10,0"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "0,0,0,0"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "-1e9,-1e9,1e9,1e9"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "1e300,0,2e300,1"], "InvalidParameterValue", "BBOX"),
        Case(["BBOX": "0,0,0.001,0.001"], "InvalidParameterValue", "BBOX"),
        // Longitude first where latitude belongs.
        Case(["CRS": "EPSG:4326", "BBOX": "-125,24,-66,50"], "InvalidParameterValue", "BBOX"),
        Case(["CRS": "CRS:84", "BBOX": "24,-125,50,-66"], "InvalidParameterValue", "BBOX"),
        Case(["WIDTH": nil], "MissingParameterValue", "WIDTH"),
        Case(["WIDTH": "0"], "InvalidParameterValue", "WIDTH"),
        Case(["WIDTH": "-5"], "InvalidParameterValue", "WIDTH"),
        Case(["WIDTH": "4097"], "InvalidParameterValue", "WIDTH"),
        Case(["WIDTH": "999999999999999999999"], "InvalidParameterValue", "WIDTH"),
        Case(["HEIGHT": "1e3"], "InvalidParameterValue", "HEIGHT"),
        Case(["FORMAT": "image/jpeg"], "InvalidFormat", "FORMAT"),
        Case(["FORMAT": "text/html"], "InvalidFormat", "FORMAT"),
        Case(["TRANSPARENT": "maybe"], "InvalidParameterValue", "TRANSPARENT"),
        Case(["BGCOLOR": "red"], "InvalidParameterValue", "BGCOLOR"),
        Case(["BGCOLOR": "0x12345"], "InvalidParameterValue", "BGCOLOR"),
        Case(["TIME": "yesterday"], "InvalidDimensionValue", "TIME"),
        Case(["TIME": "2026-11-21"], "InvalidDimensionValue", "TIME"),
        Case(["TIME": "1999-01-01T00:00:00Z"], "InvalidDimensionValue", "TIME"),
        Case(["TIME": "9999-01-01T00:00:00Z"], "InvalidDimensionValue", "TIME"),
        Case(["TIME": "2026-11-21T10:00:00Z/2026-11-21T09:00:00Z"], "InvalidDimensionValue", "TIME"),
        Case(["TIME": "2026-11-21T10:00:00Z,2026-11-21T11:00:00Z"], "InvalidDimensionValue", "TIME"),
        Case(["ELEVATION": "high"], "InvalidDimensionValue", "ELEVATION"),
        Case(["ELEVATION": "-1"], "InvalidDimensionValue", "ELEVATION"),
        Case(["ELEVATION": "61000"], "InvalidDimensionValue", "ELEVATION"),
        Case(["ELEVATION": "40000/30000"], "InvalidDimensionValue", "ELEVATION"),
        Case(["ELEVATION": "1e400"], "InvalidDimensionValue", "ELEVATION"),
        Case(["ELEVATION": "35000", "minAltitude": "1000"], "InvalidDimensionValue", "ELEVATION"),
        Case(["HOURS": "99"], "InvalidParameterValue", "hours"),
        Case(["OPACITY": "2"], "InvalidParameterValue", "opacity"),
        Case(["REQUEST": "GetFeatureInfo"], "MissingParameterValue", "QUERY_LAYERS"),
        Case(
            ["REQUEST": "GetFeatureInfo", "QUERY_LAYERS": "pireps", "I": "1", "J": "1"], "LayerNotDefined",
            "QUERY_LAYERS"),
        Case(["REQUEST": "GetFeatureInfo", "QUERY_LAYERS": "hexagons", "J": "1"], "MissingParameterValue", "I"),
        Case(["REQUEST": "GetFeatureInfo", "QUERY_LAYERS": "hexagons", "I": "256", "J": "1"], "InvalidPoint", "I"),
        Case(["REQUEST": "GetFeatureInfo", "QUERY_LAYERS": "hexagons", "I": "0", "J": "-1"], "InvalidPoint", "J"),
        Case(
            [
                "REQUEST": "GetFeatureInfo", "QUERY_LAYERS": "hexagons", "I": "0", "J": "1",
                "INFO_FORMAT": "application/vnd.ogc.gml",
            ], "InvalidFormat", "INFO_FORMAT"),
        Case(["REQUEST": "GetLegendGraphic"], "MissingParameterValue", "LAYER"),
        Case(["REQUEST": "GetLegendGraphic", "LAYER": "x"], "LayerNotDefined", "LAYER"),
        Case(["REQUEST": "GetLegendGraphic", "LAYER": "hexagons", "STYLE": "x"], "StyleNotDefined", "STYLE"),
    ]

    @Test("bad input is an exception of the standard that names the parameter", arguments: bad)
    func refused(_ asked: Case) async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
            let answer = try await world.get(MapQuery.wms(asked.changed))
            #expect(answer.status == .badRequest)
            #expect(answer.headers[.contentType] == "text/xml")
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
            let xml = try ReadXML(answer.text)
            let exception = try #require(xml.all("ServiceExceptionReport/ServiceException").first)
            #expect(exception.attributes["code"] == asked.code)
            #expect(exception.attributes["locator"] == asked.locator)
            #expect(exception.text.hasSuffix("."))
        }
    }

    @Test("a parameter with two values, and the exceptions of version 1.1.1")
    func others() async throws {
        try await withWorld { world in
            let twice = try await world.get(MapQuery.wms() + "&layers=pireps")
            #expect(twice.status == .badRequest && twice.text.contains("locator=\"LAYERS\""))
            let old = try await world.get(
                MapQuery.wms(["VERSION": "1.1.1", "CRS": nil, "SRS": "EPSG:2154"]))
            #expect(old.headers[.contentType] == "application/vnd.ogc.se_xml")
            let xml = try ReadXML(old.text)
            #expect(xml.elements.first?.attributes["version"] == "1.1.1")
            #expect(xml.all("ServiceException").first?.attributes["code"] == "InvalidSRS")
        }
    }

    @Test("an error of GetMap is a picture where that is requested, in words or blank, and as large as requested")
    func pictures() async throws {
        try await withWorld { world in
            let wrong = ["LAYERS": "nope", "WIDTH": "300", "HEIGHT": "120"]
            for (form, version, words) in [
                ("INIMAGE", "1.3.0", true), ("BLANK", "1.3.0", false), ("inimage", "1.3.0", true),
                ("application/vnd.ogc.se_inimage", "1.1.1", true), ("application/vnd.ogc.se_blank", "1.1.1", false),
            ] {
                for transparent in ["TRUE", "FALSE"] {
                    let asked = ["EXCEPTIONS": form, "VERSION": version, "TRANSPARENT": transparent]
                    let answer = try await world.get(MapQuery.wms(wrong.merging(asked) { $1 }))
                    #expect(answer.status == .ok && answer.headers[.contentType] == "image/png", "\(form)")
                    #expect(answer.headers[.cacheControl] == "no-store")
                    let picture = try PNG.decode(Array(buffer: answer.body))
                    #expect(picture.width == 300 && picture.height == 120)
                    let ground = StraightColour(red: 255, green: 255, blue: 255)
                    let others = picture.pixels.count { transparent == "TRUE" ? $0.alpha > 0 : $0 != ground }
                    #expect(words ? others > 200 : others == 0, "\(form): \(others) pixels")
                }
            }
            // Without a picture, and for other requests, the text is XML.
            for other in [
                ["EXCEPTIONS": "XML"], ["EXCEPTIONS": "INIMAGE", "WIDTH": "0"],
                ["EXCEPTIONS": "BLANK", "HEIGHT": "9999"],
                ["EXCEPTIONS": "INIMAGE", "FORMAT": "image/gif"],
                ["EXCEPTIONS": "INIMAGE", "REQUEST": "GetFeatureInfo"],
                ["EXCEPTIONS": "application/vnd.ogc.se_xml"],
            ] {
                let answer = try await world.get(MapQuery.wms(wrong.merging(other) { $1 }))
                #expect(answer.status == .badRequest && answer.text.contains("<ServiceException"), "\(other)")
            }
        }
    }

    @Test("a server that hasn't read its store says so with status 503")
    func starting() async throws {
        try await withWorld(load: false) { world in
            let answer = try await world.get(MapQuery.wms())
            #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] != nil)
            #expect(answer.text.contains("ServiceException"))
        }
    }

    @Test("a server that needs a key gives nothing without one")
    func keys() async throws {
        try await withWorld(anonymousRead: false) { world in
            for address in [MapQuery.wms(), "/wmts?REQUEST=GetCapabilities", "/collections/hexagons/map"] {
                #expect(try await world.get(address).status == .unauthorized)
                let key = try await world.key(.read)
                let answer = try await world.send(.get, address, key: key.text)
                #expect(answer.status == .ok)
                #expect(answer.headers[.cacheControl]?.contains("public") != true)
            }
        }
    }

    // MARK: - GetLegendGraphic

    @Test("the legend of a layer and style is a picture, or SVG")
    func legend() async throws {
        try await withWorld { world in
            let address = "/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetLegendGraphic&LAYER=hazards&STYLE=night&SCALE=5e6"
            let picture = try await world.picture(address)
            let xml = try ReadXML(try await world.get("/wms?REQUEST=GetCapabilities&SERVICE=WMS").text)
            let url = try #require(xml.all("LegendURL/OnlineResource").first?.attributes["xlink:href"])
            #expect(try await world.get(String(url.dropFirst("http://127.0.0.1".count))).status == .ok)
            #expect(picture.width > 50)
            let svg = try await world.get(address + "&FORMAT=image/svg%2Bxml")
            #expect(svg.headers[.contentType] == "image/svg+xml" && svg.text.hasPrefix("<svg"))
        }
    }
}
