/// A picture of palette indices, as an indexed PNG holds it.
public struct IndexedPicture: Sendable {
    public let width: Int
    public let height: Int
    /// Row-major from the north-west corner, one byte a pixel.
    public var indices: [UInt8]
    /// 1…256 entries; entry 0 is transparent.
    public var palette: [StraightColour]
    /// How finely shares of a pixel were told apart: 255, or 64, 32, … where more than 256 colours would have come out.
    /// Pixels wholly of one class are exact at any value.
    public var shareSteps: Int
}

/// Turns the shares of a drained raster into palette indices.
///
/// The colour of a pixel is the mean of its classes' colours, weighted by area, in premultiplied space; it is computed once
/// for each mixture that occurs. Where a picture has more than 256 colours, shares are told apart more coarsely and the
/// indices already given are translated, so the raster is read only once.
public struct PaletteBuilder {
    /// Premultiplied colour of each class in 0…255, with its alpha.
    private let classColours: [SIMD4<Float>]
    private var mixtures: MixtureTable
    private var palette: [StraightColour]
    /// A mixture that has the colour, to translate by.
    private var representatives: [UInt64]
    private var shareSteps: Int

    /// `classColours`: of up to eight classes.
    public init(classColours: [StraightColour]) {
        self.classColours = classColours.map { colour in
            let alpha = Float(colour.alpha)
            return SIMD4(Float(colour.red), Float(colour.green), Float(colour.blue), 255) * (alpha / 255)
        }
        mixtures = MixtureTable()
        palette = [.clear]
        representatives = [0]
        shareSteps = 255
        mixtures.insert(0, index: 0)
    }

    /// Drains `raster` into a picture.
    public static func picture(from raster: CoverageRaster, classColours: [StraightColour]) -> IndexedPicture {
        var builder = PaletteBuilder(classColours: classColours)
        var indices = [UInt8](repeating: 0, count: raster.width * raster.height)
        indices.withUnsafeMutableBufferPointer { indices in
            var index: UInt8 = 0
            raster.drain { rowStart, column, shares, changed in
                if changed { index = builder.index(of: shares, translating: indices) }
                indices[rowStart + column] = index
            }
        }
        return IndexedPicture(
            width: raster.width, height: raster.height, indices: indices, palette: builder.palette,
            shareSteps: builder.shareSteps)
    }

    private mutating func index(
        of shares: CoverageRaster.Shares, translating indices: UnsafeMutableBufferPointer<UInt8>
    ) -> UInt8 {
        while true {
            let mixture = PaletteBuilder.mixture(of: shares, steps: shareSteps)
            if let known = mixtures.find(mixture) { return known }
            if let new = add(mixture) { return new }
            coarsen(translating: indices)
        }
    }

    /// The shares in steps, one byte a class.
    @inline(__always)
    private static func mixture(of shares: CoverageRaster.Shares, steps: Int) -> UInt64 {
        let wide = SIMD8<UInt32>(truncatingIfNeeded: shares)
        let scaled = (wide &* UInt32(steps) &+ 8_192) &>> 14
        return unsafeBitCast(SIMD8<UInt8>(truncatingIfNeeded: scaled), to: UInt64.self)
    }

    /// Gives a new mixture an index; nil when there is no room for its colour.
    private mutating func add(_ mixture: UInt64) -> UInt8? {
        let colour = colour(of: mixture)
        if let same = palette.firstIndex(of: colour) {
            guard mixtures.insert(mixture, index: UInt8(same)) else { return nil }
            return UInt8(same)
        }
        guard palette.count < 256, mixtures.insert(mixture, index: UInt8(palette.count)) else { return nil }
        palette.append(colour)
        representatives.append(mixture)
        return UInt8(palette.count - 1)
    }

    /// Tells shares apart by half (255 → 64 → 32 → …) and gives every index so far its successor.
    private mutating func coarsen(translating indices: UnsafeMutableBufferPointer<UInt8>) {
        let finer = shareSteps
        let old = representatives
        shareSteps = finer == 255 ? 64 : max(finer / 2, 1)
        precondition(finer > 1, "eight classes unmixed have at most nine colours")
        mixtures = MixtureTable()
        palette = [.clear]
        representatives = [0]
        mixtures.insert(0, index: 0)
        var translation = [UInt8](repeating: 0, count: 256)
        for (index, mixture) in old.enumerated() {
            let coarse = PaletteBuilder.coarsened(mixture, from: finer, to: shareSteps)
            // Fewer mixtures than before, so they fit; were it otherwise, the next coarsening starts from here.
            translation[index] = mixtures.find(coarse) ?? add(coarse) ?? 0
        }
        for at in indices.indices { indices[at] = translation[Int(indices[at])] }
    }

    private static func coarsened(_ mixture: UInt64, from finer: Int, to coarser: Int) -> UInt64 {
        let lanes = unsafeBitCast(mixture, to: SIMD8<UInt8>.self)
        let wide = SIMD8<UInt32>(truncatingIfNeeded: lanes)
        let scaled = (wide &* UInt32(coarser) &+ UInt32(finer / 2)) / UInt32(finer)
        return unsafeBitCast(SIMD8<UInt8>(truncatingIfNeeded: scaled), to: UInt64.self)
    }

    private func colour(of mixture: UInt64) -> StraightColour {
        let lanes = unsafeBitCast(mixture, to: SIMD8<UInt8>.self)
        var total = 0
        for lane in 0..<8 { total += Int(lanes[lane]) }
        // Rounded shares may add up to a step more than a whole pixel.
        let whole = Float(max(total, shareSteps))
        var sum = SIMD4<Float>.zero
        for (lane, colour) in classColours.enumerated() { sum += colour * (Float(lanes[lane]) / whole) }
        let alpha = sum.w.rounded()
        guard alpha > 0 else { return .clear }
        let straight = sum * (255 / sum.w)
        func byte(_ value: Float) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
        return StraightColour(
            red: byte(straight.x), green: byte(straight.y), blue: byte(straight.z), alpha: UInt8(min(alpha, 255)))
    }
}

/// An open-addressing table from mixtures to palette indices.
private struct MixtureTable {
    private static let slots = 2_048
    /// Beyond this the table would get slow; the palette is coarsened instead.
    private static let maximumCount = 1_400
    private var keys = [UInt64](repeating: .max, count: slots)
    private var values = [UInt8](repeating: 0, count: slots)
    private var count = 0

    @inline(__always)
    private static func slot(of key: UInt64) -> Int { Int((key &* 0x9E37_79B9_7F4A_7C15) >> 53) }

    @inline(__always)
    func find(_ key: UInt64) -> UInt8? {
        var slot = Self.slot(of: key)
        while true {
            let found = keys[slot]
            if found == key { return values[slot] }
            if found == .max { return nil }
            slot = (slot + 1) & (Self.slots - 1)
        }
    }

    /// False when there is no more room.
    @discardableResult
    mutating func insert(_ key: UInt64, index: UInt8) -> Bool {
        guard count < Self.maximumCount else { return false }
        var slot = Self.slot(of: key)
        while keys[slot] != .max { slot = (slot + 1) & (Self.slots - 1) }
        keys[slot] = key
        values[slot] = index
        count += 1
        return true
    }
}
