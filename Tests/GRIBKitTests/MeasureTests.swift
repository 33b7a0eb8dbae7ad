import Foundation
import GRIBKit
import GRIBMaking
import Geometry
import Testing

/// How long a level of GTG's grid takes: `BILLOW_MEASURE=FOLDER swift test -c release -Xswiftc -enable-testing --filter
/// GRIBKitTests`. It leaves the messages in the folder, for `Benchmarks/grib.py` to decode them by ecCodes alone.
@Suite(
    "Measurements of GRIB", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["BILLOW_MEASURE"] != nil, "BILLOW_MEASURE is not set"))
struct MeasureTests {
    private let folder = URL(
        filePath: ProcessInfo.processInfo.environment["BILLOW_MEASURE"] ?? "", directoryHint: .isDirectory)

    /// Milliseconds of the thread: the least and the median of seven, after once unmeasured.
    private static func milliseconds(_ body: () throws -> Void) rethrows -> (least: Double, median: Double) {
        try body()
        let times = try (0..<7).map { _ in
            let start = now()
            try body()
            return now() - start
        }.sorted()
        return (times[0] * 1e3, times[3] * 1e3)
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func print(_ name: String, _ times: (least: Double, median: Double), _ rest: String = "") {
        Swift.print(
            name.padding(toLength: 34, withPad: " ", startingAt: 0)
                + String(format: "%9.2f %9.2f ms  %@", times.least, times.median, rest))
    }

    /// EDR like a level's. It has patches of some hundred kilometres, smaller ones in them, and a little noise. A strip
    /// at the border, 3 % of the grid, has no values.
    private static func air(_ grid: GRIBGrid) -> [Float] {
        func hash(_ x: Int, _ y: Int, _ salt: UInt64) -> Double {
            var z =
                UInt64(truncatingIfNeeded: x) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: y) &* 0xBF58_476D
                ^ salt
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return Double((z ^ z >> 31) >> 11) / Double(1 << 53)
        }
        func noise(_ x: Int, _ y: Int, _ size: Int) -> Double {
            let (cellX, cellY) = (x / size, y / size)
            let (u, v) = (Double(x % size) / Double(size), Double(y % size) / Double(size))
            let (s, t) = (u * u * (3 - 2 * u), v * v * (3 - 2 * v))
            func corner(_ dx: Int, _ dy: Int) -> Double { hash(cellX + dx, cellY + dy, UInt64(size)) }
            return (corner(0, 0) * (1 - s) + corner(1, 0) * s) * (1 - t)
                + (corner(0, 1) * (1 - s) + corner(1, 1) * s) * t
        }
        return (0..<grid.count).map { place in
            let (x, y) = (place % grid.columns, place / grid.columns)
            if min(x, grid.columns - 1 - x) < 12 || min(y, grid.rows - 1 - y) < 12 { return .nan }
            let broad = noise(x, y, 160) * noise(x, y, 45)
            return Float(0.03 + 0.3 * broad * broad + 0.05 * broad * noise(x, y, 9) + 0.002 * hash(x, y, 1))
        }
    }

    @Test("decoding a level in each packing")
    func decoding() throws {
        let grid = GRIBGrid.turbulenceGuidance
        var draft = GRIBDraft(grid: grid, referenceSeconds: Samples.reference, values: Self.air(grid))
        draft.bits = 8
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for packing in GRIBDraft.Packing.allCases {
            draft.packing = packing
            let start = Self.now()
            let bytes = try draft.message()
            let making = (Self.now() - start) * 1e3
            try Data(bytes).write(to: folder.appending(path: "\(packing.rawValue).grib2"))
            let message = try Samples.message(bytes)
            Self.print(
                "\(packing.rawValue): message and header", try Self.milliseconds { _ = try Samples.message(bytes) })
            Self.print(
                "\(packing.rawValue): values", try Self.milliseconds { _ = try GRIBField(message) },
                "\(bytes.count) bytes, made in \(Int(making)) ms")
        }
    }

    @Test("putting the pixels of a tile onto the grid")
    func tile() throws {
        let projection = GridProjection(GridDefinition.turbulenceGuidance)
        // A tile of zoom 6 over Colorado.
        let size = 512
        let longitudes = (0..<size).map { UnitMercator.longitude(x: (13 + (Double($0) + 0.5) / Double(size)) / 64) }
        let latitudes = (0..<size).map { UnitMercator.latitude(y: (24 + (Double($0) + 0.5) / Double(size)) / 64) }
        var cells = [Int32](repeating: 0, count: size)
        var inside = 0
        let times = Self.milliseconds {
            let columns = projection.columns(longitudes: longitudes)
            for row in projection.rows(latitudes: latitudes) {
                cells.withUnsafeMutableBufferPointer { projection.nearestCells(row, columns, into: $0) }
                inside += cells.count { $0 >= 0 }
            }
        }
        #expect(inside > 0)
        Self.print("nearest cells of 512 × 512 pixels", times)
    }
}
