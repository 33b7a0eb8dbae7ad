import BillowEngine
import BillowStore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Turbulence

/// Decides which requests a key or a signed address authorizes. Keys are read from the store once a second, so a key
/// that another process makes or revokes takes effect within a second on every server of the store. An unknown key
/// causes another read, a few times a second at most.
package actor Authorizer {
    private let store: any ControlStore
    /// Whether routes that show data are open without a key.
    nonisolated let anonymousRead: Bool
    /// The limit of requests of each key; nil for none.
    nonisolated let limiter: RateLimiter<String>?
    private let refused: MetricRegistry.Counter
    private let now: @Sendable () -> Instant
    private let logger: Logger
    private var keys: [String: AccessKey] = [:]
    private var readAt: Instant?
    /// The number of reads of keys in the second `readAt`.
    private var reads = 0
    /// The failure of the last read of keys, which is logged once.
    private var failure: StoreError?
    private var wrong: (minute: Instant, count: Int) = (.distantPast, 0)

    /// The most wrong keys per minute that get a 401; further ones get a 429. Guessing 256 random bits is impossible
    /// anyway. The limit makes a client stop that continues with a revoked key. A valid key always passes.
    static let wrongKeysAMinute = 60

    /// The most reads of keys per second.
    static let maximumReadsPerSecond = 16

    init(
        store: any ControlStore, anonymousRead: Bool, limit: RateLimit? = nil,
        refused: MetricRegistry.Counter = MetricRegistry().counter(.rateLimited, ["key"]),
        now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        limiter = limit.map { RateLimiter($0) }
        self.refused = refused
        self.store = store
        self.anonymousRead = anonymousRead
        self.now = now
        self.logger = logger
    }

    /// The authorization of a request.
    struct Authorization: Sendable {
        var key: AccessKey
        /// The expiry of the address's signature; nil for a request with a key.
        var expires: Instant?
    }

    /// Whether a request for reading comes from an administrator, who sends a key and no signature.
    /// - Throws: the errors of `authorize` for reading, and 401 for a wrong key even if reading is open.
    func isAdministrator(_ request: Request) async throws -> Bool {
        if anonymousRead, request.headers[.apiKey] == nil { return false }
        let authorization = try await authorize(request, needs: anonymousRead ? [] : .read)
        return authorization.expires == nil && authorization.key.scopes.isSuperset(of: .admin)
    }

    /// The key of a request, if it has a scope.
    /// - Throws: 401 without a key or with a wrong one, 403 with a key that lacks the scope, 429 after too many wrong
    ///   keys.
    func authorize(_ request: Request, needs scope: AccessScopes) async throws -> Authorization {
        let now = now()
        let key: AccessKey
        var expires: Instant?
        if let text = request.headers[.apiKey] {
            guard let presented = KeyText(text), let found = try await self.key(presented.id), presented.opens(found),
                found.revokedAt == nil
            else { throw refuse(.unknownKey, "The key is unknown or revoked.", at: now) }
            key = found
        } else if let address = try signedAddress(of: request) {
            guard [.get, .head].contains(request.method), scope == .read else {
                throw Problem(
                    .signatureOnlyReads, detail: "A signed address allows reading only.")
            }
            guard let found = try await self.key(address.keyID), address.isSigned(by: found), found.revokedAt == nil
            else { throw refuse(.invalidSignature, "The address is not signed by a known key.", at: now) }
            guard now < address.expires else {
                throw refuse(.signatureExpired, "The signature expired at \(address.expires).", at: now)
            }
            key = found
            expires = address.expires
        } else {
            throw Problem(
                .keyNeeded,
                detail: "The request needs a key with scope \(scope.names.joined()), in the header X-API-Key"
                    + (scope == .read ? " or as a signed address." : "."))
        }
        guard key.scopes.isSuperset(of: scope) else {
            throw Problem(
                .scopeMissing,
                detail: "The key \(key.id) has scope \(key.scopes.names.joined(separator: ", ")); the request needs "
                    + "\(scope.names.joined()).")
        }
        return Authorization(key: key, expires: expires)
    }

    /// - Throws: 401 for an invalid signature.
    private func signedAddress(of request: Request) throws(Problem) -> SignedAddress? {
        do {
            return try SignedAddress(
                path: request.uri.path, query: request.uri.query,
                parameters: { name in request.uri.queryParameters[name[...]].map(String.init) })
        } catch { throw Problem(error) }
    }

    /// Counts a request of a key.
    /// - Returns: the value of `RateLimit`; nil without a limit.
    /// - Throws: 429 beyond the limit.
    nonisolated func count(_ key: AccessKey) throws(Problem) -> String? {
        guard let limiter else { return nil }
        let decision = limiter.request(of: key.id, at: NIODeadline.now().uptimeNanoseconds)
        guard decision.isAllowed else {
            refused.increment(by: 1)
            throw .rateLimited("key", seconds: decision.seconds)
        }
        return RateLimiter<String>.state("key", decision)
    }

    private func refuse(_ code: ProblemCode, _ detail: String, at now: Instant) -> Problem {
        let minute = now.floored(toMultipleOf: 60)
        if wrong.minute != minute { wrong = (minute, 0) }
        wrong.count += 1
        guard wrong.count <= Self.wrongKeysAMinute else {
            return Problem(
                .tooManyWrongKeys, detail: "\(detail) Too many wrong keys were sent in this minute.",
                retryAfterSeconds: max(1, minute.seconds + 60 - now.seconds))
        }
        return Problem(code, detail: detail)
    }

    private func key(_ id: String) async throws(StoreError) -> AccessKey? {
        let now = now()
        if readAt != now { reads = 0 }
        if readAt != now || keys[id] == nil && reads < Self.maximumReadsPerSecond {
            reads += 1
            do throws(StoreError) {
                let all = try await store.accessKeys()
                keys = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
                readAt = now
                failure = nil
            } catch {
                // Known keys stay valid while the store can't be read, so that an outage locks nobody out.
                guard readAt != nil else { throw error }
                guard failure != error else { return keys[id] }
                failure = error
                logger.warning("keys can't be read; the known keys stay valid", metadata: ["error": "\(error)"])
            }
        }
        return keys[id]
    }
}

