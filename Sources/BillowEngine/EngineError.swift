package import BillowAreas
package import BillowPacks
package import BillowStore
package import BillowTiles
package import BillowTimeline
package import Turbulence

/// The errors of the engine. The HTTP module maps each case to a status and a code, the command line to an exit status.
/// Errors of the modules below are cases with the cause.
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
    case timeOutsideLog(RequestedTime, extent: ClosedRange<Instant>)
    /// Turbulence polygons are configured for other histories, but not for the requested one.
    case historyNotMade(seconds: Int, made: [Int])
    /// The layers have no frame in the timeline.
    case noFrames(TimelineRequest.End, extent: ClosedRange<Instant>)
    /// An animation would have more than `AnimationRenderer.maximumPixels`.
    case tooManyPixels(frames: Int, width: Int, height: Int)
    /// The key or the server has reached its limit of monitored flights.
    case tooManyFlights
    /// The store failed during an operation on monitored flights.
    case flightNotStored(FlightStep)
    /// The store failed, or no longer has the requested rows.
    case store(StoreError)
    /// Work was rejected.
    case work(WorkError)
    /// The task was cancelled, its client left, or the server stops.
    case cancelled
    /// A picture can't be drawn or encoded.
    case picture(PictureError)
    /// The file of an export can't be written.
    case pack(PackError)
    /// Smoothed polygons would have too many corners.
    case tooManyCorners(TooManyCorners)
    /// A grid would have more values than a response may have.
    case tooManyGridValues(TooManyGridValues)
    /// The files of the base map can't be read.
    case baseMapMissing
    /// A value can't be encoded as JSON, which only a bug can cause. Carries the encoder's reason.
    case encoding(String)

    /// The failed operation on a monitored flight.
    package enum FlightStep: Sendable, Hashable, CaseIterable {
        case registration, end, restoration
    }
}

extension EngineError: CustomStringConvertible {
    /// A complete sentence for people; for an error of another module, that error's text.
    package var description: String {
        switch self {
        case .invalid(let error): "\(error.description)."
        case .starting: "The stored data is being read; try again in a second."
        case .logChanged: "The stored data has just changed; try again in a second."
        case .damageFound: "Unreadable stored data was just found; try again in a second."
        case .versionExpired:
            "The version that this page continues can't be read any more; start again with the first page."
        case .timeOutsideLog(let requested, let extent):
            "There is no frame at \(requested.text.prefix(100)): the log reaches from \(extent.lowerBound) to "
                + "\(extent.upperBound)."
        case .historyNotMade(_, let made):
            "There are no turbulence polygons of this history; there are some of \(HistoryText.list(made)) hours."
        case .noFrames: "These layers have no frame in that time."
        case .tooManyPixels(let frames, let width, let height):
            "\(frames) frames of \(width) × \(height) pixels are \(frames * width * height) pixels."
        case .tooManyFlights:
            "A key may monitor at most \(FlightMonitor.maximumPerKey) flights, and all keys \(FlightMonitor.most)."
        case .flightNotStored(.registration): "The flight can't be stored at present, and is not monitored."
        case .flightNotStored(.end): "The end of the flight can't be stored at present; it is still monitored."
        case .flightNotStored(.restoration): "The stored flights can't be read at present."
        case .store(let error): error.description
        case .work(let error): error.description
        case .cancelled: "the work was cancelled"
        case .picture(let error): error.description
        case .pack(let error): error.description
        case .tooManyCorners(let error): "\(error)"
        case .tooManyGridValues(let error): "\(error)"
        case .baseMapMissing: "The server has no base map; its set-up adds one."
        case .encoding(let reason): reason
        }
    }
}
