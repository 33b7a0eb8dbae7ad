/// A picture of palette indices, as an indexed PNG holds it.
public struct IndexedPicture: Sendable {
    public let width: Int
    public let height: Int
    /// Row-major from the north-west corner, one byte a pixel.
    public var indices: [UInt8]
    /// 1…256 entries; entry 0 is transparent.
    public var palette: [StraightColour]
    /// Into how many steps shares and premultiplied channels were told apart: 255, or 64, 32, … where more than 256 colours
    /// would have come out. Pixels wholly of one class are exact at any value.
    public var shareSteps: Int
}

/// Turns the shares of drained rasters into pictures of at most 256 colours. Keeps its tables from picture to picture, so
/// it serves one at a time.
///
/// The colour of a pixel is the mean of its classes' colours, weighted by area, in premultiplied space. It is computed once
/// for each mixture of shares that occurs; a busy picture's later mixtures are told apart more coarsely. The picture is
/// first written down as runs of mixtures. Where these have more than 256 colours, like colours are made one: their mean,
/// weighted by how often they occur. A colour wholly of one class, and nothing, are kept as they are.
public final class PaletteBuilder {
    /// Premultiplied colour of each class in 0…255, with its alpha.
    private let classColours: [SIMD4<Float>]
    private let mixtures = MixtureTable()
    private var runs: [Run] = []
    /// Where the runs of each row begin, and where the last end.
    private var rowStarts: [Int] = []

    /// From a column on to the next run of the row, or to its end.
    struct Run {
        var column: UInt16
        var mixture: UInt16
    }

    /// `classColours`: of up to eight classes.
    public init(classColours: [StraightColour]) {
        self.classColours = classColours.prefix(CoverageRaster.classes).map { colour in
            let alpha = Float(colour.alpha)
            return SIMD4(Float(colour.red), Float(colour.green), Float(colour.blue), 255) * (alpha / 255)
        }
    }

    /// Drains `raster` into a picture.
    public func picture(from raster: CoverageRaster) -> IndexedPicture {
        collectRuns(raster)
        let reduced = ColourReduction(mixtures.all, classColours: classColours)
        return IndexedPicture(
            width: raster.width, height: raster.height, indices: expand(raster, by: reduced.indices),
            palette: reduced.palette, shareSteps: min(reduced.steps, mixtures.coarsestSteps))
    }

    private func collectRuns(_ raster: CoverageRaster) {
        mixtures.removeAll()
        let most = raster.width * raster.height
        if runs.count < most { runs = [Run](repeating: Run(column: 0, mixture: 0), count: most) }
        rowStarts.removeAll(keepingCapacity: true)
        var starts = rowStarts
        rowStarts = []
        runs.withUnsafeMutableBufferPointer { runs in
            var count = 0
            raster.drain { row, column, shares in
                while starts.count <= row { starts.append(count) }
                let mixture = mixtures.number(of: shares)
                runs[count] = Run(column: UInt16(truncatingIfNeeded: column), mixture: mixture)
                count += 1
            }
            while starts.count <= raster.height { starts.append(count) }
        }
        mixtures.finish()
        rowStarts = starts
    }

    /// The runs as one byte a pixel.
    private func expand(_ raster: CoverageRaster, by palette: [UInt8]) -> [UInt8] {
        let (width, height) = (raster.width, raster.height)
        return [UInt8](unsafeUninitializedCapacity: width * height) { pixels, count in
            guard let base = pixels.baseAddress else { return }
            runs.withUnsafeBufferPointer { runs in
                for row in 0..<height {
                    var at = row &* width
                    let end = at &+ width
                    var index: UInt8 = 0
                    for run in rowStarts[row]..<rowStarts[row + 1] {
                        let next = row &* width &+ Int(runs[run].column)
                        if next &- at <= 8, at &+ 8 <= pixels.count {
                            // What is too much is written over.
                            UnsafeMutableRawPointer(base + at).storeBytes(
                                of: UInt64(index) &* 0x0101_0101_0101_0101, as: UInt64.self)
                        } else {
                            pixels[at..<next].update(repeating: index)
                        }
                        at = next
                        index = palette[Int(runs[run].mixture)]
                    }
                    pixels[at..<end].update(repeating: index)
                }
            }
            count = width * height
        }
    }
}

/// Gives every mixture of shares that occurs in a picture a number. Mixture 0 is nothing at all.
///
/// Shares are told apart in 1/255, and as mixtures become many more coarsely: numbers already given stay.
final class MixtureTable {
    /// A mixture as it occurred.
    struct Seen {
        /// The steps of each class.
        var lanes: Lanes
        /// How often.
        var count: UInt32
        /// How many steps a whole pixel has.
        var steps: UInt16
        /// Where it lies in the table, as long as its level lasts.
        var slot: UInt16
    }

    private struct Slot {
        /// Steps of each class; `empty` where there is none.
        var key: UInt64
        var number: UInt32
        var count: UInt32
    }

