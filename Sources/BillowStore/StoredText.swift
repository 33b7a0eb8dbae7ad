/// Text as PostgreSQL can store it. SQLite stores every text; PostgreSQL refuses the character U+0000.
///
/// U+E000, of the private use area, escapes: U+0000 is stored as U+E000 and `0`, and U+E000 as itself twice.
package enum StoredText {
    private static let mark: [UInt8] = [0xEE, 0x80, 0x80]

    /// The stored UTF-8 bytes of a text.
    package static func encoded(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == 0 || $0 == mark[0] }) else { return bytes }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 8)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0 {
                encoded += mark
                encoded.append(UInt8(ascii: "0"))
            } else if bytes[index...].starts(with: mark) {
                encoded += mark
                encoded += mark
                index += mark.count - 1
            } else {
                encoded.append(bytes[index])
            }
            index += 1
        }
        return encoded
    }

    /// The text of stored bytes. Invalid UTF-8 is repaired, as everywhere.
    package static func decoded(_ bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.contains(mark[0]) else { return String(decoding: bytes, as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
            if rest.starts(with: mark), rest.count > mark.count {
                if rest[mark.count] == UInt8(ascii: "0") {
                    decoded.append(0)
                    index += mark.count + 1
                    continue
                }
                if rest.dropFirst(mark.count).starts(with: mark) {
                    decoded += mark
                    index += 2 * mark.count
                    continue
                }
            }
            decoded.append(bytes[index])
            index += 1
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
