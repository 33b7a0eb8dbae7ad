import BillowEngine
import BillowExchange
import BillowPacks
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// A requested export of one snapshot.
struct PreparedExport: Sendable {
    /// The identity of the export. Equal requests share it.
    var address: String
    /// The headers that describe the content. They are the same for all requests of the address.
    var headers: HTTPFields
    /// The version of the snapshot.
    var version: Int64
    var content: Content
    /// The path and query of the part that begins after a feature.
    var part: (@Sendable (FeatureSource.Cursor) -> String)?

    /// Whether it can be sent without a file. What follows a part is known only when the part is complete.
    var isStreamable: Bool {
        if case .text(let export) = content { !export.isLimited } else { false }
    }

    enum Content: Sendable {
        /// An export that can be streamed while it is made.
        case text(FeatureExport)
        /// An export that is known only when it is complete.
        case file(any FileExport)
    }
}

/// `/export/{collection}.{format}` has all features of a query, and `/export/{layers}.{format}` has packs of tiles.
///
/// A plain GET of text is streamed, because its length is unknown before the end. HEAD and range requests are answered
/// from a file. The file is written first and used as long as clients read it, so that its parts match. Packs are
/// always answered from such a file, and so are parts of an export, whose end tells where the next one begins. What is
/// requested as a whole is no older than a minute, whatever others read meanwhile.
struct ExportRoutes: Sendable {
    let frames: FrameSource
    let features: FeatureSource
    let policy: FreshnessPolicy
    let work: WorkExecutor
    let files: ExportFiles
    let packs: PackSource
    let timelines: TimelineService
    let styleStore: StyleStore
    let publicURL: String?

