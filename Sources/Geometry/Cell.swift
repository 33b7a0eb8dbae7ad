/// An H3 cell of resolution 5, the resolution of all turbulence reports: about 253 km², 17 km from centre to centre.
///
/// It is stored as its dense index: base cell × 7⁵ + the five digits read in base 7. Dense indices have H3's order, and
/// a few gaps under the twelve pentagons (2,050,454 slots for 2,016,842 cells). As `parent = index ÷ 7`, the
/// descendants of any coarser cell are one contiguous range. Unlike the 64-bit H3 index, they fit a JavaScript number.
///
/// Source: H3 index bit layout, https://h3geo.org/docs/core-library/h3Indexing
public struct Cell: Sendable, Hashable, Comparable {
    /// The dense index: 0 ..< `Cell.slots`.
    public let dense: UInt32

    /// The resolution of every cell.
    public static let resolution = 5
    /// The number of H3's base cells.
    @inlinable package static var baseCells: Int { 122 }
    /// The number of descendants of one base cell at resolution 5: 7⁵.
    @inlinable package static var slotsPerBaseCell: Int { 16_807 }
    /// The size of a table indexed by `dense`.
    @inlinable public static var slots: Int { baseCells * slotsPerBaseCell }

    /// The cell of a dense index; nil if it is out of range or in a gap under a pentagon.
    public init?(dense: Int) {
        guard dense >= 0, dense < Cell.slots, !H3Bits.isDeleted(dense: dense, resolution: Cell.resolution) else {
            return nil
        }
        self.dense = UInt32(dense)
    }

    /// For tables that contain only valid cells.
    @inlinable
    package init(uncheckedDense dense: UInt32) { self.dense = dense }

    /// The cell of a 64-bit H3 index; nil unless it is a cell of resolution 5.
    public init?(h3: UInt64) {
        guard case .cell(let cell) = H3Index.classify(h3) else { return nil }
        self = cell
    }

    /// The cell of a hexadecimal text in lower or upper case, such as `85283473fffffff`; nil if it is none.
    public init?(h3String: some StringProtocol) {
        guard let index = H3Index.parse(h3String) else { return nil }
        self.init(h3: index)
    }

    /// The 64-bit H3 index.
    public var h3: UInt64 { H3Bits.index(dense: Int(dense), resolution: Cell.resolution) }

    /// The text form that H3 libraries use: 15 lower-case hexadecimal digits.
    public var h3String: String {
        let index = h3
        // Short enough for Swift's inline string storage.
        return String(unsafeUninitializedCapacity: 15) { text in
            for place in 0..<15 {
                let digit = UInt8(truncatingIfNeeded: index >> UInt64(4 * (14 - place))) & 15
                text[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return 15
        }
    }

    @inlinable
    public static func < (a: Cell, b: Cell) -> Bool { a.dense < b.dense }
}

/// Classifies H3 indices in input, which may have any resolution or be invalid.
package enum H3Index {
    package enum Class: Sendable, Hashable {
        /// A cell of resolution 5.
        case cell(Cell)
        /// A finer cell (6–15) and its parent of resolution 5.
        case finer(resolution: Int, parent: Cell)
        /// A coarser cell (0–4), which is too imprecise.
        case coarser(resolution: Int)
        /// Not a valid cell index: wrong mode, base cell, digits, or one of a pentagon's deleted sequences.
        case invalid
    }

    /// Parses up to 16 hexadecimal digits; nil for any other text.
    package static func parse(_ text: some StringProtocol) -> UInt64? {
        guard !text.isEmpty, text.utf8.count <= 16, text.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt64(text, radix: 16)
    }

    /// Classifies an index. It never traps, whatever the bits.
    package static func classify(_ index: UInt64) -> Class {
        guard H3Bits.isValidCell(index) else { return .invalid }
        let resolution = H3Bits.resolution(index)
        if resolution < Cell.resolution { return .coarser(resolution: resolution) }
        let dense = H3Bits.dense(index, resolution: Cell.resolution)
        let cell = Cell(uncheckedDense: UInt32(dense))
        return resolution == Cell.resolution ? .cell(cell) : .finer(resolution: resolution, parent: cell)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
