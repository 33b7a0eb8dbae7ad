/// Numbers that a grid accumulates in parallel. Intermediate sums may wrap; only the final sum must fit.
protocol AreaLanes {
    static var zero: Self { get }
    var isNothing: Bool { get }
    static func &+= (sum: inout Self, other: Self)
    /// The numbers, with the opposite sign if `isNegated`.
    func negated(_ isNegated: Bool) -> Self
    /// The numbers times a signed area.
    func times(_ area: Int64) -> Self
}

/// Accumulates the exact area of every pixel inside outlines, in as many lanes as `Lanes` has.
///
/// Every edge of a polygon adds its signed area to the pixels that it crosses, in integers. The running sum along a row
/// from the left is the polygon's area in each pixel. Two polygons with a common edge add the same numbers with
/// opposite signs. So the edge leaves no trace inside a region of one class. Along a border between two classes the
/// areas add up to a whole pixel. So no seam can appear, inside a tile or between two.
///
/// Positions are 1/1024 of a pixel; a completely covered pixel counts 2¹⁴. The owner manages the memory by `allocate`
/// and `deallocate`.
///
/// Source: the signed-area accumulation of font rasterisers, as in R. Levien, "Inside the fastest font renderer in the
/// world" (font-rs, 2016), made exact by integers and extended to several lanes.
struct SignedAreaGrid<Lanes: AreaLanes> {
    let width: Int
    let height: Int
    /// The pixels from one row's start to the next one's. It is three more than the width, because an edge adds to up
    /// to two pixels after its own.
    let stride: Int
    /// Rows of pixels. Each pixel has its difference to the running sum; zero if nothing was added.
    private let cells: UnsafeMutablePointer<Lanes>
    /// One bit for each pixel that was added to, so that reading skips unchanged pixels.
    private let marks: UnsafeMutablePointer<UInt64>
    private let markWords: Int

    static var subpixelBits: Int64 { 10 }
    /// The number of bits of a whole pixel's area.
    static var areaBits: Int64 { 14 }

    static func allocate(width: Int, height: Int) -> Self {
        let stride = width + 3
        // One more word, so that marking across the end of a word needs no test.
        let markWords = (stride + 63) / 64 + 1
        let cells = UnsafeMutablePointer<Lanes>.allocate(capacity: stride * height)
        cells.initialize(repeating: .zero, count: stride * height)
        let marks = UnsafeMutablePointer<UInt64>.allocate(capacity: markWords * height)
        marks.initialize(repeating: 0, count: markWords * height)
        return Self(width: width, height: height, stride: stride, cells: cells, marks: marks, markWords: markWords)
    }

    func deallocate() {
        cells.deallocate()
        marks.deallocate()
    }

    /// Adds one edge of an outline that runs counter-clockwise on the map (y grows downward), with `lanes` on its inner
    /// side.
    ///
    /// Such an outline goes south along its western side. An edge southward begins the area to its east, an edge
    /// northward ends it. Edges are always traversed from north to south, so that both adjacent polygons compute the
    /// same numbers.
    @inline(__always)
    func add(from start: SIMD2<Int64>, to end: SIMD2<Int64>, _ lanes: Lanes) {
        // The direction is hard to predict, so this has no branches.
        let isUp = end.y < start.y
        let (ax, ay) = (isUp ? end.x : start.x, isUp ? end.y : start.y)
        let (bx, by) = (isUp ? start.x : end.x, isUp ? start.y : end.y)
        let lanes = lanes.negated(isUp)
        let bits = Self.subpixelBits
        let firstRow = max(ay &>> bits, 0)
        let lastRow = min((by &- 1) &>> bits, Int64(height) &- 1)
        guard firstRow <= lastRow, ay < by else { return }
        let limit = Int64(width) &<< bits
        if ax >= limit && bx >= limit { return }
        let across = Double(bx &- ax)
        let down = Double(by &- ay)
        // The edge's x at the bottom of each row depends only on the whole edge, not on where the grid begins.
        let slope = across / down
        // The height of the edge per step across; not used for a vertical edge.
        let rise = across == 0 ? 0 : down / abs(across)
        var top = max(ay, firstRow &<< bits)
        var x = top == ay ? ax : ax &+ Self.whole(Double(top &- ay) * slope)
        var row = firstRow
        while true {
            let bottom = min(by, (row &+ 1) &<< bits)
            let next = bottom == by ? bx : ax &+ Self.whole(Double(bottom &- ay) * slope)
            addSpan(row: Int(row), x0: x, x1: next, cover: bottom &- top, rise: rise, lanes, limit: limit)
            if row == lastRow { return }
            row &+= 1
            top = bottom
            x = next
        }
    }

