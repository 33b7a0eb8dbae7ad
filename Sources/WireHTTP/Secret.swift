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
    public var fingerprint: String {
        SHA256.hash(data: Data(value.utf8)).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A text without them.
    package static func redacting(_ secrets: [Secret], in text: String) -> String {
        secrets.reduce(text) { $0.replacing($1.value, with: "[secret]") }
    }
}
