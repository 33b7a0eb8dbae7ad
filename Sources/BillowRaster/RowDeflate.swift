/// A zlib stream of rows that are much alike: what a picture of few colours and long runs is.
///
/// It looks for repetitions only where such a picture has them: in the byte before (a run) and in the row above. These are
/// compared eight bytes at a time, so that the time goes by the picture's outlines and not by its area: a fraction of what a
/// general compressor takes, for about the same bytes. (A table of the last four equal bytes saved 1 % more, at best.)
///
/// Source: RFC 1950 (zlib) and RFC 1951 (deflate), one block with dynamic Huffman codes
final class RowDeflate {
    /// Literals below 256; then repetitions of the byte before by their length less three, then those of the row above.
    private var tokens: [UInt16] = []
    private static let run = 256
    private static let above = 512
    private static let tokenKinds = 768
    private static let shortestRun = 3
    /// Three bytes from above cost about as much as they do by themselves.
    private static let shortestAbove = 4
    private static let longest = 258
    /// Rows longer than this are compared with nothing above them.
    private static let farthest = 32_768

    /// How often each kind of token occurs, and what it is written as.
    private var occurrences = [UInt32](repeating: 0, count: tokenKinds)
    private var codes = [BitString](repeating: BitString(bits: 0, count: 0), count: tokenKinds)

    private var literals = HuffmanCode(symbols: 286, longest: 15)
    private var distances = HuffmanCode(symbols: 30, longest: 15)
    private var lengths = HuffmanCode(symbols: 19, longest: 7)

    /// The bytes that read past the end may touch.
    static let slack = 8

    /// How many bytes a stream can have at most.
    static func bound(_ count: Int) -> Int { count * 2 + 1_024 }

    /// Writes the stream of the first `count` of `bytes` (which has `slack` more) and gives its length; the checksum of the
    /// content is left to the caller. `out` has room for `bound(count)`.
    func compress(
        _ bytes: UnsafeBufferPointer<UInt8>, count: Int, rowBytes: Int, checksum: UInt32,
        into out: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let source = bytes.baseAddress, let target = out.baseAddress, count > 0,
            bytes.count >= count + Self.slack, out.count >= Self.bound(count)
        else { return 0 }
        let tokenCount = tokenise(source, count: count, rowBytes: rowBytes)
        countSymbols(distance: rowBytes)
        literals.build()
        distances.build()

        var bits = BitWriter(target)
        bits.write(0x78, 8)  // deflate, 32 kB window
        bits.write(0x01, 8)  // fastest; makes the head a multiple of 31
        bits.write(0b101, 3)  // last block, dynamic codes
        writeCodes(&bits)
        write(tokenCount, distance: rowBytes, &bits)
        bits.flush()
        bits.write(UInt64(checksum.byteSwapped), 32)
        bits.flush()
        return bits.count
    }

    // MARK: - Repetitions

    private func tokenise(_ source: UnsafePointer<UInt8>, count: Int, rowBytes: Int) -> Int {
        if tokens.count < count { tokens = [UInt16](repeating: 0, count: count) }
        return tokens.withUnsafeMutableBufferPointer { tokens in
            occurrences.withUnsafeMutableBufferPointer { occurrences in
                occurrences.update(repeating: 0)
                var written = 0
                var at = 0
                while at < count {
                    let room = min(Self.longest, count &- at)
                    var length = 0
                    var kind = Self.run
                    if at >= rowBytes, rowBytes <= Self.farthest {
                        length = Self.common(source + at, source + (at &- rowBytes), room)
                        kind = Self.above
                    }
                    if at > 0, length < room, source[at] == source[at &- 1] {
                        let run = Self.common(source + at, source + (at &- 1), room)
                        if run >= length {
                            length = run
                            kind = Self.run
                        }
                    }
                    let isMatch = length >= (kind == Self.run ? Self.shortestRun : Self.shortestAbove)
                    let token = isMatch ? kind &+ length &- 3 : Int(source[at])
                    at &+= isMatch ? length : 1
                    tokens[written] = UInt16(truncatingIfNeeded: token)
                    occurrences[token] &+= 1
                    written &+= 1
                }
                return written
            }
        }
    }

