/// Up to 48 bits; the first is the lowest.
struct BitString {
    var bits: UInt64
    var count: UInt64

    init(bits: UInt64, count: UInt64) {
        self.bits = bits
        self.count = count
    }

    init(_ code: HuffmanCode.Code) { self.init(bits: UInt64(code.bits), count: UInt64(code.length)) }

    @inline(__always)
    func followed(by next: UInt64, _ nextCount: UInt64) -> BitString {
        BitString(bits: bits | next &<< count, count: count &+ nextCount)
    }
}

/// Writes bits from the lowest up, as in deflate.
struct BitWriter {
    private let out: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var word: UInt64 = 0
    private var filled: UInt64 = 0

    init(_ out: UnsafeMutablePointer<UInt8>) { self.out = out }

    /// All pending bits are stored as one word, then the whole bytes are counted. So up to seven bytes beyond the end
    /// may be written, and fewer than eight bits stay pending.
    @inline(__always)
    mutating func write(_ string: BitString) {
        word |= string.bits &<< filled
        UnsafeMutableRawPointer(out + count).storeBytes(of: word.littleEndian, as: UInt64.self)
        filled &+= string.count
        count &+= Int(truncatingIfNeeded: filled &>> 3)
        word &>>= filled & 0x38
        filled &= 7
    }

    /// Writes up to 48 bits.
    mutating func write(_ value: UInt64, _ bits: UInt64) { write(BitString(bits: value, count: bits)) }

    /// Pads with zero bits to the next whole byte.
    mutating func flush() {
        while filled > 0 {
            out[count] = UInt8(truncatingIfNeeded: word)
            count += 1
            word >>= 8
            filled = filled > 8 ? filled - 8 : 0
        }
        word = 0
    }
}
