/// A colour as areas are multiplied with it: premultiplied red, green, blue and alpha of 16 bits each, in lanes of 32 bits,
/// two lanes in a word.
///
/// The words are added and multiplied whole. A sum that is negative in one lane borrows from the next, which gets it back
/// by the time that all edges are in: only the last sum is read.
struct Ink: AreaLanes {
    /// Red, and blue above it.
    var redBlue: UInt64
    /// Green, and alpha above it.
    var greenAlpha: UInt64

    /// In 1/256 of an 8-bit channel: at most 65,280.
    init(_ colour: StraightColour) {
        func weight(_ channel: UInt8) -> UInt64 { (UInt64(channel) * UInt64(colour.alpha) * 256 + 127) / 255 }
        redBlue = weight(colour.red) | weight(colour.blue) << 32
        greenAlpha = weight(colour.green) | UInt64(colour.alpha) << 40
    }

    init(redBlue: UInt64, greenAlpha: UInt64) {
        self.redBlue = redBlue
        self.greenAlpha = greenAlpha
    }

    static let zero = Ink(redBlue: 0, greenAlpha: 0)

    @inline(__always)
    var isNothing: Bool { redBlue | greenAlpha == 0 }

    @inline(__always)
    static func &+= (sum: inout Ink, other: Ink) {
        sum.redBlue &+= other.redBlue
        sum.greenAlpha &+= other.greenAlpha
    }

    @inline(__always)
    static func &- (a: Ink, b: Ink) -> Ink {
        Ink(redBlue: a.redBlue &- b.redBlue, greenAlpha: a.greenAlpha &- b.greenAlpha)
    }

    @inline(__always)
    func negated(_ isNegated: Bool) -> Ink {
        // −n is ~n + 1.
        let ones: UInt64 = isNegated ? .max : 0
        return Ink(redBlue: (redBlue ^ ones) &- ones, greenAlpha: (greenAlpha ^ ones) &- ones)
    }

    @inline(__always)
    func times(_ area: Int64) -> Ink {
        let factor = UInt64(bitPattern: area)
        return Ink(redBlue: redBlue &* factor, greenAlpha: greenAlpha &* factor)
    }
}

/// The colour of a pixel: premultiplied red, green, blue and alpha of 8 bits each, from the lowest byte.
struct PixelColour: Hashable {
    var bits: UInt32

    /// Half of an 8-bit channel's unit, in every lane: a sum begins with it, so that cutting off rounds to the nearest.
    static let start = Ink(redBlue: half | half << 32, greenAlpha: half | half << 32)
    private static let half: UInt64 = 1 << (shift - 1)
    /// 14 bits of area and 8 of the ink's fraction.
    private static let shift: UInt64 = 22

    /// Of a sum that began with `start`. Rounding of many edges may leave a lane below nothing or above a whole: cut to them.
    @inline(__always)
    init(_ sum: Ink) {
        let outside: UInt64 = 0xC000_0000_C000_0000
        if (sum.redBlue | sum.greenAlpha) & outside != 0 {
            self.init(clamping: sum)
            return
        }
        let bytes: UInt64 = 0x0000_00FF_0000_00FF
        let pairs = (sum.redBlue &>> Self.shift) & bytes | ((sum.greenAlpha &>> Self.shift) & bytes) &<< 8
        self.init(bits: UInt32(truncatingIfNeeded: pairs | pairs &>> 16))
    }

    @inline(never)
    private init(clamping sum: Ink) {
        func byte(_ word: UInt64, _ lane: UInt64) -> UInt32 {
            let value = Int32(truncatingIfNeeded: word >> (lane * 32))
            return UInt32(min(max(value, 0) >> Int32(Self.shift), 255))
        }
        self.init(
            bits: byte(sum.redBlue, 0) | byte(sum.greenAlpha, 0) << 8 | byte(sum.redBlue, 1) << 16
                | byte(sum.greenAlpha, 1) << 24)
    }

    init(bits: UInt32) { self.bits = bits }

    /// Of a pixel wholly of one colour.
    init(_ colour: StraightColour) {
        var sum = Self.start
        sum &+= Ink(colour).times(1 << SignedAreaGrid<Ink>.areaBits)
        self.init(sum)
    }
}

/// Accumulates the exact colour of every pixel of a picture of areas that don't overlap: the mean of their colours,
/// weighted by area, in premultiplied space.
public final class InkRaster {
    /// One class of area after the other may be drawn; class 0 is nothing at all.
    public static let nothing: UInt8 = 0
    /// In place of the class beyond an edge: the edge belongs to the neighbour, who draws it.
    public static let neighbours: UInt8 = 255

    public var width: Int { grid.width }
    public var height: Int { grid.height }
    let grid: SignedAreaGrid<Ink>
    /// By class, `neighbours` included.
    private(set) var inks = [Ink](repeating: .zero, count: 256)

