import BillowFields
import BillowPacks
import BillowStore
import Datasets
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
@testable import BillowParameters

@Suite("Exports as GeoPackage", .timeLimit(.minutes(20)))
struct GeoPackageTests {
    /// What independent readers find in a file.
    private struct Read: Decodable {
        var table: String
        var title: String
        /// Of `ogrinfo`.
        var info: String
        var types: [String: String]
        var summaries: [String: String]
        var extent: [Double?]
        var colours: [String: String]
        var features: Int
        /// Entries of the spatial index in the requested boxes.
        var found: Int
    }

    private struct Question: Encodable {
        var package: String
        var csv: String?
        var geojson: String?
    }

    /// Something of every collection, also across the antimeridian.
    private func withEverything(simulated: Bool = false, _ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld(simulated: simulated) { world in
            let cells =
                H3.disk(around: try cell(10, 50), distance: 14) + H3.disk(around: try cell(179.9, 5), distance: 4)
            let observations = try cells.enumerated().map { number, cell in
                try observation(
                    id: number % 5 == 0 ? "=id,\"\(number)\"" : nil, cell, altitude: 30 + number % 9,
                    severity: number % 3 == 0 ? nil : Severity(rawValue: UInt8(number % 5)),
                    edr: number % 3 == 1 ? nil : Double(number % 97) / 100, at: -60 - number % 600,
                    category: number % 7 == 0 ? "C60" : nil, aircraft: number % 4 == 0 ? "B738, \u{1F600}" : nil)
            }
            let reports = try (0..<20).map { number in
                PilotReport(
                    id: "r\(number)", place: try place(Double(number) * 2 - 20, 50 + Double(number) / 7),
                    observedAt: noon.advanced(by: -60 * number), type: "PIREP",
                    aircraft: nil, altitudeFeet: number % 2 == 0 ? 35_000 : nil,
                    turbulence: [], text: "UA /TB \"LGT\", \(number)\n=1+1", source: try source("awc"))
            }
            let areas = try [IssuedArea.DatasetNumber.hazards, .forecast, .advisories].enumerated().flatMap {
                number, collection in
                try [170.0, 10].map { west in
                    let corners = try [(west, 40.0), (west + 20, 40), (west + 20, 50), (west, 50)].map {
                        try place($0.0, $0.1)
                    }
                    return IssuedArea(
                        collection: collection, id: "\(collection)-\(west)", source: try source("awc"), kind: "sigmet",
                        hazard: "TURB-HI", severity: number == 0 ? nil : .moderate, altitudeMinFeet: 18_000,
                        altitudeMaxFeet: 39_000, validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 1_800),
                        text: "MOD TURB", geometry: try #require(MultiPolygon(outline: corners)))
                }
            }
            let positions = try (0..<12).map { number in
                AircraftPosition(
                    icao24: try #require(ICAO24(rawValue: UInt32(1 + number % 4))),
                    place: try place(179.8 + Double(number / 4) / 8 - (number / 4 > 1 ? 360 : 0), 10),
                    source: try source("other"), observedAt: noon.advanced(by: -90 + 30 * (number / 4)))
            }
            _ = try await world.store.commit(
                Batch(
                    source: try source("other"), observations: observations, pilotReports: reports, areas: areas,
                    positions: positions))
            try await world.refresh()
            try await test(world)
        }
    }

    private func read(_ world: World, _ collection: String, _ query: String) async throws -> Read {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func saved(_ ending: String) async throws -> String {
            let answer = try await world.get("/export/\(collection).\(ending)\(query)")
            #expect(answer.status == .ok, "\(collection).\(ending): \(answer.text.prefix(300))")
            let url = folder.appending(path: "\(collection).\(ending)")
            try Data(answer.body.readableBytesView).write(to: url)
            return url.path
        }
        return try Oracle.ask(
            "geopackages.py",
            Question(
                package: try await saved("gpkg"), csv: try await saved("csv"), geojson: try await saved("geojson")))
    }

