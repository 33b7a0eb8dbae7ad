import BillowFields
import TestSupport
import Testing
import Turbulence

/// 12:00 on some day.
private let noon = Instant(clamping: 1_800_014_400)

private func instant(_ minutes: Int) -> Instant { noon.advanced(by: minutes * 60) }

private func frame(
    _ product: FieldProduct, run: Int, for validTime: Int, since: Int64 = 1, levels: [FieldLevel] = [.column],
    source: String = "noaa"
) throws -> FieldFrame {
    let identity = try #require(
        FieldIdentity(product: product, run: instant(run), validTime: instant(validTime)))
    return FieldFrame(
        identity: identity, source: try #require(SourceID(source)), grid: 1,
        levels: levels.enumerated().map {
            FieldLevelRecord(level: $0.element, row: Int64($0.offset), since: Version(rawValue: since))
        })
}

private let head = Version(rawValue: 100)

@Suite("Which field a picture shows")
struct FieldIndexTests {
    /// Nowcasts of 11:00…12:00; runs of 10:00 and 11:00 with forecasts 1, 2, 3 and 6 hours ahead.
    private func day() throws -> FieldIndex {
        var frames = try stride(from: -60, through: 0, by: 15).map { try frame(.nowcast, run: $0, for: $0) }
        for run in [-120, -60] {
            for lead in [60, 120, 180, 360] { frames.append(try frame(.forecast, run: run, for: run + lead)) }
        }
        return FieldIndex(frames)
    }

    @Test(
        "nowcasts up to now, forecasts ahead",
        arguments: [
            // minutes from noon, product, run, valid time
            (-60, FieldProduct.nowcast, -60, -60), (-46, .nowcast, -60, -60), (-45, .nowcast, -45, -45),
            (0, .nowcast, 0, 0), (30, .nowcast, 0, 0), (31, .forecast, -60, 60), (60, .forecast, -60, 60),
            (95, .forecast, -60, 120), (185, .forecast, -120, 240), (250, .forecast, -120, 240),
            (390, .forecast, -60, 300),
        ])
    func chosen(minutes: Int, product: FieldProduct, run: Int, validTime: Int) throws {
        let shown = try #require(try day().frame(at: instant(minutes), asOf: head))
        #expect(shown.identity.product == product)
        #expect(shown.identity.run == instant(run))
        #expect(shown.identity.validTime == instant(validTime))
    }

    @Test("beyond the reach of every field nothing is shown", arguments: [-151, 391, 10_000])
    func beyondReach(minutes: Int) throws {
        #expect(try day().frame(at: instant(minutes), asOf: head) == nil)
    }

    @Test("of two runs for one instant the newer is used, unless the older is requested")
    func newestRun() throws {
        let index = FieldIndex([
            try frame(.forecast, run: -60, for: 120), try frame(.forecast, run: 0, for: 120),
        ])
        #expect(index.frame(at: instant(120), asOf: head)?.identity.run == instant(0))
        let older = FieldIndex.Query(run: instant(-60))
        #expect(index.frame(at: instant(120), older, asOf: head)?.identity.run == instant(-60))
        let nowcasts = FieldIndex.Query(product: .nowcast)
        #expect(index.frame(at: instant(120), nowcasts, asOf: head) == nil)
    }

    @Test("an earlier version shows what was known at it")
    func versions() throws {
        let index = FieldIndex([
            try frame(.forecast, run: -60, for: 0, since: 3), try frame(.nowcast, run: 0, for: 0, since: 5),
        ])
        #expect(index.frame(at: noon, asOf: Version(rawValue: 5))?.identity.product == .nowcast)
        #expect(index.frame(at: noon, asOf: Version(rawValue: 4))?.identity.product == .forecast)
        #expect(index.frame(at: noon, asOf: Version(rawValue: 2)) == nil)
    }

    @Test("levels that arrive later belong to the same field")
    func growing() throws {
        let first = FieldIndex([try frame(.nowcast, run: 0, for: 0, since: 3, levels: [.feet(30_000)])])
        let grown = first.adding([
            try frame(.nowcast, run: 0, for: 0, since: 4, levels: [.feet(32_000), .column])
        ])
        #expect(grown.frames.count == 1)
        let shown = try #require(grown.frame(at: noon, asOf: head))
        #expect(shown.levels.map(\.level) == [.column, .feet(30_000), .feet(32_000)])
        #expect(shown.version == Version(rawValue: 4))
        let earlier = try #require(grown.frame(at: noon, asOf: Version(rawValue: 3)))
        #expect(earlier.levels.map(\.level) == [.feet(30_000)])
        #expect(grown.changedFrames(since: first) == grown.frames)
        #expect(grown.changedFrames(since: grown).isEmpty)
    }

