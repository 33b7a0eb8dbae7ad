/// The range of a record in the buffer, or an error at that place.
enum Split {
    case record(Range<Int>, line: Int)
    case broken(line: Int, RefusalReason)
}

/// Splits a stream into records without parsing them. It works on a buffer that grows at its end and is freed at its
/// start. `scanned` is the end of the scanned part, `kept` the start of the bytes that are still needed.
protocol RecordSplitter {
    var kept: Int { get }
    /// The next record; nil if more bytes are needed. `atEnd` means that no bytes follow.
    mutating func next(in buffer: [UInt8], atEnd: Bool) -> Split?
    /// Must be called after the buffer's first `count` bytes were dropped.
    mutating func dropped(_ count: Int)
}

/// The longest record in bytes. The text of a report has a few hundred bytes, a polygon with thousands of vertices some
/// hundred thousand.
let longestRecord = 16 << 20

/// Splits at line ends, and skips RFC 8142's record separators and blank lines. For GeoJSONSeq and the ADDS CSV.
struct LineSplitter: RecordSplitter {
    private(set) var kept = 0
    private var scanned = 0
    private var line = 1
    private var tooLong = false

    mutating func dropped(_ count: Int) {
        kept -= count
        scanned -= count
    }

    mutating func next(in buffer: [UInt8], atEnd: Bool) -> Split? {
        while scanned < buffer.count {
            if buffer[scanned] != 0x0A {
                scanned += 1
                if scanned - kept > longestRecord {
                    // From here on only the newline matters, so the bytes need not be buffered.
                    tooLong = true
                    kept = scanned
                }
                continue
            }
            scanned += 1
            if let split = cut(buffer, to: scanned - 1) { return split }
        }
        guard atEnd, kept < buffer.count || tooLong else { return nil }
        return cut(buffer, to: buffer.count)
    }

    private mutating func cut(_ buffer: [UInt8], to end: Int) -> Split? {
        defer {
            kept = scanned
            line += 1
            tooLong = false
        }
        if tooLong { return .broken(line: line, .tooLong(limit: longestRecord)) }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0D || byte == 0x09 || byte == 0x1E }
        guard let first = buffer[kept..<end].firstIndex(where: { !isBlank($0) }),
            let last = buffer[kept..<end].lastIndex(where: { !isBlank($0) })
        else { return nil }
        return .record(first..<last + 1, line: line)
    }
}

/// Splits at line ends outside quotes (RFC 4180). An unclosed quote damages only its own line.
struct CSVSplitter: RecordSplitter {
    private(set) var kept = 0
    private var scanned = 0
    private var quoted = false
    /// The line numbers of `kept` and of `scanned`.
    private var line = 1
    private var scannedLine = 1
    /// The end of the first line of a multi-line record.
    private var firstLineEnd: Int?

    /// The longest row. It is short, because an unclosed quote makes the splitter scan this far ahead.
    static let longestRow = 64 << 10

    mutating func dropped(_ count: Int) {
        kept -= count
        scanned -= count
        firstLineEnd = firstLineEnd.map { $0 - count }
    }

    mutating func next(in buffer: [UInt8], atEnd: Bool) -> Split? {
        while scanned < buffer.count {
            let byte = buffer[scanned]
            scanned += 1
            switch byte {
            case UInt8(ascii: "\""): quoted.toggle()
            case 0x0A:
                scannedLine += 1
                if !quoted {
                    if let split = cut(buffer, to: scanned - 1) { return split }
                } else if firstLineEnd == nil {
                    firstLineEnd = scanned
                }
            default: break
            }
            if scanned - kept > CSVSplitter.longestRow { return rejectLine(.tooLong(limit: CSVSplitter.longestRow)) }
        }
        guard atEnd, kept < buffer.count else { return nil }
        if quoted { return rejectLine(.syntax("a quote that isn't closed")) }
        return cut(buffer, to: buffer.count)
    }

    private mutating func cut(_ buffer: [UInt8], to end: Int) -> Split? {
        let range = kept..<(end > kept && buffer[end - 1] == 0x0D ? end - 1 : end)
        let start = line
        kept = scanned
        line = scannedLine
        firstLineEnd = nil
        return range.isEmpty ? nil : .record(range, line: start)
    }

    /// Rejects the first line of a record that can't be closed, and continues with the second.
    private mutating func rejectLine(_ reason: RefusalReason) -> Split {
        let start = line
        kept = firstLineEnd ?? scanned
        if firstLineEnd != nil { line += 1 }
        let reason = firstLineEnd != nil || quoted ? .syntax("a quote that isn't closed") : reason
        scanned = kept
        scannedLine = line
        quoted = false
        firstLineEnd = nil
        return .broken(line: start, reason)
    }
}