    @Test("every collection has the values of its CSV and the places of its GeoJSON", arguments: Catalogue.all)
    func values(_ collection: Dataset) async throws {
        try await withEverything { world in
            let found = try await read(world, collection.id, collection == .observations ? "" : "?hours=1")
            #expect(found.table == collection.id)
            if collection.content != .field { #expect(found.features > 0 && found.found > 0) }
            #expect(found.types["fid"] == "INTEGER" && found.types["id"] == "TEXT")
            let properties = collection.properties.filter { !$0.isOfTilesOnly }
            #expect(found.types.count == properties.count + 3)
            for property in properties where property.type == .instant {
                #expect(found.types[property.name.description] == "DATETIME")
                #expect(found.info.contains("\(property.name): DateTime (0.0)"), "\(found.info)")
            }
            #expect(Set(found.summaries.keys) == Set(properties.map(\.name.description)))
            let type =
                collection.geometry == .point
                ? "Point" : collection.geometry == .line ? "Multi Line String" : "Multi Polygon"
            #expect(found.info.contains("Geometry: \(type)"), "\(found.info.prefix(400))")
            #expect(found.info.contains("Feature Count: \(found.features)"))
            #expect(found.info.contains("4326"))
            #expect(found.extent.allSatisfy { ($0 == nil) == (found.features == 0) })
        }
    }

    @Test("it says of when it is, until when, whence, and how complete; QGIS shows the severities in their colours")
    func metadata() async throws {
        try await withEverything { world in
            let found = try await read(world, "hexagons", "?hours=1&minSeverity=1")
            let end = noon.advanced(by: 3_600)
            for line in [
                "time=\(noon)", "valid_until=\(end)", "attribution=Turbulence: Billow", "simulated=false",
                "query=hours=1&minSeverity=1", "collection=hexagons",
            ] {
                #expect(found.info.contains(line), "\(line): \(found.info)")
            }
            #expect(found.title.hasPrefix("Turbulence hexagons, ") && found.title.contains("valid until"))
            #expect(found.summaries["edr"] == "The cube root of the eddy dissipation rate (m^(2/3) s^-1)")
            #expect(
                found.colours.filter { !$0.key.isEmpty } == [
                    "0": "255,255,255,153", "1": "255,240,76,204", "2": "255,188,9,204", "3": "255,113,0,204",
                    "4": "255,0,0,204",
                ])
            let log = try await read(world, "observations", "")
            #expect(!log.info.contains("valid_until") && log.colours["4"] == "255,0,0,204")
            #expect(try await read(world, "tracks", "").colours.count == 1)
        }
    }

    @Test("each feature of simulated data says so, and so does the file")
    func simulated() async throws {
        try await withEverything(simulated: true) { world in
            for collection in ["observations", "hexagons", "polygons", "traffic"] {
                let found = try await read(world, collection, "?hours=1")
                #expect(found.types["simulated"] == "BOOLEAN", "\(collection)")
                #expect(found.title.contains("SIMULATED") && found.info.contains("simulated=true"), "\(found.info)")
            }
        }
    }

    @Test("an export without a feature is a file without a row")
    func empty() async throws {
        try await withEverything { world in
            for collection in ["observations", "polygons"] {
                let found = try await read(world, collection, "?bbox=-60,-60,-50,-50&hours=1")
                #expect(found.features == 0 && found.extent == [nil, nil, nil, nil], "\(collection)")
            }
        }
    }

    @Test("it is a file with a length, a tag, parts and a name, and refuses what CSV refuses")
    func http() async throws {
        try await withEverything { world in
            let head = try await world.get("/export/hexagons.gpkg?f=gpkg", method: .head)
            let size = try #require(head.headers[.contentLength].flatMap { Int($0) })
            #expect(head.headers[.contentType] == "application/geopackage+sqlite3")
            #expect(head.headers[.contentDisposition] == "attachment; filename=\"hexagons-\(noon.compact).gpkg\"")
            let part = try await world.get("/export/hexagons.gpkg?f=gpkg", [.range: "bytes=0-99"])
            #expect(part.status == .partialContent && part.headers[.eTag] == head.headers[.eTag])
            #expect(part.headers[.contentRange] == "bytes 0-99/\(size)")
            #expect(
                String(buffer: part.body.getSlice(at: part.body.readerIndex, length: 15) ?? ByteBuffer())
                    == "SQLite format 3")
            for (query, parameter) in [("f=csv", "f"), ("hours=3", "hours"), ("limit=1", "limit"), ("x=1", "x")] {
                let answer = try await world.get("/export/hexagons.gpkg?\(query)")
                #expect(answer.status == .badRequest, "\(query)")
                #expect(try answer.json["parameter"]?.string == parameter, "\(query)")
            }
            let links = try await world.json("/collections/hexagons")["links"]?.items ?? []
            #expect(links.contains { $0["href"]?.string?.hasSuffix("/export/hexagons.gpkg") == true })
        }
    }
}
