package import Turbulence

/// States what a batch's data means to the copy of another server's data. The batch's observations and reports have the
/// ids that the other server gave them. The sources of the copy hold nothing else.
package struct MirrorChange: Sendable, Hashable {
    /// What the other server lists or no longer lists. Data that it no longer has is closed; data from before `from`
    /// only left the mirrored period, and stays.
    package enum Content: Sendable, Hashable {
        /// The batch is a part of an answer whose rest follows.
        case none
        /// - Parameters:
        ///   - ids: of a whole answer all ids, else those that changed or are gone. The batch has the current
        ///     observations with these ids.
        ///   - from: the start of the mirrored period.
        case observations(ids: Set<String>, isWhole: Bool, from: Instant)
        /// As of observations.
        case reports(ids: Set<String>, isWhole: Bool, from: Instant)
        /// - Parameters:
        ///   - listed: of a whole answer all areas, else those that are gone.
        ///   - at: when missing areas end.
        case areas(IssuedArea.DatasetNumber, listed: Set<IssuedArea.Identity>, isWhole: Bool, at: Instant)
    }

    /// The sources of the copy.
    package var sources: Set<SourceID>
    package var content: Content

    package init(sources: Set<SourceID>, content: Content) {
        self.sources = sources
        self.content = content
    }
}
