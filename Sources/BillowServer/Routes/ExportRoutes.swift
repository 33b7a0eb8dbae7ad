import BillowExchange
import BillowSnapshot
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/export/{collection}.{format}`: everything that a query asks for, streamed.
struct ExportRoutes: Sendable {
    let frames: FrameSource
    let features: FeatureSource
    let policy: FreshnessPolicy

    private static let sliceBytes = 32 << 10

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/export/:file") { request, context in
            let (headers, export) = try prepared(request, context.parameters)
            // What can't be asked shows in the first piece, while there is still a status to say it.
            var pieces = export.pieces()
            let first = try await pieces.next()
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody { [pieces] writer in
                    var (pieces, piece) = (pieces, first)
                    while let bytes = piece {
                        // In slices: what a slow client has not read yet stays small.
                        for start in stride(from: 0, to: bytes.count, by: Self.sliceBytes) {
                            let slice = bytes[start..<min(start + Self.sliceBytes, bytes.count)]
                            try await writer.write(ByteBuffer(bytes: slice))
                        }
                        piece = try await pieces.next()
                    }
                    try await writer.finish(nil)
                })
        }
        // Nobody knows the length before all is written, and the head that is made of a GET would say 0.
        router.head("/export/:file") { request, context in
            var (headers, export) = try prepared(request, context.parameters)
            var length = 0
            try await export.write { length += $0.count }
            headers[.contentLength] = String(length)
            return Response(status: .ok, headers: headers)
        }
    }

    private func prepared(_ request: Request, _ parameters: Parameters) throws -> (HTTPFields, FeatureExport) {
        let file = parameters.text("file")
        let parts = file.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let collection = ExportCollection(rawValue: String(parts.first ?? "")) else {
            throw Problem.unknownCollection(parts.first ?? "")
        }
        guard parts.count == 2, let format = ExportFormat(rawValue: String(parts[1])) else {
            throw Problem(
                .unknownFormat,
                detail: "There is no format '\(parts.dropFirst().joined().prefix(100))'.",
                parameter: "format", value: String(parts.dropFirst().joined().prefix(100)),
                allowed: ExportFormat.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let reader = try QueryReader(request, known: FeatureQuery.names(collection))
        try reader.requireJSON(format.rawValue)
        let snapshot = try frames.snapshot()
        let query = try FeatureQuery(reader, collection: collection, frames: frames, snapshot: snapshot)
        let shown = policy.shown(query, in: snapshot)
        var headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = format.mediaType
        headers[.contentDisposition] =
            "attachment; filename=\"\(collection.rawValue)-\(query.instant.compact).\(format.rawValue)\""
        return (
            headers, FeatureExport(features: features, query: query, format: format, snapshot: snapshot, shown: shown)
        )
    }
}
