/// Escapes text for XML documents.
package enum XMLText {
    /// Text for an element or an attribute. The five special characters become entities; characters that XML 1.0
    /// forbids become U+FFFD.
    ///
    /// Source: Extensible Markup Language (XML) 1.0 (Fifth Edition), section 2.2
    package static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                result.unicodeScalars.append(character)
            default: result += "\u{FFFD}"
            }
        }
        return result
    }
}
