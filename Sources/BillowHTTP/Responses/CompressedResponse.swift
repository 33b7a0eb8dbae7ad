import BillowEngine
import HTTPTypes
import Hummingbird
import NIOCore

/// Responses that deserve a high compression level, compressed if the client accepts it.
enum CompressedResponse {
    /// The smallest response for which compression is worthwhile.
    private static let least = 1_000
    /// The largest response with the high level. For periodic responses over satcom, a seventh fewer bytes justify ten
    /// times the CPU time (some 60 ms for 700 kB).
    private static let small = 1_000_000
    private static func level(_ count: Int) -> Int32 { count <= small ? 11 : 6 }

    static func make(_ bytes: [UInt8], headers: HTTPFields, request: Request) throws(WorkError) -> Response {
        var headers = headers
        var body = bytes
        if bytes.count >= least, ContentCoding(accepted: request.headers[.acceptEncoding]) == .gzip,
            let small = Gzip.compress(bytes, level: level(bytes.count))
        {
            headers[.contentEncoding] = "gzip"
            body = small
        }
        return Response(status: .ok, headers: headers, body: try BytesResponse.body(of: body))
    }
}
