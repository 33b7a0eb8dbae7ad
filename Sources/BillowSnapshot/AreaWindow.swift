package import Turbulence

/// The issued areas that are valid now, were valid recently or will be: immutable, at one version of the log.
package struct AreaWindow: Sendable {
    private var areas: [IssuedArea.Identity: IssuedArea] = [:]

    /// Makes an empty window.
    package init() {}

    package init(_ areas: [IssuedArea]) { update(opened: areas, closed: []) }

    package var count: Int { areas.count }

    /// The end of the last area of each collection.
    package private(set) var ends: [IssuedArea.DatasetNumber: Instant] = [:]

    /// The areas of a collection that are valid at an instant, in the order of their ids.
    /// - Complexity: O(areas held)
    package func valid(at instant: Instant, _ collection: IssuedArea.DatasetNumber) -> [IssuedArea] {
        AreaWindow.ordered(areas.values.lazy.filter { $0.collection == collection && $0.isValid(at: instant) })
    }

    /// The areas of a collection that are valid at any time of `from` ≤ t < `to`, in the order of their ids.
    /// - Complexity: O(areas held)
    package func valid(from: Instant, to: Instant, _ collection: IssuedArea.DatasetNumber) -> [IssuedArea] {
        AreaWindow.ordered(
            areas.values.lazy.filter { $0.collection == collection && $0.validFrom < to && $0.validTo > from })
    }

    /// The order in which areas are listed and drawn.
    package static func ordered(_ areas: some Sequence<IssuedArea>) -> [IssuedArea] {
        areas.sorted { ($0.id, $0.source, $0.validFrom) < ($1.id, $1.source, $1.validFrom) }
    }

    /// Applies opened and closed areas.
    package mutating func update(opened: [IssuedArea], closed: [IssuedArea]) {
        for area in closed { areas[area.identity] = nil }
        for area in opened { areas[area.identity] = area }
        noteEnds()
    }

    /// Removes areas that ended at an instant or before.
    package mutating func drop(before instant: Instant) {
        areas = areas.filter { $0.value.validTo > instant }
        noteEnds()
    }

    private mutating func noteEnds() {
        ends = [:]
        for area in areas.values { ends[area.collection] = max(ends[area.collection] ?? area.validTo, area.validTo) }
    }

    /// The instants at which areas of a collection begin or end, within a range, ascending and without repeats.
    package func changes(of collection: IssuedArea.DatasetNumber, in range: ClosedRange<Instant>) -> [Instant] {
        var changes = Set<Instant>()
        for area in areas.values where area.collection == collection {
            for instant in [area.validFrom, area.validTo] where range.contains(instant) { changes.insert(instant) }
        }
        return changes.sorted()
    }
}
