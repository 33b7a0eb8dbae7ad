@testable import NOAAGuidance

/// Bytes as what NOAA's server answers: a file of messages as it comes, an index of it, and a page of a directory.
enum GuidanceFuzz {
    /// Messages as small as the inputs, so that the limit is met too.
    private static let limit = 1_000

    static func run(_ bytes: [UInt8]) {
        sequential(bytes)
        indexed(bytes)
        let listing = DirectoryListing(bytes)
        precondition(listing.entries.count <= DirectoryListing.maximumEntries, "entries")
        for entry in listing.entries {
            precondition(!entry.name.isEmpty && !entry.name.contains("/") && entry.name != "..", "a name within")
        }
        _ = BlockNotice.isNotice(bytes)
    }

    /// As it comes from a network: the cut may be anywhere, and makes no difference.
    private static func sequential(_ bytes: [UInt8]) {
        func frames(cut: Int) -> [FrameResult] {
            var reader = SequentialReader(limit: limit)
            return reader.consume(bytes[..<cut], at: 0) + reader.consume(bytes[cut...], at: cut) + reader.finish()
        }
        let whole = frames(cut: 0)
        precondition(whole == frames(cut: bytes.count / 2) && whole == frames(cut: bytes.count), "pieces")
        check(whole, of: bytes)
    }

    /// An index of the bytes that it stands in, with its last line's message up to their end.
    private static func indexed(_ bytes: [UInt8]) {
        let index = MessageIndex(bytes)
        let spans = index.spans(fileBytes: bytes.count).filter { span in
            span.lower < bytes.count && (span.upper ?? bytes.count) <= bytes.count
        }
        precondition(zip(spans, spans.dropFirst()).allSatisfy { $0.upper ?? .max <= $1.lower }, "spans in order")
        let ranges = RangePlan.ranges(spans, gapBytes: 64, longestBytes: limit)
        precondition(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upper ?? .max <= $1.lower }, "ranges in order")
        precondition(
            spans.allSatisfy { span in
                ranges.contains { $0.lower <= span.lower && ($0.upper ?? .max) >= (span.upper ?? .max) }
            }, "spans in ranges")
        func frames(_ pieces: [ArraySlice<UInt8>]) -> [FrameResult] {
            var reader = IndexedReader(spans, limit: limit)
            return pieces.flatMap { reader.consume($0, at: $0.startIndex) } + reader.finish()
        }
        let whole = frames([bytes[...]])
        let cut = bytes.count / 2
        precondition(whole == frames([bytes[..<cut], bytes[cut...]]), "pieces of an index")
        precondition(whole.count == spans.count, "each span once")
        check(whole, of: bytes)
    }

    private static func check(_ frames: [FrameResult], of bytes: [UInt8]) {
        for case .message(_, let offset, _, let message) in frames {
            precondition(message.count <= limit && bytes[offset...].starts(with: message), "a message's bytes")
            precondition(message.starts(with: "GRIB".utf8) && message.suffix(4) == Array("7777".utf8)[...], "a frame")
        }
    }
}
