import Foundation
import JSONKit
import Testing

/// A text and whether it is JSON: `y` must be read, `n` must be refused, `i` is for an implementation to decide. Then
/// the case says how this one does.
///
/// Source: N. Seriot, "Parsing JSON is a Minefield" (JSONTestSuite), seriot.ch/projects/parsing_json.html, for the
/// method; RFC 8259 for the rules. The cases are our own.
struct Case: CustomTestStringConvertible, Sendable {
    enum Kind: Sendable { case y, n, i }

    var kind: Kind
    var name: String
    var bytes: [UInt8]
    /// Whether the scanner reads it.
    var isRead: Bool
    /// Whether its texts are strict: UTF-8, without halves of surrogate pairs.
    var isStrict: Bool

    var testDescription: String { name }
}

func y(_ name: String, _ texts: String...) -> [Case] {
    texts.enumerated().map {
        Case(kind: .y, name: "y_\(name)_\($0.offset)", bytes: Array($0.element.utf8), isRead: true, isStrict: true)
    }
}

func n(_ name: String, _ texts: String...) -> [Case] {
    texts.enumerated().map {
        Case(kind: .n, name: "n_\(name)_\($0.offset)", bytes: Array($0.element.utf8), isRead: false, isStrict: false)
    }
}

func i(_ name: String, _ bytes: [UInt8], isRead: Bool, isStrict: Bool) -> [Case] {
    [Case(kind: .i, name: "i_\(name)", bytes: bytes, isRead: isRead, isStrict: isStrict)]
}

private func quoted(_ bytes: UInt8...) -> [UInt8] { [0x22] + bytes + [0x22] }

private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]", _ inside: String = "") -> String {
    String(repeating: open, count: depth) + inside + String(repeating: close, count: depth)
}

