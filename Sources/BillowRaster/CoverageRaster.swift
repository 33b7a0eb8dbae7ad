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
        var signs = Shares.zero
        signs[lane] = 1
        add(corners, signs: signs)
    }

    /// Adds a polygon to several classes at once: `signs` is 1 for a class that it belongs to, −1 (as 65,535) for one that it
    /// is taken out of.
    public func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, signs: Shares) {
        guard corners.count >= 3 else { return }
        let backward = Shares.zero &- signs
        var previous = corners[corners.count - 1]
        for corner in corners {
            // Always from north to south, so that both neighbours compute the same numbers.
            if previous.y < corner.y {
                addDownward(previous, corner, signs: signs)
            } else if corner.y < previous.y {
                addDownward(corner, previous, signs: backward)
            }
            previous = corner
        }
    }

    /// Adds one edge from its northern end a to its southern end b to several classes at once.
    ///
    /// A ring that is counter-clockwise on the map goes south along its western side: an edge southward (y growing) begins
    /// the area to its east (`signs` is 1), an edge northward ends it (−1).
    @inline(__always)
    func addDownward(_ a: SIMD2<Int64>, _ b: SIMD2<Int64>, signs: Shares) {
        let bits = Self.subpixelBits
        let firstRow = max(a.y &>> bits, 0)
        let lastRow = min((b.y &- 1) &>> bits, Int64(height) &- 1)
        guard firstRow <= lastRow else { return }
        let limit = Int64(width) &<< bits
        if a.x >= limit && b.x >= limit { return }
        lowestRow = min(lowestRow, Int(firstRow))
        highestRow = max(highestRow, Int(lastRow) &+ 1)
        // Where the edge stands at the bottom of each row: a function of the whole edge alone, wherever the raster begins.
        let slope = Double(b.x &- a.x) / Double(b.y &- a.y)
        var top = max(a.y, firstRow &<< bits)
        var x = top == a.y ? a.x : a.x &+ Self.whole(Double(top &- a.y) * slope)
        for row in firstRow...lastRow {
            let bottom = min(b.y, (row &+ 1) &<< bits)
            let end = bottom == b.y ? b.x : a.x &+ Self.whole(Double(bottom &- a.y) * slope)
            addSpan(row: Int(row), x0: x, x1: end, cover: bottom &- top, signs: signs, limit: limit)
            top = bottom
            x = end
        }
    }

    /// The part of an edge inside one row: from x0 at its top to x1 at its bottom, `cover` subpixels high.
    ///
    /// Usually it lies in one column or two, and which is hard to foretell: so one way without branches for both.
    @inline(__always)
    private func addSpan(row: Int, x0: Int64, x1: Int64, cover: Int64, signs: Shares, limit: Int64) {
        let bits = Self.subpixelBits
        let left = min(x0, x1)
        let right = max(x0, x1)
        let column = left &>> bits
        let start = column &<< bits
        if left < 0 || right > limit || left == limit || right &- start > 2 &* Self.subpixels {
            return addSlope(row: row, left: left, right: right, cover: cover, signs: signs, limit: limit)
        }
        let length = right &- left
        let here = min(Self.subpixels &- (left &- start), length)
        let upright: Int64 = length == 0 ? 1 : 0
        let first = Self.height(here &+ upright, cover, length &+ upright)
        let second = cover &- first
        let beyond = length &- here
        let up: Int64 = 14 &- bits
        let later1 = (first &* (2 &* (left &- start) &+ here)) &>> 7
        let later2 = (second &* beyond) &>> 7
        let at = cells + (row &* stride &+ Int(column))
        at[0] &+= signs &* Shares(repeating: UInt16(truncatingIfNeeded: first &<< up &- later1))
        at[1] &+= signs &* Shares(repeating: UInt16(truncatingIfNeeded: later1 &+ second &<< up &- later2))
        at[2] &+= signs &* Shares(repeating: UInt16(truncatingIfNeeded: later2))
        mark(row, Int(column), beyond > 0 ? 7 : 3)
    }

    /// The part of an edge inside one row, across any columns and cut at the raster's sides: the height at which it enters
    /// each is a function of the row's part alone.
    @inline(never)
    private func addSlope(row: Int, left: Int64, right: Int64, cover: Int64, signs: Shares, limit: Int64) {
        let bits = Self.subpixelBits
        if left >= limit { return }
        let length = right &- left
        var start = left
        var done: Int64 = 0
        if left < 0 {
            start = min(right, 0)
            done = start == right ? cover : Self.height(0 &- left, cover, length)
            put(row, column: 0, cover: done, fraction: 0, signs: signs)
        } else if length == 0 {
            let column = left &>> bits
            put(row, column: Int(column), cover: cover, fraction: 2 &* (left &- column &<< bits), signs: signs)
        }
        let last = min(right, limit)
        var column = max(start, 0) &>> bits
        while start < last {
            let end = min(right, (column &+ 1) &<< bits)
            let height = (end == right ? cover : Self.height(end &- left, cover, length)) &- done
            put(row, column: Int(column), cover: height, fraction: start &+ end &- column &<< (bits &+ 1), signs: signs)
            done &+= height
            start = end
            column &+= 1
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
        mark(row, column, 3)
    }

    /// Marks up to three pixels from a column on, by the bits of `pattern`.
    @inline(__always)
    private func mark(_ row: Int, _ column: Int, _ pattern: UInt64) {
        let words = marks + (row &* markWords &+ column &>> 6)
        let bit = UInt64(truncatingIfNeeded: column & 63)
        words[0] |= pattern &<< bit
        if bit >= 62 { words[1] |= pattern &>> (64 &- bit) }
    }

    /// The height that a line of `length` across and `cover` down reaches after `way` across: exact at its end.
    @inline(__always)
    private static func height(_ way: Int64, _ cover: Int64, _ length: Int64) -> Int64 {
        whole(Double(way &* cover) / Double(length))
    }

    /// To the nearest, of any value within ±2⁵⁰: added to 1.5 × 2⁵², it stands in the lowest bits.
    @inline(__always)
    private static func whole(_ value: Double) -> Int64 {
        let base = 0x1.8p52
        return Int64(bitPattern: (value + base).bitPattern) &- Int64(bitPattern: base.bitPattern)
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
