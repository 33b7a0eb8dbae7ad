/// Complex packing, with or without spatial differences, as NOAA's GTG files have it. ecCodes 2.28 writes only the form
/// without differences. So this packs anew what ecCodes packed simply. Groups are of one length: the result is smaller
/// than with simple packing, but larger than by NCEP's own grouping.
///
/// Source: WMO FM 92 GRIB edition 2, templates 5.2, 5.3, 7.2 and 7.3, regulation 92.9.4
struct ComplexPacking {
    /// 0 (template 5.2), 1 or 2 (template 5.3).
    let order: Int

    private static let groupLength = 32

    /// - Parameter message: in simple packing (template 5.0).
    func repacked(_ message: [UInt8]) -> [UInt8] {
        var repacked = Array(message[..<16])
        var representation = ArraySlice<UInt8>()
        var place = 16
        while place < message.count - 4 {
            let length = Self.number(message[place..<place + 4])
            let section = message[place..<place + length]
            switch message[place + 4] {
            case 5: representation = section
            case 6:
                // Section 5 comes first, but what is in it depends on the values.
                let data = message[(place + length)...]
                let packed = pack(representation, Self.values(representation, data))
                repacked += packed.representation + section + packed.data
            case 7: break
            default: repacked += section
            }
            place += length
        }
        repacked += "7777".utf8
        repacked.replaceSubrange(8..<16, with: Self.octets(repacked.count, 8))
        return repacked
    }

    private func pack(_ simple: ArraySlice<UInt8>, _ values: [Int]) -> (representation: [UInt8], data: [UInt8]) {
        var rest = values
        var descriptors: [Int] = []
        if order > 0, values.count > order {
            descriptors = Array(values[..<order])
            for place in stride(from: values.count - 1, through: order, by: -1) {
                rest[place] =
                    order == 1
                    ? values[place] - values[place - 1]
                    : values[place] - 2 * values[place - 1] + values[place - 2]
            }
            let least = rest[order...].min() ?? 0
            for place in rest.indices { rest[place] = place < order ? 0 : rest[place] - least }
            descriptors.append(least)
        }
        // All the same: no group at all, as NCEP's library writes it.
        let isConstant = simple[simple.startIndex + 19] == 0
        let groups =
            isConstant
            ? []
            : stride(from: 0, to: rest.count, by: Self.groupLength).map { start in
                rest[start..<min(start + Self.groupLength, rest.count)]
            }
        let references = groups.map { $0.min() ?? 0 }
        let widths = zip(groups, references).map { group, reference in Self.bits((group.max() ?? 0) - reference) }
        let referenceBits = max(Self.bits(references.max() ?? 0), isConstant ? 0 : 1)
        let leastWidth = widths.min() ?? 0
        let widthBits = Self.bits((widths.max() ?? 0) - leastWidth)

        var writer = BitWriter()
        // Sign and magnitude.
        let descriptorOctets = 4
        for (number, descriptor) in descriptors.enumerated() where !isConstant {
            let isNegative = number == order && descriptor < 0
            writer.append(isNegative ? -descriptor | 1 << 31 : descriptor, bits: 8 * descriptorOctets)
        }
        for reference in references { writer.append(reference, bits: referenceBits) }
        writer.align()
        for width in widths { writer.append(width - leastWidth, bits: widthBits) }
        writer.align()
        // All groups but the last are of the reference length, so that no lengths are listed.
        for (group, (reference, width)) in zip(groups, zip(references, widths)) {
            for value in group { writer.append(value - reference, bits: width) }
        }
        writer.align()

        var representation = Array(simple[..<(simple.startIndex + 21)])
        representation[19] = UInt8(referenceBits)
        representation += [1, 0] + Self.octets(-1, 4) + Self.octets(-1, 4) + Self.octets(groups.count, 4)
        representation += [UInt8(leastWidth), UInt8(widthBits)] + Self.octets(Self.groupLength, 4) + [1]
        representation += Self.octets(groups.last?.count ?? 0, 4) + [0]
        if order > 0 { representation += [UInt8(order), UInt8(descriptorOctets)] }
        representation.replaceSubrange(0..<4, with: Self.octets(representation.count, 4))
        representation.replaceSubrange(9..<11, with: Self.octets(order > 0 ? 3 : 2, 2))
        return (representation, Self.octets(writer.bytes.count + 5, 4) + [7] + writer.bytes)
    }

    /// The whole numbers that simple packing has, before scale and reference value.
    private static func values(_ representation: ArraySlice<UInt8>, _ data: ArraySlice<UInt8>) -> [Int] {
        let start = representation.startIndex
        let count = number(representation[start + 5..<start + 9])
        let bits = Int(representation[start + 19])
        var held = 0
        var filled = 0
        var next = data.startIndex + 5
        return (0..<count).map { _ in
            while filled < bits {
                held = held << 8 | Int(data[next])
                next += 1
                filled += 8
            }
            filled -= bits
            defer { held &= 1 << filled - 1 }
            return held >> filled
        }
    }

    private static func bits(_ value: Int) -> Int { Int.bitWidth - value.leadingZeroBitCount }

    private static func number(_ octets: ArraySlice<UInt8>) -> Int { octets.reduce(0) { $0 << 8 | Int($1) } }

    private static func octets(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
}

/// Numbers of any width, the most significant bit first.
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var held = 0
    private var filled = 0

    mutating func append(_ value: Int, bits: Int) {
        held = held << bits | value
        filled += bits
        while filled >= 8 {
            filled -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> filled))
        }
        held &= 1 << filled - 1
    }

    /// Fills the octet up with zeros.
    mutating func align() { if filled > 0 { append(0, bits: 8 - filled) } }
}
