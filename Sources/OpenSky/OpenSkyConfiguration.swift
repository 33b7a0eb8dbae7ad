public import UpstreamKit

/// The configuration of a client. `problems` lists its errors.
public struct OpenSkyConfiguration: Sendable, Hashable {
    /// The credentials of an API client from the account page.
    public struct Credentials: Sendable, Hashable {
        /// The API client's id.
        public var clientID: String
        /// The API client's secret.
        public var clientSecret: Secret

        /// Makes credentials.
        public init(clientID: String, clientSecret: Secret) {
            self.clientID = clientID
            self.clientSecret = clientSecret
        }
    }

    /// The base URL: `https://host[:port]`, without `/api`.
    public var baseURL: String
    /// The URL of the token endpoint. nil selects OpenSky's own for OpenSky, and the same path under the base URL
    /// otherwise.
    public var tokenURL: String?
    /// The credentials; nil for anonymous calls.
    public var credentials: Credentials?
    /// The allowance; nil counts no credits.
    public var allowance: CreditAllowance?
    /// The timeout of a whole exchange, from connecting to the last byte.
    public var timeout: Duration
    /// The maximum length of a body in bytes. Longer bodies are rejected.
    public var maximumBodyBytes: Int
    /// Whether credentials may be sent over plain HTTP to another machine. To this machine they always may.
    public var allowsPlainHTTP: Bool

    /// The service's URL.
    public static let publicBaseURL = "https://opensky-network.org"
    private static let publicTokenURL =
        "https://auth.opensky-network.org/auth/realms/opensky-network/protocol/openid-connect/token"

    /// - Parameters:
    ///   - allowance: the default is OpenSky's with or without credentials. For other servers, such as a simulator, no
    ///     credits are counted.
    ///   - baseURL: the service's URL.
    ///   - tokenURL: the token endpoint; the default is OpenSky's own for OpenSky's URL.
    ///   - credentials: nil for anonymous calls.
    ///   - timeout: the timeout of a request.
    ///   - maximumBodyBytes: the maximum length of a body.
    ///   - allowsPlainHTTP: whether credentials may be sent over plain HTTP.
    public init(
        baseURL: String = OpenSkyConfiguration.publicBaseURL, tokenURL: String? = nil,
        credentials: Credentials? = nil, allowance: CreditAllowance?? = .none, timeout: Duration = .seconds(60),
        maximumBodyBytes: Int = 64 * 1_024 * 1_024, allowsPlainHTTP: Bool = false
    ) {
        self.baseURL = BaseURL.trimmed(baseURL)
        self.tokenURL = tokenURL
        self.credentials = credentials
        self.timeout = timeout
        self.maximumBodyBytes = maximumBodyBytes
        self.allowsPlainHTTP = allowsPlainHTTP
        let usual = credentials == nil ? CreditAllowance.anonymous : .standard
        self.allowance = allowance ?? (self.baseURL == Self.publicBaseURL ? usual : nil)
    }

    var effectiveTokenURL: String {
        if let tokenURL { return tokenURL }
        return baseURL == Self.publicBaseURL
            ? Self.publicTokenURL : baseURL + "/auth/realms/opensky-network/protocol/openid-connect/token"
    }

    /// The minimum interval in seconds between calls for the states of an area that the credits allow. It is at least
    /// 10 without a token and 5 with one, because the service updates no faster.
    public func statesInterval(in box: GeographicBox?) -> Int {
        max(credentials == nil ? 10 : 5, allowance?.interval(cost: CreditCost.states(in: box)) ?? 0)
    }

    /// All problems of the configuration, one sentence each; empty if it is usable.
    package var problems: [String] {
        var problems = BaseURL.problems(baseURL, allowsPlainHTTP: allowsPlainHTTP || credentials == nil)
        if let credentials {
            problems += BaseURL.problems(effectiveTokenURL, allowsPlainHTTP: allowsPlainHTTP)
                .map { "the token URL: \($0)" }
            if credentials.clientID.isEmpty || credentials.clientID.utf8.count > 1_000 {
                problems.append("the client id must have 1 to 1,000 bytes: \(credentials.clientID.utf8.count)")
            }
        }
        if timeout <= .zero { problems.append("the timeout must be above 0: \(timeout)") }
        if maximumBodyBytes < 1 {
            problems.append("the maximum body must be at least 1 byte: \(maximumBodyBytes)")
        }
        return problems
    }
}
