import BillowEngine
import HTTPTypes
import Hummingbird
import NIOCore

/// Responses that deserve a high compression level, compressed if the client accepts it: periodic ones over slow links.
enum CompressedResponse {
    /// The smallest response for which compression is worthwhile.
    private static let least = 1_000
    /// The largest response with the high level.
    private static let small = 1_000_000

    static func make(_ bytes: [UInt8], headers: HTTPFields, request: Request) throws(WorkError) -> Response {
        var headers = headers
        var body = bytes
        if bytes.count >= least, case let coding = ContentCoding(accepted: request.headers[.acceptEncoding]),
            let small = coding.compress(bytes, bytes.count <= small ? .high : .low)
        {
            headers[.contentEncoding] = coding.rawValue
            body = small
        }
        return Response(status: .ok, headers: headers, body: try BytesResponse.body(of: body))
    }
}
