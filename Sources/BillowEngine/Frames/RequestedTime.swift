package import Turbulence

/// The instant that a request names, with the client's own words for error messages.
package struct RequestedTime: Sendable, Hashable {
    package enum Moment: Sendable, Hashable {
        case latest
        case instant(Instant)
        /// A time outside `Instant.range`.
        case beyond
    }

    package let moment: Moment
    /// The parameter that names the time, and its value as the client sent it.
    package let parameter: String
    package let text: String

    package init(_ moment: Moment, parameter: String, text: String) {
        self.moment = moment
        self.parameter = parameter
        self.text = text
    }

    /// An instant that was found for this time.
    package func at(_ instant: Instant) -> RequestedTime {
        RequestedTime(.instant(instant), parameter: parameter, text: text)
    }

    package static let latest = RequestedTime(.latest, parameter: "time", text: "latest")

    /// An instant that no client wrote.
    package static func instant(_ instant: Instant) -> RequestedTime {
        RequestedTime(.instant(instant), parameter: "time", text: instant.description)
    }
}
