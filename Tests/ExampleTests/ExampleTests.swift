import AviationWeather
import BillowRaster
import Examples
import Foundation
import Geometry
import SkyPath
import Testing
import Turbulence
import UpstreamSimulator

import struct BillowTiles.TileCoord

/// The examples are compiled without access to the package, as a user's own package is.
@Suite("Examples of the products")
struct ExampleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("SkyPath reads records, or says why there are none")
    func skyPath() async throws {
        try await UpstreamSimulator.withRunning(UpstreamSimulator.Configuration(seed: 7, flights: 40)) { _, address in
            let (right, wrong) = (try #require(Secret("demo")), try #require(Secret("wrong")))
            #expect(try await recentTurbulence(.custom(address), key: right).count > 10)
            let refused = try await recentTurbulence(.custom(address), key: wrong)
            #expect(refused.count == 1 && refused.first?.hasPrefix("unauthorized: ") == true)
        }
    }

    @Test("OpenSky reads state vectors, or says why there are none")
    func openSky() async throws {
        let configuration = UpstreamSimulator.Configuration(seed: 7, flights: 200)
        try await UpstreamSimulator.withRunning(configuration) { simulator, address in
            #expect(try await !aircraftOverEurope(baseURL: address).isEmpty)
            simulator.setFault(.serverError)
            let failed = try await aircraftOverEurope(baseURL: address)
            #expect(failed.count == 1 && failed.first?.hasPrefix("upstream-error: ") == true)
        }
    }

    @Test("AviationWeather reads hazards, and what hasn't changed once")
    func aviationWeather() async throws {
        let configuration = UpstreamSimulator.Configuration(seed: 7, flights: 30)
        try await UpstreamSimulator.withRunning(configuration) { _, address in
            let lines = try await internationalSigmets(AviationWeatherConfiguration(baseURL: address))
            #expect(lines.count > 1 && lines.last == "unchanged")
        }
    }

    @Test("AviationFormats reads reports and counts what it refuses")
    func aviationFormats() throws {
        let answer =
            (#"[{"icaoId":"KWBC","obsTime":1784662980,"acType":"B738","lat":30.1,"lon":-85.2,"#
                + #""fltLvl":340,"pirepType":"PIREP","#)
            + #""tbInt1":"MOD","rawOb":"UA /OV PFN/TM 1943/FL340/TP B738/TB MOD"},{"acType":"B738"}]"#
        #expect(
            try pilotReports(in: Data(answer.utf8))
                == ["UA /OV PFN/TM 1943/FL340/TP B738/TB MOD", "1 × missing lon"])
    }

    @Test("BillowKernel draws an observation and outlines its hexagon")
    func kernel() throws {
        let place = try #require(LonLat(longitude: 8.55, latitude: 47.45))
        let tile = try #require(TileCoord(z: 5, x: 16, y: 11))
        let instant = Instant(clamping: 1_795_214_400)
        let styles = Self.root.appending(path: "Styles").path
        let picture = try #require(try Examples.picture(of: place, at: instant, in: tile, styles: styles))
        let pixels = try PNG.decode(picture.png).pixels
        #expect(pixels.count == 256 * 256 && pixels.contains { $0.alpha > 0 })
        #expect(picture.area.contains(place) && picture.area.polygons.count == 1)
        let east = try #require(LonLat(longitude: 9.55, latitude: 47.45))
        let other = try #require(try Examples.picture(of: east, at: instant, in: tile, styles: styles))
        #expect(other.entityTag != picture.entityTag && !picture.entityTag.isEmpty)
    }

    /// The page shows each example between a mark with its name and the end of the block.
    @Test("the page of the packages shows the examples as they are compiled")
    func page() throws {
        let path = Self.root.appending(path: "docs/packages.md")
        let committed = try String(contentsOf: path, encoding: .utf8)
        var made = ""
        var rest = committed[...]
        var shown: [String] = []
        while let mark = rest.firstMatch(of: /<!-- example: (\w+) -->\n```swift\n/),
            let end = rest[mark.range.upperBound...].range(of: "```")
        {
            shown.append(String(mark.1))
            let file = Self.root.appending(path: "Examples/\(mark.1).swift")
            made += rest[..<mark.range.upperBound] + (try String(contentsOf: file, encoding: .utf8))
            rest = rest[end.lowerBound...]
        }
        made += rest
        if ProcessInfo.processInfo.environment["BILLOW_WRITE_DOCS"] != nil {
            try made.write(to: path, atomically: true, encoding: .utf8)
            return
        }
        #expect(committed == made, "run this test with BILLOW_WRITE_DOCS=1")
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "Examples").path)
        #expect(shown.map { "\($0).swift" }.sorted() == files.filter { $0.hasSuffix(".swift") }.sorted())
    }
}
