import BillowAreas
import BillowEngine
import BillowParameters
import BillowStore
import UpstreamKit

/// The one table of the exit statuses that errors of the engine, the store and upstreams end a command with.
///
/// Source: sysexits.h
extension Failure.Kind {
    init(_ error: EngineError) {
        self =
            switch error {
            case .invalid, .timeOutsideLog, .historyNotMade, .noFrames, .tooManyPixels: .usage
            case .versionExpired, .damageFound: .data
            case .starting, .logChanged, .tooManyFlights: .unavailable
            case .flightNotStored: .inputOutput
            }
    }

    init(_ error: WorkError) {
        self =
            switch error {
            case .overloaded, .tooManyAnswers: .unavailable
            }
    }

    init(_ error: StoreError) {
        self =
            switch error {
            case .corrupt, .foreign: .data
            case .unavailable, .replaced, .full, .tooManySources, .tooManySourcesOfReporter, .unknownSource, .mixed,
                .deleted, .failed:
                .inputOutput
            }
    }

    /// Every one is about what was typed.
    init(_ error: ParameterProblem) { self = .usage }

    init(_ error: TooManyCorners) { self = .usage }

    init(_ error: UpstreamError) {
        switch error {
        case .invalidQuery, .invalidConfiguration: self = .usage
        case .unreadable, .tooLarge: self = .data
        case .cancelled: self = .software
        default: self = .unavailable
        }
    }
}