let cases: [Case] = [
    // Numbers.
    y("integer", "0", "-0", "1", "-1", "10", "123456789", "999999999999999999", "-999999999999999999"),
    y("fraction", "0.0", "0.5", "-0.25", "1.0", "3.14159", "0.000001", "123.456", "9007199254740993.5"),
    y("exponent", "1e0", "1E0", "1e1", "1e+1", "1e-1", "1.5E2", "-2.5e-3", "0e0", "0e+1", "1e22", "1e308", "5e-324"),
    y("precise", "0.1234567890123456789", "123456789012345678901", "0.30000000000000004", "1.7976931348623157e308"),
    n("number_sign", "+1", "-", "--1", "+", "- 1", "-a", "+0"),
    n("number_zeros", "00", "01", "-01", "-00", "012", "0123.5"),
    n("number_fraction", "1.", ".5", "-.5", "1.e1", "1..2", "1.2.3", "0.", "1.a"),
    n("number_exponent", "1e", "1E", "1e+", "1e-", "1ee2", "1e1.5", "e1", "1e 1", "0e"),
    n("number_form", "0x1", "1_000", "1,000", "NaN", "Infinity", "-Infinity", "1f", "0b1", "1a", "१"),
    // Words.
    y("word", "true", "false", "null", " true ", "\tnull\n", "\r\nfalse"),
    n("word", "True", "TRUE", "tru", "truee", "nul", "nulll", "fals", "undefined", "None", "t", "nil"),
    // Texts.
    y("text", #""""#, #""a""#, #"" ""#, #""äöü""#, #""日本""#, #""🜨""#, "\"\u{7F}\"", "\"\u{2028}\u{2029}\"", #""'""#),
    y(
        "escape", #""\"""#, #""\\""#, #""\/""#, #""\b\f\n\r\t""#, #""\u0041""#, #""\u00e9""#, #""\u00E9""#,
        #""\u0000""#, #""\ud83d\ude00""#, #""\uD834\uDD1E""#, #""a\nb\tc""#, #""\\u0041""#, #""\u2028""#),
    n(
        "escape", #""\x41""#, #""\a""#, #""\'""#, #""\u""#, #""\u12""#, #""\u123""#, #""\u123g""#, #""\U0041""#,
        #""\ ""#, #""\0""#, #""\u{41}""#, #""\"#, #""\u00"#, #""\ud83d\u""#),
    n("text", #"""#, #""a"#, "'a'", "a", "\"a\nb\"", "\"a\tb\"", "\"a\u{0}b\"", "\"a\u{1F}b\"", "\"a\" \"b\"", "“a”"),
    i("text_bad_utf8_FF", quoted(0xFF), isRead: true, isStrict: false),
    i("text_bad_utf8_lone_continuation", quoted(0x80), isRead: true, isStrict: false),
    i("text_bad_utf8_cut_short", quoted(0xE4, 0xB8), isRead: true, isStrict: false),
    i("text_bad_utf8_overlong", quoted(0xC0, 0xAF), isRead: true, isStrict: false),
    i("text_bad_utf8_surrogate", quoted(0xED, 0xA0, 0x80), isRead: true, isStrict: false),
    i("text_bad_utf8_too_large", quoted(0xF5, 0x80, 0x80, 0x80), isRead: true, isStrict: false),
    i("text_bad_utf8_beside_escape", Array(#""\n"#.utf8) + [0xFE, 0x22], isRead: true, isStrict: false),
    i("surrogate_high_alone", Array(#""\ud83d""#.utf8), isRead: true, isStrict: false),
    i("surrogate_low_alone", Array(#""\ude00""#.utf8), isRead: true, isStrict: false),
    i("surrogates_swapped", Array(#""\ude00\ud83d""#.utf8), isRead: true, isStrict: false),
    i("surrogate_high_twice", Array(#""\ud83d\ud83d""#.utf8), isRead: true, isStrict: false),
    i("surrogate_high_before_a_letter", Array(#""\ud83da""#.utf8), isRead: true, isStrict: false),
    i("surrogate_high_before_an_escape", Array(#""\ud83d\n""#.utf8), isRead: true, isStrict: false),
    // Arrays.
    y("array", "[]", "[ ]", "[1]", "[1,2]", " [ 1 , 2 ] ", "[[]]", "[[],[]]", #"[null,true,"a",1.5,{}]"#, "[\n1\r\n]"),
    n(
        "array", "[", "]", "[1", "[1,", "[1 2]", "[,1]", "[1,,2]", "[,]", "[1;2]", "[1]]", "[[1]", "[1}", "[:1]", "(1)",
        "[1:2]", #"["a":1]"#, "[a]", "[-]", "[1.]"),
    // Foundation takes them, RFC 8259 does not.
    n("trailing_comma", "[1,]", #"{"a":1,}"#, "[[1,],2]", #"{"a":{"b":1,}}"#),
    // Objects.
    y(
        "object", "{}", "{ }", #"{"a":1}"#, #"{"a":1,"b":2}"#, #" { "a" : 1 } "#, #"{"":0}"#, #"{"a":{"b":{}}}"#,
        #"{"a":[{"b":null}]}"#, #"{"\u0061":1}"#, #"{"a b":true}"#, #"{"é":1}"#, #"{"a\"b":1}"#),
    n(
        "object", "{", "}", #"{"a"}"#, #"{"a":}"#, #"{"a":1"#, #"{"a" 1}"#, #"{"a":1 "b":2}"#, "{a:1}", "{'a':1}",
        "{1:1}", #"{"a":1]"#, "{,}", #"{,"a":1}"#, #"{"a":1,,"b":2}"#, #"{"a"::1}"#, #"{:1}"#, #"{"a":1}}"#,
        #"{null:1}"#, #"{"a":1;"b":2}"#, #"{"a"=1}"#, #"{"a":1 true}"#),
    // A repeated name is no error of the grammar; the last one counts.
    i("repeated_name", Array(#"{"a":1,"a":2}"#.utf8), isRead: true, isStrict: true),
    i("repeated_name_escaped", Array(#"{"a":1,"\u0061":2}"#.utf8), isRead: true, isStrict: true),
    // What follows, comes before, or is nothing.
    y("space", "\n1", "1\n", "\t\r\n [\t]\r\n "),
    n(
        "rest", "", " ", "\n", "1 1", "{} {}", "[] 1", "true false", "1,", "[],", "// a\n1", "1 // a", "/* a */ 1", "#",
        "\u{A0}1", "\u{B}1", "\u{C}1", "\u{2028}1", "[1]x", "<html>", "%", "\u{1E}1"),
    i("byte_order_mark", [0xEF, 0xBB, 0xBF, 0x31], isRead: false, isStrict: false),
    i("utf16", [0x31, 0x00], isRead: false, isStrict: false),
    i("bad_utf8_outside", [0x5B, 0xFF, 0x5D], isRead: false, isStrict: false),
    // Depth.
    y("depth", nested(1), nested(63), nested(64), nested(64, #"{"a":"#, "}", "1"), nested(32, #"[{"a":"#, "}]", "0")),
    n("depth_open", nested(64, "[", ""), nested(10_000, "[", ""), nested(10_000, #"{"a":"#, "")),
    i("depth_65", Array(nested(65).utf8), isRead: false, isStrict: false),
    i("depth_65_objects", Array(nested(65, #"{"a":"#, "}", "1").utf8), isRead: false, isStrict: false),
    i("depth_100000", Array(nested(100_000).utf8), isRead: false, isStrict: false),
    // Size.
    i("number_too_large", Array("1e400".utf8), isRead: true, isStrict: true),
    i("number_too_small", Array("1e-400".utf8), isRead: true, isStrict: true),
    i("number_of_1000_digits", Array(String(repeating: "9", count: 1_000).utf8), isRead: true, isStrict: true),
    i("exponent_of_many_digits", Array("1e99999999999999999999".utf8), isRead: true, isStrict: true),
].flatMap { $0 }

/// Reads a whole text; every text in it strictly if requested.
private func read(_ bytes: [UInt8], strict: Bool) throws(JSONScanner.Malformed) {
    var scanner = JSONScanner(bytes)
    try walk(&scanner, strict: strict)
    try scanner.expectEnd()
}

private func walk(_ scanner: inout JSONScanner, strict: Bool) throws(JSONScanner.Malformed) {
    switch scanner.peek() {
    case UInt8(ascii: "{"):
        try scanner.openObject()
        var isFirst = true
        while let key = try scanner.nextKey(&isFirst) {
            if strict { _ = try scanner.validText(key.range, escaped: key.escaped) }
            try walk(&scanner, strict: strict)
        }
    case UInt8(ascii: "["):
        try scanner.openArray()
        var isFirst = true
        while try scanner.nextElement(&isFirst) { try walk(&scanner, strict: strict) }
    default:
        if case .string(let range, let escaped) = try scanner.value(), strict {
            _ = try scanner.validText(range, escaped: escaped)
        }
    }
}

@Suite("One JSON grammar")
struct ConformanceTests {
    @Test("the table is long enough, and no name comes twice") func table() {
        #expect(cases.count >= 120 && Set(cases.map(\.name)).count == cases.count)
    }

    @Test("each text is read or refused as the table says, by every way of reading", arguments: cases)
    func conforms(_ test: Case) {
        func isRead(_ body: (inout JSONScanner) throws(JSONScanner.Malformed) -> Void) -> Bool {
            var scanner = JSONScanner(test.bytes)
            do throws(JSONScanner.Malformed) {
                try body(&scanner)
                try scanner.expectEnd()
                return true
            } catch {
                #expect((0...test.bytes.count).contains(error.atByte))
                return false
            }
        }
        #expect(isRead { (scanner) throws(JSONScanner.Malformed) in _ = try scanner.value() } == test.isRead)
        #expect(isRead { (scanner) throws(JSONScanner.Malformed) in try scanner.skipValue() } == test.isRead)
        #expect(isRead { (scanner) throws(JSONScanner.Malformed) in _ = try scanner.tree() } == test.isRead)
        #expect(isRead { (scanner) throws(JSONScanner.Malformed) in try walk(&scanner, strict: false) } == test.isRead)
        #expect(isRead { (scanner) throws(JSONScanner.Malformed) in try walk(&scanner, strict: true) } == test.isStrict)
    }

    @Test("a part of the bytes is read as if it were all", arguments: cases.filter { $0.kind != .n })
    func readsAPart(_ test: Case) {
        let bytes = Array("{\"x\":".utf8) + test.bytes + Array("}}".utf8)
        var scanner = JSONScanner(bytes, in: 5..<5 + test.bytes.count)
        let isRead: Bool
        do throws(JSONScanner.Malformed) {
            _ = try scanner.value()
            try scanner.expectEnd()
            isRead = true
        } catch { isRead = false }
        #expect(isRead == test.isRead)
    }

    /// Foundation reads these, against RFC 8259.
    private static let foundationReads: Set = [
        "n_trailing_comma_0", "n_trailing_comma_1", "n_trailing_comma_2", "n_trailing_comma_3",
    ]

    @Test("Foundation reads and refuses the same, and reads the same values", arguments: cases.filter { $0.kind != .i })
    func agreesWithFoundation(_ test: Case) throws {
        let data = Data(test.bytes)
        let isRead = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
        #expect(isRead == (test.isRead || Self.foundationReads.contains(test.name)))
        guard test.isRead else { return }
        var scanner = JSONScanner(test.bytes)
        #expect(try scanner.tree() == JSONDecoder().decode(JSONValue.self, from: data))
    }

    @Test("the last value of a repeated name counts, and a number beyond a double is an infinity") func decisions()
        throws
    {
        func tree(_ text: String) throws -> JSONValue {
            var scanner = JSONScanner(Array(text.utf8))
            return try scanner.tree()
        }
        #expect(try tree(#"{"a":1,"\u0061":2}"#) == .object(["a": .number(2)]))
        #expect(try tree("1e400") == .number(.infinity) && tree("-1e400") == .number(-.infinity))
        #expect(try tree("1e-400") == .number(0))
        #expect(try tree(#""\ud83d""#) == .string("\u{FFFD}"))
    }

    @Test("every cut of a text is refused, and every changed byte survived") func damage() throws {
        let text = Array(#"{"a":[1,-2.5e3,"é\n\ud83d\ude00",{"b":null,"c":[true,false]}],"d":"\u0041"}"#.utf8)
        try read(text, strict: true)
        for length in 0..<text.count {
            #expect(throws: JSONScanner.Malformed.self) { try read(Array(text.prefix(length)), strict: false) }
        }
        for at in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[at] = byte
                // A strict text is one that Foundation can read.
                if (try? read(changed, strict: true)) != nil {
                    #expect(throws: Never.self) {
                        try JSONSerialization.jsonObject(with: Data(changed), options: .fragmentsAllowed)
                    }
                }
            }
        }
    }
}
