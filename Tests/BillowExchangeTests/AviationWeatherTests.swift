import AviationFormats
import Foundation
import Testing

@Suite("Decoding aircraft reports")
struct AircraftReportDecoderTests {
    @Test("the Florida set has 22 smooth, 8 light, 2 moderate, 1 severe and 24 that say nothing")
    func theFloridaSetHas22Smooth() throws {
        let outcome = try PilotReportDecoder.decode(Fixture.florida.data())
        var steps: [Int?: Int] = [:]
        for report in outcome.reports {
            steps[report.turbulence.compactMap { $0.intensity?.step }.max(), default: 0] += 1
        }
        #expect(steps == [0: 22, 1: 8, 3: 2, 4: 1, nil: 24])
        #expect(outcome.refused.isEmpty)
        #expect(outcome.unknownWords.isEmpty)
        #expect(Set(outcome.reports.map(\.id)).count == 57)
    }

    @Test("heights of the JSON form are hundreds of feet")
    func heightsOfTheJSONFormAre() throws {
        let reports = try PilotReportDecoder.decode(Fixture.florida.data()).reports
        let severe = try #require(reports.first { $0.text.hasSuffix("/TB SEV 060-070") })
        #expect(severe.turbulence.map(\.baseFeet) == [6_000])
        #expect(severe.turbulence.map(\.topFeet) == [7_000])
        #expect(severe.altitudeFeet == 6_000)
        #expect(severe.aircraft == "A321")
        let alone = try #require(reports.first { $0.turbulence.contains { $0.baseFeet == 21_000 } })
        #expect(alone.turbulence.map(\.topFeet) == [nil])
    }

    @Test("the GeoJSON form has other names, ISO times and absent keys")
    func theGeoJSONFormHasOtherNames() throws {
        let outcome = try PilotReportDecoder.decode(Fixture.northEast.data())
        #expect(outcome.reports.count == 16)
        let airep = try #require(outcome.reports.first)
        #expect(airep.kind.rawValue == "AIREP")
        #expect(airep.aircraft == "UAL210")
        #expect(airep.longitude == -78.9)
        #expect(airep.latitude == 42.3833)
        #expect(airep.altitudeFeet == 36_000)
        #expect(airep.observedAt == Date(timeIntervalSince1970: 1_785_880_500))
        #expect(airep.temperatureCelsius == -47)
        #expect(airep.turbulence.map(\.intensity?.rawValue) == ["LGT"])
        // "CONS CHOP": a group without an intensity is not smooth.
        let chop = try #require(outcome.reports.first { $0.text.contains("CONS CHOP") })
        #expect(chop.turbulence.count == 1)
        #expect(chop.turbulence.first?.intensity == nil)
        // INT occurs though it isn't documented.
        #expect(outcome.reports.contains { $0.turbulence.first?.frequency?.rawValue == "INT" })
        #expect(outcome.unknownWords.isEmpty)
        // Descending, without a level.
        let descending = try #require(outcome.reports.first { $0.text.contains("FLDURD") })
        #expect(descending.altitudeFeet == nil)
    }

    @Test("one report has the same id in both JSON forms")
    func oneReportHasTheSameId() throws {
        let json = """
            [{"receiptTime":"2026-08-04T21:35:29.437Z","obsTime":1785878400,"acType":"BE95","lat":37.0626,
            "lon":-107.9245,"fltLvl":105,"tbInt1":"SEV","pirepType":"Urgent PIREP",
            "rawOb":"DRO UUA /OV DRO223010/TM 2120/FL105/TP BE95/TB SEV/RM ZDVWC-36 MOD TO SEV CHOP"}]
            """
        let one = try #require(PilotReportDecoder.decode(Data(json.utf8)).reports.first)
        let other = try #require(PilotReportDecoder.decode(Fixture.severe.data()).reports.first)
        #expect(one.id == other.id)
        #expect(one.id.count == 33)
        #expect(one.observedAt == other.observedAt)
    }

    @Test("the older CSV has feet, repeated columns and a stray comma")
    func theOlderCSVHasFeetRepeated() throws {
        let outcome = try PilotReportDecoder.decode(Fixture.adds.data())
        #expect(outcome.reports.count == 11)
        #expect(outcome.refused.isEmpty)
        #expect(outcome.reports.count { !$0.turbulence.isEmpty } == 10)
        let first = try #require(outcome.reports.first)
        #expect(first.altitudeFeet == 21_000)
        #expect(first.text == "1F0 UA /OV KADH120005 /TM 0547 /FL210 /TP AT75 /TB MOD /RM ZFW AWC-WEB")
        let smooth = try #require(outcome.reports.first { $0.aircraft == "SH36" })
        #expect(smooth.turbulence.map(\.intensity?.step) == [0])
        #expect(smooth.icing.map(\.topFeet) == [60_000])
        #expect(smooth.clouds.map(\.cover) == ["SKC"])
    }

