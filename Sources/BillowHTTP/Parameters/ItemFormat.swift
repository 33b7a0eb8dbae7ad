import BillowEngine
package import BillowExchange
import Datasets

/// A format of pages of features, by its names in `f` and its media type in `Accept`.
package enum ItemFormat: Sendable, Hashable, CaseIterable {
    /// Features as text. KML isn't among them, because its folders need all features.
    case text(ExportFormat)
    /// A page for people.
    case html

    package static let geoJSON = ItemFormat.text(.geojson)

    /// The default comes first.
    package static let allCases: [ItemFormat] = ExportFormat.imported.map { .text($0) } + [.html]

    /// The value of `f` in links.
    package var name: String {
        switch self {
        case .text(let format): format.rawValue
        case .html: DocumentParameters.Format.html.rawValue
        }
    }

    /// The values of `f` that select it.
    package var names: [String] { self == .geoJSON ? DataFormat.geoJSON.names : [name] }

    /// The media type without parameters.
    package var mediaType: String {
        switch self {
        case .text(let format): String(format.mediaType.prefix { $0 != ";" })
        case .html: "text/html"
        }
    }
}

extension QueryReader {
    /// The format that `f` names; nil without `f`.
    func itemFormat(of collection: Dataset) throws(ParameterProblem) -> ItemFormat? {
        guard let text = text("f") else { return nil }
        let formats = ItemFormat.allCases
        if let format = formats.first(where: { $0.names.contains(text) }) { return format }
        var allowed = formats.flatMap(\.names).joined(separator: ", ")
        if let file = DownloadFormat.ofFeatures.first(where: { $0.ending == text }) {
            allowed += "; /export/\(collection.id).\(file.ending) has all features in this format"
        }
        throw invalid("f", text, allowed)
    }
}
