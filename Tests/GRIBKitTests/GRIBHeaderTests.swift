import GRIBKit
import GRIBMaking
import Geometry
import Testing

@Suite("Headers of messages")
struct GRIBHeaderTests {
    @Test("say what was written, and what ecCodes' command line reads")
    func header() throws {
        var draft = Samples.draft()
        draft.lead = .hours(6)
        draft.productionStatus = .operationalTest
        draft.packing = .jpeg2000
        let bytes = try draft.message()
        let header = try #require(Samples.message(bytes).fields.first)
        #expect(header.parameter == .eddyDissipation)
        #expect(header.level == .altitude(AltitudeLevel(feet: 35_000)))
        #expect(header.referenceSeconds == Samples.reference)
        #expect(header.leadSeconds == 6 * 3_600)
        #expect(header.validSeconds == Samples.reference + 6 * 3_600)
        #expect(header.centre == 7)
        #expect(header.productionStatus == .operationalTest)
        #expect(header.dataType == 1 && header.generatingProcess == 2)
        #expect(header.packing.kind == .jpeg2000 && header.packing.bits == 12 && header.hasBitmap)
        #expect(header.grid == draft.grid)
        let keys = try GRIBTool.keys(
            [
                "discipline", "parameterCategory", "parameterNumber", "typeOfFirstFixedSurface:l", "level", "dataDate",
                "dataTime", "validityTime", "centre:l", "packingType", "gridDefinitionTemplateNumber",
            ], of: bytes)
        #expect(keys == ["0", "19", "30", "102", "10668", "20261122", "1200", "1800", "7", "grid_jpeg", "30"])
    }

    @Test("keep the grid of each template and scanning mode", arguments: Samples.grids, ScanningMode.allCases)
    func grids(_ sample: Samples.Named, _ mode: ScanningMode) throws {
        var grid = try Samples.scanned(sample.grid, mode)
        if grid.count > 10_000 { (grid.columns, grid.rows) = (3, 2) }
        let header = try #require(Samples.message(Samples.draft(grid).message()).fields.first)
        #expect(header.grid.columns == grid.columns && header.grid.rows == grid.rows)
        #expect(header.grid.scanning == mode)
        #expect(abs(header.grid.shape.semiMajorAxis - grid.shape.semiMajorAxis) < 1e-3)
        #expect(abs(header.grid.shape.semiMinorAxis - grid.shape.semiMinorAxis) < 1e-3)
        // To the millionth of a degree that a message has.
        for (found, wanted) in zip(Self.numbers(header.grid), Self.numbers(grid)) {
            #expect(abs((found - wanted).remainder(dividingBy: 360)) < 0.6e-6, "\(found) for \(wanted)")
        }
    }

    static func numbers(_ grid: GRIBGrid) -> [Double] {
        switch grid.template {
        case .lonLat(let first, let last): [first.longitude, first.latitude, last.longitude, last.latitude]
        case .polarStereographic(let first, let orientation, let latitude, let south, let dx, let dy):
            [first.longitude, first.latitude, orientation, latitude, south ? 1 : 0, dx, dy]
        case .lambertConformal(let first, let orientation, let parallels, let dx, let dy):
            [first.longitude, first.latitude, orientation, parallels.first, parallels.second, dx, dy]
        }
    }

    @Test("give each of GTG's levels in feet from its whole metres")
    func levels() throws {
        let metres = [
            30, 304, 609, 914, 1_219, 1_524, 1_828, 2_133, 2_438, 2_743, 3_048, 3_352, 3_657, 3_962, 4_267, 4_572,
            4_876,
            5_181, 5_486, 5_791, 6_096, 6_400, 6_705, 7_010, 7_315, 7_620, 7_924, 8_229, 8_534, 8_839, 9_144, 9_448,
            9_753, 10_058, 10_363, 10_668, 10_972, 11_277, 11_582, 11_887, 12_192, 12_496, 12_801, 13_106, 13_411,
            13_716, 14_020, 14_325, 14_630, 14_935, 15_240,
        ]
        #expect(AltitudeLevel.turbulenceGuidance.map(\.wholeMetres) == metres)
        #expect(metres.map { AltitudeLevel(metres: Double($0)) } == AltitudeLevel.turbulenceGuidance)
        // Others to the foot.
        #expect(AltitudeLevel(metres: 1_000)?.feet == 3_281)
        #expect(AltitudeLevel(metres: 304.8)?.feet == 1_000)
        #expect(AltitudeLevel(metres: 0)?.feet == 0)
        #expect(AltitudeLevel(metres: -30)?.feet == -98)
        #expect(AltitudeLevel(metres: .infinity) == nil)
    }

    @Test(
        "take a lead in each unit of a fixed length",
        arguments: [(0, 60), (1, 3_600), (2, 86_400), (10, 10_800), (11, 21_600), (12, 43_200), (13, 1)])
    func units(_ unit: Int, seconds: Int) throws {
        var bytes = try Samples.draft().message()
        try Patch.set(4, 18, octets: 1, to: unit, in: &bytes)
        try Patch.set(4, 19, octets: 4, to: 15, in: &bytes)
        #expect(try Samples.message(bytes).fields[0].leadSeconds == 15 * seconds)
        // A sign bit, not two's complement.
        try Patch.set(4, 19, octets: 4, to: 15 | 1 << 31, in: &bytes)
        #expect(try Samples.message(bytes).fields[0].leadSeconds == -15 * seconds)
    }

