import BillowEngine
import BillowParameters
import BillowExchange
import BillowRaster
import BillowSnapshot
import BillowStore
import BillowTiles
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import JSONKit
import NIOCore
import Turbulence

/// `/collections`, `/collections/{id}`, `…/schema`, `…/queryables`, `…/items` and `…/items/{featureId}`.
///
/// Source: OGC 17-069r4 (OGC API Features part 1: Core)
struct CollectionRoutes: Sendable {
    let frames: FrameSource
    let features: FeatureSource
    let policy: FreshnessPolicy
    let publicURL: String?
    let airports: AirportTable
    /// The largest permitted area in a request, in km².
    let areaLimitKm2: Double
    let work: WorkExecutor
    let styleStore: StyleStore

    /// The size in bytes at which a page ends, after the current feature.
    static let maximumBytes = 8 << 20

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/collections") { request, _ in try list(request) }
        router.get("/collections/:id") { request, context in try one(request, context.parameters) }
        router.get("/collections/:id/schema") { request, context in
            try schema(request, context.parameters) { FeatureSchema.document(of: $0, id: $1) }
        }
        router.get("/collections/:id/schema/feature") { request, context in
            try schema(request, context.parameters) { FeatureSchema.featureDocument(of: $0, id: $1) }
        }
        router.get("/collections/:id/queryables") { request, context in
            try schema(request, context.parameters) { FeatureSchema.queryables(of: $0, id: $1) }
        }
        router.get("/collections/:id/items") { request, context in try await items(request, context.parameters) }
        router.get("/collections/:id/items/:feature") { request, context in
            try await item(request, context.parameters)
        }
        addQueries(to: router)
    }

    // MARK: - Descriptions

    private struct Collection: Encodable {
        struct Extent: Encodable {
            struct Spatial: Encodable {
                var bbox: [[Double]]
                var crs = Link.crs84

                init(_ box: BoundingBox) {
                    bbox = [[box.west, box.south, box.east, box.north].map { ($0 * 1_000).rounded() / 1_000 }]
                }
            }

            struct Temporal: Encodable {
                var interval: [[String]]
                var trs = "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"
            }

            /// The range of altitudes in feet.
            struct Vertical: Encodable {
                var interval: [[String]]
                var vrs = EDRMetadata.verticalReference
            }

            var spatial: Spatial
            var temporal: Temporal
            var vertical: Vertical?
        }

        var id: String
        var title: String
        var description: String
        /// Source: OGC API – Features – Part 1, collection description (`attribution` of OGC API – Common – Part 2)
        var attribution: String?
        var itemType = "feature"
        var layer: LayerDescription?
        var crs = [Link.crs84]
        var extent: Extent
        /// Source: OGC 19-086r6 (OGC API EDR) section 8.3
        var dataQueries: JSONValue
        var parameterNames: JSONValue
        var outputFormats: [String]
        var links: [Link]

        private enum CodingKeys: String, CodingKey {
            case id, title, description, attribution, itemType, crs, extent, layer, links
            case dataQueries = "data_queries"
            case parameterNames = "parameter_names"
            case outputFormats = "output_formats"
        }
    }

    private struct Collections: Encodable {
        var links: [Link]
        var collections: [Collection]
    }

    private func describe(_ collection: Dataset, base: String, snapshot: Snapshot) -> Collection {
        let extent = snapshot.featureExtent(of: collection)
        // The extent of a field is the extent of its grid.
        let box = collection.content == .field ? snapshot.fieldCoverage.box : nil
        let path = "\(base)/collections/\(collection.id)"
        var links = [
            Link("self", path, title: collection.title),
            Link("alternate", "\(path)?f=html", type: "text/html", title: "The same as an HTML page"),
            Link("items", "\(path)/items", type: "application/geo+json", title: "The features, in pages"),
            Link(Link.schema, "\(path)/schema", type: FeatureSchema.mediaType, title: "The members of a feature"),
            // GDAL takes the fields of a layer from it.
            Link(
                "describedBy", "\(path)/schema/feature", type: FeatureSchema.mediaType,
                title: "The schema of a feature as GeoJSON"),
            Link(
                Link.queryables, "\(path)/queryables", type: FeatureSchema.mediaType,
                title: "The members that are query parameters"),
        ]
        links += EDRMetadata.links(of: collection, path)
        links += OGCTileRoutes.links(base, collection)
        for format in DownloadFormat.allCases where !format.isPack {
            links.append(
                Link(
                    "enclosure", "\(base)/export/\(collection.id).\(format.ending)", type: format.mediaType,
                    title: "All features as one \(format.ending) file"))
        }
        return Collection(
            id: collection.id, title: collection.title, description: collection.summary,
            attribution: collection.attribution, layer: LayerDescription(collection),
            extent: Collection.Extent(
                spatial: Collection.Extent.Spatial(box ?? .world),
                temporal: .init(interval: [[extent.lowerBound.description, extent.upperBound.description]]),
                vertical: collection.altitudeRange.map { range in
                    .init(interval: [[String(Int(range.lowerBound)), String(Int(range.upperBound))]])
                }),
            dataQueries: EDRMetadata.queries(of: collection, path),
            parameterNames: EDRMetadata.parameters(of: collection),
            outputFormats: EDRMetadata.formats(of: collection), links: links)
    }

    private func list(_ request: Request) throws -> Response {
        let parsed = try DocumentParameters(request, formats: [.json, .html])
        let base = BaseURL.of(request, publicURL)
        let snapshot = try frames.snapshot()
        return try DocumentResponse.make(
            Collections(
                links: [
                    Link("self", "\(base)/collections"), Link("root", "\(base)\(LandingRoutes.path)"),
                    Link(
                        "alternate", "\(base)/collections?f=html", type: "text/html",
                        title: "The same as an HTML page"),
                ],
                collections: Catalogue.all.map { describe($0, base: base, snapshot: snapshot) }),
            as: parsed.format, request: request
        ) { CollectionPages.list($0, path: request.uri.path) }
    }

    private func one(_ request: Request, _ parameters: Parameters) throws -> Response {
        let parsed = try DocumentParameters(request, formats: [.json, .html])
        let collection = try collection(parameters)
        return try DocumentResponse.make(
            describe(collection, base: BaseURL.of(request, publicURL), snapshot: try frames.snapshot()),
            as: parsed.format, request: request
        ) { CollectionPages.collection($0, collection, path: request.uri.path) }
    }

    /// The schema of a collection's features, or only of the properties that are also query parameters.
    private func schema(
        _ request: Request, _ parameters: Parameters, _ document: (_ of: Dataset, _ id: String) -> JSONValue
    ) throws -> Response {
        _ = try DocumentParameters(request)
        let collection = try collection(parameters)
        return try JSONResponse.make(
            document(collection, "\(BaseURL.of(request, publicURL))\(request.uri.path)"),
            headers: [.cacheControl: "no-cache"], contentType: FeatureSchema.mediaType, request: request)
    }

    func collection(_ parameters: Parameters) throws(ParameterProblem) -> Dataset {
        let id = parameters.get("id") ?? ""
        guard let collection = Catalogue.dataset(id) else { throw .unknownCollection(id) }
        return collection
    }

    // MARK: - Features

    private func items(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let collection = try collection(parameters)
        let parsed = try ItemParameters(
            QueryReader(request, known: EDRQuery.items.names(of: collection)), of: collection,
            accepted: ItemFormat(acceptedBy: request))
        let snapshot = try frames.snapshot()
        let query = try parsed.features.query(frames, in: snapshot)
        switch parsed.format {
        case .html: return try await itemsPage(query, parsed, in: snapshot, request)
        case .text(.geojson):
            return try await answer(query, parsed.page, in: snapshot, request, items: parsed)
        case .text(let format): return try await itemsText(query, parsed, format, in: snapshot, request)
        }
    }

    /// A page of features for people: the table of the same features that GeoJSON has, and a map that reads that.
    private func itemsPage(
        _ query: FeatureQuery, _ parsed: ItemParameters, in snapshot: Snapshot, _ request: Request
    ) async throws -> Response {
        var document: [UInt8] = []
        let (dataStatus, found) = try await page(query, parsed.page, in: snapshot, request, hasGeometry: false)
        var pieces = found
        while let piece = try await pieces.next() { document += piece }
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(document))
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers.vary(by: "Accept")
        let items = "collections/\(query.collection.id)/items"
        func signed(_ format: ItemFormat) -> String {
            AddressSigner.signedRelative("\(items)?\(parsed.query(as: format))")
        }
        return try CollectionPages.items(
            json, query.collection, styleStore.current.default, path: request.uri.path,
            json: signed(.geoJSON), table: signed(.text(.csv)),
            one: { AddressSigner.signedRelative("\(items)/\(HTMLPage.encoded($0))\(parsed.ofOne)") },
            next: pieces.nextAddress.flatMap { $0.split(separator: "?", maxSplits: 1).last.map { "?\($0)" } }
        ).answer(headers, request)
    }

    /// A page of features in a format without a place for links. They are in headers, so the page is made first; it has
    /// at most `maximumBytes`.
    private func itemsText(
        _ query: FeatureQuery, _ parsed: ItemParameters, _ format: ExportFormat, in snapshot: Snapshot,
        _ request: Request
    ) async throws -> Response {
        let (dataStatus, found) = try await page(query, parsed.page, in: snapshot, request, as: format)
        var pieces = found
        var bytes: [UInt8] = []
        while let piece = try await pieces.next() { bytes += piece }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers.vary(by: "Accept")
        headers[.contentType] = format.mediaType
        headers[.contentDisposition] = ContentDisposition.text(
            query.collection.id, query.instant, ending: format.rawValue)
        var links = alternates(parsed, except: .text(format), request)
        if let next = pieces.nextAddress {
            links.insert(Link("next", next, type: ItemFormat.text(format).mediaType), at: 0)
        }
        headers[.link] = links.map(\.header).joined(separator: ", ")
        return try BytesResponse.make(bytes, headers: headers, request: request)
    }

    /// Links to the same page in the other formats.
    private func alternates(_ parsed: ItemParameters, except own: ItemFormat, _ request: Request) -> [Link] {
        let base = BaseURL.of(request, publicURL)
        return ItemFormat.allCases.filter { $0 != own }.map { format in
            let address = AddressSigner.signed("\(request.uri.path)?\(parsed.query(as: format))")
            return Link("alternate", base + address, type: format.mediaType)
        }
    }

    /// A page of a query's features as GeoJSON. Later pages continue at the version of the first page.
    ///
    /// - Parameter items: the parameters of `…/items`, whose other formats the page links to.
    func answer(
        _ query: FeatureQuery, _ page: PageParameters, in snapshot: Snapshot, _ request: Request,
        items: ItemParameters? = nil
    ) async throws -> Response {
        let links = items.map { alternates($0, except: .geoJSON, request) } ?? []
        let (dataStatus, found) = try await self.page(query, page, in: snapshot, request, alternates: links)
        var pieces = found
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = DataFormat.geoJSON.mediaType
        headers[.contentDisposition] = ContentDisposition.text(
            query.collection.id, query.instant, ending: ExportFormat.geojson.rawValue, isShown: true)
        headers.vary(by: "Accept")
        let first = try await pieces.next() ?? []
        return try StreamedResponse.make(
            first, pieces, tag: tag(of: first, pieces.head, in: snapshot, request), headers: headers, request: request,
            work: work)
    }

    /// The entity tag of a page of several pieces, which is sent before the last one is made. The first piece has the
    /// state of the data; the others depend on the version, the address and the time of the publication.
    ///
    /// nil for a POST: its body would decide too, and nobody caches it.
    private func tag(of first: [UInt8], _ head: Head, in snapshot: Snapshot, _ request: Request) -> String? {
        guard request.method == .get || request.method == .head else { return nil }
        var fingerprint = Fingerprint()
        fingerprint.mix(Self.process)
        fingerprint.mix(ContentHash.ofWords(first))
        for part in [
            head.log, BaseURL.of(request, publicURL), AddressSigner.signed(request.uri.string),
            snapshot.publication.asOf.description,
        ] {
            fingerprint.mix(part)
        }
        fingerprint.mix(UInt64(truncatingIfNeeded: head.version.rawValue))
        return fingerprint.text
    }

    /// Settings can change at a start, and features depend on some of them. So a tag doesn't outlive its process.
    private static let process = UInt64.random(in: 0 ... .max)

    private func page(
        _ query: FeatureQuery, _ page: PageParameters, in snapshot: Snapshot, _ request: Request,
        as format: ExportFormat = .geojson, hasGeometry: Bool = true, alternates: [Link] = []
    ) async throws -> (DataStatus, FeaturePage) {
        let shown =
            if let start = page.start { try await frames.snapshot(of: start.head, now: snapshot) } else { snapshot }
        var dataStatus = policy.dataStatus(query, in: snapshot)
        // A later page shows the version of the first one, which has no newer data.
        if let start = page.start { dataStatus.freshness.dataTime = start.dataTime }
        let dataTime = dataStatus.freshness.dataTime
        let (base, path) = (BaseURL.of(request, publicURL), request.uri.path)
        // The end of a page is written when the request has left its middleware.
        let signer = AddressSigner.ofRequest
        let pieces = FeaturePage(
            features.reader(query, in: shown, after: page.start?.cursor), at: shown.head,
            FeatureWriter(
                query.collection, as: format,
                members: CollectionMembers(query, snapshot: shown, dataStatus: dataStatus),
                hasGeometry: hasGeometry, properties: page.properties),
            limit: page.limit, address: base + path, query: request.uri.query,
            time: snapshot.publication.asOf, total: try await features.total(query, in: shown), alternates: alternates,
            next: { cursor in
                let next = page.next(after: cursor, at: shown.head, of: query, dataTime: dataTime, as: format)
                return base + signer.signed("\(path)?\(next)")
            })
        return (dataStatus, pieces)
    }

    private func item(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let collection = try collection(parameters)
        let parsed = try ItemByIDParameters(
            QueryReader(request, known: FeatureParameters.names(collection)), of: collection)
        let snapshot = try frames.snapshot()
        let query = try parsed.features.query(frames, in: snapshot)
        let dataStatus = policy.dataStatus(query, in: snapshot)
        let id = parameters.text("feature")
        let isPage = HTMLPage.isSelected(parsed.format, request)
        var writer = FeatureWriter(collection, as: .geojsonl, hasGeometry: !isPage)
        guard try await features.write(id: id, query, in: snapshot, to: &writer) else {
            throw Problem(
                .unknownFeature,
                detail: "There is no feature '\(id.prefix(100))' in \(collection.id) at \(query.instant).",
                parameter: "featureId", value: id, allowed: "the id of a feature of \(collection.id) at that time")
        }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers.vary(by: "Accept")
        if isPage {
            var feature = try JSONDecoder().decode([String: JSONValue].self, from: Data(writer.drain()))
            feature.merge(dataStatus.members) { own, _ in own }
            let path = "collections/\(collection.id)/items/\(HTMLPage.encoded(id))"
            return try CollectionPages.feature(
                .object(feature), collection, styleStore.current.default, path: request.uri.path,
                json: AddressSigner.signedRelative("\(path)?\(parsed.asGeoJSON)")
            ).answer(headers, request)
        }
        headers[.contentType] = "application/geo+json"
        let here = "\(BaseURL.of(request, publicURL))\(request.uri.path)"
        let above = here.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        let links = [
            Link("self", here + (request.uri.query.map { "?\($0)" } ?? ""), type: "application/geo+json"),
            Link("alternate", "\(here)?\(parsed.asPage)", type: "text/html", title: "The same as an HTML page"),
            Link("collection", above),
        ]
        // Appended after the feature's own members.
        var bytes = Array(writer.drain().dropLast("}\n".utf8.count)) + Array(",".utf8)
        bytes += Array(buffer: try JSONBytes.encode(dataStatus.members)).dropFirst().dropLast()
        bytes += Array(",\"links\":".utf8) + Array(buffer: try JSONBytes.encode(links)) + Array("}\n".utf8)
        return try BytesResponse.make(bytes, headers: headers, request: request)
    }
}