    /// From tokens to the symbols of both codes.
    private func countSymbols(distance: Int) {
        literals.clear()
        distances.clear()
        for literal in 0..<Self.run { literals.count(literal, occurrences[literal]) }
        literals.count(256, 1)
        var runs: UInt32 = 0
        var repeats: UInt32 = 0
        for above in 0..<Self.run {
            let (run, row) = (occurrences[Self.run + above], occurrences[Self.above + above])
            if run + row > 0 { literals.count(Self.lengthSymbol(above + 3).symbol, run + row) }
            runs += run
            repeats += row
        }
        distances.count(0, runs)
        if repeats > 0 { distances.count(Self.distanceSymbol(distance).symbol, repeats) }
    }

    /// How many bytes two places have in common, `room` at most.
    @inline(__always)
    private static func common(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ room: Int) -> Int {
        var length = 0
        while length < room {
            let difference =
                UnsafeRawPointer(a + length).loadUnaligned(as: UInt64.self)
                ^ UnsafeRawPointer(b + length).loadUnaligned(as: UInt64.self)
            if difference != 0 { return min(length &+ difference.littleEndian.trailingZeroBitCount &>> 3, room) }
            length &+= 8
        }
        return room
    }

    /// Source: RFC 1951, section 3.2.5
    @inline(__always)
    private static func lengthSymbol(_ length: Int) -> (symbol: Int, extra: UInt64, bits: UInt64) {
        if length == longest { return (285, 0, 0) }
        let above = length &- 3
        if above < 8 { return (257 &+ above, 0, 0) }
        let top = Int.bitWidth &- 1 &- above.leadingZeroBitCount
        let bits = top &- 2
        return (
            257 &+ 4 &* (top &- 1) &+ (above &>> bits) & 3, UInt64(truncatingIfNeeded: above & (1 &<< bits &- 1)),
            UInt64(truncatingIfNeeded: bits)
        )
    }

    /// Source: RFC 1951, section 3.2.5
    @inline(__always)
    private static func distanceSymbol(_ distance: Int) -> (symbol: Int, extra: UInt64, bits: UInt64) {
        let above = distance &- 1
        if above < 4 { return (above, 0, 0) }
        let top = Int.bitWidth &- 1 &- above.leadingZeroBitCount
        let bits = top &- 1
        return (
            2 &* top &+ (above &>> bits) & 1, UInt64(truncatingIfNeeded: above & (1 &<< bits &- 1)),
            UInt64(truncatingIfNeeded: bits)
        )
    }

    // MARK: - Writing

    /// The lengths of both codes, themselves run-length and Huffman coded.
    ///
    /// Source: RFC 1951, section 3.2.7
    private func writeCodes(_ bits: inout BitWriter) {
        let literalCount = max(literals.usedSymbols, 257)
        let distanceCount = max(distances.usedSymbols, 1)
        let all = literals.lengths.prefix(literalCount) + distances.lengths.prefix(distanceCount)
        var items: [(symbol: Int, extra: UInt64, bits: UInt64)] = []
        var next = all.startIndex
        while next < all.endIndex {
            let value = all[next]
            var run = 1
            while next + run < all.endIndex, all[next + run] == value { run += 1 }
            next += run
            if value != 0 {
                items.append((Int(value), 0, 0))
                run -= 1
                while run >= 3 {
                    let part = min(run, 6)
                    items.append((16, UInt64(part - 3), 2))
                    run -= part
                }
            } else {
                while run >= 3 {
                    let part = min(run, 138)
                    items.append(part < 11 ? (17, UInt64(part - 3), 3) : (18, UInt64(part - 11), 7))
                    run -= part
                }
            }
            for _ in 0..<run { items.append((Int(value), 0, 0)) }
        }
        lengths.clear()
        for item in items { lengths.count(item.symbol, 1) }
        lengths.build()
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        let shown = max((order.lastIndex { lengths.lengths[$0] > 0 } ?? 0) + 1, 4)
        bits.write(UInt64(literalCount - 257), 5)
        bits.write(UInt64(distanceCount - 1), 5)
        bits.write(UInt64(shown - 4), 4)
        for symbol in order.prefix(shown) { bits.write(UInt64(lengths.lengths[symbol]), 3) }
        for item in items {
            bits.write(BitString(lengths.codes[item.symbol]).followed(by: item.extra, item.bits))
        }
    }

