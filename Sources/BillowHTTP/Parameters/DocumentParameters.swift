/// The parameters of documents: of `/ogc`, `/conformance`, `/collections`, `/collections/{id}`, `…/schema`,
/// `…/queryables`, `/tileMatrixSets` and the lists of tile sets.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `f` | format | json; html too where a page has the same content | by `Accept` |
package struct DocumentParameters: Sendable {
    /// A format of documents, by its name in `f`.
    package enum Format: String, Sendable, CaseIterable {
        case json, html
    }

    /// The selected format; nil where `Accept` decides.
    package let format: Format?

    package static let names: Set<String> = ["f"]

    /// - Parameter formats: those that the document has.
    package init(_ reader: QueryReader, formats: [Format] = [.json]) throws(ParameterProblem) {
        format = try reader.choice("f", formats.map { ($0.rawValue, $0) })
    }
}

/// The parameters of `/` and `/status`, which are pages of the viewer for browsers. Other parameters are the page's, so
/// none of them is an error.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `f` | format | json, html | by `Accept` |
package struct ViewerAddressParameters: Sendable {
    /// Whether the document is selected; nil where `Accept` decides.
    package let selectsDocument: Bool?

    package init(_ items: some Sequence<(name: String, value: String)>) throws(ParameterProblem) {
        let reader = try QueryReader(items.filter { $0.name == "f" })
        selectsDocument = try DocumentParameters(reader, formats: [.json, .html]).format.map { $0 == .json }
    }
}

/// The parameters of `/openapi.json`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `f` | version of the description | `OpenAPIVersion` | by `Accept` |
package struct OpenAPIParameters: Sendable {
    /// nil where `Accept` decides.
    package let version: OpenAPIVersion?

    package static let names: Set<String> = ["f"]

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        version = try reader.choice("f", OpenAPIVersion.allCases.map { ($0.rawValue, $0) })
    }
}

/// A version of the OpenAPI Specification, by its name in `f`: `json` is 3.1.
package enum OpenAPIVersion: String, Sendable, CaseIterable {
    case json, oas30

    /// The number in the description.
    package var number: String { self == .json ? "3.1.1" : "3.0.4" }

    /// Source: OGC 17-069r4 (OGC API Features part 1) section 9.2
    package var mediaType: String {
        "application/vnd.oai.openapi+json;version=\(self == .json ? "3.1" : "3.0")"
    }
}
