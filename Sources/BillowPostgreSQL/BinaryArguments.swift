internal import BillowStore

/// The numbers of types in PostgreSQL's catalogue, which never change.
///
/// Source: PostgreSQL, src/include/catalog/pg_type.dat
extension UInt32 {
    static let boolean: UInt32 = 16
    static let bytes: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let double: UInt32 = 701
    static let texts: UInt32 = 1_009
    static let integers: UInt32 = 1_016
    static let varchar: UInt32 = 1_043
}

/// The arguments of a query in PostgreSQL's binary format: numbers are big-endian.
enum BinaryArguments {
    /// - Throws: `PostgreSQLError` for a value that the parameter's type can't hold.
    static func with<T>(
        _ arguments: [SQLValue], _ types: [UInt32],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> T
    ) throws -> T {
        precondition(arguments.count == types.count, "a query's arguments don't fit its text")
        guard !arguments.isEmpty else { return body(nil, nil, nil) }
        var bytes: [UInt8] = []
        var ranges: [Range<Int>?] = []
        for (argument, type) in zip(arguments, types) {
            let start = bytes.count
            let isPresent = try append(argument, type, to: &bytes)
            ranges.append(isPresent ? start..<bytes.count : nil)
            // An empty value needs an address too, because none stands for NULL.
            bytes.append(0)
        }
        let lengths = ranges.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: ranges.count)
        return bytes.withUnsafeBytes { raw in
            let pointers = ranges.map { range in
                range.flatMap { raw.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
                    .map { UnsafePointer($0) }
            }
            return body(pointers, lengths, formats)
        }
    }

    /// Appends a value without its length. Returns false for NULL.
    static func append(_ value: SQLValue, _ type: UInt32, to bytes: inout [UInt8]) throws -> Bool {
        switch (value, type) {
        case (.null, _): return false
        case (.integer(let value), UInt32.int8): append(value, to: &bytes)
        case (.integer(let value), UInt32.int4): append(try exactly(value) as Int32, to: &bytes)
        case (.integer(let value), UInt32.int2): append(try exactly(value) as Int16, to: &bytes)
        case (.integer(let value), UInt32.boolean): bytes.append(value == 0 ? 0 : 1)
        case (.real(let value), UInt32.double): append(value.bitPattern, to: &bytes)
        case (.text(let value), UInt32.text), (.text(let value), UInt32.varchar):
            bytes += StoredText.encoded(value)
        case (.bytes(let value), UInt32.bytes): bytes += value
        case (.integers(let values), UInt32.integers):
            appendArray(of: .int8, values.count, to: &bytes)
            for value in values {
                append(Int32(8), to: &bytes)
                append(value, to: &bytes)
            }
        case (.texts(let values), UInt32.texts):
            appendArray(of: .text, values.count, to: &bytes)
            for value in values {
                let text = StoredText.encoded(value)
                append(Int32(clamping: text.count), to: &bytes)
                bytes += text
            }
        default:
            throw PostgreSQLError(
                state: "", message: "the value of a parameter doesn't fit its type \(type)", isLost: false)
        }
        return true
    }

    /// The head of an array with one dimension and no NULL.
    ///
    /// Source: PostgreSQL, src/backend/utils/adt/arrayfuncs.c, array_recv
    private static func appendArray(of type: UInt32, _ count: Int, to bytes: inout [UInt8]) {
        for number in [count == 0 ? 0 : 1, 0] { append(Int32(number), to: &bytes) }
        append(type, to: &bytes)
        guard count > 0 else { return }
        for number in [count, 1] { append(Int32(clamping: number), to: &bytes) }
    }

    private static func exactly<Number: FixedWidthInteger>(_ value: Int64) throws -> Number {
        guard let number = Number(exactly: value) else {
            throw PostgreSQLError(state: "22003", message: "the number \(value) is out of range", isLost: false)
        }
        return number
    }

    static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }
}
