/// Plans the byte ranges to request for some messages.
package enum RangePlan {
    /// A range of bytes to request.
    package struct ByteRange: Sendable, Hashable {
        package var lower: Int
        /// The end; nil means the end of the file.
        package var upper: Int?

        package init(lower: Int, upper: Int?) {
            self.lower = lower
            self.upper = upper
        }

        /// The value of `Range`, whose end is the last byte, not the one after it.
        ///
        /// Source: RFC 9110 section 14.1.2
        package var header: String { "bytes=\(lower)-" + (upper.map { String($0 - 1) } ?? "") }
    }

    /// The ranges that cover all spans, ascending and disjoint. Adjacent spans are merged if the gap between them is at
    /// most `gapBytes`, which costs less than another request.
    ///
    /// - Parameters:
    ///   - spans: ascending and disjoint; only the last may have no end.
    ///   - longestBytes: the maximum length of a merged range; a single message may be longer.
    package static func ranges(_ spans: [MessageSpan], gapBytes: Int, longestBytes: Int) -> [ByteRange] {
        var ranges: [ByteRange] = []
        for span in spans {
            if let last = ranges.last, let end = last.upper, span.lower - end <= gapBytes,
                (span.upper ?? span.lower) - last.lower <= longestBytes
            {
                ranges[ranges.count - 1].upper = span.upper
            } else {
                ranges.append(ByteRange(lower: span.lower, upper: span.upper))
            }
        }
        return ranges
    }
}
