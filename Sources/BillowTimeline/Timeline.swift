package import Turbulence

/// The time range of an animation and its maximum number of frames, equally spaced, with both ends included. The range
/// may be in the past, the future, or both.
package struct Timeline: Sendable, Hashable {
    package let start: Instant
    package let end: Instant
    /// The maximum number of frames of a layer, 1 or more.
    package let intervals: Int
    /// Whether the frames between start and end are at round UTC times.
    package let isAnchored: Bool
    /// The instant of a live frame between the round times: the present, if it lies between start and end.
    package let live: Instant?

    /// The recommended maximum: more frames cost clients more than they show.
    package static let advisedIntervals = 20

    /// - Parameter request: the request, which errors quote.
    /// - Throws: `ParameterError` for the end, or for a start without an end, if the range is empty or too long.
    ///   `ParameterError` for `intervals` outside 1…`limits.intervals`.
    package init(
        start: Instant, end: Instant, intervals: Int, limits: TimelineLimits = TimelineLimits(),
        request: TimelineRequest = TimelineRequest()
    ) throws(ParameterError) {
        guard (1...limits.intervals).contains(intervals) else {
            throw ParameterError(
                parameter: "intervals", value: String(intervals), expected: "from 1 to \(limits.intervals)")
        }
        guard start < end, end.seconds - start.seconds <= limits.spanSeconds else {
            throw request.unusable(start, end, spanSeconds: limits.spanSeconds)
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

    /// The same range, with the frames between its ends at round times: multiples of `roundStep` since 1970. It has a
    /// live frame at `now` if that lies within. As time passes, all frames except these three are unchanged.
    package func anchored(now: Instant) -> Timeline {
        Timeline(start, end, intervals, isAnchored: true, live: now > start && now < end ? now : nil)
    }

    /// The length in seconds, above 0.
    package var rangeSeconds: Int { end.seconds - start.seconds }

    /// A recommendation if there are too many frames; otherwise nil.
    package var advice: String? {
        guard intervals > Self.advisedIntervals else { return nil }
        return "\(intervals) frames make an animation slow to load; \(Self.advisedIntervals) or fewer are advised"
    }

    // MARK: - Frames

    /// The number of frames of a layer with an update interval in seconds (1 or more): at most the number of its
    /// states.
    package func frameCount(updateInterval seconds: Int) -> Int {
        min(intervals, rangeSeconds / max(seconds, 1) + 1)
    }

    /// The frames of a layer with an update interval in seconds, ascending: start + i · range ÷ (count − 1), truncated
    /// to whole seconds. The first is the start and the last the end; a single frame is at the end.
    ///
    /// If the timeline is anchored, frames between the ends are at round times (`roundStep`), so there may be fewer.
    /// The live frame is between them. If there are more than the count, the earliest after the start are left out.
    package func times(updateInterval seconds: Int = 1) -> [Instant] {
        let count = frameCount(updateInterval: seconds)
        guard count > 1 else { return [end] }
        guard isAnchored else {
            return (0..<count).map { start.advanced(by: $0 * rangeSeconds / (count - 1)) }
        }
        // Rounded up, so that there is at most one round time too many.
        let step = Self.roundStep(atLeast: (rangeSeconds + count - 2) / (count - 1))
        let first = start.floored(toMultipleOf: step).advanced(by: step)
        var between = stride(from: first.seconds, to: end.seconds, by: step).map { Instant(clamping: $0) }
        if let live, count > 2, !between.contains(live) {
            between.insert(live, at: between.firstIndex { $0 > live } ?? between.endIndex)
        }
        // Surplus frames are the earliest after the start, but not the live frame: near the present, none is missing.
        while between.count > count - 2, let surplus = between.firstIndex(where: { $0 != live || count <= 2 }) {
            between.remove(at: surplus)
        }
        return [start] + between + [end]
    }

    /// The shortest spacing of round times that is not below a number of seconds: a whole part of a minute, an hour or
    /// a day, or whole days.
    package static func roundStep(atLeast seconds: Int) -> Int {
        roundSteps.first { $0 >= seconds } ?? (seconds + daySeconds - 1) / daySeconds * daySeconds
    }

    private static let daySeconds = 86_400
    private static let roundSteps =
        [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30]
        + [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].map { $0 * 60 } + [1, 2, 3, 4, 6, 8, 12, 24].map { $0 * 3_600 }

    /// The frames of a layer that is updated at irregular times, ascending: the state at the start, then each change.
    /// If there are more than `intervals`, the states at equally spaced instants are used. A single frame is at the
    /// end.
    ///
    /// - Parameter changes: ascending, without repeats.
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

    // MARK: - Seeking

    /// Validates an instant to seek to.
    /// - Throws: `ParameterError` if it is outside the timeline; both ends are inside.
    /// - Parameter text: the instant as the client wrote it; nil for its standard form.
    package func seek(to instant: Instant, text: String? = nil) throws(ParameterError) -> Instant {
        guard (start...end).contains(instant) else {
            throw ParameterError(
                parameter: "time", value: text ?? instant.description, expected: "from \(start) to \(end)")
        }
        return instant
    }
}

/// The limits of a timeline.
package struct TimelineLimits: Sendable, Hashable {
    /// The maximum number of frames, 1 or more.
    package var intervals: Int
    /// The maximum length in seconds.
    package var spanSeconds: Int

    package init(intervals: Int = 500, spanSeconds: Int = 366 * 86_400) {
        self.intervals = intervals
        self.spanSeconds = spanSeconds
    }
}

/// Selects the frame of a layer that is shown at an instant.
package enum FrameRule: String, Sendable, Hashable, CaseIterable {
    /// The newest at or before the instant: the data known then.
    case latest
    /// The nearest; of two equally near, the earlier.
    case nearest
    /// The frame of exactly that instant, or none.
    case exact

    /// Finds the frame to show among ascending times; nil if the rule finds none.
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
