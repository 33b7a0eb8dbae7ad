import BillowEngine
import BillowParameters
import HTTPTypes
import Hummingbird

/// The entry points for programs: `/ogc`, and `/` for clients that prefer JSON to HTML; `/conformance` and
/// `/openapi.json`.
///
/// Source: OGC 17-069r4 (OGC API Features part 1) sections 7.2 to 7.4
struct LandingRoutes: Sendable {
    let routes: RouteTable
    let publicURL: String?
    let work: WorkExecutor

    /// The path of the landing page for clients that accept anything, such as browsers and some programs.
    static let path = "/ogc"

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/ogc") { request, _ in try landing(request) }
        router.get("/") { request, _ in
            // The viewer is served from the public files.
            guard try isForProgram(request) else { throw HTTPError(.notFound) }
            return try landing(request, headers: [.vary: "Accept"])
        }
        addDocuments(to: router)
    }

    /// Adds the documents that are also available below the landing page's path.
    func addDocuments(to router: some RouterMethods<some RequestContext>) {
        router.get("/conformance") { request, _ in try conformance(request) }
        router.get("/openapi.json") { request, _ in try await description(request) }
    }

    private struct LandingPage: Encodable {
        var title = "Billow"
        var description = "Turbulence as features, tiles, maps and timelines"
        var links: [Link]
    }

    private func isForProgram(_ request: Request) throws(ParameterProblem) -> Bool {
        try ViewerAddressParameters(request).selectsDocument ?? AcceptedMedia(request.headers[.accept]).prefersJSON
    }

    private func landing(_ request: Request, headers: HTTPFields = [:]) throws -> Response {
        let isRoot = request.uri.path == "/"
        let format = try isRoot ? .json : DocumentParameters(request, formats: [.json, .html]).format
        let base = BaseURL.of(request, publicURL)
        let links = [
            Link("self", isRoot ? "\(base)/?f=json" : base + Self.path, title: "This document"),
            Link("alternate", "\(base)\(Self.path)?f=html", type: "text/html", title: "This document as an HTML page"),
            Link("alternate", "\(base)/", type: "text/html", title: "The viewer"),
            Link("service-doc", "\(base)/docs/", type: "text/html", title: "The interface as an interactive page"),
            Link(
                "service-desc", "\(base)/openapi.json?f=\(OpenAPIVersion.oas30.rawValue)",
                type: OpenAPIVersion.oas30.mediaType, title: "The interface as OpenAPI 3.0"),
            Link(
                "service-desc", "\(base)/openapi.json", type: OpenAPIVersion.json.mediaType,
                title: "The interface as OpenAPI 3.1"),
            Link("conformance", "\(base)/conformance", title: "The specifications that the interface follows"),
            Link(
                "conformance", "\(base)/conformance?f=html", type: "text/html",
                title: "The specifications as an HTML page"),
            Link("data", "\(base)/collections", title: "The collections"),
            Link(OGCTileRoutes.schemes, "\(base)/tileMatrixSets", title: "The numbering of tiles"),
        ]
        var headers = headers
        headers[.cacheControl] = "no-cache"
        guard !isRoot else {
            return try JSONResponse.make(LandingPage(links: links), headers: headers, request: request)
        }
        return try DocumentResponse.make(
            LandingPage(links: links), headers: headers, as: format, request: request
        ) {
            CollectionPages.landing($0, path: request.uri.path)
        }
    }

    /// Source: OGC 17-069r4 annex A
    private static let classes =
        ["core", "oas30", "html", "geojson"].map {
            "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/\($0)"
        } + EDRMetadata.classes + OGCTileRoutes.classes

    private func conformance(_ request: Request) throws -> Response {
        let parsed = try DocumentParameters(request, formats: [.json, .html])
        return try DocumentResponse.make(["conformsTo": Self.classes], as: parsed.format, request: request) {
            CollectionPages.conformance($0, path: request.uri.path)
        }
    }

    /// OpenAPI 3.1; or 3.0 with `f=oas30` or for clients whose `Accept` names only that.
    private func description(_ request: Request) async throws -> Response {
        let requested = try OpenAPIParameters(QueryReader(request, known: OpenAPIParameters.names)).version
        let accept = request.headers[.accept] ?? ""
        let version = requested ?? (accept.contains("version=3.0") && !accept.contains("version=3.1") ? .oas30 : .json)
        let description = APIDescription(routes: routes, base: BaseURL.of(request, publicURL))
        return try await work.run(.query) {
            try JSONResponse.make(
                description.document(version), headers: [.cacheControl: "no-cache", .vary: "Accept"],
                contentType: version.mediaType, request: request)
        }
    }
}
