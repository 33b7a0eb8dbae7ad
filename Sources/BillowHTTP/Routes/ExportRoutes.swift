import BillowEngine
import BillowParameters
import BillowExchange
import BillowSnapshot
import Datasets
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/export/{collection}.{format}`: everything that a query asks for, streamed.
struct ExportRoutes: Sendable {
    let frames: FrameSource
    let features: FeatureSource
    let policy: FreshnessPolicy
    let work: WorkExecutor

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/export/:file") { request, context in
            let (headers, export) = try prepared(request, context.parameters)
            var pieces = export.pieces()
            let first = try await pieces.next() ?? []
            return Response(
                status: .ok, headers: headers, body: try StreamedAnswer.body(first, pieces, work: work))
        }
        // As of a GET, but nobody knows the length before all is written. Only the first piece is made: it tells what
        // can't be asked.
        router.head("/export/:file") { request, context in
            let (headers, export) = try prepared(request, context.parameters)
            var pieces = export.pieces()
            _ = try await pieces.next()
            return Response(status: .ok, headers: headers)
        }
    }

    private func prepared(_ request: Request, _ parameters: Parameters) throws -> (HTTPFields, FeatureExport) {
        let file = try ExportParameters(file: parameters.text("file"))
        let (collection, format) = (file.collection, file.format)
        let reader = try QueryReader(request, known: FeatureParameters.names(collection))
        try reader.requireJSON(format.rawValue)
        let asked = try FeatureParameters(reader, of: collection)
        let snapshot = try frames.snapshot()
        let query = try asked.query(frames, in: snapshot)
        let shown = policy.shown(query, in: snapshot)
        var headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = format.mediaType
        headers[.contentDisposition] =
            "attachment; filename=\"\(collection.id)-\(query.instant.compact).\(format.rawValue)\""
        return (
            headers, FeatureExport(features: features, query: query, format: format, snapshot: snapshot, shown: shown)
        )
    }
}
