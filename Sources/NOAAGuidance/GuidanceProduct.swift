/// One of NOAA's turbulence products.
///
/// Source: docs/upstreams/noaa.md, "Products"
package enum GuidanceProduct: String, Sendable, Hashable, CaseIterable, Codable {
    /// The nowcast: a file each 15 minutes.
    case gtgn
    /// The forecast: a run each hour, a file for each hour ahead.
    case gtg

    /// Seconds between two runs. A nowcast is a run of one file.
    package var cadenceSeconds: Int {
        switch self {
        case .gtgn: 900
        case .gtg: 3_600
        }
    }

    /// Hours ahead that have a file.
    package var leadHours: ClosedRange<Int> {
        switch self {
        case .gtgn: 0...0
        case .gtg: 0...18
        }
    }

    /// How many messages a whole file has.
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

    /// Whether a file without an index is still being written. Else it may never have one.
    package var requiresIndex: Bool { self == .gtg }
}
