/// A canonical Huffman code made from the frequencies of symbols.
final class HuffmanCode {
    private let symbols: Int
    private let longest: Int
    private let counts: UnsafeMutablePointer<UInt32>
    /// The length in bits of each symbol's code; 0 for a symbol that doesn't occur.
    let lengths: UnsafeMutablePointer<UInt8>
    let codes: UnsafeMutablePointer<Code>
    /// The symbols that occur, the rarest first: the count, with the symbol in the lowest 16 bits. `sorted` is scratch
    /// memory for sorting.
    private let order: UnsafeMutablePointer<UInt64>
    private let sorted: UnsafeMutablePointer<UInt64>
    private var used = 0
    /// The nodes of the tree during construction, and the number of codes of each length.
    private let nodes: UnsafeMutablePointer<Int>
    private let numbers: UnsafeMutablePointer<Int>

    struct Code {
        /// The code's bits, the first in the lowest place.
        var bits: UInt16
        var length: UInt16
    }

    init(symbols: Int, longest: Int) {
        self.symbols = symbols
        self.longest = longest
        counts = .allocate(capacity: symbols)
        counts.initialize(repeating: 0, count: symbols)
        lengths = .allocate(capacity: symbols)
        lengths.initialize(repeating: 0, count: symbols)
        codes = .allocate(capacity: symbols)
        codes.initialize(repeating: Code(bits: 0, length: 0), count: symbols)
        order = .allocate(capacity: symbols)
        order.initialize(repeating: 0, count: symbols)
        sorted = .allocate(capacity: symbols)
        sorted.initialize(repeating: 0, count: symbols)
        nodes = .allocate(capacity: symbols)
        nodes.initialize(repeating: 0, count: symbols)
        numbers = .allocate(capacity: symbols + 1)
        numbers.initialize(repeating: 0, count: symbols + 1)
    }

    deinit {
        order.deallocate()
        sorted.deallocate()
        nodes.deallocate()
        numbers.deallocate()
        counts.deallocate()
        lengths.deallocate()
        codes.deallocate()
    }

    var usedSymbols: Int { ((0..<symbols).last { lengths[$0] > 0 } ?? -1) + 1 }

    func clear() { counts.update(repeating: 0, count: symbols) }

    func count(_ symbol: Int, _ times: UInt32) { counts[symbol] += times }

    /// Computes lengths and codes from the counts. If fewer than two symbols occur, others are added, so that the code
    /// is complete.
    func build() {
        sortSymbols()
        lengths.update(repeating: 0, count: symbols)
        countLengths()
        // Assign lengths from the rarest symbols, which have the longest codes.
        var next = 0
        for length in stride(from: longest, to: 0, by: -1) {
            for _ in 0..<numbers[length] {
                lengths[Int(order[next] & 0xFFFF)] = UInt8(truncatingIfNeeded: length)
                next += 1
            }
        }
        assignCodes()
    }

    /// Sorts symbols by count, the rarest first; ties are in the order of symbols. It is a radix sort by the bytes of
    /// the counts.
    private func sortSymbols() {
        let (order, sorted, counts) = (order, sorted, counts)
        var used = 0
        // A code needs two symbols. Added ones have the count 0, so they come first.
        let occurring = (0..<symbols).reduce(0) { $0 &+ (counts[$1] > 0 ? 1 : 0) }
        for filler in 0..<2 where occurring &+ used < 2 && counts[filler] == 0 {
            order[used] = UInt64(filler)
            used &+= 1
        }
        var all: UInt32 = 0
        for symbol in 0..<symbols {
            order[used] = UInt64(counts[symbol]) &<< 16 | UInt64(truncatingIfNeeded: symbol)
            all |= counts[symbol]
            used &+= counts[symbol] > 0 ? 1 : 0
            if used == symbols { break }
        }
        self.used = used
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 257) { starts in
            guard let starts = starts.baseAddress else { return }
            var shift: UInt64 = 16
            while all > 0 {
                starts.initialize(repeating: 0, count: 257)
                for index in 0..<used { starts[Int(order[index] &>> shift & 0xFF) &+ 1] &+= 1 }
                for value in 1...256 { starts[value] &+= starts[value &- 1] }
                for index in 0..<used {
                    let value = Int(order[index] &>> shift & 0xFF)
                    sorted[starts[value]] = order[index]
                    starts[value] &+= 1
                }
                order.update(from: sorted, count: used)
                shift &+= 8
                all &>>= 8
            }
        }
    }

    /// Computes the number of codes of each length for the frequencies in `order`.
    ///
    /// Source: A. Moffat, J. Katajainen, "In-place calculation of minimum-redundancy codes" (WADS 1995); the length
    /// limit by shortening the longest codes while the Kraft sum is too large
    private func countLengths() {
        let (a, numbers, count) = (nodes, numbers, used)
        for index in 0..<count { a[index] = Int(truncatingIfNeeded: order[index] &>> 16) }
        var leaf = 0
        var root = 0
        for next in 0..<count &- 1 {
            var sum = 0
            for _ in 0..<2 {
                if leaf >= count || root < next && a[root] < a[leaf] {
                    sum &+= a[root]
                    a[root] = next
                    root &+= 1
                } else {
                    sum &+= a[leaf]
                    leaf &+= 1
                }
            }
            a[next] = sum
        }
        // a[next] is the parent of each inner node. Replace it by the node's depth, from the root down.
        numbers.update(repeating: 0, count: symbols + 1)
        a[count - 2] = 0
        for next in stride(from: count - 3, through: 0, by: -1) { a[next] = a[a[next]] &+ 1 }
        var available = 1
        var depth = 0
        var inner = count - 2
        while available > 0 {
            var used = 0
            while inner >= 0, a[inner] == depth {
                used &+= 1
                inner &-= 1
            }
            numbers[depth] = available &- used
            available = 2 &* used
            depth &+= 1
        }
        // Shorten the codes that are too long, and lengthen others until the Kraft sum fits.
        for length in longest + 1..<max(symbols, longest) + 1 {
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
    }

    /// Source: RFC 1951, section 3.2.2
    private func assignCodes() {
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 18) { next in
            next.initialize(repeating: 0)
            for symbol in 0..<symbols where lengths[symbol] > 0 { next[Int(lengths[symbol]) + 1] += 1 }
            for length in 1...longest { next[length + 1] = (next[length] &+ next[length + 1]) &<< 1 }
            for symbol in 0..<symbols where lengths[symbol] > 0 {
                let length = UInt16(lengths[symbol])
                codes[symbol] = Code(bits: Self.reversed(next[Int(length)]) &>> (16 &- length), length: length)
                next[Int(length)] &+= 1
            }
        }
    }

    /// The bits in reverse order: swaps adjacent bits, then pairs, fours and bytes.
    private static func reversed(_ bits: UInt16) -> UInt16 {
        var bits = bits
        bits = (bits & 0x5555) << 1 | (bits >> 1) & 0x5555
        bits = (bits & 0x3333) << 2 | (bits >> 2) & 0x3333
        bits = (bits & 0x0F0F) << 4 | (bits >> 4) & 0x0F0F
        return bits.byteSwapped
    }
}
