public import UpstreamKit

/// The SkyPath server that receives the requests.
///
/// Source: docs/upstreams/skypath.md, "Environments"
public enum SkyPathEnvironment: Sendable, Hashable {
    /// SkyPath's environment for development.
    case development
    /// SkyPath's environment for tests.
    case staging
    /// SkyPath's environment for production.
    case production
    /// A proxy or a simulator: `https://host[:port][/path]`, without query.
    case custom(String)

    /// The base URL without a trailing slash.
    public var baseURL: String {
        switch self {
        case .development: "https://dev-api.skypath.io"
        case .staging: "https://staging-api.skypath.io"
        case .production: "https://api.skypath.io"
        case .custom(let url):
            BaseURL.trimmed(url)
        }
    }

    /// Parses `development`, `staging`, `production`, or a URL; nil for any other text.
    public init?(_ text: String) {
        switch text {
        case "development": self = .development
        case "staging": self = .staging
        case "production": self = .production
        case _ where text.hasPrefix("http://") || text.hasPrefix("https://"): self = .custom(text)
        default: return nil
        }
    }

    /// All problems of the URL, one sentence each; empty if it is usable.
    ///
    /// - Parameter allowsPlainHTTP: whether the key may be sent over plain HTTP to another machine. To this machine it
    ///   always may.
    package func problems(allowsPlainHTTP: Bool) -> [String] {
        BaseURL.problems(baseURL, allowsPlainHTTP: allowsPlainHTTP)
    }
}

/// The configuration of a client. `problems` lists its errors.
public struct SkyPathConfiguration: Sendable, Hashable {
    /// The server that receives the requests.
    public var environment: SkyPathEnvironment
    /// The key sent with every call.
    public var apiKey: Secret
    /// The account for which sessions are opened; nil sends only the key.
    public var account: SkyPathAccount?
    /// The timeout of a whole exchange, from connecting to the last byte.
    public var timeout: Duration
    /// The maximum length of a body in bytes, after decompression if the HTTP client decompresses. Longer bodies are
    /// rejected.
    public var maximumBodyBytes: Int
    /// Whether the key may be sent over plain HTTP to another machine. To this machine it always may.
    public var allowsPlainHTTP: Bool
    /// The names and paths in messages.
    public var wire: SkyPathWire
    /// The upstream's limits, checked before a request is sent.
    public var limits: SkyPathLimits

    /// Makes a configuration for an environment; limits and names default to those of the reference.
    public init(
        environment: SkyPathEnvironment, apiKey: Secret, account: SkyPathAccount? = nil,
        timeout: Duration = .seconds(60), maximumBodyBytes: Int = 160 * 1_024 * 1_024,
        allowsPlainHTTP: Bool = false,
        wire: SkyPathWire = SkyPathWire(), limits: SkyPathLimits = SkyPathLimits()
    ) {
        self.environment = environment
        self.apiKey = apiKey
        self.account = account
        self.timeout = timeout
        self.maximumBodyBytes = maximumBodyBytes
        self.allowsPlainHTTP = allowsPlainHTTP
        self.wire = wire
        self.limits = limits
    }

    /// All problems of the configuration, one sentence each; empty if it is usable.
    package var problems: [String] {
        var problems = environment.problems(allowsPlainHTTP: allowsPlainHTTP)
        problems += wire.problems.map { "\($0.setting): \($0.text)" }
        if timeout <= .zero { problems.append("the timeout must be above 0: \(timeout)") }
        if maximumBodyBytes < 1 {
            problems.append("the maximum body must be at least 1 byte: \(maximumBodyBytes)")
        }
        if limits.cursorOverlapSeconds < 0 || limits.tickOverlap < 0 {
            problems.append("the overlap of deltas must be at least 0")
        }
        return problems
    }
}

/// The upstream's limits. Defaults are documented values if there are any, otherwise Billow's assumptions.
///
/// Source: docs/upstreams/skypath.md, "The model of the data" and "Corridor call"
public struct SkyPathLimits: Sendable, Hashable {
    /// The maximum area of a corridor in km²; nil for no limit.
    public var corridorAreaKm2: Double? = 7_500
    /// The number of positions of a closed ring, including the repeated one.
    public var corridorVertices: ClosedRange<Int> = 4...250
    /// The altitudes that a query may have, in thousands of feet.
    public var altitudesThousands: ClosedRange<Int> = 5...52
    /// The altitudes that a record may have, in thousands of feet.
    public var recordAltitudesThousands: ClosedRange<Int> = 0...60
    /// The hours of history that a corridor call may request.
    public var corridorHours: [Double] = [0.5, 1, 2, 4]
    /// The hours of history that a bulk call may request.
    public var hexagonsHours: [Double] = [0.5, 1, 2, 3, 4]
    /// The hours of history that a map call may request.
    public var mapHours: [Double] = [0.5, 1, 2, 4, 6]
    /// The allowed resolutions of the bulk call's parent cells.
    public var parentResolutions: ClosedRange<Int> = 0...1
    /// The times that a record may have, in Unix seconds: the years 2000 to 2100. Milliseconds are outside.
    public var observedAt: ClosedRange<Int> = 946_684_800...4_102_444_800
    /// The time before the cursor at which deltas begin. It prevents losses if the boundary isn't inclusive, or if a
    /// record is late. Duplicates do no harm.
    public var cursorOverlapSeconds = 60
    /// The overlap of deltas by ticks (about a minute each).
    public var tickOverlap = 1

    /// Makes the limits of the reference.
    public init() {}
}
