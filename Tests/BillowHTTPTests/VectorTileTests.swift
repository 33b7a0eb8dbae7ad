import EngineTestSupport
import BillowStore
import BillowTiles
import Datasets
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Vector tiles over HTTP")
struct VectorTileRouteTests {
    private func tile(_ world: World, _ uri: String) async throws -> DecodedVectorTile {
        let response = try await world.get(uri)
        #expect(response.status == .ok, "\(uri): \(String(buffer: response.body).prefix(300))")
        #expect(response.headers[.contentType] == "application/vnd.mapbox-vector-tile")
        #expect(try await world.get(uri, [.ifNoneMatch: response.headers[.eTag] ?? ""]).status == .notModified)
        return try DecodedVectorTile(Array(buffer: response.body))
    }

    private func filled(_ world: World) async throws {
        let area = IssuedArea(
            collection: .hazards, id: "s1", source: try source("awc"), kind: "sigmet", hazard: "TURB",
            severity: .moderateSevere, altitudeMinFeet: 25_000, altitudeMaxFeet: 41_000, validFrom: noon,
            validTo: noon.advanced(by: 7_200),
            geometry: try MultiPolygon(
                outline: [try place(8, 48), try place(12, 48), try place(12, 52), try place(8, 52)]
            ).orMissing())
        let report = PilotReport(
            id: "r1", place: try place(10, 50), observedAt: noon.advanced(by: -60), type: "PIREP", aircraft: "B738",
            altitudeFeet: 35_000,
            turbulence: [
                TurbulenceGroup(
                    severity: .moderate, intensity: "MOD", baseFeet: nil, topFeet: nil, type: "CAT", frequency: nil)
            ], text: "UA /TB MOD", source: try source("awc"))
        let positions = try (1...3).map { index in
            AircraftPosition(
                icao24: try ICAO24("3c6444").orMissing(), callsign: "DLH1",
                place: try place(10 + Double(index) / 10, 50),
                source: try source("awc"), observedAt: noon.advanced(by: -index * 20), altitudeFeet: 36_000,
                groundSpeedKnots: 455.5, headingDegrees: 90)
        }
        _ = try await world.store.commit(
            Batch(
                source: nil,
                // Before, the air was smooth there: a trend.
                observations: [
                    try observation(try cell(10, 50), edr: 0.31),
                    try observation(try cell(10, 50), edr: 0.01, at: -2_400),
                ], pilotReports: [report],
                areas: [area], positions: positions))
        try await world.refresh()
    }

    @Test(
        "every layer's features have the properties that GeoJSON has",
        arguments: ["hexagons", "polygons", "pireps", "hazards", "traffic"])
    func properties(layer: String) async throws {
        try await withWorld { world in
            try await filled(world)
            let pixel = PixelPlace(try place(10, 50), zoom: 7)
            let tile = try await tile(world, "/tiles/\(layer)/latest/7/\(pixel.x)/\(pixel.y).mvt")
            let features = try tile.layers.first.orMissing("layer").features
            let items = try await world.json("/collections/\(layer)/items").features
            #expect(features.count == items.count && features.count == 1)
            let (feature, item) = (try features.first.orMissing(), try items.first.orMissing())
            let members = try item["properties"].orMissing().members
            #expect(Set(feature.properties.keys) == Set(members.keys).union(["id"]))
            #expect(feature.properties["id"] == item["id"]?.string)
            for (name, value) in members {
                switch value {
                case .string(let text): #expect(feature.properties[name] == text, "\(name)")
                case .number(let number): #expect(feature.properties[name].flatMap(Double.init) == number, "\(name)")
                case .bool(let flag): #expect(feature.properties[name] == "\(flag)", "\(name)")
                default: #expect(feature.properties[name]?.hasPrefix("[") == true, "\(name)")
                }
            }
        }
    }

    @Test("the number of a hexagon is its dense cell index; polygons are one feature a severity; tracks are lines")
    func shapes() async throws {
        try await withWorld { world in
            try await filled(world)
            let pixel = PixelPlace(try place(10, 50), zoom: 7)
            let tile = try await tile(
                world, "/tiles/hexagons,polygons,tracks,turbulence/latest/7/\(pixel.x)/\(pixel.y).mvt")
            #expect(tile.layers.map(\.name) == ["hexagons", "polygons", "tracks", "turbulence"])
            #expect(tile.layers[0].features.first?.id == UInt64(try cell(10, 50).dense))
            #expect(tile.layers[1].features.first?.properties["severity"] == "3")
            #expect(tile.layers[2].features.first?.type == 2)
            #expect(tile.layers[3].features.first?.properties["h3"] != nil)
            let low = try await self.tile(world, "/tiles/hexagons,turbulence/latest/1/1/0.mvt")
            #expect(low.layers[0].features.first?.properties["resolution"] == "2")
            #expect(low.layers[1].features.first?.properties["mode"] == "exact")
        }
    }

    @Test("a vector tile by the other suffix is the same")
    func suffix() async throws {
        try await withWorld { world in
            try await filled(world)
            let tile = try await world.get("/tiles/hexagons/latest/0/0/0.mvt")
            let other = try await world.get("/tiles/hexagons/latest/0/0/0.pbf")
            #expect(other.status == .ok && other.body == tile.body)
            #expect(other.headers[.contentType] == tile.headers[.contentType])
        }
    }

    @Test("an empty vector tile is 204; scales and half suffixes are refused")
    func empty() async throws {
        try await withWorld { world in
            let empty = try await world.get("/tiles/hexagons/latest/3/0/0.mvt")
            #expect(empty.status == .noContent)
            for suffix in ["0@2x.mvt", "0.MVT", "0.mvt.png", "0.pbf.mvt", "0@2x.pbf", ".pbf", ".mvt"] {
                let refused = try await world.get("/tiles/hexagons/latest/0/0/\(suffix)")
                #expect(refused.status == .badRequest, "\(suffix)")
            }
        }
    }

