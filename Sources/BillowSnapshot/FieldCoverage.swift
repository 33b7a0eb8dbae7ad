package import BillowFields
package import Geometry
package import Turbulence

/// The places and times with fields of each source, and their newest times. Part of a snapshot.
package struct FieldCoverage: Sendable, Hashable {
    /// Source → the domains of its grids. Each has a time range during which all frames show a field on it.
    package private(set) var areas: [SourceID: [CoveredArea]] = [:]
    /// Source → product → the newest valid time of nowcasts, or the newest run of forecasts.
    package private(set) var newest: [SourceID: [FieldProduct: Instant]] = [:]
    /// A cache of the grids' domains, which are slow to compute.
    private var domains: [GridDefinition: AreaRing?] = [:]

    package static let empty = FieldCoverage()

    private init() {}

    /// - Parameter previous: the coverage whose cached domains are reused.
    package init(_ fields: FieldIndex, on grids: [Int64: GridDefinition], after previous: FieldCoverage = .empty) {
        struct Place: Hashable {
            var source: SourceID
            var grid: GridDefinition
        }
        var times: [Place: [ClosedRange<Instant>]] = [:]
        for frame in fields.frames {
            let (identity, source) = (frame.identity, frame.source)
            let time = identity.product == .nowcast ? identity.validTime : identity.run
            let known = newest[source]?[identity.product] ?? time
            newest[source, default: [:]][identity.product] = max(known, time)
            guard let grid = grids[frame.grid] else { continue }
            let reach = identity.product.reach
            times[Place(source: source, grid: grid), default: []].append(
                identity.validTime.advanced(by: reach.lowerBound)...identity.validTime.advanced(by: reach.upperBound))
        }
        for (place, times) in times {
            let domain = previous.domains[place.grid] ?? place.grid.domain
            domains[place.grid] = .some(domain)
            for time in Self.joined(times) {
                areas[place.source, default: []].append(
                    CoveredArea(kind: .fields, ring: domain, since: time.lowerBound, until: time.upperBound))
            }
        }
    }

    /// The box around the grid; nil unless there is exactly one, with an outline.
    package var box: BoundingBox? { domains.count == 1 ? domains.values.first?.flatMap(\.box) : nil }

    /// The times in ascending order; adjoining ones are merged.
    private static func joined(_ times: [ClosedRange<Instant>]) -> [ClosedRange<Instant>] {
        var joined: [ClosedRange<Instant>] = []
        for time in times.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, time.lowerBound <= last.upperBound.advanced(by: 1) {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, time.upperBound)
            } else {
                joined.append(time)
            }
        }
        return joined
    }
}
