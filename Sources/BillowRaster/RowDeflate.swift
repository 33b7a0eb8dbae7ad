import CVector

/// Compresses rows that are much alike to a zlib stream, as in pictures of few colours and long runs.
///
/// It searches for repetitions only where such pictures have them: in the byte before (a run) and in the row above.
/// Equal bytes are first recorded as bits. After that, the time depends on the repetitions and the bytes between them,
/// and not on the area. A table of the last four equal bytes saved at most 1 % more.
///
/// Source: RFC 1950 (zlib) and RFC 1951 (deflate), one block with dynamic Huffman codes
final class RowDeflate {
    /// Bit sets with one bit for each byte, and two more words than needed, which are 0. In `alike`, the byte equals
    /// the one in the row above; in `same`, it equals the byte before. In `begins`, a worthwhile repetition begins at
    /// it.
    private var alike = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    private var same = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    private var begins = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    /// Tokens below 256 are literals. Then come repetitions of the byte before, by length minus three, then those of
    /// the row above.
    private var tokens = UnsafeMutablePointer<UInt16>.allocate(capacity: 0)
    /// The number of bytes for which memory is allocated.
    private var capacity = 0
    private static let run = 256
    private static let above = 512
    private static let tokenKinds = 768
    private static let longest = 258
    /// Longer rows aren't compared with the row above: deflate's window is too small.
    private static let farthest = 32_768

    /// The count of each kind of token, and its code.
    private let occurrences = UnsafeMutablePointer<UInt32>.allocate(capacity: tokenKinds)
    private let codes = UnsafeMutablePointer<BitString>.allocate(capacity: tokenKinds)

    private let literals = HuffmanCode(symbols: 286, longest: 15)
    private let distances = HuffmanCode(symbols: 30, longest: 15)
    private let lengths = HuffmanCode(symbols: 19, longest: 7)

    init() { codes.initialize(repeating: BitString(bits: 0, count: 0), count: Self.tokenKinds) }

    deinit {
        releaseBuffers()
        occurrences.deallocate()
        codes.deallocate()
    }

    private func releaseBuffers() {
        alike.deallocate()
        same.deallocate()
        begins.deallocate()
        tokens.deallocate()
    }

    private func reserve(_ count: Int) {
        if count <= capacity { return }
        releaseBuffers()
        let words = (count + 63) / 64 + 2
        alike = .allocate(capacity: words)
        same = .allocate(capacity: words)
        begins = .allocate(capacity: words)
        // Literals are copied eight at a time.
        tokens = .allocate(capacity: count + 8)
        capacity = count
    }

    /// The number of bytes after the end that reads may touch.
    static let slack = 64

    /// The maximum length of a stream.
    static func bound(_ count: Int) -> Int { count * 2 + 1_024 }