    @Test("TileJSON names the vector layers with every field that their features have")
    func tileJSON() async throws {
        try await withWorld { world in
            try await filled(world)
            let all = Catalogue.layers.map(\.id).joined(separator: ",")
            let document = try await world.json("/tiles/\(all).json?f=mvt&hours=4")
            let address = try document["tiles"]?[0]?.string.orMissing() ?? ""
            #expect(address.hasSuffix("/{z}/{x}/{y}.mvt?hours=4"))
            #expect(document["vector_layers"]?.items.count == Catalogue.layers.count)
            for zoom in [1, 7] {
                let pixel = PixelPlace(try place(10, 50), zoom: zoom)
                let tile = try await tile(world, "/tiles/\(all)/latest/\(zoom)/\(pixel.x)/\(pixel.y).mvt")
                for layer in tile.layers {
                    let described = try document["vector_layers"]?.items.first { $0["id"]?.string == layer.name }
                        .orMissing(layer.name)
                    let fields = Set(described?["fields"]?.members.keys.map { $0 } ?? [])
                    for feature in layer.features {
                        #expect(Set(feature.properties.keys).subtracting(fields) == [], "\(layer.name)")
                    }
                }
            }
        }
    }

    @Test("a style document has a source for each layer, and its address answers")
    func styles() async throws {
        try await withWorld { world in
            for style in ["skypath", "colour-blind", "night", "high-contrast", "skypath-web", "print"] {
                let document = try await world.json("/styles/\(style).json?hours=1")
                #expect(document["version"]?.double == 8)
                let sources = try document["sources"].orMissing().members
                for layer in document["layers"]?.items ?? [] where layer["type"]?.string == "raster" {
                    #expect(sources[layer["source"]?.string ?? ""] != nil)
                }
                let url = try sources["turbulence"]?["url"]?.string.orMissing() ?? ""
                #expect(url.hasSuffix("/tiles/turbulence.json?style=\(style)&hours=1"))
                let path = String(url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
                #expect(try await world.json(path)["tiles"]?[0]?.string?.contains("style=\(style)") == true)
            }
            for name in ["nope.json", "skypath", "..%2FPackage.json", ".json"] {
                let status = try await world.get("/styles/\(name)").status
                #expect(status == .notFound || status == .badRequest, "\(name)")
            }
        }
    }

    @Test("a style document of vector tiles draws each severity of their layers in the style's colours")
    func vectorStyles() async throws {
        try await withWorld { world in
            let document = try await world.json("/styles/night.json?f=mvt&hours=1&opacity=0.5")
            let sources = try document["sources"].orMissing().members
            #expect(Set(sources.keys) == Set(Catalogue.menu.map(\.id)).union([BaseMapStyle.source]))
            let url = try sources["hexagons"]?["url"]?.string.orMissing() ?? ""
            #expect(url.hasSuffix("/tiles/hexagons.json?f=mvt&hours=1"))
            let path = String(url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
            #expect(try await world.json(path)["tiles"]?[0]?.string?.contains(".mvt?hours=1") == true)
            let layers = try document["layers"].orMissing().items.dropFirst()
            let legend = try await world.json("/legend.json?style=night")
            for entry in try legend["entries"].orMissing().items {
                let severity = try entry["severity"].orMissing()
                let fill = try layers.first { $0["id"]?.string == "hexagons-\(Int(severity.double ?? -1))" }.orMissing()
                #expect(fill["source-layer"] == .text("hexagons") && fill["type"] == .text("fill"))
                #expect(fill["filter"] == .array([.text("=="), .text("severity"), severity]))
                #expect(fill["paint"]?["fill-color"] == entry["fill"])
                #expect(fill["paint"]?["fill-opacity"]?.double == (entry["opacity"]?.double).map { $0 / 2 })
            }
            let ground = layers.filter { $0["source"]?.string == BaseMapStyle.source }
            #expect(ground.count == 4 && ground == Array(layers.prefix(4)), "the base map lies below")
            #expect(sources[BaseMapStyle.source]?["data"]?.string?.hasSuffix("/vendor/basemap/coarse.geojson") == true)
            for layer in layers.dropFirst(ground.count) {
                let source = try layer["source"]?.string.orMissing() ?? ""
                #expect(sources[source] != nil && layer["source-layer"] == layer["source"])
            }
            #expect(Set(layers.compactMap { $0["id"]?.string }).count == layers.count, "ids are unique")
            #expect(try await world.get("/styles/night.json?f=pdf").status == .badRequest)
        }
    }

    @Test("every layer has a legend in every style")
    func legends() async throws {
        try await withWorld { world in
            let counts = [
                "turbulence": 5, "hexagons": 5, "polygons": 5, "pireps": 7, "hazards": 5, "forecast": 1, "traffic": 1,
                "tracks": 1, "turbulence,hexagons,traffic": 6,
            ]
            for (layer, count) in counts {
                for style in ["skypath", "night", "print"] {
                    let legend = try await world.json("/legend.json?layer=\(layer)&style=\(style)")
                    #expect(legend["entries"]?.items.count == count, "\(layer)")
                    #expect(legend["entries"]?.items.allSatisfy { $0["label"]?.string?.isEmpty == false } == true)
                }
            }
            _ = try await world.picture(
                "/legend.png?layer=hazards,pireps,traffic,tracks&orientation=horizontal&scale=2")
            #expect(try await world.get("/legend.svg?layer=turbulence&style=print").text.contains("<pattern"))
        }
    }
}
