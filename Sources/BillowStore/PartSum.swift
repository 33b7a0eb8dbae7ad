/// A sum over the rows of a part of the archive, in their order: 64-bit FNV-1a. It finds rows that vanished, which no
/// sum of a row finds.
///
/// Source: Fowler, Noll, Vo, Eastlake, draft-eastlake-fnv (FNV-1a, 64 bit)
struct PartSum: Sendable, Hashable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// As it is stored.
    var stored: Int64 { Int64(bitPattern: state) }

    /// Adds the current row of a query on observations, without the columns that may change later: `until` and the ones
    /// that say how long it stays.
    mutating func add(_ columns: Columns) {
        for column in [
            ObservationColumn.key, .cell, .altitudeMin, .altitudeMax, .severity, .edr, .category, .source, .kind,
            .since,
        ] {
            mix(columns.optionalInteger(column))
        }
        for column in [ObservationColumn.externalId, .aircraft] { mix(columns.text(column)) }
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
