package import JSONKit

/// Why the body of a successful response can't be parsed.
public enum UnreadableResponse: Error, Sendable, Hashable {
    /// The connection ended before the body did.
    case truncated
    /// The body is empty.
    case empty
    /// The body is an HTML page.
    case html
    /// The body isn't JSON from this byte on, or is truncated there.
    case notJSON(atByte: Int)
    /// A mandatory member is missing, or has another type.
    case missing(String)
    /// Parallel arrays have different lengths, so that no row is valid.
    case unequalArrays([Int])
    /// The document can't be decoded; the text gives the reason.
    case undecodable(String)
}

extension UnreadableResponse: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated: "answer cut off by the connection"
        case .empty: "empty answer"
        case .html: "an HTML page instead of an answer"
        case .notJSON(let byte): "answer is not JSON at byte \(byte)"
        case .missing(let what): "answer lacks \(what)"
        case .unequalArrays(let counts): "parallel arrays of unequal lengths \(counts)"
        case .undecodable(let reason): "answer can't be read: \(reason)"
        }
    }
}

extension UnreadableResponse {
    /// Parses a JSON body; `body` must consume its single value.
    package static func reading(
        _ bytes: [UInt8], _ body: (inout JSONScanner) throws(JSONScanner.Malformed) -> Void
    ) throws(UnreadableResponse) {
        var scanner = JSONScanner(bytes)
        guard let first = scanner.peek() else { throw .empty }
        if first == UInt8(ascii: "<") { throw .html }
        do throws(JSONScanner.Malformed) {
            try body(&scanner)
            try scanner.expectEnd()
        } catch {
            throw .notJSON(atByte: error.atByte)
        }
    }
}
