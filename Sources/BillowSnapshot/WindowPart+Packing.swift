internal import CDeflate
import Geometry
package import Turbulence

/// A part in bytes, column by column and in the order of a `Segment`, so that loading needs no query and no sort. It
/// takes some 9 bytes per row, 11 with EDRs. Integers are little-endian, and the same rows always give the same bytes.
///
/// | bytes | content |
/// | --- | --- |
/// | 4 | the format, `PackedHeader.format` |
/// | 4 | CRC-32 of all that follows |
/// | 4 | number of the part |
/// | 4 | n, the number of rows; in the order of (place, key) |
/// | 4 | m, the number of kinds of place |
/// | 4 | 1 if there are EDRs, otherwise 0 |
/// | 4 m | kinds of place, ascending: a `RowKey` without its cell |
/// | n, 2 n or 4 n | the kind of each row's place: a byte if m ≤ 256, two if m ≤ 65,536 |
/// | 2 n | seconds since the start of the part |
/// | 4 n | tags |
/// | n | severity, or 15 for none, plus 16 × the kind of observation |
/// | 2 n or none | EDRs |
/// | the rest | cells: the difference of each from the one before, as below |
///
/// A difference is encoded with seven bits per byte, the lowest first; the bit of value 128 is set if more bytes
/// follow.
///
/// Source: RFC 1952 section 8 (CRC-32), DWARF 5 section 7.6 (unsigned LEB128)
extension WindowPart {
    package func packed() -> [UInt8] {
        let kinds = Set(segment.places.lazy.map { UInt32(truncatingIfNeeded: $0) & RowKey.kindMask }).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: zip(kinds, UInt32(0)...))
        let hasEDRs = segment.edrs.contains { $0 != Segment.noEDR }
        let header = PackedHeader(
            part: UInt32(truncatingIfNeeded: part.number), rows: UInt32(count), kinds: UInt32(kinds.count),
            hasEDRs: hasEDRs)
        var bytes = header.bytes
        bytes.reserveCapacity(header.cellsAt + count + count / 4)
        for kind in kinds { bytes.append(littleEndian: kind) }
        for place in segment.places {
            let number = numbers[UInt32(truncatingIfNeeded: place) & RowKey.kindMask] ?? 0
            switch header.kindWidth {
            case 1: bytes.append(UInt8(truncatingIfNeeded: number))
            case 2: bytes.append(littleEndian: UInt16(truncatingIfNeeded: number))
            default: bytes.append(littleEndian: number)
            }
        }
        let start = UInt32(part.start.seconds)
        for second in segment.observedAt { bytes.append(littleEndian: UInt16(truncatingIfNeeded: second - start)) }
        for key in segment.keys { bytes.append(littleEndian: UInt32(truncatingIfNeeded: key) & PackedHeader.tagMask) }
        for (severity, kind) in zip(segment.severities, segment.kinds) {
            bytes.append(severity & PackedHeader.noSeverity | kind << 4)
        }
        if hasEDRs { for edr in segment.edrs { bytes.append(littleEndian: edr) } }
        var cell = 0
        for place in segment.places {
            var step = RowKey(bits: place).dense - cell
            cell += step
            while step > 127 {
                bytes.append(UInt8(step & 127 | 128))
                step >>= 7
            }
            bytes.append(UInt8(step))
        }
        PackedHeader.seal(&bytes)
        return bytes
    }

    /// Decodes the result of `packed()`.
    /// - Throws: for bytes that `packed()` never returns, or returns for another part. No bytes make it trap.
    package init(_ part: ArchivePart, packed bytes: [UInt8]) throws(PackDamage) {
        let read = bytes.withUnsafeBytes { bytes in
            Result { () throws(PackDamage) in try Segment(packed: bytes, of: part) }
        }
        self.init(part, segment: try read.get())
    }
}

