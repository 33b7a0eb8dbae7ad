package import BillowEngine
import BillowExchange
package import Datasets

/// The parameters of `/collections/{id}/items`: those of `FeatureParameters` and `PageParameters`, with `ItemFormat` as
/// the values of `f`.
package struct ItemParameters: Sendable {
    package let features: FeatureParameters
    package let page: PageParameters
    package let format: ItemFormat
    private let reader: QueryReader

    /// The number of features on an HTML page, unless a limit is given.
    private static let pageLimit = 100

    /// - Parameter accepted: the format that `Accept` prefers.
    package init(_ reader: QueryReader, of collection: Dataset, accepted: ItemFormat) throws {
        self.reader = reader
        format = try reader.itemFormat(of: collection) ?? accepted
        features = try FeatureParameters(reader, of: collection)
        page = try PageParameters(reader, of: collection, defaultLimit: format == .html ? Self.pageLimit : nil)
    }

    /// The query of the same features in another format.
    package func query(as format: ItemFormat) -> String {
        reader.replacing(["f": format.name, "limit": String(page.limit)])
    }

    /// The query of one of these features, with the same time and filters: `?…`, or nothing.
    package var ofOne: String {
        reader.passedOn(FeatureParameters.names(features.collection).subtracting(["f"]))
    }
}

/// The parameters of `/collections/{id}/items/{featureId}`: those of `FeatureParameters`, with GeoJSON and `html` as
/// the formats.
package struct ItemByIDParameters: Sendable {
    package let features: FeatureParameters
    /// The selected format; nil where `Accept` decides.
    package let format: DocumentParameters.Format?
    private let reader: QueryReader

    package init(_ reader: QueryReader, of collection: Dataset) throws(ParameterProblem) {
        self.reader = reader
        if reader.text("f") == DocumentParameters.Format.html.rawValue {
            format = .html
        } else {
            try reader.requireJSON("geojson")
            format = reader.text("f").map { _ in .json }
        }
        features = try FeatureParameters(reader, of: collection)
    }

    /// The query of the same feature as GeoJSON.
    package var asGeoJSON: String { reader.replacing(["f": "geojson"]) }
    /// The query of the same feature as a page.
    package var asPage: String { reader.replacing(["f": DocumentParameters.Format.html.rawValue]) }
}

/// The parameters of `/export/{collection}.{format}`: those of `FeatureParameters`, with the path's format as the only
/// one, and these:
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `limit` | whole number of features; text other than KML | from 1; above 10000000 it is 10000000 | all |
/// | `after` | what a `next` link says; text other than KML | | from the first one |
/// | `estimate` | true tells only how large the export would be | | false |
package struct FeatureExportParameters: Sendable {
    package let features: FeatureParameters
    /// The most features of this part; nil for all.
    package let limit: Int?
    /// nil for an export from the first feature on.
    package let start: PageStart?
    /// Whether the client requests only the size.
    package let isEstimate: Bool
    /// The whole query, in a fixed order.
    package let query: String

    package static let maximumLimit = 10_000_000

    package static func names(_ collection: Dataset, _ format: DownloadFormat, isNegotiated: Bool) -> Set<String> {
        var names = FeatureParameters.names(collection).union(["estimate"])
        if format.hasParts { names.formUnion(["limit", "after"]) }
        return isNegotiated ? names : names.subtracting(["f"])
    }

    package init(_ reader: QueryReader, _ path: ExportParameters) throws {
        try path.checkFormat(reader)
        features = try FeatureParameters(reader, of: try path.collection)
        limit = try reader.count("limit", upTo: Self.maximumLimit)
        start = try PageStart(reader)
        // A bare `?estimate` counts as true.
        isEstimate = try reader.text("estimate")?.isEmpty == true ? true : reader.boolean("estimate") ?? false
        if isEstimate, let name = ["after", "limit"].first(where: { reader.has($0) }) {
            throw reader.invalid(name, reader.text(name) ?? "", "left out with estimate, which is of the whole export")
        }
        query = reader.replacing([:])
    }
}

extension DownloadFormat {
    /// Whether features can be divided among several files.
    package var hasParts: Bool {
        if case .text(let format) = self { format != .kml } else { false }
    }
}