/// A page of features, encoded piece by piece.
struct FeaturePage: ResponseParts {
    private var reader: FeatureReader
    private var writer: FeatureWriter
    /// The version of the features.
    let head: Head
    private let limit: Int
    private let maximumBytes: Int
    private let address: String
    private let query: String?
    private let time: Instant?
    /// Features of all pages, as far as that is known before they are read.
    private let total: Int?
    private let isFirst: Bool
    private let alternates: [Link]
    private let next: @Sendable (FeatureSource.Cursor) -> String
    private var bytes = 0
    private(set) var isAtEnd = false
    /// The address of the next page, once this one is at its end; nil if it is the last.
    private(set) var nextAddress: String?

    init(
        _ reader: FeatureReader, at head: Head, _ writer: FeatureWriter, limit: Int,
        maximumBytes: Int = CollectionRoutes.maximumBytes, address: String, query: String?, time: Instant? = nil,
        total: Int? = nil, alternates: [Link] = [],
        next: @escaping @Sendable (FeatureSource.Cursor) -> String
    ) {
        self.reader = reader
        self.writer = writer
        self.head = head
        self.limit = limit
        self.maximumBytes = maximumBytes
        self.address = address
        self.query = query
        self.time = time
        self.total = total
        isFirst = reader.cursor == nil
        self.alternates = alternates
        self.next = next
        self.writer.begin()
    }

