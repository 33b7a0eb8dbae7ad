import BillowEngine

/// A format of data queries, by its name in `output_formats`.
///
/// Source: OGC 19-086r6 (OGC API EDR) sections 10.2 and 10.4
package enum DataFormat: String, Sendable, CaseIterable {
    case geoJSON = "GeoJSON"
    case coverageJSON = "CoverageJSON"

    /// Source: RFC 7946 section 12; IANA media types (CoverageJSON)
    package var mediaType: String {
        switch self {
        case .geoJSON: "application/geo+json"
        case .coverageJSON: "application/prs.coverage+json"
        }
    }

    /// The values of `f` that select it.
    package var names: [String] {
        switch self {
        case .geoJSON: [rawValue, "geojson", "json"]
        case .coverageJSON: [rawValue, "covjson"]
        }
    }
}

extension QueryReader {
    /// The format that `f` names; nil without `f`.
    package func dataFormat(_ offered: [DataFormat]) throws(ParameterProblem) -> DataFormat? {
        guard let text = text("f") else { return nil }
        guard let format = offered.first(where: { $0.names.contains(text) }) else {
            throw invalid("f", text, offered.map(\.rawValue).joined(separator: " or ") + " here")
        }
        return format
    }
}
