/// Codes the values of a plane, each with a prediction from the values before it.
struct FieldModel<Coder: BitCoder> {
    var coder: Coder
    private let statistics: UnsafeMutableBufferPointer<Coder.Statistic>

    // The start of each group in `statistics`.
    private static var missing: Int { 0 }
    private static var changed: Int { 16 }
    private static var negative: Int { changed + contexts * 2 }
    private static var larger: Int { negative + contexts }
    private static var contexts: Int { 125 }
    private static var steps: Int { 14 }
    private static var activities: Int { 4 }
    static var contextCount: Int { larger + steps * activities }

    /// - Parameter statistics: `contextCount` initialised entries, owned by the caller.
    init(_ coder: Coder, _ statistics: UnsafeMutableBufferPointer<Coder.Statistic>) {
        self.coder = coder
        self.statistics = statistics
    }

    /// Codes a block row by row. Beyond an edge, a row continues with its last value. Before the first row, all values
    /// are missing.
    mutating func code(_ values: UnsafeMutableBufferPointer<UInt8>, width: Int) {
        var start = 0
        while start < values.count {
            let above = start - width
            var left = above >= 0 ? values[above] : FieldPlane.missing
            var farLeft = left
            var upLeft = left
            var up = left
            for column in 0..<width {
                let upRight = above >= 0 && column + 1 < width ? values[above + column + 1] : up
                let value = code(
                    values[start + column], farLeft: farLeft, left: left, upLeft: upLeft, up: up, upRight: upRight)
                values[start + column] = value
                farLeft = left
                left = value
                upLeft = up
                up = upRight
            }
            start += width
        }
    }

    @inline(__always)
    private mutating func code(
        _ value: UInt8, farLeft: UInt8, left: UInt8, upLeft: UInt8, up: UInt8, upRight: UInt8
    ) -> UInt8 {
        let none = FieldPlane.missing
        let missingContext =
            Self.missing + (left == none ? 1 : 0) + (up == none ? 2 : 0) + (upLeft == none ? 4 : 0)
            + (upRight == none ? 8 : 0)
        if coder.code(value == none, &statistics[missingContext]) { return none }
        // A missing neighbour is replaced by another one.
        let a = Int(left != none ? left : up != none ? up : upRight != none ? upRight : 0)
        let b = up != none ? Int(up) : a
        let c = upLeft != none ? Int(upLeft) : b
        let d = upRight != none ? Int(upRight) : b
        let expected = c >= max(a, b) ? min(a, b) : c <= min(a, b) ? max(a, b) : a + b - c
        let slopes = (d - b, b - c, c - a)
        func step(_ slope: Int) -> Int { min(max(slope, -2), 2) + 2 }
        let context = step(slopes.0) * 25 + step(slopes.1) * 5 + step(slopes.2)
        let isQuiet = Int(farLeft) == a ? 0 : 1
        let difference = Int(value) - expected
        guard coder.code(difference != 0, &statistics[Self.changed + context * 2 + isQuiet]) else {
            return UInt8(truncatingIfNeeded: expected)
        }
        let isNegative = coder.code(difference < 0, &statistics[Self.negative + context])
        let activity = min((abs(slopes.0) + abs(slopes.1) + abs(slopes.2)) / 2, Self.activities - 1)
        var size = 1
        while size <= Self.steps {
            let isLarger = coder.code(
                abs(difference) > size, &statistics[Self.larger + activity * Self.steps + size - 1])
            if !isLarger { break }
            size += 1
        }
        if size > Self.steps { size += coder.code(plain: abs(difference) - size, bits: 8) }
        // Decoding arbitrary bytes may leave the range; the checksum detects that.
        return UInt8(clamping: isNegative ? expected - size : expected + size)
    }
}
