import Datasets
import Geometry
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("Pilot reports in one place")
struct ReportRankTests {
    private static func report(
        _ id: String, _ severity: Severity?, type: String = "PIREP", text: String = "", minutesAgo: Int = 0,
        longitude: Double = 10
    ) throws -> PilotReport {
        let groups = severity.map { severity in
            [
                TurbulenceGroup(
                    severity: severity, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
            ]
        }
        return PilotReport(
            id: id, place: try #require(LonLat(longitude: longitude, latitude: 50)),
            observedAt: PictureTests.now.advanced(by: -60 * minutesAgo), type: type, aircraft: nil, altitudeFeet: nil,
            turbulence: groups ?? [], text: text, source: try #require(SourceID("test")))
    }

    private static func picture(_ reports: [PilotReport], zoom: Int) throws -> [PremultipliedColour] {
        var data = PictureData(instant: PictureTests.now)
        data.reports = reports
        let coord = try #require(TilePainterTests.coord(z: zoom, longitude: 10, latitude: 50))
        let region = MapRegion(coord, scale: .one)
        return try PicturePainter().canvas(
            PictureContent(LayerList(.pireps), of: data, in: region), in: region, style: TilePainterTests.style
        ).pixels
    }

    @Test("no routine report hides an urgent one, nor one that is more severe, at any zoom and in any order")
    func hidden() throws {
        let urgent = [
            try Self.report("a", nil, type: "Urgent PIREP", minutesAgo: 90),
            try Self.report("b", .light, type: "Urgent PIREP", minutesAgo: 60),
            try Self.report("c", .moderate, type: "UUA", minutesAgo: 30),
        ]
        let routine = [
            try Self.report("d", .moderateSevere), try Self.report("e", .lightModerate, minutesAgo: 1),
            try Self.report("f", nil), try Self.report("g", .smooth),
        ]
        for zoom in 0...14 {
            let cases = [(urgent[2], urgent + routine), (urgent[0], [urgent[0]] + routine), (routine[0], routine)]
            for (one, all) in cases {
                let expected = try Self.picture([one], zoom: zoom)
                #expect(expected.contains { $0 != .clear })
                for order in [all, all.reversed(), all.sorted { $0.observedAt < $1.observedAt }] {
                    #expect(try Self.picture(order, zoom: zoom) == expected, "\(zoom) \(one.id)")
                    let coord = try #require(TilePainterTests.coord(z: zoom, longitude: 10, latitude: 50))
                    #expect(PictureContent.shown(RankedReports(order), in: coord).map(\.id) == [one.id])
                }
            }
        }
    }

    @Test("side by side, an urgent report lies over a routine one, in pictures and at the end of vector tiles")
    func order() throws {
        let coord = try #require(TilePainterTests.coord(z: 9, longitude: 10, latitude: 50))
        // 22 points are 0.03° here: others' squares, so close that the symbols overlap.
        for step in 1...8 {
            let beside = 10 + 0.012 * Double(step)
            let urgent = try Self.report("u", .light, type: "Urgent PIREP", minutesAgo: 50)
            let severe = try Self.report("r", .moderateSevere, longitude: beside)
            let shown = PictureContent.shown(RankedReports([urgent, severe]), in: coord)
            #expect(shown.last?.id == "u")
            let (alone, both) = (try Self.picture([urgent], zoom: 9), try Self.picture([severe, urgent], zoom: 9))
            for (a, b) in zip(alone, both) where a.alpha == 255 { #expect(a == b, "\(step)") }
        }
    }

    @Test("a report that comes with its text alone is urgent by its text")
    func texts() throws {
        #expect(PilotReport.type(ofText: "DRO UUA /OV DRO223010/TM 2120/TB SEV") == "Urgent PIREP")
        #expect(PilotReport.type(ofText: "AXV UA /OV ROD330015/RM UUA") == "PIREP")
        #expect(PilotReport.type(ofText: "") == "PIREP")
        #expect(try Self.report("a", nil, type: "AIREP").isUrgent == false)
    }
}
