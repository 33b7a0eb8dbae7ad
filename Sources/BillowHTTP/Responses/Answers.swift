import BillowEngine
import BillowSnapshot
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

extension HTTPField.Name {
    static let frameTime = Self.make("X-Frame-Time")
    static let dataTime = Self.make("X-Data-Time")
    static let simulated = Self.make("X-Simulated")
    static let incomplete = Self.make("X-Incomplete")
    static let accessControlExposeHeaders = Self.make("Access-Control-Expose-Headers")

    /// The names above are tokens, which is all that the initialiser asks for.
    static func make(_ name: String) -> Self {
        guard let field = Self(name) else { preconditionFailure("\(name) is no header name") }
        return field
    }
}

/// The headers of every answer that shows data.
enum AnswerHeaders {
    /// - Parameter freshSeconds: how long the answer may be cached.
    static func make(_ shown: Shown, freshSeconds: Int) -> HTTPFields {
        var headers: HTTPFields = [.frameTime: shown.instant.description]
        if let dataTime = shown.freshness.dataTime { headers[.dataTime] = dataTime.description }
        if shown.freshness.isSimulated { headers[.simulated] = "true" }
        if shown.isIncomplete { headers[.incomplete] = "true" }
        headers[.cacheControl] = "public, max-age=\(freshSeconds)"
        return headers
    }
}

/// JSON with an entity tag of its bytes.
enum JSONAnswer {
    static func make(
        _ value: some Encodable, headers: HTTPFields = [:], contentType: String = "application/json",
        status: HTTPResponse.Status = .ok, request: Request
    ) throws -> Response {
        let body = try JSONBytes.encode(value)
        var headers = headers
        headers[.contentType] = contentType
        let tag = String(ContentHash.fnv1a(body.readableBytesView), radix: 16)
        headers[.eTag] = "\"\(tag)\""
        if status == .ok, EntityTags(request.headers[.ifNoneMatch]).match(tag) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentLength] = String(body.readableBytes)
        return Response(
            status: status, headers: headers, body: try BytesAnswer.body(of: Array(body.readableBytesView)))
    }
}

/// Bytes with an entity tag of themselves.
enum BytesAnswer {
    /// - Throws: `WorkError.tooManyAnswers`.
    static func make(_ bytes: [UInt8], headers: HTTPFields, request: Request) throws(WorkError) -> Response {
        var headers = headers
        let tag = String(ContentHash.fnv1a(bytes), radix: 16)
        headers[.eTag] = "\"\(tag)\""
        if EntityTags(request.headers[.ifNoneMatch]).match(tag) {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: try body(of: bytes))
    }

    /// In slices where they are many: what waits for the client is a copy of one slice, and the bytes themselves, which
    /// may be shared with a cache and with other answers.
    static func body(of bytes: [UInt8], budget: AnswerBudget = .shared) throws(WorkError) -> ResponseBody {
        guard let hold = try budget.hold(bytes) else { return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }
        return ResponseBody(contentLength: bytes.count) { writer in
            try await write(bytes, to: &writer)
            try await writer.finish(nil)
            withExtendedLifetime(hold) {}
        }
    }

    static func write(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
        for start in stride(from: 0, to: bytes.count, by: slice) {
            try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + slice, bytes.count)]))
        }
    }

    static let slice = 64 << 10
}

/// A picture, or that whoever asked has it.
enum PictureAnswer {
    static func make(_ picture: EncodedPicture, headers: HTTPFields, known: EntityTags) throws(WorkError)
        -> Response
    {
        var headers = headers
        headers[.eTag] = "\"\(picture.entityTag)\""
        if known.match(picture.entityTag) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = "image/png"
        headers[.contentLength] = String(picture.png.count)
        return Response(status: .ok, headers: headers, body: try BytesAnswer.body(of: picture.png))
    }
}

/// The entity tags of an `If-None-Match` header.
///
/// Source: RFC 9110 section 13.1.2 (weak comparison)
struct EntityTags: Sendable {
    private let any: Bool
    private let tags: [Substring]

    init(_ header: String?) {
        let text = header ?? ""
        any = text == "*"
        tags = text.split(separator: ",").map { part in
            var tag = part.drop { $0 == " " }
            while tag.last == " " { tag.removeLast() }
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return tag.dropFirst().dropLast()
        }
    }

    func match(_ tag: String) -> Bool { any || tags.contains { $0 == tag } }
}

/// Where links in answers point to: the `publicURL` setting, else the address that the request came to.
enum BaseURL {
    static func of(_ request: Request, _ publicURL: String?) -> String {
        if let publicURL { return publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL }
        // The connection refuses others; a request from elsewhere can't get anything else into a link either.
        let authority = request.head.authority.flatMap { Authority.isValid($0) ? $0 : nil }
        return "http://\(authority ?? "127.0.0.1")"
    }
}
