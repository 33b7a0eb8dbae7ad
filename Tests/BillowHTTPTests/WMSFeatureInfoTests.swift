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

@Suite("GetFeatureInfo of WMS")
struct WMSFeatureInfoTests {
    @Test("feature info is of the picture's instant, whichever of its layers is queried")
    func infoOfAnInterval() async throws {
        try await withWorld { world in
            try await MapQuery.fill(world)
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
            try await MapQuery.fill(world)
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
            try await MapQuery.fill(world)
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
            try await MapQuery.fill(world)
            let answer = try await world.get(
                MapQuery.wms([
                    "REQUEST": "GetFeatureInfo", "LAYERS": layer.id, "QUERY_LAYERS": layer.id, "I": "133", "J": "86",
                    "FEATURE_COUNT": "1000000",
                ]))
            #expect(answer.status == .ok, "\(answer.text)")
            #expect(try answer.json.features.count <= FeatureInfoParameters.maximumFeatures)
        }
    }
}
