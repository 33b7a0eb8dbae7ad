import BillowAreas
import BillowEngine
import BillowPacks
import BillowParameters
import BillowStore
import BillowSync
import BillowTiles
import BillowTimeline
import Turbulence

/// Maps the errors of the engine, its work and the store to problem responses. The code determines status and title.
extension Problem {
    /// The problem of an error; nil for an error that is not in the table.
    init?(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as ParameterProblem: self.init(error)
        case let error as EngineError: self.init(error)
        case let error as WorkError: self.init(error)
        case let error as StoreError: self.init(error)
        case let error as PackError: self.init(error)
        default: return nil
        }
    }

    init(_ error: ParameterProblem) {
        self.init(error.error, ProblemCode(error.kind), detail: error.detail)
    }

    /// nil for errors that only a bug can cause, and for cancelled work, whose answer depends on the connection.
    init?(_ error: EngineError) {
        switch error {
        case .invalid(let error): self.init(error)
        case .starting: self.init(.starting, detail: error.description, retryAfterSeconds: 1)
        case .logChanged: self.init(.logChanged, detail: error.description, retryAfterSeconds: 1)
        case .damageFound: self.init(.damageFound, detail: error.description, retryAfterSeconds: 1)
        case .versionExpired:
            self.init(
                .versionExpired, detail: error.description, parameter: "after", value: "an earlier version",
                allowed: "a version that can still be read")
        case .timeOutsideLog(let requested, let extent):
            self.init(
                .timeOutsideRetention, detail: error.description, parameter: requested.parameter, value: requested.text,
                allowed: "\(extent.lowerBound)/\(extent.upperBound)")
        case .historyNotMade(let seconds, let made):
            // An empty response would look like smooth air, and another history's polygons would look like the
            // requested ones.
            self.init(
                .historyNotMade, detail: error.description, parameter: "hours", value: HistoryText.of(seconds),
                allowed: HistoryText.list(made))
        case .noFrames(let requested, let extent):
            self.init(
                .noFrames, detail: error.description, parameter: requested.parameter, value: requested.text,
                allowed: "a time that overlaps \(extent.lowerBound)/\(extent.upperBound)")
        case .tooManyPixels(let frames, _, _):
            self.init(
                .tooManyPixels, detail: error.description, parameter: "intervals", value: String(frames),
                allowed: "frames of at most \(AnimationRenderer.maximumPixels) pixels in all")
        case .baseMapMissing:
            self.init(
                .baseMapMissing, detail: error.description, parameter: "background", value: "map",
                allowed: "none, or a colour as six hexadecimal digits")
        case .tooManyFlights: self.init(.tooManyFlights, detail: error.description, retryAfterSeconds: 60)
        case .flightNotStored: self.init(.storeUnavailable, detail: error.description, retryAfterSeconds: 5)
        case .store(let error): self.init(error)
        case .work(let error): self.init(error)
        case .picture(let error): self.init(error)
        case .pack(let error): self.init(error)
        case .tooManyCorners(let error): self.init(error)
        case .tooManyGridValues(let error): self.init(error)
        case .cancelled, .encoding: return nil
        }
    }

    init(_ error: WorkError) {
        let detail =
            switch error {
            case .overloaded(let workClass):
                "The server is busy: the queue for \(workClass.summary) is full."
            case .tooManyAnswers: "Too many large responses are being sent to other clients at present."
            }
        self.init(.overloaded, detail: detail, retryAfterSeconds: error.retryAfterSeconds)
    }

    init(_ error: TooManyCorners) {
        self.init(
            .tooManyCorners, detail: "The smoothed polygons would have \(error.corners) corners.",
            parameter: "smooth", value: "\(error.smoothing)",
            allowed: "at most \(error.most) corners: a larger tolerance, less smoothing or a bbox")
    }

    init(_ error: TooManyGridValues) {
        self.init(
            .areaTooLarge, detail: "The grid would have \(error.values) values.", parameter: "f",
            value: DataFormat.coverageJSON.rawValue,
            allowed: "at most \(error.most) values as CoverageJSON: a smaller box or fewer levels; or GeoJSON")
    }

    init(_ error: StoreError) {
        let detail =
            switch error {
            case .deleted(let before): "Data from before \(before) was just deleted."
            case .full: "The disk is full: nothing can be stored until there is room."
            case .replaced:
                "The database file was removed or replaced: nothing can be stored until the server is started again."
            case .corrupt:
                "The database is damaged, and data for this request can't be read. /status names the damaged tables "
                    + "that are known; billow salvage copies the readable data."
            case .unavailable, .foreign, .unreleased, .tooManySources, .tooManySourcesOfReporter, .unknownSource,
                .mixed,
                .failed:
                "The stored data can't be read or written at present."
            }
        let code = ProblemCode(error)
        // The publisher is about to publish the remaining data.
        self.init(code, detail: detail, retryAfterSeconds: code == .deleting ? 1 : 5)
    }

    /// nil for errors that only a bug can cause: text that can't be drawn, or an image that can't be encoded.
    init?(_ error: PictureError) {
        guard case .style(let reason) = error else { return nil }
        self.init(reason)
    }

    /// nil for errors that only a bug can cause.
    init?(_ error: PackError) {
        switch error {
        case .tooLarge(let bytes, let limit):
            self.init(
                .tooManyTiles, detail: "The file would be too large.", parameter: "file",
                value: "\(bytes) bytes or more",
                allowed: "files of at most \(limit) bytes: a lower maxzoom, a smaller region or fewer frames")
        case .file, .database, .memory:
            self.init(
                .overloaded, detail: "There is no disk space for the file of an export at present.",
                retryAfterSeconds: 60)
        case .foreign: return nil
        }
    }

    init(_ error: SignedAddress.Unreadable) {
        self.init(
            .invalidSignature, detail: "The signature of the address can't be read.",
            parameter: "sig", value: error.signature,
            allowed: "key, expires (Unix seconds) and, at the end, sig (64 hexadecimal digits)")
    }
}

