import Datasets
package import Turbulence

/// The hazards of an archive at one moment. Its files are copies of the service's responses, taken about once an hour.
/// A copy's content is valid until the next copy.
package struct HazardArchiveCopy: Sendable, Hashable {
    package var at: Instant
    /// The products of this copy, including those without any area.
    package var kinds: Set<String>
    package var source: SourceID
    /// The areas with their original validity.
    package var areas: [IssuedArea]

    /// The collections of its products.
    package var collections: Set<IssuedArea.DatasetNumber> {
        Set(kinds.compactMap { Catalogue.dataset(ofAreaKind: $0)?.areas })
    }

    /// The longest validity in seconds if the next copy is missing.
    private static let longestSeconds = 3 * 3_600
    /// The time in seconds around the copy within which areas matter to `placed`.
    package static let reachSeconds = 86_400

    /// Its areas, valid from this copy to the next, and areas of other copies that it ends or dates. The order in which
    /// copies are processed doesn't matter.
    ///
    /// A domestic SIGMET is valid from its issue, and ends those that it `replaces`. One that was issued since the
    /// previous copy gets an additional area, from its issue to the first copy with it.
    ///
    /// - Parameter stored: the known areas of the days around it.
    package func placed(among stored: [IssuedArea]) -> [IssuedArea] {
        let collections = collections
        let known = stored.filter {
            collections.contains($0.collection) && $0.source == source && kinds.contains($0.kind)
        }
        let pulls = known.lazy.filter { !Self.isBeginning($0) }.map(\.validFrom)
        let next = pulls.filter { $0 > at }.min()
        let own = areas.compactMap { area in
            let longest = at.advanced(by: HazardArchiveCopy.longestSeconds)
            return Self.clipped(area, from: at, to: min(area.validTo, longest, next ?? .distantFuture))
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
            return isInForce ? Self.clipped(area, from: area.validFrom, to: at) : area
        }
        // A later entry with the same identity replaces an earlier one.
        var placed = Dictionary(others.map { ($0.identity, $0) }) { first, _ in first }
        for area in beginnings + own { placed[area.identity] = area }
        let issues = placed.values.filter(Self.isBeginning)
        let lastSeen = Dictionary(placed.values.map { (Issue($0), $0.validFrom) }, uniquingKeysWith: max)
        let unchanged = Set(known).subtracting(own)
        return placed.values.compactMap { area in
            // An area that a later copy still contains was not replaced before that copy.
            let from = max(area.validFrom, lastSeen[Issue(area)] ?? .distantPast)
            let superseded = issues.lazy.filter { $0.replaces(area) }.map(\.validFrom).filter { $0 > from }.min()
            let area = Self.clipped(area, from: area.validFrom, to: min(area.validTo, superseded ?? .distantFuture))
            return area.flatMap { unchanged.contains($0) ? nil : $0 }
        }.sorted { ($0.id, $0.validFrom) < ($1.id, $1.validFrom) }
    }

    /// The additional areas before the copy at `end`, for areas issued since the copy at `start`.
    private static func beginnings(of areas: [IssuedArea], from start: Instant, to end: Instant) -> [IssuedArea] {
        guard end.seconds - start.seconds <= longestSeconds else { return [] }
        return areas.compactMap { area in
            guard area.kind == IssuedArea.sigmetKind, let issuedAt = area.issuedAt, issuedAt > start else {
                return nil
            }
            return clipped(area, from: issuedAt, to: min(area.validTo, end))
        }
    }

    /// The identity of an area's issue.
    private struct Issue: Hashable {
        var id: String
        var issuedAt: Instant?

        init(_ area: IssuedArea) {
            id = area.id
            issuedAt = area.issuedAt
        }
    }

    /// Whether it is an additional area for the time from an issue to its first copy.
    private static func isBeginning(_ area: IssuedArea) -> Bool {
        area.kind == IssuedArea.sigmetKind && area.validFrom == area.issuedAt
    }

    /// nil if its validity is empty.
    private static func clipped(_ area: IssuedArea, from start: Instant, to end: Instant) -> IssuedArea? {
        guard start < end else { return nil }
        var area = area
        area.validFrom = start
        if end < area.validTo { area.statedTo = area.statedTo ?? area.validTo }
        area.validTo = end
        return area
    }

    /// The time in a file's name, `usa_airmets_2025-12-19T0218.geojson`, UTC; nil without one.
    static func time(inName name: String) -> Instant? {
        guard let match = name.matches(of: /([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}):?([0-9]{2})(?![0-9])/).last else {
            return nil
        }
        return Instant("\(match.1):\(match.2):00Z")
    }
}