    @Test("a timeline has the times of nowcasts behind now and of forecasts ahead")
    func timeline() throws {
        let index = try day()
        #expect(
            index.validTimes(in: instant(-60)...instant(400), asOf: head)
                == [-60, -45, -30, -15, 0, 60, 120, 240, 300].map(instant))
        #expect(
            index.validTimes(in: instant(-60)...instant(60), .init(product: .forecast), asOf: head)
                == [-60, 0, 60].map(instant))
    }

    @Test("fields that retention deletes leave the index")
    func retention() throws {
        let index = try day().dropping(before: instant(0))
        #expect(index.frames.allSatisfy { $0.identity.validTime >= noon })
        #expect(index.frame(at: instant(-45), asOf: head)?.identity.product == .forecast)
    }

    @Test("a linear search finds the same", arguments: 1...20)
    func oracle(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var frames: [FieldFrame] = []
        for _ in 0..<60 {
            let product = FieldProduct.allCases.randomElement(using: &random) ?? .nowcast
            let run = Int.random(in: -40...40, using: &random) * 15
            let lead = product == .nowcast ? 0 : Int.random(in: 0...18, using: &random) * 60
            frames.append(
                try frame(product, run: run, for: run + lead, since: Int64.random(in: 1...9, using: &random)))
        }
        var seen = Set<FieldIdentity>()
        frames.removeAll { !seen.insert($0.identity).inserted }
        let index = FieldIndex(frames)
        for _ in 0..<200 {
            let at = instant(Int.random(in: -800...1_800, using: &random))
            let version = Version(rawValue: Int64.random(in: 1...9, using: &random))
            let known = frames.filter { $0.version <= version }
            let nowcast = known.filter {
                $0.identity.product == .nowcast && (0...1_800).contains(at.seconds - $0.identity.validTime.seconds)
            }.max { $0.identity.validTime < $1.identity.validTime }
            let forecast = known.filter {
                $0.identity.product == .forecast && abs(at.seconds - $0.identity.validTime.seconds) <= 5_400
            }.min {
                (abs(at.seconds - $0.identity.validTime.seconds), -$0.identity.run.seconds)
                    < (abs(at.seconds - $1.identity.validTime.seconds), -$1.identity.run.seconds)
            }
            let expected = nowcast ?? forecast
            let found = index.frame(at: at, asOf: version)
            #expect(found?.identity.product == expected?.identity.product)
            #expect(found?.identity.run == expected?.identity.run)
            #expect(
                found.map { abs($0.identity.validTime.seconds - at.seconds) }
                    == expected.map { abs($0.identity.validTime.seconds - at.seconds) })
        }
    }
}

@Suite("Levels of a field")
struct FieldLevelTests {
    @Test(
        "an altitude range takes the levels within, or the ones beside it",
        arguments: [
            (nil, nil, [-1]), (30_000, 34_000, [30_000, 32_000]), (31_000, 32_000, [30_000, 32_000]),
            (45_000, 46_000, [44_000]), (50_000, 51_000, []),
            (0, 60_000, Array(stride(from: 10_000, through: 44_000, by: 2_000))),
        ] as [(Int?, Int?, [Int])])
    func levels(low: Int?, high: Int?, expected: [Int]) throws {
        let flown = stride(from: 10_000, through: 44_000, by: 2_000).map { FieldLevel.feet(UInt16($0)) }
        let field = try frame(.nowcast, run: 0, for: 0, levels: [.column] + flown)
        let range = try AltitudeRange(minimumFeet: low, maximumFeet: high)
        #expect(field.levels(in: range).map(\.level.number) == expected)
    }

    @Test("a field is about no instant before its run")
    func identity() {
        #expect(FieldIdentity(product: .forecast, run: instant(60), validTime: instant(0)) == nil)
        #expect(FieldIdentity(product: .forecast, run: instant(0), validTime: instant(20_000)) == nil)
        #expect(FieldIdentity(product: .forecast, run: instant(0), validTime: instant(60))?.lead == 3_600)
    }
}
