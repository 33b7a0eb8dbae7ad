/// What an upstream said when it refused, without secrets. `code` and `message` come from the envelope where there is one.
public struct SkyPathProblem: Sendable, Hashable {
    /// The HTTP status.
    public let status: Int
    /// The machine code, `FST_ERR_VALIDATION` for instance.
    public let code: String?
    /// At most 500 characters.
    public let message: String?

    public init(status: Int, code: String? = nil, message: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
    }
}

/// Why a call gave nothing. None holds a key, a token or a body.
public enum SkyPathError: Error, Sendable, Hashable {
    /// 401: the key is wrong, or the session ended.
    case unauthorized(SkyPathProblem)
    /// 403: not entitled, or the feature is disabled (code FEATURE_DISABLED).
    case forbidden(SkyPathProblem)
    /// 423: locked for a while after too many failed attempts.
    case locked(SkyPathProblem, retryAfterSeconds: Int?)
    /// 429.
    case rateLimited(SkyPathProblem, retryAfterSeconds: Int?)
    /// 426: this kind of client is not served any more.
    case upgradeRequired(SkyPathProblem)
    /// Any other 4xx. On a delta: the cursor may have expired, so fetch whole.
    case invalidRequest(SkyPathProblem)
    /// 5xx.
    case server(SkyPathProblem, retryAfterSeconds: Int?)
    /// 1xx or 3xx, or a 2xx other than 200.
    case unexpectedStatus(Int)
    /// 200, but not an answer.
    case unreadable(Unreadable)
    /// The body is longer than the setting allows.
    case tooLarge(limitBytes: Int)
    /// Not complete within the time allowed.
    case timeout
    /// No connection, or it ended before an answer; why.
    case unreachable(String)
    /// The task was cancelled.
    case cancelled
    /// The query breaks a limit; it was not sent.
    case invalidQuery(String)
    /// The configuration can't be used; all reasons.
    case invalidConfiguration([String])

    /// How a body can't be read.
    public enum Unreadable: Sendable, Hashable {
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
    }

    /// Whether the same call may work later, with nothing changed here.
    public var isTransient: Bool {
        switch self {
        case .rateLimited, .server, .unreadable, .timeout, .unreachable, .locked: true
        case .unauthorized, .forbidden, .upgradeRequired, .invalidRequest, .unexpectedStatus, .tooLarge,
            .cancelled,
            .invalidQuery, .invalidConfiguration:
            false
        }
    }

    /// Seconds that the upstream asked to wait, 0…86,400; nil where it said nothing.
    public var retryAfterSeconds: Int? {
        switch self {
        case .rateLimited(_, let seconds), .server(_, let seconds), .locked(_, let seconds): seconds
        default: nil
        }
    }

    /// What the upstream said, where it did.
    public var problem: SkyPathProblem? {
        switch self {
        case .unauthorized(let problem), .forbidden(let problem), .locked(let problem, _),
            .rateLimited(let problem, _), .upgradeRequired(let problem), .invalidRequest(let problem),
            .server(let problem, _):
            problem
        default: nil
        }
    }
}

extension SkyPathError: CustomStringConvertible {
    /// One sentence for a log or a status page.
    public var description: String {
        switch self {
        case .unauthorized(let problem): "not authorised: \(problem)"
        case .forbidden(let problem): "not entitled: \(problem)"
        case .locked(let problem, _): "locked: \(problem)"
        case .rateLimited(let problem, let seconds):
            "asked too often\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .upgradeRequired(let problem): "client too old: \(problem)"
        case .invalidRequest(let problem): "request refused: \(problem)"
        case .server(let problem, let seconds):
            "upstream failed\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .unexpectedStatus(let status): "unexpected status \(status)"
        case .unreadable(.truncated): "answer cut off by the connection"
        case .unreadable(.empty): "empty answer"
        case .unreadable(.html): "an HTML page instead of an answer"
        case .unreadable(.notJSON(let byte)): "answer is not JSON at byte \(byte)"
        case .unreadable(.missing(let what)): "answer lacks \(what)"
        case .unreadable(.unequalArrays(let counts)): "parallel arrays of unequal lengths \(counts)"
        case .tooLarge(let limit): "answer larger than \(limit) bytes"
        case .timeout: "no complete answer in time"
        case .unreachable(let reason): "unreachable: \(reason)"
        case .cancelled: "cancelled"
        case .invalidQuery(let reason): "query not sent: \(reason)"
        case .invalidConfiguration(let reasons): reasons.joined(separator: "; ")
        }
    }
}

extension SkyPathProblem: CustomStringConvertible {
    public var description: String {
        "HTTP \(status)" + (code.map { " \($0)" } ?? "") + (message.map { ": \($0)" } ?? "")
    }
}
