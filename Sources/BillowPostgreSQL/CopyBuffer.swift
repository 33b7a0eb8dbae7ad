internal import BillowStore

/// Rows in the binary format of COPY, in pieces of bounded size.
///
/// Source: PostgreSQL documentation, COPY, "Binary Format", https://www.postgresql.org/docs/15/sql-copy.html
struct CopyBuffer {
    private var pieces: [[UInt8]] = []
    private var current: [UInt8]
    /// A message to the server has at most this many bytes, plus one row.
    private static let pieceBytes = 1 << 18

    init() {
        current = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
        // No flags, and no header extension.
        current += [UInt8](repeating: 0, count: 8)
    }

    /// - Throws: `PostgreSQLError` for a value that a column's type can't hold.
    mutating func append(_ row: [SQLValue], types: [UInt32]) throws {
        BinaryArguments.append(Int16(row.count), to: &current)
        for (value, type) in zip(row, types) {
            let place = current.count
            current += [0xFF, 0xFF, 0xFF, 0xFF]
            guard try BinaryArguments.append(value, type, to: &current) else { continue }
            let length = Int32(current.count - place - 4)
            withUnsafeBytes(of: length.bigEndian) { current.replaceSubrange(place..<place + 4, with: $0) }
        }
        if current.count >= Self.pieceBytes {
            pieces.append(current)
            current = []
        }
    }

    /// Calls `body` with each piece, and with the end mark.
    func forEachPiece(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        for piece in pieces { piece.withUnsafeBufferPointer(body) }
        (current + [0xFF, 0xFF]).withUnsafeBufferPointer(body)
    }
}