    /// A byte for each of the eight classes.
    struct Lanes {
        /// Class 0, 4, 1, 5, 2, 6, 3, 7 from the lowest byte: as two words of 16-bit shares interleave.
        var bits: UInt64

        @inline(__always)
        subscript(lane: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: (lane & 3) &* 16 &+ (lane &>> 2) &* 8))
        }
    }

    /// How shares are told apart until there are so many mixtures.
    private struct Level {
        let steps: UInt16
        let limit: Int
        let slotBits: UInt64
    }

    /// The first limit is what 256 colours can come from: an opacity of 0.8 makes 204 of 255 shares.
    private static let levels = [
        Level(steps: 255, limit: 320, slotBits: 10), Level(steps: 64, limit: 1_536, slotBits: 12),
        Level(steps: 32, limit: 8_192, slotBits: 14), Level(steps: 16, limit: 32_768, slotBits: 16),
        Level(steps: 1, limit: 65_535, slotBits: 16),
    ]
    private static let empty = UInt64.max

    /// How many mixtures have a number.
    private(set) var count = 0
    private let seen: UnsafeMutablePointer<Seen>
    /// By hash of the steps.
    private let slots: UnsafeMutablePointer<Slot>
    private var level = levels[0]
    /// The first mixture of the level.
    private var firstOfLevel = 0

    init() {
        seen = .allocate(capacity: 1 << 16)
        seen.initialize(repeating: Seen(lanes: Lanes(bits: 0), count: 0, steps: 0, slot: 0), count: 1 << 16)
        slots = .allocate(capacity: 1 << 16)
        slots.initialize(repeating: Slot(key: Self.empty, number: 0, count: 0), count: 1 << 16)
    }

    deinit {
        seen.deallocate()
        slots.deallocate()
    }

    /// The fewest steps that any mixture was told apart in.
    var coarsestSteps: Int { Int(level.steps) }

    /// The mixtures by number.
    var all: UnsafeBufferPointer<Seen> { UnsafeBufferPointer(start: seen, count: count) }

    func removeAll() {
        finish()
        seen[0] = Seen(lanes: Lanes(bits: 0), count: 1, steps: 255, slot: 0)
        count = 1
        start(Self.levels[0])
    }

    private func start(_ level: Level) {
        self.level = level
        firstOfLevel = count
    }

    /// Empties the table and notes how often its mixtures occurred; to be called before `all` is read.
    func finish() {
        for number in firstOfLevel..<count {
            let slot = Int(seen[number].slot)
            seen[number].count = slots[slot].count
            slots[slot].key = Self.empty
        }
        firstOfLevel = count
    }

    /// The number of the mixture that some shares make.
    @inline(__always)
    func number(of shares: CoverageRaster.Shares) -> UInt16 {
        let key = Self.steps(shares, level.steps)
        if key == 0 { return 0 }
        let bits = level.slotBits
        let mask = 1 &<< Int(truncatingIfNeeded: bits) &- 1
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> (64 &- bits))
        while true {
            let found = slots + slot
            if found.pointee.key == key {
                found.pointee.count &+= 1
                return UInt16(truncatingIfNeeded: found.pointee.number)
            }
            if found.pointee.key == Self.empty { return add(key, shares, slot: slot) }
            slot = (slot &+ 1) & mask
        }
    }

    @inline(never)
    private func add(_ key: UInt64, _ shares: CoverageRaster.Shares, slot: Int) -> UInt16 {
        if count >= level.limit, let next = Self.levels.first(where: { $0.steps < level.steps }) {
            finish()
            start(next)
            return number(of: shares)
        }
        // The last level has 256 mixtures at most, so numbers never run out.
        let number = UInt16(truncatingIfNeeded: count)
        seen[count] = Seen(
            lanes: Lanes(bits: key), count: 1, steps: level.steps, slot: UInt16(truncatingIfNeeded: slot))
        slots[slot] = Slot(key: key, number: UInt32(number), count: 1)
        count += 1
        return number
    }

    /// Every share in steps, rounded. A share may be some units below nothing or above a whole, by rounding of edges.
    @inline(__always)
    private static func steps(_ shares: CoverageRaster.Shares, _ steps: UInt16) -> UInt64 {
        let stepped: CoverageRaster.Shares
        switch steps {
        case 255:
            // u × 255 / 256 / 64
            let u = shares &+ 32
            stepped = (u &- (u &>> 8)) &>> 6
        case 64: stepped = (shares &+ 128) &>> 8
        case 32: stepped = (shares &+ 256) &>> 9
        case 16: stepped = (shares &+ 512) &>> 10
        default: stepped = (shares &+ 8_192) &>> 14
        }
        let words = unsafeBitCast(stepped, to: SIMD2<UInt64>.self)
        let bytes: UInt64 = 0x00FF_00FF_00FF_00FF
        return words.x & bytes | (words.y & bytes) &<< 8
    }
}

/// The palette of a picture's mixtures: exact where they have at most 256 colours, else like colours made one.
private struct ColourReduction {
    private(set) var palette: [StraightColour] = []
    /// The palette index of every mixture.
    private(set) var indices: [UInt8] = []
    /// Into how many steps each channel was told apart.
    private(set) var steps = 255