    /// The tokens by a table of what each comes to: length and distance with their extra bits in one.
    private func write(_ count: Int, distance: Int, _ bits: inout BitWriter) {
        for literal in 0..<Self.run { codes[literal] = BitString(literals.codes[literal]) }
        let near = BitString(distances.codes[0])
        var far = BitString(bits: 0, count: 0)
        if distance <= Self.farthest {
            let symbol = Self.distanceSymbol(distance)
            far = BitString(distances.codes[symbol.symbol]).followed(by: symbol.extra, symbol.bits)
        }
        for above in 0..<Self.run where occurrences[Self.run + above] | occurrences[Self.above + above] > 0 {
            let symbol = Self.lengthSymbol(above + 3)
            let length = BitString(literals.codes[symbol.symbol]).followed(by: symbol.extra, symbol.bits)
            codes[Self.run + above] = length.followed(by: near.bits, near.count)
            codes[Self.above + above] = length.followed(by: far.bits, far.count)
        }
        var writer = bits
        tokens.withUnsafeBufferPointer { tokens in
            codes.withUnsafeBufferPointer { codes in
                for token in tokens[..<count] { writer.write(codes[Int(token)]) }
            }
        }
        writer.write(BitString(literals.codes[256]))
        bits = writer
    }
}

/// Up to 48 bits, the first lowest.
private struct BitString {
    var bits: UInt64
    var count: UInt64

    init(bits: UInt64, count: UInt64) {
        self.bits = bits
        self.count = count
    }

    init(_ code: HuffmanCode.Code) { self.init(bits: UInt64(code.bits), count: UInt64(code.length)) }

    func followed(by next: UInt64, _ nextCount: UInt64) -> BitString {
        BitString(bits: bits | next &<< count, count: count + nextCount)
    }
}

/// Bits from the lowest up, as deflate packs them.
private struct BitWriter {
    private let out: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var word: UInt64 = 0
    private var filled: UInt64 = 0

    init(_ out: UnsafeMutablePointer<UInt8>) { self.out = out }

    /// Whole bytes are stored at once, with what lies above them: seven bytes more may be touched, and fewer than eight bits
    /// remain.
    @inline(__always)
    mutating func write(_ string: BitString) {
        word |= string.bits &<< filled
        UnsafeMutableRawPointer(out + count).storeBytes(of: word.littleEndian, as: UInt64.self)
        filled &+= string.count
        count &+= Int(truncatingIfNeeded: filled &>> 3)
        word &>>= filled & 0x38
        filled &= 7
    }

    /// Up to 48 bits.
    mutating func write(_ value: UInt64, _ bits: UInt64) { write(BitString(bits: value, count: bits)) }

    /// To the next whole byte.
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

/// A canonical Huffman code made from how often each symbol occurs.
private struct HuffmanCode {
    private let longest: Int
    private var counts: [UInt32]
    /// In bits; 0 for a symbol that doesn't occur.
    private(set) var lengths: [UInt8]
    private(set) var codes: [Code]

    struct Code {
        /// Lowest bit first.
        var bits: UInt16
        var length: UInt16
    }

    init(symbols: Int, longest: Int) {
        self.longest = longest
        counts = [UInt32](repeating: 0, count: symbols)
        lengths = [UInt8](repeating: 0, count: symbols)
        codes = [Code](repeating: Code(bits: 0, length: 0), count: symbols)
    }

