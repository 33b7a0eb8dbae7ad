import NIOHTTP1

/// How an upstream words a refusal: the members of its body, its headers, and whether it knows who asks.
package struct RefusalDialect: Sendable, Hashable {
    /// The member of the body that holds the machine code; nil where there is none.
    package var codeMember: String?
    /// The member of the body that holds the message.
    package var messageMember: String
    /// Headers that name a wait, the most trusted first.
    package var waitHeaders: [String]
    /// Whether calls carry a key or a token. Without one, a refusal is about the call and never about an account.
    package var sendsKey: Bool

    /// A dialect. The defaults are those of most services.
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
    /// Why an answer is none: by its status, and in the upstream's words.
    ///
    /// - Parameters:
    ///   - secrets: what the words must not repeat.
    ///   - now: Unix seconds, for a wait that is a date.
    package init(_ answer: Exchange.Answer, _ dialect: RefusalDialect, secrets: [Secret], now: Int) {
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
