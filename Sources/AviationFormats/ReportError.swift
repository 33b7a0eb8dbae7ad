import JSONKit

/// Why one report can't be read. Its neighbours are none the worse.
public enum ReportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not an object, or a feature without properties.
    case notAReport
    /// Without this there is no saying where or when.
    case missing(field: String)
    /// A value that can't be meant: which, what was given, and what would do.
    case invalid(field: String, value: String, expected: String)
    /// A hazard without an area: a line or a point, by the wire's own word.
    case notAnArea(String)
    /// A bulletin that says that there is no hazard.
    case noHazard

    /// The reason to count by, without the value.
    public enum Code: Sendable, Hashable, CustomStringConvertible {
        /// No record at all.
        case notAReport
        /// A member that must be there is missing.
        case missing(field: String)
        /// A member has a value that it can't have.
        case invalid(field: String)
        /// The geometry is no area.
        case notAnArea(String)
        /// No hazard is named.
        case noHazard

        /// A few words for people.
        public var description: String {
            switch self {
            case .notAReport: "not a report"
            case .missing(let field): "missing \(field)"
            case .invalid(let field): "invalid \(field)"
            case .notAnArea(let shape): "not an area: \(shape.printable)"
            case .noHazard: "none issued"
            }
        }

        /// Whether nothing is missing without the report: it is as it should be, and no area.
        public var isHarmless: Bool {
            switch self {
            case .notAnArea, .noHazard: true
            case .notAReport, .missing, .invalid: false
            }
        }
    }

    /// The reason to count by.
    public var code: Code {
        switch self {
        case .notAReport: .notAReport
        case .missing(let field): .missing(field: field)
        case .invalid(let field, _, _): .invalid(field: field)
        case .notAnArea(let shape): .notAnArea(shape)
        case .noHazard: .noHazard
        }
    }

    /// Whether nothing is missing without the report: it is as it should be, and no area.
    public var isHarmless: Bool { code.isHarmless }

    public var description: String {
        switch self {
        case .notAReport: "neither an aircraft report nor a hazard"
        case .missing(let field): "\(field) is missing"
        case .invalid(let field, let value, let expected): "\(field) is '\(value)'; it must be \(expected)"
        case .notAnArea(let shape): "a \(shape), not an area"
        case .noHazard: "says that no hazard is issued"
        }
    }

    static func invalid(_ field: String, _ value: String, _ expected: String) -> ReportError {
        .invalid(
            field: field, value: (value.count > 100 ? String(value.prefix(100)) + "…" : value).printable,
            expected: expected)
    }
}

/// Why a whole answer can't be read.
public enum DocumentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Neither of the three forms.
    case unknownForm
    /// A page for people.
    case html
    /// JSON that doesn't parse: cut off or damaged, with the parser's words.
    case malformed(String)
    /// The service's own error body.
    case service(String)

    public var description: String {
        switch self {
        case .unknownForm: "neither a JSON array, a GeoJSON FeatureCollection nor an ADDS CSV"
        case .html: "an HTML page instead of an answer"
        case .malformed(let reason): "malformed JSON: \(reason)"
        case .service(let reason): "the service answered with an error: \(reason.prefix(500).printable)"
        }
    }
}
