/// Arithmetic on the bits of H3 cell indices, and conversions to and from dense indices at any resolution 0–5.
///
/// A 64-bit cell index has, from the top, 1 reserved bit (0), 4 of mode (1 = cell), and 3 reserved (0). Then 4 of
/// resolution and 7 of base cell follow. The rest are fifteen 3-bit digits, 7 where unused.
///
/// Source: https://h3geo.org/docs/core-library/h3Indexing; the base cells with pentagons:
/// https://h3geo.org/docs/core-library/restable
enum H3Bits {
    private static let resolutionOffset: UInt64 = 52
    private static let baseCellOffset: UInt64 = 45
    private static let cellMode: UInt64 = 1 << 59
    /// The mask of mode and reserved bits.
    private static let headMask: UInt64 = 0xFF0 << resolutionOffset
    static let unusedDigit: UInt64 = 7
    static let pentagonBaseCells: [Int] = [4, 14, 24, 38, 49, 58, 63, 72, 83, 97, 107, 117]

    private static let isPentagon: [Bool] = {
        var table = [Bool](repeating: false, count: Cell.baseCells)
        for base in pentagonBaseCells { table[base] = true }
        return table
    }()

    static func isPentagonBaseCell(_ base: Int) -> Bool { isPentagon[base] }

    /// 7 to the power of `exponent`.
    static func powerOfSeven(_ exponent: Int) -> Int {
        var power = 1
        for _ in 0..<exponent { power *= 7 }
        return power
    }

    static func resolution(_ index: UInt64) -> Int { Int(index >> resolutionOffset) & 0xF }

    private static func digit(_ index: UInt64, _ level: Int) -> UInt64 { (index >> UInt64(3 * (15 - level))) & 7 }

    static func isValidCell(_ index: UInt64) -> Bool {
        guard index & headMask == cellMode else { return false }
        let resolution = resolution(index)
        let base = Int(index >> baseCellOffset) & 0x7F
        guard base < Cell.baseCells else { return false }
        var leading = true
        for level in 1...15 {
            let digit = digit(index, level)
            if level > resolution {
                guard digit == unusedDigit else { return false }
            } else {
                guard digit != unusedDigit else { return false }
                if leading, digit != 0 {
                    leading = false
                    // A pentagon, and each centre child of it, has no child in direction 1.
                    if digit == 1, isPentagon[base] { return false }
                }
            }
        }
        return true
    }

    /// The dense index at a resolution, which is at most that of the (valid) index.
    static func dense(_ index: UInt64, resolution: Int) -> Int {
        var dense = Int(index >> baseCellOffset) & 0x7F
        var level = 1
        while level <= resolution {
            dense = dense * 7 + Int(digit(index, level))
            level += 1
        }
        return dense
    }

    /// The H3 index of a valid dense index.
    static func index(dense: Int, resolution: Int) -> UInt64 {
        var digits: UInt64 = 0
        var rest = dense
        for level in 1...15 {
            let at = 15 - (level - 1)
            if at > resolution {
                digits |= unusedDigit << UInt64(3 * (15 - at))
            } else {
                digits |= UInt64(rest % 7) << UInt64(3 * (15 - at))
                rest /= 7
            }
        }
        return cellMode | UInt64(resolution) << resolutionOffset | UInt64(rest) << baseCellOffset | digits
    }

    /// Whether the slot is a gap under a pentagon.
    static func isDeleted(dense: Int, resolution: Int) -> Bool {
        let span = powerOfSeven(resolution)
        guard isPentagon[dense / span] else { return false }
        var rest = dense % span
        var divisor = span / 7
        while divisor > 0 {
            let digit = rest / divisor
            if digit != 0 { return digit == 1 }
            rest %= divisor
            divisor /= 7
        }
        return false
    }
}
