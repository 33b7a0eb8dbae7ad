import BillowEngine
import HTTPTypes
import Hummingbird
import NIOCore

/// Responses whose pieces are computed as the connection accepts them.
enum StreamedResponse {
    /// A response of 200, or of 304 if the client has the content. A single piece is sent with its length and an entity
    /// tag of its bytes.
    ///
    /// - Parameters:
    ///   - first: see `body`.
    ///   - tag: the entity tag of several pieces. It must be another one whenever a byte of them is.
    static func make(
        _ first: [UInt8], _ pieces: some ResponseParts, tag: String? = nil, headers: HTTPFields, request: Request,
        work: WorkExecutor
    ) throws(WorkError) -> Response {
        if pieces.isAtEnd { return try BytesResponse.make(first, headers: headers, request: request) }
        var headers = headers
        if let tag {
            headers[.eTag] = "\"\(tag)\""
            if EntityTags(request.headers[.ifNoneMatch]).match(tag) {
                return Response(status: .notModified, headers: headers)
            }
        }
        return Response(status: .ok, headers: headers, body: try body(first, pieces, work: work))
    }

    /// - Parameters:
    ///   - first: the first piece. It is computed before the status is sent, so that an error can still determine the
    ///     status.
    ///   - pieces: the following pieces, each computed in its own job.
    /// - Throws: `WorkError.tooManyAnswers`.
    static func body(
        _ first: [UInt8], _ pieces: some ResponseParts, work: WorkExecutor, budget: ResponseBudget = .ofServer
    ) throws(WorkError) -> ResponseBody {
        let reservation = try budget.reserve(ResponseBudget.stream)
        return ResponseBody { [first, pieces] writer in
            var pieces = pieces
            var piece: [UInt8]? = first
            while let bytes = piece {
                piece = nil
                try await BytesResponse.write(bytes, to: &writer)
                if pieces.isAtEnd { break }
                (pieces, piece) = try await work.run(.query, isContinuing: true) { [pieces] in
                    var pieces = pieces
                    let piece = try await pieces.next()
                    return (pieces, piece)
                }
            }
            try await writer.finish(nil)
            withExtendedLifetime(reservation) {}
        }
    }
}
