import BillowEngine
import BillowParameters
import BillowExchange
import BillowSnapshot
import BillowStore
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/collections`, `/collections/{id}`, `…/items` and `…/items/{featureId}`.
///
/// Source: OGC 17-069r4 (OGC API Features part 1: Core)
struct CollectionRoutes: Sendable {
    let frames: FrameSource
    let features: FeatureSource
    let policy: FreshnessPolicy
    let publicURL: String?
    let airports: AirportTable
    /// The largest area that may be asked for, in km².
    let areaLimitKm2: Double
    let work: WorkExecutor

    /// A page ends with the feature that brings it to so many bytes.
    static let maximumBytes = 8 << 20

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/collections") { request, _ in try list(request) }
        router.get("/collections/:id") { request, context in try one(request, context.parameters) }
        router.get("/collections/:id/items") { request, context in try await items(request, context.parameters) }
        router.get("/collections/:id/items/:feature") { request, context in
            try await item(request, context.parameters)
        }
        addAreas(to: router)
    }

    // MARK: - What there is

    private struct Link: Encodable {
        var href: String
        var rel: String
        var type: String
        var title: String?
    }

    private struct Collection: Encodable {
        struct Extent: Encodable {
            struct Spatial: Encodable {
                var bbox = [[-180.0, -90, 180, 90]]
            }

            struct Temporal: Encodable {
                var interval: [[String]]
            }

            var spatial = Spatial()
            var temporal: Temporal
        }

        var id: String
        var title: String
        var description: String
        /// Source: OGC API – Features – Part 1, collection description (`attribution` of OGC API – Common – Part 2)
        var attribution: String?
        var itemType = "feature"
        var extent: Extent
        var links: [Link]
    }

    private struct Collections: Encodable {
        var links: [Link]
        var collections: [Collection]
    }

    private func describe(_ collection: Dataset, base: String, snapshot: Snapshot) -> Collection {
        let extent = frames.extent(of: snapshot)
        let path = "\(base)/collections/\(collection.id)"
        var links = [
            Link(href: path, rel: "self", type: "application/json", title: nil),
            Link(href: "\(path)/items", rel: "items", type: "application/geo+json", title: "The features, in pages"),
        ]
        for format in ExportFormat.allCases {
            links.append(
                Link(
                    href: "\(base)/export/\(collection.id).\(format.rawValue)", rel: "enclosure",
                    type: format.mediaType, title: "All in one \(format.rawValue) download"))
        }
        return Collection(
            id: collection.id, title: collection.title, description: collection.summary,
            attribution: collection.attribution,
            extent: Collection.Extent(
                temporal: .init(interval: [[extent.lowerBound.description, extent.upperBound.description]])),
            links: links)
    }

    private func list(_ request: Request) throws -> Response {
        try QueryReader(request, known: ["f"]).requireJSON()
        let base = BaseURL.of(request, publicURL)
        let snapshot = try frames.snapshot()
        return try JSONAnswer.make(
            Collections(
                links: [Link(href: "\(base)/collections", rel: "self", type: "application/json", title: nil)],
                collections: Catalogue.all.map { describe($0, base: base, snapshot: snapshot) }),
            headers: [.cacheControl: "no-cache"], request: request)
    }

    private func one(_ request: Request, _ parameters: Parameters) throws -> Response {
        try QueryReader(request, known: ["f"]).requireJSON()
        let collection = try collection(parameters)
        return try JSONAnswer.make(
            describe(collection, base: BaseURL.of(request, publicURL), snapshot: try frames.snapshot()),
            headers: [.cacheControl: "no-cache"], request: request)
    }

    func collection(_ parameters: Parameters) throws(ParameterProblem) -> Dataset {
        let id = parameters.get("id") ?? ""
        guard let collection = Catalogue.dataset(id) else { throw .unknownCollection(id) }
        return collection
    }

    // MARK: - Features

    private func items(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let collection = try collection(parameters)
        let reader = try QueryReader(
            request, known: FeatureParameters.names(collection).union(PageParameters.names))
        let asked = try FeatureParameters(reader, of: collection)
        let page = try PageParameters(reader)
        let snapshot = try frames.snapshot()
        return try await answer(try asked.query(frames, in: snapshot), page, in: snapshot, request)
    }

    /// A page of what a query asks for. A page after the first continues the version that the first was read at.
    func answer(_ query: FeatureQuery, _ page: PageParameters, in snapshot: Snapshot, _ request: Request) async throws
        -> Response
    {
        let former =
            if let start = page.start { try await frames.snapshot(of: start.head, now: snapshot) } else { snapshot }
        let shown = policy.shown(query, in: snapshot)
        var pieces = FeaturePage(
            features.reader(query, in: former, after: page.start?.cursor),
            FeatureWriter(
                query.collection, as: .geojson, members: CollectionMembers(query, snapshot: former, shown: shown)),
            limit: page.limit, address: "\(BaseURL.of(request, publicURL))\(request.uri.path)",
            query: request.uri.query,
            nextQuery: { page.next(PageStart(head: former.head, cursor: $0), of: query) })
        var headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = "application/geo+json"
        let first = try await pieces.next() ?? []
        // A small page has a length and a tag.
        if pieces.isAtEnd { return try BytesAnswer.make(first, headers: headers, request: request) }
        return Response(status: .ok, headers: headers, body: try StreamedAnswer.body(first, pieces, work: work))
    }

    private func item(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let collection = try collection(parameters)
        let reader = try QueryReader(request, known: FeatureParameters.names(collection))
        try reader.requireJSON("geojson")
        let asked = try FeatureParameters(reader, of: collection)
        let snapshot = try frames.snapshot()
        let query = try asked.query(frames, in: snapshot)
        let shown = policy.shown(query, in: snapshot)
        let id = parameters.text("feature")
        var writer = FeatureWriter(collection, as: .geojsonl)
        guard try await features.write(id: id, query, in: snapshot, to: &writer) else {
            throw Problem(
                .unknownFeature,
                detail: "There is no feature '\(id.prefix(100))' in \(collection.id) at \(query.instant).",
                parameter: "featureId", value: String(id.prefix(100)))
        }
        var headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = "application/geo+json"
        return try BytesAnswer.make(writer.drain(), headers: headers, request: request)
    }
}

/// A page of features, made piece by piece.
struct FeaturePage: AnswerPieces {
    private var reader: FeatureReader
    private var writer: FeatureWriter
    private let limit: Int
    private let mostBytes: Int
    private let address: String
    private let query: String?
    private let nextQuery: @Sendable (FeatureSource.Cursor) -> String
    private var bytes = 0
    private(set) var isAtEnd = false

    init(
        _ reader: FeatureReader, _ writer: FeatureWriter, limit: Int, mostBytes: Int = CollectionRoutes.maximumBytes,
        address: String, query: String?,
        nextQuery: @escaping @Sendable (FeatureSource.Cursor) -> String
    ) {
        self.reader = reader
        self.writer = writer
        self.limit = limit
        self.mostBytes = mostBytes
        self.address = address
        self.query = query
        self.nextQuery = nextQuery
        self.writer.begin()
    }

    mutating func next() async throws -> [UInt8]? {
        guard !isAtEnd else { return nil }
        var isFull = false
        repeat {
            // A feature that has begun is one of those that were counted.
            let room = limit - writer.features + (reader.isBetweenFeatures ? 0 : 1)
            var piece = PageLimit.piece
            piece.features = min(piece.features, room)
            piece.bytes = min(piece.bytes, mostBytes)
            try await reader.read(piece, to: &writer)
            isFull =
                reader.isBetweenFeatures
                && (writer.features >= limit || bytes + writer.count >= mostBytes)
        } while !reader.isAtEnd && !isFull && writer.count < PageLimit.piece.bytes
        if reader.isAtEnd || isFull { end() }
        bytes += writer.count
        return writer.drain()
    }

    private mutating func end() {
        isAtEnd = true
        let next = (reader.isAtEnd ? nil : reader.cursor).map { address + "?" + nextQuery($0) }
        let here = address + (query.map { "?\($0)" } ?? "")
        let count = writer.features
        writer.end { json in
            json.name("numberReturned")
            json.value(Int64(count))
            json.name("links")
            json.openArray()
            Self.link(&json, rel: "self", href: here)
            if let next { Self.link(&json, rel: "next", href: next) }
            json.closeArray()
        }
    }

    private static func link(_ json: inout JSONWriter, rel: String, href: String) {
        json.openObject()
        json.name("rel")
        json.value(rel)
        json.name("type")
        json.value("application/geo+json")
        json.name("href")
        json.value(href)
        json.closeObject()
    }
}
