public import Turbulence

/// What an archive says to have held at one moment: its files are copies of what was served, pulled about once an hour, and
/// what they hold is taken to hold from one pull to the next.
public struct HazardPull: Sendable, Hashable {
    public var at: Instant
    /// The products that were pulled, also where no area of one was found.
    public var kinds: Set<String>
    public var source: SourceID
    /// With the validity that they give themselves.
    public var areas: [IssuedArea]

    /// No pull holds longer where the next is missing. Seconds.
    private static let longestSeconds = 3 * 3_600
    /// Areas this far around the pull matter to `placed`. Seconds.
    public static let reachSeconds = 86_400

    /// Its areas from this pull to the next, and areas of the pulls before that it ends, in any order of pulls.
    ///
    /// - Parameter stored: what is known of the days around it.
    public func placed(among stored: [IssuedArea]) -> [IssuedArea] {
        let known = stored.filter { $0.collection == .hazards && $0.source == source && kinds.contains($0.kind) }
        let next = known.map(\.validFrom).filter { $0 > at }.min()
        let own = areas.compactMap { area -> IssuedArea? in
            var area = area
            area.validFrom = at
            area.validTo = min(area.validTo, at.advanced(by: HazardPull.longestSeconds), next ?? .distantFuture)
            return area.validFrom < area.validTo ? area : nil
        }
        let ended = known.filter { $0.validFrom < at && $0.validTo > at }.map { area in
            var area = area
            area.validTo = at
            return area
        }
        return ended + own
    }

    /// The time in a file's name, `usa_airmets_2025-12-19T0218.geojson`, UTC; nil where there is none.
    static func time(inName name: String) -> Instant? {
        guard let match = name.matches(of: /([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}):?([0-9]{2})(?![0-9])/).last else {
            return nil
        }
        return Instant("\(match.1):\(match.2):00Z")
    }
}
