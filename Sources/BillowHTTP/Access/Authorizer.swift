import BillowEngine
import BillowStore
import HTTPTypes
import Hummingbird
import Logging
import Turbulence

/// Decides which requests a key, or a signed address, authorizes. Keys are read from the store once a second. So a key
/// that is made or revoked beside the running server counts within a second, on every server of the store. A key that
/// isn't known makes them be read again, a few times a second.
package actor Authorizer {
    private let store: any ControlStore
    /// Whether what shows data is open to everybody.
    nonisolated let anonymousRead: Bool
    private let now: @Sendable () -> Instant
    private let logger: Logger
    private var keys: [String: AccessKey] = [:]
    private var readAt: Instant?
    /// How often the keys were read in the second `readAt`.
    private var reads = 0
    /// Why keys could not be read the last time; said once.
    private var failure: String?
    private var wrong: (minute: Instant, count: Int) = (.distantPast, 0)

    /// Wrong keys answered with 401 in a minute; more get a 429. No number of guesses finds 256 random bits: this makes
    /// a client that goes on with a revoked key stop. A right key always passes.
    static let wrongKeysAMinute = 60

    /// Times that the keys are read in a second at most.
    static let mostReadsASecond = 16

    init(store: any ControlStore, anonymousRead: Bool, now: @escaping @Sendable () -> Instant, logger: Logger) {
        self.store = store
        self.anonymousRead = anonymousRead
        self.now = now
        self.logger = logger
    }

    /// How a request was let in.
    struct Authorization: Sendable {
        var key: AccessKey
        /// Until when the signature of its address is good; nil where it came with the key itself.
        var expires: Instant?
    }

    /// Whether a request that may read comes from an administrator, who sends a key and no signature.
    /// - Throws: as `authorize` for reading, and 401 for a wrong key even where reading is open.
    func isAdministrator(_ request: Request) async throws -> Bool {
        if anonymousRead, request.headers[.apiKey] == nil { return false }
        let authorization = try await authorize(request, needs: anonymousRead ? [] : .read)
        return authorization.expires == nil && authorization.key.scopes.isSuperset(of: .admin)
    }

    /// The key of a request that has a scope.
    /// - Throws: 401 without a key or with a wrong one, 403 with one that lacks the scope, 429 after too many wrong
    ///   ones.
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
                    .signatureOnlyReads, detail: "A signed address can only be read from.")
            }
            guard let found = try await self.key(address.keyID), address.isSigned(by: found), found.revokedAt == nil
            else { throw refuse(.invalidSignature, "The address is not signed by a key that is known.", at: now) }
            guard now < address.expires else {
                throw refuse(.signatureExpired, "The signature was good until \(address.expires).", at: now)
            }
            key = found
            expires = address.expires
        } else {
            throw Problem(
                .keyNeeded,
                detail: "This needs a key with scope \(scope.names.joined()), in the header X-API-Key"
                    + (scope == .read ? " or as a signed address." : "."))
        }
        guard key.scopes.isSuperset(of: scope) else {
            throw Problem(
                .scopeMissing,
                detail: "The key \(key.id) has scope \(key.scopes.names.joined(separator: ", ")); this needs "
                    + "\(scope.names.joined()).")
        }
        return Authorization(key: key, expires: expires)
    }

    /// - Throws: 401 for a signature that can't be read.
    private func signedAddress(of request: Request) throws(Problem) -> SignedAddress? {
        do {
            return try SignedAddress(
                path: request.uri.path, query: request.uri.query,
                parameters: { name in request.uri.queryParameters[name[...]].map(String.init) })
        } catch { throw Problem(error) }
    }

    private func refuse(_ code: ProblemCode, _ detail: String, at now: Instant) -> Problem {
        let minute = now.floored(toMultipleOf: 60)
        if wrong.minute != minute { wrong = (minute, 0) }
        wrong.count += 1
        guard wrong.count <= Self.wrongKeysAMinute else {
            return Problem(
                .tooManyWrongKeys, detail: "\(detail) Too many were wrong in this minute.",
                retryAfterSeconds: max(1, minute.seconds + 60 - now.seconds))
        }
        return Problem(code, detail: detail)
    }

    private func key(_ id: String) async throws(StoreError) -> AccessKey? {
        let now = now()
        if readAt != now { reads = 0 }
        if readAt != now || keys[id] == nil && reads < Self.mostReadsASecond {
            reads += 1
            do throws(StoreError) {
                let all = try await store.accessKeys()
                keys = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
                readAt = now
                failure = nil
            } catch {
                // What is known goes on counting while the store can't be read: an outage must not lock everybody out.
                guard readAt != nil else { throw error }
                guard failure != error.description else { return keys[id] }
                failure = error.description
                logger.warning("keys can't be read; those known are taken", metadata: ["error": "\(error)"])
            }
        }
        return keys[id]
    }
}

extension HTTPField.Name {
    static let apiKey = Self.make("X-API-Key")
}

extension AccessKey {
    /// The key by which the request came that is being answered; nil where none was needed.
    @TaskLocal static var ofRequest: AccessKey?
}

/// Signs the addresses that a document names, as long as the address of the document itself was signed. Who may read
/// the document may read what it is made for, and nothing else.
struct AddressSigner: Sendable {
    private let key: AccessKey
    private let expires: Instant

    /// Of the request that is being answered; nil where its address isn't signed.
    @TaskLocal static var ofRequest: AddressSigner?

    init?(_ authorization: Authorizer.Authorization) {
        guard let expires = authorization.expires else { return nil }
        key = authorization.key
        self.expires = expires
    }

    /// A path with its query, signed where the request was.
    /// - Parameter covers: what the signature leaves open, where the path is a template.
    static func handedOn(_ address: String, covers: SignedAddress.Opening? = nil) -> String {
        guard let signer = ofRequest else { return address }
        return SignedAddress.sign(address, with: signer.key, expires: signer.expires, covers: covers) ?? address
    }
}

/// Lets requests through that may pass, and marks what they get as theirs alone. Beside routes, so that what isn't
/// there stays a 404.
struct AccessMiddleware<Context: RequestContext>: RouterMiddleware {
    let authorizer: Authorizer
    let scope: AccessScopes

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if scope == .read, authorizer.anonymousRead { return try await next(request, context) }
        let authorization = try await authorizer.authorize(request, needs: scope)
        var response = try await AccessKey.$ofRequest.withValue(authorization.key) {
            try await AddressSigner.$ofRequest.withValue(AddressSigner(authorization)) {
                try await next(request, context)
            }
        }
        // Who followed a signed address may follow it to where it leads.
        if let expires = authorization.expires, let location = response.headers[.location], location.hasPrefix("/") {
            response.headers[.location] = SignedAddress.sign(location, with: authorization.key, expires: expires)
        }
        let control = response.headers[.cacheControl] ?? "private"
        response.headers[.cacheControl] = control.replacing("public", with: "private")
        response.headers.vary(by: "X-API-Key")
        return response
    }
}

extension RouterMethods {
    /// Where routes go that need a scope.
    func requiring(_ scope: AccessScopes, _ authorizer: Authorizer) -> RouterGroup<Context> {
        group().add(middleware: AccessMiddleware(authorizer: authorizer, scope: scope))
    }
}
