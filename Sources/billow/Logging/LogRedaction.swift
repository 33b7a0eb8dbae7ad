import Foundation
import UpstreamKit

/// Takes secrets out of every line before it is written: those of the settings, access keys, and signatures. Whoever
/// logs takes care already; this holds where somebody forgets.
struct LogRedaction: Sendable {
    private let secrets: [Secret]

    /// - Parameter secrets: of the settings.
    init(_ secrets: [Secret] = []) { self.secrets = secrets }

    private static let mark = "[secret]"
    /// What stands before a secret of this many hexadecimal digits at least.
    private static let prefixes: [(text: String, id: Int, digits: Int)] = [("bk_", 17, 64), ("sig=", 0, 16)]

    func redacted(_ text: String) -> String {
        Self.prefixes.reduce(Secret.redacting(secrets, in: text)) { text, prefix in
            text.contains(prefix.text) ? Self.redacted(text, after: prefix) : text
        }
    }

    /// - Parameter prefix: its text, how many characters of an id follow, and how many digits of a secret.
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
