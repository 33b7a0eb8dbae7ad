import BillowEngine
import BillowParameters
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// A server error with a finished answer, for the log.
struct LoggedServerError: Error {
    let cause: any Error
    let response: Response
}

/// Error responses of WMS and WMTS.
///
/// A client error has status 400. A temporary server error has the same status as on other routes, and `Retry-After`.
enum OGCExceptionReport {
    private static let xmlType = "text/xml"
    /// Source: OGC 01-068r3 (WMS 1.1.1) annex A.3
    private static let oldType = "application/vnd.ogc.se_xml"
    static let mediaTypes = [xmlType, oldType]

    /// The meaning of an error for clients of these services.
    struct Failure {
        var exception: OGCException
        var status: HTTPResponse.Status
        var headers: HTTPFields = [:]
        /// A server error, which must be logged.
        var fault: (any Error)?

        /// The answer for the error.
        /// - Throws: `LoggedServerError` with the answer, for an error that must be logged.
        func answer(_ response: Response) throws(LoggedServerError) -> Response {
            if let fault { throw LoggedServerError(cause: fault, response: response) }
            return response
        }
    }

    static func wms(_ failure: Failure, _ version: WMSVersion) -> Response {
        let (exception, status, headers) = (failure.exception, failure.status, failure.headers)
        var xml = XMLWriter()
        // InvalidSRS is the name in WMS 1.1.1.
        let code = version == .v111 && exception.code == .invalidCRS ? "InvalidSRS" : exception.code.rawValue
        var attributes: [XMLWriter.Attribute] = []
        if exception.code != .noApplicableCode { attributes.append(("code", code)) }
        if version == .v130, let locator = exception.locator { attributes.append(("locator", locator)) }
        var root: [XMLWriter.Attribute] = [("version", version.rawValue)]
        if version == .v130 { root.append(("xmlns", "http://www.opengis.net/ogc")) }
        xml.element("ServiceExceptionReport", root) { xml in
            xml.element("ServiceException", attributes, exception.detail)
        }
        return answer(xml, type: version == .v130 ? xmlType : oldType, status: status, headers)
    }

    /// Source: OGC 06-121r3 (OWS Common 1.1) section 8
    static func ows(_ error: any Error) throws -> Response {
        let failure = try Self.failure(of: error, isOfWMS: false)
        let exception = failure.exception
        var attributes: [XMLWriter.Attribute] = [("exceptionCode", exception.code.rawValue)]
        if let locator = exception.locator { attributes.append(("locator", locator)) }
        var xml = XMLWriter()
        xml.element(
            "ows:ExceptionReport",
            [("xmlns:ows", "http://www.opengis.net/ows/1.1"), ("version", "1.1.0"), ("xml:lang", "en")]
        ) { xml in
            xml.element("ows:Exception", attributes) { xml in xml.element("ows:ExceptionText", exception.detail) }
        }
        return try failure.answer(answer(xml, type: xmlType, status: failure.status, failure.headers))
    }

    private static func answer(_ xml: XMLWriter, type: String, status: HTTPResponse.Status, _ headers: HTTPFields)
        -> Response
    {
        var headers = headers
        headers[.contentType] = type
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: .init(string: xml.text)))
    }

    /// - Throws: the error itself if it concerns the connection instead of the request.
    static func failure(of error: any Error, isOfWMS: Bool) throws -> Failure {
        switch error {
        case let exception as OGCException: return Failure(exception: native(exception, isOfWMS), status: .badRequest)
        case let problem as ParameterProblem:
            return Failure(exception: native(OGCException(problem), isOfWMS), status: .badRequest)
        case is CancellationError, EngineError.cancelled, is HTTPParserError, is HTTPError: throw error
        default: break
        }
        let problem =
            Problem(of: error)
            ?? Problem(.internalError, detail: "The server failed; the error was logged.")
        var headers: HTTPFields = [:]
        if let seconds = problem.retryAfterSeconds { headers[.retryAfter] = String(seconds) }
        let isServerError = problem.status.kind == .serverError
        let isTime = problem.code == .timeOutsideRetention
        let code: OGCException.Code =
            isTime ? .invalidDimensionValue : isServerError ? .noApplicableCode : .invalidParameterValue
        let exception = OGCException(code, isTime ? "TIME" : problem.parameter, detail: problem.detail)
        return Failure(
            exception: native(exception, isOfWMS), status: isServerError ? problem.status : .badRequest,
            headers: headers,
            fault: isServerError && !isRejected(error) ? error : nil)
    }

    /// Whether the work of a request was rejected, which is no fault.
    private static func isRejected(_ error: any Error) -> Bool {
        switch error {
        case is WorkError, EngineError.work: true
        default: false
        }
    }

    /// Replaces a code by a code of the standard.
    private static func native(_ exception: OGCException, _ isOfWMS: Bool) -> OGCException {
        let code: OGCException.Code =
            switch exception.code {
            case .layerNotDefined, .styleNotDefined, .invalidFormat, .invalidDimensionValue, .invalidCRS:
                isOfWMS ? exception.code : .invalidParameterValue
            default: exception.code
            }
        return OGCException(code, exception.locator, detail: exception.detail)
    }
}
