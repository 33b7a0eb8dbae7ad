/// A whole GRIB2 message with validated sections and headers. Most messages have one field; some repeat sections for
/// more.
package struct GRIBMessage: Sendable {
    /// Its number in the stream, from 1, including rejected messages.
    package let number: Int
    /// Its offset in the stream.
    package let offset: Int
    /// The bytes from `GRIB` to `7777`.
    package let bytes: [UInt8]
    /// The headers of its fields in their order: at least one.
    package let fields: [GRIBHeader]
    private let ranges: [Ranges]
    private let discipline: Int

    /// The ranges of a field's sections in the bytes.
    private struct Ranges {
        var identification = 0..<0
        var grid = 0..<0
        var product = 0..<0
        var representation = 0..<0
        var bitmap: Range<Int>?
        var data = 0..<0
    }

    /// The lengths of the indicator section and of `7777` in octets.
    static let indicatorLength = 16
    static let endLength = 4

    /// - Parameter bytes: a message with valid beginning, edition, length and end.
    /// - Throws: errors in the sections between, or in a header.
    init(bytes: [UInt8], number: Int, offset: Int, limits: GRIBLimits) throws(GRIBError) {
        self.bytes = bytes
        self.number = number
        self.offset = offset
        discipline = Int(bytes[6])
        ranges = try Self.walk(bytes, limit: limits.messages)
        var fields: [GRIBHeader] = []
        for place in ranges.indices {
            let sections = Self.sections(bytes, ranges[place])
            let header = try GRIBHeader(discipline: discipline, sections: sections, limits: limits)
            try sections.checkBitmap(header)
            try PackedData(header.packing, representation: sections.representation, data: sections.data).check()
            fields.append(header)
        }
        self.fields = fields
    }

    /// The sections of a field by its index in `fields`.
    func sections(_ field: Int) -> GRIBFieldSections { Self.sections(bytes, ranges[field]) }

    private static func sections(_ bytes: [UInt8], _ ranges: Ranges) -> GRIBFieldSections {
        GRIBFieldSections(
            identification: GRIBSection(number: 1, bytes: bytes[ranges.identification]),
            grid: GRIBSection(number: 3, bytes: bytes[ranges.grid]),
            product: GRIBSection(number: 4, bytes: bytes[ranges.product]),
            representation: GRIBSection(number: 5, bytes: bytes[ranges.representation]),
            bitmap: ranges.bitmap.map { GRIBSection(number: 6, bytes: bytes[$0]) },
            data: GRIBSection(number: 7, bytes: bytes[ranges.data]))
    }

    /// Parses sections 1 to 7 in their order. After a section 7, sections from 2, 3 or 4 on may repeat. Sections that
    /// aren't repeated stay valid.
    ///
    /// Source: WMO FM 92 GRIB edition 2, regulation 92.2.1 and section 6 (code table 6.0)
    private static func walk(_ bytes: [UInt8], limit: Int) throws(GRIBError) -> [Ranges] {
        var fields: [Ranges] = []
        var current = Ranges()
        var lastBitmap: Range<Int>?
        var last = 0
        var place = indicatorLength
        let end = bytes.count - endLength
        while place < end {
            guard end - place >= 5 else { throw .lengthMismatch(section: 8) }
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            let number = Int(bytes[place + 4])
            guard length >= 5, length <= end - place else { throw .lengthMismatch(section: number) }
            let range = place..<place + length
            let follows =
                switch number {
                case 1: last == 0
                case 2: last == 1 || last == 7
                case 3: last == 1 || last == 2 || last == 7
                case 4: last == 3 || last == 7
                case 5, 6, 7: last == number - 1
                default: false
                }
            guard follows else { throw .sectionOrder(section: number) }
            switch number {
            case 1: current.identification = range
            case 3: current.grid = range
            case 4: current.product = range
            case 5: current.representation = range
            case 6:
                guard length >= 6 else { throw .lengthMismatch(section: 6) }
                switch bytes[place + 5] {
                case 0: lastBitmap = range
                case 254: guard lastBitmap != nil else { throw .invalid("a bitmap as before, without one before") }
                case 255: break
                default: throw .unknownValue("bitmap", Int(bytes[place + 5]))
                }
                current.bitmap = bytes[place + 5] == 255 ? nil : lastBitmap
            case 7:
                current.data = range
                guard fields.count < limit else { throw .tooMany(limit: limit) }
                fields.append(current)
            default: break
            }
            last = number
            place += length
        }
        guard last == 7 else { throw .sectionOrder(section: 8) }
        return fields
    }
}
