/// Splits JSON into records. These are the elements of a top-level array or of the `features` of a top-level object, or
/// else the object itself. Several documents may follow one another; RFC 8142's separator resets the state. A damaged
/// record does not affect others: the next one starts at the next line that begins with a brace.
///
/// The splitter examines only brackets, texts and the bytes before brackets. The record's parser validates the grammar.
struct JSONSplitter: RecordSplitter {
    private enum Position {
        /// Between documents.
        case root
        /// Between the elements of an array, which may be a member of an object.
        case elements(inObject: Bool)
        /// Inside a record.
        case record(inObject: Bool?)
        /// In the rest of an object after its features.
        case tail
        /// After damage: searching for a line that begins with a brace.
        case lost(inObject: Bool?)
        /// In an element that is no record, until a comma, a closing bracket or the line's end.
        case garbage(inObject: Bool?)
    }

    private var place = Position.root
    private(set) var kept = 0
    private var scanned = 0
    private var line = 1
    private var recordLine = 1
    private var atLineStart = true

    // The state within a value.
    private var inText = false
    private var escaped = false
    private var depth = 0
    /// One bit per level, innermost lowest: 1 is an object. Levels beyond 64 are counted, but not checked.
    private var levels: UInt64 = 0
    private var lastSignificant: UInt8 = 0
    private var tooDeep = false
    private var tooLong = false
    /// Whether the last text at depth 1 of a top-level object was `features`.
    private var textStart = 0
    private var keyIsFeatures = false
    private var keyIsSimulated = false
    /// Whether a top-level object has a simulation mark before its features, as exports do.
    private(set) var saysSimulated = false

    mutating func dropped(_ count: Int) {
        kept -= count
        scanned -= count
        textStart -= count
    }

    mutating func next(in buffer: [UInt8], atEnd: Bool) -> Split? {
        while scanned < buffer.count {
            let byte = buffer[scanned]
            scanned += 1
            let split = consume(byte, buffer)
            if byte == 0x0A {
                line += 1
                atLineStart = true
            } else if byte != 0x20, byte != 0x09, byte != 0x0D {
                atLineStart = false
            }
            if case .record = place {
                if scanned - kept > longestRecord { tooLong = true }
                // A record that will be rejected need not be buffered.
                if tooLong || tooDeep { kept = scanned }
            } else {
                kept = scanned
            }
            if let split { return split }
        }
        guard atEnd else { return nil }
        switch place {
        case .root, .lost, .garbage: return nil
        case .record:
            place = .root
            return .broken(line: recordLine, .truncated)
        case .elements, .tail:
            place = .root
            return .broken(line: line, .truncated)
        }
    }

    private mutating func consume(_ byte: UInt8, _ buffer: [UInt8]) -> Split? {
        if byte == 0x1E { return restart() }
        switch place {
        case .root: return consumeAtRoot(byte)
        case .elements(let inObject): return consumeBetween(byte, inObject: inObject)
        case .record(let inObject): return consumeInRecord(byte, buffer, inObject: inObject)
        case .tail:
            if scan(byte, buffer) == .closed { place = .root }
            return nil
        case .lost(let inObject):
            if byte == UInt8(ascii: "{"), atLineStart { begin(byte, inObject: inObject) }
            return nil
        case .garbage(let inObject):
            switch byte {
            case UInt8(ascii: ","), 0x0A: resume(inObject)
            case UInt8(ascii: "]"):
                resume(inObject)
                return consume(byte, buffer)
            default: break
            }
            return nil
        }
    }

    private mutating func restart() -> Split? {
        defer { place = .root }
        if case .record = place { return .broken(line: recordLine, .truncated) }
        return nil
    }

