package import Turbulence

/// What an archive says to have held at one moment: its files are copies of what was served, pulled about once an
/// hour, and what they hold is taken to hold from one pull to the next.
package struct HazardPull: Sendable, Hashable {
    package var at: Instant
    /// The products that were pulled, also where no area of one was found.
    package var kinds: Set<String>
    package var source: SourceID
    /// With the validity that they give themselves.
    package var areas: [IssuedArea]

    /// No pull holds longer where the next is missing. Seconds.
    private static let longestSeconds = 3 * 3_600
    /// Areas this far around the pull matter to `placed`. Seconds.
    package static let reachSeconds = 86_400

    /// Its areas from this pull to the next, and areas of other pulls that it ends or dates, in any order of pulls.
    ///
    /// A domestic SIGMET holds from its issue, and ends those that it `replaces`: one that was issued since the pull
    /// before has a beginning of its own, from its issue to the first pull that has it.
    ///
    /// - Parameter stored: what is known of the days around it.
    package func placed(among stored: [IssuedArea]) -> [IssuedArea] {
        let known = stored.filter { $0.collection == .hazards && $0.source == source && kinds.contains($0.kind) }
        let pulls = known.lazy.filter { !Self.isBeginning($0) }.map(\.validFrom)
        let next = pulls.filter { $0 > at }.min()
        let own = areas.compactMap { area in
            let longest = at.advanced(by: HazardPull.longestSeconds)
            return Self.held(area, from: at, to: min(area.validTo, longest, next ?? .distantFuture))
        }
        var beginnings: [IssuedArea] = []
        if let before = pulls.filter({ $0 < at }).max() {
            beginnings += Self.beginnings(of: areas, from: before, to: at)
        }
        if let next {
            beginnings += Self.beginnings(of: known.filter { $0.validFrom == next }, from: at, to: next)
        }
        let others = known.compactMap { area in
            let isInForce = !Self.isBeginning(area) && area.validFrom < at && area.validTo > at
            return isInForce ? Self.held(area, from: area.validFrom, to: at) : area
        }
        // The same under one identity is what is new of it.
        var placed = Dictionary(others.map { ($0.identity, $0) }) { first, _ in first }
        for area in beginnings + own { placed[area.identity] = area }
        let issues = placed.values.filter(Self.isBeginning)
        let lastSeen = Dictionary(placed.values.map { (Issue($0), $0.validFrom) }, uniquingKeysWith: max)
        let unchanged = Set(known).subtracting(own)
        return placed.values.compactMap { area in
            // What a later pull still has was not replaced before it.
            let from = max(area.validFrom, lastSeen[Issue(area)] ?? .distantPast)
            let superseded = issues.lazy.filter { $0.replaces(area) }.map(\.validFrom).filter { $0 > from }.min()
            let area = Self.held(area, from: area.validFrom, to: min(area.validTo, superseded ?? .distantFuture))
            return area.flatMap { unchanged.contains($0) ? nil : $0 }
        }.sorted { ($0.id, $0.validFrom) < ($1.id, $1.validFrom) }
    }

    /// What areas of the pull at `end` were before it, of those issued since the pull at `start`.
    private static func beginnings(of areas: [IssuedArea], from start: Instant, to end: Instant) -> [IssuedArea] {
        guard end.seconds - start.seconds <= longestSeconds else { return [] }
        return areas.compactMap { area in
            guard area.kind == IssuedArea.sigmetKind, let issuedAt = area.issuedAt, issuedAt > start else {
                return nil
            }
            return held(area, from: issuedAt, to: min(area.validTo, end))
        }
    }

    /// Which issue an area is of.
    private struct Issue: Hashable {
        var id: String
        var issuedAt: Instant?

        init(_ area: IssuedArea) {
            id = area.id
            issuedAt = area.issuedAt
        }
    }

    /// Whether it is the time from an issue to the pull that has it, and not what a pull has.
    private static func isBeginning(_ area: IssuedArea) -> Bool {
        area.kind == IssuedArea.sigmetKind && area.validFrom == area.issuedAt
    }

    /// nil where nothing is left of it.
    private static func held(_ area: IssuedArea, from start: Instant, to end: Instant) -> IssuedArea? {
        guard start < end else { return nil }
        var area = area
        area.validFrom = start
        if end < area.validTo { area.statedTo = area.statedTo ?? area.validTo }
        area.validTo = end
        return area
    }

    /// The time in a file's name, `usa_airmets_2025-12-19T0218.geojson`, UTC; nil where there is none.
    static func time(inName name: String) -> Instant? {
        guard let match = name.matches(of: /([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}):?([0-9]{2})(?![0-9])/).last else {
            return nil
        }
        return Instant("\(match.1):\(match.2):00Z")
    }
}
