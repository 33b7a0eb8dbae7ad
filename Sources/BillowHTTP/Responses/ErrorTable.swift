import BillowAreas
import BillowEngine
import BillowStore
import Turbulence

/// The one table of what clients are told of errors that the engine, its work and the store throw. Status and title follow
/// from the code.
extension Problem {
    /// Any of these errors; nil for one that the table doesn't have.
    init?(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as EngineError: self.init(error)
        case let error as WorkError: self.init(error)
        case let error as TooManyCorners: self.init(error)
        case let error as StoreError: self.init(error)
        default: return nil
        }
    }

    init(_ error: EngineError) {
        switch error {
        case .invalid(let error): self.init(error)
        case .starting: self.init(.starting, detail: error.description, retryAfterSeconds: 1)
        case .logChanged: self.init(.logChanged, detail: error.description, retryAfterSeconds: 1)
        case .versionExpired: self.init(.versionExpired, detail: error.description, parameter: "after")
        case .timeOutsideLog(let asked, let extent, let parameter):
            self.init(
                .timeOutsideRetention, detail: error.description, parameter: parameter, value: asked,
                allowed: "\(extent.lowerBound)/\(extent.upperBound)")
        case .historyNotMade(let seconds, let made):
            // An empty answer would look like smooth air, and another history's like this one.
            self.init(
                .historyNotMade, detail: error.description, parameter: "hours", value: HoursText.of(seconds),
                allowed: HoursText.list(made))
        case .noFrames(let extent):
            self.init(
                .noFrames, detail: error.description, parameter: "start",
                allowed: "a time that overlaps \(extent.lowerBound)/\(extent.upperBound)")
        case .tooManyPixels(let frames, _, _):
            self.init(
                .tooManyPixels, detail: error.description, parameter: "intervals", value: String(frames),
                allowed: "frames of at most \(AnimationRenderer.mostPixels) pixels in all")
        case .tooManyFlights: self.init(.tooManyFlights, detail: error.description, retryAfterSeconds: 60)
        case .flightNotStored: self.init(.storeUnavailable, detail: error.description, retryAfterSeconds: 5)
        }
    }

    init(_ error: WorkError) {
        let detail =
            switch error {
            case .overloaded(let workClass):
                "More is asked for than the server can do just now: the queue for \(workClass.summary) is full."
            case .tooManyAnswers: "Too many large answers are on their way to other clients just now."
            }
        self.init(.overloaded, detail: detail, retryAfterSeconds: error.retryAfterSeconds)
    }

    init(_ error: TooManyCorners) {
        self.init(
            .tooManyCorners, detail: "Smoothed like that the polygons have \(error.corners) corners.",
            parameter: "smooth", allowed: "at most \(error.most) corners: a larger tolerance, less smoothing or a bbox")
    }

    init(_ error: StoreError) {
        switch error {
        case .deleted(let before):
            // The publisher is about to publish what is left.
            self.init(.deleting, detail: "Data from before \(before) was just deleted.", retryAfterSeconds: 1)
        case .full:
            self.init(
                .storeFull, detail: "The disk is full: nothing can be stored until there is room.",
                retryAfterSeconds: 5)
        case .replaced:
            self.init(
                .storeReplaced,
                detail: "The database file was removed or replaced: nothing can be stored until the server is started "
                    + "again.", retryAfterSeconds: 5)
        default:
            self.init(
                .storeUnavailable, detail: "The stored data can't be read or written at present.", retryAfterSeconds: 5)
        }
    }

    init(_ error: SignedAddress.Unreadable) {
        self.init(
            .invalidSignature, detail: "The signature of the address can't be read.",
            parameter: "sig", allowed: "key, expires (Unix seconds) and, at the end, sig (64 hexadecimal digits)")
    }
}

extension WorkClass {
    fileprivate var summary: String {
        switch self {
        case .tile, .renewal: "tiles"
        case .map: "maps"
        case .animation: "animations"
        case .query: "queries"
        case .intake: "observations sent in"
        case .background, .publication: "background work"
        }
    }
}