    var usedSymbols: Int { (lengths.lastIndex { $0 > 0 } ?? -1) + 1 }

    mutating func clear() { for symbol in counts.indices { counts[symbol] = 0 } }

    mutating func count(_ symbol: Int, _ times: UInt32) { counts[symbol] += times }

    /// Lengths and codes from the counts. A code of fewer than two symbols is filled up to two, so that it is complete.
    mutating func build() {
        var symbols = counts.indices.filter { counts[$0] > 0 }
        for filler in 0..<2 where symbols.count < 2 && !symbols.contains(filler) { symbols.append(filler) }
        // Rarest first; the symbol settles ties.
        var order = symbols.map { UInt64(counts[$0]) << 16 | UInt64($0) }
        order.sort()
        for symbol in lengths.indices { lengths[symbol] = 0 }
        // How many codes have each length, from the rarest, which are the longest.
        var next = 0
        for (length, number) in lengthCounts(order.map { $0 >> 16 }).enumerated().reversed() {
            for _ in 0..<number {
                lengths[Int(order[next] & 0xFFFF)] = UInt8(length)
                next += 1
            }
        }
        assignCodes()
    }

    /// The number of codes of each length for frequencies in rising order.
    ///
    /// Source: A. Moffat, J. Katajainen, "In-place calculation of minimum-redundancy codes" (WADS 1995); the limit by
    /// shortening the longest while the Kraft sum is too large
    private func lengthCounts(_ frequencies: [UInt64]) -> [Int] {
        let count = frequencies.count
        var a = frequencies.map { Int($0) }
        var leaf = 0
        var root = 0
        for next in 0..<count - 1 {
            var sum = 0
            for _ in 0..<2 {
                if leaf >= count || root < next && a[root] < a[leaf] {
                    sum += a[root]
                    a[root] = next
                    root += 1
                } else {
                    sum += a[leaf]
                    leaf += 1
                }
            }
            a[next] = sum
        }
        // a[next] is the parent of each inner node; from the root down, its depth.
        var numbers = [Int](repeating: 0, count: max(longest, count) + 1)
        a[count - 2] = 0
        for next in stride(from: count - 3, through: 0, by: -1) { a[next] = a[a[next]] + 1 }
        var available = 1
        var depth = 0
        var inner = count - 2
        while available > 0 {
            var used = 0
            while inner >= 0, a[inner] == depth {
                used += 1
                inner -= 1
            }
            numbers[depth] = available - used
            available = 2 * used
            depth += 1
        }
        // Too long ones are cut, and others made longer for it.
        for length in numbers.indices where length > longest {
            numbers[longest] += numbers[length]
            numbers[length] = 0
        }
        var kraft = (1...longest).reduce(0) { $0 + numbers[$1] << (longest - $1) }
        while kraft > 1 << longest {
            numbers[longest] -= 1
            if let shorter = (1..<longest).last(where: { numbers[$0] > 0 }) {
                numbers[shorter] -= 1
                numbers[shorter + 1] += 2
            }
            kraft -= 1
        }
        return Array(numbers.prefix(longest + 1))
    }

    /// Source: RFC 1951, section 3.2.2
    private mutating func assignCodes() {
        var next = [UInt16](repeating: 0, count: longest + 2)
        var perLength = [UInt16](repeating: 0, count: longest + 1)
        for length in lengths where length > 0 { perLength[Int(length)] += 1 }
        for length in 1...longest { next[length + 1] = (next[length] &+ perLength[length]) &<< 1 }
        for (symbol, length) in lengths.enumerated() where length > 0 {
            var code = next[Int(length)]
            next[Int(length)] &+= 1
            var reversed: UInt16 = 0
            for _ in 0..<length {
                reversed = reversed << 1 | code & 1
                code >>= 1
            }
            codes[symbol] = Code(bits: reversed, length: UInt16(length))
        }
    }
}
