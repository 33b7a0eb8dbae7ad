import Datasets
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

@Suite("Polygons over HTTP")
struct PolygonTests {
    @Test("polygons are the hexagons of each severity, with what they are made of")
    func polygons() async throws {
        try await withWorld { world in
            let cells = try await world.insertDisk(.moderate, at: try place(10, 50), distance: 3)
            try await world.insert([
                try observation(try cell(10, 50), altitude: 37, severity: .moderateSevere, at: -10, source: "other")
            ])
            let features = try await world.json("/collections/polygons/items?hours=1").features
            #expect(features.map { $0["id"]?.string } == ["3-1", "4-1"])
            let moderate = try #require(features.first)
            #expect(moderate.property("hexagons")?.double == Double(cells.count - 1))
            #expect(moderate.property("mode")?.string == "exact")
            #expect(moderate.property("history")?.double == 1)
            #expect(moderate.property("observedTo")?.string == noon.advanced(by: -60).description)
            // One area with a hole where it is worse.
            #expect(moderate["geometry"]?["coordinates"]?.items.map(\.items.count) == [2])
            let whole = try await world.json("/collections/polygons/items/3-1?hours=1&mode=atLeast")
            #expect(whole["geometry"]?["coordinates"]?.items.map(\.items.count) == [1])
            #expect(whole.property("hexagons")?.double == Double(cells.count))
            // A band that has only the severe one.
            let above = try await world.json("/collections/polygons/items?hours=1&minAltitude=36000").features
            #expect(above.map { $0["id"]?.string } == ["4-1"])
            // The id names the history, whatever the default is.
            #expect(try await world.json("/collections/polygons/items/4-1").property("history")?.double == 1)
        }
    }

