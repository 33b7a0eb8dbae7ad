import BillowStore
import Datasets
import Digests
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowPacks
@testable import BillowParameters

@Suite("Packs of tiles")
struct PackTests {
    /// What an independent reader finds in a pack.
    private struct Read: Decodable {
        var metadata: [String: String]
        var tiles: [String: String]
        var contents: Int
        var zooms: [Int]
        var names: [String]
    }

    private struct Question: Encodable {
        var files: [String]
    }

    private func withPicture(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            let cells =
                H3.disk(around: try cell(10, 50), distance: 12) + H3.disk(around: try cell(179.9, 5), distance: 3)
            try await world.insert(try cells.map { try observation($0) })
            try await test(world)
        }
    }

    /// A pack as the readers find it.
    private func read(_ uri: String, _ world: World) async throws -> Read {
        let answer = try await world.get(uri)
        #expect(answer.status == .ok, "\(uri): \(String(buffer: answer.body).prefix(300))")
        let ending = try #require(uri.split(separator: "?")[0].split(separator: ".").last)
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).\(ending)")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(answer.body.readableBytesView).write(to: url)
        let found: [Read] = try Oracle.ask("packs.py", Question(files: [url.path]))
        return try #require(found.first)
    }

    private static func digest(_ buffer: ByteBuffer) -> String {
        SHA256.hash(buffer.readableBytesView).map { String(format: "%02x", $0) }.joined()
    }

    @Test(
        "every tile has the bytes that its own address gives",
        arguments: ["mbtiles", "pmtiles"],
        [
            ("hexagons", "", "png", "bbox=-10,35,30,60&minzoom=2&maxzoom=6"),
            ("hexagons,hazards", "@2x", "png", "bbox=5,45,15,55&minzoom=4&maxzoom=6&scale=2&style=night"),
            ("hexagons", "", "mvt", "bbox=-10,35,30,60&minzoom=2&maxzoom=6&tiles=mvt"),
            ("polygons", "", "png", "bbox=170,-10,-170,15&minzoom=0&maxzoom=5&minSeverity=1"),
        ])
    func bytes(ending: String, pack: (layers: String, suffix: String, form: String, query: String)) async throws {
        try await withPicture { world in
            let found = try await read("/export/\(pack.layers).\(ending)?\(pack.query)", world)
            #expect(found.tiles.count > 10 || pack.form == "mvt")
            let cover = try await world.json("/export/\(pack.layers).\(ending)?\(pack.query)&estimate=true")
            let count = try #require(cover["tiles"]?.integer)
            #expect(pack.form == "mvt" ? found.tiles.count < count : found.tiles.count == count)
            let time = found.metadata["time"]?.replacing("-", with: "").replacing(":", with: "") ?? ""
            let filters = pack.query.split(separator: "&").filter {
                $0.hasPrefix("style") || $0.hasPrefix("minSeverity")
            }.joined(separator: "&")
            for (place, digest) in found.tiles {
                let tile = try await world.get(
                    "/tiles/\(pack.layers)/\(time)/\(place)\(pack.suffix).\(pack.form)?\(filters)")
                #expect(tile.status == .ok)
                #expect(Self.digest(tile.body) == digest, "\(place)")
            }
            #expect(found.contents == Set(found.tiles.values).count)
        }
    }

    @Test("a pack says what it shows, until when, and what marks it has", arguments: ["mbtiles", "pmtiles"])
    func metadata(ending: String) async throws {
        try await withPicture { world in
            let found = try await read("/export/hexagons.\(ending)?bbox=5,45,15,55&maxzoom=4&hours=1", world)
            #expect(found.zooms == [0, 4])
            #expect(found.metadata["time"] == noon.description)
            #expect(found.metadata["valid_until"] == noon.advanced(by: 3_600).description)
            #expect(found.metadata["simulated"] == "false")
            #expect(found.metadata["incomplete"] == "false")
            #expect(found.metadata["stale"] == "false")
            #expect(found.metadata["attribution"] == "Turbulence: Billow")
            #expect(found.metadata["type"] == "overlay")
            #expect(found.metadata["legend"]?.hasPrefix("<img src=\"data:image/png;base64,iVBOR") == true)
            #expect(found.metadata["name"]?.contains("valid until 2026") == true)
        }
    }

    /// An area over Europe from one number of seconds after noon to another.
    private static func area(
        _ id: String, _ collection: IssuedArea.DatasetNumber = .hazards, from: Int, to: Int, base: Int = 18_000,
        history: History? = nil
    ) throws -> IssuedArea {
        let corners = try [(8.0, 48.0), (12, 48), (12, 52), (8, 52)].map { try place($0.0, $0.1) }
        return IssuedArea(
            collection: collection, id: id, source: try source("awc"),
            kind: collection == .polygons ? IssuedArea.polygonKind : "sigmet", hazard: "TURB", severity: .moderate,
            altitudeMinFeet: base, altitudeMaxFeet: 39_000, validFrom: noon.advanced(by: from),
            validTo: noon.advanced(by: to), historySeconds: history?.seconds,
            geometry: try #require(MultiPolygon(outline: corners)))
    }

    /// The end of validity in the metadata of every form with it.
    private func ends(_ layer: String, _ query: String, _ world: World) async throws -> Set<String> {
        var ends: Set<String> = []
        for ending in ["mbtiles", "pmtiles"] {
            let found = try await read("/export/\(layer).\(ending)?bbox=5,45,15,55&maxzoom=1&\(query)", world)
            ends.insert(try #require(found.metadata["valid_until"]))
        }
        return ends
    }

    @Test(
        "a pack of areas is valid until the first of them begins or ends",
        arguments: [
            // One that holds now for long, and one that is known and begins in 20 minutes.
            ([(-600, 14_400, 18_000), (1_200, 10_000, 18_000)], "", 1_200),
            // None holds now.
            ([(1_800, 3_600, 18_000)], "", 1_800),
            // The first end.
            ([(-600, 900, 18_000), (1_200, 10_000, 18_000)], "", 900),
            // One that the filter leaves out.
            ([(-600, 14_400, 18_000), (1_200, 10_000, 38_000)], "maxAltitude=30000", 14_400),
            // Nothing within the longest validity.
            ([(30_000, 40_000, 18_000)], "", 21_600),
            // An instant ahead.
            ([(-600, 14_400, 18_000), (9_000, 10_000, 18_000)], "time=20261121T130000Z", 9_000),
        ])
    func validity(areas: [(from: Int, to: Int, base: Int)], query: String, end: Int) async throws {
        try await withWorld { world in
            let areas = try areas.enumerated().map { number, area in
                try Self.area("F\(number)", from: area.from, to: area.to, base: area.base)
            }
            _ = try await world.store.commit(Batch(source: try source("awc"), areas: areas))
            try await world.refresh()
            let found = try await ends("hazards", query, world)
            #expect(found == [noon.advanced(by: end).description])
        }
    }

    @Test("a pack of issued polygons is valid until the first of them ends, and one of Billow's own for its history")
    func validityOfPolygons() async throws {
        try await withWorld { world in
            let polygon = try Self.area(
                "3-2-awc", .polygons, from: -5_400, to: 1_800, history: .twoHours)
            _ = try await world.store.commit(Batch(source: try source("awc"), areas: [polygon]))
            try await world.refresh()
            #expect(try await ends("polygons", "source=awc", world) == [noon.advanced(by: 1_800).description])
            #expect(try await ends("polygons", "", world) == [noon.advanced(by: 7_200).description])
        }
    }

    @Test(
        "a region without anything is a pack of one blank tile, and of no vector tile",
        arguments: ["mbtiles", "pmtiles"])
    func empty(ending: String) async throws {
        try await withPicture { world in
            let query = "bbox=-60,-60,-50,-50&maxzoom=6"
            let pictures = try await read("/export/hexagons.\(ending)?\(query)&minzoom=4", world)
            #expect(pictures.contents == 1 && pictures.tiles.count > 1)
            let vectors = try await read("/export/hexagons.\(ending)?\(query)&minzoom=4&tiles=mvt", world)
            #expect(vectors.tiles.isEmpty)
        }
    }

    @Test("directories of many entries are read through their leaves")
    func leaves() async throws {
        try await withPicture { world in
            let found = try await read("/export/hexagons.pmtiles?bbox=-10,35,30,60&minzoom=6&maxzoom=10", world)
            #expect(found.tiles.count > 15_000)
        }
    }

    @Test("a corridor has the tiles along a route alone")
    func corridor() async throws {
        try await withPicture { world in
            let query = "coords=LINESTRING(0%2050,20%2050)&corridor-width=100&minzoom=6&maxzoom=6"
            let narrow = try await world.json("/export/hexagons.mbtiles?\(query)&estimate=true")
            let box = try await world.json("/export/hexagons.mbtiles?bbox=0,45,20,55&minzoom=6&maxzoom=6&estimate")
            #expect(try #require(narrow["tiles"]?.integer) < (try #require(box["tiles"]?.integer)))
            #expect(try await read("/export/hexagons.mbtiles?\(query)", world).tiles.isEmpty == false)
        }
    }

    @Test("an archive has a tileset for each frame, and a manifest with their times")
    func frames() async throws {
        try await withPicture { world in
            let query = "start=-1h&end=now&intervals=3&bbox=5,45,15,55&maxzoom=4"
            for set in ["mbtiles", "pmtiles"] {
                let found = try await read("/export/hexagons.zip?\(query)&tileset=\(set)", world)
                #expect(found.names.filter { $0.hasSuffix(".\(set)") }.count == 3, "\(found.names)")
                #expect(found.names.contains("legend.png"))
                #expect(found.metadata["manifest"]?.contains("\"frames\"") == true)
            }
            let pack = try await read("/export/hexagons.zip?\(query)&form=foreflight", world)
            #expect(pack.names.filter { $0.contains("/layers/hexagons-2026") }.count == 3)
            #expect(Set(pack.names.compactMap { $0.split(separator: "/").first }).count == 1)
            let manifest = try #require(pack.metadata["manifest"])
            #expect(manifest.contains("\"effectiveDate\" : \"20261121T"))
            #expect(manifest.contains("\"organizationName\" : \"Billow\""))
        }
    }

    @Test("a pack has a strong tag, a length, parts and a telling name")
    func parts() async throws {
        try await withPicture { world in
            let uri = "/export/hexagons.mbtiles?bbox=5,45,15,55&maxzoom=5"
            let head = try await world.get(uri, method: .head)
            let tag = try #require(head.headers[.eTag])
            #expect(tag.hasPrefix("\"") && head.headers[.acceptRanges] == "bytes")
            #expect(
                head.headers[.contentDisposition]
                    == "attachment; filename=\"hexagons-\(noon.compact).mbtiles\"")
            let whole = try await world.get(uri)
            #expect(whole.headers[.eTag] == tag)
            #expect(head.headers[.contentLength] == "\(whole.body.readableBytes)")
            let part = try await world.get(uri, [.range: "bytes=100-199", .ifRange: tag])
            #expect(part.status == .partialContent)
            #expect(Array(buffer: part.body) == Array(Array(buffer: whole.body)[100..<200]))
            #expect(try await world.get(uri, [.ifNoneMatch: tag]).status == .notModified)
            #expect(try await world.get(uri, [.range: "bytes=99999999-99999999"]).status == .rangeNotSatisfiable)
        }
    }

    @Test(
        "what can't be used is refused with its name and range",
        arguments: [
            ("hexagons.mbtiles?maxzoom=15", 400, "maxzoom"), ("hexagons.mbtiles?maxzoom=-1", 400, "maxzoom"),
            ("hexagons.mbtiles?minzoom=7&maxzoom=6", 400, "minzoom"), ("hexagons.mbtiles?maxzoom=9", 400, "maxzoom"),
            ("hexagons.pmtiles?bbox=1,2,3", 400, "bbox"), ("hexagons.pmtiles?bbox=5,45,5,55", 400, "bbox"),
            ("hexagons.pmtiles?bbox=0,86,10,89", 400, "bbox"), ("hexagons.pmtiles?tiles=webp", 400, "tiles"),
            ("hexagons.pmtiles?tiles=mvt&scale=2", 400, "scale"), ("hexagons.mbtiles?scale=4", 400, "scale"),
            ("hexagons.mbtiles?start=-1h", 400, "start"), ("hexagons.zip?time=latest", 400, "time"),
            ("hexagons.zip?form=garmin", 400, "form"), ("hexagons.zip?form=foreflight&tiles=mvt", 400, "tiles"),
            ("hexagons.zip?form=foreflight&tileset=pmtiles", 400, "tileset"),
            ("hexagons.zip?intervals=13&maxzoom=7", 400, "intervals"), ("hexagons.mbtiles?width=100", 400, "width"),
            ("hexagons.mbtiles?route=KJFK%20EGLL&bbox=0,0,1,1", 400, "bbox"),
            ("hexagons.mbtiles?style=none", 400, "style"), ("hexagons.mbtiles?limit=3", 400, "limit"),
            ("hexagons.mbtiles?time=2001-01-01T00:00:00Z", 404, "time"), ("nothing.mbtiles", 404, "layers"),
            ("observations.mbtiles", 404, "layers"), ("hexagons,hexagons.mbtiles", 400, "layers"),
            ("hexagons.shp", 404, "format"), ("hexagons.mbtiles?f=csv", 400, "f"),
        ])
    func refused(uri: String, status: Int, parameter: String) async throws {
        try await withPicture { world in
            let answer = try await world.get("/export/\(uri)")
            #expect(answer.status.code == status, "\(String(buffer: answer.body).prefix(300))")
            let problem = try answer.json
            #expect(problem["parameter"]?.string == parameter, "\(String(buffer: answer.body).prefix(300))")
            #expect(problem["allowed"]?.string?.isEmpty == false)
        }
    }

    @Test("a file that grows too large is rejected and removed")
    func tooLarge() async throws {
        try await withPicture { world in
            let files = ExportFiles(work: WorkExecutor(), largest: 20_000, now: { world.clock.now })
            let router = Router(context: BasicRequestContext.self)
            router.add(
                middleware: ProblemMiddleware(
                    routes: RouteTable(), files: PublicFiles(folder: "/nowhere", generated: [:])))
            let application = world.application
            ExportRoutes(
                frames: application.frames, features: application.features, policy: application.policy,
                work: WorkExecutor(), files: files, packs: application.packs, timelines: application.timelines,
                styleStore: application.styles, publicURL: nil
            ).add(to: router)
            try await Application(router: router, logger: World.quiet()).test(.router) { client in
                let answer = try await client.executeRequest(
                    uri: "/export/hexagons.mbtiles?bbox=5,45,15,55&maxzoom=7", method: .get, headers: [:], body: nil)
                #expect(answer.status == .badRequest)
                #expect(try answer.json["code"]?.string == "too-many-tiles")
            }
            #expect(files.statistics.entries == 0)
        }
    }

    @Test("an update leaves what a new pack has, and paints only what changed")
    func update() async throws {
        try await withPicture { world in
            let folder = FileManager.default.temporaryDirectory.appending(path: "billow-pack-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let kept = folder.appending(path: "kept.mbtiles").path
            func pack(_ layers: String = "hexagons", _ more: [String: String] = [:]) async throws -> PackFile {
                let reader = QueryReader(
                    ["bbox": "-10,35,30,60", "minzoom": "3", "maxzoom": "6"].merging(more) { $1 })
                let snapshot = try world.application.frames.snapshot()
                let asked = try PackParameters(
                    layers: .init(parameter: layers), format: .tileset(.mbtiles), reader,
                    styles: world.application.styles.current,
                    defaults: world.application.timelines.settings.defaults, airports: .large)
                return PackFile(
                    world.application.packs, try await asked.request(world.application.timelines, in: snapshot),
                    in: snapshot)
            }
            func write(_ pack: PackFile, _ path: String) async throws {
                var parts = try await pack.begin(in: .path(path))
                while try await parts.next() {}
            }
            func read(_ path: String) throws -> Read {
                let found: [Read] = try Oracle.ask("packs.py", Question(files: [path]))
                return try #require(found.first)
            }
            try await write(try await pack(), kept)
            #expect(try await pack().update(copy: kept) == 0)
            for other in [
                try await pack("pireps"), try await pack("hexagons", ["maxzoom": "5"]),
                try await pack("hexagons", ["hours": "1"]), try await pack("hexagons", ["bbox": "-10,35,30,61"]),
            ] {
                let before = try Data(contentsOf: URL(filePath: kept))
                await #expect(throws: EngineError.self) { try await other.update(copy: kept) }
                #expect(try Data(contentsOf: URL(filePath: kept)) == before)
            }
            var generator = SeededGenerator(seed: 17)
            for round in 0..<6 {
                let before = try read(kept)
                world.clock.advance(by: 600)
                let place = try cell(Double.random(in: 0...20, using: &generator), 50)
                // Some rounds bring nothing, and by the end the first observations have aged out.
                if round % 3 != 2 {
                    try await world.insert([try observation(place, at: 600 * (round + 1) - 10)])
                } else {
                    world.clock.advance(by: 3_600)
                    try await world.refresh()
                }
                let changes = try await pack().update(copy: kept)
                let fresh = folder.appending(path: "\(round).mbtiles").path
                try await write(try await pack(), fresh)
                let (updated, new) = (try read(kept), try read(fresh))
                #expect(updated.tiles == new.tiles && updated.contents == new.contents)
                #expect(updated.metadata == new.metadata)
                #expect(changes == new.tiles.count { before.tiles[$0.key] != $0.value })
            }
        }
    }

    @Test("only a file of Billow is updated")
    func foreign() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mbtiles").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for bytes in [Data(), Data("not a database, and longer than a header of one".utf8)] {
            try bytes.write(to: URL(filePath: path))
            #expect(throws: PackError.self) { try MBTilesFile(changing: path, form: .png) }
        }
    }
}
