/// Why a GRIB message, or a place in a stream where one begins, isn't used.
package enum GRIBRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The stream ends before the message does: its length in octets, and what was there.
    case truncated(length: Int, found: Int)
    /// Longer than a message may be.
    case tooLong(length: Int, limit: Int)
    /// Another edition than 2.
    case wrongEdition(Int)
    /// The lengths of the sections don't add up to the message's, or a section is too short for what it must hold.
    case lengthMismatch(section: Int)
    /// `7777` isn't where the message's length says.
    case missingEnd
    /// A section at a place where it can't be.
    case sectionOrder(section: Int)
    /// A template that isn't read here: of the grid (section 3), the product (4) or the packing (5).
    case unknownTemplate(section: Int, number: Int)
    /// A coded value that isn't read here, by the name that the WMO gives it.
    case unknownValue(String, Int)
    /// A value that can't be, with what is wrong with it.
    case invalid(String)
    /// More points than may be decoded.
    case gridTooLarge(columns: Int, rows: Int, limit: Int)
    /// The number of points isn't that of the grid's columns and rows.
    case gridMismatch(points: Int, columns: Int, rows: Int)
    /// The bitmap has another length than the grid, or as many points as aren't packed.
    case bitmapMismatch(present: Int, values: Int)
    /// Section 7 can't hold the values that section 5 describes.
    case dataMismatch(String)
    /// The picture in section 7 has other dimensions than there are values.
    case imageMismatch(width: Int, height: Int, values: Int)
    /// Its parameter, level, times and grid are those of an earlier field, whose message has that number.
    case duplicate(of: Int)
    /// More messages in a stream, or fields in a message, than may be.
    case tooMany(limit: Int)
    /// The library refused the values, with its code and message.
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

/// What is refused for its size, before anything is allocated for it.
package struct GRIBLimits: Sendable, Hashable {
    /// The longest message, and so the most that a splitter holds: GTG's are below 1 MB.
    package var messageBytes = 64 << 20
    /// The most points of a grid: GTG's has 1.9 million, a global one of 0.1° 6.5 million.
    package var gridPoints = 16_000_000
    /// The most messages of a stream, and the most fields of a message.
    package var messages = 10_000

    package init() {}
}
