package import Geometry
package import Turbulence

/// The product of a field: a nowcast or a forecast.
///
/// Source: NOAA/NWS Service Change Notices 26-62 (GTGN) and 25-80 (GTG v4)
package enum FieldProduct: UInt8, Sendable, Hashable, CaseIterable {
    /// The nowcast: a forecast combined with observations up to its valid time.
    case nowcast = 0
    /// The forecast.
    case forecast = 1

    /// The name in parameters and properties.
    package var name: String {
        switch self {
        case .nowcast: "gtgn"
        case .forecast: "gtg"
        }
    }

    /// The title for users.
    package var title: String {
        switch self {
        case .nowcast: "Nowcast"
        case .forecast: "Forecast"
        }
    }

    package init?(name: some StringProtocol) {
        guard let product = FieldProduct.allCases.first(where: { $0.name == name }) else { return nil }
        self = product
    }

    /// The times relative to its valid time at which any field may be shown.
    package static let longestReach: ClosedRange<Int> = {
        let reaches = allCases.map(\.reach)
        return (reaches.map(\.lowerBound).min() ?? 0)...(reaches.map(\.upperBound).max() ?? 0)
    }()

    /// The age in seconds up to which the newest field is fresh; after that the product is overdue.
    ///
    /// A nowcast is made every 15 minutes and available within 5; one may be missed. A run of forecasts begins every
    /// hour and is available within 90 minutes. The age is counted from a nowcast's valid time, and from the start of a
    /// run.
    ///
    /// Source: NOAA/NWS Service Change Notices 26-62 (GTGN) and 25-80 (GTG v4)
    package var longestSilence: Int {
        switch self {
        case .nowcast: 900 + 1_200
        case .forecast: 3_600 + 5_400
        }
    }

    /// The times in seconds, relative to its valid time, at which a field may be shown.
    ///
    /// A nowcast comes every 15 minutes. It is shown from its valid time until the one after next is due. Forecasts are
    /// an hour apart, and three hours at the longest lead times fetched by default. The nearest one is shown.
    package var reach: ClosedRange<Int> {
        switch self {
        case .nowcast: 0...1_800
        case .forecast: -5_400...5_400
        }
    }
}

/// The altitude of a field: pressure altitude in feet, or the maximum of the whole column of air.
package enum FieldLevel: Sendable, Hashable {
    /// A pressure altitude of 0…65,000 ft.
    case feet(UInt16)
    case column

    /// The stored number: feet, or −1 for the column.
    package var number: Int {
        switch self {
        case .feet(let feet): Int(feet)
        case .column: -1
        }
    }

    /// Returns nil for numbers that `number` never returns.
    package init?(number: Int) {
        switch number {
        case -1: self = .column
        case 0...65_000: self = .feet(UInt16(number))
        default: return nil
        }
    }
}

/// The identity of a field: its product, run and valid time.
package struct FieldIdentity: Sendable, Hashable, CustomStringConvertible {
    package let product: FieldProduct
    /// The start of the computation.
    package let run: Instant
    /// The time that the field describes, at or after `run`.
    package let validTime: Instant

    /// Returns nil if the valid time is before the run, or more than `longestLead` after it.
    package init?(product: FieldProduct, run: Instant, validTime: Instant) {
        guard (0...Self.longestLead).contains(validTime.seconds - run.seconds) else { return nil }
        self.product = product
        self.run = run
        self.validTime = validTime
    }

    /// The maximum lead time in seconds, a week: far more than that of any product.
    package static let longestLead = 7 * 86_400

    /// The lead time in seconds.
    package var lead: Int { validTime.seconds - run.seconds }

    package var description: String { "\(product.name) of \(run) for \(validTime)" }
}

/// A level of a field from a source, ready to be stored.
package struct FieldLevelDraft: Sendable, Hashable {
    package let identity: FieldIdentity
    package let grid: GridDefinition
    package let level: FieldLevel
    /// The result of `FieldPlane.packed()`, with the width and height of the grid.
    package let packed: [UInt8]

    package init(identity: FieldIdentity, grid: GridDefinition, level: FieldLevel, packed: [UInt8]) {
        self.identity = identity
        self.grid = grid
        self.level = level
        self.packed = packed
    }
}

/// A level of a field in the log.
package struct FieldLevelRecord: Sendable, Hashable {
    package let level: FieldLevel
    /// The id of the row in the store.
    package let row: Int64
    /// The version that stored the level.
    package let since: Version

    package init(level: FieldLevel, row: Int64, since: Version) {
        self.level = level
        self.row = row
        self.since = since
    }
}

/// A field in the log: a grid, and a plane for each stored level.
package struct FieldFrame: Sendable, Hashable {
    package let identity: FieldIdentity
    package let source: SourceID
    /// The number of the grid in the store.
    package let grid: Int64
    /// The levels in ascending order; the column is first.
    package private(set) var levels: [FieldLevelRecord]

    package init(identity: FieldIdentity, source: SourceID, grid: Int64, levels: [FieldLevelRecord]) {
        self.identity = identity
        self.source = source
        self.grid = grid
        self.levels = levels.sorted { $0.level.number < $1.level.number }
    }

    /// The last version that stored a level of it.
    package var version: Version { levels.map(\.since).max() ?? .zero }

    /// The field at a version; nil if none of its levels was stored then.
    package func asOf(_ version: Version) -> FieldFrame? {
        guard let newest = levels.map(\.since).max(), newest > version else { return self }
        let known = levels.filter { $0.since <= version }
        guard !known.isEmpty else { return nil }
        return FieldFrame(identity: identity, source: source, grid: grid, levels: known)
    }

    /// The levels whose maximum is the turbulence of an altitude range; empty if no level lies in it or near it.
    ///
    /// For all altitudes this is the column, if it is stored. If no level lies within the range, these are the adjacent
    /// ones at most `farthestNeighbour` away.
    package func levels(in altitudes: AltitudeRange) -> [FieldLevelRecord] {
        if altitudes == .all, let column = levels.first, column.level == .column { return [column] }
        let (low, high) = (altitudes.minimum * 1_000, altitudes.maximum * 1_000)
        let flown = levels.filter { $0.level != .column }
        let within = flown.filter { (low..<high).contains($0.level.number) }
        guard within.isEmpty else { return within }
        let below = flown.last { (low - Self.farthestNeighbour..<low).contains($0.level.number) }
        let above = flown.first { (high...high + Self.farthestNeighbour).contains($0.level.number) }
        return [below, above].compactMap(\.self)
    }

    /// In feet: the distance of the levels that are fetched by default.
    package static let farthestNeighbour = 2_000
}
