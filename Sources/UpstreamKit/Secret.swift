import Crypto
import Foundation

/// A key or token. Prints as `[secret]` wherever it is interpolated, dumped or reflected.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, only to be sent.
    package let value: String

    /// nil unless 1 to 8,192 visible ASCII characters, which is what fits a header.
    public init?(_ value: String) {
        guard !value.isEmpty, value.utf8.count <= 8_192,
            value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            return nil
        }
        self.value = value
    }

    public var description: String { "[secret]" }
    public var debugDescription: String { "[secret]" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret {
    /// Tells one secret from another without giving it away: the first 64 bits of its SHA-256.
    package var fingerprint: String {
        SHA256.hash(data: Data(value.utf8)).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Shorter ones are words that stand in many a text. They are replaced only where nothing of a word is beside them.
    private static let shortest = 8
    /// What is shorter than this is no secret, and would be found in every other sentence.
    private static let shortestWord = 4

    /// A text without them.
    package static func redacting(_ secrets: [Secret], in text: String) -> String {
        secrets.reduce(text) { text, secret in
            switch secret.value.utf8.count {
            case shortest...: text.replacing(secret.value, with: "[secret]")
            case shortestWord...: replacing(word: secret.value, in: text)
            default: text
            }
        }
    }

    private static func replacing(word: String, in text: String) -> String {
        func isPartOfWord(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
        var result = ""
        var rest = text[...]
        while let range = rest.range(of: word) {
            let before = rest[..<range.lowerBound].last ?? result.last
            let standsAlone = !isPartOfWord(before) && !isPartOfWord(rest[range.upperBound...].first)
            result += rest[..<range.lowerBound] + (standsAlone ? "[secret]" : word)
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
