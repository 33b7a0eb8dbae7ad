import Hummingbird

/// An error response in the documented envelope: `data` has statusCode, code, error and message.
struct SkyPathErrorResponse: Error, Sendable {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var retryAfter: String?

    /// A schema violation, in the wording of Ajv.
    static func validation(_ message: String) -> SkyPathErrorResponse {
        SkyPathErrorResponse(status: .badRequest, code: "FST_ERR_VALIDATION", message: message)
    }

    static func badRequest(_ code: String, _ message: String) -> SkyPathErrorResponse {
        SkyPathErrorResponse(status: .badRequest, code: code, message: message)
    }

    static let unauthorized = SkyPathErrorResponse(
        status: .unauthorized, code: "UNAUTHORIZED", message: "Missing or invalid API key")

    static let tooManyRequests = SkyPathErrorResponse(
        status: .tooManyRequests, code: "TOO_MANY_REQUESTS",
        message: "Rate limit exceeded, retry in 1 minute",
        retryAfter: "60")

    var response: Response {
        let body =
            #"{"data":{"statusCode":\#(status.code),"code":"\#(code)","error":"\#(status.reasonPhrase)","#
            + #""message":"\#(escaped(message))"},"meta":{},"links":{},"warnings":{}}"#
        var response = JSONText.response(ByteBuffer(string: body), status: status)
        if let retryAfter { response.headers[.retryAfter] = retryAfter }
        return response
    }

    private func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
