/// The versions that changed steps.
enum ChangedStepColumn: Int32, ResultColumn {
    case step, version
}

/// The first and last step that ever changed. Both are NULL if none did.
enum ChangedExtentColumn: Int32, ResultColumn {
    case first, last

    var expression: String {
        switch self {
        case .first: "min(step)"
        case .last: "max(step)"
        }
    }
}

/// The versions that changed areas.
enum ChangedAreaColumn: Int32, ResultColumn {
    case collection, validFrom, validTo, version

    var expression: String {
        self == .version ? "max(since, coalesce(until, 0))" : name
    }
}

/// The validities of areas.
enum AreaValidityColumn: Int32, ResultColumn {
    case validFrom, validTo
}

/// A packed part's version and the checksum of the rows that it was made from.
enum PackedSumColumn: Int32, ResultColumn {
    case version, rowSum
}

/// Observations that may be deleted. A void one is visible at no version.
enum PrunableObservationColumn: Int32, ResultColumn {
    case key, source, imported, isVoid

    var expression: String { self == .isVoid ? "until = since" : name }
}

/// Reports that may be deleted.
enum PrunableReportColumn: Int32, PrunableColumn {
    case number, observedAt
    static let time = observedAt
}

/// Areas that may be deleted.
enum PrunableAreaColumn: Int32, PrunableColumn {
    case number, validTo
    static let time = validTo
}

/// Levels of fields that may be deleted.
enum PrunableFieldLevelColumn: Int32, PrunableColumn {
    case number, validTime
    static let time = validTime
}

/// The columns of numbered rows that may be deleted because of their time.
protocol PrunableColumn: ResultColumn {
    static var number: Self { get }
    static var time: Self { get }
}
