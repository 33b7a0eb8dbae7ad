/// The boxes around the outlines of a chunk's cells in eight bytes each, by which a search looks at few lines of
/// memory: in coarse steps, so that the few that lie at the very edge of what is searched are looked at again.
struct CellBoxes: Sendable {
    /// West, north, and the negated east and south, in steps from the origin; all the largest where there is no cell.
    private let boxes: [SIMD4<Int16>]
    private let origin: SIMD2<Int64>
    /// A step is 2^shift grid units: as few as let all boxes fit 16 bits.
    private let shift: Int64

    init(starts: [UInt16], vertices: [GridPoint]) {
        func box(_ vertices: some Sequence<GridPoint>) -> (low: SIMD2<Int64>, high: SIMD2<Int64>)? {
            var found: (low: SIMD2<Int64>, high: SIMD2<Int64>)?
            for vertex in vertices {
                let point = SIMD2<Int64>(truncatingIfNeeded: vertex)
                let box = found ?? (point, point)
                found = (pointwiseMin(box.low, point), pointwiseMax(box.high, point))
            }
            return found
        }
        let all = box(vertices) ?? (.zero, .zero)
        let size = (all.high &- all.low).max()
        var shift: Int64 = 0
        while size >> shift >= Int64(Int16.max) { shift += 1 }
        let origin = all.low
        self.origin = origin
        self.shift = shift
        boxes = (0..<starts.count - 1).map { cell in
            guard let own = box(vertices[Int(starts[cell])..<Int(starts[cell + 1])]) else {
                return SIMD4(repeating: Int16.max)
            }
            let (low, high) = ((own.low &- origin) &>> shift, (own.high &- origin) &>> shift)
            return SIMD4(truncatingIfNeeded: SIMD4(low.x, low.y, -high.x, -high.y))
        }
    }

    /// Of `count` cells from one on, a bit for each: whether its box shares a point with a box, for which `isTouching`
    /// is asked where the steps are too coarse to tell.
    @inline(__always)
    func touching(_ first: Int, count: Int, _ box: GridBox, isTouching: (_ position: Int) -> Bool) -> UInt64 {
        func step(_ value: Int64, _ origin: Int64) -> Int16 { Int16(clamping: (value &- origin) >> shift) }
        // Rounded down alike, what lies apart in steps does so in units, and what lies within does, too.
        let limit = SIMD4<Int16>(
            step(box.maxX, origin.x), step(box.maxY, origin.y), -max(step(box.minX, origin.x), -Int16.max),
            -max(step(box.minY, origin.y), -Int16.max))
        var found: UInt64 = 0
        boxes.withUnsafeBufferPointer { boxes in
            for index in 0..<count {
                let own = boxes[first &+ index]
                if unsafeBitCast(own .> limit, to: UInt64.self) != 0 { continue }
                if unsafeBitCast(own .== limit, to: UInt64.self) != 0, !isTouching(first &+ index) { continue }
                found |= 1 &<< UInt64(truncatingIfNeeded: index)
            }
        }
        return found
    }
}
