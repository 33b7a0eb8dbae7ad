/// The frame of a GRIB2 message: `GRIB`, edition, total length, `7777`. The content isn't parsed.
///
/// Source: WMO Manual on Codes, FM 92 GRIB edition 2, sections 0 and 8
package enum MessageFrame {
    /// Why bytes aren't a valid message.
    package enum FrameError: Error, Sendable, Hashable {
        /// There is no `GRIB` where a message must begin.
        case notGRIB
        case edition(Int)
        /// The total length differs from that in the index, or is less than the minimum.
        case wrongLength(stated: Int, expected: Int)
        /// The message is longer than the setting allows.
        case tooLong(stated: Int, limit: Int)
        /// There is no `7777` where the message must end.
        case missingEnd
        /// The file ends before the message does.
        case cutOff(stated: Int, present: Int)

        /// A stable code for counters.
        package var code: String {
            switch self {
            case .notGRIB: "not-grib"
            case .edition: "edition"
            case .wrongLength: "wrong-length"
            case .tooLong: "too-long"
            case .missingEnd: "missing-end"
            case .cutOff: "cut-off"
            }
        }
    }

    /// The length of section 0.
    static let headerBytes = 16
    /// The minimum length of a message: section 0 and section 8.
    static let shortestBytes = 20
    private static let edition = 2
    private static let mark = Array("GRIB".utf8)
    private static let end = Array("7777".utf8)

    /// Whether a message of edition 2 may begin at an index, as far as there are bytes.
    static func isBeginning(_ bytes: [UInt8], at index: Int) -> Bool {
        for offset in 0..<4 where index + offset < bytes.count && bytes[index + offset] != mark[offset] { return false }
        return index + 7 >= bytes.count || bytes[index + 7] == edition
    }

    /// The total length of the message at an index, which at least 16 bytes must follow.
    static func length(_ bytes: [UInt8], at index: Int, limit: Int) throws(FrameError) -> Int {
        guard bytes[index..<index + 4].elementsEqual(mark) else { throw .notGRIB }
        guard bytes[index + 7] == edition else { throw .edition(Int(bytes[index + 7])) }
        let stated = bytes[index + 8..<index + 16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = Int(clamping: stated)
        guard length >= shortestBytes else { throw .wrongLength(stated: length, expected: shortestBytes) }
        guard length <= limit else { throw .tooLong(stated: length, limit: limit) }
        return length
    }

    static func hasEnd(_ bytes: [UInt8], upTo upper: Int) -> Bool { bytes[upper - 4..<upper].elementsEqual(end) }

    /// The length of the message at the beginning of the bytes. If `isExact`, it must be their whole length.
    package static func check(_ bytes: [UInt8], isExact: Bool = true, limit: Int) throws(FrameError) -> Int {
        guard bytes.count >= headerBytes else { throw .cutOff(stated: headerBytes, present: bytes.count) }
        let length = try length(bytes, at: 0, limit: limit)
        guard length <= bytes.count else { throw .wrongLength(stated: length, expected: bytes.count) }
        guard !isExact || length == bytes.count else { throw .wrongLength(stated: length, expected: bytes.count) }
        guard hasEnd(bytes, upTo: length) else { throw .missingEnd }
        return length
    }
}

/// The result of reading bytes.
enum FrameResult: Sendable, Hashable {
    case message(number: Int, offset: Int, keys: [GuidanceMessageKey], bytes: [UInt8])
    case refused(MessageFrame.FrameError, number: Int, offset: Int, keys: [GuidanceMessageKey])
}
