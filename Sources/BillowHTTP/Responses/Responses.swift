import BillowEngine
import BillowFields
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
    static let field = Self.make("X-Field")
    static let omitted = Self.make("X-Omitted")
    static let link = Self.make("Link")
    static let accessControlExposeHeaders = Self.make("Access-Control-Expose-Headers")

    /// Can't fail: the names above are valid tokens.
    static func make(_ name: String) -> Self {
        guard let field = Self(name) else { preconditionFailure("\(name) is no header name") }
        return field
    }
}

extension HTTPFields {
    /// Names the requested parts of a picture for which there was no room.
    mutating func omit(_ parts: [String]) {
        if !parts.isEmpty { self[.omitted] = parts.joined(separator: ", ") }
    }
}

/// The headers of every response with data.
enum ResponseHeaders {
    /// - Parameter freshSeconds: the seconds for which the response may be cached.
    static func make(_ dataStatus: DataStatus, freshSeconds: Int) -> HTTPFields {
        var headers: HTTPFields = [.frameTime: dataStatus.instant.description]
        if let dataTime = dataStatus.freshness.dataTime { headers[.dataTime] = dataTime.description }
        // Only tells people and caches the time: conditions are evaluated by entity tags, which are exact.
        if let publishedAt = dataStatus.publishedAt { headers[.lastModified] = HTTPDate.text(of: publishedAt) }
        if dataStatus.freshness.isSimulated { headers[.simulated] = "true" }
        if dataStatus.isIncomplete { headers[.incomplete] = "true" }
        if let field = dataStatus.field {
            headers[.field] =
                "product=\(field.product.name), run=\"\(field.run)\", validTime=\"\(field.validTime)\", "
                + "lead=\(field.lead)"
        }
        headers[.cacheControl] = cacheControl(freshSeconds: freshSeconds)
        return headers
    }

    /// While a cache revalidates, it may serve the expired response for a few seconds. So nobody waits when all tiles
    /// of a view expire together.
    ///
    /// Source: RFC 5861 section 3
    static func cacheControl(freshSeconds: Int) -> String {
        freshSeconds > 0
            ? "public, max-age=\(freshSeconds), stale-while-revalidate=\(revalidationSeconds)" : "public, max-age=0"
    }

    /// Long enough for a revalidation over a slow link, and short beside the minute between two pictures.
    static let revalidationSeconds = 5
}

/// A JSON response with an entity tag of its bytes.
enum JSONResponse {
    /// - Parameter headers: the headers of the response, including `Cache-Control`.
    static func make(
        _ value: some Encodable, headers: HTTPFields, contentType: String = "application/json",
        status: HTTPResponse.Status = .ok, request: Request
    ) throws -> Response {
        let body = Array(try JSONBytes.encode(value).readableBytesView)
        var headers = headers
        headers[.contentType] = contentType
        let tag = String(ContentHash.fnv1a(body), radix: 16)
        headers[.eTag] = "\"\(tag)\""
        if status == .ok, EntityTags(request.headers[.ifNoneMatch]).match(tag) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentLength] = String(body.count)
        return Response(status: status, headers: headers, body: try BytesResponse.body(of: body))
    }
}

/// A response of bytes with an entity tag of them.
enum BytesResponse {
    /// - Throws: `WorkError.tooManyAnswers`.
    static func make(_ bytes: [UInt8], headers: HTTPFields, request: Request) throws(WorkError) -> Response {
        var headers = headers
        let tag = String(ContentHash.ofWords(bytes), radix: 16)
        headers[.eTag] = "\"\(tag)\""
        if EntityTags(request.headers[.ifNoneMatch]).match(tag) {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: try body(of: bytes))
    }

    /// A body that is sent in slices if it is large. The connection then holds a copy of one slice only, while caches
    /// and other responses share the bytes.
    static func body(of bytes: [UInt8], budget: ResponseBudget = .ofServer) throws(WorkError) -> ResponseBody {
        guard let reservation = try budget.reserve(bytes) else {
            return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        }
        return ResponseBody(contentLength: bytes.count) { writer in
            try await write(bytes, to: &writer)
            try await writer.finish(nil)
            withExtendedLifetime(reservation) {}
        }
    }

    static func write(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
        for start in stride(from: 0, to: bytes.count, by: slice) {
            try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + slice, bytes.count)]))
        }
    }

    static let slice = 64 << 10
}

/// An image response, or 304 if the client has it.
enum PictureResponse {
    static func make(_ picture: EncodedPicture, headers: HTTPFields, known: EntityTags) throws(WorkError)
        -> Response
    {
        var headers = headers
        headers[.eTag] = "\"\(picture.entityTag)\""
        if known.match(picture.entityTag) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = "image/png"
        headers[.contentLength] = String(picture.png.count)
        return Response(status: .ok, headers: headers, body: try BytesResponse.body(of: picture.png))
    }
}

/// The entity tags of an `If-None-Match` header.
///
/// Source: RFC 9110 section 13.1.2 (weak comparison)
struct EntityTags: Sendable {
    private let any: Bool
    private let tags: [Substring]

    init(_ header: String?) {
        let parts = (header ?? "").split(separator: ",").map { part in
            var part = part.drop { $0 == " " }
            while part.last == " " { part.removeLast() }
            return part
        }
        any = parts == ["*"]
        tags = parts.map { part in
            var tag = part
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return Self.withoutCoding(tag.dropFirst().dropLast())
        }
    }

    /// Whether the client has the content of a tag, in whatever coding.
    func match(_ tag: String) -> Bool { any || tags.contains { $0 == tag } }

    // MARK: - Tags of compressed bodies

    /// The codings whose bytes have a tag of their own.
    static let codings: [ContentCoding] = [.gzip, .zstandard, .brotli]

    /// The tag of the compressed bytes of a content: the content's tag with the coding's name. It is strong, because
    /// the same content is always compressed to the same bytes.
    ///
    /// Source: RFC 9110 section 8.8.3.3
    static func coded(_ tag: String, _ coding: ContentCoding) -> String {
        "\(tag.dropLast())\(separator)\(coding.rawValue)\""
    }

    /// The tag of a body that is compressed while it is sent. `If-None-Match` compares weakly and still matches;
    /// `If-Range` compares strongly and doesn't.
    static func weak(_ tag: String) -> String { tag.hasPrefix("W/") ? tag : "W/\(tag)" }

    /// Content tags never contain it.
    private static let separator = "+"

    private static func withoutCoding(_ tag: Substring) -> Substring {
        for coding in codings {
            let suffix = "\(separator)\(coding.rawValue)"
            if tag.hasSuffix(suffix) { return tag.dropLast(suffix.count) }
        }
        return tag
    }
}

/// The base URL of links in responses: the `publicURL` setting, else the authority of the request.
enum BaseURL {
    static func of(_ request: Request, _ publicURL: String?) -> String {
        if let publicURL { return publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL }
        // The connection rejects invalid authorities. This check also protects requests that come another way.
        let authority = request.head.authority.flatMap { Authority.isValid($0) ? $0 : nil }
        return "\(request.head.scheme ?? "http")://\(authority ?? "127.0.0.1")"
    }

    /// The path of the base URL, below which a proxy offers the server; empty for none.
    static func path(_ publicURL: String?) -> String {
        let path = publicURL.flatMap { URL(string: $0)?.path } ?? ""
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
