public import UpstreamKit

/// All that a client needs to know. `problems` says what is wrong with it.
public struct OpenSkyConfiguration: Sendable {
    /// An API client of the account page.
    public struct Credentials: Sendable, Hashable {
        /// The API client's name.
        public var clientID: String
        /// The API client's secret.
        public var clientSecret: Secret

        /// An API client's credentials.
        public init(clientID: String, clientSecret: Secret) {
            self.clientID = clientID
            self.clientSecret = clientSecret
        }
    }

    /// `https://host[:port]`, without `/api`.
    public var baseURL: String
    /// Where tokens come from; nil takes OpenSky's own for OpenSky, and the same path under the base URL otherwise.
    public var tokenURL: String?
    /// nil asks anonymously.
    public var credentials: Credentials?
    /// nil counts no credits.
    public var allowance: CreditAllowance?
    /// For a whole exchange, from connecting to the last byte.
    public var timeout: Duration
    /// A longer body is refused, not read. Bytes.
    public var maximumBodyBytes: Int
    /// Whether credentials may go over plain HTTP to another machine. To this machine they always may.
    public var allowsPlainHTTP: Bool

    /// The service's own address.
    public static let publicBaseURL = "https://opensky-network.org"
    private static let publicTokenURL =
        "https://auth.opensky-network.org/auth/realms/opensky-network/protocol/openid-connect/token"

    /// - Parameters:
    ///   - allowance: by default what OpenSky gives without or with credentials; anything else than OpenSky, a
    ///     simulator for instance, counts none.
    ///   - baseURL: of the service.
    ///   - tokenURL: where tokens come from; by default OpenSky's own, where the service is.
    ///   - credentials: nil asks without any.
    ///   - timeout: of one request.
    ///   - maximumBodyBytes: a longer body is refused.
    ///   - allowsPlainHTTP: whether credentials may go over plain HTTP.
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

    /// Seconds between calls for the states of an area that the credits last for; 10 without a token and 5 with one at
    /// least, because the service makes no newer picture before.
    public func statesInterval(in box: GeographicBox?) -> Int {
        max(credentials == nil ? 10 : 5, allowance?.interval(cost: CreditCost.states(in: box)) ?? 0)
    }

    /// Everything that is wrong, a sentence each; empty where it can be used.
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
