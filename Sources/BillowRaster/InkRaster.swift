import CVector

/// The weights of a colour by which areas are multiplied, or a sum of such products: premultiplied red, green, blue and
/// alpha.
///
/// A weight, the difference of two weights, and an area each fit into 16 signed bits. So the product of four lanes is
/// one instruction on every 64-bit processor (`areas`).
struct Ink: AreaLanes {
    var lanes: SIMD4<Int32>

    /// The weights in 1/128 of an 8-bit channel, at most 32,640.
    init(_ colour: StraightColour) {
        func weight(_ channel: UInt8) -> Int32 { (Int32(channel) * Int32(colour.alpha) * 128 + 127) / 255 }
        lanes = SIMD4(weight(colour.red), weight(colour.green), weight(colour.blue), Int32(colour.alpha) * 128)
    }

    init(lanes: SIMD4<Int32>) { self.lanes = lanes }

    static let zero = Ink(lanes: .zero)

    @inline(__always)
    var isNothing: Bool { lanes == .zero }

    @inline(__always)
    static func &+= (sum: inout Ink, other: Ink) { sum.lanes &+= other.lanes }

    @inline(__always)
    static func &- (a: Ink, b: Ink) -> Ink { Ink(lanes: a.lanes &- b.lanes) }

    @inline(__always)
    func negated(_ isNegated: Bool) -> Ink {
        // −n is ~n + 1.
        let ones = SIMD4<Int32>(repeating: isNegated ? -1 : 0)
        return Ink(lanes: (lanes ^ ones) &- ones)
    }

    @inline(__always)
    func times(_ area: Int64) -> Ink {
        Self.sum(lanes, areas: UInt32(truncatingIfNeeded: UInt16(truncatingIfNeeded: area)))
    }

    /// In each lane: the lower half times the lower area, plus the upper half times the upper area. All are signed.
    @inline(__always)
    static func sum(_ lanes: SIMD4<Int32>, areas: UInt32) -> Ink { Ink(lanes: billow_multiply_pairs(lanes, areas)) }

    /// Two inks for `sum`, one in each half of a lane.
    static func pair(lower: Ink, upper: Ink) -> SIMD4<Int32> {
        lower.lanes & SIMD4(repeating: 0xFFFF) | upper.lanes &<< SIMD4(repeating: 16)
    }
}

/// The colour of a pixel: premultiplied red, green, blue and alpha of 8 bits each, from the lowest byte.
struct PixelColour: Hashable {
    var bits: UInt32

    /// Half a unit of an 8-bit channel. A sum starts with it, so that truncation rounds to the nearest.
    static var start: Ink { Ink(lanes: SIMD4(repeating: 1 << (shift - 1))) }
    /// The fraction bits of a sum: 14 of the area and 7 of the ink.
    private static var shift: Int32 { 21 }

    init(bits: UInt32) { self.bits = bits }

    /// Converts a sum that started with `start`. Rounding of many edges may bring a lane below 0 or above the largest
    /// value, so lanes are clamped.
    @inline(__always)
    init(_ sum: Ink) { self.init(bits: billow_clamped_bytes(sum.lanes &>> Self.shift)) }

    /// The colour of a pixel that one ink covers completely.
    init(_ colour: StraightColour) {
        var sum = Self.start
        sum &+= Ink(colour).times(1 << SignedAreaGrid<Ink>.areaBits)
        self.init(sum)
    }
}

