import NIOHTTP1
// `Secret`, `UpstreamProblem` and `UnreadableAnswer` belong to what a user of this library names, without a second import.
@_exported public import WireHTTP

/// Why a call gave nothing. None holds a secret, a token or a body.
public enum OpenSkyError: Error, Sendable, Hashable {
    /// 401, after the token was renewed once; or the API client's credentials are refused.
    case unauthorized(UpstreamProblem)
    /// 403: own state vectors without credentials.
    case forbidden(UpstreamProblem)
    /// 429: the credits are used up.
    case rateLimited(UpstreamProblem, retryAfterSeconds: Int?)
    /// Not sent: the call would use up the credits before their time.
    case creditsSpent(CreditBucket, retryAfterSeconds: Int)
    /// Any other 4xx.
    case invalidRequest(UpstreamProblem)
    /// 5xx.
    case server(UpstreamProblem, retryAfterSeconds: Int?)
    /// 1xx or 3xx, or a 2xx other than 200.
    case unexpectedStatus(Int)
    /// 200, but not an answer.
    case unreadable(UnreadableAnswer)
    /// The body is longer than the setting allows.
    case tooLarge(limitBytes: Int)
    /// Not complete within the time allowed.
    case timeout
    /// No connection, or it ended before an answer; why.
    case unreachable(String)
    /// The task was cancelled.
    case cancelled
    /// The query breaks a limit of the service; it was not sent.
    case invalidQuery(String)
    /// The configuration can't be used; all reasons.
    case invalidConfiguration([String])

    /// Whether the same call may work later, with nothing changed here.
    public var isTransient: Bool {
        switch self {
        case .rateLimited, .creditsSpent, .server, .unreadable, .timeout, .unreachable: true
        case .unauthorized, .forbidden, .invalidRequest, .unexpectedStatus, .tooLarge, .cancelled, .invalidQuery,
            .invalidConfiguration:
            false
        }
    }

    /// Seconds to wait before the next call, where it is known.
    public var retryAfterSeconds: Int? {
        switch self {
        case .rateLimited(_, let seconds), .server(_, let seconds): seconds
        case .creditsSpent(_, let seconds): seconds
        default: nil
        }
    }
}

extension OpenSkyError: CustomStringConvertible {
    /// One sentence for a log or a status page.
    public var description: String {
        switch self {
        case .unauthorized(let problem): "not authorised: \(problem)"
        case .forbidden(let problem): "not allowed: \(problem)"
        case .rateLimited(let problem, let seconds):
            "credits used up\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .creditsSpent(let bucket, let seconds):
            "not asked: the \(bucket.rawValue) credits must last, wait \(seconds) s"
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

extension OpenSkyError {
    init(_ failure: Exchange.Failure) {
        self =
            switch failure {
            case .truncated: .unreadable(.truncated)
            case .tooLarge(let limit): .tooLarge(limitBytes: limit)
            case .timeout: .timeout
            case .unreachable(let reason): .unreachable(reason)
            case .cancelled: .cancelled
            }
    }

    /// Of an answer that isn't 200.
    init(
        _ answer: Exchange.Answer, codeName: String = "error", messageName: String = "message", secrets: [Secret],
        now: Int
    ) {
        let status = answer.status
        let problem = UpstreamProblem(
            status: status, body: answer.bytes, codeName: codeName, messageName: messageName, redacting: secrets)
        let header =
            answer.headers.first(name: "x-rate-limit-retry-after-seconds")
            ?? answer.headers.first(name: "retry-after")
        let retryAfter = header.flatMap { RetryAfter.seconds($0, now: now) }
        self =
            switch status {
            case 401: .unauthorized(problem)
            case 403: .forbidden(problem)
            case 408: .timeout
            case 429: .rateLimited(problem, retryAfterSeconds: retryAfter)
            case 400..<500: .invalidRequest(problem)
            case 500..<600: .server(problem, retryAfterSeconds: retryAfter)
            default: .unexpectedStatus(status)
            }
    }
}
