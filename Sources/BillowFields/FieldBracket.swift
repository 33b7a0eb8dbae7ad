package import Turbulence

/// The fields on either side of an instant, between which its values lie.
package struct FieldBracket: Sendable, Hashable {
    package let before: FieldFrame
    /// The same as `before` where one field counts alone.
    package let after: FieldFrame
    /// How much of the way from `before` to `after` has passed: 0…1.
    package let share: Double

    /// How far apart the valid times may be, in seconds: those of forecasts at the longest lead times that are fetched
    /// by default.
    package static let longestGap = 3 * 3_600
}

extension FieldIndex {
    /// The fields with the valid times nearest to an instant before and after it. Of several for one valid time the
    /// nowcast counts, else the newest run.
    ///
    /// Where there is none on one side, or they are further apart than `FieldBracket.longestGap`, the field that
    /// pictures show counts alone; nil where they show none.
    ///
    /// - Parameter version: what was stored after it doesn't count.
    /// - Complexity: O(log n + fields within `longestGap`)
    package func bracket(around instant: Instant, _ query: Query = Query(), asOf version: Version) -> FieldBracket? {
        let near = frames(
            from: instant.advanced(by: -FieldBracket.longestGap), through: instant.advanced(by: FieldBracket.longestGap)
        ).filter { query.takes($0) }
        let before = Self.best(near.reversed().lazy.filter { $0.identity.validTime <= instant }, asOf: version)
        let after = Self.best(near.lazy.filter { $0.identity.validTime >= instant }, asOf: version)
        if let before, let after {
            let gap = after.identity.validTime.seconds - before.identity.validTime.seconds
            if gap == 0 { return FieldBracket(before: before, after: before, share: 0) }
            if gap <= FieldBracket.longestGap {
                let passed = instant.seconds - before.identity.validTime.seconds
                return FieldBracket(before: before, after: after, share: Double(passed) / Double(gap))
            }
        }
        return frame(at: instant, query, asOf: version).map { FieldBracket(before: $0, after: $0, share: 0) }
    }

    /// The best of those that are about the first valid time which any is known for.
    private static func best(_ candidates: some Sequence<FieldFrame>, asOf version: Version) -> FieldFrame? {
        var best: FieldFrame?
        for candidate in candidates {
            if let best {
                guard candidate.identity.validTime == best.identity.validTime else { break }
                guard candidate.isBetter(than: best, at: best.identity.validTime) else { continue }
            }
            if let known = candidate.asOf(version) { best = known }
        }
        return best
    }
}

extension FieldFrame {
    /// The levels between which the value of an altitude lies.
    package struct Neighbours: Sendable, Hashable {
        package let below: FieldLevelRecord
        /// The same as `below` where one level counts alone.
        package let above: FieldLevelRecord
        /// How much of the way from `below` to `above` the altitude is: 0…1.
        package let share: Double
    }

    /// The levels next to an altitude in feet: on both sides, no further apart than twice `farthestNeighbour`; else the
    /// one within `nearestAlone`. nil where there is none.
    package func neighbours(ofFeet feet: Double) -> Neighbours? {
        let flown = levels.filter { $0.level != .column }
        let below = flown.last { Double($0.level.number) <= feet }
        let above = flown.first { Double($0.level.number) >= feet }
        if let below, let above {
            let gap = Double(above.level.number - below.level.number)
            if gap == 0 { return Neighbours(below: below, above: below, share: 0) }
            if gap <= Double(2 * Self.farthestNeighbour) {
                return Neighbours(below: below, above: above, share: (feet - Double(below.level.number)) / gap)
            }
        }
        let nearest = [below, above].compactMap(\.self).min {
            abs(Double($0.level.number) - feet) < abs(Double($1.level.number) - feet)
        }
        guard let nearest, abs(Double(nearest.level.number) - feet) <= Self.nearestAlone else { return nil }
        return Neighbours(below: nearest, above: nearest, share: 0)
    }

    /// In feet: half of the distance of the levels that are fetched by default.
    package static let nearestAlone = 1_000.0
}
