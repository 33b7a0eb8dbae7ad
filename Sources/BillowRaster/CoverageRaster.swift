/// Accumulates exactly how much of every pixel each of eight classes covers.
///
/// Every edge of a polygon adds its signed area to the pixels that it crosses, in integers; summed along a row from the
/// left this is the area that the polygon covers of each pixel. Two polygons with a common edge add the same numbers with
/// opposite signs, so that inside a region of one class nothing of their edges remains, and along a border between two
/// classes the shares add up to a whole pixel: no seam can appear, inside a tile or between two.
///
/// Positions are 1/1024 of a pixel (`subpixels`); a pixel wholly covered counts `full`. Sums wrap in 16 bits, which is
/// exact as long as no class covers a place twice.
///
/// Source: the signed-area accumulation of font rasterisers, as in R. Levien, "Inside the fastest font renderer in the
/// world" (font-rs, 2016), made exact by integers and extended to several classes.
public final class CoverageRaster {
    /// One class's share of a pixel in each lane.
    public typealias Shares = SIMD8<UInt16>

    public static let classes = 8
    /// Positions in a pixel's width.
    public static let subpixels: Int64 = 1 << subpixelBits
    static let subpixelBits: Int64 = 10
    /// The share of a pixel wholly covered.
    public static let full: UInt16 = 1 << 14
    /// The largest width and height.
    public static let maximumSize = 4_096

    public let width: Int
    public let height: Int
    /// One more pixel than the width in each row, for what lies right of the last.
    private let stride: Int
    /// Rows of pixels: what each adds to the shares of the pixel before. Zero wherever nothing was added.
    private let cells: UnsafeMutablePointer<Shares>
    /// One bit for each pixel that anything was added to, so that reading skips what is empty and what is even.
    private let marks: UnsafeMutablePointer<UInt64>
    private let markWords: Int
    /// The rows that hold anything: lowest ..< highest.
    private var lowestRow: Int
    private var highestRow: Int

    /// An empty raster of 1…`maximumSize` pixels each way.
    public init(width: Int, height: Int) {
        precondition((1...Self.maximumSize).contains(width) && (1...Self.maximumSize).contains(height))
        self.width = width
        self.height = height
        stride = width + 2
        cells = .allocate(capacity: stride * height)
        cells.initialize(repeating: .zero, count: stride * height)
        markWords = (stride + 63) / 64
        marks = .allocate(capacity: markWords * height)
        marks.initialize(repeating: 0, count: markWords * height)
        lowestRow = height
        highestRow = 0
    }

    deinit {
        cells.deallocate()
        marks.deallocate()
    }

