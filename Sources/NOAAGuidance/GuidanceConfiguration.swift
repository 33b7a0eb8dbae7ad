import UpstreamKit

/// The configuration of a client. `problems` lists its errors.
package struct GuidanceConfiguration: Sendable, Hashable {
    /// The URL before `/pub/data/nccf/com/`: `https://host[:port][/path]`, without a trailing slash.
    package var baseURL: String
    /// The `User-Agent` that identifies the client to the service.
    package var userAgent = "Billow turbulence server"
    /// The timeout of a small response from connecting to the last byte, and of a large one to its headers.
    package var timeout = Duration.seconds(60)
    /// The minimum rate in bytes per second. A large response may take `timeout` plus its time at this rate.
    package var slowestBytesPerSecond = 20_000
    /// The interval between the starts of two requests. The default is 60 per minute.
    package var spacing = Duration.seconds(1)
    /// The maximum of bytes received on a day in UTC; nil for no limit.
    package var bytesPerDay: Int?
    /// The pause in seconds after a 403 or 429. It doubles with each consecutive one, up to an hour.
    package var blockSeconds = 600
    /// A gap of at most this length between two selected messages is received instead of starting another request.
    package var gapBytes = 128 << 10
    /// The maximum length in bytes of a merged range, and of a piece of a file without an index.
    package var rangeBytes = 8 << 20
    /// The maximum length of a message in bytes. A GTG message has 0.8 MB.
    package var maximumMessageBytes = 16 << 20
    /// The maximum length of a file in bytes. A GTG file has 165 MB.
    package var maximumFileBytes = 512 << 20
    /// The maximum length of an index in bytes.
    package var maximumIndexBytes = 1 << 20
    /// The maximum length of a directory page in bytes.
    package var maximumListingBytes = 4 << 20
    /// A file that changed less than this many seconds ago counts as growing.
    package var settleSeconds = 30
    /// The maximum number of resumptions of a download.
    package var maximumResumptions = 4
    /// The number of missing files that are requested one by one before a directory is read.
    package var headsBeforeListing = 3

    /// The URL of NOAA's server of current model output.
    package static let production = "https://nomads.ncep.noaa.gov"

    package init(baseURL: String = GuidanceConfiguration.production) { self.baseURL = BaseURL.trimmed(baseURL) }

    /// All problems of the configuration, one sentence each; empty if it is usable.
    package var problems: [String] {
        // Plain HTTP is allowed, because there is no key to protect.
        var problems = BaseURL.problems(baseURL, allowsPlainHTTP: true)
        if userAgent.isEmpty || !userAgent.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            problems.append("the user agent must be printable ASCII: \(userAgent)")
        }
        if timeout <= .zero { problems.append("the timeout must be above 0: \(timeout)") }
        if spacing < .zero { problems.append("the spacing must not be below 0: \(spacing)") }
        for (name, value, least) in [
            ("slowest rate", slowestBytesPerSecond, 1), ("bytes a day", bytesPerDay ?? 1, 1),
            ("block", blockSeconds, 1), ("gap", gapBytes, 0), ("range", rangeBytes, 1),
            ("maximum message", maximumMessageBytes, MessageFrame.shortestBytes),
            ("maximum file", maximumFileBytes, 1), ("maximum index", maximumIndexBytes, 1),
            ("maximum listing", maximumListingBytes, 1), ("settling time", settleSeconds, 0),
            ("number of resumptions", maximumResumptions, 0), ("number of heads", headsBeforeListing, 0),
        ] where value < least {
            problems.append("the \(name) must be at least \(least): \(value)")
        }
        return problems
    }
}