    @Test("polygons of our own go by a source of their own, and an upstream's by its name and kind")
    func sources() async throws {
        try await withWorld { world in
            _ = try await world.insertDisk(.moderate, at: try place(10, 50), distance: 1)
            let ring = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try place(10 + $0.0, 50 + $0.1) }
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [],
                    areas: [
                        IssuedArea(
                            collection: .polygons, id: "3-2-awc", source: try source("awc"), kind: "polygon",
                            severity: .moderate, validFrom: noon.advanced(by: -60), validTo: noon.advanced(by: 600),
                            historySeconds: 7_200, geometry: try MultiPolygon(outline: ring).orMissing())
                    ]))
            try await world.refresh()
            for id in ["3-2", "3-2-awc"] {
                let polygon = try await world.json("/collections/polygons/items/\(id)?hours=1")
                #expect(polygon["id"]?.string == id && polygon.property("history")?.double == 2, "of the id's history")
            }
            func ids(_ query: String) async throws -> [String?] {
                try await world.json("/collections/polygons/items\(query)").features.map { $0["id"]?.string }
            }
            #expect(try await ids("") == ["3-2", "3-2-awc"])
            #expect(try await ids("?source=billow") == ["3-2"])
            #expect(try await ids("?source=awc") == ["3-2-awc"])
            #expect(try await ids("?source=billow,awc") == ["3-2", "3-2-awc"])
            #expect(try await ids("?kind=polygon") == ["3-2-awc"])
            #expect(try await ids("?hours=1") == ["3-1"], "made for another history")
        }
    }

    @Test("the layer of polygons shows an upstream's where its source or kind is named, and else ours: never both")
    func layer() async throws {
        try await withWorld { world in
            let middle = try place(10.2, 50.2)
            _ = try await world.insertDisk(.light, at: middle, distance: 1)
            let ring = try [(10.0, 50.0), (11, 50), (11, 51), (10, 51)].map { try place($0.0, $0.1) }
            func issued(_ id: String, _ severity: Severity, hours: Int) throws -> IssuedArea {
                IssuedArea(
                    collection: .polygons, id: id, source: try source("skypath"), kind: "polygon", severity: severity,
                    validFrom: noon.advanced(by: -60), validTo: noon.advanced(by: 600), historySeconds: hours * 3_600,
                    geometry: try MultiPolygon(outline: ring).orMissing())
            }
            let before = try await world.json("/timeline.json?layers=polygons&source=skypath&intervals=1")
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    areas: [try issued("a", .moderateSevere, hours: 2), try issued("b", .moderate, hours: 1)]))
            try await world.refresh()
            let pixel = PixelPlace(middle, zoom: 6)
            func tile(_ query: String, _ time: String = "latest", _ suffix: String = "png") -> String {
                "/tiles/polygons/\(time)/6/\(pixel.x)/\(pixel.y).\(suffix)\(query)"
            }
            func colour(_ query: String, _ time: String = "latest") async throws -> String {
                let colour = try await world.picture(tile(query, time))[pixel.column, pixel.row].orMissing()
                return "\(colour.red) \(colour.green) \(colour.blue) \(colour.alpha)"
            }
            for (query, pixel) in [
                ("", Pixel.light), ("?source=billow", Pixel.light), ("?source=skypath", Pixel.moderateSevere),
                ("?kind=polygon", Pixel.moderateSevere), ("?source=skypath&hours=1", Pixel.moderate),
                ("?source=billow,skypath", Pixel.light), ("?source=skypath,other&hours=1", Pixel.moderate),
                ("?source=skypath&kind=in-situ", Pixel.light), ("?source=other", Pixel.none),
                // It was issued, and isn't requested: nothing replaces it.
                ("?source=skypath&severity=1", Pixel.none),
            ] { #expect(try await colour(query) == pixel, "\(query)") }
            // Of this history none was issued; neither ours nor nothing may stand for it.
            for uri in [
                tile("?source=skypath&hours=4"), tile("?kind=polygon&hours=4"),
                tile("?kind=polygon&hours=4", "latest", "mvt"),
                "/maps/polygons.png?kind=polygon&hours=4", "/collections/polygons/items?kind=polygon&hours=4",
                "/export/polygons.geojson?source=skypath&hours=4",
            ] {
                let problem = try await world.json(uri, status: .notFound)
                #expect(problem["code"]?.string == "history-not-made" && problem["allowed"]?.string == "1, 2", "\(uri)")
            }
            // Before it was issued, and as it was then at a frame's own address.
            #expect(try await colour("?source=skypath", "20261121T115830Z") == Pixel.none)
            let frame = { (manifest: JSON) in manifest["layers"]?[0]?["frames"]?[0]?["v"]?.double }
            let after = try await world.json("/timeline.json?layers=polygons&source=skypath&intervals=1")
            #expect(try #require(frame(after)) > (try #require(frame(before))))
            let ours = try await world.json("/timeline.json?layers=polygons&intervals=1")
            #expect(frame(ours) == frame(before), "what isn't drawn changes no version")
            // Ours have a past; an upstream's only the last issue.
            for (query, animates) in [
                ("", true), ("&source=billow", true), ("&source=skypath", false), ("&kind=polygon", false),
                ("&source=skypath&hours=4", false), ("&source=other", true),
            ] {
                let layer = try await world.json("/timeline.json?layers=polygons\(query)")["layers"]?[0]
                #expect(layer?["animates"]?.bool == animates, "\(query)")
                #expect((layer?["frames"]?.items.count ?? 0 > 1) == animates, "\(query)")
            }
            let features = try await world.get(tile("?source=skypath", "latest", "mvt"))
            let decoded = try DecodedVectorTile(Array(buffer: features.body)).layers.first?.features ?? []
            #expect(decoded.map { $0.properties["id"] } == ["a"])
            #expect(decoded.first?.properties["source"] == "skypath")
            #expect(decoded.first?.properties["severity"] == "4")
        }
    }

    @Test("a history without polygons is a 404 that names those with")
    func histories() async throws {
        try await withWorld(histories: PolygonHistories(longest: .oneHour, upTo: true)) { world in
            let problem = try await world.json("/collections/polygons/items?hours=2", status: .notFound)
            #expect(problem["code"]?.string == "history-not-made")
            #expect(problem["allowed"]?.string == "0.5, 1")
            _ = try await world.json("/collections/polygons/items?hours=0.5")
            // An interval is a history of its own.
            let interval = "datetime=\(noon.advanced(by: -7_452).description)/\(noon.description)"
            _ = try await world.insertDisk(.moderate, at: try place(10, 50), distance: 1)
            let polygons = try await world.json("/collections/polygons/items?\(interval)")
            let hexagons = try await world.json("/collections/hexagons/items?\(interval)")
            #expect(polygons.features.count == 1 && hexagons.features.count == 7)
            #expect(polygons.features.first?["properties"]?["hexagons"]?.double == 7)
            for uri in [
                "/tiles/polygons/latest/3/2/2.png?hours=2", "/tiles/polygons/latest/3/2/2.mvt?hours=2",
                "/tiles/polygons.json?hours=2", "/maps/hexagons,polygons.png?hours=2",
                "/export/polygons.geojson?hours=2", "/export/polygons.csv?hours=2",
            ] {
                let problem = try await world.json(uri, status: .notFound)
                #expect(problem["code"]?.string == "history-not-made", "\(uri)")
            }
            // Made of the same cells, but of no dissolve.
            _ = try await world.picture("/tiles/turbulence/latest/3/2/2.png?hours=2")
        }
    }
}
