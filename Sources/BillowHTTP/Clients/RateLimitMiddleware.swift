import BillowEngine
import HTTPTypes
import Hummingbird

/// Answers the requests that ``RateLimitHandler`` marked.
struct RateLimitMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let text = request.headers[.rateLimited] {
            throw Problem.rateLimited("address", seconds: Int(text) ?? 1)
        }
        return try await next(request, context)
    }
}

extension Problem {
    /// - Parameter client: what is limited.
    static func rateLimited(_ client: String, seconds: Int) -> Problem {
        Problem(
            .rateLimited, detail: "This \(client) makes more requests than the server allows.",
            retryAfterSeconds: max(1, seconds))
    }
}

extension HTTPField.Name {
    static let rateLimited = Self.make(RateLimitHandler.mark)
    static let rateLimitPolicy = Self.make(RateLimitHandler.policyHeader)
    static let rateLimit = Self.make(RateLimitHandler.stateHeader)
}
