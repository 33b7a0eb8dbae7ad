import TestSupport
import Testing

@testable import NOAAGuidance

@Suite("Range planning")
struct RangeTests {
    private typealias ByteRange = RangePlan.ByteRange

    private func spans(_ pairs: [(Int, Int?)]) -> [MessageSpan] {
        pairs.enumerated().map {
            MessageSpan(number: $0.offset + 1, lower: $0.element.0, upper: $0.element.1, keys: [])
        }
    }

    private func plan(_ pairs: [(Int, Int?)], gap: Int = 0, longest: Int = 1_000_000) -> [String] {
        RangePlan.ranges(spans(pairs), gapBytes: gap, longestBytes: longest).map(\.header)
    }

    @Test("neighbours and near ones are one range; the last may go to the file's end") func table() {
        #expect(plan([]) == [])
        #expect(plan([(0, 10)]) == ["bytes=0-9"])
        #expect(plan([(0, 10), (10, 30), (30, 40)]) == ["bytes=0-39"])
        #expect(plan([(0, 10), (20, 30)]) == ["bytes=0-9", "bytes=20-29"])
        #expect(plan([(0, 10), (20, 30)], gap: 9) == ["bytes=0-9", "bytes=20-29"])
        #expect(plan([(0, 10), (20, 30)], gap: 10) == ["bytes=0-29"])
        #expect(plan([(0, 10), (10, nil)]) == ["bytes=0-"])
        #expect(plan([(0, 10), (50, nil)]) == ["bytes=0-9", "bytes=50-"])
        #expect(plan([(0, 10), (10, 20), (20, 30)], longest: 20) == ["bytes=0-19", "bytes=20-29"])
        #expect(plan([(0, 100), (100, 120)], longest: 20) == ["bytes=0-99", "bytes=100-119"])
    }

    @Test("every wanted byte is covered once, and no larger gap is received") func property() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            var offset = 0
            let all = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
                let lower = offset
                offset += Int.random(in: 1...50, using: &generator)
                return (lower, Optional(offset))
            }
            let share = Double.random(in: 0...1, using: &generator)
            let wanted = all.filter { _ in Double.random(in: 0...1, using: &generator) < share }
            let gap = Int.random(in: 0...60, using: &generator)
            let longest = Int.random(in: 1...400, using: &generator)
            let ranges = RangePlan.ranges(spans(wanted), gapBytes: gap, longestBytes: longest)
            var covered = [Int](repeating: 0, count: offset)
            for range in ranges { for byte in range.lower..<(range.upper ?? offset) { covered[byte] += 1 } }
            var isWanted = [Bool](repeating: false, count: offset)
            for (lower, upper) in wanted { for byte in lower..<(upper ?? offset) { isWanted[byte] = true } }
            #expect((0..<offset).allSatisfy { covered[$0] <= 1 && (!isWanted[$0] || covered[$0] == 1) })
            var run = 0
            for byte in 0..<offset {
                run = covered[byte] == 1 && !isWanted[byte] ? run + 1 : 0
                #expect(run <= gap)
            }
            for range in ranges {
                let length = (range.upper ?? 0) - range.lower
                #expect(length <= longest || wanted.contains { $0 == (range.lower, range.upper) })
                #expect(isWanted[range.lower] && isWanted[(range.upper ?? 1) - 1])
            }
            // No two ranges could have been one.
            for (one, two) in zip(ranges, ranges.dropFirst()) {
                let next = wanted.first { $0.0 == two.lower }
                #expect(two.lower - (one.upper ?? 0) > gap || (next?.1 ?? 0) - one.lower > longest)
            }
        }
    }
}
