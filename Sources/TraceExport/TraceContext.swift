import Tracing

/// The place of a span in its trace, as services pass it on.
///
/// Source: W3C Trace Context, https://www.w3.org/TR/trace-context/, section 3.2
struct TraceContext: Sendable, Hashable {
    static let header = "traceparent"

    var trace: TraceID
    var span: UInt64
    /// Whether the trace is recorded.
    var isSampled: Bool

    /// Reads a header; nil for one that must be ignored.
    init?(header: String) {
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        // A later version may add parts.
        guard parts.count >= 4, parts[0].utf8.count == 2, let version = Self.number(parts[0]), version < 0xFF,
            version > 0 || parts.count == 4, parts[1].utf8.count == 32, parts[2].utf8.count == 16,
            parts[3].utf8.count == 2, let high = Self.number(parts[1].prefix(16)),
            let low = Self.number(parts[1].suffix(16)), let span = Self.number(parts[2]),
            let flags = Self.number(parts[3]), high | low != 0, span != 0
        else { return nil }
        self.init(trace: TraceID(high: high, low: low), span: span, isSampled: flags & 1 == 1)
    }

    init(trace: TraceID, span: UInt64, isSampled: Bool) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
    }

    var header: String { "00-\(trace)-\(TraceID.text(span))-\(isSampled ? "01" : "00")" }

    /// A number of up to 16 hexadecimal digits in lower case.
    private static func number(_ text: Substring) -> UInt64? {
        var number: UInt64 = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

/// The id of a trace, of 128 bits.
struct TraceID: Sendable, Hashable, CustomStringConvertible {
    var high: UInt64
    var low: UInt64

    static func random() -> TraceID {
        TraceID(high: .random(in: .min ... .max), low: .random(in: 1 ... .max))
    }

    var description: String { Self.text(high) + Self.text(low) }

    /// 16 hexadecimal digits.
    static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension InstrumentationContext {
    private enum Key: InstrumentationContextKey {
        typealias Value = TraceContext
    }

    /// The current span, in this process or in another one.
    var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
