package import AviationFormats
package import BillowExchange
package import OpenSky
package import SkyPath

/// The reason why an upstream's record is skipped.
package enum SkipReason: Sendable, Hashable, CustomStringConvertible {
    case inTheFuture
    case olderThanRetention
    case outsideTheArea
    case withoutPosition
    case sharedAddress
    case nowcastSeverity
    case beyondTheLimit
    case refusedFile
    case skyPath(SkyPathSkipReason)
    case openSky(RowCounts.Reason)
    case report(ReportError.Code)
    case hazard(HazardAreas.SkipReason)
    /// A message of a grid file.
    case field(FieldReadingError)
    /// A feature of a mirrored server.
    case mirrored(MirroredFeatureProblem)
    /// A record of a file, in the importer's own words.
    case imported(String)

    /// A short description for people, which is also the key of the counts in `/status`.
    package var description: String {
        switch self {
        case .inTheFuture: "in the future"
        case .olderThanRetention: "older than retention"
        case .outsideTheArea: "outside the area"
        case .withoutPosition: "without position"
        case .sharedAddress: "same address as another flight"
        case .nowcastSeverity: "nowcast severity outside 2–4"
        case .beyondTheLimit: "beyond the service's limit of 400"
        case .refusedFile: "file refused"
        case .skyPath(let reason): reason.rawValue
        case .openSky(let reason): reason.rawValue
        case .report(let code): code.description
        case .hazard(let reason): reason.description
        case .field(let refusal): refusal.description
        case .mirrored(let problem): problem.rawValue
        case .imported(let words): words
        }
    }
}

/// A change to a record before its use. The raw value is the text for people.
package enum Adjustment: String, Sendable, Hashable {
    case broughtToParent = "brought to parent cell"
    case loweredSeverity = "severity lowered to 4"
    case droppedEDR = "EDR dropped"
    case droppedValue = "value dropped"
    case unknownWord = "unknown word"
    case withoutLevel = "in pireps only, without a usable level"
    case droppedCorner = "corner left out"

    /// The adjustment of a hazard.
    init(_ adjustment: HazardAreas.Adjustment) {
        switch adjustment {
        case .droppedCorner: self = .droppedCorner
        }
    }
}

extension Dictionary {
    /// The sum of the counts under other keys.
    func counted<Other: Hashable>(by key: (Key) -> Other) -> [Other: Int] where Value == Int {
        [Other: Int](map { (key($0.key), $0.value) }, uniquingKeysWith: +)
    }
}
