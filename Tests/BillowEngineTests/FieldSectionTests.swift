import BillowAreas
import BillowFields
import BillowSnapshot
import BillowStore
import EngineTestSupport
import Geometry
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

/// Fields of random values, and a slow oracle of what they say anywhere.
private struct RandomAir {
    struct Level: Hashable {
        var product: FieldProduct
        /// Seconds from noon.
        var run: Int
        var valid: Int
        var feet: Int
    }

    let grid: GridDefinition
    var values: [Level: [UInt8]] = [:]

    init(_ generator: inout SeededGenerator) throws {
        grid = try TestField.grid()
        func add(_ product: FieldProduct, _ run: Int, _ valid: Int, _ levels: [Int]) {
            for feet in levels {
                values[Level(product: product, run: run, valid: valid, feet: feet)] = (0..<grid.count).map { _ in
                    Int.random(in: 0..<12, using: &generator) == 0
                        ? FieldPlane.missing : UInt8.random(in: 0...80, using: &generator)
                }
            }
        }
        for time in [-3_600, -2_700, -900, 0] { add(.nowcast, time, time, [28_000, 30_000, 34_000, 41_000]) }
        for run in [-7_200, -3_600] {
            for lead in [1, 2, 3, 6, 12] { add(.forecast, run, run + lead * 3_600, [27_000, 30_000, 33_000, 36_000]) }
        }
    }

    func drafts() throws -> [FieldLevelDraft] {
        try values.map { level, values in
            let identity = try #require(
                FieldIdentity(
                    product: level.product, run: noon.advanced(by: level.run),
                    validTime: noon.advanced(by: level.valid)))
            let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
            return FieldLevelDraft(
                identity: identity, grid: grid, level: .feet(UInt16(level.feet)), packed: plane.packed())
        }
    }

    /// The field of a valid time: the nowcast, or the newest run.
    private func best(_ valid: Int) -> (product: FieldProduct, run: Int) {
        let all = values.keys.filter { $0.valid == valid }
        if all.contains(where: { $0.product == .nowcast }) { return (.nowcast, valid) }
        return (.forecast, all.map(\.run).max() ?? 0)
    }

    /// Ten-thousandths at a point of the grid.
    func expected(point: Int, seconds: Int, feet: Double) -> Double? {
        let valid = Set(values.keys.map(\.valid))
        let before = valid.filter { $0 <= seconds }.max()
        let after = valid.filter { $0 >= seconds }.min()
        if let before, let after, after - before <= 10_800 {
            guard let a = level(point, best(before), before, feet) else { return nil }
            if before == after { return a }
            let share = Double(seconds - before) / Double(after - before)
            if share == 0 { return a }
            guard let b = level(point, best(after), after, feet) else { return nil }
            return a * (1 - share) + b * share
        }
        // What pictures show.
        let nowcasts = Set(values.keys.filter { $0.product == .nowcast && (0...1_800).contains(seconds - $0.valid) })
        if let newest = nowcasts.map(\.valid).max() { return level(point, (.nowcast, newest), newest, feet) }
        let forecasts = Set(values.keys.filter { $0.product == .forecast && abs(seconds - $0.valid) <= 5_400 })
        guard let nearest = forecasts.map({ abs(seconds - $0.valid) }).min() else { return nil }
        let at = forecasts.filter { abs(seconds - $0.valid) == nearest }
        guard let newest = at.max(by: { $0.run < $1.run }) else { return nil }
        return level(point, (.forecast, newest.run), newest.valid, feet)
    }

    private func level(_ point: Int, _ of: (product: FieldProduct, run: Int), _ valid: Int, _ feet: Double) -> Double? {
        let levels = values.keys.filter { $0.product == of.product && $0.run == of.run && $0.valid == valid }
        func value(_ feet: Int) -> Double? {
            let found = levels.first { $0.feet == feet }.flatMap { values[$0]?[point] } ?? FieldPlane.missing
            return found == FieldPlane.missing ? nil : Double(found) * 100
        }
        let low = levels.map(\.feet).filter { Double($0) <= feet }.max()
        let high = levels.map(\.feet).filter { Double($0) >= feet }.min()
        if let low, let high, high - low <= 4_000 {
            guard let a = value(low), let b = value(high) else { return nil }
            return low == high ? a : a + (b - a) * (feet - Double(low)) / Double(high - low)
        }
        let near = [low, high].compactMap { $0 }.filter { abs(Double($0) - feet) <= 1_000 }
        return near.min { abs(Double($0) - feet) < abs(Double($1) - feet) }.flatMap(value)
    }
}