    static let badRecords: [(change: String, to: String, code: String)] = [
        ("\"lat\":30", "\"lat\":91", "invalid lat"),
        ("\"lat\":30", "\"lat\":null", "missing lat"),
        ("\"lat\":30", "\"lat\":\"north\"", "invalid lat"),
        ("\"lon\":-90", "\"lon\":-181", "invalid lon"),
        ("\"obsTime\":1784666820", "\"obsTime\":-1", "invalid obsTime"),
        ("\"obsTime\":1784666820", "\"obsTime\":\"2026-07-21T20:00:00\"", "invalid obsTime"),
        ("\"obsTime\":1784666820", "\"obsTime\":1e300", "invalid obsTime"),
        ("\"rawOb\":\"X\"", "\"rawOb\":\"\"", "missing rawOb"),
        ("\"fltLvl\":350", "\"fltLvl\":\"FL350\"", "invalid fltLvl"),
        ("\"fltLvl\":350", "\"fltLvl\":-10", "invalid fltLvl"),
        ("\"fltLvl\":350", "\"fltLvl\":1e18", "invalid fltLvl"),
        ("\"tbBas1\":340", "\"tbBas1\":[1]", "invalid tbBas1"),
        ("\"tbTop1\":360", "\"tbTop1\":\"high\"", "invalid tbTop1"),
        ("{", "[{", "not a report"),
    ]

    @Test("a bad record is counted and costs no neighbour", arguments: badRecords)
    func aBadRecordIsCountedAnd(
        change: String, to: String, code: String
    ) throws {
        let good =
            #"{"obsTime":1784666820,"lat":30,"lon":-90,"fltLvl":350,"tbBas1":340,"tbTop1":360,"#
            + #""tbInt1":"MOD","rawOb":"X"}"#
        var bad = good.replacing(change, with: to)
        if bad.hasPrefix("[") { bad += "]" }
        #expect(bad != good)
        let outcome = try PilotReportDecoder.decode(Data("[\(good),\(bad),7,\(good)]".utf8))
        #expect(outcome.reports.count == 2)
        var expected = [code: 1]
        expected["not a report", default: 0] += 1
        #expect(outcome.refusedByText == expected)
    }

    @Test("an unknown word is kept and counted, and no severity is read into it")
    func anUnknownWordIsKeptAnd() throws {
        let json = #"[{"obsTime":1,"lat":0,"lon":0,"tbInt1":"ROUGH","tbType1":"WAKE","tbInt2":"EXTM","rawOb":"X"}]"#
        let outcome = try PilotReportDecoder.decode(Data(json.utf8))
        let report = try #require(outcome.reports.first)
        #expect(report.turbulence.map(\.intensity?.rawValue) == ["ROUGH", "EXTM"])
        #expect(report.turbulence.map(\.intensity?.step) == [nil, 4])
        #expect(outcome.unknownWords == ["turbulence intensity: ROUGH": 1, "turbulence type: WAKE": 1])
    }

    @Test("levels are read as numbers, as texts and as SFC; 0 is a level only on the ground")
    func levelsAreReadAsNumbersAs() throws {
        func report(_ fields: String) throws -> AircraftReport {
            try PilotReportDecoder.report(
                json: Data(#"{"obsTime":1,"lat":0,"lon":0,"acType":"","rawOb":"X",\#(fields)}"#.utf8))
        }
        #expect(try report(#""fltLvl":"350""#).altitudeFeet == 35_000)
        #expect(try report(#""fltLvl":0,"fltLvlType":"DURD""#).altitudeFeet == nil)
        #expect(try report(#""fltLvl":0,"fltLvlType":"GRND""#).altitudeFeet == 0)
        #expect(try report(#""tbBas1":"SFC","tbTop1":60"#).turbulence.map(\.baseFeet) == [0])
        #expect(try report(#""tbBas1":null,"tbInt1":"""#).turbulence.isEmpty)
    }

    @Test("a report from the ground is no aircraft report")
    func aReportFromTheGroundIs() throws {
        let metar =
            #"[{"icaoId":"KMIA","obsTime":1784666820,"lat":25.8,"lon":-80.3,"elev":3,"rawOb":"KMIA 212053Z 09010KT"}]"#
        let outcome = try PilotReportDecoder.decode(Data(metar.utf8))
        #expect(outcome.reports.isEmpty)
        #expect(outcome.refused == [.notAReport: 1])
    }

    @Test("an empty body is an empty list, and an invalid response is an error")
    func anEmptyBodyIsAnEmpty() throws {
        #expect(try PilotReportDecoder.decode(Data()).reports.isEmpty)
        #expect(try PilotReportDecoder.decode(Data(" \n".utf8)).reports.isEmpty)
        #expect(throws: DocumentError.service("area required")) {
            try PilotReportDecoder.decode(Data(#"{"status":"error","error":"area required"}"#.utf8))
        }
        #expect(throws: DocumentError.html) { try PilotReportDecoder.decode(Data("<html>".utf8)) }
        #expect(throws: DocumentError.unknownForm) { try PilotReportDecoder.decode(Data(#"{"a":1}"#.utf8)) }
        let cut = try Fixture.florida.data().prefix(2_000)
        #expect(throws: DocumentError.self) { try PilotReportDecoder.decode(cut) }
        let deep = Data(String(repeating: "[", count: 100_000).utf8)
        #expect(throws: DocumentError.notJSON(atByte: 64)) { try PilotReportDecoder.decode(deep) }
        #expect(throws: DocumentError.notJSON(atByte: 6)) { try PilotReportDecoder.decode(Data("[{},{}".utf8)) }
    }
}
