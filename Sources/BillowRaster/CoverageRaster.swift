/// Accumulates the exact area of every pixel that each of eight classes covers. It serves drawing by classes and tests
/// of exact pictures. `InkRaster` does the same with colours.
///
/// Positions are 1/1024 of a pixel (`subpixels`); a completely covered pixel counts `full`. Sums wrap in 16 bits. The
/// result is exact if no class covers a place twice.
@usableFromInline package final class CoverageRaster {
    /// A pixel's shares, one lane for each class.
    package typealias Shares = SIMD8<UInt16>

    @inlinable package static var classes: Int { 8 }
    /// Subpixel positions in a pixel's width.
    package static let subpixels: Int64 = 1 << SignedAreaGrid<Shares>.subpixelBits
    /// The share of a completely covered pixel.
    @inlinable package static var full: UInt16 { 1 << 14 }
    /// The maximum width and height.
    package static let maximumSize = 4_096

    package var width: Int { grid.width }
    package var height: Int { grid.height }
    private let grid: SignedAreaGrid<Shares>

    /// Makes an empty raster of 1…`maximumSize` pixels each way.
    package init(width: Int, height: Int) {
        precondition((1...Self.maximumSize).contains(width) && (1...Self.maximumSize).contains(height))
        grid = .allocate(width: width, height: height)
    }

    deinit { grid.deallocate() }

    /// Adds a polygon to a class. Its corners are in subpixels from the raster's north-west corner, counter-clockwise
    /// on the map (y grows downward), not closed. They may be anywhere within ±2³⁸ subpixels; parts outside the raster
    /// are clipped.
    /// - Complexity: O(pixels crossed by its edges inside the raster)
    package func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, class lane: Int) {
        precondition(lane >= 0 && lane < Self.classes)
        var signs = Shares.zero
        signs[lane] = 1
        add(corners, signs: signs)
    }

    /// Adds a polygon to several classes at once. `signs` is 1 for a class that it is added to, −1 (as 65,535) for one
    /// that it is subtracted from.
    package func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, signs: Shares) {
        guard corners.count >= 3 else { return }
        var previous = corners[corners.count - 1]
        for corner in corners {
            grid.add(from: previous, to: corner, signs)
            previous = corner
        }
    }

    /// Returns the shares of every pixel, row-major from the north-west, and clears the raster.
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
    /// Whether all lanes are 0. It takes two comparisons, while `==` takes eight.
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
