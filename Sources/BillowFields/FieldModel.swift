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
    /// The context of a point whose neighbours are equal.
    private static var level: Int { 62 }
    private static var steps: Int { 14 }
    private static var activities: Int { 4 }
    static var contextCount: Int { larger + steps * activities }

    /// - Parameter statistics: `contextCount` initialised entries, owned by the caller.
    init(_ coder: Coder, _ statistics: UnsafeMutableBufferPointer<Coder.Statistic>) {
        self.coder = coder
        self.statistics = statistics
    }

    /// Codes a block row by row. Beyond an edge, a row continues with its last value. Before the first row, all values
    /// are missing, or 0 in a full block.
    ///
    /// - Parameter isFull: whether no value of the block is missing. Then no bit is spent on it.
    mutating func code(_ values: UnsafeMutableBufferPointer<UInt8>, width: Int, isFull: Bool) {
        // With constant arguments, the compiler makes a loop of its own for each.
        if isFull {
            codeRows(values, width: width, mayMiss: false)
        } else {
            codeRows(values, width: width, mayMiss: true)
        }
    }

    @inline(__always)
    private mutating func codeRows(_ values: UnsafeMutableBufferPointer<UInt8>, width: Int, mayMiss: Bool) {
        // A local copy can stay in registers.
        var coder = coder
        var start = 0
        while start < values.count {
            let above = start - width
            var left = above >= 0 ? values[above] : mayMiss ? FieldPlane.missing : 0
            var farLeft = left
            var upLeft = left
            var up = left
            for column in 0..<width {
                let upRight = above >= 0 && column + 1 < width ? values[above + column + 1] : up
                let value = Self.code(
                    values[start + column], farLeft: farLeft, left: left, upLeft: upLeft, up: up, upRight: upRight,
                    mayMiss: mayMiss, by: &coder, statistics)
                values[start + column] = value
                farLeft = left
                left = value
                upLeft = up
                up = upRight
            }
            start += width
        }
        self.coder = coder
    }

    @inline(__always)
    private static func code(
        _ value: UInt8, farLeft: UInt8, left: UInt8, upLeft: UInt8, up: UInt8, upRight: UInt8, mayMiss: Bool,
        by coder: inout Coder, _ statistics: UnsafeMutableBufferPointer<Coder.Statistic>
    ) -> UInt8 {
        // Most points have equal neighbours. They need no arithmetic to find their context.
        if left == up, left == upLeft, left == upRight, !mayMiss || left != FieldPlane.missing {
            if mayMiss, coder.code(value == FieldPlane.missing, &statistics[missing]) { return FieldPlane.missing }
            let context = changed + level * 2 + (farLeft == left ? 0 : 1)
            guard coder.code(value != left, &statistics[context]) else { return left }
            return Self.step(value, from: Int(left), level, activity: 0, by: &coder, statistics)
        }
        let (a, b, c, d): (Int, Int, Int, Int)
        if mayMiss {
            let none = FieldPlane.missing
            let missingContext =
                missing + (left == none ? 1 : 0) + (up == none ? 2 : 0) + (upLeft == none ? 4 : 0)
                + (upRight == none ? 8 : 0)
            if coder.code(value == none, &statistics[missingContext]) { return none }
            // A missing neighbour is replaced by another one.
            a = Int(left != none ? left : up != none ? up : upRight != none ? upRight : 0)
            b = up != none ? Int(up) : a
            c = upLeft != none ? Int(upLeft) : b
            d = upRight != none ? Int(upRight) : b
        } else {
            (a, b, c, d) = (Int(left), Int(up), Int(upLeft), Int(upRight))
        }
        // The median of the three.
        let expected = max(min(a, b), min(max(a, b), a + b - c))
        let slopes = (d - b, b - c, c - a)
        func clipped(_ slope: Int) -> Int { min(max(slope, -2), 2) }
        let context = level + clipped(slopes.0) * 25 + clipped(slopes.1) * 5 + clipped(slopes.2)
        let isQuiet = Int(farLeft) == a ? 0 : 1
        guard coder.code(Int(value) != expected, &statistics[changed + context * 2 + isQuiet]) else {
            return UInt8(truncatingIfNeeded: expected)
        }
        let activity = min((abs(slopes.0) + abs(slopes.1) + abs(slopes.2)) / 2, activities - 1)
        return step(value, from: expected, context, activity: activity, by: &coder, statistics)
    }

    /// Codes a value that differs from the expected one.
    @inline(__always)
    private static func step(
        _ value: UInt8, from expected: Int, _ context: Int, activity: Int, by coder: inout Coder,
        _ statistics: UnsafeMutableBufferPointer<Coder.Statistic>
    ) -> UInt8 {
        let difference = Int(value) - expected
        let isNegative = coder.code(difference < 0, &statistics[negative + context])
        var size = 1
        while size <= steps {
            let isLarger = coder.code(abs(difference) > size, &statistics[larger + activity * steps + size - 1])
            if !isLarger { break }
            size += 1
        }
        if size > steps { size += coder.code(plain: abs(difference) - size, bits: 8) }
        // Decoding arbitrary bytes may leave the range; the checksum detects that.
        return UInt8(clamping: isNegative ? expected - size : expected + size)
    }
}
