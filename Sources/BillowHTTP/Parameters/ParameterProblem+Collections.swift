import BillowEngine
import BillowExchange
package import Datasets

extension ParameterProblem {
    package static func unknownCollection(_ id: some StringProtocol) -> ParameterProblem {
        ParameterProblem(
            .unknownCollection, detail: "There is no collection '\(id.prefix(100))'.",
            parameter: "collection", value: String(id.prefix(100)),
            allowed: Catalogue.all.map(\.id).joined(separator: ", "))
    }

    /// A collection of features does not support position queries.
    package static func noPositions(_ collection: Dataset) -> ParameterProblem {
        ParameterProblem(
            .unknownCollection, detail: "The collection '\(collection.id)' has no values at positions.",
            parameter: "collection", value: collection.id,
            allowed: Catalogue.all.filter { $0.content == .field }.map(\.id).joined(separator: ", "))
    }
}
