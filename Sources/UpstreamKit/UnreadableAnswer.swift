package import JSONKit

/// How the body of a good answer can't be read.
public enum UnreadableAnswer: Error, Sendable, Hashable {
    /// The connection ended before the body did.
    case truncated
    /// No byte at all.
    case empty
    /// A page for people.
    case html
    /// Not JSON from this byte on, or cut off there.
    case notJSON(atByte: Int)
    /// JSON without what must be there, or with something else in its place.
    case missing(String)
    /// Parallel arrays of unequal length, so that no row can be trusted.
    case unequalArrays([Int])
    /// A document that its decoder refuses as a whole; why.
    case undecodable(String)
}

extension UnreadableAnswer: CustomStringConvertible {
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

extension UnreadableAnswer {
    /// Reads a body of JSON: `body` must consume its one value.
    package static func reading(
        _ bytes: [UInt8], _ body: (inout JSONScanner) throws(JSONScanner.Malformed) -> Void
    ) throws(UnreadableAnswer) {
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
