package import Turbulence

/// The fields before and after an instant, between which values are interpolated.
package struct FieldBracket: Sendable, Hashable {
    package let before: FieldFrame
    /// Equal to `before` if only one field is used.
    package let after: FieldFrame
    /// The instant's position between `before` and `after`: 0…1.
    package let share: Double

    /// The maximum interval between the valid times in seconds: that of forecasts at the longest lead times fetched by
    /// default.
    package static let longestGap = 3 * 3_600
}

extension FieldIndex {
    /// The fields with the nearest valid times before and after an instant. Of several with one valid time, the nowcast
    /// is used, otherwise the newest run.
    ///
    /// If one side has no field, or if both are more than `FieldBracket.longestGap` apart, only the field of frames
    /// is used. Returns nil if frames show none.
    ///
    /// - Parameter version: fields stored after it are ignored.
    /// - Complexity: O(log n + fields within `longestGap`)
    package func bracket(around instant: Instant, _ query: Query = Query(), asOf version: Version) -> FieldBracket? {
        let near = frames(
            from: instant.advanced(by: -FieldBracket.longestGap), through: instant.advanced(by: FieldBracket.longestGap)
        ).filter { query.matches($0) }
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

    /// The best of the candidates that have the first valid time with any known field.
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
    /// The levels between which the value at an altitude is interpolated.
    package struct Neighbours: Sendable, Hashable {
        package let below: FieldLevelRecord
        /// Equal to `below` if only one level is used.
        package let above: FieldLevelRecord
        /// The altitude's position between `below` and `above`: 0…1.
        package let share: Double
    }

    /// The levels adjacent to an altitude in feet: one on each side, at most twice `farthestNeighbour` apart; otherwise
    /// the one within `nearestAlone`. nil if there is none.
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
