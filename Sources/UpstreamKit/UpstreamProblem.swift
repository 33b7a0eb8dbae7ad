import JSONKit

/// An upstream's error response without secrets. `code` and `message` come from the body, if it has them.
public struct UpstreamProblem: Sendable, Hashable {
    /// The HTTP status.
    public let status: Int
    /// The machine code, for instance `FST_ERR_VALIDATION`.
    public let code: String?
    /// The message, at most 500 characters.
    public let message: String?

    /// Makes a problem.
    public init(status: Int, code: String? = nil, message: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
    }
}

extension UpstreamProblem: CustomStringConvertible {
    public var description: String {
        "HTTP \(status)" + (code.map { " \($0)" } ?? "") + (message.map { ": \($0)" } ?? "")
    }
}

extension UpstreamProblem {
    /// Parses an error's body. The members are in its top-level object or in that object's `data`. Members that are
    /// missing or of another type are nil.
    ///
    /// - Parameters:
    ///   - codeName: the member with the code; nil for none.
    ///   - messageName: the member with the message.
    package init(
        status: Int, body: [UInt8], codeName: String? = "code", messageName: String = "message",
        redacting secrets: [Secret]
    ) {
        var code: String?
        var message: String?
        func member(_ scanner: inout JSONScanner, _ key: JSONScanner.Key) throws(JSONScanner.Malformed) {
            let isCode = codeName.map { scanner.matches(key, Array($0.utf8)) } ?? false
            let isMessage = scanner.matches(key, Array(messageName.utf8))
            if case .string(let range, let escaped) = try scanner.value() {
                let text = scanner.text(range, escaped: escaped)
                if isCode { code = text }
                if isMessage { message = text }
            }
        }
        var scanner = JSONScanner(body)
        // If the JSON is malformed, the members parsed before that are still used.
        try? scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
            if scanner.matches(key, Array("data".utf8)), scanner.peek() == UInt8(ascii: "{") {
                try scanner.object(member)
            } else {
                try member(&scanner, key)
            }
        }
        func clean(_ text: String) -> String { String(Secret.redacting(secrets, in: text).printable.prefix(500)) }
        self.init(status: status, code: code.map(clean), message: message.map(clean))
    }
}