    private mutating func consumeAtRoot(_ byte: UInt8) -> Split? {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: return nil
        case UInt8(ascii: "{"): begin(byte, inObject: nil)
        case UInt8(ascii: "["): place = .elements(inObject: false)
        default:
            place = .garbage(inObject: nil)
            return .broken(line: line, .syntax("expected '{' or '['"))
        }
        return nil
    }

    private mutating func consumeBetween(_ byte: UInt8, inObject: Bool) -> Split? {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","): return nil
        case UInt8(ascii: "{"), UInt8(ascii: "["): begin(byte, inObject: inObject)
        case UInt8(ascii: "]"):
            if inObject {
                place = .tail
                depth = 1
                levels = 1
                lastSignificant = byte
            } else {
                place = .root
            }
        default:
            place = .garbage(inObject: inObject)
            return .broken(line: line, .syntax("expected '{'"))
        }
        return nil
    }

    private mutating func consumeInRecord(_ byte: UInt8, _ buffer: [UInt8], inObject: Bool?) -> Split? {
        let isLineStart = atLineStart
        switch scan(byte, buffer) {
        case .inside: return nil
        case .features:
            place = .elements(inObject: true)
            return nil
        case .closed:
            let range = kept..<scanned
            resume(inObject)
            if tooDeep { return .broken(line: recordLine, .tooDeep) }
            if tooLong { return .broken(line: recordLine, .tooLong(limit: longestRecord)) }
            return .record(range, line: recordLine)
        case .damaged(let what):
            let started = recordLine
            place = .lost(inObject: inObject)
            if byte == UInt8(ascii: "{"), isLineStart { begin(byte, inObject: inObject) }
            return .broken(line: started, .syntax(what))
        }
    }

    private mutating func begin(_ byte: UInt8, inObject: Bool?) {
        place = .record(inObject: inObject)
        kept = scanned - 1
        recordLine = line
        inText = false
        escaped = false
        depth = 1
        levels = byte == UInt8(ascii: "{") ? 1 : 0
        lastSignificant = byte
        tooDeep = false
        tooLong = false
        keyIsFeatures = false
        keyIsSimulated = false
    }

    private mutating func resume(_ inObject: Bool?) {
        if let inObject { place = .elements(inObject: inObject) } else { place = .root }
    }

    private enum ScanResult: Equatable {
        case inside
        case closed
        /// The opening bracket of a top-level object's features.
        case features
        case damaged(String)
    }

    private mutating func scan(_ byte: UInt8, _ buffer: [UInt8]) -> ScanResult {
        if inText {
            if escaped {
                escaped = false
            } else if byte == UInt8(ascii: "\\") {
                escaped = true
            } else if byte
                == UInt8(
                    ascii: "\"")
            {
                inText = false
                if depth == 1, case .record(nil) = place, textStart >= kept {
                    let text = buffer[textStart..<scanned - 1]
                    keyIsFeatures = text.elementsEqual("features".utf8)
                    keyIsSimulated = text.elementsEqual("simulated".utf8)
                }
            } else if byte == 0x0A {
                return .damaged("a line that ends within a text")
            }
            return .inside
        }
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: return .inside
        case UInt8(ascii: "\""):
            inText = true
            textStart = scanned
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            if depth <= 64 {
                let fits =
                    levels & 1 == 1
                    ? lastSignificant == UInt8(ascii: ":")
                    : lastSignificant == UInt8(ascii: ",") || lastSignificant == UInt8(ascii: "[")
                guard fits else { return .damaged("a bracket in the wrong place") }
            }
            if !isObject, depth == 1, keyIsFeatures, case .record(nil) = place { return .features }
            depth += 1
            if depth <= 64 { levels = levels << 1 | (isObject ? 1 : 0) } else { tooDeep = true }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth <= 64 {
                guard (levels & 1 == 1) == (byte == UInt8(ascii: "}")) else {
                    return .damaged("brackets that don't match")
                }
                levels >>= 1
            }
            depth -= 1
            if depth == 0 { return .closed }
        case UInt8(ascii: "t") where keyIsSimulated && depth == 1 && lastSignificant == UInt8(ascii: ":"):
            if case .record(nil) = place { saysSimulated = true }
        default: break
        }
        lastSignificant = byte
        return .inside
    }
}