/// Why the bytes of a part can't be decoded.
package enum PackDamage: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes is wrong.
    case length(Int)
    case format(UInt32)
    case checksum
    /// The bytes belong to another part.
    case part(UInt32)
    /// A value is out of range, or rows are out of order.
    case value(String)

    package var description: String {
        switch self {
        case .length(let count): "\(count) bytes are too few or too many"
        case .format(let format): "format \(format) is not \(PackedHeader.format)"
        case .checksum: "the checksum is another"
        case .part(let number): "the rows are those of part \(number)"
        case .value(let name): "\(name) out of its range"
        }
    }
}

extension Segment {
    fileprivate init(packed bytes: UnsafeRawBufferPointer, of part: ArchivePart) throws(PackDamage) {
        let header = try PackedHeader(bytes)
        guard header.part == UInt32(truncatingIfNeeded: part.number) else { throw .part(header.part) }
        self.init()
        let count = Int(header.rows)
        reserve(count)
        let kinds = try Segment.placeKinds(bytes, header)
        let start = part.start.seconds
        var at = header.cellsAt
        var cells = CellWalk()
        var last: (place: UInt64, key: Int64) = (0, -1)
        for row in 0..<count {
            let cell = try cells.next(bytes, &at)
            let number = Int(bytes.littleEndian(header.kindsAt, row, width: header.kindWidth))
            let second = Int(bytes.littleEndian(header.secondsAt, row, width: 2))
            let tag = bytes.littleEndian(header.tagsAt, row, width: 4)
            let word = bytes[header.severitiesAt + row]
            let edr =
                header.hasEDRs ? UInt16(bytes.littleEndian(header.edrsAt, row, width: 2)) : Segment.noEDR
            guard number < kinds.count else { throw .value("kind of place") }
            guard second < ArchivePart.seconds else { throw .value("second") }
            guard tag <= PackedHeader.tagMask else { throw .value("tag") }
            let severity = word & 15
            let isGiven = severity <= Severity.moderateSevere.rawValue
            guard isGiven || severity == PackedHeader.noSeverity else { throw .value("severity") }
            guard edr <= 10_000 || edr == Segment.noEDR && isGiven else { throw .value("EDR") }
            guard ObservationKind(rawValue: word >> 4) != nil else { throw .value("kind of observation") }
            let place = UInt64(cell) << RowKey.kindBits | UInt64(kinds[number])
            let key = ObservationKey(observedAt: Instant(clamping: start + second), tag: tag).rawValue
            guard (last.place, last.key) < (place, key) else { throw .value("order of rows") }
            last = (place, key)
            append(
                place: place, observedAt: UInt32(start + second), severity: isGiven ? severity : Segment.none,
                edr: edr, kind: word >> 4, key: key)
        }
        guard at == bytes.count else { throw .length(bytes.count) }
        indexChunks()
    }

    private static func placeKinds(_ bytes: UnsafeRawBufferPointer, _ header: PackedHeader) throws(PackDamage)
        -> [UInt32]
    {
        var kinds: [UInt32] = []
        for index in 0..<Int(header.kinds) {
            let kind = bytes.littleEndian(PackedHeader.length, index, width: 4)
            let place = RowKey(bits: UInt64(kind))
            guard kind <= RowKey.kindMask, place.altitude != nil, place.categoryCode == 0 || place.category != nil
            else {
                throw .value("kind of place")
            }
            kinds.append(kind)
        }
        return kinds
    }
}

/// Decodes cells one after another.
private struct CellWalk {
    private var cell = 0
    private var baseCellEnd = 0
    private var hasGaps = false

