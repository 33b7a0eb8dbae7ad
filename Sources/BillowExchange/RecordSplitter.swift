/// Where a record lies in the buffer, or what is broken there.
enum Split {
    case record(Range<Int>, line: Int)
    case broken(line: Int, RefusalReason)
}

/// Cuts a stream into records without reading them. It works on a buffer that grows at its end and is freed at its
/// start; `scanned` is how far it has looked, `kept` from where on bytes are still needed.
protocol RecordSplitter {
    var kept: Int { get }
    /// The next record, or nil when more bytes are needed. `atEnd`: there won't be any.
    mutating func next(in buffer: [UInt8], atEnd: Bool) -> Split?
    /// The buffer's first `count` bytes have been dropped.
    mutating func dropped(_ count: Int)
}

/// The longest record, in bytes: the text of a report is a few hundred bytes, a polygon with thousands of vertices some
/// hundred thousand.
let longestRecord = 16 << 20

/// Cuts at line ends; RFC 8142's record separators and blank lines are passed over. For GeoJSONSeq and the ADDS CSV.
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
                    // Only the newline is looked for from here on, so nothing needs keeping.
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

/// Cuts at line ends that are not within quotes (RFC 4180). A quote that is never closed costs only its own line.
struct CSVSplitter: RecordSplitter {
    private(set) var kept = 0
    private var scanned = 0
    private var quoted = false
    /// The line of `kept`, and of `scanned`.
    private var line = 1
    private var scannedLine = 1
    /// The end of the record's first line, where it has more than one.
    private var firstLineEnd: Int?

    /// The longest row. Short, because it is what an unclosed quote makes us look ahead.
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
            if scanned - kept > CSVSplitter.longestRow { return giveUpLine(.tooLong(limit: CSVSplitter.longestRow)) }
        }
        guard atEnd, kept < buffer.count else { return nil }
        if quoted { return giveUpLine(.syntax("a quote that isn't closed")) }
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

    /// Refuses the first line of what can't be closed, and looks again from the second.
    private mutating func giveUpLine(_ reason: RefusalReason) -> Split {
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
