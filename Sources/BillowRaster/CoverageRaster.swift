/// Accumulates exactly how much of every pixel each of eight classes covers: what is drawn by classes, and what the
/// exact pictures are tested by. (`InkRaster` does the same in colours.)
///
/// Positions are 1/1024 of a pixel (`subpixels`); a pixel wholly covered counts `full`. Sums wrap in 16 bits, which is
/// exact as long as no class covers a place twice.
@usableFromInline package final class CoverageRaster {
    /// One class's share of a pixel in each lane.
    package typealias Shares = SIMD8<UInt16>

    @inlinable package static var classes: Int { 8 }
    /// Positions in a pixel's width.
    package static let subpixels: Int64 = 1 << SignedAreaGrid<Shares>.subpixelBits
    /// The share of a pixel wholly covered.
    @inlinable package static var full: UInt16 { 1 << 14 }
    /// The largest width and height.
    package static let maximumSize = 4_096

    package var width: Int { grid.width }
    package var height: Int { grid.height }
    private let grid: SignedAreaGrid<Shares>

    /// An empty raster of 1…`maximumSize` pixels each way.
    package init(width: Int, height: Int) {
        precondition((1...Self.maximumSize).contains(width) && (1...Self.maximumSize).contains(height))
        grid = .allocate(width: width, height: height)
    }

    deinit { grid.deallocate() }

    /// Adds a polygon to a class: its corners in subpixels from the raster's north-west corner, counter-clockwise on
    /// the map (y grows downward), not closed. Anywhere within ±2³⁸ subpixels; what lies outside the raster is cut off.
    /// - Complexity: O(pixels crossed by its edges inside the raster)
    package func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, class lane: Int) {
        precondition(lane >= 0 && lane < Self.classes)
        var signs = Shares.zero
        signs[lane] = 1
        add(corners, signs: signs)
    }

    /// Adds a polygon to several classes at once: `signs` is 1 for a class that it belongs to, −1 (as 65,535) for one
    /// that it is taken out of.
    package func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, signs: Shares) {
        guard corners.count >= 3 else { return }
        var previous = corners[corners.count - 1]
        for corner in corners {
            grid.add(from: previous, to: corner, signs)
            previous = corner
        }
    }

    /// The shares of every pixel, row-major from the north-west; leaves the raster empty again.
    package func drainShares() -> [Shares] {
        var all = [Shares](repeating: .zero, count: width * height)
        for row in 0..<height {
            let start = row * width
            grid.drain(row: row) { column, added in all[start + column] = added }
            var shares = Shares.zero
            for at in start..<start + width {
                shares &+= all[at]
                all[at] = shares
            }
        }
        return all
    }
}

extension CoverageRaster.Shares: AreaLanes {
    /// Whether all lanes are 0; two comparisons, where `==` would make eight.
    @inline(__always)
    package var isNothing: Bool {
        let words = unsafeBitCast(self, to: SIMD2<UInt64>.self)
        return words.x | words.y == 0
    }

    @inline(__always)
    func negated(_ isNegated: Bool) -> Self { isNegated ? Self.zero &- self : self }

    @inline(__always)
    func times(_ area: Int64) -> Self { self &* Self(repeating: UInt16(truncatingIfNeeded: area)) }
}
