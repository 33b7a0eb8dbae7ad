package import BillowStore
import Crypto
import Foundation
package import Turbulence

/// A key's text: `bk_`, its id (16 hexadecimal digits), `_`, and 256 random bits (64 digits). It is shown once, when it
/// is made; what is kept is its hash.
package struct KeyText: Sendable, CustomStringConvertible {
    package let text: String
    package let id: String

    private static let prefix = "bk_"
    private static let idDigits = 16
    private static let secretDigits = 64

    /// A new one, by the system's random numbers.
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

    /// nil where a text doesn't have the form of a key.
    package init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, "\(parts[0])_" == Self.prefix, parts[1].utf8.count == Self.idDigits,
            parts[2].utf8.count == Self.secretDigits, parts[1...].allSatisfy({ Hexadecimal.bytes($0) != nil })
        else { return nil }
        self.init(text: text, id: String(parts[1]))
    }

    /// The record that is kept of it.
    package func record(name: String, scopes: AccessScopes, createdAt: Instant) -> AccessKey {
        AccessKey(id: id, name: name, hash: Hexadecimal.text(hash), scopes: scopes, createdAt: createdAt)
    }

    private var hash: SHA256Digest { SHA256.hash(data: Data(text.utf8)) }

    /// Whether it is the key of a record, in a time that doesn't depend on where they differ.
    package func opens(_ key: AccessKey) -> Bool {
        guard let kept = Hexadecimal.bytes(key.hash) else { return false }
        // The digest's comparison with bytes takes constant time.
        return hash == kept
    }

    /// The signature of an address, 64 hexadecimal digits: see `SignedAddress`.
    package func signature(of address: String) -> String {
        Self.signature(of: address, hash: Array(hash))
    }

    fileprivate static func signature(of address: String, hash: [UInt8]) -> String {
        Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Data(address.utf8), using: SymmetricKey(data: hash)))
    }

    /// Not the text: a key must not land in a log.
    package var description: String { "key \(id)" }
}

/// An address that opens itself, for whoever can't send a header: its path and query as they stand, with `key` (the
/// key's id) and `expires` (Unix seconds) in the query and, as the last parameter, `sig`: the HMAC-SHA256 of all that
/// stands before `&sig=`, under the SHA-256 of the key's text.
///
/// The server can check it with the hash that it keeps, so whoever has the database can sign; therefore a signed
/// address only reads, and the database has all that can be read.
package struct SignedAddress: Sendable {
    /// The parameters that are about access and not about the picture.
    package static let parameters: Set<String> = ["key", "expires", "sig"]

    package let keyID: String
    package let expires: Instant
    private let signed: String
    private let signature: [UInt8]

    /// An address carries a signature that can't be read.
    package struct Unreadable: Error {}

    /// Reads the address of a request; nil where it carries no signature.
    /// - Throws: `Unreadable` where it carries one that can't be read.
    package init?(path: String, query: String?, parameters: (String) -> String?) throws(Unreadable) {
        guard let given = parameters("sig") else { return nil }
        let marker = "&sig="
        let address = path + (query.map { "?\($0)" } ?? "")
        guard let keyID = parameters("key"), let expires = parameters("expires").flatMap(Digits.integer),
            let instant = Instant(seconds: expires), let signature = Hexadecimal.bytes(given), signature.count == 32,
            address.hasSuffix(marker + given)
        else {
            throw Unreadable()
        }
        self.keyID = keyID
        self.expires = instant
        self.signed = String(address.dropLast(marker.utf8.count + given.utf8.count))
        self.signature = signature
    }

    /// Whether a key signed it, in a time that doesn't depend on where the signatures differ.
    package func isSigned(by key: AccessKey) -> Bool {
        guard let hash = Hexadecimal.bytes(key.hash) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            signature, authenticating: Data(signed.utf8), using: SymmetricKey(data: hash))
    }

    /// Signs a path with its query, until an instant.
    package static func sign(_ address: String, with key: KeyText, expires: Instant) -> String {
        sign(address, keyID: key.id, expires: expires, signature: key.signature)
    }

    /// The same by what is kept of a key; nil where that can't be read.
    package static func sign(_ address: String, with key: AccessKey, expires: Instant) -> String? {
        Hexadecimal.bytes(key.hash).map { hash in
            sign(address, keyID: key.id, expires: expires) { KeyText.signature(of: $0, hash: hash) }
        }
    }

    private static func sign(
        _ address: String, keyID: String, expires: Instant, signature: (String) -> String
    ) -> String {
        let address = address + (address.contains("?") ? "&" : "?") + "key=\(keyID)&expires=\(expires.seconds)"
        return address + "&sig=" + signature(address)
    }
}

/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }

    /// nil for anything but pairs of digits, lower case.
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