    @Test("know surfaces by their type")
    func surfaces() throws {
        var draft = Samples.draft()
        draft.level = .column
        var bytes = try draft.message()
        #expect(try Samples.message(bytes).fields[0].level == .column)
        try Patch.set(4, 23, octets: 1, to: 200, in: &bytes)
        #expect(try Samples.message(bytes).fields[0].level == .column)
        try Patch.set(4, 23, octets: 1, to: 100, in: &bytes)
        try Patch.set(4, 24, octets: 1, to: 0x82, in: &bytes)
        try Patch.set(4, 25, octets: 4, to: 250, in: &bytes)
        #expect(try Samples.message(bytes).fields[0].level == .isobaric(pascals: 25_000))
        try Patch.set(4, 23, octets: 1, to: 103, in: &bytes)
        #expect(try Samples.message(bytes).fields[0].level == .other(type: 103, value: 25_000))
    }

    @Test(
        "know each figure of the Earth",
        arguments: [
            (0, 6_367_470, 6_367_470), (2, 6_378_160, 6_356_775), (4, 6_378_137, 6_356_752.314),
            (5, 6_378_137, 6_356_752.314_2), (6, 6_371_229, 6_371_229), (8, 6_371_200, 6_371_200),
            (9, 6_377_563.396, 6_356_256.909),
        ])
    func shapes(_ code: Int, major: Double, minor: Double) throws {
        var bytes = try Samples.draft().message()
        try Patch.set(3, 15, octets: 1, to: code, in: &bytes)
        let shape = try Samples.message(bytes).fields[0].grid.shape
        #expect(shape.semiMajorAxis == major && abs(shape.semiMinorAxis - minor) < 1e-3)
    }

    @Test("take a figure of the Earth from its own numbers", arguments: [1, 3, 7])
    func ownShapes(_ code: Int) throws {
        var bytes = try Samples.draft().message()
        try Patch.set(3, 15, octets: 1, to: code, in: &bytes)
        if code == 1 {
            try Patch.set(3, 16, octets: 1, to: 2, in: &bytes)
            try Patch.set(3, 17, octets: 4, to: 637_100_025, in: &bytes)
        } else {
            try Patch.set(3, 21, octets: 1, to: code == 3 ? 4 : 1, in: &bytes)
            try Patch.set(3, 22, octets: 4, to: 63_781_370, in: &bytes)
            try Patch.set(3, 26, octets: 1, to: code == 3 ? 4 : 1, in: &bytes)
            try Patch.set(3, 27, octets: 4, to: 63_567_523, in: &bytes)
        }
        let shape = try Samples.message(bytes).fields[0].grid.shape
        #expect(abs(shape.semiMajorAxis - (code == 1 ? 6_371_000.25 : 6_378_137)) < 1e-6)
        #expect(abs(shape.semiMinorAxis - (code == 1 ? 6_371_000.25 : 6_356_752.3)) < 1e-6)
    }

    @Test("count days of all years as calendars do")
    func times() throws {
        for (year, month, day, days) in [
            (1970, 1, 1, 0), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (2026, 11, 22, 20_779), (2100, 2, 28, 47_540),
            (2100, 3, 1, 47_541), (1999, 12, 31, 10_956),
        ] {
            var bytes = try Samples.draft().message()
            try Patch.set(1, 13, octets: 2, to: year, in: &bytes)
            try Patch.set(1, 15, octets: 1, to: month, in: &bytes)
            try Patch.set(1, 16, octets: 1, to: day, in: &bytes)
            #expect(try Samples.message(bytes).fields[0].referenceSeconds == days * 86_400 + 12 * 3_600)
            var draft = Samples.draft()
            draft.referenceSeconds = days * 86_400 + 3_723
            #expect(try Samples.message(draft.message()).fields[0].referenceSeconds == draft.referenceSeconds)
        }
        var bytes = try Samples.draft().message()
        try Patch.set(1, 13, octets: 2, to: 2_100, in: &bytes)
        try Patch.set(1, 15, octets: 2, to: 2 << 8 | 29, in: &bytes)
        #expect(throws: GRIBError.self) { try Samples.message(bytes) }
    }

    @Test("are listed in an index as NOAA lists them")
    func index() {
        var draft = Samples.draft()
        draft.lead = .hours(2)
        #expect(
            draft.indexLine(number: 36, offset: 1_234)
                == "36:1234:d=2026112212:EDPARM:10668 m above mean sea level:2 hour fcst:")
        draft.lead = .hours(0)
        draft.parameter = .maximumEddyDissipation
        draft.level = .column
        #expect(draft.indexLine(number: 205, offset: 0) == "205:0:d=2026112212:MXEDPRM:entire atmosphere:anl:")
        draft.lead = .minutes(15)
        draft.parameter = GRIBParameter(discipline: 0, category: 19, number: 50)
        #expect(
            draft.indexLine(number: 1, offset: 0)
                == "1:0:d=2026112212:var discipline=0 master_table=2 parmcat=19 parm=50:entire atmosphere:15 min fcst:")
    }
}