    /// Adds the part of an edge inside one row: from x0 at its top to x1 at its bottom, `cover` subpixels high.
    ///
    /// Usually it lies in one or two columns. Which of these is hard to predict, so one path without branches serves
    /// both.
    @inline(__always)
    private func addSpan(row: Int, x0: Int64, x1: Int64, cover: Int64, rise: Double, _ lanes: Lanes, limit: Int64) {
        let bits = Self.subpixelBits
        let left = min(x0, x1)
        let right = max(x0, x1)
        if left < 0 || right > limit {
            return addClipped(row: row, left: left, right: right, cover: cover, rise: rise, lanes, limit: limit)
        }
        let column = left &>> bits
        let start = column &<< bits
        if right &- start > 2 &<< bits {
            return addWide(row: row, left: left, right: right, cover: cover, rise: rise, lanes)
        }
        let length = right &- left
        let here = min(1 &<< bits &- (left &- start), length)
        let first = Self.height(here, length, cover, rise)
        let second = cover &- first
        let later1 = (first &* (2 &* (left &- start) &+ here)) &>> 7
        let later2 = (second &* (length &- here)) &>> 7
        let up = Self.areaBits &- bits
        let at = cells + (row &* stride &+ Int(column))
        at[0] &+= lanes.times(first &<< up &- later1)
        at[1] &+= lanes.times(later1 &+ second &<< up &- later2)
        at[2] &+= lanes.times(later2)
        mark(row, Int(column), second == 0 ? 3 : 7)
    }

    /// Adds a part of an edge that spans any number of columns.
    @inline(never)
    private func addWide(row: Int, left: Int64, right: Int64, cover: Int64, rise: Double, _ lanes: Lanes) {
        let bits = Self.subpixelBits
        let length = right &- left
        let first = left &>> bits
        var at = cells + (row &* stride &+ Int(first))
        var column = first
        var start = left
        var done: Int64 = 0
        var carry: Int64 = 0
        while start < right {
            let end = min(right, (column &+ 1) &<< bits)
            let reached = Self.height(end &- left, length, cover, rise)
            let height = reached &- done
            let later = (height &* (start &+ end &- column &<< (bits &+ 1))) &>> 7
            at.pointee &+= lanes.times(height &<< (Self.areaBits &- bits) &- later &+ carry)
            carry = later
            done = reached
            start = end
            column &+= 1
            at += 1
        }
        at.pointee &+= lanes.times(carry)
        markAll(row, Int(first), Int(column &- first) + 1)
    }

    /// Adds a part of an edge that extends beyond the grid's sides. Everything left of the grid counts as on its left
    /// side.
    @inline(never)
    private func addClipped(
        row: Int, left: Int64, right: Int64, cover: Int64, rise: Double, _ lanes: Lanes, limit: Int64
    ) {
        let bits = Self.subpixelBits
        if left >= limit { return }
        let length = right &- left
        var start = left
        var done: Int64 = 0
        if left < 0 {
            start = min(right, 0)
            done = Self.height(start &- left, length, cover, rise)
            put(row, column: 0, cover: done, fraction: 0, lanes)
        }
        let last = min(right, limit)
        var column = max(start, 0) &>> bits
        while start < last {
            let end = min(right, (column &+ 1) &<< bits)
            let reached = Self.height(end &- left, length, cover, rise)
            put(
                row, column: Int(column), cover: reached &- done, fraction: start &+ end &- column &<< (bits &+ 1),
                lanes)
            done = reached
            start = end
            column &+= 1
        }
    }

