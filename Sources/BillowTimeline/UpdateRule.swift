/// When the data of an animated layer is updated.
package enum UpdateRule: Sendable, Hashable {
    /// At an interval in seconds, 1 or more.
    case every(seconds: Int)
    /// When the shown data changes, at irregular times. For areas, these are the beginnings and ends of their
    /// validities.
    case changes

    /// Parses an ISO 8601 duration of 1 second or more, or `changes`; nil for any other text.
    package init?(_ text: String) {
        if text == "changes" {
            self = .changes
        } else if let seconds = ISODuration.seconds(text), seconds >= 1 {
            self = .every(seconds: seconds)
        } else {
            return nil
        }
    }

    /// The interval in seconds; nil for `changes`.
    package var seconds: Int? { if case .every(let seconds) = self { seconds } else { nil } }
}
