package import BillowEngine
package import Datasets

/// The path of `/export/{what}.{format}`. Exports of features have the query parameters of `FeatureParameters`, packs
/// those of `PackParameters`.
///
/// | part | type | range |
/// | --- | --- | --- |
/// | what | a collection's id; of packs layers by comma | `Dataset` |
/// | format | a format's ending | `DownloadFormat` |
package struct ExportParameters: Sendable {
    /// The text before the suffix.
    package let what: String
    package let format: DownloadFormat

    package init(file: String) throws(ParameterProblem) {
        let parts = file.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        what = parts[0]
        let ending = parts.count == 2 ? parts[1] : ""
        let format = DownloadFormat(ending: ending)
        // An unknown collection is reported before an unknown format.
        if format?.isPack != true { _ = try Self.collection(what) }
        guard let format else {
            throw ParameterProblem(
                .unknownFormat, detail: "There is no format '\(ending.prefix(100))'.", parameter: "format",
                value: String(ending.prefix(100)),
                allowed: DownloadFormat.allCases.map(\.ending).joined(separator: ", "))
        }
        self.format = format
    }

    /// The collection to export.
    package var collection: Dataset { get throws(ParameterProblem) { try Self.collection(what) } }

    private static func collection(_ id: String) throws(ParameterProblem) -> Dataset {
        guard let collection = Catalogue.dataset(id) else { throw .unknownCollection(id[...]) }
        return collection
    }
}
