package import Turbulence

/// A stretch of time that is animated: a start before an end, and at most so many frames, equally spaced with both ends
/// among them. Past, future, or both.
package struct Timeline: Sendable, Hashable {
    package let start: Instant
    package let end: Instant
    /// The most frames that any layer has, 1 or more.
    package let intervals: Int
    /// Whether the frames between start and end lie on round UTC times.
    package let isAnchored: Bool
    /// The instant of a live frame among the round times: the present, where it lies between start and end.
    package let live: Instant?

    /// Above this many frames an animation costs clients more than it shows.
    package static let advisedIntervals = 20

    /// - Throws: `ParameterError` naming `end` where it isn't after the start or is too far from it, and `intervals`
    ///   outside 1…`limits.intervals`.
    package init(start: Instant, end: Instant, intervals: Int, limits: TimelineLimits = TimelineLimits())
        throws(ParameterError)
    {
        guard (1...limits.intervals).contains(intervals) else {
            throw ParameterError(
                parameter: "intervals", value: String(intervals), expected: "from 1 to \(limits.intervals)")
        }
        guard start < end else {
            throw ParameterError(
                parameter: "end", value: end.description, expected: "after the start, \(start)")
        }
        guard end.seconds - start.seconds <= limits.spanSeconds else {
            throw ParameterError(
                parameter: "end", value: end.description,
                expected: "at most \(ISODuration.text(limits.spanSeconds)) after the start, "
                    + "\(start.advanced(by: limits.spanSeconds)) at the latest")
        }
        self.init(start, end, intervals, isAnchored: false, live: nil)
    }

    private init(_ start: Instant, _ end: Instant, _ intervals: Int, isAnchored: Bool, live: Instant?) {
        self.start = start
        self.end = end
        self.intervals = intervals
        self.isAnchored = isAnchored
        self.live = live
    }

    /// The same stretch with the frames between its ends on multiples of their spacing since 1970, and a live frame at
    /// `now` where that lies within. As the clock moves on, all frames but these three stay what they were.
    package func anchored(now: Instant) -> Timeline {
        Timeline(start, end, intervals, isAnchored: true, live: now > start && now < end ? now : nil)
    }

    /// In seconds, above 0.
    package var rangeSeconds: Int { end.seconds - start.seconds }

    /// What to say about so many frames; nil where there is nothing to say.
    package var advice: String? {
        guard intervals > Self.advisedIntervals else { return nil }
        return "\(intervals) frames make an animation slow to load; \(Self.advisedIntervals) or fewer are advised"
    }

    // MARK: - Frames

    /// How many frames something shows that is new every so many seconds (1 or more): never more than it has states.
    package func frameCount(updateInterval seconds: Int) -> Int {
        min(intervals, rangeSeconds / max(seconds, 1) + 1)
    }

    /// The frames of something that is new every so many seconds, in rising order: start + i · range ÷ (count − 1),
    /// cut to whole seconds, so that the first is the start and the last the end. One frame alone is at the end.
    /// Anchored, those
    /// between the ends are round, and the live one takes the place of the round one next to it.
    package func times(updateInterval seconds: Int = 1) -> [Instant] {
        let count = frameCount(updateInterval: seconds)
        guard count > 1 else { return [end] }
        guard isAnchored else {
            return (0..<count).map { start.advanced(by: $0 * rangeSeconds / (count - 1)) }
        }
        // Rounded up: so at most one round time is too many.
        let step = (rangeSeconds + count - 2) / (count - 1)
        let first = start.floored(toMultipleOf: step).advanced(by: step)
        var between = stride(from: first.seconds, to: end.seconds, by: step).map { Instant(clamping: $0) }
        if let live, count > 2, !between.contains(live) {
            let distance = { (instant: Instant) in abs(instant.seconds - live.seconds) }
            if let nearest = between.indices.min(by: { distance(between[$0]) < distance(between[$1]) }) {
                between[nearest] = live
                between.sort()
            } else {
                between = [live]
            }
        }
        // The start takes the place of the round time after it, which is not the live frame.
        while between.count > count - 2, let surplus = between.firstIndex(where: { $0 != live || count <= 2 }) {
            between.remove(at: surplus)
        }
        return [start] + between + [end]
    }

    /// The frames of something that is new whenever it changes, in rising order: what holds at the start, then each
    /// change. Where those are more than `intervals`, what holds at equally spaced instants; one frame alone is at the
    /// end.
    ///
    /// - Parameter changes: in rising order, each once.
    package func times(changes: [Instant]) -> [Instant] {
        let grid = times()
        guard let first = grid.first, grid.count > 1 else { return grid }
        let states = [first] + changes.filter { $0 > first && $0 <= end }
        guard states.count > intervals else { return states }
        return grid.reduce(into: []) { kept, instant in
            guard let state = FrameRule.latest.frame(at: instant, of: states), state != kept.last else { return }
            kept.append(state)
        }
    }

    // MARK: - Going to a time

    /// An instant that a timeline is sent to.
    /// - Throws: `ParameterError` outside it, ends included.
    package func goTo(_ instant: Instant, parameter: String = "time") throws(ParameterError) -> Instant {
        guard (start...end).contains(instant) else {
            throw ParameterError(
                parameter: parameter, value: instant.description, expected: "from \(start) to \(end)")
        }
        return instant
    }
}

/// How large a timeline may be.
package struct TimelineLimits: Sendable, Hashable {
    /// The most frames, 1 or more.
    package var intervals: Int
    /// The longest stretch, in seconds.
    package var spanSeconds: Int

    package init(intervals: Int = 500, spanSeconds: Int = 366 * 86_400) {
        self.intervals = intervals
        self.spanSeconds = spanSeconds
    }
}

/// Which of a layer's frames is shown at an instant.
package enum FrameRule: String, Sendable, Hashable, CaseIterable {
    /// The newest at or before it: what was known then.
    case latest
    /// The nearest, the earlier of two equally near.
    case nearest
    /// That instant's or none.
    case exact

    /// The frame shown, of times in rising order; nil where the rule finds none.
    /// - Complexity: O(log n)
    package func frame(at instant: Instant, of times: [Instant]) -> Instant? {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= instant { low = middle + 1 } else { high = middle }
        }
        let before = low > 0 ? times[low - 1] : nil
        let after = low < times.count ? times[low] : nil
        switch self {
        case .latest: return before
        case .exact: return before == instant ? before : nil
        case .nearest:
            guard let before, let after else { return before ?? after }
            return after.seconds - instant.seconds < instant.seconds - before.seconds ? after : before
        }
    }
}