    /// Adds `cover` to all pixels right of an edge, whose mean distance from the column's left side is `fraction` /
    /// 2048.
    @inline(__always)
    private func put(_ row: Int, column: Int, cover: Int64, fraction: Int64, _ lanes: Lanes) {
        let later = (cover &* fraction) &>> 7
        let at = cells + (row &* stride &+ column)
        at[0] &+= lanes.times(cover &<< (Self.areaBits &- Self.subpixelBits) &- later)
        at[1] &+= lanes.times(later)
        mark(row, column, 3)
    }

    /// Marks pixels from a column on, by the bits of `pattern`.
    @inline(__always)
    func mark(_ row: Int, _ column: Int, _ pattern: UInt64) {
        let words = marks + (row &* markWords &+ column &>> 6)
        let bit = UInt64(truncatingIfNeeded: column & 63)
        words[0] |= pattern &<< bit
        words[1] |= (pattern &>> 1) &>> (63 &- bit)
    }

    /// The memory of a pixel's difference.
    @inline(__always)
    func pixel(row: Int, column: Int) -> UnsafeMutablePointer<Lanes> { cells + (row &* stride &+ column) }

    @inline(__always)
    private func markAll(_ row: Int, _ column: Int, _ count: Int) {
        let words = marks + row &* markWords
        var at = column
        let end = column &+ count
        while at < end {
            let bit = at & 63
            let here = min(64 &- bit, end &- at)
            let pattern = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- here)
            words[at &>> 6] |= pattern &<< UInt64(truncatingIfNeeded: bit)
            at &+= here
        }
    }

    /// The height of the first `way` of an edge's part that is `length` wide; exact at its end.
    @inline(__always)
    private static func height(_ way: Int64, _ length: Int64, _ cover: Int64, _ rise: Double) -> Int64 {
        let gained = min(whole(Double(way) * rise), cover)
        return way == length ? cover : gained
    }

    /// Rounds any value within ±2⁵⁰ to the nearest integer. Added to 1.5 × 2⁵², the integer is in the lowest bits.
    @inline(__always)
    private static func whole(_ value: Double) -> Int64 {
        let base = 0x1.8p52
        return Int64(bitPattern: (value + base).bitPattern) &- Int64(bitPattern: base.bitPattern)
    }

    /// Calls `body` for every touched pixel of a row, from the west, with its difference to the running sum. Clears the
    /// row.
    /// - Complexity: O(pixels that edges have touched)
    @inline(__always)
    func drain(row: Int, _ body: (_ column: Int, _ added: Lanes) -> Void) {
        let start = cells + row &* stride
        let words = marks + row &* markWords
        for word in 0..<markWords {
            var bits = words[word]
            if bits == 0 { continue }
            words[word] = 0
            let first = word &<< 6
            if first &+ 64 > width { bits = dropPixelsBeyond(bits, first: first, start) }
            while bits != 0 {
                let column = first &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                let added = start[column]
                start[column] = .zero
                body(column, added)
            }
        }
    }

    /// Clears the marked pixels beyond the last column, of those from `first` on that `bits` mark. Returns the other
    /// bits.
    @inline(never)
    private func dropPixelsBeyond(_ bits: UInt64, first: Int, _ row: UnsafeMutablePointer<Lanes>) -> UInt64 {
        let inside = first < width ? UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- (width &- first)) : 0
        var beyond = bits & ~inside
        while beyond != 0 {
            row[first &+ beyond.trailingZeroBitCount] = .zero
            beyond &= beyond &- 1
        }
        return bits & inside
    }
}
