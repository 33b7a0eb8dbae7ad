import JSONKit

/// Why a report can't be parsed. Other reports aren't affected.
public enum ReportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The record isn't an object, or is a feature without properties.
    case notAReport
    /// A mandatory field is missing: the place or time would be unknown.
    case missing(field: String)
    /// A value is out of range: its field, the value, and the allowed values.
    case invalid(field: String, value: String, expected: String)
    /// The geometry is a line or a point, by the word in the record.
    case notAnArea(String)
    /// The bulletin says that there is no hazard.
    case noHazard

    /// The reason without the value, for counting.
    public enum Code: Sendable, Hashable, CustomStringConvertible {
        /// Not a record.
        case notAReport
        /// A mandatory member is missing.
        case missing(field: String)
        /// A member has an invalid value.
        case invalid(field: String)
        /// The geometry isn't an area.
        case notAnArea(String)
        /// The bulletin says that there is no hazard.
        case noHazard

        /// A short description for users.
        public var description: String {
            switch self {
            case .notAReport: "not a report"
            case .missing(let field): "missing \(field)"
            case .invalid(let field): "invalid \(field)"
            case .notAnArea(let shape): "not an area: \(shape.printable)"
            case .noHazard: "none issued"
            }
        }

        /// Whether the record is valid but no area, so that no data is missing without it.
        public var isHarmless: Bool {
            switch self {
            case .notAnArea, .noHazard: true
            case .notAReport, .missing, .invalid: false
            }
        }
    }

    /// The reason for counting.
    public var code: Code {
        switch self {
        case .notAReport: .notAReport
        case .missing(let field): .missing(field: field)
        case .invalid(let field, _, _): .invalid(field: field)
        case .notAnArea(let shape): .notAnArea(shape)
        case .noHazard: .noHazard
        }
    }

    /// Whether the record is valid but no area, so that no data is missing without it.
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

/// Why a whole response can't be parsed.
public enum DocumentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The body has none of the known formats.
    case unknownForm
    /// The body is an HTML page.
    case html
    /// The body isn't JSON from this byte on, or is truncated there.
    case notJSON(atByte: Int)
    /// The body is the service's error message.
    case service(String)

    public var description: String {
        switch self {
        case .unknownForm: "neither a JSON array, a GeoJSON FeatureCollection nor an ADDS CSV"
        case .html: "an HTML page instead of an answer"
        case .notJSON(let byte): "not JSON at byte \(byte)"
        case .service(let reason): "the service answered with an error: \(reason.prefix(500).printable)"
        }
    }
}
