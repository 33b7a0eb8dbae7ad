public import WireHTTP

public typealias SkyPathProblem = UpstreamProblem

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

    public typealias Unreadable = UnreadableAnswer

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
        case .unreadable(let reason): "\(reason)"
        case .tooLarge(let limit): "answer larger than \(limit) bytes"
        case .timeout: "no complete answer in time"
        case .unreachable(let reason): "unreachable: \(reason)"
        case .cancelled: "cancelled"
        case .invalidQuery(let reason): "query not sent: \(reason)"
        case .invalidConfiguration(let reasons): reasons.joined(separator: "; ")
        }
    }
}