    mutating func next() async throws(EngineError) -> [UInt8]? {
        guard !isAtEnd else { return nil }
        var isFull = false
        repeat {
            // A partly written feature is already counted.
            let room = limit - writer.features + (reader.isBetweenFeatures ? 0 : 1)
            var piece = PageLimit.piece
            piece.features = min(piece.features, room)
            piece.bytes = min(piece.bytes, maximumBytes)
            try await reader.read(piece, to: &writer)
            isFull =
                reader.isBetweenFeatures
                && (writer.features >= limit || bytes + writer.count >= maximumBytes)
        } while !reader.isAtEnd && !isFull && writer.count < PageLimit.piece.bytes
        if reader.isAtEnd || isFull { end() }
        bytes += writer.count
        return writer.drain()
    }

    private mutating func end() {
        isAtEnd = true
        nextAddress = (reader.isAtEnd ? nil : reader.cursor).map(next)
        let type = DataFormat.geoJSON.mediaType
        var links = [Link("self", address + (query.map { "?\($0)" } ?? ""), type: type)]
        if let nextAddress { links.append(Link("next", nextAddress, type: type)) }
        links += alternates
        let (count, time) = (writer.features, time)
        let total = total ?? reader.total ?? (isFirst && reader.isAtEnd ? count : nil)
        writer.end { json in
            if let total {
                json.name("numberMatched")
                json.value(Int64(total))
            }
            json.name("numberReturned")
            json.value(Int64(count))
            if let time {
                json.name("timeStamp")
                json.value(time)
            }
            json.name("links")
            json.openArray()
            for link in links { Self.write(link, to: &json) }
            json.closeArray()
        }
    }

    private static func write(_ link: Link, to json: inout JSONWriter) {
        json.openObject()
        json.name("rel")
        json.value(link.rel)
        json.name("type")
        json.value(link.type)
        json.name("href")
        json.value(link.href)
        json.closeObject()
    }
}

extension ItemFormat {
    /// The format that `Accept` prefers; GeoJSON where it prefers none.
    init(acceptedBy request: Request) {
        let accepted = AcceptedMedia(request.headers[.accept])
        self = .geoJSON
        var weight = max(accepted.weight(of: mediaType), accepted.weight(of: "application/json"))
        for format in ItemFormat.allCases where accepted.weight(of: format.mediaType) > weight {
            self = format
            weight = accepted.weight(of: format.mediaType)
        }
    }
}
