/// A sum over rows in their order: 64-bit FNV-1a of all that a row was stored with. It finds what changed in the file
/// by itself; whoever changes it on purpose can change the sum too.
///
/// Source: Fowler, Noll, Vo, Eastlake, draft-eastlake-fnv (FNV-1a, 64 bit)
struct RowSum: Sendable, Hashable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// As it is stored.
    var stored: Int64 { Int64(bitPattern: state) }

    /// Adds the row that a statement stands on, of a query on observations with details: all but when it was closed,
    /// and whether it was imported, which may change later.
    mutating func add(_ columns: Columns) {
        for column: Int32 in 0...9 { mix(columns.optionalInteger(column)) }
        for column: Int32 in [11, 12] { mix(columns.text(column)) }
    }

    private mutating func mix(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    private mutating func mix(_ value: Int64?) {
        mix(value == nil ? 0 : 1 as UInt8)
        var rest = UInt64(bitPattern: value ?? 0)
        // Small numbers are most of them.
        while rest > 0 {
            mix(UInt8(truncatingIfNeeded: rest & 127 | 128))
            rest >>= 7
        }
        mix(0 as UInt8)
    }

    private mutating func mix(_ text: String?) {
        mix(text == nil ? 0 : 1 as UInt8)
        for byte in (text ?? "").utf8 { mix(byte) }
        mix(0xFF as UInt8)
    }
}