    /// Adds a polygon to a class: its corners in subpixels from the raster's north-west corner, counter-clockwise on the
    /// map (y grows downward), not closed. Anywhere within ±2³⁸ subpixels; what lies outside the raster is cut off.
    /// - Complexity: O(pixels crossed by its edges inside the raster)
    public func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, class lane: Int) {
        precondition(lane >= 0 && lane < Self.classes)
        guard corners.count >= 3 else { return }
        var signs = Shares.zero
        signs[lane] = 1
        var previous = corners[corners.count - 1]
        for corner in corners {
            addEdge(from: previous, to: corner, signs: signs)
            previous = corner
        }
    }

    /// Adds one edge to several classes at once: `signs` is 1 for a class whose polygon it belongs to, −1 (as 65,535) for one
    /// whose polygon has it the other way round. An edge between two classes is so added once for both.
    ///
    /// A ring that is counter-clockwise on the map goes south along its western side: an edge southward (y growing) begins
    /// the area to its east, an edge northward ends it.
    @inline(__always)
    public func addEdge(from a: SIMD2<Int64>, to b: SIMD2<Int64>, signs: Shares) {
        // Always from north to south, so that both neighbours compute the same numbers.
        if a.y == b.y { return }
        if a.y < b.y { addDownward(a, b, signs: signs) } else { addDownward(b, a, signs: .zero &- signs) }
    }

    private func addDownward(_ a: SIMD2<Int64>, _ b: SIMD2<Int64>, signs: Shares) {
        let bits = Self.subpixelBits
        let firstRow = max(a.y &>> bits, 0)
        let lastRow = min((b.y &- 1) &>> bits, Int64(height) &- 1)
        guard firstRow <= lastRow else { return }
        let limit = Int64(width) &<< bits
        if a.x >= limit && b.x >= limit { return }
        lowestRow = min(lowestRow, Int(firstRow))
        highestRow = max(highestRow, Int(lastRow) &+ 1)
        let dx = b.x &- a.x
        let dy = b.y &- a.y
        // Where the edge stands at the top of each row: a function of the whole edge alone, wherever the raster begins.
        var top = max(a.y, firstRow &<< bits)
        var x = top == a.y ? a.x : a.x &+ Self.floorScale(top &- a.y, dx, dy).quotient
        if firstRow == lastRow {
            let bottom = min(b.y, (firstRow &+ 1) &<< bits)
            let end = bottom == b.y ? b.x : a.x &+ Self.floorScale(bottom &- a.y, dx, dy).quotient
            addSpan(row: Int(firstRow), x0: x, x1: end, cover: bottom &- top, signs: signs, limit: limit)
            return
        }
        // From row to row by quotient and remainder, which comes to the same without dividing.
        var next = Self.floorScale((firstRow &+ 1) &<< bits &- a.y, dx, dy)
        let step = Self.floorScale(min(Self.subpixels, dy), dx, dy)
        for row in firstRow...lastRow {
            let bottom = min(b.y, (row &+ 1) &<< bits)
            let nextX = bottom == b.y ? b.x : a.x &+ next.quotient
            addSpan(row: Int(row), x0: x, x1: nextX, cover: bottom &- top, signs: signs, limit: limit)
            top = bottom
            x = nextX
            next.quotient &+= step.quotient
            next.remainder &+= step.remainder
            if next.remainder >= dy {
                next.quotient &+= 1
                next.remainder &-= dy
            }
        }
    }

    /// The part of an edge inside one row: from x0 at its top to x1 at its bottom, `cover` subpixels high.
    @inline(__always)
    private func addSpan(row: Int, x0: Int64, x1: Int64, cover: Int64, signs: Shares, limit: Int64) {
        let bits = Self.subpixelBits
        let left = min(x0, x1)
        let right = max(x0, x1)
        let column = left &>> bits
        if column == (right &- 1) &>> bits || left == right {
            // Within one column: the usual case.
            if left >= limit { return }
            if left < 0 { return put(row, column: 0, cover: cover, fraction: 0, signs: signs) }
            let fraction = x0 &+ x1 &- column &<< (bits &+ 1)
            return put(row, column: Int(column), cover: cover, fraction: fraction, signs: signs)
        }
        addSlope(row: row, left: left, right: right, cover: cover, signs: signs, limit: limit)
    }

    /// The part of an edge inside one row, across columns: the height at which it enters each is a function of the row's part
    /// alone, ⌊(where the column ends − left) × cover ÷ length⌋.
    @inline(never)
    private func addSlope(row: Int, left: Int64, right: Int64, cover: Int64, signs: Shares, limit: Int64) {
        let bits = Self.subpixelBits
        let length = right &- left
        var start = left
        var done: Int64 = 0
        var column = left &>> bits
        if left < 0 {
            start = min(right, 0)
            done = start == right ? cover : Self.part(0 &- left, cover, length).quotient
            put(row, column: 0, cover: done, fraction: 0, signs: signs)
            column = 0
        }
        let last = min(right, limit)
        guard start < last else { return }
        var reached = Self.part(min((column &+ 1) &<< bits, right) &- left, cover, length)
        var step: (quotient: Int64, remainder: Int64) = (0, 0)
        var hasStep = false
        while start < last {
            let end = min(right, (column &+ 1) &<< bits)
            let height = (end == right ? cover : reached.quotient) &- done
            put(row, column: Int(column), cover: height, fraction: start &+ end &- column &<< (bits &+ 1), signs: signs)
            done &+= height
            start = end
            column &+= 1
            guard start < last else { break }
            if !hasStep {
                // Only where more than two columns are crossed.
                guard (column &+ 1) &<< bits < right else { continue }
                step = Self.part(Self.subpixels, cover, length)
                hasStep = true
            }
            reached.quotient &+= step.quotient
            reached.remainder &+= step.remainder
            if reached.remainder >= length {
                reached.quotient &+= 1
                reached.remainder &-= length
            }
        }
    }

    /// Adds `cover` to all that lies right of an edge whose mean distance from the column's left side is `fraction` / 2048.
    @inline(__always)
    private func put(_ row: Int, column: Int, cover: Int64, fraction: Int64, signs: Shares) {
        let later = (cover &* fraction) &>> 7
        let here = cover &<< (14 &- Self.subpixelBits) &- later
        let at = cells + (row &* stride &+ column)
        at[0] &+= signs &* Shares(repeating: UInt16(truncatingIfNeeded: here))
        at[1] &+= signs &* Shares(repeating: UInt16(truncatingIfNeeded: later))
        let words = marks + (row &* markWords &+ column &>> 6)
        let bit = UInt64(truncatingIfNeeded: column & 63)
        words[0] |= 3 &<< bit
        if bit == 63 { words[1] |= 1 }
    }

    /// ⌊part × dx ÷ dy⌋ and what remains, for 0 ≤ part ≤ dy.
    @inline(__always)
    private static func floorScale(_ part: Int64, _ dx: Int64, _ dy: Int64) -> (quotient: Int64, remainder: Int64) {
        let small: Int64 = 1 << 31
        if dy < small, abs(dx) < small {
            let product = part &* dx
            let (quotient, remainder) = divide(product.magnitude, UInt64(truncatingIfNeeded: dy))
            if product >= 0 { return (quotient, remainder) }
            return remainder == 0 ? (0 &- quotient, 0) : (-1 &- quotient, dy &- remainder)
        }
        return wideFloorScale(part, dx, dy)
    }

    /// ⌊way × cover ÷ length⌋ and what remains: a way of less than 2⁴⁰ and a cover of one pixel at most.
    @inline(__always)
    private static func part(_ way: Int64, _ cover: Int64, _ length: Int64) -> (quotient: Int64, remainder: Int64) {
        divide(UInt64(truncatingIfNeeded: way &* cover), UInt64(truncatingIfNeeded: length))
    }

    /// For a divisor of 1 or more.
    @inline(__always)
    private static func divide(_ dividend: UInt64, _ divisor: UInt64) -> (quotient: Int64, remainder: Int64) {
        precondition(divisor > 0)
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return (Int64(truncatingIfNeeded: quotient), Int64(truncatingIfNeeded: remainder))
    }

    /// A cell near the map's edge at zoom 22: the product needs more than 64 bits.
    @inline(never)
    private static func wideFloorScale(_ part: Int64, _ dx: Int64, _ dy: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = (Int128(part) * Int128(dx)).quotientAndRemainder(dividingBy: Int128(dy))
        return remainder < 0
            ? (Int64(quotient - 1), Int64(remainder) + dy) : (Int64(quotient), Int64(remainder))
    }

    /// Hands over every pixel whose shares differ from those of the pixel before it in its row (nothing, before the first),
    /// from the north-west row by row, and leaves the raster empty again.
    /// - Complexity: O(pixels that edges have touched)
    @inline(__always)
    func drain(_ body: (_ row: Int, _ column: Int, _ shares: Shares) -> Void) {
        for row in lowestRow..<max(highestRow, lowestRow) {
            let start = cells + row &* stride
            let words = marks + row &* markWords
            var shares = Shares.zero
            for word in 0..<markWords {
                var bits = words[word]
                if bits == 0 { continue }
                words[word] = 0
                while bits != 0 {
                    let column = word &<< 6 &+ bits.trailingZeroBitCount
                    bits &= bits &- 1
                    let delta = start[column]
                    if delta.isNothing { continue }
                    start[column] = .zero
                    shares &+= delta
                    if column < width { body(row, column, shares) }
                }
            }
        }
        lowestRow = height
        highestRow = 0
    }

    /// The shares of every pixel, row-major from the north-west; leaves the raster empty again. For tests and oracles.
    public func drainShares() -> [Shares] {
        var all = [Shares](repeating: .zero, count: width * height)
        drain { row, column, shares in
            for at in row * width + column..<(row + 1) * width { all[at] = shares }
        }
        return all
    }
}

extension CoverageRaster.Shares {
    /// Whether all lanes are 0; two comparisons, where `==` would make eight.
    @inline(__always)
    public var isNothing: Bool {
        let words = unsafeBitCast(self, to: SIMD2<UInt64>.self)
        return words.x | words.y == 0
    }
}
