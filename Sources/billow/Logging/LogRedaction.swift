import Foundation
import Synchronization
import UpstreamKit

/// The secrets of all settings that were read. A former one stays secret.
final class SecretRegister: Sendable {
    private let secrets: Mutex<[Secret]>

    init(_ secrets: [Secret] = []) { self.secrets = Mutex(secrets) }

    var all: [Secret] { secrets.withLock { $0 } }

    func add(_ secrets: [Secret]) { self.secrets.withLock { $0 += Set(secrets).subtracting($0) } }
}

/// Removes secrets from every line before it is written: secrets of the settings, access keys, and signatures. Code
/// that logs must avoid secrets anyway; this is the second line of defence.
struct LogRedaction: Sendable {
    private let secrets: SecretRegister

    /// - Parameter secrets: the secrets of the settings.
    init(_ secrets: [Secret] = []) { self.init(SecretRegister(secrets)) }

    init(_ secrets: SecretRegister) { self.secrets = secrets }

    private static let mark = "[secret]"
    /// The texts before a secret, the length of an id between the text and the secret, and the secret's minimum number
    /// of hexadecimal digits.
    private static let prefixes: [(text: String, id: Int, digits: Int)] = [("bk_", 17, 64), ("sig=", 0, 16)]

    func redacted(_ text: String) -> String {
        Self.prefixes.reduce(Secret.redacting(secrets.all, in: text)) { text, prefix in
            text.contains(prefix.text) ? Self.redacted(text, after: prefix) : text
        }
    }

    /// - Parameter prefix: one of `prefixes`.
    private static func redacted(_ text: String, after prefix: (text: String, id: Int, digits: Int)) -> String {
        var result = ""
        var rest = text[...]
        while let found = rest.range(of: prefix.text) {
            let start = rest.index(found.upperBound, offsetBy: prefix.id, limitedBy: rest.endIndex) ?? rest.endIndex
            let secret = rest[start...].prefix { $0.isHexDigit }
            result += rest[..<start]
            if secret.count >= prefix.digits { result += mark } else { result += secret }
            rest = rest[secret.endIndex...]
        }
        return result + rest
    }
}
