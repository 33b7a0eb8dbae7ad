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

    /// A collection does not offer a query.
    package static func notOffered(_ query: EDRQuery, _ collection: Dataset) -> ParameterProblem {
        ParameterProblem(
            .queryNotOffered, detail: "The collection '\(collection.id)' has no query '\(query.rawValue)'.",
            parameter: "collection", value: collection.id,
            allowed: Catalogue.all.filter(query.isOffered).map(\.id).joined(separator: ", "))
    }
}
