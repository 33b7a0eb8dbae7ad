import AviationFormats
import Datasets
import Foundation
import Geometry
import Testing
import Turbulence

@testable import BillowExchange

/// Center Weather Advisories, in the form of a real capture and in the service's JSON form.
@Suite("Center Weather Advisories") struct AdvisoryTests {
    private static let name = "cwa_geojson_2026-09-24T1754Z.geojson"

    private static func captured() throws -> Data {
        try Data(contentsOf: Bundle.module.bundleURL.appending(path: "Fixtures/\(name)"))
    }

    /// A record of the JSON form: coordinates as texts, times in Unix seconds, the series as a number, a ring not
    /// closed.
    private static func record(_ members: String = "", longitude: Double = -97) -> String {
        let corners = [(0.0, 0.0), (2, 0), (2, 2)].map { east, north in
            #"{"lat":"\#(30 + north)","lon":"\#(longitude + east)"}"#
        }.joined(separator: ",")
        return """
            {"cwsu":"ZFW","name":"Fort Worth","seriesId":201,"validTimeFrom":1790272800,"validTimeTo":1790276400,\
            "hazard":"TURB","qualifier":"FQT MOD","base":24000,"top":38000,"geom":"AREA",\
            "rawText":"FAUS22 KZFW"\(members),"coords":[\(corners)]}
            """
    }

    private func areas(_ text: String) throws -> [IssuedArea] {
        let source = try #require(SourceID("awc"))
        return HazardAreas(try HazardDecoder.catalogue.decode(Data(text.utf8)).reports, source: source).areas
    }

    @Test("a real answer is read whole, under the dataset of advisories")
    func capture() throws {
        let outcome = try HazardDecoder.catalogue.decode(Self.captured())
        #expect(outcome.count == 2 && outcome.refused.isEmpty)
        let areas = HazardAreas(outcome.reports, source: try #require(SourceID("awc"))).areas
        #expect(areas.map(\.id) == ["cwa-zhu-103", "cwa-zkc-301"])
        #expect(areas.allSatisfy { $0.collection == .advisories && $0.kind == "cwa" && $0.severity == nil })
        #expect(areas.map(\.hazard) == [nil, "TS"])
        #expect(areas.map(\.altitudeMaxFeet) == [nil, 38_000])
        #expect(areas.first?.validFrom == Instant("2026-09-24T16:53:00Z"))
        #expect(areas.first?.validTo == Instant("2026-09-24T17:56:00Z"))
        #expect(areas.first?.text?.contains("ZHU CWA 103") == true)
        let inside = try #require(LonLat(longitude: -98, latitude: 28))
        #expect(areas.first?.geometry.contains(inside) == true)
    }

    @Test("the JSON form has other names, numbers as texts and a series as a number")
    func json() throws {
        let area = try #require(try areas("[\(Self.record())]").first)
        #expect(area.id == "cwa-zfw-201" && area.hazard == "TURB" && area.text == "FAUS22 KZFW")
        #expect(area.altitudeMinFeet == 24_000 && area.altitudeMaxFeet == 38_000)
        #expect(area.validTo.seconds - area.validFrom.seconds == 3_600)
    }

    @Test("an advisory beyond the antimeridian is cut at it")
    func antimeridian() throws {
        let area = try #require(try areas("[\(Self.record(longitude: -181))]").first)
        #expect(area.geometry.polygons.count == 2)
        #expect(area.geometry.contains(try #require(LonLat(longitude: 179.9, latitude: 30.05))))
    }

    @Test(
        "unusable input is rejected with its reason",
        arguments: [
            (#""cwsu":"ZFW""#, #""cwsu":"""#, "missing cwsu"),
            (#""seriesId":201"#, #""seriesId":null"#, "missing seriesId"),
            (#""validTimeTo":1790276400"#, #""validTimeTo":1790272800"#, "invalid validTimeTo"),
            (#""base":24000"#, #""base":39000"#, "invalid base"),
        ])
    func refusals(_ example: (part: String, replacement: String, reason: String)) throws {
        let record = Self.record().replacing(example.part, with: example.replacement)
        let outcome = try HazardDecoder.catalogue.decode(Data("[\(record)]".utf8))
        #expect(outcome.reports.isEmpty)
        #expect(outcome.refusedByText == [example.reason: 1])
    }

    @Test("an import takes a file of advisories, and an export gives their properties", arguments: [1, Int.max])
    func importAndExport(pieces: Int) throws {
        let (items, summary) = importing(try Self.captured(), pieces: pieces, fileName: Self.name)
        #expect(summary.areas == ["cwa": 2] && summary.refusedCount == 0)
        let areas = items.compactMap { item -> IssuedArea? in if case .area(let area) = item { area } else { nil } }
        #expect(areas.count == 2)
        var writer = FeatureWriter(Dataset.advisories, as: .csv)
        writer.begin()
        for area in areas { writer.write(Feature(area)) }
        let lines = String(decoding: writer.bytes, as: UTF8.self).split(separator: "\r\n")
        #expect(lines.first?.hasPrefix("id,kind,hazard,severity,") == true)
        #expect(lines.contains { $0.hasPrefix("cwa-zkc-301,cwa,TS,") })
    }
}