    /// This does not run as a job, because every piece is a separate job, also for a file.
    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/export/:file") { request, context in try await answer(request, context) }
        router.head("/export/:file") { request, context in try await answer(request, context) }
    }

    private func answer(_ received: Request, _ context: some RequestContext) async throws -> Response {
        let path = try ExportParameters(received, file: context.parameters.text("file"))
        var response = try await answer(received, path, context)
        // An export belongs to all requests for it, also to those whose path names the format.
        if path.isNegotiated { response.headers.vary(by: "Accept") }
        return response
    }

    private func answer(
        _ received: Request, _ path: ExportParameters, _ context: some RequestContext
    ) async throws -> Response {
        var head = received.head
        // A client that takes the whole as the rest says so. The wrong rest would pass unnoticed.
        let rest = ByteRange.isBlindResumption(head.headerFields) ? head.headerFields[.range] : nil
        if rest != nil { head.headerFields[.range] = nil }
        let request = Request(head: head, body: received.body)
        let prepared: PreparedExport
        let parsed = try await work.run(.query) {
            path.format.isPack
                ? try await preparePack(path, request) : try await prepareFeatures(path, request)
        }
        switch parsed {
        case .sizeOfPack(let estimate, let headers):
            return try JSONResponse.make(estimate, headers: headers, request: request)
        case .sizeOfFeatures(var estimation, let headers):
            while true {
                // Each step is a job of its own, so that it delays nothing else for long.
                let (rest, estimate) = try await work.run(.query) { [estimation] in
                    var estimation = estimation
                    let estimate = try await estimation.next()
                    return (estimation, estimate)
                }
                if let estimate { return try JSONResponse.make(estimate, headers: headers, request: request) }
                estimation = rest
            }
        case .export(let export): prepared = export
        }
        let wantsFile = !prepared.isStreamable || request.method == .head || received.headers[.range] != nil
        if wantsFile, let pinned = try await files.file(of: prepared, for: Self.reading(request)) {
            // There is no rest that could be wrong.
            if rest != nil, ByteRange(rest, of: pinned.file.size) == .unsatisfiable {
                return try Problem.unsatisfiableRange(of: pinned.file.size, request, context)
            }
            var headers = pinned.export.headers
            headers.link(toNext: pinned.file.nextPart, request, publicURL)
            // Other requests may have newer data meanwhile.
            headers[.cacheControl] = "public, no-cache"
            return try pinned.file.response(headers, request, context, holding: pinned.use)
        }
        var headers = prepared.headers
        headers[.acceptRanges] = wantsFile ? "none" : "bytes"
        guard case .text(let export) = prepared.content, request.method != .head else {
            return Response(status: .ok, headers: headers)
        }
        let (parts, first) = try await work.run(.query) {
            var parts = export.parts()
            let first = try await parts.next() ?? []
            return (parts, first)
        }
        return Response(status: .ok, headers: headers, body: try StreamedResponse.body(first, parts, work: work))
    }

    /// How a request reads the file. `HEAD` is the beginning of reading in parts, and `bytes=0-` takes the whole, whose
    /// tag then names the rest.
    private static func reading(_ request: Request) -> ExportFiles.Reading {
        let tag = request.headers[.ifRange].map { String($0.dropFirst().dropLast()) }
        let range = request.headers[.range]
        let isWhole = request.method == .get && tag == nil && (range == nil || range == "bytes=0-")
        return isWhole ? .whole : .parts(tag: tag)
    }

    /// The export of a job.
    /// - Throws: `ParameterProblem` also for an estimate, which needs no job.
    func prepare(_ file: String, _ request: Request) async throws -> PreparedExport {
        let path = try ExportParameters(request, file: file)
        let prepared =
            path.format.isPack
            ? try await preparePack(path, request) : try await prepareFeatures(path, request)
        guard case .export(let export) = prepared else {
            throw ParameterProblem(
                ParameterError(parameter: "estimate", value: "true", expected: "false, or asked for by GET"))
        }
        return export
    }

    private enum Preparation: Sendable {
        case sizeOfPack(PackParameters.Estimate, HTTPFields)
        case sizeOfFeatures(FeatureExport.Estimation, HTTPFields)
        case export(PreparedExport)
    }

    private func prepareFeatures(_ path: ExportParameters, _ request: Request) async throws -> Preparation {
        let collection = try path.collection
        let reader = try QueryReader(
            request, known: FeatureExportParameters.names(collection, path.format, isNegotiated: true))
        let parsed = try FeatureExportParameters(reader, path)
        let current = try frames.snapshot()
        let query = try parsed.features.query(frames, in: current)
        let snapshot =
            if let start = parsed.start { try await frames.snapshot(of: start.head, now: current) } else { current }
        var dataStatus = policy.dataStatus(query, in: current)
        // A later part shows the version of the first one, which has no newer data.
        if let start = parsed.start { dataStatus.freshness.dataTime = start.dataTime }
        let freshSeconds = frames.freshSeconds(of: current)
        if parsed.isEstimate {
            let text: ExportFormat? = if case .text(let format) = path.format { format } else { nil }
            let headers: HTTPFields = [.cacheControl: ResponseHeaders.cacheControl(freshSeconds: freshSeconds)]
            return .sizeOfFeatures(
                FeatureExport.estimate(
                    of: query, as: text, features: features, snapshot: snapshot, dataStatus: dataStatus), headers)
        }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: freshSeconds)
        headers[.contentType] = path.format.mediaType
        headers[.contentDisposition] = ContentDisposition.text(
            collection.id, query.instant, ending: path.format.ending)
        let content: PreparedExport.Content =
            switch path.format {
            case .text(let format):
                .text(
                    FeatureExport(
                        features: features, query: query, format: format, snapshot: snapshot, dataStatus: dataStatus,
                        style: styleStore.current.default, after: parsed.start?.cursor, limit: parsed.limit))
            case .geoPackage:
                .file(
                    GeoPackageExport(
                        features: features, query: query, snapshot: snapshot, dataStatus: dataStatus,
                        style: styleStore.current.default, request: parsed.query))
            case .kmz:
                .file(
                    KMZExport(
                        features: features, query: query, snapshot: snapshot, dataStatus: dataStatus,
                        style: styleStore.current.default))
            case .tileset, .archive: preconditionFailure("a pack has no features")
            }
        let (place, head, dataTime) = (request.uri.path, snapshot.head, dataStatus.freshness.dataTime)
        let named = path.isNegotiated ? path.format.ending : nil
        return .export(
            PreparedExport(
                address: Self.address("\(collection.id).\(path.format.ending)", parsed.query), headers: headers,
                version: snapshot.publication.version.rawValue, content: content,
                part: { cursor in
                    "\(place)?\(query.nextQuery(reader, after: cursor, at: head, dataTime: dataTime, format: named))"
                }))
    }

    private static func address(_ file: String, _ query: String) -> String {
        query.isEmpty ? file : "\(file)?\(query)"
    }

    // MARK: Packs

    private func preparePack(_ path: ExportParameters, _ request: Request) async throws -> Preparation {
        let layers = try LayerList(parameter: path.what)
        let reader = try QueryReader(request, known: PackParameters.names(path.format))
        let parsed = try PackParameters(
            layers: layers, format: path.format, reader, styles: styleStore.current,
            defaults: timelines.settings.defaults, airports: .large)
        let snapshot = try frames.snapshot()
        let freshSeconds = frames.freshSeconds(of: snapshot)
        if parsed.isEstimate {
            return .sizeOfPack(
                try await parsed.estimate(timelines, in: snapshot),
                [.cacheControl: ResponseHeaders.cacheControl(freshSeconds: freshSeconds)])
        }
        let order = try await parsed.request(timelines, in: snapshot)
        let last = order.scenes[order.scenes.count - 1]
        var dataStatus = packs.dataStatus(last, order, in: snapshot)
        dataStatus.isIncomplete = order.scenes.contains { packs.dataStatus($0, order, in: snapshot).isIncomplete }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: freshSeconds)
        headers[.contentType] = path.format.mediaType
        headers[.contentDisposition] = ContentDisposition.text(path.what, last.instant, ending: path.format.ending)
        return .export(
            PreparedExport(
                address: Self.address("\(path.what).\(path.format.ending)", reader.replacing([:])), headers: headers,
                version: snapshot.publication.version.rawValue, content: .file(PackFile(packs, order, in: snapshot))))
    }
}

extension HTTPFields {
    /// Links to the part that follows the one in the response.
    mutating func link(toNext part: String?, _ request: Request, _ publicURL: String?) {
        guard let part else { return }
        let address = BaseURL.of(request, publicURL) + AddressSigner.signed(part)
        self[.link] = Link("next", address, type: self[.contentType] ?? "").header
    }
}

extension ExportParameters {
    /// Reads the path of a request, and where that names no format, the request itself.
    fileprivate init(_ request: Request, file: String) throws {
        let names = request.uri.queryParameters["f"]
        try self.init(file: file, named: names.map(String.init), accepted: DownloadFormat(acceptedBy: request))
    }
}

extension DownloadFormat {
    /// The format of features that `Accept` prefers; GeoJSON where it prefers none.
    fileprivate init(acceptedBy request: Request) {
        let accepted = AcceptedMedia(request.headers[.accept])
        self = .text(.geojson)
        func weight(_ format: DownloadFormat) -> Double {
            accepted.weight(of: String(format.mediaType.prefix { $0 != ";" }))
        }
        var most = max(weight(self), accepted.weight(of: "application/json"))
        for format in Self.ofFeatures where weight(format) > most { (self, most) = (format, weight(format)) }
    }
}
