import BillowEngine
internal import CDeflate
import HTTPTypes
import Hummingbird
import NIOCore

/// Bytes, compressed where the client takes that.
enum CompressedAnswer {
    /// Below this a compressed answer is hardly smaller.
    private static let least = 1_000
    /// What goes over satcom from minute to minute is worth a seventh less for ten times the time (some 60 ms for 700
    /// kB); what is large is not.
    private static let small = 1_000_000
    private static func level(_ count: Int) -> Int32 { count <= small ? 11 : 6 }

    static func make(_ bytes: [UInt8], headers: HTTPFields, request: Request) throws(WorkError) -> Response {
        var headers = headers
        headers[.vary] = "Accept-Encoding"
        var body = bytes
        if bytes.count >= least, takesGzip(request.headers[.acceptEncoding]), let small = gzip(bytes) {
            headers[.contentEncoding] = "gzip"
            body = small
        }
        return Response(status: .ok, headers: headers, body: try BytesAnswer.body(of: body))
    }

    /// Whether a client takes compressed answers.
    static func isAccepted(by request: Request) -> Bool { takesGzip(request.headers[.acceptEncoding]) }

    /// Source: RFC 9110 section 12.5.3
    private static func takesGzip(_ header: String?) -> Bool {
        (header ?? "").split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            guard let coding = words.first, coding == "gzip" || coding == "*" else { return false }
            return !words.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" || $0 == "q=0.00" || $0 == "q=0.000" }
        }
    }

    /// Source: RFC 1952
    private static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        guard let compressor = libdeflate_alloc_compressor(level(bytes.count)) else { return nil }
        defer { libdeflate_free_compressor(compressor) }
        let bound = libdeflate_gzip_compress_bound(compressor, bytes.count)
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { out, count in
            count = libdeflate_gzip_compress(compressor, bytes, bytes.count, out.baseAddress, bound)
        }
        return packed.isEmpty ? nil : packed
    }
}
