import BillowParameters
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// The whole body. A body with too large a `Content-Length` is rejected before it is read.
    /// - Throws: `Problem` 413.
    func bytes(upTo longest: Int) async throws -> ByteBuffer {
        let tooLarge = Problem(
            .bodyTooLarge, detail: "The body is larger than \(longest) bytes.", parameter: "body",
            value: headers[.contentLength].map { "\($0.prefix(20)) bytes" } ?? "more bytes",
            allowed: "at most \(longest) bytes")
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > longest { throw tooLarge }
        do { return try await body.collect(upTo: longest) } catch is NIOTooManyBytesError { throw tooLarge }
    }
}

extension JSONBody {
    /// - Throws: `Problem` 400 with the place in the body, 413.
    static func read<Body: Decodable>(_ type: Body.Type, of request: Request, longest: Int) async throws -> Body {
        try decode(type, from: Data(try await request.bytes(upTo: longest).readableBytesView))
    }
}
