import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import HTTPTypes
import Hummingbird
import Turbulence

/// `/wms`: GetCapabilities, GetMap, GetFeatureInfo and GetLegendGraphic.
///
/// Source: OGC 06-042 (WMS 1.3.0); OGC 01-068r3 (WMS 1.1.1); OGC 05-078r4 (GetLegendGraphic)
struct WMSRoutes: Sendable {
    let catalogue: OGCCatalogue
    let tiles: TileService
    let maps: MapRenderer
    let info: FeatureInfoSource
    let publicURL: String?
    let work: WorkExecutor

    private var frames: FrameSource { catalogue.frames }
    private var policy: FreshnessPolicy { catalogue.policy }
    private var styles: StyleLibrary { catalogue.styleStore.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/wms") { request, _ in try await answer(request) }
    }

    /// Responds with 200 or 304; 400 with an exception in the requested version; 503 if overloaded or if the store
    /// fails. If the client wants it, an exception is a picture, with status 200.
    private func answer(_ request: Request) async throws -> Response {
        var version = WMSVersion.v130
        var picture: WMSExceptionPicture?
        do {
            let kvp = try KVPReader(request)
            version = WMSVersion.orLatest(kvp)
            picture = WMSExceptionPicture(kvp)
            return try await answer(kvp, request)
        } catch {
            let failure = try OGCExceptionReport.failure(of: error, isOfWMS: true)
            guard let picture, let bytes = try await notice(of: failure, picture) else {
                return try failure.answer(OGCExceptionReport.wms(failure, version))
            }
            let headers: HTTPFields = [.contentType: "image/png", .cacheControl: "no-store"]
            return try failure.answer(
                Response(status: .ok, headers: headers, body: try BytesResponse.body(of: bytes)))
        }
    }

    /// A picture with the message of an error; nil if the server is overloaded.
    private func notice(of failure: OGCExceptionReport.Failure, _ picture: WMSExceptionPicture) async throws -> [UInt8]?
    {
        let notice = MessagePicture(
            picture.hasWords ? failure.exception.detail : "", width: picture.width, height: picture.height,
            background: picture.background)
        do {
            return try await work.run(.map) { () async throws(EngineError) in try notice.png() }
        } catch {
            guard case .work = error else { throw error }
            return nil
        }
    }

    private func answer(_ kvp: KVPReader, _ request: Request) async throws -> Response {
        if let service = kvp.text("SERVICE"), service.uppercased() != "WMS" {
            throw OGCException(.invalidParameterValue, "SERVICE", service, expected: "WMS")
        }
        let version = try WMSVersion(kvp)
        let operation = try kvp.required("REQUEST")
        switch operation.lowercased() {
        // Includes the names of WMS 1.0.
        case "getcapabilities", "capabilities": return try await capabilities(version, request)
        case "getmap", "map": return try await map(kvp, version, request)
        case "getfeatureinfo", "feature_info":
            return try await info.answer(FeatureInfoParameters(kvp, version, styles: styles), request)
        case "getlegendgraphic": return try await legend(kvp, request)
        default:
            throw OGCException(
                .operationNotSupported, "REQUEST", operation,
                expected: "GetCapabilities, GetMap, GetFeatureInfo or GetLegendGraphic")
        }
    }

    private func capabilities(_ version: WMSVersion, _ request: Request) async throws -> Response {
        let snapshot = try frames.snapshot()
        let base = BaseURL.of(request, publicURL)
        let document = try await work.run(.query) { [catalogue] in
            WMSCapabilities(
                version: version, base: base, abstract: catalogue.abstract(in: snapshot),
                layers: try await catalogue.layers(in: snapshot))
        }
        return try BytesResponse.make(
            Array(document.document.utf8), headers: [.contentType: document.mediaType, .cacheControl: "no-cache"],
            request: request)
    }

    private func map(_ kvp: KVPReader, _ version: WMSVersion, _ request: Request) async throws -> Response {
        let parsed = try WMSMapParameters(kvp, version, styles: styles)
        let snapshot = try frames.snapshot()
        let (order, dataStatus) = try parsed.order(frames, policy, in: snapshot)
        let known = EntityTags(request.headers[.ifNoneMatch])
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        let picture: EncodedPicture
        switch order {
        case .tile(let tile): picture = try await tiles.tile(tile, in: snapshot) { known.match($0) }
        case .map(let map):
            picture = try await maps.picture(map, in: snapshot, on: work) { known.match($0) }
            headers.omit(try await map.omittedParts(on: work))
        }
        return try PictureResponse.make(picture, headers: headers, known: known)
    }

    private func legend(_ kvp: KVPReader, _ request: Request) async throws -> Response {
        let parsed = try WMSLegendParameters(kvp, styles: styles)
        let snapshot = try frames.snapshot()
        let dataStatus = policy.dataStatus(
            parsed.layers, at: snapshot.publication.asOf, filter: parsed.filter, in: snapshot)
        let legends = catalogue.legends
        let bytes: [UInt8] = try await work.run(.map) {
            // This runs on the job's thread. A job that started with the actor's work would stay on that thread.
            let legend = parsed.layers.legend(
                style: parsed.style, severities: parsed.filter.severities, simulated: dataStatus.freshness.isSimulated)
            WorkExecutor.assertIsJob()
            if parsed.isSVG { return Array(try await legends.svg(legend, options: parsed.options).utf8) }
            return try await legends.png(legend, options: parsed.options)
        }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = parsed.isSVG ? WMSLegendParameters.svg : "image/png"
        headers[.cacheControl] = "no-cache"
        return try BytesResponse.make(bytes, headers: headers, request: request)
    }
}

extension KVPReader {
    /// Reads the parameters of a request's URL.
    init(_ request: Request) throws(OGCException) {
        try self.init(request.uri.queryParameters.lazy.map { (name: String($0.key), value: String($0.value)) })
    }
}

extension MapComposition {
    /// The requested furniture that the image has no room for, measured by the work class of maps.
    func omittedParts(on work: WorkExecutor) async throws -> [String] {
        guard isFurnished else { return [] }
        return try await work.run(.map) { () async throws(EngineError) in try omittedParts() }
    }
}

extension MapRenderer {
    /// The largest image that is drawn in the work class of tiles, because clients split their maps into many images.
    /// It equals a tile of three times the resolution.
    private static let maximumTilePixels = TileScale.three.pixels * TileScale.three.pixels

    /// An image, drawn in the work class for its size.
    func picture(
        _ order: MapComposition, in snapshot: Snapshot, on work: WorkExecutor,
        isUnchanged: @escaping @Sendable (String) -> Bool
    ) async throws -> EncodedPicture {
        if let known = try await known(order, in: snapshot, isUnchanged: isUnchanged) { return known }
        let region = order.parts[0].region
        let isSmall = region.width * region.height <= Self.maximumTilePixels
        return try await work.run(isSmall ? .tile : .map) { [self] in
            try await picture(order, in: snapshot, isUnchanged: isUnchanged)
        }
    }
}