    mutating func next(_ bytes: UnsafeRawBufferPointer, _ at: inout Int) throws(PackDamage) -> Int {
        var shift = 0
        while true {
            guard at < bytes.count, shift < 28 else { throw .length(bytes.count) }
            let byte = bytes[at]
            at += 1
            cell += Int(byte & 127) << shift
            guard byte & 128 != 0 else { break }
            shift += 7
        }
        guard cell < Cell.slots else { throw .value("cell") }
        if cell >= baseCellEnd {
            let baseCell = cell / Cell.slotsPerBaseCell
            baseCellEnd = (baseCell + 1) * Cell.slotsPerBaseCell
            // Only pentagons have gaps, and each has a gap here.
            hasGaps = Cell(dense: baseCell * Cell.slotsPerBaseCell + 1) == nil
        }
        guard !hasGaps || Cell(dense: cell) != nil else { throw .value("cell") }
        return cell
    }
}

/// The header before the columns, and the offset of each column.
struct PackedHeader {
    /// Incremented whenever the encoding of rows changes.
    static let format: UInt32 = 1
    static let length = 24
    /// The length of format and checksum, which the checksum doesn't cover.
    private static let sealLength = 8
    static let noSeverity: UInt8 = 15
    static let tagMask = UInt32(1) << UInt32(ObservationKey.tagBits) - 1

    var part: UInt32
    var rows: UInt32
    var kinds: UInt32
    var hasEDRs: Bool

    init(part: UInt32, rows: UInt32, kinds: UInt32, hasEDRs: Bool) {
        self.part = part
        self.rows = rows
        self.kinds = kinds
        self.hasEDRs = hasEDRs
    }

    /// - Throws: if it is invalid, or if there are fewer bytes than it requires.
    init(_ bytes: UnsafeRawBufferPointer) throws(PackDamage) {
        guard bytes.count >= Self.length else { throw .length(bytes.count) }
        func field(_ index: Int) -> UInt32 { bytes.littleEndian(0, index, width: 4) }
        guard field(0) == Self.format else { throw .format(field(0)) }
        guard field(1) == Self.checksum(bytes) else { throw .checksum }
        self.init(part: field(2), rows: field(3), kinds: field(4), hasEDRs: field(5) != 0)
        // Every row has at least one byte for its cell.
        guard cellsAt + Int(rows) <= bytes.count else { throw .length(bytes.count) }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for field in [Self.format, 0, part, rows, kinds, hasEDRs ? 1 : 0] { bytes.append(littleEndian: field) }
        return bytes
    }

    /// Writes the checksum of all other bytes, once they are complete.
    static func seal(_ bytes: inout [UInt8]) {
        let checksum = bytes.withUnsafeBytes { Self.checksum($0) }
        for (index, byte) in withUnsafeBytes(of: checksum.littleEndian, Array.init).enumerated() {
            bytes[4 + index] = byte
        }
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let sealed = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sealLength))
        return libdeflate_crc32(0, sealed.baseAddress, sealed.count)
    }

    /// The width in bytes of the number of a kind of place.
    var kindWidth: Int { kinds <= 1 << 8 ? 1 : kinds <= 1 << 16 ? 2 : 4 }

    // None of these can overflow: the fields have 32 bits.
    var kindsAt: Int { Self.length + Int(kinds) * 4 }
    var secondsAt: Int { kindsAt + Int(rows) * kindWidth }
    var tagsAt: Int { secondsAt + Int(rows) * 2 }
    var severitiesAt: Int { tagsAt + Int(rows) * 4 }
    var edrsAt: Int { severitiesAt + Int(rows) }
    var cellsAt: Int { edrsAt + (hasEDRs ? Int(rows) * 2 : 0) }
}

extension UnsafeRawBufferPointer {
    /// An integer of a column that begins at `offset`, `width` bytes each: 1, 2 or 4. The whole integer must lie in the
    /// buffer.
    @inline(__always)
    fileprivate func littleEndian(_ offset: Int, _ index: Int, width: Int) -> UInt32 {
        let at = offset + index * width
        return switch width {
        case 1: UInt32(self[at])
        case 2: UInt32(UInt16(littleEndian: loadUnaligned(fromByteOffset: at, as: UInt16.self)))
        default: UInt32(littleEndian: loadUnaligned(fromByteOffset: at, as: UInt32.self))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
