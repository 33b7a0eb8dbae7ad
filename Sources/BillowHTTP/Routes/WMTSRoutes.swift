import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import HTTPTypes
import Hummingbird

/// `/wmts` and the paths below `/wmts/1.0.0`: GetCapabilities, GetTile and GetFeatureInfo. The tiles equal those of
/// `/tiles`.
///
/// Source: OGC 07-057r7 (WMTS 1.0.0), KVP and RESTful encodings
struct WMTSRoutes: Sendable {
    let catalogue: OGCCatalogue
    let tiles: TileRoutes
    let info: FeatureInfoSource
    let publicURL: String?
    let work: WorkExecutor

    private var frames: FrameSource { catalogue.frames }
    private var styles: StyleLibrary { catalogue.styleStore.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/wmts") { request, _ in
            try await reported { try await answer(KVPReader(request), request) }
        }
        router.get("/wmts/1.0.0/WMTSCapabilities.xml") { request, _ in
            try await reported { try await capabilities(request) }
        }
        router.get("/wmts/1.0.0/:layer/:style/:time/:set/:matrix/:row/:column") { request, context in
            try await reported {
                guard let column = context.parameters.text("column").without(suffix: ".png") else {
                    throw Self.unknownPath(request)
                }
                return try await tile(try tileParameters(request, context.parameters, column: column), request)
            }
        }
        router.get("/wmts/1.0.0/:layer/:style/:time/:set/:matrix/:row/:column/:j/:i") { request, context in
            try await reported {
                let last = context.parameters.text("i")
                let format = FeatureInfoFormat.allCases.first { last.hasSuffix(".\($0.suffix)") }
                guard let format, let i = last.without(suffix: ".\(format.suffix)") else {
                    throw Self.unknownPath(request)
                }
                let parsed = try tileParameters(request, context.parameters, column: context.parameters.text("column"))
                let point = try WMTSPoint(column: i, row: context.parameters.text("j"))
                return try await info.answer(
                    FeatureInfoParameters(parsed, column: point.column, row: point.row, format: format), request)
            }
        }
    }

    /// Responds with 200 or 304; 400 with an exception; 503 if overloaded.
    private func reported(_ body: () async throws -> Response) async throws -> Response {
        do { return try await body() } catch { return try OGCExceptionReport.ows(error) }
    }

    private static func unknownPath(_ request: Request) -> OGCException {
        OGCException(
            .invalidParameterValue, detail: "There is nothing at \(request.uri.path.prefix(200)).")
    }

    private func answer(_ kvp: KVPReader, _ request: Request) async throws -> Response {
        if let service = kvp.text("SERVICE"), service.uppercased() != "WMTS" {
            throw OGCException(.invalidParameterValue, "SERVICE", service, expected: "WMTS")
        }
        let operation = try kvp.required("REQUEST")
        switch operation.lowercased() {
        case "getcapabilities": return try await capabilities(request)
        case "gettile":
            return try await tile(
                WMTSTileParameters(kvp, styles: styles, frames, in: try frames.snapshot()), request)
        case "getfeatureinfo":
            let tile = try WMTSTileParameters(kvp, styles: styles, frames, in: try frames.snapshot())
            let point = try WMTSPoint(kvp)
            let format = try FeatureInfoFormat(kvp.text("INFOFORMAT"), "INFOFORMAT")
            return try await info.answer(
                FeatureInfoParameters(tile, column: point.column, row: point.row, format: format), request)
        default:
            throw OGCException(
                .operationNotSupported, "REQUEST", operation,
                expected: "GetCapabilities, GetTile or GetFeatureInfo")
        }
    }

    private func capabilities(_ request: Request) async throws -> Response {
        let snapshot = try frames.snapshot()
        let base = BaseURL.of(request, publicURL)
        let document = try await work.run(.query) { [catalogue] in
            WMTSCapabilities(
                base: base, abstract: catalogue.abstract(in: snapshot), layers: try await catalogue.layers(in: snapshot)
            ).document
        }
        return try BytesResponse.make(
            Array(document.utf8),
            headers: [.contentType: WMTSCapabilities.mediaType, .cacheControl: "no-cache"], request: request)
    }

    private func tileParameters(_ request: Request, _ parameters: Parameters, column: String) throws
        -> WMTSTileParameters
    {
        try WMTSTileParameters(
            layer: parameters.text("layer"), style: parameters.text("style"), time: parameters.text("time"),
            set: parameters.text("set"), matrix: parameters.text("matrix"), row: parameters.text("row"),
            column: column, KVPReader(request), styles: styles, frames, in: try frames.snapshot())
    }

    private func tile(_ parsed: WMTSTileParameters, _ request: Request) async throws -> Response {
        // Never redirects: a WMTS URL has no revision.
        try await tiles.tile(parsed.tile, request) { _ in request.uri.string }
    }
}

extension String {
    /// The text before a suffix; nil if the text doesn't end with it.
    fileprivate func without(suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }
}
