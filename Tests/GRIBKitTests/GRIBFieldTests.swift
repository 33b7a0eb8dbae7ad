import Foundation
import GRIBKit
import GRIBMaking
import Geometry
import Testing

@Suite("Values of a field")
struct GRIBFieldTests {
    /// NaN equals NaN, and others to the last digit that the packing keeps.
    static func differences(_ found: [Float], _ wanted: [Float], within tolerance: Float) -> [Int] {
        zip(found, wanted).enumerated().filter { _, pair in
            pair.0.isNaN || pair.1.isNaN
                ? pair.0.isNaN != pair.1.isNaN : abs(pair.0 - pair.1) > tolerance
        }.map(\.offset)
    }

    @Test("come back from each packing", arguments: GRIBDraft.Packing.allCases, [true, false])
    func packings(_ packing: GRIBDraft.Packing, hasBitmap: Bool) throws {
        let grid = Samples.guidance(columns: 41, rows: 33)
        var draft = Samples.draft(grid)
        draft.packing = packing
        draft.hasBitmap = hasBitmap
        draft.values = Samples.values(grid, missing: hasBitmap)
        let bytes = try draft.message()
        let field = try GRIBField(Samples.message(bytes))
        #expect(field.values.count == grid.count)
        #expect(Self.differences(field.values, draft.values, within: 0.6 / 4_095).isEmpty)
        #expect(field.statistics.missing == draft.values.count(where: \.isNaN))
        // And they are what ecCodes reads of the whole message, bitmap and all.
        let theirs = try GRIBTool.points(bytes).map { Float($0.value) }
        #expect(Self.differences(field.values, theirs, within: 1e-8).isEmpty)
    }

    @Test("are GDAL's pixels, in each scanning mode", arguments: Samples.ofEachTemplate, ScanningMode.allCases)
    func scanning(_ sample: Samples.Named, _ mode: ScanningMode) throws {
        var grid = sample.grid
        if grid.count > 10_000 { grid = Samples.guidance(columns: 9, rows: 6) }
        grid = try Samples.scanned(grid, mode)
        var draft = Samples.draft(grid)
        draft.values = Samples.values(grid, missing: false)
        draft.hasBitmap = false
        let bytes = try draft.message()
        let field = try GRIBField(Samples.message(bytes))
        #expect(Self.differences(field.values, draft.values, within: 0.6 / 4_095).isEmpty)
        let pixels = try GRIBTool.pixels(bytes)
        try #require(pixels.count == grid.count)
        let theirs = (0..<grid.count).map { place in
            let row = grid.rows - 1 - place / grid.columns
            return Float(pixels[row * grid.columns + place % grid.columns].value)
        }
        #expect(Self.differences(field.values, theirs, within: 1e-6).isEmpty)
    }

    // Not around the south pole: ecCodes 2.28 lists the points of such a Lambert grid on the northern hemisphere. PROJ
    // judges it.
    @Test(
        "lie where ecCodes' command line says",
        arguments: Samples.grids.filter { !$0.name.hasPrefix("Lambert of the south") })
    func positions(_ sample: Samples.Named) throws {
        var grid = sample.grid
        if grid.count > 10_000 { grid = Samples.guidance(columns: 9, rows: 6) }
        // ecCodes 2.28 doesn't list points of a projection of an ellipsoid; PROJ judges those.
        if sample.proj != nil { grid.shape = .sphere }
        // Nor does it take the first point for another corner than the south-western of a projection (its GRIB-405),
        // nor lines in turn: GDAL judges those.
        let modes = ScanningMode.allCases.filter {
            sample.proj == nil ? !$0.isBoustrophedon : $0 == .normalised
        }
        for mode in modes {
            let grid = try Samples.scanned(grid, mode)
            let bytes = try Samples.draft(grid).message()
            let field = try GRIBField(Samples.message(bytes))
            let projection = try GridProjection(field.header.grid)
            let points = try GRIBTool.points(bytes)
            try #require(points.count == grid.count)
            var farthest = 0.0
            var cells: Set<Int> = []
            var wrong = 0
            for point in points {
                let place = Samples.place(point.longitude, min(max(point.latitude, -90), 90))
                guard let position = projection.index(of: place) else {
                    wrong += 1
                    continue
                }
                farthest = max(
                    farthest, abs(position.x - position.x.rounded()), abs(position.y - position.y.rounded()))
                let cell = Int(position.y.rounded()) * grid.columns + Int(position.x.rounded())
                cells.insert(cell)
                let value = field.values[cell]
                if point.value.isNaN ? !value.isNaN : !(abs(Double(value) - point.value) < 1e-6) { wrong += 1 }
            }
            #expect(wrong == 0)
            #expect(cells.count == grid.count)
            #expect(farthest < 1e-6)
        }
    }