/// How planes were read.
private final class PlaneReads: Sendable {
    struct Counts: Hashable {
        var packed = 0
        var whole = 0
        /// Outside of the threads of work.
        var misplaced = 0
    }

    private let state = Mutex(Counts())
    var counts: Counts { state.withLock { $0 } }

    func note(_ change: (inout Counts) -> Void) {
        state.withLock { counts in
            change(&counts)
            if !WorkThreads.isOnOne { counts.misplaced += 1 }
        }
    }
}

private struct NotingStore: WrappedStore {
    let store: SQLiteStore
    let reads: PlaneReads

    func packedFieldPlane(row: Int64) async throws(StoreError) -> [UInt8]? {
        reads.note { $0.packed += 1 }
        return try await store.packedFieldPlane(row: row)
    }

    func fieldPlane(row: Int64) async throws(StoreError) -> FieldPlane? {
        reads.note { $0.whole += 1 }
        return try await store.fieldPlane(row: row)
    }
}

@Suite("The turbulence field at places, times and altitudes")
struct FieldSectionTests {
    private func withAir(
        _ drafts: [FieldLevelDraft], in reads: PlaneReads? = nil,
        _ test: @Sendable (FrameSource, Snapshot) async throws -> Void
    ) async throws {
        try await withWorld { world in
            _ = try await world.store.commit(Batch(source: source("awc"), fields: drafts))
            try await world.refresh()
            let store: any Store = reads.map { NotingStore(store: world.store, reads: $0) } ?? world.store
            let frames = FrameSource(
                publisher: world.publisher, store: store, logger: World.quiet())
            try await test(frames, try #require(world.publisher.snapshot))
        }
    }

    @Test("values between valid times and levels equal those of a slow oracle", arguments: 1...4)
    func oracle(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let air = try RandomAir(&generator)
        var asked: [(point: Int, seconds: Int, feet: Double)] = []
        for number in 0..<800 {
            let feet =
                number % 3 == 0
                ? Double(Int.random(in: 25...43, using: &generator)) * 1_000
                : Double.random(in: 25_000...43_000, using: &generator)
            let seconds =
                number % 4 == 0
                ? Int.random(in: -5...15, using: &generator) * 3_600
                : Int.random(in: -12_000...52_000, using: &generator)
            asked.append((Int.random(in: 0..<air.grid.count, using: &generator), seconds, feet))
        }
        let questions = asked
        try await withAir(try air.drafts()) { frames, snapshot in
            let projection = GridProjection(air.grid)
            let places = try questions.map { question in
                let (column, row) = (question.point % air.grid.columns, question.point / air.grid.columns)
                return try #require(projection.lonLat(GridPosition(x: Double(column), y: Double(row))))
            }
            let section = try await frames.fieldSection(
                at: .places(places, isSmoothed: false), times: questions.map { noon.advanced(by: $0.seconds) },
                levels: .around(25_000...43_000), filter: Filter(), in: snapshot)
            var known = 0
            for (site, question) in questions.enumerated() {
                let value = try? section.value(at: site, feet: question.feet).get()
                let expected = air.expected(point: question.point, seconds: question.seconds, feet: question.feet)
                #expect((value == nil) == (expected == nil), "\(question)")
                if let value, let expected {
                    known += 1
                    // Rounded once for each side and once between.
                    #expect(abs(Double(value) - expected) <= 1.01, "\(question)")
                }
            }
            #expect(known > 200 && known < questions.count)
        }
    }

    @Test(
        "blocks are read of planes that aren't cached, on threads of work, and say the same", arguments: [false, true])
    func blocks(isSmoothed: Bool) async throws {
        var random = SeededGenerator(seed: 3)
        let grid = try TestField.grid(140, 40)
        let identity = try #require(FieldIdentity(product: .forecast, run: noon, validTime: noon))
        let drafts = try [30_000, 31_000].map { feet in
            let values = (0..<grid.count).map { point in
                point % 13 == 0 ? FieldPlane.missing : UInt8.random(in: 0...90, using: &random)
            }
            let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
            return FieldLevelDraft(identity: identity, grid: grid, level: .feet(UInt16(feet)), packed: plane.packed())
        }
        let reads = PlaneReads()
        let places = try (0..<300).map { _ in
            try place(Double.random(in: -101...39, using: &random), Double.random(in: 30...69, using: &random))
        }
        let ofBlocks = Mutex<[Result<Int, FieldSection.GapError>]>([])
        for areCached in [false, true] {
            try await withAir(drafts, in: reads) { frames, snapshot in
                let frame = try #require(snapshot.fields.frames.first)
                for level in frame.levels where areCached {
                    _ = try await frames.fieldValues(of: frame, at: [level], in: snapshot)
                }
                for _ in 0..<2 {
                    let section = try await frames.fieldSection(
                        at: .places(places, isSmoothed: isSmoothed), times: places.map { _ in noon },
                        levels: .around(30_000...31_000), filter: Filter(), in: snapshot)
                    let values = section.values(atFeet: 30_400)
                    if areCached {
                        #expect(values == ofBlocks.withLock { $0 })
                    } else {
                        ofBlocks.withLock { $0 = values }
                    }
                }
            }
            #expect(reads.counts == PlaneReads.Counts(packed: 2, whole: areCached ? 2 : 0, misplaced: 0))
        }
        let known = ofBlocks.withLock { $0 }.filter { (try? $0.get()) != nil }
        #expect(known.count > 200 && known.count < 300)
    }

    @Test("each reason for a missing value is reported")
    func gaps() async throws {
        let grid = try TestField.grid()
        let drafts = try [0, 3_600].map { lead in
            try TestField.draft(.forecast, run: noon, lead: lead, level: .feet(30_000), on: grid)
        }
        try await withAir(drafts) { frames, snapshot in
            let inside = try place(-98, 31)
            func gap(_ place: LonLat, _ seconds: Int, _ feet: Double) async throws -> FieldSection.Gap? {
                let section = try await frames.fieldSection(
                    at: .places([place], isSmoothed: false), times: [noon.advanced(by: seconds)],
                    levels: .around(0...60_000), filter: Filter(), in: snapshot)
                if case .failure(let error) = section.value(at: 0, feet: feet) { return error.gap }
                return nil
            }
            #expect(try await gap(inside, 600, 30_000) == nil)
            #expect(try await gap(inside, 600, 30_900) == nil, "the nearest level alone")
            #expect(try await gap(inside, 600, 31_100) == .level)
            #expect(try await gap(try place(10, 50), 600, 30_000) == .outside)
            #expect(try await gap(inside, 3_600 + 5_400, 30_000) == nil, "as far as pictures show it")
            #expect(try await gap(inside, 3_600 + 5_401, 30_000) == .time)
        }
    }

    @Test("a section reads a bounded number of levels, and ends when it is cancelled")
    func bounds() async throws {
        let grid = try TestField.grid(2, 2)
        let drafts = try (0...18).flatMap { hour in
            try (0...50).map { level in
                try TestField.draft(
                    .forecast, run: noon, lead: hour * 3_600, level: .feet(UInt16(level) * 1_000), number: hour + level,
                    on: grid)
            }
        }
        try await withAir(drafts) { frames, snapshot in
            let section: @Sendable () async throws -> FieldSection = {
                try await frames.fieldSection(
                    at: .places(Array(repeating: try place(-100, 30), count: 19), isSmoothed: false),
                    times: (0...18).map { noon.advanced(by: $0 * 3_600) }, levels: .around(0...50_000),
                    filter: Filter(), in: snapshot)
            }
            let read = try await section()
            let levels = read.parts.map(\.levels.count)
            #expect(levels.reduce(0, +) <= FieldSection.maximumPlanes && levels == Array(repeating: 26, count: 19))
            #expect((0...18).allSatisfy { (try? read.value(at: $0, feet: 31_000).get()) != nil }, "levels thinned")
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await section()
            }
            await #expect(throws: EngineError.cancelled) { _ = try await cancelled.value }
        }
    }

    @Test("a field stored after the requested version is ignored")
    func versions() async throws {
        let grid = try TestField.grid()
        try await withWorld { world in
            func insert(_ run: Int, _ number: Int) async throws -> Version {
                let draft = try TestField.draft(
                    .forecast, run: noon.advanced(by: run), lead: 3_600 - run, level: .feet(30_000), number: number,
                    on: grid)
                let version = try await world.store.commit(Batch(source: source("awc"), fields: [draft])).version
                try await world.refresh()
                return version
            }
            let first = try await insert(-3_600, 40)
            _ = try await insert(0, 90)
            let frames = FrameSource(
                publisher: world.publisher, store: world.store, logger: World.quiet())
            let snapshot = try #require(world.publisher.snapshot)
            for (snapshot, value) in [(snapshot, 9_000), (snapshot.superseded(at: first), 4_000)] {
                let section = try await frames.fieldSection(
                    at: .places([try place(-100, 30)], isSmoothed: false), times: [noon.advanced(by: 3_600)],
                    levels: .around(30_000...30_000), filter: Filter(), in: snapshot)
                #expect(try section.value(at: 0, feet: 30_000).get() == value)
            }
        }
    }
}
