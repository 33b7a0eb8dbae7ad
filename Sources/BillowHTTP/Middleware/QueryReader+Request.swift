import BillowParameters
import Hummingbird

extension QueryReader {
    /// The parameters of a request's address.
    init(_ request: Request, known: Set<String>? = nil) throws(ParameterProblem) {
        try self.init(
            request.uri.queryParameters.lazy.map { (name: String($0.key), value: String($0.value)) }, known: known)
    }
}
