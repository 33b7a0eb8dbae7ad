import BillowFields
import BillowStore
import EngineTestSupport
import Foundation
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

/// A grid of twentieths of degrees from 100° W 30° N on, with patches of every severity and a hole without values.
@Suite("Contours of turbulence fields")
struct FieldContourTests {
    private static let cells = "/collections/gtg/items?limit=10000&minSeverity=0"
    private static let contours = "/collections/gtg/items?minSeverity=0&shape=contours"

    private func withField(_ body: @escaping @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            let grid = try GridDefinition(
                shape: .sphere, columns: 60, rows: 50, projection: .lonLat(west: -100, south: 30, dx: 0.05, dy: 0.05))
            let values = (0..<grid.count).map { point -> UInt8 in
                let (x, y) = (Double(point % grid.columns), Double(point / grid.columns))
                if (20...27).contains(x), (20...29).contains(y) { return FieldPlane.missing }
                let wave = sin(x / 7) * cos(y / 5) + 0.4 * sin((x + 2 * y) / 3)
                return UInt8(max(0.0, 18.0 + 26.0 * wave))
            }
            let run = noon.advanced(by: -600)
            let identity = try #require(FieldIdentity(product: .nowcast, run: run, validTime: run))
            let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
            let draft = FieldLevelDraft(identity: identity, grid: grid, level: .column, packed: plane.packed())
            _ = try await world.store.commit(
                Batch(source: source("awc"), fields: [draft], fetchedAt: world.clock.now))
            try await world.refresh()
            try await body(world)
        }
    }

    private func coordinates(_ feature: JSON) -> [[[[Double]]]] {
        let coordinates = feature["geometry"]?["coordinates"]?.items ?? []
        func ring(_ json: JSON) -> [[Double]] { json.items.map { $0.items.compactMap(\.double) } }
        return feature["geometry"]?["type"]?.string == "Polygon"
            ? [coordinates.map(ring)] : coordinates.map { $0.items.map(ring) }
    }

    /// Square degrees, holes taken off.
    private func size(_ feature: JSON) -> Double {
        var sum = 0.0
        for ring in coordinates(feature).joined() {
            for (a, b) in zip(ring, ring.dropFirst()) { sum += (a[0] * b[1] - b[0] * a[1]) / 2 }
        }
        return sum
    }

    private func severity(_ feature: JSON) -> Int { Int(feature.property("severity")?.double ?? -1) }

    private func area(_ feature: JSON) -> AreaIndex? {
        AreaIndex(
            MultiPolygon(
                polygons: coordinates(feature).map { polygon in
                    polygon.map { ring in
                        ring.compactMap { LonLat(longitude: $0[0], latitude: $0[1]) }
                    }
                }))
    }

    @Test("each is the sum of its cells, says what they have together, and names the field")
    func sums() async throws {
        try await withField { world in
            let cells = try await world.json(Self.cells).features
            for mode in ["exact", "atLeast"] {
                let contours = try await world.json("\(Self.contours)&mode=\(mode)").features
                #expect(contours.map(severity) == [0, 1, 2, 3, 4])
                for contour in contours {
                    let own = cells.filter {
                        mode == "exact" ? severity($0) == severity(contour) : severity($0) >= severity(contour)
                    }
                    #expect(contour["id"]?.string == "contour-\(severity(contour))")
                    #expect(contour.property("mode")?.string == mode && contour.property("h3") == nil)
                    #expect(contour.property("hexagons")?.double == Double(own.count))
                    let points = own.compactMap { $0.property("points")?.double }
                    #expect(contour.property("points")?.double == points.reduce(0, +))
                    #expect(
                        contour.property("edr")?.double == own.compactMap { $0.property("edr")?.double }.max())
                    for name in ["product", "run", "lead", "validTime", "source"] {
                        #expect(contour.property(name)?.string == own.first?.property(name)?.string, "\(name)")
                        #expect(contour.property(name) != nil)
                    }
                    // Coordinates have seven decimals.
                    let wanted = own.map(size).reduce(0, +)
                    #expect(abs(size(contour) - wanted) <= 1e-5 * wanted, "\(mode) \(severity(contour))")
                }
            }
        }
    }

    @Test("smooth air has a contour only where it is requested, in both modes and in vector tiles")
    func smooth() async throws {
        try await withField { world in
            for mode in ["exact", "atLeast"] {
                let shown = try await world.json("/collections/gtg/items?shape=contours&mode=\(mode)").features
                #expect(shown.map(severity) == [1, 2, 3, 4], "\(mode)")
                let tile = try await world.get("/tiles/gtg/latest/2/0/1.mvt?shape=contours&mode=\(mode)")
                let features = try DecodedVectorTile(Array(buffer: tile.body)).layers.flatMap(\.features)
                #expect(!features.isEmpty && features.allSatisfy { $0.properties["severity"] != "0" }, "\(mode)")
            }
        }
    }

    @Test("a place lies in the contour of its cell's severity, and in none where there is no value")
    func places() async throws {
        try await withField { world in
            let known = Dictionary(
                uniqueKeysWithValues: try await world.json(Self.cells).features.compactMap { feature in
                    feature["id"]?.string.map { ($0, severity(feature)) }
                })
            let exact = try await world.json(Self.contours).features.map(area)
            let worse = try await world.json("\(Self.contours)&mode=atLeast").features.map(area)
            var random = SeededGenerator(seed: 4)
            var (asked, without) = (0, 0)
            for _ in 0..<1_000 {
                let place = try #require(
                    LonLat(
                        longitude: Double.random(in: -100.5 ... -96.5, using: &random),
                        latitude: Double.random(in: 29.5...33, using: &random)))
                let cell = H3.cell(at: place)
                // A cell's edges are arcs for H3 and straight on the map: some metres belong to no cell.
                guard MultiPolygon(polygons: CellPolygon.rings(of: cell).map { [$0] }).contains(place) else { continue }
                asked += 1
                let severity = known[cell.h3String]
                if severity == nil { without += 1 }
                for class_ in 0...4 {
                    #expect((exact[class_]?.contains(place) ?? false) == (severity == class_), "\(place)")
                    #expect((worse[class_]?.contains(place) ?? false) == (severity.map { $0 >= class_ } ?? false))
                }
            }
            #expect(asked > 900 && without > 50)
        }
    }

    @Test("GEOS finds them valid, and beside each other without overlapping, simplified and smoothed too")
    func geos() async throws {
        try await withField { world in
            struct Question: Encodable {
                var sets: [String: [[[[Double]]]]] = [:]
                var apart: [[String]] = []
            }
            var question = Question()
            var corners: [String: Int] = [:]
            for shape in ["", "&tolerance=0.05", "&tolerance=0.5", "&tolerance=0.1&smooth=2"] {
                for mode in ["exact", "atLeast"] {
                    let address = "\(Self.contours)&mode=\(mode)\(shape)"
                    var names: [String] = []
                    for contour in try await world.json(address).features {
                        let name = "\(mode) \(severity(contour)) \(shape)"
                        question.sets[name] = coordinates(contour)
                        corners["\(mode)\(shape)", default: 0] += coordinates(contour).joined().joined().count
                        names.append(name)
                    }
                    #expect(names.count == 5, "no severity vanishes")
                    if mode == "exact" { question.apart.append(names) }
                }
            }
            let wrong = try Oracle.ask("polygons.py", question, answer: [String].self)
            #expect(wrong.isEmpty, "\(wrong.prefix(5))")
            let (whole, coarse) = try (#require(corners["exact"]), #require(corners["exact&tolerance=0.5"]))
            #expect(coarse < whole / 2)
        }
    }

    @Test("filters, boxes, pages, ids, exports and changes have them")
    func routes() async throws {
        try await withField { world in
            #expect(
                try await world.json("/collections/gtg/items?shape=contours").features.map(severity) == [1, 2, 3, 4],
                "no smooth air")
            #expect(try await world.json("\(Self.contours)&severity=3,4").features.map(severity) == [3, 4])
            let whole = try await world.json("\(Self.contours)&severity=3").features
            let box = try await world.json("\(Self.contours)&severity=3&bbox=-100,30,-99,31").features
            #expect(try size(#require(box.first)) < size(#require(whole.first)))
            var ids: [String?] = []
            var next: String? = "\(Self.contours)&limit=2"
            while let address = next, ids.count < 10 {
                let page = try await world.json(address)
                ids += page.features.map { $0["id"]?.string }
                next = page["links"]?.items.first { $0["rel"]?.string == "next" }?["href"]?.string?
                    .replacing("http://127.0.0.1", with: "")
            }
            #expect(ids == (0...4).map { "contour-\($0)" })
            let one = try await world.json("/collections/gtg/items/contour-3?shape=contours&mode=atLeast")
            #expect(severity(one) == 3 && one.property("mode")?.string == "atLeast")
            #expect(try await world.get("/collections/gtg/items/contour-9?shape=contours").status == .notFound)
            let lines = String(buffer: try await world.get("/export/gtg.csv?shape=contours").body)
            #expect(lines.split(whereSeparator: \.isNewline).count == 5)
            let changes = try await world.json("/changes/gtg?shape=contours")
            #expect(changes.features.count == 4)
            #expect(changes.features.allSatisfy { !coordinates($0).isEmpty })
            let area = "POLYGON((-100%2030,-99%2030,-99%2031,-100%2031,-100%2030))"
            let inside = try await world.json("/collections/gtg/area?shape=contours&minSeverity=0&coords=\(area)")
            #expect(!inside.features.isEmpty)
        }
    }

    @Test(
        "bad parameters are refused",
        arguments: [
            ("shape=hexagons", "shape"), ("mode=atLeast", "mode"), ("tolerance=0.1", "tolerance"),
            ("shape=cells&smooth=1", "smooth"), ("shape=contours&mode=most", "mode"),
            ("shape=contours&tolerance=6", "tolerance"),
        ])
    func badParameters(query: String, parameter: String) async throws {
        try await withWorld { world in
            let answer = try await world.json("/collections/gtg/items?\(query)", status: .badRequest)
            #expect(answer["parameter"]?.string == parameter)
        }
        try await withWorld { world in
            let answer = try await world.json("/collections/hexagons/items?shape=contours", status: .badRequest)
            #expect(answer["parameter"]?.string == "shape")
        }
    }

    @Test("pictures have no contours, and say so") func pictures() async throws {
        try await withField { world in
            for path in ["/tiles/gtg/latest/6/14/26.png?", "/tiles/gtg.json?", "/tiles/gtg.json?f=png&"] {
                for query in ["shape=contours", "shape=rings"] {
                    let answer = try await world.json(path + query, status: .badRequest)
                    #expect(answer["parameter"]?.string == "shape")
                }
                #expect(try await world.get(path + "shape=cells&mode=exact").status == .ok)
                for query in ["mode=most", "shape=cells&mode=atLeast"] {
                    #expect(try await world.json(path + query, status: .badRequest)["parameter"]?.string == "mode")
                }
            }
            let document = try await world.json("/tiles/gtg.json?f=mvt&shape=contours")
            #expect(document["tiles"]?[0]?.string?.contains("shape=contours") == true)
        }
    }

    @Test("vector tiles have a feature of each severity, as outlines of the zoom's cells")
    func vectorTiles() async throws {
        try await withField { world in
            for (tile, resolution) in [("2/0/1", 3), ("6/14/26", 5)] {
                let answer = try await world.get("/tiles/gtg/latest/\(tile).mvt?shape=contours&mode=atLeast")
                #expect(answer.status == .ok)
                let layer = try #require(try DecodedVectorTile(Array(buffer: answer.body)).layers.first)
                #expect(layer.name == "gtg" && Set(layer.features.map(\.id)).count == layer.features.count)
                for feature in layer.features {
                    #expect(feature.properties["resolution"] == "\(resolution)")
                    #expect(feature.properties["mode"] == "atLeast" && feature.properties["product"] == "gtgn")
                    #expect(feature.type == 3 && !feature.parts.isEmpty)
                    #expect(feature.properties["id"] == "contour-\(feature.properties["severity"] ?? "")")
                }
            }
            let cells = try await world.get("/tiles/gtg/latest/6/14/26.mvt")
            let contours = try await world.get("/tiles/gtg/latest/6/14/26.mvt?shape=contours")
            #expect(cells.body != contours.body)
            #expect(try await world.get("/tiles/gtg/latest/6/14/26.mvt?shape=rings").status == .badRequest)
            #expect(try await world.get("/tiles/gtg/latest/7/70/50.mvt?shape=contours").status == .noContent)
        }
    }
}
