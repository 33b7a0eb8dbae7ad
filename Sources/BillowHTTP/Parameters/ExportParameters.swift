package import BillowEngine
import BillowExchange
package import Datasets

/// The path of `/export/{what}.{format}`, or `/export/{what}` with a format of features in `f` or `Accept`. Exports of
/// features have the query parameters of `FeatureParameters`, packs those of `PackParameters`.
///
/// | part | type | range |
/// | --- | --- | --- |
/// | what | a collection's id; of packs layers by comma | `Dataset` |
/// | format | a format's ending | `DownloadFormat` |
package struct ExportParameters: Sendable {
    /// The text before the suffix.
    package let what: String
    package let format: DownloadFormat
    /// Whether `f` or `Accept` decided about the format.
    package let isNegotiated: Bool

    /// - Parameters:
    ///   - named: the value of `f`.
    ///   - accepted: the format of features that `Accept` prefers.
    package init(file: String, named: String? = nil, accepted: DownloadFormat = .text(.geojson))
        throws(ParameterProblem)
    {
        let parts = file.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        what = parts[0]
        isNegotiated = parts.count < 2
        let ending = parts.count == 2 ? parts[1] : named
        let format: DownloadFormat? =
            switch (isNegotiated, ending) {
            case (false, let ending?): DownloadFormat(ending: ending)
            case (true, let name?): DownloadFormat(name: name)
            case (_, nil): accepted
            }
        // An unknown collection is reported before an unknown format.
        if format?.isPack != true { _ = try Self.collection(what) }
        guard let format else {
            let ending = ending ?? ""
            throw ParameterProblem(
                parts.count == 2 ? .unknownFormat : .invalidParameter,
                detail: "There is no format '\(ending.prefix(100))'.", parameter: parts.count == 2 ? "format" : "f",
                value: String(ending.prefix(100)),
                allowed: (parts.count == 2 ? DownloadFormat.allCases.map(\.ending) : Self.formatNames)
                    .joined(separator: ", "))
        }
        self.format = format
    }

    /// The values of `f`: the endings of features' formats, and GeoJSON also as `json`.
    package static let formatNames = ["json"] + DownloadFormat.ofFeatures.map(\.ending)

    /// The collection to export.
    package var collection: Dataset { get throws(ParameterProblem) { try Self.collection(what) } }

    /// Checks that `f` doesn't contradict the path.
    func checkFormat(_ reader: QueryReader) throws(ParameterProblem) {
        guard let name = reader.text("f"), DownloadFormat(name: name) != format else { return }
        throw reader.invalid("f", name, format.ending)
    }

    private static func collection(_ id: String) throws(ParameterProblem) -> Dataset {
        guard let collection = Catalogue.dataset(id) else { throw .unknownCollection(id[...]) }
        return collection
    }
}

extension DownloadFormat {
    /// The format of features that a value of `f` names; nil for another value.
    fileprivate init?(name: String) {
        guard ExportParameters.formatNames.contains(name) else { return nil }
        self.init(ending: name == "json" ? ExportFormat.geojson.rawValue : name)
    }
}
