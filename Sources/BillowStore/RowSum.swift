internal import GRDB
internal import GRDBSQLite

/// The checksum of a stored row: 24 bits over the columns before it (see `StoredColumn`). It detects accidental changes
/// of the file; one in 16 million goes undetected. It does not protect against deliberate changes.
///
/// Each value becomes one 64-bit word. The state is the sum of the words, each times an odd factor of its column. So
/// every change of a single value changes the state. A final mix follows, and the upper 24 bits are the checksum:
/// SQLite stores them in three bytes. The algorithm is part of the file format.
///
/// Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014,
/// https://doi.org/10.1145/2714064.2660195 (the finalizer of SplitMix64)
struct RowSum {
    private var state: UInt64 = 0

    /// The stored value, from -2²³ to 2²³ - 1.
    var value: Int64 { Int64(bitPattern: Self.mixed(state)) >> 40 }

    /// The word for NULL, which no stored value has.
    private static let null: UInt64 = 0x8A5C_D789_635D_2DFF

    // MARK: Values

    @inline(__always)
    mutating func add(_ value: Int64, at column: Int32) {
        state &+= UInt64(bitPattern: value) &* Self.factor(of: column)
    }

    @inline(__always)
    mutating func addNull(at column: Int32) { state &+= Self.null &* Self.factor(of: column) }

    @inline(__always)
    mutating func add(_ value: Int64?, at column: Int32) {
        if let value { add(value, at: column) } else { addNull(at: column) }
    }

    /// SQLite stores -0 as 0.
    mutating func add(_ value: Double, at column: Int32) {
        state &+= (value == 0 ? 0 : value.bitPattern) &* Self.factor(of: column)
    }

    /// Adds a text or a blob: little-endian words of eight bytes, and the length.
    mutating func add(_ bytes: UnsafeRawBufferPointer, at column: Int32) {
        var hash = UInt64(bytes.count) &+ Self.null
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = Self.mixed(hash ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var word: UInt64 = 0
        for index in offset..<bytes.count { word |= UInt64(bytes[index]) << UInt64(8 * (index - offset)) }
        hash = Self.mixed(hash ^ word)
        state &+= hash &* Self.factor(of: column)
    }

    mutating func add(_ text: String?, at column: Int32) {
        guard var text else { return addNull(at: column) }
        text.withUTF8 { add(UnsafeRawBufferPointer($0), at: column) }
    }

    /// Adds an SQLite value of any type.
    mutating func add(_ value: OpaquePointer?, at column: Int32) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: add(sqlite3_value_int64(value), at: column)
        case SQLITE_FLOAT: add(sqlite3_value_double(value), at: column)
        case SQLITE_NULL: addNull(at: column)
        case SQLITE_TEXT:
            let start = UnsafeRawPointer(sqlite3_value_text(value))
            add(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))), at: column)
        default:
            let start = sqlite3_value_blob(value)
            add(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))), at: column)
        }
    }

    // MARK: Mixing

    /// A different odd factor for each column.
    @inline(__always)
    private static func factor(of column: Int32) -> UInt64 {
        mixed(UInt64(truncatingIfNeeded: column &+ 1) &* 0x9E37_79B9_7F4A_7C15) | 1
    }

    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    // MARK: A flipped bit

    /// The value of a column before one of its bits flipped; nil if no single bit explains the checksum.
    func original(of value: Int64, at column: Int32, sum: Int64) -> Int64? {
        for bit in 0..<Int64(64) {
            var other = self
            other.state &-= UInt64(bitPattern: value) &* Self.factor(of: column)
            other.add(value ^ 1 << bit, at: column)
            if other.value == sum { return value ^ 1 << bit }
        }
        return nil
    }

    // MARK: SQL

    /// Registers the SQL function `row_sum(…)` on a connection. It computes the checksum of its arguments, for inserts
    /// and updates.
    static func register(_ db: Database) throws {
        let code = sqlite3_create_function_v2(
            db.sqliteConnection, "row_sum", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { context, count, values in
                var sum = RowSum()
                for index in 0..<count { sum.add(values?[Int(index)], at: index) }
                sqlite3_result_int64(context, sum.value)
            }, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
