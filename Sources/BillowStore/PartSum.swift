/// A checksum over the rows of an archive part, in key order: 64-bit FNV-1a. It detects missing rows, which no row
/// checksum does.
///
/// Source: RFC 9923 (The FNV Non-Cryptographic Hash Algorithm), FNV-1a, 64 bits
struct PartSum: Sendable, Hashable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Its representation in the database.
    var stored: Int64 { Int64(bitPattern: state) }

    /// Adds the current row of a query on observations. It skips the columns that may change later: `until` and those
    /// that decide how long the row is retained.
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
        // Most numbers are small.
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
