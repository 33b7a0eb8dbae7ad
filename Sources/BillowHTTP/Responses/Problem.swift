import BillowEngine
import BillowStore
import Foundation
package import HTTPTypes
package import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import Turbulence
import JSONKit

/// An error response with its reason.
///
/// Source: RFC 9457 (Problem Details for HTTP APIs)
package struct Problem: Error, HTTPResponseError, Sendable {
    /// The code, which is stable for programs and determines the status.
    package let code: ProblemCode
    /// A sentence for people.
    package let detail: String
    package let parameter: String?
    package let value: String?
    package let allowed: String?
    package let retryAfterSeconds: Int?

    package init(
        _ code: ProblemCode, detail: String, parameter: String? = nil, value: String? = nil, allowed: String? = nil,
        retryAfterSeconds: Int? = nil
    ) {
        self.code = code
        self.detail = detail
        self.parameter = parameter
        self.value = value
        self.allowed = allowed
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// An invalid parameter.
    init(_ error: ParameterError, _ code: ProblemCode = .invalidParameter) {
        self.init(
            code, detail: "\(error.description).", parameter: error.parameter, value: error.value,
            allowed: error.expected)
    }

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

    /// The JSON document.
    func body() throws -> ByteBuffer {
        try JSONBytes.encode(
            Body(
                type: "about:blank", title: code.title, status: status.code, detail: detail, code: code.rawValue,
                parameter: parameter, value: value, allowed: allowed))
    }

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
            allowed: AllowedMethods.text(methods))
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
            value: request.headers[.range].map { String($0.prefix(100)) },
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
enum AnswerRules {
    /// Pages of any origin may read responses, and browsers must not guess a response's type.
    static let headers: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .accessControlAllowOrigin: "*",
        .accessControlExposeHeaders:
            "ETag, X-Frame-Time, X-Data-Time, X-Simulated, X-Incomplete, X-Field, Retry-After, Content-Length, "
            + "Link, Accept-Ranges, Content-Range, Content-Disposition, Content-Crs, Content-Bbox, X-Request-Id",
    ]

    /// The most bytes that are parsed: more than any client needs, and few enough to be cheap.
    static let longestURL = 8_192
}