extension HTTPField.Name {
    static let apiKey = Self.make("X-API-Key")
}

extension AccessKey {
    /// The key of the current request; nil if it needed none.
    @TaskLocal static var ofRequest: AccessKey?
}

/// Signs the addresses in a document if the document's own address was signed. So a client that may read the document
/// may read what it links to, and nothing else.
struct AddressSigner: Sendable {
    fileprivate let key: AccessKey
    fileprivate let expires: Instant

    /// The signature of the current request; nil if its address isn't signed.
    @TaskLocal static var ofRequest: AddressSigner?

    init?(_ authorization: Authorizer.Authorization) {
        guard let expires = authorization.expires else { return nil }
        key = authorization.key
        self.expires = expires
    }

    /// A path with its query, signed if the request was.
    /// - Parameter covers: the variable parts, if the path is a template.
    static func signed(_ address: String, covers: SignedAddress.TemplateVariables? = nil) -> String {
        ofRequest.signed(address, covers: covers)
    }

    /// A path below the root without its first slash, as pages have it, signed if the request was.
    static func signedRelative(_ address: String) -> String { String(signed("/\(address)").dropFirst()) }
}

extension AddressSigner? {
    /// A path with its query, signed unless the value is nil.
    /// - Parameter covers: the variable parts, if the path is a template.
    func signed(_ address: String, covers: SignedAddress.TemplateVariables? = nil) -> String {
        flatMap { SignedAddress.sign(address, with: $0.key, expires: $0.expires, covers: covers) } ?? address
    }
}

/// Passes authorized requests on, and marks their responses as private. It is attached to routes, so an unknown path
/// stays a 404.
struct AccessMiddleware<Context: RequestContext>: RouterMiddleware {
    let authorizer: Authorizer
    let scope: AccessScopes

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if scope == .read, authorizer.anonymousRead { return try await next(request, context) }
        let authorization = try await authorizer.authorize(request, needs: scope)
        let state = try authorizer.count(authorization.key)
        var response = try await AccessKey.$ofRequest.withValue(authorization.key) {
            try await AddressSigner.$ofRequest.withValue(AddressSigner(authorization)) {
                try await next(request, context)
            }
        }
        // A redirect of a signed address is signed too.
        if let expires = authorization.expires, let location = response.headers[.location], location.hasPrefix("/") {
            response.headers[.location] = SignedAddress.sign(location, with: authorization.key, expires: expires)
        }
        response.headers[.cacheControl] = Self.private(response.headers[.cacheControl])
        response.headers.vary(by: "X-API-Key")
        if let state {
            response.headers[.rateLimitPolicy] = authorizer.limiter?.policy("key")
            response.headers[.rateLimit] = state
        }
        return response
    }

    /// A `Cache-Control` that keeps shared caches from storing the response.
    ///
    /// Source: RFC 9111 section 5.2.2.7
    private static func `private`(_ control: String?) -> String {
        let directives = (control ?? "").split(separator: ",").map { String($0.drop { $0 == " " }) }
        if directives.contains("private") || directives.contains("no-store") { return control ?? "" }
        return (["private"] + directives.filter { $0 != "public" }).joined(separator: ", ")
    }
}

extension RouterMethods {
    /// A group of routes that need a scope.
    func requiring(_ scope: AccessScopes, _ authorizer: Authorizer) -> RouterGroup<Context> {
        group().add(middleware: AccessMiddleware(authorizer: authorizer, scope: scope))
    }
}
