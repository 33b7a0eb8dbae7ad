/// Validates that section 7 can contain the values of section 5, before decoding. The decoders trust these numbers and
/// allocate memory by them.
struct PackedData {
    private let packing: GRIBPacking
    private let representation: GRIBSection
    private let data: GRIBSection

    init(_ packing: GRIBPacking, representation: GRIBSection, data: GRIBSection) {
        self.packing = packing
        self.representation = representation
        self.data = data
    }

    /// The number of octets of section 7 after its length and number.
    private var available: Int { data.bytes.count - 5 }

    /// Whether all values are the reference value, with no packed data.
    var isConstant: Bool {
        get throws(GRIBError) {
            switch packing.kind {
            case .ieee: false
            case .simple, .jpeg2000, .ccsds: packing.bits == 0
            case .complex, .complexWithDifferences: try representation.unsigned(32...35) == 0
            }
        }
    }

    /// - Throws: `dataMismatch`, `imageMismatch` or `unknownValue`.
    func check() throws(GRIBError) {
        if packing.count == 0 { return }
        if try isConstant { return }
        switch packing.kind {
        case .simple: try require(bits: packing.count * packing.bits)
        case .ieee: try require(bits: packing.count * packing.bits)
        case .complex: try checkGroups(from: 0)
        case .complexWithDifferences:
            let order = try representation.octet(48)
            let octets = try representation.octet(49)
            // ecCodes writes order 0, which means no differencing.
            guard order <= 2 else { throw .unknownValue("order of spatial differencing", order) }
            guard octets <= 4 else { throw .unknownValue("octets of extra descriptors", octets) }
            guard packing.count >= order else { throw .dataMismatch("\(packing.count) values with order \(order)") }
            try checkGroups(from: order == 0 ? 0 : (order + 1) * octets)
        case .jpeg2000:
            let image = try JPEG2000Header(data.bytes.dropFirst(5))
            try check(width: image.width, height: image.height)
        case .ccsds: try checkCCSDS()
        }
    }

    private func require(bits: Int) throws(GRIBError) {
        guard (bits + 7) / 8 <= available else {
            throw .dataMismatch("\(available) octets for \(bits) bits")
        }
    }

    private func check(width: Int, height: Int) throws(GRIBError) {
        let count = width.multipliedReportingOverflow(by: height)
        guard !count.overflow, count.partialValue == packing.count else {
            throw .imageMismatch(width: width, height: height, values: packing.count)
        }
    }

    /// Validates that the lengths of the groups add up to the number of values, and that their bits exist.
    ///
    /// Source: WMO FM 92 GRIB edition 2, templates 5.2, 5.3, 7.2 and 7.3
    private func checkGroups(from start: Int) throws(GRIBError) {
        let management = try representation.octet(23)
        guard management <= 2 else { throw .unknownValue("missing value management", management) }
        let groups = try representation.unsigned(32...35)
        let widthReference = try representation.octet(36)
        let widthBits = try representation.octet(37)
        let lengthReference = try representation.unsigned(38...41)
        let lengthIncrement = try representation.octet(42)
        let lastLength = try representation.unsigned(43...46)
        let lengthBits = try representation.octet(47)
        guard groups <= packing.count else { throw .dataMismatch("\(groups) groups of \(packing.count) values") }
        guard widthBits <= 8, lengthBits <= 32 else {
            throw .dataMismatch("\(widthBits) bits of widths, \(lengthBits) of lengths")
        }
        // Each list begins at a whole octet.
        let widthsAt = start + (groups * packing.bits + 7) / 8
        let lengthsAt = widthsAt + (groups * widthBits + 7) / 8
        let valuesAt = lengthsAt + (groups * lengthBits + 7) / 8
        guard valuesAt <= available else { throw .dataMismatch("\(available) octets for \(groups) groups") }
        let octets = data.bytes.dropFirst(5)
        var widths = BitReader(octets.dropFirst(widthsAt))
        var lengths = BitReader(octets.dropFirst(lengthsAt))
        var values = 0
        var bits = 0
        for group in 0..<groups {
            let width = widthReference + widths.read(widthBits)
            let scaled = lengths.read(lengthBits)
            let length = group == groups - 1 ? lastLength : lengthReference + scaled * lengthIncrement
            guard width <= 32 else { throw .dataMismatch("values of \(width) bits") }
            values += length
            bits += width * length
            guard values <= packing.count else { break }
        }
        guard values == packing.count else {
            throw .dataMismatch("groups of \(values) for \(packing.count) values")
        }
        guard valuesAt + (bits + 7) / 8 <= available else {
            throw .dataMismatch("\(available) octets for \(valuesAt + (bits + 7) / 8)")
        }
    }

    /// Validates the parameters of CCSDS. The library divides by the block size and multiplies by the others. With a
    /// block size of 0 it writes to arbitrary memory.
    ///
    /// Source: CCSDS 121.0-B-3 (Lossless Data Compression) sections 3.1 and 5.2; WMO template 5.42
    private func checkCCSDS() throws(GRIBError) {
        guard available > 0 else { throw .dataMismatch("no data for \(packing.count) values") }
        let block = try representation.octet(23)
        guard [8, 16, 32, 64].contains(block) else { throw .unknownValue("CCSDS block size", block) }
        let interval = try representation.unsigned(24...25)
        guard (1...4_096).contains(interval) else { throw .unknownValue("CCSDS reference sample interval", interval) }
        let flags = try representation.octet(22)
        // Rejects signed values, and upper bits that later libraries may define.
        guard flags & 0xC1 == 0 else { throw .unknownValue("CCSDS flags", flags) }
    }
}

/// Reads integers of any width up to 32 bits, the most significant bit first; zeros after the end.
struct BitReader {
    private let bytes: ArraySlice<UInt8>
    private var next: Int
    private var held: UInt64 = 0
    private var count = 0

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        next = bytes.startIndex
    }

    mutating func read(_ bits: Int) -> Int {
        while count < bits {
            held = held << 8 | UInt64(next < bytes.endIndex ? bytes[next] : 0)
            next += 1
            count += 8
        }
        count -= bits
        return Int(truncatingIfNeeded: held >> UInt64(count)) & (1 << bits - 1)
    }
}