    init(_ mixtures: UnsafeBufferPointer<MixtureTable.Seen>, classColours: [SIMD4<Float>]) {
        var colours: [SIMD4<Float>] = []
        var isPure: [Bool] = []
        colours.reserveCapacity(mixtures.count)
        isPure.reserveCapacity(mixtures.count)
        classColours.withUnsafeBufferPointer { classColours in
            for mixture in mixtures {
                let mean = Self.mean(mixture, classColours)
                colours.append(mean.colour)
                isPure.append(mean.isPure)
            }
        }
        let bits = colours.map(Self.packed)
        var shift: UInt32 = 0
        while !group(mixtures, colours, bits, isPure, shift: shift) { shift += 1 }
        steps = shift == 0 ? 255 : 256 >> Int(shift)
    }

    /// Makes one of the colours that are alike but for the lowest `shift` bits of their channels; false when more than 256
    /// remain.
    private mutating func group(
        _ mixtures: UnsafeBufferPointer<MixtureTable.Seen>, _ colours: [SIMD4<Float>], _ bits: [UInt32],
        _ isPure: [Bool],
        shift: UInt32
    ) -> Bool {
        var table = ColourTable()
        var groups: [UInt8] = []
        groups.reserveCapacity(colours.count)
        var sums: [SIMD4<Float>] = []
        var weights: [Float] = []
        let kept: UInt32 = 0x0101_0101 * ((0xFF >> shift) << shift)
        for (number, colour) in colours.enumerated() {
            let key: UInt64
            if shift == 0 || isPure[number] {
                key = UInt64(Self.straight(colour).bits) | (isPure[number] ? 1 << 32 : 0)
            } else {
                key = UInt64(bits[number] & kept) | 1 << 33
            }
            guard let group = table.number(of: key) else { return false }
            if group == sums.count {
                sums.append(.zero)
                weights.append(0)
            }
            let weight = Float(mixtures[number].count)
            sums[group] += colour * weight
            weights[group] += weight
            groups.append(UInt8(group))
        }
        // Means of different groups may come out as one colour.
        var entries = ColourTable()
        palette.removeAll()
        let translation = zip(sums, weights).map { sum, weight in
            let colour = Self.straight(sum / weight)
            let entry = entries.number(of: UInt64(colour.bits)) ?? 0
            if entry == palette.count { palette.append(colour) }
            return UInt8(entry)
        }
        indices = groups.map { translation[Int($0)] }
        return true
    }

    /// The mean of the classes' colours, premultiplied, and whether it is wholly of one, or of none.
    @inline(__always)
    private static func mean(_ mixture: MixtureTable.Seen, _ classColours: UnsafeBufferPointer<SIMD4<Float>>) -> (
        colour: SIMD4<Float>, isPure: Bool
    ) {
        var total: UInt16 = 0
        var largest: UInt16 = 0
        var sum = SIMD4<Float>.zero
        var lane = 0
        while lane < classColours.count {
            let share = UInt16(mixture.lanes[lane])
            if share > 0 {
                total &+= share
                largest = max(largest, share)
                sum += classColours[lane] * Float(share)
            }
            lane &+= 1
        }
        // Rounded shares may add up to a step more than a whole pixel.
        return (sum * (1 / Float(max(total, mixture.steps))), total == 0 || largest == mixture.steps)
    }

    private static func straight(_ colour: SIMD4<Float>) -> StraightColour {
        let alpha = byte(colour.w)
        guard alpha > 0 else { return .clear }
        let straight = colour * (255 / colour.w)
        return StraightColour(red: byte(straight.x), green: byte(straight.y), blue: byte(straight.z), alpha: alpha)
    }

    /// Its four channels in 8 bits each.
    private static func packed(_ colour: SIMD4<Float>) -> UInt32 {
        UInt32(byte(colour.x)) << 24 | UInt32(byte(colour.y)) << 16 | UInt32(byte(colour.z)) << 8
            | UInt32(byte(colour.w))
    }

    /// To the nearest of 0…255, halves up.
    @inline(__always)
    private static func byte(_ value: Float) -> UInt8 {
        UInt8(truncatingIfNeeded: Int32(min(max(value + 0.5, 0), 255)))
    }
}

/// Numbers up to 256 keys in the order in which they come.
private struct ColourTable {
    private var keys = [UInt64](repeating: .max, count: 1_024)
    private var numbers = [UInt16](repeating: 0, count: 1_024)
    private var count = 0

    /// nil for the 257th key.
    mutating func number(of key: UInt64) -> Int? {
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> 54)
        while keys[slot] != key {
            if keys[slot] == .max {
                guard count < 256 else { return nil }
                keys[slot] = key
                numbers[slot] = UInt16(count)
                count += 1
                break
            }
            slot = (slot + 1) & 1_023
        }
        return Int(numbers[slot])
    }
}

extension StraightColour {
    fileprivate var bits: UInt32 { UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha) }
}
