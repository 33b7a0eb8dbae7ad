/// Encodes or decodes bits, with the same calling code for both. An encoder returns the given bit, a decoder the
/// decoded one.
protocol BitCoder {
    /// The statistic of the bits of one context.
    associatedtype Statistic: BitwiseCopyable

    mutating func code(_ bit: Bool, _ statistic: inout Statistic) -> Bool

    /// Codes the lowest bits of a number, from the highest down, with equal probabilities.
    mutating func code(plain value: Int, bits: Int) -> Int
}

/// An adaptive binary range coder: the cost of each bit depends on its probability, which adapts.
///
/// A probability has 12 bits and moves by 1/16 of the distance to each coded bit.
///
/// Source: G. Martin, "Range encoding: an algorithm for removing redundancy from a digitised message" (1979); carries
/// as in the LZMA specification of the LZMA SDK (https://7-zip.org/sdk.html), section "Range decoder"
struct RangeEncoder: BitCoder {
    private var low: UInt64 = 0
    private var range: UInt32 = .max
    private var held: UInt8 = 0
    /// As in LZMA, the code begins with a byte 0, which no carry reaches.
    private var heldCount = 1
    private(set) var bytes: [UInt8]

    /// - Parameter bytes: the bytes to which the code is appended.
    init(after bytes: [UInt8]) { self.bytes = bytes }

    @inline(__always)
    mutating func code(_ bit: Bool, _ probability: inout BitProbability) -> Bool {
        let bound = (range >> BitProbability.bits) &* UInt32(probability.ofZero)
        if bit {
            low &+= UInt64(bound)
            range &-= bound
        } else {
            range = bound
        }
        probability.learn(bit)
        while range < 1 << 24 {
            range <<= 8
            shift()
        }
        return bit
    }

    mutating func code(plain value: Int, bits: Int) -> Int {
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            range >>= 1
            if value >> bit & 1 == 1 { low &+= UInt64(range) }
            while range < 1 << 24 {
                range <<= 8
                shift()
            }
        }
        return value
    }

    /// Writes the pending bytes.
    mutating func finish() -> [UInt8] {
        for _ in 0..<5 { shift() }
        return bytes
    }

    private mutating func shift() {
        if low < 0xFF00_0000 || low > 0xFFFF_FFFF {
            let carry = UInt8(truncatingIfNeeded: low >> 32)
            bytes.append(held &+ carry)
            for _ in 1..<heldCount { bytes.append(0xFF &+ carry) }
            held = UInt8(truncatingIfNeeded: low >> 24)
            heldCount = 0
        }
        heldCount += 1
        low = low << 8 & 0xFFFF_FFFF
    }
}

/// Counts the bits of each context without writing anything.
struct BitTally: BitCoder {
    mutating func code(_ bit: Bool, _ count: inout BitCount) -> Bool {
        if bit { count.ones &+= 1 } else { count.zeros &+= 1 }
        return bit
    }

    mutating func code(plain value: Int, bits: Int) -> Int { value }
}

/// The numbers of zeros and ones.
struct BitCount {
    fileprivate(set) var zeros: UInt32 = 0
    fileprivate(set) var ones: UInt32 = 0

    /// The share of zeros in 256ths; `BitProbability.even` if there was no bit.
    var share: UInt8 {
        UInt8(min((UInt64(zeros) * 256 + 128) / (UInt64(zeros) + UInt64(ones) + 1), 255))
    }
}

/// The probability that the next bit is zero.
struct BitProbability {
    static let bits: UInt32 = 12
    private static let rate: UInt16 = 4
    fileprivate private(set) var ofZero: UInt16

    /// The share of zeros without any statistic.
    static let even: UInt8 = 128

    /// - Parameter share: the share of zeros in 256ths; the probability is in the middle of the interval it represents.
    init(share: UInt8) { ofZero = UInt16(share) << 4 | (share == Self.even ? 0 : 8) }

    @inline(__always)
    fileprivate mutating func learn(_ bit: Bool) {
        if bit {
            ofZero &-= ofZero >> Self.rate
        } else {
            ofZero &+= (1 << 12 &- ofZero) >> Self.rate
        }
    }
}

/// Decodes the output of a `RangeEncoder`. After the end of the bytes it reads zeros. A caller that verifies a checksum
/// of the result needs no other check.
struct RangeDecoder: BitCoder {
    private let bytes: UnsafeRawBufferPointer
    private var next: Int
    private var range: UInt32 = .max
    private var code: UInt32 = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        next = 0
        for _ in 0..<5 { code = code << 8 | read() }
    }

    @inline(__always)
    mutating func code(_: Bool, _ probability: inout BitProbability) -> Bool {
        let bound = (range >> BitProbability.bits) &* UInt32(probability.ofZero)
        let bit = code >= bound
        if bit {
            code &-= bound
            range &-= bound
        } else {
            range = bound
        }
        probability.learn(bit)
        while range < 1 << 24 {
            range <<= 8
            code = code << 8 | read()
        }
        return bit
    }

    @inline(__always)
    mutating func code(plain _: Int, bits: Int) -> Int {
        var value = 0
        for _ in 0..<bits {
            range >>= 1
            let bit = code >= range
            if bit { code &-= range }
            value = value << 1 | (bit ? 1 : 0)
            while range < 1 << 24 {
                range <<= 8
                code = code << 8 | read()
            }
        }
        return value
    }

    @inline(__always)
    private mutating func read() -> UInt32 {
        guard next < bytes.count else { return 0 }
        defer { next &+= 1 }
        return UInt32(bytes[next])
    }
}
