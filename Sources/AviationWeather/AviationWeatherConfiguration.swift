import UpstreamKit

/// The configuration of a client. `problems` lists its errors.
public struct AviationWeatherConfiguration: Sendable, Hashable {
    /// `https://host[:port][/path]`, without a trailing slash; `/api/data/…` is appended.
    public var baseURL: String
    /// The `User-Agent`; the service asks clients to identify themselves.
    public var userAgent: String
    /// The requested format.
    public var form: Form
    /// The timeout of a whole exchange, from connecting to the last byte.
    public var timeout: Duration
    /// The maximum length of a body in bytes. Longer bodies are rejected.
    public var maximumBodyBytes: Int

    /// A format of records.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// The service's own JSON.
        case json
        /// GeoJSON.
        case geojson
    }

    /// The service's URL.
    public static let production = "https://aviationweather.gov"

    /// Makes a configuration, by default for the service itself and its own JSON.
    public init(
        baseURL: String = AviationWeatherConfiguration.production, userAgent: String = "Billow turbulence server",
        form: Form = .json, timeout: Duration = .seconds(60), maximumBodyBytes: Int = 64 * 1_024 * 1_024
    ) {
        self.baseURL = BaseURL.trimmed(baseURL)
        self.userAgent = userAgent
        self.form = form
        self.timeout = timeout
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// The interval in seconds between two requests for one product that the service asks for. For a simulator on this
    /// machine it is 0.
    ///
    /// Source: docs/upstreams/aviationweather.md, "Common rules"
    public var politeSpacingSeconds: Int { BaseURL.isThisMachine(baseURL) ? 0 : 60 }

    /// All problems of the configuration, one sentence each; empty if it is usable.
    package var problems: [String] {
        // Plain HTTP is allowed, because there is no key to protect.
        var problems = BaseURL.problems(baseURL, allowsPlainHTTP: true)
        if userAgent.isEmpty || !userAgent.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            problems.append("the user agent must be printable ASCII: \(userAgent)")
        }
        if timeout <= .zero { problems.append("the timeout must be above 0: \(timeout)") }
        if maximumBodyBytes < 1 { problems.append("the maximum body must be at least 1 byte: \(maximumBodyBytes)") }
        return problems
    }
}
