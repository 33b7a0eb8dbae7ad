import JSONKit

/// A record, or a whole file, that an import rejected.
package struct RefusedRecord: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line on which it begins, from 1.
    package var line: Int
    /// Its number among the file's records, from 1; 0 for the whole file.
    package var record: Int
    package var reason: RefusalReason

    package init(line: Int, record: Int, reason: RefusalReason) {
        self.line = line
        self.record = record
        self.reason = reason
    }

    package var description: String {
        record == 0 ? "line \(line): \(reason)" : "line \(line), record \(record): \(reason)"
    }
}

/// The stable codes of `refused` in the response of `POST /observations`.
package enum RefusalCode: String, Sendable, CaseIterable, Codable {
    case unknownFormat = "unknown-format"
    case syntaxError = "syntax-error"
    case truncated
    case nestedTooDeeply = "nested-too-deeply"
    case tooLong = "too-long"
    case notUTF8 = "not-utf8"
    case notAnObservation = "not-an-observation"
    case aggregatedHexagon = "aggregated-hexagon"
    case missingField = "missing-field"
    case invalidField = "invalid-field"
    case contradiction
    case coarserCell = "coarser-cell"
    case inTheFuture = "in-the-future"
    case duplicateColumn = "duplicate-column"
    case olderThanRetention = "older-than-retention"
    case foreignSource = "foreign-source"

    /// The meaning of the code for the documentation.
    package var meaning: String {
        switch self {
        case .unknownFormat: "the format of the record is unknown"
        case .syntaxError: "the record is not valid JSON"
        case .truncated: "the body ends within the record"
        case .nestedTooDeeply: "the record is nested deeper than 64 levels"
        case .tooLong: "the record is longer than the limit"
        case .notUTF8: "the record is not UTF-8"
        case .notAnObservation: "the record is not a turbulence observation"
        case .aggregatedHexagon: "the record is an aggregated hexagon, not an observation"
        case .missingField: "the record lacks the field that `field` names"
        case .invalidField: "the field that `field` names has an unusable value"
        case .contradiction: "two values of the record contradict each other"
        case .coarserCell: "the cell is larger than H3 resolution 5"
        case .inTheFuture: "`observedAt` is more than 5 minutes ahead of the clock"
        case .duplicateColumn: "two columns name the same field"
        case .olderThanRetention: "`observedAt` is older than the retention"
        case .foreignSource: "the source is fetched from its upstream and accepts no records"
        }
    }
}

/// The reason for a rejection.
package enum RefusalReason: Error, Sendable, Hashable, CustomStringConvertible {
    /// Neither GeoJSON nor CSV nor a supported format of pilot reports, with a description of the content.
    case unknownFormat(String)
    /// Invalid JSON or CSV.
    case syntax(String)
    /// The file ends within a record.
    case truncated
    /// Nested deeper than 64 levels.
    case tooDeep
    /// Longer than the limit for a record, in bytes.
    case tooLong(limit: Int)
    case notUTF8
    /// Valid JSON, but neither a Feature nor a pilot report.
    case notAFeature
    /// An aggregated hexagon, from which the original observations can't be recovered.
    case aggregated
    /// A required field, by its canonical name.
    case missing(String)
    /// Neither a severity nor an EDR.
    case withoutIntensity
    /// An invalid value.
    case invalid(field: String, value: String, expected: String)
    /// Two values that contradict each other.
    case contradiction(String)
    /// A cell larger than resolution 5.
    case coarserCell(h3: String, resolution: Int)
    /// The observation time is too far ahead of the clock.
    case future(observedAt: String)
    /// Two CSV columns with the same meaning.
    case duplicateColumn(String)

    /// The code of the reason, for programs.
    package var code: RefusalCode {
        switch self {
        case .unknownFormat: .unknownFormat
        case .syntax: .syntaxError
        case .truncated: .truncated
        case .tooDeep: .nestedTooDeeply
        case .tooLong: .tooLong
        case .notUTF8: .notUTF8
        case .notAFeature: .notAnObservation
        case .aggregated: .aggregatedHexagon
        case .missing, .withoutIntensity: .missingField
        case .invalid: .invalidField
        case .contradiction: .contradiction
        case .coarserCell: .coarserCell
        case .future: .inTheFuture
        case .duplicateColumn: .duplicateColumn
        }
    }

    /// The affected field, by its canonical name; nil if there is none.
    package var field: String? {
        switch self {
        case .missing(let field), .invalid(let field, _, _), .duplicateColumn(let field): field
        case .withoutIntensity: "severity"
        case .coarserCell: "h3"
        case .future: "observedAt"
        default: nil
        }
    }

    /// The unusable value as it was given, shortened; nil if there is none.
    package var value: String? {
        switch self {
        case .invalid(_, let value, _), .coarserCell(let value, _), .future(let value): value
        default: nil
        }
    }

    /// The values that the field can have; nil if there is no field.
    package var allowed: String? {
        switch self {
        case .invalid(_, _, let expected): expected
        case .coarserCell: "a cell of resolution 5 or finer"
        case .future: "at most 5 minutes ahead of the clock"
        default: nil
        }
    }

    /// The key of an import summary's counts: a short description without values.
    package var title: String {
        switch self {
        case .unknownFormat: "unknown format"
        case .syntax: "syntax error"
        case .truncated: "cut off"
        case .tooDeep: "nested too deeply"
        case .tooLong: "too long"
        case .notUTF8: "not UTF-8"
        case .notAFeature: "not an observation"
        case .aggregated: "aggregated hexagon"
        case .missing(let field): "missing \(field)"
        case .withoutIntensity: "missing severity"
        case .invalid(let field, _, _): "invalid \(field)"
        case .contradiction: "contradiction"
        case .coarserCell: "coarser cell"
        case .future: "in the future"
        case .duplicateColumn: "duplicate column"
        }
    }

    /// A sentence that may quote the file, escaped for display in a terminal.
    package var description: String { sentence.printable }

    private var sentence: String {
        switch self {
        case .unknownFormat(let found): "neither GeoJSON, CSV of observations, pilot reports nor GRIB2: \(found)"
        case .syntax(let what): "can't be read: \(what)"
        case .truncated: "the file ends within the record"
        case .tooDeep: "nested deeper than \(JSONScanner.maximumDepth) levels"
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .notUTF8: "not UTF-8"
        case .notAFeature: "neither a GeoJSON Feature nor a pilot report"
        case .aggregated: "an aggregated hexagon (it has 'reports'), not an observation"
        case .missing(let field): "\(field) is missing"
        case .withoutIntensity: "severity and edr are missing; the record needs one of them"
        case .invalid(let field, let value, let expected): "\(field) is '\(value)'; it must be \(expected)"
        case .contradiction(let what): what
        case .coarserCell(let h3, let resolution):
            "h3 '\(h3)' is a cell of resolution \(resolution); it must be 5 or finer"
        case .future(let observedAt): "observedAt \(observedAt) is more than 5 minutes ahead"
        case .duplicateColumn(let name): "more than one column for \(name)"
        }
    }

    static func invalid(_ field: String, _ value: String, _ expected: String) -> RefusalReason {
        .invalid(
            field: field, value: value.utf8.count > 100 ? String(value.prefix(100)) + "…" : value, expected: expected)
    }
}
