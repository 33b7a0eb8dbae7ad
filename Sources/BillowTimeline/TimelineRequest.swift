package import Turbulence

/// A client's request for a timeline, in which parts may be left to the defaults.
package struct TimelineRequest: Sendable, Hashable {
    package var start: RequestedTimePoint?
    package var end: RequestedTimePoint?
    package var intervals: Int?
    /// Whether frames are at round UTC times; nil if neither end is given.
    package var isAnchored: Bool?

    package init(
        start: RequestedTimePoint? = nil, end: RequestedTimePoint? = nil, intervals: Int? = nil, isAnchored: Bool? = nil
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
            end = last.point.resolved(now: now)
            start = first?.point.resolved(now: now) ?? end.advanced(by: defaults.startSeconds - defaults.endSeconds)
        case (let first, nil):
            end = now.advanced(by: defaults.endSeconds)
            start = first?.point.resolved(now: now) ?? now.advanced(by: defaults.startSeconds)
        }
        let timeline = try Timeline(
            start: start, end: end, intervals: intervals ?? defaults.intervals, limits: defaults.limits, request: self)
        return isAnchored ?? (self.start == nil && self.end == nil) ? timeline.anchored(now: now) : timeline
    }
}

extension TimelineRequest {
    /// The end of a timeline that an error names: its parameter, and its value in the client's words.
    package struct End: Sendable, Hashable {
        package let parameter: String
        package let text: String

        package init(parameter: String, text: String) {
            self.parameter = parameter
            self.text = text
        }
    }

    /// What the client gave of the range: its end, otherwise its start. Where it gave neither, the start of the default
    /// range.
    package var blamed: End {
        if let end { return End(parameter: "end", text: end.text) }
        return End(parameter: "start", text: start?.text ?? "the default")
    }

    /// The error of a range whose ends are in the wrong order, or too far apart.
    func unusable(_ start: Instant, _ end: Instant, spanSeconds: Int) -> ParameterError {
        let isOrdered = start < end
        let span = ISODuration.text(spanSeconds)
        let expected: String
        if self.end == nil, self.start != nil {
            let earliest = end.advanced(by: -spanSeconds)
            expected =
                isOrdered ? "at most \(span) before the end, \(earliest) at the earliest" : "before the end, \(end)"
        } else {
            let latest = start.advanced(by: spanSeconds)
            expected =
                isOrdered ? "at most \(span) after the start, \(latest) at the latest" : "after the start, \(start)"
        }
        let blamed = self.start == nil && self.end == nil ? End(parameter: "end", text: "\(end)") : blamed
        return ParameterError(parameter: blamed.parameter, value: blamed.text, expected: expected)
    }
}

/// A point of a timeline, with the client's own words for error messages.
package struct RequestedTimePoint: Sendable, Hashable {
    package let point: TimePoint
    package let text: String

    /// Returns nil for a text that is no point (`TimePoint.expected`).
    package init?(_ text: some StringProtocol) {
        guard let point = TimePoint(text) else { return nil }
        self.point = point
        self.text = String(text)
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
