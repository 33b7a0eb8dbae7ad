import UpstreamKit

/// All that a client needs to know. `problems` says what is wrong with it.
package struct GuidanceConfiguration: Sendable, Hashable {
    /// What stands before `/pub/data/nccf/com/`: `https://host[:port][/path]`, without a slash at the end.
    package var baseURL: String
    /// Tells the service who asks.
    package var userAgent = "Billow turbulence server"
    /// For a small answer from connecting to the last byte, and for a large one to its head.
    package var timeout = Duration.seconds(60)
    /// A large answer may take `timeout` and as long as this rate needs. Bytes a second.
    package var slowestBytesPerSecond = 20_000
    /// Between the beginnings of two requests. The default is 60 a minute.
    package var spacing = Duration.seconds(1)
    /// Received on a day in UTC; nil for any number.
    package var bytesPerDay: Int?
    /// How long nothing is requested after a 403 or 429; doubled with each in a row, up to an hour.
    package var blockSeconds = 600
    /// A gap between two wanted messages of at most so many bytes is received rather than requested around.
    package var gapBytes = 128 << 10
    /// The longest range of merged messages, and of a piece of a file without an index. Bytes.
    package var rangeBytes = 8 << 20
    /// A longer message is refused, in bytes. A GTG message has 0.8 MB.
    package var maximumMessageBytes = 16 << 20
    /// A longer file is refused, in bytes. A GTG file has 165 MB.
    package var maximumFileBytes = 512 << 20
    /// A longer index is refused, in bytes.
    package var maximumIndexBytes = 1 << 20
    /// A longer directory page is refused, in bytes.
    package var maximumListingBytes = 4 << 20
    /// A file that changed less than this many seconds ago is taken to be growing.
    package var settleSeconds = 30
    /// How often a download goes on after a cut, before it fails.
    package var maximumResumptions = 4
    /// This many missing files are asked for one by one before a directory is read.
    package var headsBeforeListing = 3

    /// NOAA's server of current model output.
    package static let production = "https://nomads.ncep.noaa.gov"

    package init(baseURL: String = GuidanceConfiguration.production) { self.baseURL = BaseURL.trimmed(baseURL) }

    /// Everything that is wrong, a sentence each; empty where it can be used.
    package var problems: [String] {
        // There is no key that plain HTTP could give away.
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