    /// An empty raster of 1…`CoverageRaster.maximumSize` pixels each way.
    public init(width: Int, height: Int) {
        let sizes = 1...CoverageRaster.maximumSize
        precondition(sizes.contains(width) && sizes.contains(height))
        grid = .allocate(width: width, height: height)
    }

    deinit { grid.deallocate() }

    /// The colours of the classes 1, 2, …, for all that is added until the raster is drained.
    public func use(colours: [StraightColour]) { use(inks: colours.map { Ink($0) }) }

    private func use(inks: [Ink], from first: Int = 1) {
        for index in self.inks.indices { self.inks[index] = .zero }
        for (index, ink) in inks.prefix(254).enumerated() { self.inks[index + first] = ink }
    }

    /// Instead of colours, a weight of one in a lane of its own for each of four classes, and of none for all others.
    package func useBareAreas(ofClassesFrom first: Int) {
        use(
            inks: [
                Ink(redBlue: 1, greenAlpha: 0), Ink(redBlue: 0, greenAlpha: 1), Ink(redBlue: 1 << 32, greenAlpha: 0),
                Ink(redBlue: 0, greenAlpha: 1 << 32),
            ], from: first)
    }

    /// Adds an area of one class: its corners in subpixels (`CoverageRaster.subpixels`) from the raster's north-west corner,
    /// counter-clockwise on the map (y grows downward), not closed. Anywhere within ±2³⁸ subpixels; what lies outside the
    /// raster is cut off.
    ///
    /// `beyond` holds for the edge from each corner to the next the class on its other side, by which two neighbours draw
    /// their common edge once; `nothing` where it is drawn by both or has no neighbour, `neighbours` where the other draws it.
    /// - Complexity: O(pixels crossed by its edges inside the raster)
    public func add(
        _ corners: UnsafeBufferPointer<SIMD2<Int64>>, class inside: UInt8, beyond: UnsafePointer<UInt8>
    ) {
        let count = corners.count
        guard count >= 3 else { return }
        inks.withUnsafeBufferPointer { inks in
            let own = inks[Int(inside)]
            var a = corners[0]
            for index in 0..<count {
                let b = corners[index &+ 1 == count ? 0 : index &+ 1]
                let other = beyond[index]
                if other != inside, other != Self.neighbours { grid.add(from: a, to: b, own &- inks[Int(other)]) }
                a = b
            }
        }
    }

    /// Makes a part of an area of one class, already added, another class: an outline that touches no other.
    public func change(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, from old: UInt8, to new: UInt8) {
        guard var a = corners.last else { return }
        let ink = inks[Int(new)] &- inks[Int(old)]
        for b in corners {
            grid.add(from: a, to: b, ink)
            a = b
        }
    }

    /// Writes down every pixel whose colour differs from that of the one before it in its row (nothing, before the first),
    /// from the north-west row by row, and leaves the raster empty again. There must be room for width × height + 1 runs.
    func drain(into runs: RunList) {
        precondition(runs.capacity > width * height && runs.rows >= height)
        let (columns, colours, rowStarts) = (runs.columns, runs.colours, runs.rowStarts)
        let width = width
        var count = 0
        for row in 0..<height {
            rowStarts[row] = count
            var sum = PixelColour.start
            var last: UInt32 = 0
            grid.drain(row: row) { column, added in
                sum &+= added
                let colour = PixelColour(sum)
                columns[count] = UInt16(truncatingIfNeeded: column)
                colours[count] = colour
                // Which stay is hard to foretell, so without branches: 1 where the colour is another, and inside.
                let isOther = (UInt64(colour.bits ^ last) &+ 0xFFFF_FFFF) &>> 32
                let isInside = UInt64(bitPattern: Int64(column &- width)) &>> 63
                count &+= Int(truncatingIfNeeded: isOther & isInside)
                last = colour.bits
            }
        }
        rowStarts[height] = count
    }

    /// The four lanes of every pixel in 2¹⁴ times an ink's own number, row-major from the north-west; leaves the raster empty
    /// again.
    package func drainLanes() -> [SIMD4<Int32>] {
        var all = [SIMD4<Int32>](repeating: .zero, count: width * height)
        var added = [Ink](repeating: .zero, count: width)
        for row in 0..<height {
            for column in 0..<width { added[column] = .zero }
            grid.drain(row: row) { column, ink in
                if column < width { added[column] = ink }
            }
            var sum = PixelColour.start
            for at in row * width..<(row + 1) * width {
                sum &+= added[at - row * width]
                func lane(_ word: UInt64, _ start: UInt64, _ lane: UInt64) -> Int32 {
                    Int32(truncatingIfNeeded: word >> lane) &- Int32(truncatingIfNeeded: start >> lane)
                }
                all[at] = SIMD4(
                    lane(sum.redBlue, PixelColour.start.redBlue, 0), lane(sum.greenAlpha, PixelColour.start.greenAlpha, 0),
                    lane(sum.redBlue, PixelColour.start.redBlue, 32), lane(sum.greenAlpha, PixelColour.start.greenAlpha, 32))
            }
        }
        return all
    }
}
