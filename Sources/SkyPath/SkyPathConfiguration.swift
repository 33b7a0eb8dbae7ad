public import UpstreamKit

/// Which SkyPath is asked.
///
/// Source: docs/upstreams/skypath.md, "Environments"
public enum SkyPathEnvironment: Sendable, Hashable {
    /// SkyPath's environment for development.
    case development
    /// SkyPath's environment for tests.
    case staging
    /// SkyPath's environment for use.
    case production
    /// A proxy or a simulator: `https://host[:port][/path]`, without query.
    case custom(String)

    /// Without a slash at the end.
    public var baseURL: String {
        switch self {
        case .development: "https://dev-api.skypath.io"
        case .staging: "https://staging-api.skypath.io"
        case .production: "https://api.skypath.io"
        case .custom(let url):
            BaseURL.trimmed(url)
        }
    }

    /// `development`, `staging`, `production`, or a URL; nil for anything else.
    public init?(_ text: String) {
        switch text {
        case "development": self = .development
        case "staging": self = .staging
        case "production": self = .production
        case _ where text.hasPrefix("http://") || text.hasPrefix("https://"): self = .custom(text)
        default: return nil
        }
    }

    /// Everything that is wrong with the address, a sentence each; empty where it can be used.
    ///
    /// - Parameter allowsPlainHTTP: whether a key may go over plain HTTP to another machine. To this machine it always
    ///   may.
    package func problems(allowsPlainHTTP: Bool) -> [String] {
        BaseURL.problems(baseURL, allowsPlainHTTP: allowsPlainHTTP)
    }
}

/// All that a client needs to know. `problems` says what is wrong with it.
public struct SkyPathConfiguration: Sendable {
    /// Which SkyPath is asked.
    public var environment: SkyPathEnvironment
    /// The key of every call.
    public var apiKey: Secret
    /// For whom sessions are opened; nil asks with the key alone.
    public var account: SkyPathAccount?
    /// For a whole exchange, from connecting to the last byte.
    public var timeout: Duration
    /// A longer body is refused, not read. Bytes, decompressed where the HTTP client decompresses.
    public var maximumBodyBytes: Int
    /// Whether the key may go over plain HTTP to another machine. To this machine it always may.
    public var allowsPlainHTTP: Bool
    /// Names and paths on the wire.
    public var wire: SkyPathWire
    /// Limits of the upstream, checked before it is asked.
    public var limits: SkyPathLimits

    /// A key for an environment, with the limits and names of the reference.
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

    /// Everything that is wrong, a sentence each; empty where it can be used.
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

/// What the upstream takes. Defaults: documented values where there are any, else Billow's assumptions.
///
/// Source: docs/upstreams/skypath.md, "The model of the data" and "Corridor call"
public struct SkyPathLimits: Sendable, Hashable {
    /// The largest corridor in km²; nil where there is no limit.
    public var corridorAreaKm2: Double? = 7_500
    /// Positions of a closed ring, the repeated one included.
    public var corridorVertices: ClosedRange<Int> = 4...250
    /// Thousands of feet that can be asked for.
    public var altitudesThousands: ClosedRange<Int> = 5...52
    /// Thousands of feet that are believed in a record.
    public var recordAltitudesThousands: ClosedRange<Int> = 0...60
    /// Hours of history that each call takes.
    public var corridorHours: [Double] = [0.5, 1, 2, 4]
    /// Hours that a bulk call may look back.
    public var hexagonsHours: [Double] = [0.5, 1, 2, 3, 4]
    /// Hours that a map call may look back.
    public var mapHours: [Double] = [0.5, 1, 2, 4, 6]
    /// Resolutions of the bulk call's parent cells.
    public var parentResolutions: ClosedRange<Int> = 0...1
    /// Unix seconds that are believed in a record: the years 2000 to 2100. Milliseconds fall outside.
    public var observedAt: ClosedRange<Int> = 946_684_800...4_102_444_800
    /// Deltas are asked from this long before the cursor, so that nothing is lost where the boundary were not inclusive
    /// or a record late. Duplicates are harmless.
    public var cursorOverlapSeconds = 60
    /// The same for ticks (about a minute each).
    public var tickOverlap = 1

    /// The limits of the reference.
    public init() {}
}
