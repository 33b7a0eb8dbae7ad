/// The error of an upstream call: one type for all upstreams. It never contains a key, a token or a body.
public enum UpstreamError: Error, Sendable, Hashable {
    /// 401: the upstream rejects the key, the credentials or the session.
    case unauthorized(UpstreamProblem)
    /// 403: the account lacks permission. If no key is sent, the upstream has blocked this client.
    case forbidden(UpstreamProblem)
    /// 423: the account is temporarily locked after too many failed attempts.
    case locked(UpstreamProblem, retryAfterSeconds: Int?)
    /// 429: there were too many requests.
    case rateLimited(UpstreamProblem, retryAfterSeconds: Int?)
    /// The call wasn't sent, because it would use up a credit budget too early.
    case creditsSpent(budget: String, retryAfterSeconds: Int)
    /// 426: the upstream no longer serves this kind of client.
    case upgradeRequired(UpstreamProblem)
    /// Any other 4xx. For a delta, the cursor may have expired, so fetch everything.
    case invalidRequest(UpstreamProblem)
    /// 5xx: the upstream failed.
    case server(UpstreamProblem, retryAfterSeconds: Int?)
    /// 1xx or 3xx, or a 2xx that the call doesn't support.
    case unexpectedStatus(Int)
    /// The status was successful, but the body can't be parsed.
    case unreadable(UnreadableResponse)
    /// The body is longer than the setting allows.
    case tooLarge(limitBytes: Int)
    /// The response wasn't complete within the timeout, or was a 408.
    case timeout
    /// There was no connection, or it ended before a response; the text gives the reason.
    case unreachable(String)
    /// The task was cancelled.
    case cancelled
    /// The query exceeds a limit of the upstream and wasn't sent.
    case invalidQuery(String)
    /// The configuration is invalid, for all of these reasons.
    case invalidConfiguration([String])

    /// The machine-readable code of an error. The raw values are stable: events, `/status` and the documents use them.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The upstream rejects the key.
        case unauthorized
        /// The upstream has locked the account.
        case locked
        /// The account may not have this data.
        case disabled
        /// There were too many requests.
        case rateLimited = "rate-limited"
        /// The day's credits are used up.
        case creditsSpent = "credits"
        /// The upstream no longer serves this client.
        case upgradeRequired = "upgrade-required"
        /// The upstream rejects the query.
        case queryRefused = "query-refused"
        /// The query exceeds a limit and wasn't sent.
        case queryInvalid = "query-invalid"
        /// The upstream responded with a status of 500 or above.
        case upstreamError = "upstream-error"
        /// The upstream responded with an unsupported status.
        case unexpectedStatus = "unexpected-status"
        /// The response, or every record in it, can't be parsed.
        case unreadable
        /// The response is larger than the limit.
        case tooLarge = "too-large"
        /// There was no response within the timeout.
        case timeout
        /// The upstream can't be reached.
        case unreachable
        /// The configuration is invalid.
        case configurationInvalid = "configuration-invalid"
        /// The task was cancelled.
        case cancelled

        /// The meaning for the documentation: at most 20 words, without a full stop.
        public var meaning: String {
            switch self {
            case .unauthorized: "the upstream refuses the key"
            case .locked: "the upstream has locked the account"
            case .disabled: "the account may not read this data"
            case .rateLimited: "the upstream received too many requests"
            case .creditsSpent: "the day's credits are spent"
            case .upgradeRequired: "the upstream no longer serves this version of the client"
            case .queryRefused: "the upstream refuses the query"
            case .queryInvalid: "the query can't be sent to the upstream"
            case .upstreamError: "the upstream answered with a status of 500 or above"
            case .unexpectedStatus: "the upstream answered with an unexpected status"
            case .unreadable: "the response, or every record in it, can't be read"
            case .tooLarge: "the response is larger than the limit"
            case .timeout: "the upstream did not answer in time"
            case .unreachable: "the upstream can't be reached"
            case .configurationInvalid: "the source's settings can't be used"
            case .cancelled: "a change of settings or a shutdown ended the round; no event has this code"
            }
        }
    }

    /// The machine-readable code.
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

    /// Whether the same call may succeed later without any change here.
    public var isTransient: Bool {
        switch self {
        case .rateLimited, .creditsSpent, .server, .unreadable, .timeout, .unreachable, .locked: true
        case .unauthorized, .forbidden, .upgradeRequired, .invalidRequest, .unexpectedStatus, .tooLarge, .cancelled,
            .invalidQuery, .invalidConfiguration:
            false
        }
    }

    /// The seconds to wait before the next call, 0…86,400; nil if unknown.
    public var retryAfterSeconds: Int? {
        switch self {
        case .rateLimited(_, let seconds), .server(_, let seconds), .locked(_, let seconds): seconds
        case .creditsSpent(_, let seconds): seconds
        default: nil
        }
    }

    /// The upstream's error response, if there was one.
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
            "too many requests\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .creditsSpent(let budget, let seconds):
            "no request sent: the \(budget) credits must last, wait \(seconds) s"
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
