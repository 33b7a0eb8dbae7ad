/// The headers of a JPEG 2000 codestream. A few octets can make a decoder allocate gigabytes for pixels, tiles,
/// precincts or code blocks. So all of these are checked before decoding.
///
/// Source: ISO/IEC 15444-1 (ITU-T T.800) annex A: SOT (A.4.2), SIZ (A.5.1), COD (A.6.1)
struct JPEG2000Header {
    let width: Int
    let height: Int

    private enum Marker {
        static let startAndSize = 0xFF4F_FF51
        static let codingStyle = 0xFF52
        static let componentStyle = 0xFF53
        static let startOfTilePart = 0xFF90
        static let startOfData = 0xFF93
        static let end = 0xFFD9
    }

    /// The maximum number of tiles. Each takes the decoder some kilobytes; the known writers make one.
    private static let maximumTiles = 256
    /// The minimum size of a code block, 256 values, and of a precinct, 32 × 32. Each takes some hundred bytes.
    private static let leastBlockExponents = 8
    private static let leastPrecinctExponent = 5

    init(_ codestream: ArraySlice<UInt8>) throws(GRIBError) {
        let stream = GRIBSection(number: 7, bytes: codestream)
        guard codestream.count >= 45, try stream.unsigned(1...4) == Marker.startAndSize else {
            throw .dataMismatch("no JPEG 2000 codestream")
        }
        let components = try stream.unsigned(41...42)
        guard components == 1, try stream.unsigned(5...6) == 41 else {
            throw .unknownValue("components of the picture", components)
        }
        width = try stream.unsigned(9...12)
        height = try stream.unsigned(13...16)
        for origin in [17...20, 21...24, 33...36, 37...40] where try stream.unsigned(origin) != 0 {
            throw .dataMismatch("a picture or tiles that don't begin at 0")
        }
        let depth = try stream.octet(43)
        // A sign bit, or more bits than in an integer, crashes ecCodes.
        guard depth < 31 else { throw .unknownValue("component of the picture", depth) }
        guard try stream.unsigned(44...45) == 0x0101 else { throw .dataMismatch("a picture that is sampled") }
        let tileWidth = try stream.unsigned(25...28)
        let tileHeight = try stream.unsigned(29...32)
        guard width > 0, height > 0, tileWidth > 0, tileHeight > 0 else {
            throw .imageMismatch(width: width, height: height, values: 0)
        }
        let tiles = ((width - 1) / tileWidth + 1).multipliedReportingOverflow(by: (height - 1) / tileHeight + 1)
        guard !tiles.overflow, tiles.partialValue <= Self.maximumTiles else {
            throw .dataMismatch("a picture of too many tiles")
        }
        try Self.checkStyles(stream)
    }

    /// Parses the markers after SIZ. It includes those of each tile part, which may have their own coding style.
    private static func checkStyles(_ stream: GRIBSection) throws(GRIBError) {
        let count = stream.bytes.count
        var place = 46
        var nextPart: Int?
        var styles = 0
        while place + 1 <= count {
            let marker = try stream.unsigned(place...place + 1)
            switch marker {
            case Marker.end: return try require(styles)
            case Marker.startOfData:
                // A tile part without a length is the last.
                guard let part = nextPart else { return try require(styles) }
                guard part > place else { throw .dataMismatch("a tile part that ends before it begins") }
                place = part
                nextPart = nil
                continue
            case Marker.componentStyle: throw .dataMismatch("a style of a component")
            case Marker.codingStyle:
                try checkStyle(stream, at: place)
                styles += 1
            case Marker.startOfTilePart:
                let length = try stream.unsigned(place + 6...place + 9)
                nextPart = length == 0 ? nil : place + length
            case 0xFF30...0xFF3F, ..<0xFF4F: throw .dataMismatch("marker \(marker)")
            default: break
            }
            let length = try stream.unsigned(place + 2...place + 3)
            guard length >= 2 else { throw .dataMismatch("a marker segment of \(length) octets") }
            place += 2 + length
        }
        try require(styles)
    }

    private static func require(_ styles: Int) throws(GRIBError) {
        guard styles > 0 else { throw .dataMismatch("a picture without a coding style") }
    }

    private static func checkStyle(_ stream: GRIBSection, at place: Int) throws(GRIBError) {
        let hasPrecincts = try stream.octet(place + 4) & 1 != 0
        let levels = try stream.octet(place + 9)
        let block = (try stream.octet(place + 10) & 15 + 2) + (try stream.octet(place + 11) & 15 + 2)
        guard levels <= 32 else { throw .dataMismatch("\(levels) decompositions") }
        guard (leastBlockExponents...12).contains(block) else { throw .dataMismatch("code blocks of 2^\(block)") }
        guard hasPrecincts else { return }
        for level in 0...levels {
            let size = try stream.octet(place + 14 + level)
            guard min(size & 15, size >> 4) >= leastPrecinctExponent else {
                throw .dataMismatch("precincts of 2^\(size & 15) × 2^\(size >> 4)")
            }
        }
    }
}
