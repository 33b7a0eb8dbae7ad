import BillowEngine
import BillowExchange
import Datasets

extension ParameterProblem {
    package static func unknownCollection(_ id: some StringProtocol) -> ParameterProblem {
        ParameterProblem(
            .unknownCollection, detail: "There is no collection '\(id.prefix(100))'.",
            parameter: "collection", value: String(id.prefix(100)),
            allowed: Catalogue.all.map(\.id).joined(separator: ", "))
    }
}
