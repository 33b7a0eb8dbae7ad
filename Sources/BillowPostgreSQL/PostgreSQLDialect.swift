/// Translates the log's queries from the text that SQLite reads to PostgreSQL's.
///
/// - Placeholders `?` and `?1` become `$1`.
/// - `max` and `min` with several arguments become `GREATEST` and `LEAST`. No argument of them is NULL in our queries.
/// - `INDEXED BY …` and `NOT INDEXED` are left out.
/// - Rows have no checksums, because the server checks its pages: `row_sum(…)` becomes 0 where a row is written, and a
///   comparison with it becomes TRUE.
enum PostgreSQLDialect {
    static func translated(_ sql: String) -> String {
        var translation = Translation(tokens: tokens(sql))
        return translation.run()
    }

    /// The types to declare for the parameters of a translated query: for unused ones a type, because the server can't
    /// infer it, and 0 for the others.
    static func declaredTypes(_ translated: String) -> [UInt32] {
        var used = Set<Int>()
        var rest = translated[...]
        while let mark = rest.firstIndex(of: "$") {
            rest = rest[rest.index(after: mark)...]
            if let number = Int(rest.prefix { $0.isNumber }) { used.insert(number) }
        }
        guard let last = used.max(), last > 0 else { return [] }
        return (1...last).map { used.contains($0) ? 0 : UInt32.int8 }
    }

    /// Words, numbers, placeholders, quoted text, white space and single other characters.
    static func tokens(_ sql: String) -> [Substring] {
        var tokens: [Substring] = []
        var rest = sql[...]
        while let first = rest.first {
            var end = rest.index(after: rest.startIndex)
            if first == "'" || first == "\"" {
                if let close = rest[end...].firstIndex(of: first) { end = rest.index(after: close) }
            } else if isWord(first) {
                end = rest.firstIndex { !isWord($0) } ?? rest.endIndex
            } else if first == "?" {
                end = rest[end...].firstIndex { !$0.isNumber } ?? rest.endIndex
            } else if first.isWhitespace {
                end = rest.firstIndex { !$0.isWhitespace } ?? rest.endIndex
            }
            tokens.append(rest[..<end])
            rest = rest[end...]
        }
        return tokens
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}

/// The state of one translation.
private struct Translation {
    let tokens: [Substring]
    private var index = 0
    private var placeholders = 0

    init(tokens: [Substring]) { self.tokens = tokens }

    mutating func run() -> String { translated(upTo: tokens.endIndex) }

    private mutating func translated(upTo end: Int) -> String {
        var text = ""
        while index < end {
            let token = tokens[index]
            if token.first == "?" {
                text += placeholder(token)
                index += 1
            } else if token == "max" || token == "min", let arguments = arguments(after: index) {
                let isScalar = arguments.hasSeveral
                text += isScalar ? (token == "max" ? "GREATEST" : "LEAST") : String(token)
                index += 1
            } else if token == "row_sum", let arguments = arguments(after: index) {
                text = withoutSum(text)
                index = arguments.end
            } else if token == "INDEXED" {
                text = withoutIndexHint(text)
            } else {
                text += token
                index += 1
            }
        }
        return text
    }

    private mutating func placeholder(_ token: Substring) -> String {
        if token.count > 1 { return "$" + token.dropFirst() }
        placeholders += 1
        return "$\(placeholders)"
    }

    /// The end of a function's arguments, and whether there are several; nil if no parenthesis follows.
    private func arguments(after name: Int) -> (end: Int, hasSeveral: Bool)? {
        guard name + 1 < tokens.count, tokens[name + 1] == "(" else { return nil }
        var depth = 0
        var hasSeveral = false
        for place in name + 1..<tokens.count {
            switch tokens[place] {
            case "(": depth += 1
            case ")":
                depth -= 1
                if depth == 0 { return (place + 1, hasSeveral) }
            case ",": hasSeveral = hasSeveral || depth == 1
            default: break
            }
        }
        return nil
    }

    /// The text before a checksum, with what replaces it: 0 as a value, TRUE for a comparison.
    private func withoutSum(_ text: String) -> String {
        // A wrong checksum is the complement of the right one.
        let text = text.hasSuffix("~") ? String(text.dropLast()) : text
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.last == "=", words.count > 2 else { return text + "0" }
        let isAssignment = words[words.count - 3].hasSuffix(",") || words[words.count - 3] == "SET"
        if isAssignment { return text + "0" }
        guard let equals = text.lastIndex(of: "=") else { return text + "0" }
        // The column's name goes with the comparison.
        let kept = text[..<equals].reversed().drop { $0.isWhitespace }.drop { $0.isLetter || $0 == "." }
        return String(kept.reversed()) + "TRUE"
    }

    private mutating func withoutIndexHint(_ text: String) -> String {
        if text.hasSuffix("NOT ") {
            index += 1
            return String(text.dropLast(4))
        }
        // `INDEXED BY name`, with white space between the words.
        index += 5
        return text
    }
}
