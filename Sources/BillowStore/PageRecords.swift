internal import Foundation
internal import GRDB

/// A record in a b-tree page.
struct PageRecord {
    /// The rowid; nil in a b-tree without rowids.
    var number: Int64?
    var values: [DatabaseValue]
}

extension DatabasePages {
    /// Calls `body` with each record of each decodable page. Invalid pages are skipped.
    func forEachRecord(_ body: (PageRecord) throws -> Void) throws {
        let free = free
        for number in stride(from: 1, through: count, by: 1) where !free.contains(number) {
            guard let bytes = page(number) else { continue }
            for place in cells(bytes, isFirst: number == 1) {
                if let record = record(bytes, at: place, isFirst: number == 1) { try body(record) }
            }
        }
    }

    /// The type of a b-tree page, by its first byte. B-trees with rowids have records in their leaf pages only.
    private enum Kind: UInt8 {
        case numberedLeaf = 13
        case leaf = 10
        case inner = 2
    }

    /// The offsets of a page's cells; empty for a page without records.
    private func cells(_ bytes: [UInt8], isFirst: Bool) -> [Int] {
        let start = isFirst ? FileHeader.length : 0
        guard let kind = Kind(rawValue: bytes[start]) else { return [] }
        let pointers = start + (kind == .inner ? 12 : 8)
        let count = bytes.half(start + 3)
        guard count > 0, pointers + 2 * count <= bytes.count else { return [] }
        return (0..<count).map { bytes.half(pointers + 2 * $0) }.filter {
            $0 >= pointers + 2 * count && $0 < bytes.count
        }
    }

    private func record(_ bytes: [UInt8], at place: Int, isFirst: Bool) -> PageRecord? {
        guard let kind = Kind(rawValue: bytes[isFirst ? FileHeader.length : 0]) else { return nil }
        var reader = ByteReader(bytes, at: kind == .inner ? place + 4 : place)
        guard let length = reader.number().flatMap({ Int(exactly: $0) }), length > 0, length <= size * count else {
            return nil
        }
        var number: Int64?
        if kind == .numberedLeaf {
            guard let found = reader.number() else { return nil }
            number = found
        }
        guard let payload = payload(bytes, at: reader.place, length, isNumbered: kind == .numberedLeaf),
            let values = Self.values(payload)
        else { return nil }
        return PageRecord(number: number, values: values)
    }

    /// The bytes of a record, including those in overflow pages.
    private func payload(_ bytes: [UInt8], at place: Int, _ length: Int, isNumbered: Bool) -> [UInt8]? {
        let most = isNumbered ? size - 35 : (size - 12) * 64 / 255 - 23
        let least = (size - 12) * 32 / 255 - 23
        var local = length
        if length > most {
            let wanted = least + (length - least) % (size - 4)
            local = wanted <= most ? wanted : least
        }
        guard place + local + (local < length ? 4 : 0) <= bytes.count else { return nil }
        var payload = Array(bytes[place..<place + local])
        var next = local < length ? Int(bytes.word(place + local)) : 0
        while payload.count < length {
            guard next > 1, let page = page(next) else { return nil }
            payload += page[4..<4 + min(length - payload.count, size - 4)]
            next = Int(page.word(0))
        }
        return payload
    }

    /// The values of a record; nil for an invalid record.
    private static func values(_ payload: [UInt8]) -> [DatabaseValue]? {
        var header = ByteReader(payload, at: 0)
        guard let headerLength = header.number().flatMap({ Int(exactly: $0) }), headerLength <= payload.count else {
            return nil
        }
        var content = ByteReader(payload, at: headerLength)
        var values: [DatabaseValue] = []
        while header.place < headerLength {
            guard let type = header.number(), let value = content.value(ofType: type) else { return nil }
            values.append(value)
        }
        return header.place == headerLength && content.place == payload.count ? values : nil
    }
}

/// Decodes integers and values of SQLite's record format.
private struct ByteReader {
    private let bytes: [UInt8]
    private(set) var place: Int

    init(_ bytes: [UInt8], at place: Int) {
        self.bytes = bytes
        self.place = place
    }

    /// Decodes a varint of one to nine bytes: seven bits each, eight in the ninth. nil past the end.
    mutating func number() -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return Int64(bitPattern: value) }
        }
        return nil
    }

    /// Decodes a value by its serial type; nil past the end and for an unknown type.
    mutating func value(ofType type: Int64) -> DatabaseValue? {
        switch type {
        case 0: return .null
        case 1...4: return integer(Int(type)).map(\.databaseValue)
        case 5: return integer(6).map(\.databaseValue)
        case 6: return integer(8).map(\.databaseValue)
        case 7: return integer(8).map { Double(bitPattern: UInt64(bitPattern: $0)).databaseValue }
        case 8: return Int64(0).databaseValue
        case 9: return Int64(1).databaseValue
        case 12...:
            guard let length = Int(exactly: (type - 12) / 2), length <= bytes.count - place else { return nil }
            let content = bytes[place..<place + length]
            place += length
            if type % 2 == 0 { return Data(content).databaseValue }
            return String(validating: content, as: UTF8.self)?.databaseValue
        default: return nil
        }
    }

    /// A signed integer, big-endian.
    private mutating func integer(_ length: Int) -> Int64? {
        guard place + length <= bytes.count else { return nil }
        var value = Int64(Int8(bitPattern: bytes[place]))
        for byte in bytes[place + 1..<place + length] { value = value << 8 | Int64(byte) }
        place += length
        return value
    }
}
