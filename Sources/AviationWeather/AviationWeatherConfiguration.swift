import UpstreamKit

/// All that a client needs to know. `problems` says what is wrong with it.
public struct AviationWeatherConfiguration: Sendable, Hashable {
    /// `https://host[:port][/path]`, without a slash at the end; `/api/data/…` follows.
    public var baseURL: String
    /// The service asks to be told who asks.
    public var userAgent: String
    /// Which of the service's two forms to ask for.
    public var form: Form
    /// For a whole exchange, from connecting to the last byte.
    public var timeout: Duration
    /// A longer body is refused, not read. Bytes.
    public var maximumBodyBytes: Int

    /// The form in which records are asked for.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// The service's own JSON.
        case json
        /// GeoJSON.
        case geojson
    }

    /// The service's own address.
    public static let production = "https://aviationweather.gov"

    /// The service itself in its own JSON, unless told otherwise.
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

    /// Seconds between two calls of one product that the service wishes for; a simulator on this machine has no such
    /// wish.
    ///
    /// Source: docs/upstreams/aviationweather.md, "Common rules"
    public var politeSpacingSeconds: Int { BaseURL.isThisMachine(baseURL) ? 0 : 60 }

    /// Everything that is wrong, a sentence each; empty where it can be used.
    package var problems: [String] {
        // There is no key that plain HTTP could give away.
        var problems = BaseURL.problems(baseURL, allowsPlainHTTP: true)
        if userAgent.isEmpty || !userAgent.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            problems.append("the user agent must be printable ASCII: \(userAgent)")
        }
        if timeout <= .zero { problems.append("the timeout must be above 0: \(timeout)") }
        if maximumBodyBytes < 1 { problems.append("the maximum body must be at least 1 byte: \(maximumBodyBytes)") }
        return problems
    }
}
