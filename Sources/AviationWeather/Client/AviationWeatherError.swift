/// What the service said when it refused.
public struct AviationWeatherProblem: Sendable, Hashable, CustomStringConvertible {
    /// The HTTP status.
    public let status: Int
    /// The service's own words, at most 500 characters.
    public let message: String?

    public init(status: Int, message: String? = nil) {
        self.status = status
        self.message = message
    }

    public var description: String { "HTTP \(status)" + (message.map { ": \($0)" } ?? "") }
}

/// Why a call gave nothing.
public enum AviationWeatherError: Error, Sendable, Hashable {
    /// 400, 404, 410 (a path that is retired) or any other 4xx but 408 and 429.
    case invalidRequest(AviationWeatherProblem)
    /// 401 or 403: blocked, as the service does with who asks too much.
    case forbidden(AviationWeatherProblem)
    /// 429.
    case rateLimited(AviationWeatherProblem, retryAfterSeconds: Int?)
    /// 5xx.
    case server(AviationWeatherProblem, retryAfterSeconds: Int?)
    /// 1xx or 3xx, or a 2xx other than 200 and 204.
    case unexpectedStatus(Int)
    /// The connection ended before the body did.
    case truncated
    /// 200 without a byte.
    case empty
    /// 200, but not an answer.
    case unreadable(DocumentError)
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

    /// Seconds that the service asked to wait, 0…86,400; nil where it said nothing.
    public var retryAfterSeconds: Int? {
        switch self {
        case .rateLimited(_, let seconds), .server(_, let seconds): seconds
        default: nil
        }
    }
}

extension AviationWeatherError: CustomStringConvertible {
    /// One sentence for a log or a status page.
    public var description: String {
        switch self {
        case .invalidRequest(let problem): "request refused: \(problem)"
        case .forbidden(let problem): "blocked: \(problem)"
        case .rateLimited(let problem, let seconds):
            "asked too often\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .server(let problem, let seconds):
            "upstream failed\(seconds.map { ", wait \($0) s" } ?? ""): \(problem)"
        case .unexpectedStatus(let status): "unexpected status \(status)"
        case .truncated: "answer cut off by the connection"
        case .empty: "empty answer"
        case .unreadable(let error): "answer can't be read: \(error)"
        case .tooLarge(let limit): "answer larger than \(limit) bytes"
        case .timeout: "no complete answer in time"
        case .unreachable(let reason): "unreachable: \(reason)"
        case .cancelled: "cancelled"
        case .invalidQuery(let reason): "query not sent: \(reason)"
        case .invalidConfiguration(let reasons): reasons.joined(separator: "; ")
        }
    }
}
