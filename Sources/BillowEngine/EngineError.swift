package import Turbulence

/// The errors of the engine. The HTTP module maps each case to a status and a code, the command line to an exit status.
package enum EngineError: Error, Sendable, Hashable {
    /// An invalid value.
    case invalid(ParameterError)
    /// The store has not been read yet.
    case starting
    /// The database's log differs from the snapshot's; the publisher will reload it.
    case logChanged
    /// A read found damaged rows that the snapshot doesn't know about; the publisher will mark it.
    case damageFound
    /// The version of an earlier page is no longer readable.
    case versionExpired
    /// The log or the requested layers have no frame at an instant.
    case timeOutsideLog(String, extent: ClosedRange<Instant>, parameter: String)
    /// Turbulence polygons are not configured for the requested history, but for others.
    case historyNotMade(seconds: Int, made: [Int])
    /// The layers have no frame in the timeline.
    case noFrames(extent: ClosedRange<Instant>)
    /// An animation would have more than `AnimationRenderer.mostPixels`.
    case tooManyPixels(frames: Int, width: Int, height: Int)
    /// The key or the server has reached its limit of monitored flights.
    case tooManyFlights
    /// The store failed during an operation on monitored flights.
    case flightNotStored(FlightStep)

    /// The failed operation on a monitored flight.
    package enum FlightStep: Sendable, Hashable, CaseIterable {
        case registration, end, restoration
    }
}

extension EngineError: CustomStringConvertible {
    /// A complete sentence for people.
    package var description: String {
        switch self {
        case .invalid(let error): "\(error.description)."
        case .starting: "The stored data is being read; try again in a second."
        case .logChanged: "What is stored changed just now; try again in a second."
        case .damageFound: "Some of what is stored can't be read, and was just found; try again in a second."
        case .versionExpired:
            "The version that this page continues can't be read any more; start again with the first page."
        case .timeOutsideLog(let asked, let extent, _):
            "There is no picture at \(asked): the log reaches from \(extent.lowerBound) to \(extent.upperBound)."
        case .historyNotMade(_, let made):
            "There are no turbulence polygons of this history; those made look back \(HoursText.list(made)) hours."
        case .noFrames: "These layers have no frame in that time."
        case .tooManyPixels(let frames, let width, let height):
            "\(frames) frames of \(width) × \(height) pixels are \(frames * width * height) pixels."
        case .tooManyFlights:
            "At most \(FlightMonitor.mostOfAKey) flights of a key and \(FlightMonitor.most) in all are monitored."
        case .flightNotStored(.registration): "The flight can't be stored at present, and is not followed."
        case .flightNotStored(.end): "The end of the flight can't be stored at present; it is still followed."
        case .flightNotStored(.restoration): "The stored flights can't be read at present."
        }
    }
}
