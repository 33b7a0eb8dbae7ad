/// Why a GRIB message, or a position in a stream where one seems to begin, is rejected.
package enum GRIBError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The stream ends before the message does: its length in octets, and the available octets.
    case truncated(length: Int, found: Int)
    /// The message is longer than the limit.
    case tooLong(length: Int, limit: Int)
    /// The edition isn't 2.
    case wrongEdition(Int)
    /// The lengths of the sections don't add up to the message's, or a section is too short for what it must hold.
    case lengthMismatch(section: Int)
    /// `7777` isn't at the position given by the message's length.
    case missingEnd
    /// A section is at an invalid position.
    case sectionOrder(section: Int)
    /// A template of the grid (section 3), the product (4) or the packing (5) isn't supported.
    case unknownTemplate(section: Int, number: Int)
    /// A coded value isn't supported; the name is the WMO's.
    case unknownValue(String, Int)
    /// A value is invalid, with the reason.
    case invalid(String)
    /// The grid has more points than the limit.
    case gridTooLarge(columns: Int, rows: Int, limit: Int)
    /// The number of points isn't columns × rows.
    case gridMismatch(points: Int, columns: Int, rows: Int)
    /// The bitmap's length differs from the grid, or its number of points from that of the packed values.
    case bitmapMismatch(present: Int, values: Int)
    /// Section 7 can't contain the values that section 5 describes.
    case dataMismatch(String)
    /// The picture in section 7 has other dimensions than the values.
    case imageMismatch(width: Int, height: Int, values: Int)
    /// The parameter, level, times and grid are those of an earlier field, in the message of that number.
    case duplicate(of: Int)
    /// A stream has too many messages, or a message too many fields.
    case tooMany(limit: Int)
    /// The library rejected the values, with its code and message.
    case decoder(code: Int, message: String)

    /// The kind of the reason, for counting.
    package enum Code: String, Sendable, CaseIterable {
        case truncated
        case tooLong = "too-long"
        case wrongEdition = "wrong-edition"
        case lengthMismatch = "length-mismatch"
        case missingEnd = "missing-end"
        case sectionOrder = "section-order"
        case unknownTemplate = "unknown-template"
        case unknownValue = "unknown-value"
        case invalid
        case gridTooLarge = "grid-too-large"
        case gridMismatch = "grid-mismatch"
        case bitmapMismatch = "bitmap-mismatch"
        case dataMismatch = "data-mismatch"
        case imageMismatch = "image-mismatch"
        case duplicate
        case tooMany = "too-many"
        case decoder
    }

    package var code: Code {
        switch self {
        case .truncated: .truncated
        case .tooLong: .tooLong
        case .wrongEdition: .wrongEdition
        case .lengthMismatch: .lengthMismatch
        case .missingEnd: .missingEnd
        case .sectionOrder: .sectionOrder
        case .unknownTemplate: .unknownTemplate
        case .unknownValue: .unknownValue
        case .invalid: .invalid
        case .gridTooLarge: .gridTooLarge
        case .gridMismatch: .gridMismatch
        case .bitmapMismatch: .bitmapMismatch
        case .dataMismatch: .dataMismatch
        case .imageMismatch: .imageMismatch
        case .duplicate: .duplicate
        case .tooMany: .tooMany
        case .decoder: .decoder
        }
    }

    package var description: String {
        switch self {
        case .truncated(let length, let found): "a message of \(length) bytes ends after \(found)"
        case .tooLong(let length, let limit): "a message of \(length) bytes is longer than \(limit)"
        case .wrongEdition(let edition): "GRIB edition \(edition), not 2"
        case .lengthMismatch(let section): "the length of section \(section) doesn't fit"
        case .missingEnd: "the message doesn't end with 7777"
        case .sectionOrder(let section): "section \(section) is out of order"
        case .unknownTemplate(let section, let number): "template \(section).\(number) isn't supported"
        case .unknownValue(let name, let value): "\(name) \(value) isn't supported"
        case .invalid(let what): what
        case .gridTooLarge(let columns, let rows, let limit):
            "a grid of \(columns) × \(rows) points has more than \(limit)"
        case .gridMismatch(let points, let columns, let rows): "\(points) points on a grid of \(columns) × \(rows)"
        case .bitmapMismatch(let present, let values): "\(values) values for a bitmap with \(present) points"
        case .dataMismatch(let what): what
        case .imageMismatch(let width, let height, let values):
            "a picture of \(width) × \(height) for \(values) values"
        case .duplicate(let number): "the same field as in message \(number)"
        case .tooMany(let limit): "more than \(limit)"
        case .decoder(let code, let message): "ecCodes: \(message) (\(code))"
        }
    }
}

/// The limits of sizes, which are checked before memory is allocated.
package struct GRIBLimits: Sendable, Hashable {
    /// The maximum length of a message, and so of a splitter's buffer: GTG's are below 1 MB.
    package var messageBytes = 64 << 20
    /// The maximum number of points of a grid: GTG's has 1.9 million, a global one of 0.1° 6.5 million.
    package var gridPoints = 16_000_000
    /// The maximum number of messages in a stream, including rejected ones, and of fields in a message.
    package var messages = 10_000

    package init() {}
}
