/// Puts together the messages that an index names from the bytes of ranges. Holds at most one message.
struct IndexedReader: Sendable {
    private var spans: [MessageSpan]
    private let limit: Int
    private var index = 0
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - spans: the wanted ones, ascending and disjoint.
    ///   - limit: the longest message taken, in bytes.
    init(_ spans: [MessageSpan], limit: Int) {
        self.spans = spans
        self.limit = limit
    }

    /// The next byte of the file that the reader lacks; nil when it has all.
    var needed: Int? { spans.indices.contains(index) ? spans[index].lower + bytes.count : nil }

    /// Takes bytes of the file and gives what became whole. Bytes that nothing wants are passed over.
    ///
    /// - Precondition: the bytes begin at `needed` or before.
    mutating func take(_ piece: some RandomAccessCollection<UInt8>, at offset: Int) -> [FrameResult] {
        var results: [FrameResult] = []
        let end = offset + piece.count
        while let from = needed, from < end {
            precondition(offset <= from)
            let rest = piece.dropFirst(from - offset)
            let upper = spans[index].upper ?? .max
            // A span longer than any message is refused by what its header says; its bytes are not held.
            let room = min(upper - from, limit + MessageFrame.headerBytes - bytes.count)
            bytes.append(contentsOf: rest.prefix(room))
            if spans[index].lower + bytes.count == upper || room <= rest.count {
                results.append(close())
            }
        }
        return results
    }

    /// The file ends here: a last message without a known end ends here too, and what is lacking is refused.
    mutating func finish() -> [FrameResult] {
        var results: [FrameResult] = []
        while spans.indices.contains(index) {
            if !bytes.isEmpty, spans[index].upper.map({ $0 == needed }) ?? true {
                results.append(close())
            } else {
                let span = spans[index]
                let stated = span.upper.map { $0 - span.lower } ?? MessageFrame.headerBytes
                results.append(
                    .refused(
                        .cutOff(stated: stated, present: bytes.count), number: span.number, offset: span.lower,
                        keys: span.keys))
                next()
            }
        }
        return results
    }

    /// The file has so many bytes: a last message without a known end ends there.
    mutating func setFileBytes(_ count: Int) {
        if let last = spans.indices.last, spans[last].upper == nil, count > spans[last].lower {
            spans[last].upper = count
        }
    }

    private mutating func close() -> FrameResult {
        let span = spans[index]
        defer { next() }
        do throws(MessageFrame.Refusal) {
            let length = try MessageFrame.check(bytes, isExact: span.isExact, limit: limit)
            let message = length == bytes.count ? bytes : Array(bytes.prefix(length))
            return .message(number: span.number, offset: span.lower, keys: span.keys, bytes: message)
        } catch {
            return .refused(error, number: span.number, offset: span.lower, keys: span.keys)
        }
    }

    private mutating func next() {
        index += 1
        bytes = []
    }
}
