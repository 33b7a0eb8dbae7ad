import BillowParameters
import Hummingbird

extension QueryReader {
    /// Reads the query parameters of a request.
    init(_ request: Request, known: Set<String>? = nil) throws(ParameterProblem) {
        try self.init(
            request.uri.queryParameters.lazy.map { (name: String($0.key), value: String($0.value)) }, known: known)
    }
}

extension DocumentParameters {
    /// Reads the query parameters of a request for a document.
    init(_ request: Request, formats: [Format] = [.json]) throws(ParameterProblem) {
        try self.init(QueryReader(request, known: Self.names), formats: formats)
    }
}

extension ViewerAddressParameters {
    /// Reads the query parameters of a request.
    init(_ request: Request) throws(ParameterProblem) {
        try self.init(request.uri.queryParameters.lazy.map { (name: String($0.key), value: String($0.value)) })
    }
}
