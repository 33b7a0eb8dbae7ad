/// One of NOAA's turbulence products.
///
/// Source: docs/upstreams/noaa.md, "Products"
package enum GuidanceProduct: String, Sendable, Hashable, CaseIterable, Codable {
    /// The nowcast: a file every 15 minutes.
    case gtgn
    /// The forecast: a run every hour, with a file for each lead time.
    case gtg

    /// The seconds between two runs. A nowcast is a run with one file.
    package var cadenceSeconds: Int {
        switch self {
        case .gtgn: 900
        case .gtg: 3_600
        }
    }

    /// The lead times in hours that have a file.
    package var leadHours: ClosedRange<Int> {
        switch self {
        case .gtgn: 0...0
        case .gtg: 0...18
        }
    }

    /// The number of messages in a complete file.
    package var messageCount: Int {
        switch self {
        case .gtgn: 51
        case .gtg: 205
        }
    }

    /// How far back a search for the newest file goes, in seconds.
    package var searchSeconds: Int {
        switch self {
        case .gtgn: 2 * 3_600
        case .gtg: 6 * 3_600
        }
    }

    /// The delay in seconds until a file without an index counts as complete. Until then it is still being written;
    /// afterwards it is read whole. A nowcast may never have an index.
    package var indexDelaySeconds: Int {
        switch self {
        case .gtgn: 0
        case .gtg: 600
        }
    }
}