extension WorkClass {
    fileprivate var summary: String {
        switch self {
        case .tile, .renewal: "tiles"
        case .map: "maps"
        case .animation: "animations"
        case .query: "queries"
        case .intake: "posted observations"
        case .background, .publication: "background work"
        }
    }
}

extension ProblemCode {
    /// `/readyz` and `/status` report this problem too.
    init(_ error: StoreError) {
        self =
            switch error {
            case .deleted: .deleting
            case .full: .storeFull
            case .replaced: .storeReplaced
            case .unavailable, .foreign, .unreleased, .corrupt, .tooManySources, .tooManySourcesOfReporter,
                .unknownSource, .mixed, .failed:
                .storeUnavailable
            }
    }

    init(_ kind: ParameterProblem.Kind) {
        self =
            switch kind {
            case .invalidParameter: .invalidParameter
            case .unknownParameter: .unknownParameter
            case .repeatedParameter: .repeatedParameter
            case .missingParameter: .missingParameter
            case .invalidBody: .invalidBody
            case .unknownMember: .unknownMember
            case .severalAreas: .severalAreas
            case .outsideGrid: .outsideGrid
            case .unknownLayer: .unknownLayer
            case .unknownFrame: .unknownFrame
            case .unknownCollection: .unknownCollection
            case .queryNotOffered: .queryNotOffered
            case .unknownFormat: .unknownFormat
            case .unknownStyle: .unknownStyle
            case .noSuchRoute: .noSuchRoute
            case .areaTooLarge: .areaTooLarge
            case .ringTooFewPositions: .ringTooFewPositions
            case .ringTooManyPositions: .ringTooManyPositions
            case .ringNotClosed: .ringNotClosed
            case .ringCrossesItself: .ringCrossesItself
            case .ringWithoutArea: .ringWithoutArea
            case .ringWithHoles: .ringWithHoles
            case .unknownWaypoint: .unknownWaypoint
            case .routeTooFewPositions: .routeTooFewPositions
            case .routeTooManyPositions: .routeTooManyPositions
            case .routeTooLong: .routeTooLong
            case .routeTooWinding: .routeTooWinding
            case .routeAroundTheEarth: .routeAroundTheEarth
            case .tooManyTiles: .tooManyTiles
            }
    }
}

/// Problems of administrators' requests to change sources.
extension Problem {
    init(_ problem: SourceSettings.Problem) {
        if let reason = problem.reason {
            self.init(
                .queryInvalid, detail: "\(problem.member) can't be used: \(reason).",
                parameter: problem.member, value: problem.value, allowed: problem.allowed)
        } else {
            self.init(
                problem.area == nil ? .invalidSetting : .invalidRing,
                detail: "\(problem.member) is \(problem.value); it must be \(problem.allowed).",
                parameter: problem.member, value: problem.value, allowed: problem.allowed)
        }
    }

    init(_ refusal: SourceLoop.RequestError, source: SourceID) {
        switch refusal {
        case .tooSoon(let seconds):
            self.init(
                .refreshedAlready,
                detail: "Source \(source) can be refreshed at most once a minute.", retryAfterSeconds: seconds)
        case .halted:
            self.init(
                .sessionRefused,
                detail:
                    "The upstream of source \(source) refused the key; POST /admin/sources/\(source)/start tries again."
            )
        case .nothingToFetch:
            self.init(
                .nothingToFetch,
                detail: "Source \(source) requests no types, no severities or no area.")
        }
    }
}
