package import BillowStore
import Digests
import Foundation
package import Turbulence

/// The text of a key: `bk_`, its id (16 hexadecimal digits), `_`, and 256 random bits (64 digits). It is shown once,
/// when the key is made. Only its hash is stored.
package struct KeyText: Sendable, CustomStringConvertible {
    package let text: String
    package let id: String

    private static let prefix = "bk_"
    private static let idDigits = 16
    private static let secretDigits = 64

    /// Makes a new key from the system's random numbers.
    package static func make() -> KeyText {
        func digits(_ bytes: Int) -> String {
            Hexadecimal.text((0..<bytes).map { _ in UInt8.random(in: .min ... .max) })
        }
        let id = digits(idDigits / 2)
        return KeyText(text: "\(prefix)\(id)_\(digits(secretDigits / 2))", id: id)
    }

    private init(text: String, id: String) {
        self.text = text
        self.id = id
    }

    /// nil if the text does not have the form of a key.
    package init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, "\(parts[0])_" == Self.prefix, parts[1].utf8.count == Self.idDigits,
            parts[2].utf8.count == Self.secretDigits, parts[1...].allSatisfy({ Hexadecimal.bytes($0) != nil })
        else { return nil }
        self.init(text: text, id: String(parts[1]))
    }

    /// The record to store for the key.
    package func record(name: String, scopes: AccessScopes, createdAt: Instant) -> AccessKey {
        AccessKey(id: id, name: name, hash: Hexadecimal.text(hash), scopes: scopes, createdAt: createdAt)
    }

    private var hash: [UInt8] { SHA256.hash(text.utf8) }

    /// Whether a record belongs to this key. The comparison takes constant time, so that it reveals nothing of the key.
    package func opens(_ key: AccessKey) -> Bool {
        guard let kept = Hexadecimal.bytes(key.hash) else { return false }
        return isEqualInConstantTime(hash, kept)
    }

    /// The signature of an address as 64 hexadecimal digits; see `SignedAddress`.
    package func signature(of address: String) -> String {
        Self.signature(of: address, hash: hash)
    }

    fileprivate static func signature(of address: String, hash: [UInt8]) -> String {
        Hexadecimal.text(SHA256.authenticationCode(of: address.utf8, key: hash))
    }

    /// Omits the text, because a key must not be logged.
    package var description: String { "key \(id)" }
}

/// A signed address, for clients that can't send a header. Its path and query are unchanged, with `key` (the key's id)
/// and `expires` (Unix seconds) in the query. The last parameter is `sig`: the HMAC-SHA256 of everything before
/// `&sig=`, under the SHA-256 of the key's text. With `covers` in front, the signed text is a template, which stands
/// for all addresses that are made from it.
///
/// The server verifies it with the stored hash, so a thief of the database could sign. Therefore a signed address
/// permits reading only, and the database contains everything readable.
package struct SignedAddress: Sendable {
    /// The parameters that concern access, not the picture.
    package static let parameters: Set<String> = ["key", "expires", "covers", "sig"]

    /// The variable parts of a signed template `/tiles/{layers}/{time}/{z}/{x}/{y}.{format}`. The signature covers
    /// everything else exactly, including the query.
    package enum TemplateVariables: String, Sendable, CaseIterable {
        /// `{z}`, `{x}` and `{y}`.
        case tiles
        /// `{z}`, `{x}`, `{y}` and `{time}`.
        case frames

        /// The template of a path; nil for any other path.
        func template(of path: String) -> String? {
            var segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard segments.count == 7, segments[0].isEmpty, segments[1] == "tiles",
                segments[2...].allSatisfy({ !$0.isEmpty })
            else { return nil }
            func isNumber(_ text: some StringProtocol) -> Bool {
                !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
            let row = segments[6].prefix { $0 != "." && $0 != "@" }
            guard isNumber(segments[4]), isNumber(segments[5]), isNumber(row), row.count < segments[6].count else {
                return nil
            }
            segments.replaceSubrange(4...6, with: ["{z}", "{x}", "{y}\(segments[6].dropFirst(row.count))"])
            if self == .frames { segments[3] = "{time}" }
            return segments.joined(separator: "/")
        }
    }

    package let keyID: String
    package let expires: Instant
    private let signed: String
    private let signature: [UInt8]

    /// The error for an address with an invalid signature parameter.
    package struct Unreadable: Error {
        /// The parameter `sig`.
        package var signature: String
    }

    /// Reads the address of a request; nil for an address without a signature.
    /// - Throws: `Unreadable` for an invalid signature parameter.
    package init?(path: String, query: String?, parameters: (String) -> String?) throws(Unreadable) {
        guard let given = parameters("sig") else { return nil }
        let marker = "&sig="
        var path = path
        if let covers = parameters("covers") {
            guard let template = TemplateVariables(rawValue: covers)?.template(of: path) else {
                throw Unreadable(signature: given)
            }
            path = template
        }
        let address = path + (query.map { "?\($0)" } ?? "")
        guard let keyID = parameters("key"), let expires = parameters("expires").flatMap(PlainInteger.parse),
            let instant = Instant(seconds: expires), let signature = Hexadecimal.bytes(given), signature.count == 32,
            address.hasSuffix(marker + given)
        else {
            throw Unreadable(signature: given)
        }
        self.keyID = keyID
        self.expires = instant
        self.signed = String(address.dropLast(marker.utf8.count + given.utf8.count))
        self.signature = signature
    }

    /// Whether a key made the signature. The time of the comparison does not depend on where the signatures differ.
    package func isSigned(by key: AccessKey) -> Bool {
        guard let hash = Hexadecimal.bytes(key.hash) else { return false }
        return isEqualInConstantTime(SHA256.authenticationCode(of: signed.utf8, key: hash), signature)
    }

    /// Signs a path with its query until an instant.
    /// - Parameter covers: the variable parts, if the path is a template.
    package static func sign(
        _ address: String, with key: KeyText, expires: Instant, covers: TemplateVariables? = nil
    ) -> String {
        sign(address, keyID: key.id, expires: expires, covers, signature: key.signature)
    }

    /// Signs with the stored hash of a key; nil if the hash is invalid.
    package static func sign(
        _ address: String, with key: AccessKey, expires: Instant, covers: TemplateVariables? = nil
    ) -> String? {
        Hexadecimal.bytes(key.hash).map { hash in
            sign(address, keyID: key.id, expires: expires, covers) { KeyText.signature(of: $0, hash: hash) }
        }
    }

    private static func sign(
        _ address: String, keyID: String, expires: Instant, _ covers: TemplateVariables?, signature: (String) -> String
    ) -> String {
        let address =
            address + (address.contains("?") ? "&" : "?") + "key=\(keyID)&expires=\(expires.seconds)"
            + (covers.map { "&covers=\($0.rawValue)" } ?? "")
        return address + "&sig=" + signature(address)
    }
}

/// The bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }

    /// nil for anything but pairs of lower-case digits.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let before = high {
                bytes.append(before << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }
}