    /// Compresses the first `count` bytes of `bytes` (which has `slack` more), and returns the stream's length. The
    /// caller computes the checksum of the content. `out` has room for `bound(count)`.
    func compress(
        _ bytes: UnsafeBufferPointer<UInt8>, count: Int, rowBytes: Int, checksum: UInt32,
        into out: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let source = bytes.baseAddress, let target = out.baseAddress, count > 0,
            bytes.count >= count + Self.slack, out.count >= Self.bound(count)
        else { return 0 }
        reserve(count)
        compare(source, count: count, rowBytes: rowBytes)
        let tokenCount = tokenise(source, count: count)
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

    /// Fills `alike`, `same` and `begins`.
    private func compare(_ source: UnsafePointer<UInt8>, count: Int, rowBytes: Int) {
        let words = (count + 63) / 64
        let (alike, same, begins) = (alike, same, begins)
        for word in words..<words + 2 { (alike[word], same[word], begins[word]) = (0, 0, 0) }
        let hasAbove = rowBytes <= Self.farthest
        // The words before `firstFull` have bytes without a row above.
        let firstFull = hasAbove ? min((rowBytes + 63) / 64, words) : words
        for word in 0..<firstFull { alike[word] = 0 }
        for word in firstFull..<words {
            let at = source + word &* 64
            alike[word] = billow_equal_bytes(at, at - rowBytes)
        }
        if hasAbove {
            for at in rowBytes..<max(min(firstFull * 64, count), rowBytes) where source[at] == source[at - rowBytes] {
                alike[at >> 6] |= 1 << UInt64(at & 63)
            }
        }
        // The first byte has no byte before it.
        same[0] = billow_equal_bytes(source + 1, source) << 1
        for word in 1..<max(words, 1) {
            let at = source + word &* 64
            same[word] = billow_equal_bytes(at, at - 1)
        }
        let rest = UInt64.max >> UInt64(words * 64 - count)
        alike[words - 1] &= rest
        same[words - 1] &= rest
        for word in 0..<words {
            // A repetition of three bytes from the row above costs about as much as three literals. A run of three
            // costs less.
            let four =
                alike[word] & Self.later(alike, word, 1) & Self.later(alike, word, 2) & Self.later(alike, word, 3)
            begins[word] = four | same[word] & Self.later(same, word, 1) & Self.later(same, word, 2)
        }
    }

    /// The bits `distance` (1…63) after those of a word.
    @inline(__always)
    private static func later(_ bits: UnsafePointer<UInt64>, _ word: Int, _ distance: UInt64) -> UInt64 {
        bits[word] &>> distance | bits[word &+ 1] &<< (64 &- distance)
    }

    /// Converts bits to tokens and counts each kind. Returns the number of tokens.
    private func tokenise(_ source: UnsafePointer<UInt8>, count: Int) -> Int {
        let written = writeTokens(source, count: count)
        let (tokens, occurrences) = (tokens, occurrences)
        occurrences.update(repeating: 0, count: Self.tokenKinds)
        for token in 0..<written { occurrences[Int(tokens[token])] &+= 1 }
        return written
    }

    private func writeTokens(_ source: UnsafePointer<UInt8>, count: Int) -> Int {
        let (alike, same, begins, out) = (alike, same, begins, tokens)
        var written = 0
        var at = 0
        while true {
            // Usually one word of bits contains the whole repetition.
            let next: Int
            var above: Int
            var run: Int
            let wait = Self.window(begins, at).trailingZeroBitCount
            above = (~(Self.window(alike, at) &>> UInt64(truncatingIfNeeded: wait))).trailingZeroBitCount
            run = (~(Self.window(same, at) &>> UInt64(truncatingIfNeeded: wait))).trailingZeroBitCount
            if wait &+ max(above, run) < Self.seen {
                next = at &+ wait
            } else {
                next = min(Self.first(begins, at, before: count), count)
                above = Self.ones(alike, next)
                run = Self.ones(same, next)
            }
            let left = next &- at
            var copied = 0
            repeat {
                let eight = UnsafeRawPointer(source + at + copied).loadUnaligned(as: SIMD8<UInt8>.self)
                UnsafeMutableRawPointer(out + written + copied).storeBytes(
                    of: SIMD8<UInt16>(truncatingIfNeeded: eight), as: SIMD8<UInt16>.self)
                copied &+= 8
            } while copied < left
            written &+= left
            if next >= count { return written }
            let length = max(above, run)
            out[written] = UInt16(truncatingIfNeeded: (run >= above ? Self.run : Self.above) &+ length &- 3)
            written &+= 1
            at = next &+ length
            if at >= count { return written }
        }
    }

    /// The bits from `first` on: at least `seen` of them, and zeros after those.
    ///
    /// The words are little-endian, so consecutive bytes have consecutive bits.
    @inline(__always)
    private static func window(_ bits: UnsafePointer<UInt64>, _ first: Int) -> UInt64 {
        (UnsafeRawPointer(bits) + first &>> 3).loadUnaligned(as: UInt64.self)
            &>> UInt64(truncatingIfNeeded: first & 7)
    }
    private static var seen: Int { 57 }

    /// The first set bit from `first` on; any position at or after `end` if there is none.
    private static func first(_ bits: UnsafePointer<UInt64>, _ first: Int, before end: Int) -> Int {
        var at = first
        while at < end {
            let window = window(bits, at)
            if window != 0 { return at &+ window.trailingZeroBitCount }
            at &+= seen
        }
        return end
    }

    /// The number of consecutive set bits from `first` on, at most `longest`.
    @inline(__always)
    private static func ones(_ bits: UnsafePointer<UInt64>, _ first: Int) -> Int {
        var at = first
        while true {
            let count = (~window(bits, at)).trailingZeroBitCount
            at &+= count
            // With `seen` set bits, there may be more after the window.
            if count < seen || at &- first >= longest { return min(at &- first, longest) }
        }
    }

    /// Counts the symbols of both codes in the tokens.
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

    /// Writes the lengths of both codes, which are themselves run-length and Huffman coded.
    ///
    /// Source: RFC 1951, section 3.2.7
    private func writeCodes(_ bits: inout BitWriter) {
        let literalCount = max(literals.usedSymbols, 257)
        let distanceCount = max(distances.usedSymbols, 1)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: literalCount + distanceCount) { all in
            withUnsafeTemporaryAllocation(of: LengthItem.self, capacity: literalCount + distanceCount) { items in
                for symbol in 0..<literalCount { all[symbol] = literals.lengths[symbol] }
                for symbol in 0..<distanceCount { all[literalCount + symbol] = distances.lengths[symbol] }
                let items = UnsafeBufferPointer(rebasing: items[..<Self.packLengths(UnsafeBufferPointer(all), items)])
                lengths.clear()
                for item in items { lengths.count(Int(item.symbol), 1) }
                lengths.build()
                let order = Self.lengthOrder
                let shown = max((order.lastIndex { lengths.lengths[$0] > 0 } ?? 0) + 1, 4)
                bits.write(UInt64(literalCount - 257), 5)
                bits.write(UInt64(distanceCount - 1), 5)
                bits.write(UInt64(shown - 4), 4)
                for symbol in order.prefix(shown) { bits.write(UInt64(lengths.lengths[symbol]), 3) }
                for item in items {
                    bits.write(
                        BitString(lengths.codes[Int(item.symbol)]).followed(by: UInt64(item.extra), UInt64(item.bits)))
                }
            }
        }
    }

    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// A code's length, or a repetition of lengths.
    private struct LengthItem {
        var symbol: UInt8
        var extra: UInt8 = 0
        var bits: UInt8 = 0
    }

