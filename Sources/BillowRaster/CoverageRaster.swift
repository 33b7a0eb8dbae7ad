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
    /// Rows of pixels of eight lanes; zero wherever nothing was added.
    private let cells: UnsafeMutablePointer<UInt16>
    /// The rows that hold anything: lowest ..< highest.
    private var lowestRow: Int
    private var highestRow: Int

    /// An empty raster of 1…`maximumSize` pixels each way.
    public init(width: Int, height: Int) {
        precondition((1...Self.maximumSize).contains(width) && (1...Self.maximumSize).contains(height))
        self.width = width
        self.height = height
        stride = width + 2
        let count = stride * height * Self.classes
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<UInt16>.stride, alignment: MemoryLayout<Shares>.alignment)
        cells = bytes.initializeMemory(as: UInt16.self, repeating: 0, count: count)
        lowestRow = height
        highestRow = 0
    }

    deinit { cells.deallocate() }

    /// Adds a polygon to a class: its corners in subpixels from the raster's north-west corner, counter-clockwise on the
    /// map (y grows downward), not closed. Anywhere within ±2³⁸ subpixels; what lies outside the raster is cut off.
    /// - Complexity: O(pixels crossed by its edges inside the raster)
    public func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, class lane: Int, subtract: Bool = false) {
        precondition(lane >= 0 && lane < Self.classes)
        guard corners.count >= 3 else { return }
        var previous = corners[corners.count - 1]
        for corner in corners {
            addEdge(from: previous, to: corner, lane: lane, sign: subtract ? -1 : 1)
            previous = corner
        }
    }

    /// A ring that is counter-clockwise on the map goes south along its western side: an edge southward (y growing) begins
    /// the area to its east, an edge northward ends it.
    @inline(__always)
    private func addEdge(from a: SIMD2<Int64>, to b: SIMD2<Int64>, lane: Int, sign: Int64) {
        // Always from north to south, so that both neighbours compute the same numbers.
        if a.y == b.y { return }
        if a.y < b.y { addDownward(a, b, lane: lane, sign: sign) } else { addDownward(b, a, lane: lane, sign: -sign) }
    }

    private func addDownward(_ a: SIMD2<Int64>, _ b: SIMD2<Int64>, lane: Int, sign: Int64) {
        let bits = Self.subpixelBits
        let firstRow = max(a.y >> bits, 0)
        let lastRow = min((b.y - 1) >> bits, Int64(height) - 1)
        guard firstRow <= lastRow else { return }
        let limit = Int64(width) << bits
        if a.x >= limit && b.x >= limit { return }
        lowestRow = min(lowestRow, Int(firstRow))
        highestRow = max(highestRow, Int(lastRow) + 1)
        let dx = b.x - a.x
        let dy = b.y - a.y
        // Where the edge stands at the top of each row: a function of the whole edge alone, wherever the raster begins.
        var top = max(a.y, firstRow << bits)
        var x = top == a.y ? a.x : a.x + Self.floorScale(top - a.y, dx, dy)
        for row in firstRow...lastRow {
            let bottom = min(b.y, (row + 1) << bits)
            let nextX = bottom == b.y ? b.x : a.x + Self.floorScale(bottom - a.y, dx, dy)
            addSpan(row: Int(row), x0: x, x1: nextX, cover: bottom - top, lane: lane, sign: sign, limit: limit)
            top = bottom
            x = nextX
        }
    }

    /// The part of an edge inside one row: from x0 at its top to x1 at its bottom, `cover` subpixels high.
    @inline(__always)
    private func addSpan(row: Int, x0: Int64, x1: Int64, cover: Int64, lane: Int, sign: Int64, limit: Int64) {
        let bits = Self.subpixelBits
        let base = row * stride * Self.classes + lane
        let left = min(x0, x1)
        let right = max(x0, x1)
        let column = left >> bits
        if column == (right - 1) >> bits || left == right {
            // Within one column: the usual case.
            if left >= limit { return }
            if left < 0 { return put(base, column: 0, cover: cover, fraction: 0, sign: sign) }
            let fraction = x0 + x1 - column << (bits + 1)
            return put(base, column: Int(column), cover: cover, fraction: fraction, sign: sign)
        }
        // Across columns: the height at which it enters each is a function of the row's part alone.
        let length = right - left
        var start = left
        var done: Int64 = 0
        var at = column
        if left < 0 {
            let reached = min(right, 0)
            done = reached == right ? cover : (reached - left) * cover / length
            put(base, column: 0, cover: done, fraction: 0, sign: sign)
            start = reached
            at = 0
        }
        while start < right, start < limit {
            let end = min(right, (at + 1) << bits)
            let reached = end == right ? cover : (end - left) * cover / length
            let fraction = start + end - at << (bits + 1)
            put(base, column: Int(at), cover: reached - done, fraction: fraction, sign: sign)
            done = reached
            start = end
            at += 1
        }
    }

    /// Adds `cover` to all that lies right of an edge whose mean distance from the column's left side is `fraction` / 2048.
    @inline(__always)
    private func put(_ base: Int, column: Int, cover: Int64, fraction: Int64, sign: Int64) {
        let whole = cover << (14 - Self.subpixelBits)
        let later = (cover * fraction) >> 7
        let at = base + column * Self.classes
        cells[at] &+= UInt16(truncatingIfNeeded: sign * (whole - later))
        cells[at + Self.classes] &+= UInt16(truncatingIfNeeded: sign * later)
    }

    /// ⌊part × dx ÷ dy⌋ for 0 ≤ part ≤ dy.
    @inline(__always)
    private static func floorScale(_ part: Int64, _ dx: Int64, _ dy: Int64) -> Int64 {
        let small: Int64 = 1 << 31
        if dy < small, abs(dx) < small {
            let product = part * dx
            let quotient = product / dy
            return product < 0 && quotient * dy != product ? quotient - 1 : quotient
        }
        // A cell near the map's edge at zoom 22: the product needs more than 64 bits.
        let product = Int128(part) * Int128(dx)
        let quotient = product / Int128(dy)
        return Int64(product < 0 && quotient * Int128(dy) != product ? quotient - 1 : quotient)
    }

    /// Hands every pixel's shares to `body`, row by row from the north-west, as (offset of the row, column, shares, whether
    /// they differ from those of the pixel before in the row), and leaves the raster empty again.
    @inline(__always)
    func drain(_ body: (_ rowStart: Int, _ column: Int, _ shares: Shares, _ changed: Bool) -> Void) {
        let lanes = UnsafeMutableRawPointer(cells).assumingMemoryBound(to: Shares.self)
        for row in lowestRow..<max(highestRow, lowestRow) {
            let start = lanes + row * stride
            var shares = Shares.zero
            for column in 0..<width {
                let delta = start[column]
                let changed = delta != .zero
                if changed {
                    shares &+= delta
                    start[column] = .zero
                }
                body(row * width, column, shares, changed || column == 0)
            }
            start[width] = .zero
            start[width + 1] = .zero
        }
        lowestRow = height
        highestRow = 0
    }

    /// The shares of every pixel, row-major from the north-west; leaves the raster empty again. For tests and oracles.
    public func drainShares() -> [Shares] {
        var all = [Shares](repeating: .zero, count: width * height)
        drain { rowStart, column, shares, _ in all[rowStart + column] = shares }
        return all
    }
}
