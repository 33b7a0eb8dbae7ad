import NIOHTTP1

/// The format of an upstream's error responses: the members of the body, the headers, and whether calls have a key.
package struct ErrorResponseFormat: Sendable, Hashable {
    /// The member of the body with the machine code; nil if there is none.
    package var codeMember: String?
    /// The member of the body with the message.
    package var messageMember: String
    /// The headers that give a delay, in order of preference.
    package var waitHeaders: [String]
    /// Whether calls have a key or a token. Without one, an error concerns the call and never an account.
    package var sendsKey: Bool

    /// Makes a dialect, by default that of most services.
    package init(
        codeMember: String? = "code", messageMember: String = "message", waitHeaders: [String] = ["retry-after"],
        sendsKey: Bool = true
    ) {
        self.codeMember = codeMember
        self.messageMember = messageMember
        self.waitHeaders = waitHeaders
        self.sendsKey = sendsKey
    }
}

extension UpstreamError {
    /// Makes the error of a response from its status and the upstream's message.
    ///
    /// - Parameters:
    ///   - secrets: secrets to redact in the message.
    ///   - now: Unix seconds, for a delay that is a date.
    package init(_ answer: Exchange.Response, _ dialect: ErrorResponseFormat, secrets: [Secret], now: Int) {
        let problem = UpstreamProblem(
            status: answer.status, body: answer.bytes, codeName: dialect.codeMember,
            messageName: dialect.messageMember, redacting: secrets)
        let wait = dialect.waitHeaders.lazy.compactMap { answer.headers.first(name: $0) }.first
            .flatMap { RetryAfter.seconds($0, now: now) }
        self =
            switch answer.status {
            case 401 where dialect.sendsKey: .unauthorized(problem)
            case 401, 403: .forbidden(problem)
            case 408: .timeout
            case 423 where dialect.sendsKey: .locked(problem, retryAfterSeconds: wait)
            case 426: .upgradeRequired(problem)
            case 429: .rateLimited(problem, retryAfterSeconds: wait)
            case 400..<500: .invalidRequest(problem)
            case 500..<600: .server(problem, retryAfterSeconds: wait)
            default: .unexpectedStatus(answer.status)
            }
    }
}
