package import Turbulence

/// A client's request for a timeline, in which parts may be left to the defaults.
package struct TimelineRequest: Sendable, Hashable {
    package var start: TimePoint?
    package var end: TimePoint?
    package var intervals: Int?
    /// Whether frames are at round UTC times; nil if neither end is given.
    package var isAnchored: Bool?

    package init(
        start: TimePoint? = nil, end: TimePoint? = nil, intervals: Int? = nil, isAnchored: Bool? = nil
    ) {
        self.start = start
        self.end = end
        self.intervals = intervals
        self.isAnchored = isAnchored
    }

    /// Resolves offsets against `now` once, so that the frames don't move during playback.
    ///
    /// A start without an end ends at the default end. An end without a start begins the default length before it.
    /// - Parameter now: the publication's time, floored to the minute, so that all clients of a minute share frames.
    package func resolved(now: Instant, defaults: TimelineDefaults) throws(ParameterError) -> Timeline {
        let end: Instant
        let start: Instant
        switch (self.start, self.end) {
        case (let first, let last?):
            end = last.resolved(now: now)
            start = first?.resolved(now: now) ?? end.advanced(by: defaults.startSeconds - defaults.endSeconds)
        case (let first, nil):
            end = now.advanced(by: defaults.endSeconds)
            start = first?.resolved(now: now) ?? now.advanced(by: defaults.startSeconds)
        }
        let timeline = try Timeline(
            start: start, end: end, intervals: intervals ?? defaults.intervals, limits: defaults.limits)
        return isAnchored ?? (self.start == nil && self.end == nil) ? timeline.anchored(now: now) : timeline
    }
}

/// The defaults of a timeline request.
package struct TimelineDefaults: Sendable, Hashable {
    /// Seconds from now, below `endSeconds`.
    package var startSeconds: Int
    package var endSeconds: Int
    /// The maximum number of frames, from 1 to the limit.
    package var intervals: Int
    package var limits: TimelineLimits

    package init(
        startSeconds: Int = -7_200, endSeconds: Int = 0, intervals: Int = 13, limits: TimelineLimits = TimelineLimits()
    ) {
        self.startSeconds = startSeconds
        self.endSeconds = endSeconds
        self.intervals = intervals
        self.limits = limits
    }
}
