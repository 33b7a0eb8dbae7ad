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

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An XML document as a list of its elements, read by Foundation.
final class ReadXML: NSObject, XMLParserDelegate {
    struct Element {
        var path: String
        var attributes: [String: String]
        var text = ""
    }

    private(set) var elements: [Element] = []
    private var open: [Int] = []
    private var names: [String] = []

    /// - Throws: where it is not well-formed.
    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.propertyListReadCorrupt) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        names.append(name)
        open.append(elements.count)
        elements.append(Element(path: names.joined(separator: "/"), attributes: attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if let last = open.last { elements[last].text += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
        names.removeLast()
    }

    /// Those whose path ends so.
    func all(_ path: String) -> [Element] { elements.filter { $0.path == path || $0.path.hasSuffix("/\(path)") } }
    func texts(_ path: String) -> [String] {
        all(path).map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
    }
}

/// What the tests of maps ask for again and again.
enum MapQuery {
    static let edge = 20_037_508.342789244

    /// `/wms` with the parameters of GetMap, some of them replaced; nil leaves one out.
    static func wms(_ changed: [String: String?] = [:]) -> String {
        var parameters: [String: String] = [
            "SERVICE": "WMS", "VERSION": "1.3.0", "REQUEST": "GetMap", "LAYERS": "hexagons", "STYLES": "",
            "CRS": "EPSG:3857", "BBOX": "\(-edge),\(-edge),\(edge),\(edge)", "WIDTH": "256", "HEIGHT": "256",
            "FORMAT": "image/png", "TRANSPARENT": "TRUE",
        ]
        for (name, value) in changed { parameters[name] = value }
        return address("/wms", parameters)
    }

    static func address(_ path: String, _ parameters: [String: String]) -> String {
        path + "?" + QueryReader.query(parameters)
    }

    /// The box of a tile in metres.
    static func box(z: Int, x: Int, y: Int) -> String {
        let side = 2 * edge / Double(1 << z)
        let (west, north) = (Double(x) * side - edge, edge - Double(y) * side)
        return "\(west),\(north - side),\(west + side),\(north)"
    }
}

@Suite("WMS")
struct WMSTests {
    private static func fill(_ world: World) async throws {
        for (number, severity) in Severity.allCases.enumerated() {
            let place = try #require(LonLat(longitude: Double(number) * 3, latitude: 50))
            _ = try await world.insertDisk(severity, at: place, distance: 3)
        }
    }

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
            try await Self.fill(world)
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
            try await Self.fill(world)
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
            try await Self.fill(world)
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
            try await Self.fill(world)
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
            try await Self.fill(world)
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
            try await Self.fill(world)
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
            try await Self.fill(world)
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

    // MARK: - GetFeatureInfo and GetLegendGraphic

    @Test("feature info is of the picture's instant, whichever of its layers is queried")
    func infoOfAnInterval() async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let corners = try [(-10.0, 40.0), (20, 40), (20, 60), (-10, 60)].map { try place($0.0, $0.1) }
            let area = IssuedArea(
                collection: .hazards, id: "a", source: try source("awc"), kind: "sigmet", hazard: "TURB",
                validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 7_200),
                geometry: try #require(MultiPolygon(outline: corners)))
            _ = try await world.store.commit(Batch(source: try source("awc"), areas: [area]))
            try await world.refresh()
            func ask(_ more: [String: String?]) async throws -> TestResponse {
                let place: [String: String?] = [
                    "LAYERS": "hexagons,hazards", "CRS": "CRS:84", "BBOX": "8,49,10,51", "WIDTH": "64", "HEIGHT": "64",
                    "TIME": "\(noon.advanced(by: -3_600))/\(noon.advanced(by: 3_600))",
                ]
                return try await world.get(MapQuery.wms(place.merging(more) { $1 }))
            }
            func info(_ layers: String) async throws -> TestResponse {
                try await ask(["REQUEST": "GetFeatureInfo", "QUERY_LAYERS": layers, "I": "32", "J": "32"])
            }
            let shown = try await ask([:]).headers[.frameTime]
            #expect(shown == noon.advanced(by: 3_600).description)
            for layers in ["hazards", "hexagons,hazards"] {
                let answer = try await info(layers)
                #expect(answer.headers[.frameTime] == shown)
                #expect(try answer.json.features.count == 1, "\(answer.text)")
            }
            // The picture has no hexagons of that instant, so there are none of another one.
            let none = try await info("hexagons")
            #expect(none.status == .badRequest && none.text.contains("locator=\"TIME\""), "\(none.text)")
        }
    }

    @Test("feature info lists the features at a pixel, as JSON and as text", arguments: WMSVersion.allCases)
    func info(_ version: WMSVersion) async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let isNew = version == .v130
            func address(_ more: [String: String?]) -> String {
                var changed: [String: String?] = [
                    "VERSION": version.rawValue, "REQUEST": "GetFeatureInfo", "LAYERS": "hexagons,pireps",
                    "QUERY_LAYERS": "hexagons", "BBOX": isNew ? "45,5,55,15" : "5,45,15,55", "CRS": nil, "SRS": nil,
                    "WIDTH": "400", "HEIGHT": "400",
                ]
                changed[isNew ? "CRS" : "SRS"] = "EPSG:4326"
                changed[isNew ? "I" : "X"] = "160"
                changed[isNew ? "J" : "Y"] = "200"
                return MapQuery.wms(changed.merging(more) { $1 })
            }
            for format in ["application/json", "application/geo+json", nil] {
                let answer = try await world.get(address(["INFO_FORMAT": format]))
                #expect(answer.status == .ok, "\(answer.text)")
                #expect(answer.headers[.contentType] == format ?? "application/json")
                let json = try answer.json
                #expect(json["type"]?.string == "FeatureCollection" && json["incomplete"]?.bool != nil)
                let feature = try #require(json.features.first)
                #expect(json.features.count == 1 && feature["layer"]?.string == "hexagons")
                #expect(feature.property("severity")?.integer == 3)
                #expect(feature["geometry"]?["type"]?.string == "Polygon")
                let place = try #require(LonLat(longitude: 9.0125, latitude: 49.9875))
                #expect(feature["id"]?.string == H3.cell(at: place).h3String)
            }
            let text = try await world.get(address(["INFO_FORMAT": "text/plain"]))
            #expect(text.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(text.text.contains("severity: 3") && text.text.contains("altitude: 35000 ft"))
            let nothing = try await world.get(address([isNew ? "I" : "X": "399", isNew ? "J" : "Y": "0"]))
            #expect(try nothing.json.features.isEmpty)
        }
    }

    @Test("the first feature at a pixel is the one whose colour the pixel has")
    func firstInfo() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 20).sorted()
            var severities: [Cell: Severity] = [:]
            for (number, cell) in cells.enumerated() {
                severities[cell] = Severity(rawValue: UInt8(number * 7 % 5))
            }
            try await world.insert(try cells.map { try observation($0, severity: severities[$0]) })
            // Two reports and two areas at one place. The less severe ones come first by time and by id.
            func report(_ id: String, _ severity: Severity, _ secondsAgo: Int) throws -> PilotReport {
                let group = TurbulenceGroup(
                    severity: severity, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
                return PilotReport(
                    id: id, place: try place(10, 50), observedAt: noon.advanced(by: -secondsAgo), type: "PIREP",
                    aircraft: nil, altitudeFeet: 35_000, turbulence: [group], text: "UA", source: try source("awc"))
            }
            func area(_ id: String, _ severity: Severity?) throws -> IssuedArea {
                let corners = try [(5.0, 45.0), (15, 45), (15, 55), (5, 55)].map { try place($0.0, $0.1) }
                return IssuedArea(
                    collection: .hazards, id: id, source: try source("awc"), kind: "sigmet", hazard: "TURB",
                    severity: severity, validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 7_200),
                    geometry: try #require(MultiPolygon(outline: corners)))
            }
            _ = try await world.store.commit(
                Batch(
                    source: try source("awc"),
                    pilotReports: [
                        try report("a", .light, 1_800), try report("b", .moderateSevere, 900),
                        try report("c", .smooth, 60),
                    ],
                    areas: [try area("a", nil), try area("b", .moderateSevere), try area("c", .moderate)]))
            try await world.refresh()
            // A pixel of zoom 5 is a third of a cell wide, so most of them touch several cells.
            func info(_ layer: String, _ column: Int, _ row: Int, count: Int? = nil) async throws -> [JSONValue] {
                let pixel = 45.0 / 1_024
                return try await world.get(
                    MapQuery.wms([
                        "REQUEST": "GetFeatureInfo", "LAYERS": layer, "QUERY_LAYERS": layer, "CRS": "CRS:84",
                        "BBOX": "\(10 - 32 * pixel),\(50 - 32 * pixel),\(10 + 32 * pixel),\(50 + 32 * pixel)",
                        "WIDTH": "64", "HEIGHT": "64", "I": "\(column)", "J": "\(row)",
                        "FEATURE_COUNT": count.map(String.init),
                    ])
                ).json.features
            }
            var several = 0
            for number in 0..<60 {
                let (column, row) = (10 + number * 13 % 44, 10 + number * 7 % 44)
                let pixel = 45.0 / 1_024
                let shown = H3.cell(
                    at: try place(10 + (Double(column) - 31.5) * pixel, 50 - (Double(row) - 31.5) * pixel))
                for layer in ["hexagons", "polygons"] {
                    let first = try #require(try await info(layer, column, row).first)
                    #expect(first.property("severity")?.integer == severities[shown].map { Int($0.rawValue) })
                }
                let all = try await info("hexagons", column, row, count: 10)
                #expect(all.first?["id"]?.string == shown.h3String)
                #expect(Set(all.compactMap { $0["id"]?.string }).count == all.count)
                several += all.count > 1 ? 1 : 0
            }
            #expect(several > 10)
            #expect(try await info("pireps", 32, 32).first?["id"]?.string == "b")
            #expect(try await info("pireps", 32, 32, count: 9).compactMap { $0["id"]?.string } == ["b", "a", "c"])
            #expect(try await info("hazards", 32, 32).first?["id"]?.string == "b")
            #expect(try await info("hazards", 32, 32, count: 9).compactMap { $0["id"]?.string } == ["b", "c", "a"])
        }
    }

    @Test("far out, feature info answers for the cell that decides the colour of the coarser cell")
    func coarseInfo() async throws {
        try await withWorld { world in
            try await Self.fill(world)
            var reported: [Cell: Severity] = [:]
            for (number, severity) in Severity.allCases.enumerated() {
                let place = try #require(LonLat(longitude: Double(number) * 3, latitude: 50))
                for cell in H3.disk(around: H3.cell(at: place), distance: 3) { reported[cell] = severity }
            }
            for (zoom, resolution) in [1, 2, 3, 3, 4].enumerated() {
                let span = (resolution..<Cell.resolution).reduce(1) { span, _ in span * 7 }
                // 32 pixels of that zoom each way.
                let half = 22.5 / Double(1 << zoom)
                let (west, south) = (6.5 - half, 50.2 - half)
                var elsewhere = 0
                for pixel in 0..<49 {
                    let (column, row) = (pixel % 7 * 5, pixel / 7 * 5)
                    let place = try #require(
                        LonLat(
                            longitude: west + (Double(column) + 0.5) * half / 16,
                            latitude: south + 2 * half - (Double(row) + 0.5) * half / 16))
                    let parent = H3.dense(at: place, resolution: resolution)
                    let below = reported.filter { Int($0.key.dense) / span == parent }
                    guard let worst = below.values.max(), worst > .smooth else { continue }
                    let answer = try await world.get(
                        MapQuery.wms([
                            "REQUEST": "GetFeatureInfo", "LAYERS": "hexagons", "QUERY_LAYERS": "hexagons",
                            "CRS": "CRS:84", "BBOX": "\(west),\(south),\(west + 2 * half),\(south + 2 * half)",
                            "WIDTH": "32", "HEIGHT": "32", "I": "\(column)", "J": "\(row)",
                        ]))
                    let feature = try #require(try answer.json.features.first, "\(answer.text)")
                    let id = try #require(feature["id"]?.string.flatMap { Cell(h3String: $0) })
                    #expect(feature.property("severity")?.integer == Int(worst.rawValue))
                    #expect(below[id] == worst)
                    if id != H3.cell(at: place) { elsewhere += 1 }
                }
                #expect(elsewhere > 0, "zoom \(zoom)")
            }
        }
    }

    @Test("every layer can be asked about", arguments: Catalogue.layers)
    func allLayers(_ layer: Dataset) async throws {
        try await withWorld { world in
            try await Self.fill(world)
            let answer = try await world.get(
                MapQuery.wms([
                    "REQUEST": "GetFeatureInfo", "LAYERS": layer.id, "QUERY_LAYERS": layer.id, "I": "133", "J": "86",
                    "FEATURE_COUNT": "1000000",
                ]))
            #expect(answer.status == .ok, "\(answer.text)")
            #expect(try answer.json.features.count <= FeatureInfoParameters.maximumFeatures)
        }
    }

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
