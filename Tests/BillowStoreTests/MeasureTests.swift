import BillowFields
import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

/// Not a test: prints how long a million observations take, in the folder that BILLOW_MEASURE names. Means something in
/// a release build only.
@Suite("Measuring", .enabled(if: ProcessInfo.processInfo.environment["BILLOW_MEASURE"] != nil), .serialized)
struct MeasureTests {
    private static let count = 1_000_000
    private static let batchSize = 10_000

    /// As they come from a source in the order of time, in any order, and with ids of their own.
    enum Order: CaseIterable { case byTime, shuffled, byTimeWithIds }

    private func measure<T>(_ what: String, _ body: () async throws -> T) async rethrows -> T {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await body()
        print("\(what): \(start.duration(to: clock.now).formatted(.units(allowed: [.milliseconds])))")
        return result
    }

    @Test("a log of a million rows is measured", arguments: Order.allCases)
    func aMillion(order: Order) async throws {
        let folder = try ProcessInfo.processInfo.environment["BILLOW_MEASURE"].orMissing()
        let path = folder + "/measure-\(UUID().uuidString).sqlite"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try await SQLiteStore.open(path: path)
        let name = try source("skypath")
        _ = try await store.register(name, merge: .replace, simulated: true)

        var random = SeededGenerator(seed: 7)
        var all: [Observation] = []
        all.reserveCapacity(MeasureTests.count)
        while all.count < MeasureTests.count {
            guard let cell = Cell(dense: Int.random(in: 0..<Cell.slots, using: &random)) else { continue }
            let block = try AltitudeBlock(thousands: Int.random(in: 20...45, using: &random)).orMissing()
            let severity = try Severity(rawValue: UInt8.random(in: 0...4, using: &random)).orMissing()
            all.append(
                Observation(
                    id: order == .byTimeWithIds ? "id-\(random.next())" : nil, cell: cell,
                    altitude: AltitudeBand(block), intensity: .reported(severity, edr: nil),
                    observedAt: noon.advanced(by: all.count * 21_600 / MeasureTests.count), category: .default,
                    source: name))
        }
        if order == .shuffled { all.shuffle(using: &random) }

        print("\(order)")
        try await measure("commit 1,000,000 in batches of 10,000") {
            for start in stride(from: 0, to: all.count, by: MeasureTests.batchSize) {
                let batch = Array(all[start..<start + MeasureTests.batchSize])
                _ = try await store.commit(Batch(source: name, observations: batch))
            }
        }
        try await measure("the last 100,000 again") {
            for start in stride(from: all.count - 100_000, to: all.count, by: MeasureTests.batchSize) {
                let batch = Array(all[start..<start + MeasureTests.batchSize])
                _ = try await store.commit(Batch(source: name, observations: batch))
            }
        }
        let rows = try await measure("rows: 1,000,000") {
            try await store.rows(from: .distantPast, to: .distantFuture)
        }
        #expect(rows.rows.count == MeasureTests.count)
        let before = Version(rawValue: rows.head.version.rawValue - 1)
        let changes = try await measure("changes: 10,000") { try await store.changes(since: before) }
        #expect(changes.opened.count == MeasureTests.batchSize)
        try await measure("pages of 10,000 over all") {
            var last: ObservationKey?
            while true {
                let page = try await store.page(after: last, from: .distantPast, to: .distantFuture, limit: 10_000)
                last = page.last?.row.key
                if page.count < 10_000 { break }
            }
        }
        try await measure("retracting all of four hours") {
            let retraction = Retraction(
                from: noon, to: noon.advanced(by: 14_400), covers: { $0.cell.dense % 100 == 0 }, standing: [:])
            _ = try await store.commit(Batch(source: name, retraction: retraction))
        }
        let problems = try await measure("checking") { try await store.problems() }
        #expect(problems.isEmpty)
        try store.close()
    }

    /// A plane as guidance has it: waves of many lengths, a tenth of it missing.
    private func guidance(_ grid: GridDefinition, seed: UInt64) throws -> FieldPlane {
        var random = SeededGenerator(seed: seed)
        let waves = (0..<16).map { number in
            let length = 400 / pow(1.35, Double(number))
            let way = Double.random(in: 0...6.3, using: &random)
            return (
                x: cos(way) * 6.3 / length, y: sin(way) * 6.3 / length,
                phase: Double.random(in: 0...6.3, using: &random),
                height: 0.02 * length / 100 + 0.2
            )
        }
        var values = [UInt8](repeating: FieldPlane.missing, count: grid.count)
        for row in 0..<grid.rows {
            for column in grid.columns / 30..<grid.columns - grid.columns / 30 {
                let sum = waves.reduce(0) {
                    $0 + $1.height * sin(Double(column) * $1.x + Double(row) * $1.y + $1.phase)
                }
                values[row * grid.columns + column] = UInt8(max(1, min(80, 7 + sum * 2.5)))
            }
        }
        return try FieldPlane(width: grid.columns, height: grid.rows, values: values).orMissing()
    }

    @Test("fields are measured: bytes, a commit, the index and a plane")
    func fields() async throws {
        let folder = try ProcessInfo.processInfo.environment["BILLOW_MEASURE"].orMissing()
        let path = folder + "/measure-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("awc"), merge: .keep, simulated: true)
        let grid = GridDefinition.turbulenceGuidance
        let planes = try (0..<3).map { try guidance(grid, seed: UInt64($0)) }
        let packed = await measure("packing 3 planes") { planes.map { $0.packed() } }
        print("a plane: \(packed.map(\.count)) bytes")
        func frame(_ number: Int) throws -> [FieldLevelDraft] {
            let identity = try FieldIdentity(
                product: .nowcast, run: noon.advanced(by: number * 900), validTime: noon.advanced(by: number * 900)
            ).orMissing()
            return (0..<51).map { level in
                FieldLevelDraft(
                    identity: identity, grid: grid, level: level == 0 ? .column : .feet(UInt16(level * 1_000)),
                    packed: packed[level % packed.count])
            }
        }
        let frames = 20
        try await measure("committing \(frames) frames of 51 levels") {
            for number in 0..<frames { _ = try await store.commit(Batch(source: source("awc"), fields: frame(number))) }
        }
        let fields = try await measure("the index of \(frames * 51) levels") { try await store.fields(asOf: nil) }
        let row = try fields.index.frames.first.orMissing().levels[1].row
        _ = try await measure("the bytes of a plane") { try await store.packedFieldPlane(row: row) }
        let plane = try await measure("a plane") { try await store.fieldPlane(row: row) }
        #expect(plane == planes[1])
        let again = try await measure("a frame again") {
            try await store.commit(Batch(source: source("awc"), fields: frame(0)))
        }
        #expect(!again.changed)
        let problems = try await measure("checking") { try await store.problems() }
        #expect(problems.isEmpty)
        let pruned = try await measure("deleting half of it") {
            try await store.prune(Pruning(before: noon, fieldsBefore: noon.advanced(by: frames / 2 * 900)))
        }
        #expect(pruned.fieldLevels == frames / 2 * 51)
        try store.close()
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        print("the file: \(size ?? 0) bytes, \((size ?? 0) / frames) a frame")
    }
}
