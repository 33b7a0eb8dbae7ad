import BillowEngine
import BillowParameters
import BillowStore
import Foundation
package import HTTPTypes
package import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
package import Turbulence
import JSONKit

/// An error response with its reason.
///
/// Source: RFC 9457 (Problem Details for HTTP APIs)
package struct Problem: Error, HTTPResponseError, Sendable {
    /// The code, which is stable for programs and determines the status.
    package let code: ProblemCode
    /// A sentence for people.
    package let detail: String
    /// The offending part of the request, with its value and the allowed ones; nil where no part is to blame.
    package let error: ParameterError?
    package let retryAfterSeconds: Int?

    /// A problem for which no part of the request is to blame.
    package init(_ code: ProblemCode, detail: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.detail = detail
        error = nil
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// A problem of one part of the request: its name, the client's value and what may stand there.
    package init(_ code: ProblemCode, detail: String, parameter: String, value: String, allowed: String) {
        self.code = code
        self.detail = detail
        error = ParameterError(parameter: parameter, value: value, expected: allowed)
        retryAfterSeconds = nil
    }

    /// An invalid parameter.
    init(_ error: ParameterError, _ code: ProblemCode = .invalidParameter, detail: String? = nil) {
        self.code = code
        self.detail = detail ?? "\(error.description)."
        self.error = error
        retryAfterSeconds = nil
    }

    package var parameter: String? { error?.parameter }
    package var value: String? { error?.value }
    package var allowed: String? { error?.expected }

    package var status: HTTPResponse.Status { code.status }

    private struct Body: Encodable {
        var type: String
        var title: String
        var status: Int
        var detail: String
        var code: String
        var parameter: String?
        var value: String?
        var allowed: String?
    }

    private var members: Body {
        Body(
            type: "about:blank", title: code.title, status: status.code, detail: detail, code: code.rawValue,
            parameter: parameter, value: value, allowed: allowed)
    }

    /// The JSON document.
    func body() throws -> ByteBuffer { try JSONBytes.encode(members) }

    /// The document as a tree, for a member of another document.
    var document: JSONValue { get throws { try JSONBytes.value(of: members) } }

    /// The headers of the response, except the length.
    var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
        if code == .methodNotAllowed { headers[.allow] = allowed }
        if status == .unauthorized { headers[.wwwAuthenticate] = "X-API-Key realm=\"billow\"" }
        return headers
    }

    package func response(from request: Request, context: some RequestContext) throws -> Response {
        let bytes = try body()
        var headers = headers
        headers[.contentLength] = String(bytes.readableBytes)
        return Response(status: status, headers: headers, body: .init(byteBuffer: bytes))
    }
}

extension Problem {
    /// - Parameter methods: the methods of the path.
    static func methodNotAllowed(_ request: Request, _ methods: [HTTPRequest.Method]) -> Problem {
        Problem(
            .methodNotAllowed,
            detail: "\(request.method.rawValue.prefix(20)) is not possible at \(request.uri.path.prefix(200)).",
            parameter: "method", value: request.method.rawValue, allowed: AllowedMethods.text(methods))
    }
}

extension Problem {
    /// The response to a `Range` beyond the end.
    ///
    /// Source: RFC 9110 section 15.5.17
    static func unsatisfiableRange(of size: Int, _ request: Request, _ context: some RequestContext) throws -> Response
    {
        var response = try Problem(
            .rangeNotSatisfiable, detail: "The file has \(size) bytes.", parameter: "Range",
            value: request.headers[.range] ?? ParameterProblem.missing,
            allowed: size > 0 ? "bytes 0 to \(size - 1)" : "none: it is empty"
        ).response(from: request, context: context)
        response.headers[.contentRange] = "bytes */\(size)"
        return response
    }
}

/// The JSON encoding of all responses: sorted keys, no escaped slashes.
enum JSONBytes {
    static func encode(_ value: some Encodable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }

    /// The document as a tree.
    static func value(of value: some Encodable) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(try encode(value).readableBytesView))
    }
}

/// The headers of every response.
enum ResponseRules {
    /// Pages of any origin may read responses, and browsers must not guess a response's type.
    static let headers: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .accessControlAllowOrigin: "*",
        .accessControlExposeHeaders:
            "ETag, X-Frame-Time, X-Data-Time, X-Simulated, X-Incomplete, X-Field, X-Omitted, Retry-After, "
            + "Content-Length, Link, Accept-Ranges, Content-Range, Content-Disposition, Content-Crs, Content-Bbox, "
            + "X-Request-Id, Location, Allow, WWW-Authenticate, RateLimit, RateLimit-Policy",
    ]

    /// The most bytes that are parsed: more than any client needs, and few enough to be cheap.
    static let longestURL = 8_192
}
