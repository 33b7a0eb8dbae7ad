/// Why a call of an upstream gave nothing: one type for all upstreams. None holds a key, a token or a body.
public enum UpstreamError: Error, Sendable, Hashable {
    /// 401: the upstream refuses the key, the credentials or the session.
    case unauthorized(UpstreamProblem)
    /// 403: the account may not have this; or, where no key is sent, the upstream has blocked us.
    case forbidden(UpstreamProblem)
    /// 423: locked for a while after too many failed attempts.
    case locked(UpstreamProblem, retryAfterSeconds: Int?)
    /// 429.
    case rateLimited(UpstreamProblem, retryAfterSeconds: Int?)
    /// Not sent: the call would use up a budget of credits before its time.
    case creditsSpent(budget: String, retryAfterSeconds: Int)
    /// 426: this kind of client is not served any more.
    case upgradeRequired(UpstreamProblem)
    /// Any other 4xx. On a delta: the cursor may have expired, so fetch everything.
    case invalidRequest(UpstreamProblem)
    /// 5xx.
    case server(UpstreamProblem, retryAfterSeconds: Int?)
    /// 1xx or 3xx, or a 2xx that the call doesn't know.
    case unexpectedStatus(Int)
    /// A good status, but not an answer.
    case unreadable(UnreadableAnswer)
    /// The body is longer than the setting allows.
    case tooLarge(limitBytes: Int)
    /// Not complete within the time allowed, or 408.
    case timeout
    /// No connection, or it ended before an answer; why.
    case unreachable(String)
    /// The task was cancelled.
    case cancelled
    /// The query breaks a limit of the upstream; it was not sent.
    case invalidQuery(String)
    /// The configuration can't be used; all reasons.
    case invalidConfiguration([String])

    /// What went wrong, for programs. The raw values are stable: events, `/status` and the documents name them.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The upstream refuses the key.
        case unauthorized
        /// The upstream has locked the account.
        case locked
        /// The upstream won't give this data to the account.
        case disabled
        /// The upstream was asked too often.
        case rateLimited = "rate-limited"
        /// The day's credits are spent.
        case creditsSpent = "credits"
        /// The upstream doesn't serve this client any more.
        case upgradeRequired = "upgrade-required"
        /// The upstream refuses the query.
        case queryRefused = "query-refused"
        /// The query breaks a limit, and was not sent.
        case queryInvalid = "query-invalid"
        /// The upstream answered with a status from 500 on.
        case upstreamError = "upstream-error"
        /// The upstream answered with a status that means nothing here.
        case unexpectedStatus = "unexpected-status"
        /// The answer, or every record in it, can't be read.
        case unreadable
        /// The answer is larger than the limit.
        case tooLarge = "too-large"
        /// There was no answer in time.
        case timeout
        /// The upstream can't be reached.
        case unreachable
        /// The configuration can't be used.
        case configurationInvalid = "configuration-invalid"
        /// The task was cancelled.
        case cancelled

        /// The meaning for the documentation: at most 20 words, without a stop.
        public var meaning: String {
            switch self {
            case .unauthorized: "the upstream refuses the key"
            case .locked: "the upstream has locked the account"
            case .disabled: "the upstream won't give this data to the account"
            case .rateLimited: "the upstream was asked too often"
            case .creditsSpent: "the day's credits are spent"
            case .upgradeRequired: "the upstream doesn't serve this client any more"
            case .queryRefused: "the upstream refuses the query"
            case .queryInvalid: "the upstream can't be asked the query"
            case .upstreamError: "the upstream answered with a status from 500 on"
            case .unexpectedStatus: "the upstream answered with a status that means nothing here"
            case .unreadable: "the answer, or every record in it, can't be read"
            case .tooLarge: "the answer is larger than the limit"
            case .timeout: "there was no answer in time"
            case .unreachable: "the upstream can't be reached"
            case .configurationInvalid: "the source's settings can't be used"
            case .cancelled: "a change or a shutdown ended the round; no event has this code"
            }
        }
    }

    /// What went wrong, for programs.
    public var code: Code {
        switch self {
        case .unauthorized: .unauthorized
        case .forbidden: .disabled
        case .locked: .locked
        case .rateLimited: .rateLimited
        case .creditsSpent: .creditsSpent
        case .upgradeRequired: .upgradeRequired
        case .invalidRequest: .queryRefused
        case .server: .upstreamError
        case .unexpectedStatus: .unexpectedStatus
        case .unreadable: .unreadable
        case .tooLarge: .tooLarge
        case .timeout: .timeout
        case .unreachable: .unreachable
        case .cancelled: .cancelled
        case .invalidQuery: .queryInvalid
        case .invalidConfiguration: .configurationInvalid
        }
    }

    /// Whether the same call may work later, with nothing changed here.
    public var isTransient: Bool {
        switch self {
        case .rateLimited, .creditsSpent, .server, .unreadable, .timeout, .unreachable, .locked: true
        case .unauthorized, .forbidden, .upgradeRequired, .invalidRequest, .unexpectedStatus, .tooLarge, .cancelled,
            .invalidQuery, .invalidConfiguration:
            false
        }
    }

    /// Seconds to wait before the next call, 0…86,400; nil where none are known.
    public var retryAfterSeconds: Int? {
        switch self {
        case .rateLimited(_, let seconds), .server(_, let seconds), .locked(_, let seconds): seconds
        case .creditsSpent(_, let seconds): seconds
        default: nil
        }
    }

    /// The words of the upstream, where it refused.
    public var problem: UpstreamProblem? {
        switch self {
        case .unauthorized(let problem), .forbidden(let problem), .locked(let problem, _),
            .rateLimited(let problem, _), .upgradeRequired(let problem), .invalidRequest(let problem),
            .server(let problem, _):
            problem
        default: nil
        }
    }
}

extension UpstreamError: CustomStringConvertible {
    /// One sentence for a log or a status page.
    public var description: String {
        switch self {
        case .unauthorized(let problem): "not authorised: \(problem)"
        case .forbidden(let problem): "not entitled: \(problem)"
        case .locked(let problem, _): "locked: \(problem)"
        case .rateLimited(let problem, let seconds):
            "asked too often\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .creditsSpent(let budget, let seconds):
            "not asked: the \(budget) credits must last, wait \(seconds) s"
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
