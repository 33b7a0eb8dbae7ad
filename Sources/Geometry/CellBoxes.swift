/// The bounding boxes of a chunk's cells in eight bytes each, so that a search reads few cache lines. They are in
/// coarse steps. The few boxes at the edge of the searched area are checked exactly.
struct CellBoxes: Sendable {
    /// West, north, negated east and negated south, in steps from the origin. A slot without a cell has the maximum in
    /// all four.
    private let boxes: [SIMD4<Int16>]
    private let origin: SIMD2<Int64>
    /// A step is 2^shift grid units. The shift is the smallest with which all boxes fit into 16 bits.
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

    /// A bit for each of `count` cells from `first` on: whether its box shares a point with a box. `isTouching` is
    /// called if the steps are too coarse to decide.
    @inline(__always)
    func touching(_ first: Int, count: Int, _ box: GridBox, isTouching: (_ position: Int) -> Bool) -> UInt64 {
        func step(_ value: Int64, _ origin: Int64) -> Int16 { Int16(clamping: (value &- origin) >> shift) }
        // Both sides are rounded down. So boxes that are apart in steps are also apart in units, and boxes that overlap
        // by whole steps also overlap in units.
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
