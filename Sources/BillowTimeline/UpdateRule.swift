/// When something that is animated is new.
package enum UpdateRule: Sendable, Hashable {
    /// Every so many seconds, 1 or more.
    case every(seconds: Int)
    /// When what it shows changes, whenever that is: areas, at the beginnings and ends of their validities.
    case changes

    /// Reads an ISO 8601 duration of 1 second or more, or `changes`; nil for anything else.
    package init?(_ text: String) {
        if text == "changes" {
            self = .changes
        } else if let seconds = ISODuration.seconds(text), seconds >= 1 {
            self = .every(seconds: seconds)
        } else {
            return nil
        }
    }

    /// nil of what has no interval.
    package var seconds: Int? { if case .every(let seconds) = self { seconds } else { nil } }
}