/// Accumulates the exact colour of each pixel of a picture of areas that don't overlap. A pixel's colour is the mean of
/// the areas' colours, weighted by area, in premultiplied space.
@usableFromInline package final class InkRaster {
    /// Classes of areas. Class 0 is the empty background.
    @inlinable package static var nothing: UInt8 { 0 }
    /// Stands for the class beyond an edge that the neighbour draws.
    @inlinable package static var neighbours: UInt8 { 255 }

    package var width: Int { grid.width }
    package var height: Int { grid.height }
    let grid: SignedAreaGrid<Ink>
    /// The inks by class, including `neighbours`.
    let inks: UnsafeMutablePointer<Ink>
    private static let inkCount = 256

    /// An empty raster with a width and height of 1…`CoverageRaster.maximumSize` pixels.
    package init(width: Int, height: Int) {
        let sizes = 1...CoverageRaster.maximumSize
        precondition(sizes.contains(width) && sizes.contains(height))
        grid = .allocate(width: width, height: height)
        inks = .allocate(capacity: Self.inkCount)
        inks.initialize(repeating: .zero, count: Self.inkCount)
    }

    deinit {
        grid.deallocate()
        inks.deallocate()
    }

    /// Sets the colours of the classes 1, 2, … for the areas that are added until the raster is drained.
    package func use(colours: [StraightColour]) { use(inks: colours.map { Ink($0) }) }

    private func use(inks: [Ink], from first: Int = 1) {
        self.inks.update(repeating: .zero, count: Self.inkCount)
        for (index, ink) in inks.prefix(254).enumerated() { self.inks[index + first] = ink }
    }

    /// Sets weights in place of colours: each of four classes has weight 1 in a lane of its own, all others have none.
    package func useBareAreas(ofClassesFrom first: Int) {
        use(
            inks: [SIMD4<Int32>(1, 0, 0, 0), SIMD4(0, 1, 0, 0), SIMD4(0, 0, 1, 0), SIMD4(0, 0, 0, 1)].map(
                Ink.init(lanes:)),
            from: first)
    }

    /// Adds an area of one class. Its corners are in subpixels (`CoverageRaster.subpixels`) from the raster's
    /// north-west corner, counter-clockwise on the map (y grows downward), without repeating the first one. Corners may
    /// lie anywhere within ±2³⁸ subpixels; the area is clipped to the raster.
    ///
    /// `beyond` has the class on the other side of each edge, from a corner to the next, so that only one of two
    /// neighbours draws their common edge. It is `nothing` if both draw the edge or there is no neighbour, and
    /// `neighbours` if the other one draws it.
    /// - Complexity: O(pixels crossed by its edges inside the raster)
    package func add(
        _ corners: UnsafeBufferPointer<SIMD2<Int64>>, class inside: UInt8, beyond: UnsafePointer<UInt8>
    ) {
        let count = corners.count
        guard count >= 3 else { return }
        let own = inks[Int(inside)]
        var a = corners[0]
        for index in 0..<count {
            let b = corners[index &+ 1 == count ? 0 : index &+ 1]
            let other = beyond[index]
            if other != inside, other != Self.neighbours { grid.add(from: a, to: b, own &- inks[Int(other)]) }
            a = b
        }
    }

    /// Changes the class of a part of an area that was already added. The part's outline must touch no other outline.
    package func change(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, from old: UInt8, to new: UInt8) {
        guard var a = corners.last else { return }
        let ink = inks[Int(new)] &- inks[Int(old)]
        for b in corners {
            grid.add(from: a, to: b, ink)
            a = b
        }
    }

    /// Writes a run for each pixel whose colour differs from that of the previous pixel in its row; the pixel before
    /// the first counts as empty. It proceeds row by row from the north-west, and leaves the raster empty. There must
    /// be room for width × height + 1 runs.
    func drain(into runs: RunList) {
        precondition(runs.capacity > width * height && runs.rows >= height)
        var count = 0
        for row in 0..<height {
            runs.rowStarts[row] = count
            var sum = PixelColour.start
            var last = PixelColour(bits: 0)
            grid.drain(row: row) { column, added in
                sum &+= added
                let colour = PixelColour(sum)
                runs.runs[count] = Run(column: column, colour: colour)
                // Branches would be mispredicted often, so it adds 1 if the colour differs.
                count &+= Int(truncatingIfNeeded: (UInt64(colour.bits ^ last.bits) &+ 0xFFFF_FFFF) &>> 32)
                last = colour
            }
        }
        runs.rowStarts[height] = count
    }

    /// The four lanes of each pixel in 2¹⁴ times the ink's weight, row-major from the north-west. It leaves the raster
    /// empty.
    package func drainLanes() -> [SIMD4<Int32>] {
        var all = [SIMD4<Int32>](repeating: .zero, count: width * height)
        var added = [Ink](repeating: .zero, count: width)
        for row in 0..<height {
            for column in 0..<width { added[column] = .zero }
            grid.drain(row: row) { column, ink in added[column] = ink }
            var sum = Ink.zero
            for column in 0..<width {
                sum &+= added[column]
                all[row * width + column] = sum.lanes
            }
        }
        return all
    }
}
