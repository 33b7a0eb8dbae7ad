/// How a field's values are packed: a data representation section.
///
/// PNG (5.41) isn't supported, because no known field of turbulence has it. Run lengths (5.200) aren't supported by
/// ecCodes 2.28.
///
/// Source: WMO FM 92 GRIB edition 2, section 5, code table 5.0 and templates 5.0 to 5.42
package struct GRIBPacking: Sendable, Hashable {
    package enum Kind: Int, Sendable, CaseIterable {
        case simple = 0
        case complex = 2
        case complexWithDifferences = 3
        case ieee = 4
        case jpeg2000 = 40
        case ccsds = 42
    }

    package let kind: Kind
    /// The number of packed values, without those that the bitmap excludes.
    package let count: Int
    /// The number of bits per value; 0 if all values are equal. IEEE: 32 or 64.
    package let bits: Int

    /// - Throws: `unknownTemplate` for another packing, `lengthMismatch`, `unknownValue`, `invalid` for a
    ///   reference value that is no finite number.
    init(_ section: GRIBSection) throws(GRIBError) {
        count = try section.unsigned(6...9)
        let number = try section.unsigned(10...11)
        guard let kind = Kind(rawValue: number) else { throw .unknownTemplate(section: 5, number: number) }
        self.kind = kind
        let length =
            switch kind {
            case .simple: 21
            case .complex: 47
            case .complexWithDifferences: 49
            case .ieee: 12
            case .jpeg2000: 23
            case .ccsds: 25
            }
        try section.require(length)
        if kind == .ieee {
            let precision = try section.octet(12)
            guard precision == 1 || precision == 2 else { throw .unknownValue("precision", precision) }
            bits = 32 * precision
        } else {
            let reference = Float(bitPattern: UInt32(try section.unsigned(12...15)))
            guard reference.isFinite else { throw .invalid("the reference value is \(reference)") }
            bits = try section.octet(20)
            guard bits <= 32 else { throw .unknownValue("bits of a value", bits) }
        }
    }
}