    @Test("come back from complex packing of each order", arguments: [1, 2])
    func differences(_ order: Int) throws {
        let grid = Samples.guidance(columns: 101, rows: 33)
        var draft = Samples.draft(grid)
        draft.packing = .complexWithDifferences
        draft.differencingOrder = order
        let bytes = try draft.message()
        let field = try GRIBField(Samples.message(bytes))
        #expect(field.header.packing.kind == .complexWithDifferences)
        #expect(Self.differences(field.values, draft.values, within: 0.6 / 4_095).isEmpty)
        #expect(
            Self.differences(field.values, try GRIBTool.points(bytes).map { Float($0.value) }, within: 1e-8).isEmpty)
    }

    @Test("come back where all are the same, or missing", arguments: GRIBDraft.Packing.allCases, [0.25, 0, Float.nan])
    func constant(_ packing: GRIBDraft.Packing, value: Float) throws {
        var draft = Samples.draft()
        draft.packing = packing
        for place in draft.values.indices where !draft.values[place].isNaN { draft.values[place] = value }
        let field = try Samples.field(draft)
        #expect(Self.differences(field.values, draft.values, within: 1e-7).isEmpty)
        #expect(field.statistics.range == (value.isNaN ? nil : value...value))
    }

    @Test("are counted by what they are, and none is refused for it")
    func statistics() throws {
        let grid = Samples.guidance(columns: 4, rows: 2)
        var draft = GRIBDraft(grid: grid, referenceSeconds: Samples.reference, values: [])
        draft.packing = .ieee
        draft.values = [.nan, 1, 2, 3, 4, 5, 6, 0.5]
        var bytes = try draft.message()
        // ecCodes doesn't pack these, so they are put in by hand.
        let data = try Patch.section(7, of: bytes)
        for (place, value) in [Float.nan, 1e20, -1e20, .infinity, -0.25].enumerated() {
            Patch.put(Int(value.bitPattern), octets: 4, at: data.lowerBound + 5 + 4 * place, in: &bytes)
        }
        let field = try GRIBField(Samples.message(bytes))
        #expect(field.statistics.missing == 1)
        #expect(field.statistics.notANumber == 1)
        #expect(field.statistics.huge == 3)
        #expect(field.statistics.negative == 1)
        #expect(field.statistics.usable == 3)
        #expect(field.statistics.range == -0.25...6)
        #expect(field.values[0].isNaN && field.values[1].isNaN && field.values[2] == 1e20)
    }

    @Test("come from several threads at once as from one")
    func threads() async throws {
        let messages = try GRIBDraft.Packing.allCases.map { packing in
            var draft = Samples.draft(Samples.guidance(columns: 60, rows: 50))
            draft.packing = packing
            return try Samples.message(draft.message())
        }
        let alone = try messages.map { try GRIBField($0).values }
        try await withThrowingTaskGroup(of: (Int, [Float]).self) { group in
            for _ in 0..<10 {
                for (number, message) in messages.enumerated() {
                    group.addTask { (number, try GRIBField(message).values) }
                }
            }
            for try await (number, values) in group {
                #expect(Self.differences(values, alone[number], within: 0).isEmpty)
            }
        }
    }

    @Test("that the library can't unpack are refused with its message")
    func decoder() throws {
        var draft = Samples.draft()
        draft.packing = .jpeg2000
        var bytes = try draft.message()
        // A wavelet that isn't one, in the coding style behind SIZ.
        try Patch.set(7, 5 + 59, octets: 1, to: 7, in: &bytes)
        let message = try Samples.message(bytes)
        let reason = #expect(throws: GRIBError.self) { try GRIBField(message) }
        #expect(reason?.code == .decoder)
        #expect(reason?.description.contains("openjpeg") == true, "\(String(describing: reason))")
    }
}
