import BillowRaster
import Foundation
import TestSupport
import Testing

/// GDAL's own programs against the running server: what QGIS and geopandas read with. And OWSLib, which Python reads
/// with.
@Suite("GDAL reads from a server")
struct GDALReadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// What `ogrinfo` prints, and its status.
    private func ogrinfo(_ arguments: String...) async throws -> Finished { try await run("ogrinfo", arguments) }

    private func run(_ program: String, _ arguments: [String]) async throws -> Finished {
        let (output, errors) = (folder.url.appending(path: "out"), folder.url.appending(path: "err"))
        for url in [output, errors] { try Data().write(to: url) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        // GDAL writes downloads to its working folder unless it is given another.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["GDAL_DEFAULT_WMS_CACHE_PATH": folder.path("cache")]
        ) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        try await eventually("\(program) \(arguments)", within: .seconds(300)) { !process.isRunning }
        return Finished(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }

    /// A server with so many observations of the past hour.
    private func server(_ count: Int) async throws -> Server {
        let database = folder.path("x.sqlite")
        let now = Int(Date().timeIntervalSince1970) - 60
        let formatter = ISO8601DateFormatter()
        var lines = "lon,lat,altitude,severity,observedAt\n"
        for number in 0..<count {
            let time = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(now - number % 3_000)))
            let longitude = Double(number % 1_000) * 0.2 - 100
            let latitude = Double(number / 1_000) - 30
            lines += "\(longitude),\(latitude),\(30_000 + number % 10 * 1_000),\(number % 5),\(time)\n"
        }
        let file = try folder.write("observations.csv", lines)
        let imported = try await Command.run("import", "--database", database, file)
        #expect(imported.status == 0, "\(imported.errors)")
        return try await Server("--database", database)
    }

    @Test("every row of a large export is read through /vsicurl/")
    func rows() async throws {
        let server = try await server(80_000)
        let base = "http://127.0.0.1:\(server.port)"
        // Above what GDAL keeps of a file that it can't read in parts.
        #expect(try await server.get("/export/observations.geojsonl").body.count > 16_500_000)
        for format in ["geojsonl", "geojsons"] {
            let info = try await ogrinfo("-ro", "-so", "-al", "/vsicurl/\(base)/export/observations.\(format)")
            #expect(info.status == 0 && info.errors == "", "\(info.errors)")
            #expect(info.output.contains("Feature Count: 80000"), "\(format): \(info.output.prefix(600))")
        }
        #expect(try await server.stop() == 0)
    }

    @Test("the collections are layers of OGC API Features, with every feature and no error")
    func features() async throws {
        let server = try await server(2_500)
        for address in ["", "/ogc"] {
            let base = "OAPIF:http://127.0.0.1:\(server.port)\(address)"
            let list = try await ogrinfo("-ro", base)
            #expect(list.status == 0 && list.errors == "", "\(address): \(list.errors)")
            for layer in ["observations", "hexagons", "hazards", "tracks"] {
                #expect(list.output.contains(": \(layer) "), "\(layer): \(list.output)")
            }
            let layer = try await ogrinfo("-ro", "-so", base, "observations", "-oo", "PAGE_SIZE=1000")
            #expect(layer.status == 0 && layer.errors == "", "\(layer.errors)")
            #expect(layer.output.contains("Feature Count: 2500"), "\(layer.output.prefix(600))")
        }
        #expect(try await server.stop() == 0)
    }

    /// A server with a disk of cells of one severity around 5° E 50° N.
    private func pictured() async throws -> Server {
        let database = folder.path("y.sqlite")
        // Long enough ago that several whole minutes lie between, however fast the server starts.
        let time = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: -300))
        var lines = "lon,lat,altitude,severity,observedAt\n"
        for row in -10...10 {
            for column in -10...10 {
                lines += "\(5 + Double(column) * 0.05),\(50 + Double(row) * 0.03),35000,3,\(time)\n"
            }
        }
        let imported = try await Command.run("import", "--database", database, try folder.write("y.csv", lines))
        #expect(imported.status == 0, "\(imported.errors)")
        return try await Server("--database", database)
    }

    /// A picture that GDAL wrote.
    private func picture(_ arguments: [String]) async throws -> DecodedPNG {
        let file = folder.path("\(UUID().uuidString).png")
        let made = try await run("gdal_translate", ["-q", "-of", "PNG"] + arguments + [file])
        #expect(made.status == 0 && made.errors == "", "\(made.errors)")
        return try PNG.decode(Array(try Data(contentsOf: URL(filePath: file))))
    }

    @Test("a layer of the WMTS is drawn as its tiles are, and has its time as a dimension")
    func tiles() async throws {
        let server = try await pictured()
        let service = "http://127.0.0.1:\(server.port)/wmts/1.0.0/WMTSCapabilities.xml"
        let list = try await run("gdalinfo", ["WMTS:\(service)"])
        #expect(list.status == 0 && list.output.contains("layer=hexagons"), "\(list.output.prefix(500)) \(list.errors)")
        let layer = "WMTS:\(service),layer=hexagons,style=skypath"
        let info = try await run("gdalinfo", [layer])
        #expect(info.status == 0 && info.errors == "" && info.output.contains("3857"), "\(info.output) \(info.errors)")
        // The tile 7/65/43 and no other.
        let side = 2 * 20_037_508.342789244 / 128
        let (west, north) = (65 * side - 64 * side, 64 * side - 43 * side)
        let drawn = try await picture(
            [
                "-oo", "ZOOM_LEVEL=7", "-projwin", "\(west)", "\(north)", "\(west + side)", "\(north - side)",
                "-outsize", "256", "256", layer,
            ])
        let tile = try PNG.decode(Array(try await server.get("/tiles/hexagons/latest/7/65/43.png").body))
        let isSame = zip(drawn.pixels, tile.pixels).allSatisfy { $0 == $1 || $0.alpha == 0 && $1.alpha == 0 }
        #expect(drawn.width == 256 && drawn.height == 256 && isSame)
        #expect(tile.pixels.contains { $0.alpha == 204 })
        #expect(try await server.stop() == 0)
    }

    @Test("a layer of the WMS lies where it should, in every system and version")
    func maps() async throws {
        let server = try await pictured()
        let base = "http://127.0.0.1:\(server.port)/wms"
        let list = try await run("gdalinfo", ["WMS:\(base)"])
        #expect(
            list.status == 0 && list.output.contains("LAYERS=hexagons"), "\(list.output.prefix(500)) \(list.errors)")
        for (version, system) in [
            ("1.3.0", "CRS=CRS:84"), ("1.3.0", "CRS=EPSG:4326"), ("1.1.1", "SRS=EPSG:4326"),
        ] {
            let layer =
                "WMS:\(base)?SERVICE=WMS&VERSION=\(version)&REQUEST=GetMap&LAYERS=hexagons&STYLES=&\(system)"
                + "&BBOX=\(system == "CRS=EPSG:4326" ? "-90,-180,90,180" : "-180,-90,180,90")&FORMAT=image/png"
                + "&TRANSPARENT=TRUE"
            let drawn = try await picture(
                ["-projwin", "3", "51", "7", "49", "-outsize", "400", "200", "-r", "nearest", layer])
            let middle = try drawn[200, 100].orMissing("a pixel")
            #expect((middle.red, middle.green, middle.blue) == (255, 113, 0), "\(version) \(system)")
            #expect(drawn.pixels.count > 0 && drawn[20, 20]?.alpha == 0, "\(version) \(system)")
        }
        #expect(try await server.stop() == 0)
    }

    /// A FeatureCollection as GDAL and the server write it.
    private struct Collection: Decodable {
        struct Feature: Decodable {
            struct Geometry: Decodable {
                var type: String
                var coordinates: [[[Double]]]
            }

            struct Properties: Decodable {
                var featureId: String?
                var severity: Int
                var severityName: String
                var altitude: Int
                var observedAt: String
                var reports: Int
            }

            var id: String?
            var geometry: Geometry
            var properties: Properties
        }

        var features: [Feature]
    }

    @Test(
        "KML and KMZ that GDAL opens have the features of the GeoJSON, one by one, in the folder of their severity",
        arguments: ["kml", "kmz"])
    func kml(_ format: String) async throws {
        let server = try await pictured()
        let file = folder.path("hexagons.\(format)")
        try await server.get("/export/hexagons.\(format)").body.write(to: URL(filePath: file))
        let list = try await ogrinfo("-ro", "-q", file)
        #expect(list.status == 0 && list.output.contains("Moderate"), "\(list.output) \(list.errors)")
        // GDAL lists the layers of an archive, but reads the properties of its document alone.
        let document = format == "kmz" ? "/vsizip/\(file)/doc.kml" : file
        let read = try await run("ogr2ogr", ["-f", "GeoJSON", "/vsistdout/", document, "Moderate"])
        #expect(read.status == 0, "\(read.errors)")
        let found = try JSONDecoder().decode(Collection.self, from: Data(read.output.utf8)).features
        let expected = try JSONDecoder().decode(
            Collection.self, from: Data(try await server.get("/export/hexagons.geojson").body)
        ).features
        let byID = Dictionary(found.map { ($0.properties.featureId ?? "", $0) }) { first, _ in first }
        #expect(found.count == expected.count && byID.count == expected.count && expected.count > 10)
        for feature in expected {
            let other = try #require(byID[feature.id ?? ""])
            #expect(other.properties.severity == feature.properties.severity)
            #expect(other.properties.severityName == feature.properties.severityName)
            #expect(other.properties.observedAt == feature.properties.observedAt)
            #expect(other.properties.reports == feature.properties.reports)
            #expect(other.geometry.type == feature.geometry.type)
            for (place, original) in zip(other.geometry.coordinates.joined(), feature.geometry.coordinates.joined()) {
                #expect(abs(place[0] - original[0]) < 1e-6 && abs(place[1] - original[1]) < 1e-6)
                #expect(abs(place[2] - Double(feature.properties.altitude) * 0.3048) < 0.1)
            }
        }
        #expect(try await server.stop() == 0)
    }

    @Test("OWSLib's client of OGC API EDR asks every query, and gets features and errors")
    func edr() async throws {
        let server = try await pictured()
        let wrong: [String] = try Oracle.ask("edr.py", ["base": "http://127.0.0.1:\(server.port)"])
        #expect(wrong == [])
        #expect(try await server.stop() == 0)
    }

    @Test("OWSLib reads WMS, WMTS and OGC API Maps, and gets pictures, features and errors")
    func owslib() async throws {
        let server = try await pictured()
        let wrong: [String] = try Oracle.ask("maps.py", ["base": "http://127.0.0.1:\(server.port)"])
        #expect(wrong == [])
        #expect(try await server.stop() == 0)
    }
}
