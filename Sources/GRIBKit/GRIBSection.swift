/// A section of a message. Octets are counted from 1 within the section, as in the WMO's tables.
///
/// Source: WMO FM 92 GRIB edition 2 (Manual on Codes, WMO-No. 306, volume I.2), regulations 92.1.4 and 92.1.5
struct GRIBSection {
    let number: Int
    /// The whole section, including its length and number.
    let bytes: ArraySlice<UInt8>

    func require(_ octets: Int) throws(GRIBError) {
        guard bytes.count >= octets else { throw .lengthMismatch(section: number) }
    }

    func octet(_ octet: Int) throws(GRIBError) -> Int {
        try require(octet)
        return Int(bytes[bytes.startIndex + octet - 1])
    }

    /// An unsigned integer of up to seven octets, the most significant first.
    func unsigned(_ octets: ClosedRange<Int>) throws(GRIBError) -> Int {
        try require(octets.upperBound)
        let start = bytes.startIndex - 1
        return bytes[start + octets.lowerBound...start + octets.upperBound].reduce(0) { $0 << 8 | Int($1) }
    }

    /// An unsigned integer; nil if all bits are set, which means missing.
    func optional(_ octets: ClosedRange<Int>) throws(GRIBError) -> Int? {
        let value = try unsigned(octets)
        return value == 1 << (8 * octets.count) - 1 ? nil : value
    }

    /// A signed integer: the first bit is the sign, the others are the magnitude.
    func signed(_ octets: ClosedRange<Int>) throws(GRIBError) -> Int {
        let value = try unsigned(octets)
        let sign = 1 << (8 * octets.count - 1)
        return value & sign == 0 ? value : -(value & (sign - 1))
    }

    /// A value of a scale factor and a scaled value; nil if either is missing.
    func scaled(factor: Int, value: ClosedRange<Int>) throws(GRIBError) -> Double? {
        guard try optional(factor...factor) != nil, try optional(value) != nil else { return nil }
        let exponent = try signed(factor...factor)
        var result = Double(try signed(value))
        // Division by a power of ten rounds only once.
        let power = (0..<abs(exponent)).reduce(1.0) { power, _ in power * 10 }
        if exponent >= 0 { result /= power } else { result *= power }
        return result
    }
}
