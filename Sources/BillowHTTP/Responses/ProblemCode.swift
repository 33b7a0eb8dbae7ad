import BillowEngine
package import HTTPTypes

/// The table of all values of `code` in problem responses.
///
/// A `Problem` takes its status and title from here. The table in the documentation derives from it.
package enum ProblemCode: String, CaseIterable, Sendable {
    // 400
    case invalidRequest = "invalid-request"
    case invalidHost = "invalid-host"
    case invalidPath = "invalid-path"
    case invalidParameter = "invalid-parameter"
    case unknownParameter = "unknown-parameter"
    case repeatedParameter = "repeated-parameter"
    case missingParameter = "missing-parameter"
    case invalidBody = "invalid-body"
    case unknownMember = "unknown-member"
    case severalAreas = "several-areas"
    case areaMissing = "area-missing"
    case invalidSetting = "invalid-setting"
    case invalidRing = "invalid-ring"
    case queryInvalid = "query-invalid"
    case tooManyPixels = "too-many-pixels"
    case tooManyCorners = "too-many-corners"
    case tooManyTiles = "too-many-tiles"
    case ringTooFewPositions = "ring-too-few-positions"
    case ringTooManyPositions = "ring-too-many-positions"
    case ringNotClosed = "ring-not-closed"
    case ringCrossesItself = "ring-crosses-itself"
    case ringWithoutArea = "ring-without-area"
    case ringWithHoles = "ring-with-holes"
    case areaTooLarge = "area-too-large"
    case unknownWaypoint = "unknown-waypoint"
    case routeTooFewPositions = "route-too-few-positions"
    case routeTooManyPositions = "route-too-many-positions"
    case routeTooLong = "route-too-long"
    case routeTooWinding = "route-too-winding"
    case routeAroundTheEarth = "route-around-the-earth"
    // 401
    case keyNeeded = "key-needed"
    case unknownKey = "unknown-key"
    case invalidSignature = "invalid-signature"
    case signatureExpired = "signature-expired"
    // 403
    case scopeMissing = "scope-missing"
    case signatureOnlyReads = "signature-only-reads"
    // 404
    case noSuchRoute = "no-such-route"
    case outsideGrid = "outside-grid"
    case timeOutsideRetention = "time-outside-retention"
    case unknownLayer = "unknown-layer"
    case noLayer = "no-layer"
    case unknownFrame = "unknown-frame"
    case noFrames = "no-frames"
    case historyNotMade = "history-not-made"
    case unknownStyle = "unknown-style"
    case baseMapMissing = "base-map-missing"
    case unknownCollection = "unknown-collection"
    case queryNotOffered = "query-not-offered"
    case unknownFeature = "unknown-feature"
    case unknownFormat = "unknown-format"
    case unknownFlight = "unknown-flight"
    case unknownJob = "unknown-job"
    case resultNotReady = "result-not-ready"
    case unknownSource = "unknown-source"
    // 405 to 431
    case methodNotAllowed = "method-not-allowed"
    case hostNotAllowed = "host-not-allowed"
    case requestTimeout = "request-timeout"
    case sessionRefused = "session-refused"
    case nothingToFetch = "nothing-to-fetch"
    case versionExpired = "version-expired"
    case bodyTooLarge = "body-too-large"
    case urlTooLong = "url-too-long"
    case unsupportedEncoding = "unsupported-encoding"
    case rangeNotSatisfiable = "range-not-satisfiable"
    case unusableBody = "unusable-body"
    case simulatedData = "simulated-data"
    case tooManySources = "too-many-sources"
    case tooManyWrongKeys = "too-many-wrong-keys"
    case rateLimited = "rate-limited"
    case refreshedAlready = "refreshed-already"
    case tooManyFlights = "too-many-flights"
    case tooManyJobs = "too-many-jobs"
    case headersTooLarge = "headers-too-large"
    // 500, 503
    case internalError = "internal"
    case starting = "starting"
    case stopping = "stopping"
    case clientLeft = "client-left"
    case storeUnavailable = "store-unavailable"
    case storeFull = "store-full"
    case storeReplaced = "store-replaced"
    case deleting = "deleting"
    case logChanged = "log-changed"
    case damageFound = "damage-found"
    case overloaded = "overloaded"
    case tooManyListeners = "too-many-listeners"
    case exportsFull = "exports-full"
    case notLeading = "not-leading"

    /// The status of responses with this code; each code has one status.
    package var status: HTTPResponse.Status { row.status }

    /// The status as a number, for the documentation.
    package var statusCode: Int { row.status.code }

    /// Source: RFC 9457 section 4.2.1 (`about:blank`: the title is the status's phrase)
    package var title: String { row.status.reasonPhrase }

    /// The meaning for the documentation: at most 20 words, without a full stop.
    package var meaning: String { row.meaning }

    private var row: (status: HTTPResponse.Status, meaning: String) {
        switch self {
        case .invalidRequest:
            (
                .badRequest,
                "the request is not HTTP/1.1 with a registered method, or its body is not framed as announced"
            )
        case .invalidHost: (.badRequest, "`Host` is missing, repeated, or not a host with an optional port")
        case .hostNotAllowed:
            (.misdirectedRequest, "the settings don't allow this `Host`")
        case .invalidPath: (.badRequest, "the path has control characters, `..`, or invalid percent-encoding")
        case .invalidParameter: (.badRequest, "the value of a parameter or header can't be used")
        case .unknownParameter: (.badRequest, "the route doesn't have this parameter")
        case .repeatedParameter: (.badRequest, "a parameter is given twice")
        case .missingParameter: (.badRequest, "a required parameter is missing")
        case .invalidBody: (.badRequest, "the body is not valid JSON of the form that the route expects")
        case .unknownMember: (.badRequest, "the body has an unknown member")
        case .severalAreas: (.badRequest, "the body has more than one of `route`, `polygon` and `cells`")
        case .areaMissing: (.badRequest, "the body has no track, near route, polygon or cells")
        case .invalidSetting: (.badRequest, "the value is not allowed for this setting of a source")
        case .invalidRing: (.badRequest, "a source's `polygon` or `viewport` is not a usable ring")
        case .queryInvalid: (.badRequest, "the upstream doesn't support the changed query")
        case .tooManyPixels: (.badRequest, "the animation would have too many pixels")
        case .tooManyCorners: (.badRequest, "smoothed polygons would have too many corners")
        case .tooManyTiles: (.badRequest, "the pack would have too many tiles, or its file too many bytes")
        case .ringTooFewPositions: (.badRequest, "the ring has fewer than 4 positions")
        case .ringTooManyPositions: (.badRequest, "the ring has more than 250 positions")
        case .ringNotClosed: (.badRequest, "the last position of the ring differs from its first position")
        case .ringCrossesItself: (.badRequest, "two edges of the ring cross or touch")
        case .ringWithoutArea: (.badRequest, "the ring encloses no area")
        case .ringWithHoles: (.badRequest, "the polygon has holes")
        case .areaTooLarge: (.badRequest, "the area exceeds the setting `areaLimit`")
        case .unknownWaypoint: (.badRequest, "a waypoint of the route is unknown")
        case .routeTooFewPositions: (.badRequest, "the route has fewer than 2 different positions")
        case .routeTooManyPositions: (.badRequest, "the route has too many positions")
        case .routeTooLong: (.badRequest, "the route is longer than twice around the earth")
        case .routeTooWinding: (.badRequest, "the route has too many turns for a ring of 250 positions")
        case .routeAroundTheEarth:
            (.badRequest, "the corridor covers so much of the earth that no single ring can border it")
        case .keyNeeded: (.unauthorized, "the route needs a key")
        case .unknownKey: (.unauthorized, "the key is unknown or revoked")
        case .invalidSignature: (.unauthorized, "the signature can't be read or doesn't match the address")
        case .signatureExpired: (.unauthorized, "the signed address has expired")
        case .scopeMissing: (.forbidden, "the key lacks the scope that the route needs")
        case .signatureOnlyReads: (.forbidden, "a signed address allows reading only")
        case .noSuchRoute: (.notFound, "no route and no file has this path")
        case .outsideGrid: (.notFound, "the tile lies outside the grid")
        case .timeOutsideRetention: (.notFound, "no data of that time is stored")
        case .unknownLayer: (.notFound, "the layer is unknown")
        case .noLayer: (.notFound, "the path names no layer")
        case .unknownFrame: (.notFound, "the frame is unknown")
        case .noFrames: (.notFound, "the layers have no frame at that time")
        case .historyNotMade: (.notFound, "there are no polygons for this history")
        case .unknownStyle: (.notFound, "the style is unknown")
        case .baseMapMissing: (.notFound, "the server has no base map")
        case .unknownCollection: (.notFound, "the collection is unknown")
        case .queryNotOffered: (.notFound, "the collection does not offer the query")
        case .unknownFeature: (.notFound, "the collection has no feature with this id at that time")
        case .unknownFormat: (.notFound, "the export format is unknown")
        case .unknownFlight: (.notFound, "the key monitors no flight with this id")
        case .unknownJob: (.notFound, "no export job has this id, or it has expired")
        case .resultNotReady: (.notFound, "the export job is not finished yet")
        case .unknownSource: (.notFound, "no source with this id is configured")
        case .methodNotAllowed:
            (.methodNotAllowed, "the path doesn't have this method; `Allow` lists the methods that it has")
        case .requestTimeout: (.requestTimeout, "the request did not arrive in time; the connection is closed")
        case .sessionRefused: (.conflict, "the upstream refused the source's key")
        case .nothingToFetch: (.conflict, "the query of the source requests no data")
        case .versionExpired: (.gone, "the version of the earlier pages can no longer be read")
        case .bodyTooLarge: (.contentTooLarge, "the body is too large")
        case .urlTooLong: (.uriTooLong, "the address is longer than 8,192 bytes")
        case .unsupportedEncoding: (.unsupportedMediaType, "the body is compressed, which is not supported")
        case .rangeNotSatisfiable: (.rangeNotSatisfiable, "the file has no byte in the requested range")
        case .unusableBody: (.unprocessableContent, "the body has no usable observation")
        case .simulatedData: (.unprocessableContent, "simulated data may not be mixed with real data")
        case .tooManySources:
            (.unprocessableContent, "the body names more sources than are allowed for a key or a database")
        case .tooManyWrongKeys: (.tooManyRequests, "more than 60 wrong keys arrived in a minute")
        case .rateLimited:
            (.tooManyRequests, "the address or the key makes more requests than `server.rateLimit` allows")
        case .refreshedAlready: (.tooManyRequests, "the source was refreshed less than a minute ago")
        case .tooManyFlights: (.tooManyRequests, "the key or the server has reached its limit of monitored flights")
        case .tooManyJobs: (.tooManyRequests, "the client or the server has reached its limit of export jobs")
        case .headersTooLarge: (.requestHeaderFieldsTooLarge, "the header fields are too large")
        case .internalError: (.internalServerError, "the server failed; the log says how")
        case .starting: (.serviceUnavailable, "the stored data is still being read")
        case .stopping: (.serviceUnavailable, "the server is stopping")
        case .clientLeft:
            (.serviceUnavailable, "the client closed its side of the connection before the response was ready")
        case .storeUnavailable: (.serviceUnavailable, "the database can't be read or written at present")
        case .storeFull: (.serviceUnavailable, "the disk is full; nothing can be stored until space is free")
        case .storeReplaced:
            (.serviceUnavailable, "the database file was removed or replaced; nothing can be stored until a restart")
        case .deleting: (.serviceUnavailable, "data of that time was just deleted; retry after a second")
        case .logChanged:
            (.serviceUnavailable, "the stored data has changed and is being read again; retry after a second")
        case .damageFound:
            (.serviceUnavailable, "unreadable stored data was just found; retry after a second")
        case .overloaded: (.serviceUnavailable, "the queue for this kind of work is full")
        case .exportsFull: (.serviceUnavailable, "the disk space for the files of export jobs is used up")
        case .notLeading:
            (.serviceUnavailable, "another server of the fleet fetches from the sources, and must get the request")
        case .tooManyListeners: (.serviceUnavailable, "1,000 clients listen to events already")
        }
    }
}
