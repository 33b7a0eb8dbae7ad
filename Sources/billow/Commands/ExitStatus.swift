import BillowAreas
import BillowEngine
import BillowExchange
import BillowPacks
import BillowParameters
import BillowRaster
import BillowStore
import BillowSync
import NIOCore
import UpstreamKit
import UpstreamSimulator

/// The table of exit statuses: every error of a module that a command may end with.
///
/// Source: sysexits.h
extension Failure.Kind {
    /// The status of an error; `software` for an error that only a bug can cause.
    init(of error: any Error) {
        self =
            switch error {
            case let failure as Failure: failure.kind
            case let error as SettingsError: error.kind
            case let error as EngineError: Self(error)
            case let error as WorkError: Self(error)
            case let error as StoreError: Self(error)
            case let error as PackError: Self(error)
            case let error as ReplayError: Self(error)
            case let error as UpstreamError: Self(error)
            case let error as SyncError: Self(error)
            case let error as TextError: Self(error)
            case let error as LegendError: Self(error)
            case is ParameterProblem, is TooManyCorners, is TooManyGridValues: .usage
            case is SimulatedDataError, is TooManySourcesError, is RefusedRecords: .data
            case is ListenError, is SocketAddressError.UnknownHost: .unavailable
            case is StyleError, is ImportFileError, is FileError: .inputOutput
            default: .software
            }
    }

    private init(_ error: EngineError) {
        self =
            switch error {
            case .invalid, .timeOutsideLog, .historyNotMade, .noFrames, .tooManyPixels, .tooManyCorners,
                .tooManyGridValues:
                .usage
            case .versionExpired, .damageFound: .data
            case .starting, .logChanged, .tooManyFlights: .unavailable
            case .flightNotStored: .inputOutput
            case .store(let error): Self(error)
            case .work(let error): Self(error)
            case .pack(let error): Self(error)
            case .baseMapMissing: .inputOutput
            case .cancelled, .picture, .encoding: .software
            }
    }

    private init(_ error: WorkError) {
        self =
            switch error {
            case .overloaded, .tooManyAnswers: .unavailable
            }
    }

    private init(_ error: StoreError) {
        self =
            switch error {
            case .corrupt, .foreign, .unreleased: .data
            case .unavailable, .replaced, .full, .tooManySources, .tooManySourcesOfReporter, .unknownSource, .mixed,
                .deleted, .failed:
                .inputOutput
            }
    }

    private init(_ error: PackError) {
        self =
            switch error {
            case .file, .database: .inputOutput
            case .foreign: .data
            case .tooLarge: .usage
            case .memory: .unavailable
            }
    }

    private init(_ error: ReplayError) {
        self =
            switch error {
            case .noFolder, .unreadableFile: .inputOutput
            case .unreadable: .data
            }
    }

    private init(_ error: UpstreamError) {
        self =
            switch error {
            case .invalidQuery, .invalidConfiguration: .usage
            case .unreadable, .tooLarge: .data
            case .unauthorized, .forbidden, .locked, .rateLimited, .creditsSpent, .upgradeRequired, .invalidRequest,
                .server, .unexpectedStatus, .timeout, .unreachable:
                .unavailable
            case .cancelled: .software
            }
    }

    private init(_ error: SyncError) {
        self =
            switch error.kind {
            case .transient, .session, .refused, .cancelled: .unavailable
            case .store: .inputOutput
            }
    }

    private init(_ error: TextError) {
        self =
            switch error {
            case .fontNotFound, .notAFont, .library: .inputOutput
            case .sizeOutOfRange: .software
            }
    }

    private init(_ error: LegendError) {
        self =
            switch error {
            case .scaleOutOfRange: .usage
            case .text(let error): Self(error)
            case .canvas, .png: .software
            }
    }
}