    /// Packs lengths into items, and returns their number.
    private static func packLengths(_ all: UnsafeBufferPointer<UInt8>, _ items: UnsafeMutableBufferPointer<LengthItem>)
        -> Int
    {
        var count = 0
        func append(_ item: LengthItem) {
            items[count] = item
            count &+= 1
        }
        var next = 0
        while next < all.count {
            let value = all[next]
            var run = 1
            while next &+ run < all.count, all[next &+ run] == value { run &+= 1 }
            next &+= run
            if value != 0 {
                append(LengthItem(symbol: value))
                run &-= 1
            }
            let longest = value != 0 ? 6 : 138
            while run >= 3 {
                let part = min(run, longest)
                if value != 0 {
                    append(LengthItem(symbol: 16, extra: UInt8(part - 3), bits: 2))
                } else if part < 11 {
                    append(LengthItem(symbol: 17, extra: UInt8(part - 3), bits: 3))
                } else {
                    append(LengthItem(symbol: 18, extra: UInt8(part - 11), bits: 7))
                }
                run &-= part
            }
            for _ in 0..<run { append(LengthItem(symbol: value)) }
        }
        return count
    }

    /// Writes the tokens by a table with the bits of each: length and distance with their extra bits.
    private func write(_ count: Int, distance: Int, _ bits: inout BitWriter) {
        let (tokens, codes, occurrences) = (tokens, codes, occurrences)
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
        for token in 0..<count { writer.write(codes[Int(tokens[token])]) }
        writer.write(BitString(literals.codes[256]))
        bits = writer
    }
}
