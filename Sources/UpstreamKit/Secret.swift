import Digests
import Foundation

/// A key or token. It prints as `[secret]` wherever it is interpolated, dumped or reflected.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret in clear text, only for sending.
    package let value: String

    /// Returns nil unless the text is 1 to 8,192 visible ASCII characters, which fit a header.
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
    /// Identifies the secret without revealing it: the first 64 bits of its SHA-256.
    package var fingerprint: String {
        SHA256.hash(value.utf8).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Shorter secrets may be ordinary words. They are redacted only if they aren't part of a longer word.
    private static let shortest = 8
    /// Texts shorter than this aren't redacted, because they would occur in many sentences.
    private static let shortestWord = 4

    /// The text with the secrets redacted.
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
