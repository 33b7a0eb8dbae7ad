import BillowExchange
import Foundation
import Geometry
import Testing
import Turbulence

@Suite("Imports of pilot reports")
struct PilotReportImportTests {
    @Test("the Florida file gives 57 reports and puts 33 observations on the map")
    func theFloridaFileGives57Reports() throws {
        let (items, summary) = try importing(Fixture.florida.data())
        #expect(summary.read == 57)
        #expect(summary.pilotReportCount == 57)
        #expect(summary.pilotReports == [.smooth: 22, .light: 8, .moderate: 2, .moderateSevere: 1])
        #expect(summary.silentPilotReports == 24)
        #expect(summary.observations == [.smooth: 22, .light: 8, .moderate: 2, .moderateSevere: 1])
        #expect(summary.refusals.isEmpty)
        #expect(items.placed.count == 33)
        #expect(items.placed.allSatisfy { $0.kind == .pilotReport && $0.source.name == "awc" })
        let severe = try #require(items.placed.first { $0.intensity.severity == .moderateSevere })
        #expect(severe.altitude.lowest.feet == 6_000)
        #expect(severe.altitude.highest.feet == 7_000)
        let report = try #require(items.pilotReports.first { $0.severity == .moderateSevere })
        #expect(severe.id == report.id + "-1")
        #expect(severe.cell == H3.cell(at: report.place))
    }

    @Test("the other forms come in as well")
    func theOtherFormsComeInAs() throws {
        let northEast = try importing(Fixture.northEast.data())
        #expect(northEast.summary.read == 16)
        #expect(northEast.summary.pilotReports == [.smooth: 2, .light: 5, .lightModerate: 1, .moderate: 5])
        #expect(northEast.summary.silentPilotReports == 3)
        // One descends without a level: in `pireps` only.
        #expect(northEast.summary.groupsWithoutLevel == 1)
        #expect(northEast.items.placed.count == 12)
        #expect(try importing(Fixture.severe.data()).summary.pilotReports == [.moderateSevere: 3])
        let adds = try importing(Fixture.adds.data())
        #expect(adds.summary.read == 11)
        #expect(adds.summary.silentPilotReports == 1)
        #expect(adds.summary.pilotReports == [.smooth: 1, .light: 2, .lightModerate: 3, .moderate: 4])
        #expect(adds.items.placed.first?.altitude.lowest.feet == 21_000)
    }

    /// base, top, flight level → lowest and highest block; nil where it is in `pireps` only.
    static let levels: [(Int?, Int?, Int?, [Int]?)] = [
        (34_000, 36_000, 35_000, [34_000, 36_000]),
        (34_500, 34_900, nil, [34_000, 34_000]),
        (0, 3_000, 10_000, [0, 3_000]),
        (21_000, nil, 30_000, [21_000, 21_000]),
        (nil, 8_000, 30_000, [8_000, 8_000]),
        (nil, nil, 12_200, [12_000, 12_000]),
        (nil, nil, nil, nil),
        (36_000, 34_000, 35_000, nil),
        (34_900, 34_500, nil, nil),
        (34_000, 70_000, 35_000, nil),
        (nil, nil, 61_000, nil),
        (-1, nil, nil, nil),
    ]

    @Test("a group counts in the blocks from base to top, else at the flight level", arguments: levels)
    func aGroupCountsInTheBlocks(
        base: Int?, top: Int?, level: Int?, expected: [Int]?
    ) throws {
        let report = PilotReport(
            id: "p1", place: try #require(LonLat(longitude: -80, latitude: 25)), observedAt: testNow, type: "PIREP",
            aircraft: nil, altitudeFeet: level,
            turbulence: [
                TurbulenceGroup(
                    severity: nil, intensity: "ROUGH", baseFeet: 0, topFeet: 0, type: nil, frequency: nil),
                TurbulenceGroup(
                    severity: .moderate, intensity: "MOD", baseFeet: base, topFeet: top, type: nil, frequency: nil),
            ], text: "X", source: .aviationWeather)
        let placement = report.placement()
        #expect(placement.observations.first.map { [$0.altitude.lowest.feet, $0.altitude.highest.feet] } == expected)
        #expect(placement.observations.count + placement.withoutLevel + placement.unusableLevel == 1)
        #expect(placement.observations.allSatisfy { $0.id == "p1-2" })
    }

    @Test("two groups are two observations")
    func twoGroupsAreTwoObservations() throws {
        let json = """
            [{"obsTime":1784666820,"lat":30,"lon":-90,"fltLvl":350,"tbBas1":100,"tbTop1":120,"tbInt1":"LGT",
            "tbBas2":340,"tbTop2":360,"tbInt2":"SEV","rawOb":"X"}]
            """
        let (items, summary) = importing(json)
        #expect(items.placed.map(\.altitude.lowest.feet) == [10_000, 34_000])
        #expect(items.placed.map { $0.id?.suffix(2) } == ["-1", "-2"])
        #expect(summary.pilotReports == [.moderateSevere: 1])
    }

    @Test("a report from the future is refused, one from the past is taken")
    func aReportFromTheFutureIs() {
        func report(at seconds: Int) -> String {
            #"[{"obsTime":\#(seconds),"lat":30,"lon":-90,"fltLvl":350,"tbInt1":"LGT","rawOb":"X"}]"#
        }
        #expect(importing(report(at: testNow.seconds + 301)).items.refusals.count == 1)
        #expect(importing(report(at: testNow.seconds + 300)).items.pilotReports.count == 1)
        #expect(importing(report(at: 1)).items.pilotReports.count == 1)
    }
}
