import CVector

/// A colour as areas are multiplied with it, or a sum of such products: premultiplied red, green, blue and alpha.
///
/// A colour's weights, a difference of two, and an area all fit 16 bits with their sign. So a product of four lanes is
/// one instruction of every 64-bit processor (`areas`).
struct Ink: AreaLanes {
    var lanes: SIMD4<Int32>

    /// In 1/128 of an 8-bit channel: at most 32,640.
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

    /// In each lane the lower half times the lower area plus the upper half times the upper area, all with their signs.
    @inline(__always)
    static func sum(_ lanes: SIMD4<Int32>, areas: UInt32) -> Ink { Ink(lanes: billow_multiply_pairs(lanes, areas)) }

    /// Two inks for `sum`, a half each.
    static func pair(lower: Ink, upper: Ink) -> SIMD4<Int32> {
        lower.lanes & SIMD4(repeating: 0xFFFF) | upper.lanes &<< SIMD4(repeating: 16)
    }
}

/// The colour of a pixel: premultiplied red, green, blue and alpha of 8 bits each, from the lowest byte.
struct PixelColour: Hashable {
    var bits: UInt32

    /// Half of an 8-bit channel's unit: a sum begins with it, so that cutting off rounds to the nearest.
    static var start: Ink { Ink(lanes: SIMD4(repeating: 1 << (shift - 1))) }
    /// 14 bits of area and 7 of the ink's fraction.
    private static var shift: Int32 { 21 }

    init(bits: UInt32) { self.bits = bits }

    /// Of a sum that began with `start`. Rounding of many edges may leave a lane below nothing or above a whole: cut
    /// to them.
    @inline(__always)
    init(_ sum: Ink) { self.init(bits: billow_clamped_bytes(sum.lanes &>> Self.shift)) }

    /// Of a pixel wholly of one colour.
    init(_ colour: StraightColour) {
        var sum = Self.start
        sum &+= Ink(colour).times(1 << SignedAreaGrid<Ink>.areaBits)
        self.init(sum)
    }
}

/// Accumulates the exact colour of every pixel of a picture of areas that don't overlap. It is the mean of their
/// colours, weighted by area, in premultiplied space.
@usableFromInline package final class InkRaster {
    /// One class of area after the other may be drawn; class 0 is nothing at all.
    @inlinable package static var nothing: UInt8 { 0 }
    /// In place of the class beyond an edge: the edge belongs to the neighbour, who draws it.
    @inlinable package static var neighbours: UInt8 { 255 }

    package var width: Int { grid.width }
    package var height: Int { grid.height }
    let grid: SignedAreaGrid<Ink>
    /// By class, `neighbours` included.
    let inks: UnsafeMutablePointer<Ink>
    private static let inkCount = 256

    /// An empty raster of 1…`CoverageRaster.maximumSize` pixels each way.
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

    /// The colours of the classes 1, 2, …, for all that is added until the raster is drained.
    package func use(colours: [StraightColour]) { use(inks: colours.map { Ink($0) }) }

    private func use(inks: [Ink], from first: Int = 1) {
        self.inks.update(repeating: .zero, count: Self.inkCount)
        for (index, ink) in inks.prefix(254).enumerated() { self.inks[index + first] = ink }
    }

    /// Instead of colours, a weight of one in a lane of its own for each of four classes, and of none for all others.
    package func useBareAreas(ofClassesFrom first: Int) {
        use(
            inks: [SIMD4<Int32>(1, 0, 0, 0), SIMD4(0, 1, 0, 0), SIMD4(0, 0, 1, 0), SIMD4(0, 0, 0, 1)].map(
                Ink.init(lanes:)),
            from: first)
    }

    /// Adds an area of one class: its corners in subpixels (`CoverageRaster.subpixels`) from the raster's north-west
    /// corner, counter-clockwise on the map (y grows downward), not closed. Anywhere within ±2³⁸ subpixels; what lies
    /// outside the raster is cut off.
    ///
    /// `beyond` holds the class on the other side of each edge, from a corner to the next. By it only one of two
    /// neighbours draws their common edge. It is `nothing` where both draw it or there is no neighbour, and
    /// `neighbours` where the other draws it.
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

    /// Makes a part of an area of one class, already added, another class: an outline that touches no other.
    package func change(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, from old: UInt8, to new: UInt8) {
        guard var a = corners.last else { return }
        let ink = inks[Int(new)] &- inks[Int(old)]
        for b in corners {
            grid.add(from: a, to: b, ink)
            a = b
        }
    }

    /// Writes down every pixel whose colour differs from that of the one before it in its row (nothing, before the
    /// first). Goes from the north-west row by row, and leaves the raster empty again. There must be room for width ×
    /// height + 1 runs.
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
                // Which stay is hard to foretell, so without branches: 1 where the colour is another.
                count &+= Int(truncatingIfNeeded: (UInt64(colour.bits ^ last.bits) &+ 0xFFFF_FFFF) &>> 32)
                last = colour
            }
        }
        runs.rowStarts[height] = count
    }

    /// The four lanes of every pixel in 2¹⁴ times an ink's own number, row-major from the north-west; leaves the
    /// raster empty again.
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
