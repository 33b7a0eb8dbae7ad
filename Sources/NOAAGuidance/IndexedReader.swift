/// Assembles the messages of an index from the bytes of ranges. It buffers at most one message.
struct IndexedReader: Sendable {
    private var spans: [MessageSpan]
    private let limit: Int
    private var index = 0
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - spans: the selected ones, ascending and disjoint.
    ///   - limit: the maximum length of a message in bytes.
    init(_ spans: [MessageSpan], limit: Int) {
        self.spans = spans
        self.limit = limit
    }

    /// The offset of the next byte that the reader needs; nil if it is complete.
    var needed: Int? { spans.indices.contains(index) ? spans[index].lower + bytes.count : nil }

    /// Consumes bytes of the file and returns the completed messages. Bytes outside the spans are skipped.
    ///
    /// - Precondition: the bytes begin at `needed` or before.
    mutating func consume(_ piece: some RandomAccessCollection<UInt8>, at offset: Int) -> [FrameResult] {
        var results: [FrameResult] = []
        let end = offset + piece.count
        while let from = needed, from < end {
            precondition(offset <= from)
            let rest = piece.dropFirst(from - offset)
            let upper = spans[index].upper ?? .max
            // A span longer than the limit is rejected by the length in its header, without buffering its bytes.
            let room = min(upper - from, limit + MessageFrame.headerBytes - bytes.count)
            bytes.append(contentsOf: rest.prefix(room))
            if spans[index].lower + bytes.count == upper || room <= rest.count {
                results.append(close())
            }
        }
        return results
    }

    /// Ends the file. A last message without a known end ends here too; incomplete messages are rejected.
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

    /// Sets the file's length, where a last message without a known end ends.
    mutating func setFileBytes(_ count: Int) {
        if let last = spans.indices.last, spans[last].upper == nil, count > spans[last].lower {
            spans[last].upper = count
        }
    }

    private mutating func close() -> FrameResult {
        let span = spans[index]
        defer { next() }
        do throws(MessageFrame.FrameError) {
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
