/// Splits a stream of bytes into GRIB2 messages, such as a file read in pieces or an HTTP range. An unusable message is
/// rejected with a reason, and the search continues after it. Other messages aren't affected.
///
/// It buffers at most one message, of at most `GRIBLimits.messageBytes`.
///
/// Source: WMO FM 92 GRIB edition 2, section 0 and regulation 92.1.3
package struct GRIBMessages: Sendable {
    package enum Element: Sendable {
        case message(GRIBMessage)
        /// The data at that offset of the stream is unusable.
        case refused(GRIBError, number: Int, offset: Int)
    }

    /// The number of rejected messages by reason.
    package private(set) var refusals: [GRIBError.Code: Int] = [:]
    /// The number of returned messages.
    package private(set) var messages = 0
    /// Bytes that belong to no message, such as an HTML page, a bulletin's heading, or padding.
    package private(set) var foreignBytes = 0

    private let limits: GRIBLimits
    private var buffer: [UInt8] = []
    /// The index of the first byte of the buffer that is still needed.
    private var place = 0
    /// The buffer's offset in the stream.
    private var bufferOffset: Int
    private var number = 0
    /// Whether the maximum number of messages has been reached.
    private var isFull = false
    /// Whether the last message was rejected; bytes outside messages then belong to it.
    private var isBehindRefusal = false
    /// The identities of returned fields, with the numbers of their messages.
    private var given: [[UInt8]: Int] = [:]

    /// - Parameter offset: the offset of the bytes in their file.
    package init(limits: GRIBLimits = GRIBLimits(), offset: Int = 0) {
        self.limits = limits
        bufferOffset = offset
    }

    /// All items in complete data.
    package static func items(in bytes: [UInt8], limits: GRIBLimits = GRIBLimits()) -> [Element] {
        var messages = GRIBMessages(limits: limits)
        return messages.read(bytes) + messages.finish()
    }

    /// Adds the next bytes of the stream, and returns the completed items.
    package mutating func read(_ bytes: some Collection<UInt8>) -> [Element] {
        buffer.append(contentsOf: bytes)
        return items(atEnd: false)
    }

    /// Ends the stream; an incomplete message is truncated.
    package mutating func finish() -> [Element] { items(atEnd: true) }

    private mutating func items(atEnd: Bool) -> [Element] {
        var items: [Element] = []
        while let item = next(atEnd: atEnd) {
            if case .refused(let reason, _, _) = item { refusals[reason.code, default: 0] += 1 } else { messages += 1 }
            items.append(item)
        }
        // Free the consumed part, but only if that is most of the buffer.
        if place * 2 >= buffer.count {
            buffer.removeFirst(place)
            bufferOffset += place
            place = 0
        }
        return items
    }

    /// The next message or rejection; nil if more bytes are needed.
    private mutating func next(atEnd: Bool) -> Element? {
        if isFull {
            place = buffer.count
            return nil
        }
        guard seek(atEnd: atEnd) else { return nil }
        guard number < limits.messages else {
            // The rest is skipped: otherwise a stream of `GRIB` would give a rejection for every four bytes.
            isFull = true
            return refuse(.tooMany(limit: limits.messages), skipping: 4)
        }
        let found = buffer.count - place
        let start = place
        func word(_ octets: Range<Int>) -> UInt64 {
            buffer[start + octets.lowerBound..<start + octets.upperBound].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard found >= GRIBMessage.indicatorLength else {
            return atEnd ? refuse(.truncated(length: GRIBMessage.indicatorLength, found: found), skipping: 4) : nil
        }
        guard buffer[place + 7] == 2 else {
            return refuse(.wrongEdition(Int(buffer[place + 7])), skipping: 4)
        }
        let length = word(8..<16)
        guard length <= UInt64(limits.messageBytes) else {
            return refuse(.tooLong(length: Int(clamping: length), limit: limits.messageBytes), skipping: 4)
        }
        guard length >= GRIBMessage.indicatorLength + GRIBMessage.endLength else {
            return refuse(.lengthMismatch(section: 0), skipping: 4)
        }
        let end = place + Int(length)
        guard end <= buffer.count else {
            return atEnd ? refuse(.truncated(length: Int(length), found: found), skipping: 4) : nil
        }
        guard buffer[end - GRIBMessage.endLength..<end].elementsEqual("7777".utf8) else {
            return refuse(.missingEnd, skipping: 4)
        }
        // Both ends are valid. So even if the content is invalid, the search continues after the message.
        do throws(GRIBError) {
            let message = try GRIBMessage(
                bytes: Array(buffer[place..<end]), number: number + 1, offset: bufferOffset + place, limits: limits)
            try remember(message)
            number += 1
            place = end
            isBehindRefusal = false
            return .message(message)
        } catch {
            let item = refuse(error, skipping: Int(length))
            isBehindRefusal = false
            return item
        }
    }

    /// Seeks to the next `GRIB`; false if there is none yet.
    private mutating func seek(atEnd: Bool) -> Bool {
        let start = place
        while place < buffer.count {
            guard let letter = buffer[place...].firstIndex(of: 0x47) else {
                place = buffer.count
                break
            }
            place = letter
            let rest = buffer[letter...].prefix(4)
            if rest.elementsEqual("GRIB".utf8.prefix(rest.count)) {
                if rest.count == 4 || !atEnd { break }
            }
            place += 1
        }
        if !isBehindRefusal { foreignBytes += place - start }
        return buffer.count - place >= 4
    }

    private mutating func refuse(_ reason: GRIBError, skipping bytes: Int) -> Element {
        number += 1
        let item = Element.refused(reason, number: number, offset: bufferOffset + place)
        place += bytes
        isBehindRefusal = true
        return item
    }

    private mutating func remember(_ message: GRIBMessage) throws(GRIBError) {
        let identities = message.fields.indices.map { [message.bytes[6]] + message.sections($0).identity }
        for identity in identities {
            if let earlier = given[identity] { throw .duplicate(of: earlier) }
        }
        guard Set(identities).count == identities.count else { throw .duplicate(of: message.number) }
        for identity in identities { given[identity] = message.number }
    }
}
