package import BillowExchange
package import Datasets

/// The path of `/export/{collection}.{format}`; its query has the parameters of `FeatureParameters`.
///
/// | part | type | range |
/// | --- | --- | --- |
/// | collection | a collection's id | `Dataset` |
/// | format | a format's ending | geojson, geojsonl, geojsons, csv |
package struct ExportParameters: Sendable {
    package let collection: Dataset
    package let format: ExportFormat

    package init(file: String) throws(ParameterProblem) {
        let parts = file.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let collection = Catalogue.dataset(parts.first ?? "") else {
            throw .unknownCollection(parts.first ?? "")
        }
        guard parts.count == 2, let format = ExportFormat(rawValue: String(parts[1])) else {
            throw ParameterProblem(
                .unknownFormat,
                detail: "There is no format '\(parts.dropFirst().joined().prefix(100))'.",
                parameter: "format", value: String(parts.dropFirst().joined().prefix(100)),
                allowed: ExportFormat.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.collection = collection
        self.format = format
    }
}
