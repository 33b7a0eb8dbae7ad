import BillowAreas
import BillowEngine
import BillowPacks
import BillowParameters
import BillowStore
import UpstreamKit
import UpstreamSimulator

/// Maps the errors of the engine, the store and upstreams to exit statuses.
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
            case .store(let error): Self(error)
            case .work(let error): Self(error)
            case .pack(let error): Self(error)
            case .tooManyCorners(let error): Self(error)
            case .cancelled, .picture, .tooManyGridValues, .encoding: .software
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
            case .corrupt, .foreign, .unreleased: .data
            case .unavailable, .replaced, .full, .tooManySources, .tooManySourcesOfReporter, .unknownSource, .mixed,
                .deleted, .failed:
                .inputOutput
            }
    }

    init(_ error: PackError) {
        self =
            switch error {
            case .file, .database: .inputOutput
            case .foreign: .data
            case .tooLarge: .usage
            case .memory: .unavailable
            }
    }

    init(_ error: ReplayError) {
        self =
            switch error {
            case .noFolder, .unreadableFile: .inputOutput
            case .unreadable: .data
            }
    }

    /// Every such error is a usage error.
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
