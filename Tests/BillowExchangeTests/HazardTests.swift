import AviationFormats
import Datasets
import Foundation
import Geometry
import Testing
import Turbulence

@testable import BillowExchange

private func awc() throws -> SourceID { try #require(SourceID("awc")) }

private func decoded(_ fixture: Fixture) throws -> HazardDecoder.Outcome {
    try HazardDecoder.catalogue.decode(fixture.data())
}

private func instant(_ text: String) throws -> Instant { try #require(Instant(text)) }

@Suite("Decoding hazards")
struct HazardDecoderTests {
    @Test(
        "every record of a file is read or counted by its reason",
        arguments: [
            (
                Fixture.gairmets, 23,
                ["ICE": 1, "IFR": 4, "MT_OBSC": 2, "M_FZLVL": 2, "SFC_WND": 1, "TURB-HI": 1, "TURB-LO": 1],
                ["not an area: LINE": 11]
            ),
            (.sigmets, 17, ["CONVECTIVE": 17], [:]),
            (.internationalSigmets, 2, ["TS": 1, "VA": 1], [:]),
            (
                .oldGairmets, 55,
                ["ICE": 7, "IFR": 6, "LLWS": 6, "MT_OBSC": 3, "M_FZLVL": 4, "SFC_WND": 2, "TURB-HI": 8, "TURB-LO": 7],
                ["not an area: LineString": 12]
            ),
            (.pulledSigmets, 12, ["CONVECTIVE": 5, "TURB": 7], [:]),
        ])
    func everyRecordOfAFileIs(
        fixture: Fixture, count: Int, hazards: [String: Int], refused: [String: Int]
    ) throws {
        let outcome = try decoded(fixture)
        #expect(outcome.count == count)
        #expect(Dictionary(grouping: outcome.reports) { $0.hazard ?? "" }.mapValues(\.count) == hazards)
        #expect(outcome.refusedByText == refused)
        #expect(outcome.reports.allSatisfy { $0.droppedCorners == 0 })
    }

    @Test(
        "a record is of one product, so that the order of products has no meaning",
        arguments: Fixture.allCases.filter { $0.rawValue.contains("airmet") || $0.rawValue.contains("sigmet") })
    func oneProduct(_ fixture: Fixture) throws {
        let products = HazardDecoder.catalogue.products
        let whole = try decoded(fixture)
        #expect(try HazardDecoder(of: products.reversed()).decode(fixture.data()).reports == whole.reports)
        let parts = try products.map { try HazardDecoder(of: [$0]).decode(fixture.data()) }
        #expect(parts.reduce(0) { $0 + $1.reports.count } == whole.reports.count)
        for (product, part) in zip(products, parts) {
            #expect(part.reports == whole.reports.filter { $0.product == product }, "\(product.id)")
            #expect(part.count == whole.count)
        }
    }

    /// It says that nothing is issued, which is no refusal, and nothing is missing without it.
    @Test("a bulletin of no SIGMET is left out", arguments: ["airSigmet", "archive"])
    func aBulletinOfNoSIGMETIs(form: String) throws {
        let text = #"WSUS31 KKCI 192355\nSIGE\nCONVECTIVE SIGMET...NONE\nVALID UNTIL 200155Z"#
        let fields =
            #""airSigmetType":"SIGMET","rawAirSigmet":"\#(text)","validTimeFrom":1766188500,"validTimeTo":1766195700"#
        let record =
            form == "airSigmet"
            ? "[{\(fields)}]"
            : #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{\#(fields)},"geometry":null}]}"#
        let outcome = try HazardDecoder.catalogue.decode(Data(record.utf8))
        #expect(outcome.refused == [.noHazard: 1] && outcome.unreadable.isEmpty && outcome.count == 1)
        var reader = ImportReader(
            now: try instant("2026-01-01T00:00:00Z"), fileName: "usa_sigmets_2025-12-19T2318.geojson")
        let items = reader.read(Array(record.utf8)) + reader.finish()
        #expect(items.isEmpty && reader.summary.refusedCount == 0)
        #expect(reader.summary.skippedAreas == ["none issued": 1] && reader.summary.read == 1)
    }

    @Test(
        "OpenSky's responses are distinguished from importable files",
        arguments: [
            (#"{"time":1693234261,"states":[["a2d2c8","N281MC  "]]}"#, "state vectors"),
            (#"{"states":null,"time":1683488744}"#, "state vectors"),
            (
                #"{"icao24":"0ac382","callsign":"HK5220  ","startTime":1.694114383E9,"path":[[1694114383,5.0]]}"#,
                "tracks"
            ),
            (#"[{"icao24":"84630c","firstSeen":1517229441,"estDepartureAirport":null}]"#, "flights"),
        ])
    func openskysAnswersAreToldFromWhat(text: String, word: String) throws {
        var reader = ImportReader(now: try instant("2026-01-01T00:00:00Z"))
        _ = reader.read(Array(text.utf8)) + reader.finish()
        #expect(reader.summary.refusals.keys.sorted() == ["unknown format"])
        #expect(reader.summary.description.contains(word) && reader.summary.description.contains("OpenSky"))
    }

    @Test("every pull of a day is read")
    func everyPullOfADayIs() throws {
        func read(_ folder: String) throws -> (count: Int, hazards: [String: Int], refused: Int) {
            let day = Bundle.module.bundleURL.appending(path: "Fixtures/2025-12-19/\(folder)")
            let files = try FileManager.default.contentsOfDirectory(at: day, includingPropertiesForKeys: nil)
            #expect(files.count == 22)
            var total = (count: 0, hazards: [String: Int](), refused: 0)
            for file in files {
                let outcome = try HazardDecoder.catalogue.decode(Data(contentsOf: file))
                total.count += outcome.count
                total.refused += outcome.refused[.notAnArea("LineString")] ?? 0
                for report in outcome.reports { total.hazards[report.hazard ?? "", default: 0] += 1 }
            }
            return total
        }
        let gairmets = try read("gairmets")
        #expect(gairmets.count == 1_126 && gairmets.refused == 223)
        #expect(gairmets.hazards["TURB-HI"] == 107 && gairmets.hazards["TURB-LO"] == 81)
        let sigmets = try read("sigmets")
        #expect(sigmets.count == 241 && sigmets.refused == 0)
        #expect(sigmets.hazards == ["TURB": 173, "CONVECTIVE": 65, "ICE": 3])
    }

    @Test("heights are feet, whichever unit the year had")
    func heightsAreFeetWhicheverUnitThe() throws {
        let old = try #require(try decoded(.oldGairmets).reports.first { $0.series == "TURB-HI 1W" })
        #expect(old.baseFeet == 25_000 && old.topFeet == 38_000)
        let ground = try #require(try decoded(.oldGairmets).reports.first { $0.series == "TURB-LO 1W" })
        #expect(ground.baseFeet == 0 && ground.topFeet == 10_000)
        let new = try #require(try decoded(.gairmets).reports.first { $0.hazard == "TURB-HI" })
        #expect(new.baseFeet == 30_000 && new.topFeet == 45_000)
        let pulled = try #require(try decoded(.pulledGairmets).reports.first { $0.series == "TURB-HI 5W" })
        #expect(pulled.baseFeet == 18_000 && pulled.topFeet == 43_000)
        let sigmets = try decoded(.pulledSigmets).reports
        #expect(sigmets.first?.baseFeet == 17_000 && sigmets.first?.topFeet == 25_000)
        #expect(sigmets.first { $0.hazard == "CONVECTIVE" }?.baseFeet == nil)
    }

    @Test("times are parsed in every form; without a zone they are UTC")
    func timesAreToldInEveryForm() throws {
        let gairmet = try #require(try decoded(.gairmets).reports.first { $0.hazard == "TURB-HI" })
        #expect(Instant(gairmet.validFrom) == (try instant("2026-07-21T21:00:00Z")))
        #expect(Instant(gairmet.validTo) == (try instant("2026-07-22T00:00:00Z")))
        #expect(gairmet.issuedAt.map { Instant($0) } == (try instant("2026-07-21T20:45:00Z")))
        #expect(!gairmet.isArchived)
        let pulled = try #require(try decoded(.pulledGairmets).reports.first { $0.hazard == "TURB-HI" })
        #expect(Instant(pulled.validFrom) == (try instant("2025-12-19T03:00:00Z")))
        #expect(pulled.issuedAt.map { Instant($0) } == (try instant("2025-12-19T00:39:00Z")))
        #expect(pulled.isArchived && pulled.forecastHour == 6)
        // The archive's SIGMETs have no start but that of their heading, here of the day before.
        let sigmet = try #require(try decoded(.pulledSigmets).reports.first)
        #expect(Instant(sigmet.validFrom) == (try instant("2025-12-18T22:31:00Z")))
        #expect(Instant(sigmet.validTo) == (try instant("2025-12-19T02:30:00Z")))
        #expect(sigmet.series == "WHISKEY" && sigmet.text?.hasPrefix("SIGMET WHISKEY 1 VALID UNTIL") == true)
    }

    private static let gairmet =
        #"{"tag":"1W","forecastHour":0,"validTime":"2026-07-21T21:00:00.000Z","hazard":"TURB-HI","geom":"AREA","#
        + #""base":"180","top":"300","issueTime":1784666700,"#
        + #""coords":[{"lat":"40","lon":"-90"},{"lat":"41","lon":"-90"},{"lat":"41","lon":"-89"}]}"#
    private static let sigmet =
        #"{"firId":"EGTT","seriesId":"1","hazard":"TURB","qualifier":"SEV","validTimeFrom":1790515200,"#
        + #""validTimeTo":1790536800,"base":0,"top":7000,"geom":"AREA","#
        + #""coords":[{"lat":50,"lon":-1},{"lat":51,"lon":-1},{"lat":51,"lon":0}]}"#

    private static let bad: [(String, String, String, String)] = [
        (gairmet, #""validTime":"2026-07-21T21:00:00.000Z""#, #""validTime":"soon""#, "invalid validTime"),
        (gairmet, #""validTime":"2026-07-21T21:00:00.000Z""#, #""validTime":null"#, "missing validTime"),
        (gairmet, #""hazard":"TURB-HI""#, #""hazard":"""#, "missing hazard"),
        (gairmet, #""base":"180""#, #""base":"400""#, "invalid base"),
        (gairmet, #""base":"180""#, #""base":"low""#, "invalid base"),
        (gairmet, #""top":"300""#, #""top":1e9"#, "invalid top"),
        (gairmet, #""geom":"AREA""#, #""geom":"LINE""#, "not an area: LINE"),
        (gairmet, #""lat":"41","lon":"-89""#, #""lat":"91","lon":"-89""#, "invalid coords"),
        (gairmet, #""lat":"41","lon":"-89""#, #""lat":"41","lon":"-90""#, "invalid coords"),
        (gairmet, #""coords":["#, #""places":["#, "missing coords"),
        (sigmet, #""validTimeTo":1790536800"#, #""validTimeTo":1790515200"#, "invalid validTimeTo"),
        (sigmet, #""validTimeTo":1790536800"#, #""validTimeTo":1900536800"#, "invalid validTimeTo"),
        (sigmet, #""validTimeFrom":1790515200"#, #""validTimeFrom":-5"#, "invalid validTimeFrom"),
        (sigmet, #""seriesId":"1""#, #""seriesId":null"#, "missing seriesId"),
        (sigmet, #""top":7000"#, #""top":"FL700X""#, "invalid top"),
        (sigmet, #""lat":51,"lon":0"#, #""lat":51,"lon":null"#, "invalid coords"),
        (sigmet, #""firId":"EGTT","#, "[", "not a report"),
    ]

    @Test("a bad record is counted and costs no neighbour", arguments: bad)
    func aBadRecordIsCountedAnd(
        good: String, change: String, to: String, code: String
    ) throws {
        let bad = to == "[" ? #"{"id":7}"# : good.replacing(change, with: to)
        #expect(bad != good)
        let outcome = try HazardDecoder.catalogue.decode(Data("[\(good),\(bad),7,\(good)]".utf8))
        #expect(outcome.reports.count == 2)
        var expected = [code: 1]
        expected["not a report", default: 0] += 1
        #expect(outcome.refusedByText == expected)
    }

    @Test("an area of several parts is one report, and a corner without a number is left out")
    func anAreaOfSeveralPartsIs() throws {
        let corners = #"[{"lat":50,"lon":-1},{"lat":51,"lon":-1},{"lat":51,"lon":null},{"lat":51,"lon":0}]"#
        let several = Self.sigmet.replacing(/"coords":.*/, with: #""coords":[\#(corners),\#(corners)]}"#)
            .replacing(#""AREA""#, with: #""AREAS""#)
        let outcome = try HazardDecoder.catalogue.decode(Data("[\(several)]".utf8))
        #expect(outcome.reports.first?.outlines.map(\.count) == [3, 3])
        #expect(outcome.reports.first?.droppedCorners == 2)
        let areas = HazardAreas(outcome.reports, source: try awc())
        #expect(areas.areas.first?.geometry.polygons.count == 2)
        #expect(areas.adjusted == [.droppedCorner: 2])
    }

    @Test("an empty body is an empty list, and an invalid response is an error")
    func anEmptyBodyIsAnEmpty() throws {
        #expect(try HazardDecoder.catalogue.decode(Data()).count == 0)
        #expect(throws: DocumentError.service("Invalid fore")) {
            try HazardDecoder.catalogue.decode(Data(#"{"status":"error","error":"Invalid fore"}"#.utf8))
        }
        #expect(throws: DocumentError.html) { try HazardDecoder.catalogue.decode(Data("<html>".utf8)) }
        #expect(throws: DocumentError.self) {
            try HazardDecoder.catalogue.decode(try Fixture.sigmets.data().prefix(3_000))
        }
    }
}

@Suite("Hazards as areas")
struct HazardAreaTests {
    @Test("only turbulence is used of G-AIRMETs, and MOD is moderate")
    func onlyTurbulenceIsKeptOfG() throws {
        let hazards = HazardAreas(try decoded(.gairmets).reports, source: try awc())
        #expect(hazards.areas.map(\.id) == ["gairmet-turb-hi-1w", "gairmet-turb-lo-1w"])
        #expect(
            hazards.areas.allSatisfy { $0.severity == .moderate && $0.kind == "gairmet" && $0.collection == .hazards })
        #expect(hazards.skipped[.notTurbulence("IFR")] == 4)
        let shear = HazardAreas(try decoded(.oldGairmets).reports, source: try awc()).areas.filter {
            $0.hazard == "LLWS"
        }
        #expect(shear.count == 6 && shear.allSatisfy { $0.severity == nil })
        // Below 2,000 ft above the ground by its definition, of which it says nothing itself.
        #expect(shear.allSatisfy { $0.altitudeMinFeet == 0 && $0.altitudeMaxFeet == 2_000 && $0.isAboveGround })
    }

    @Test("an area that several offices issue is one hazard, in any order")
    func whatSeveralOfficesIssueIsOne() throws {
        let reports = try decoded(.pulledSigmets).reports
        let hazards = HazardAreas(reports, source: try awc())
        #expect(hazards.areas.count == 9)
        #expect(hazards.skipped == [.sameArea: 3])
        #expect(HazardAreas(reports.reversed(), source: try awc()).areas == hazards.areas)
        #expect(hazards.areas.filter { $0.hazard == "TURB" }.allSatisfy { $0.severity == .moderateSevere })
        #expect(hazards.areas.filter { $0.hazard == "CONVECTIVE" }.allSatisfy { $0.severity == nil })
    }

    @Test("a series keeps its id from issue to issue")
    func aSeriesKeepsItsIdFrom() throws {
        let first = HazardAreas(try decoded(.pulledSigmets).reports, source: try awc()).areas
        let later = HazardAreas(try decoded(.laterSigmets).reports, source: try awc()).areas
        let papa = try #require(first.first { $0.text?.contains("PAPA 10") == true })
        let next = try #require(later.first { $0.text?.contains("PAPA 11") == true })
        #expect(papa.id == "sigmet-papa" && next.id == papa.id && next.validFrom > papa.validFrom)
        #expect(papa.identity != next.identity)
    }

    @Test("areas of one name are numbered from west to east")
    func areasOfOneNameAreTold() throws {
        func gairmet(_ longitude: Int) -> String {
            #"{"tag":"5W","forecastHour":0,"validTime":"2026-07-21T21:00:00.000Z","hazard":"TURB-LO","geom":"AREA","#
                + #""coords":[[\#(longitude),40],[\#(longitude),41],[\#(longitude + 1),41]]}"#
        }
        func ids(_ longitudes: [Int]) throws -> [String: Double] {
            let text = "[" + longitudes.map(gairmet).joined(separator: ",") + "]"
            let areas = HazardAreas(try HazardDecoder.catalogue.decode(Data(text.utf8)).reports, source: try awc())
                .areas
            return Dictionary(uniqueKeysWithValues: areas.map { ($0.id, $0.geometry.box?.west ?? 0) })
        }
        let expected = ["gairmet-turb-lo-5w": -120.0, "gairmet-turb-lo-5w-2": -100, "gairmet-turb-lo-5w-3": -80]
        #expect(try ids([-80, -120, -100]) == expected)
        #expect(try ids([-100, -80, -120]) == expected)
    }

    @Test("an area across the antimeridian is split, wherever it begins")
    func anAreaAcrossTheAntimeridianIs() throws {
        let sigmet =
            #"[{"firId":"NZZO","seriesId":"3","hazard":"TURB","qualifier":"SEV","validTimeFrom":1790515200,"#
            + #""validTimeTo":1790536800,"geom":"AREA","coords":[{"lat":-30,"lon":178},{"lat":-30,"lon":-178},"#
            + #"{"lat":-35,"lon":-178},{"lat":-35,"lon":178},{"lat":-30,"lon":178}]}]"#
        let area = try #require(
            HazardAreas(try HazardDecoder.catalogue.decode(Data(sigmet.utf8)).reports, source: try awc()).areas.first)
        #expect(area.geometry.polygons.count == 2)
        #expect(area.geometry.contains(try #require(LonLat(longitude: 179.5, latitude: -32))))
        #expect(area.geometry.contains(try #require(LonLat(longitude: -179.5, latitude: -32))))
        #expect(!area.geometry.contains(try #require(LonLat(longitude: 0, latitude: -32))))
    }
}

@Suite("Imports of hazards")
struct HazardImportTests {
    @Test("a file gives its areas at its end, whatever the pieces", arguments: [1, 777, Int.max])
    func aFileGivesItsAreasAt(pieces: Int)
        throws
    {
        let (items, summary) = importing(try Fixture.gairmets.data(), pieces: pieces)
        #expect(summary.read == 23 && summary.refusedCount == 0)
        #expect(summary.areas == ["gairmet": 2])
        #expect(summary.skippedAreas["not an area: LINE"] == 11 && summary.skippedAreas["not turbulence: ICE"] == 1)
        #expect(items.count == 2)
        #expect(summary.description.contains("2 areas: 2 gairmet"))
    }

    @Test("an archive's file is a pull, by the time in its name")
    func anArchivesFileIsAPull() throws {
        let name = Fixture.pulledSigmets.rawValue
        let (items, summary) = importing(try Fixture.pulledSigmets.data(), fileName: "/a/2020-01-01T0000/\(name)")
        guard case .pull(let pull) = items.first else {
            Issue.record("no pull")
            return
        }
        #expect(items.count == 1 && pull.areas.count == 9 && pull.kinds == ["sigmet"])
        #expect(pull.at == (try instant("2025-12-19T02:18:00Z")))
        #expect(summary.areas == ["sigmet": 9] && summary.skippedAreas == ["same area from another office": 3])
        // Without a time they hold as they say themselves.
        #expect(importing(try Fixture.pulledSigmets.data(), fileName: "sigmets.geojson").items.count == 9)
    }

    /// What a store would hold: the last content of each identity.
    private struct Log {
        var areas: [IssuedArea.Identity: IssuedArea] = [:]

        mutating func insert(_ pull: HazardArchiveCopy) {
            for area in pull.placed(among: Array(areas.values)) { areas[area.identity] = area }
        }

        func minute(_ instant: Instant) -> Substring { instant.description.dropFirst(11).prefix(5) }
        func spans(_ id: String) -> [String] {
            areas.values.filter { $0.id == id }.sorted { $0.validFrom < $1.validFrom }
                .map { "\(minute($0.validFrom))-\(minute($0.validTo))" }
        }
    }

    @Test("a SIGMET holds from its issue, ends the one before it, and is there between two pulls")
    func aSIGMETHoldsFromItsIssue() throws {
        func area(_ id: String, issued: String, until end: String) throws -> IssuedArea {
            let corners = [(-90.0, 40.0), (-89, 40), (-89, 41)].compactMap { LonLat(longitude: $0.0, latitude: $0.1) }
            let issuedAt = try instant("2025-12-19T\(issued):00Z")
            return IssuedArea(
                collection: .hazards, id: id, source: try awc(), kind: "sigmet", validFrom: issuedAt,
                validTo: try instant("2025-12-19T\(end):00Z"), issuedAt: issuedAt,
                geometry: try #require(MultiPolygon(outline: corners)))
        }
        func pull(_ time: String, _ areas: [IssuedArea]) throws -> HazardArchiveCopy {
            HazardArchiveCopy(
                at: try instant("2025-12-19T\(time):00Z"), kinds: ["sigmet"], source: try awc(), areas: areas)
        }
        // Of 19 December 2025: the pulls of 8:38, 9:32, 10:32 and 11:25.
        let old = try area("oscar", issued: "05:56", until: "09:55")
        let new = try area("oscar", issued: "09:48", until: "13:48")
        let pulls = [
            try pull("08:38", [old]), try pull("09:32", [old]), try pull("10:32", [new]), try pull("11:25", [new]),
        ]
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3, 2, 1]] {
            var log = Log()
            for index in order { log.insert(pulls[index]) }
            #expect(
                log.spans("oscar") == ["08:38-09:32", "09:32-09:48", "09:48-10:32", "10:32-11:25", "11:25-13:48"],
                "\(order)")
            // Its end isn't the copy's end, which would suggest that it ends soon.
            #expect(
                log.areas.values.filter { $0.id == "oscar" }.sorted { $0.validFrom < $1.validFrom }
                    .map { $0.statedTo?.description.dropFirst(11).prefix(5) }
                    == ["09:55", "09:55", "13:48", "13:48", nil], "\(order)")
        }
    }

    @Test("a bulletin of convective SIGMETs replaces the one before, of its region and at 55 of all")
    func aBulletinOfConvectiveSIGMETsReplaces() throws {
        func area(_ name: String, issued: String) throws -> IssuedArea {
            let corners = [(-90.0, 40.0), (-89, 40), (-89, 41)].compactMap { LonLat(longitude: $0.0, latitude: $0.1) }
            let issuedAt = try instant("2025-12-19T\(issued):00Z")
            return IssuedArea(
                collection: .hazards, id: "sigmet-\(name)", source: try awc(), kind: "sigmet", hazard: "CONVECTIVE",
                validFrom: issuedAt, validTo: issuedAt.advanced(by: 7_200), issuedAt: issuedAt,
                geometry: try #require(MultiPolygon(outline: corners)))
        }
        func pull(_ time: String, _ areas: [(String, String)]) throws -> HazardArchiveCopy {
            HazardArchiveCopy(
                at: try instant("2025-12-19T\(time):00Z"), kinds: ["sigmet"], source: try awc(),
                areas: try areas.map { try area($0.0, issued: $0.1) })
        }
        let pulls = [
            try pull("04:39", [("12e", "03:55"), ("4c", "03:55")]),
            try pull("05:30", [("16e", "04:55"), ("17e", "04:55"), ("5c", "04:55")]),
            // Nothing of the centre any more, and a special one that is added.
            try pull("06:42", [("20e", "05:55"), ("21e", "06:10")]),
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1, 2, 0]] {
            var log = Log()
            for index in order { log.insert(pulls[index]) }
            #expect(log.spans("sigmet-12e") == ["04:39-04:55"], "\(order)")
            #expect(log.spans("sigmet-4c") == ["04:39-04:55"], "\(order)")
            #expect(log.spans("sigmet-16e") == ["04:55-05:30", "05:30-05:55"], "\(order)")
            #expect(log.spans("sigmet-17e") == ["04:55-05:30", "05:30-05:55"], "\(order)")
            #expect(log.spans("sigmet-5c") == ["04:55-05:30", "05:30-05:55"], "\(order)")
            #expect(log.spans("sigmet-20e") == ["05:55-06:42", "06:42-07:55"], "\(order)")
            #expect(log.spans("sigmet-21e") == ["06:10-06:42", "06:42-08:10"], "\(order)")
        }
    }

    @Test("a pull holds until the next one, in whatever order they come, and twice is once")
    func aPullHoldsUntilTheNext() throws {
        func pull(_ time: String, _ ids: [String], until end: String) throws -> HazardArchiveCopy {
            let areas = try ids.map { id in
                let corners = [(-90.0, 40.0), (-89, 40), (-89, 41)].compactMap {
                    LonLat(longitude: $0.0, latitude: $0.1)
                }
                return IssuedArea(
                    collection: .hazards, id: id, source: try awc(), kind: "sigmet",
                    validFrom: try instant("2025-12-19T00:00:00Z"),
                    validTo: try instant("2025-12-19T\(end):00Z"),
                    geometry: try #require(MultiPolygon(outline: corners)))
            }
            return HazardArchiveCopy(
                at: try instant("2025-12-19T\(time):00Z"), kinds: ["sigmet"], source: try awc(), areas: areas)
        }
        let pulls = [
            try pull("02:18", ["a", "b"], until: "08:00"), try pull("04:00", ["a"], until: "08:00"),
            try pull("05:30", ["a", "b"], until: "06:10"),
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 1, 2, 1, 0, 2]] {
            var log = Log()
            for index in order { log.insert(pulls[index]) }
            #expect(log.spans("a") == ["02:18-04:00", "04:00-05:30", "05:30-06:10"], "\(order)")
            #expect(log.spans("b") == ["02:18-04:00", "05:30-06:10"], "\(order)")
        }
        // A pull without a next one holds three hours at most.
        var log = Log()
        log.insert(try pull("02:18", ["a"], until: "08:00"))
        #expect(log.spans("a") == ["02:18-05:18"])
    }
}
