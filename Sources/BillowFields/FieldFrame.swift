package import Geometry
package import Turbulence

/// Who computed a field, and whether it looks back or ahead.
///
/// Source: NOAA/NWS Service Change Notices 26-62 (GTGN) and 25-80 (GTG v4)
package enum FieldProduct: UInt8, Sendable, Hashable, CaseIterable {
    /// The nowcast: a forecast blended with what was observed until its valid time.
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

    package init?(name: some StringProtocol) {
        guard let product = FieldProduct.allCases.first(where: { $0.name == name }) else { return nil }
        self = product
    }

    /// How far from its valid time any field may be shown.
    package static let longestReach: ClosedRange<Int> = {
        let reaches = allCases.map(\.reach)
        return (reaches.map(\.lowerBound).min() ?? 0)...(reaches.map(\.upperBound).max() ?? 0)
    }()

    /// For how long the newest one is new, in seconds; after that the product is overdue.
    ///
    /// A nowcast is made every 15 minutes and is there within 5; one more may be missed. A run of forecasts begins every
    /// hour and is there within 90 minutes. It counts from the instant that a nowcast is about, and from the beginning
    /// of a run.
    ///
    /// Source: NOAA/NWS Service Change Notices 26-62 (GTGN) and 25-80 (GTG v4)
    package var longestSilence: Int {
        switch self {
        case .nowcast: 900 + 1_200
        case .forecast: 3_600 + 5_400
        }
    }

    /// How far from its valid time a field may be shown, in seconds.
    ///
    /// A nowcast comes every 15 minutes and is shown from its valid time until the one after next is due. Forecasts are
    /// an hour apart, and three hours at the longest lead times that are fetched by default; the nearest is shown.
    package var reach: ClosedRange<Int> {
        switch self {
        case .nowcast: 0...1_800
        case .forecast: -5_400...5_400
        }
    }
}

/// The altitude of a field: pressure altitude in feet, or the maximum of the whole column of air.
package enum FieldLevel: Sendable, Hashable {
    /// 0…65,000 ft.
    case feet(UInt16)
    case column

    /// As it is stored: feet, or −1 for the column.
    package var number: Int {
        switch self {
        case .feet(let feet): Int(feet)
        case .column: -1
        }
    }

    /// nil for what `number` never gives.
    package init?(number: Int) {
        switch number {
        case -1: self = .column
        case 0...65_000: self = .feet(UInt16(number))
        default: return nil
        }
    }
}

/// Names a field: what computed it, from when, and for when.
package struct FieldIdentity: Sendable, Hashable, CustomStringConvertible {
    package let product: FieldProduct
    /// When the computation began.
    package let run: Instant
    /// The instant that it is about; no earlier than `run`.
    package let validTime: Instant

    /// nil where the field would be about an instant before its run, or more than `longestLead` after it.
    package init?(product: FieldProduct, run: Instant, validTime: Instant) {
        guard (0...Self.longestLead).contains(validTime.seconds - run.seconds) else { return nil }
        self.product = product
        self.run = run
        self.validTime = validTime
    }

    /// A week, in seconds: far more than any product looks ahead.
    package static let longestLead = 7 * 86_400

    /// How far ahead of its run it looks, in seconds.
    package var lead: Int { validTime.seconds - run.seconds }

    package var description: String { "\(product.name) of \(run) for \(validTime)" }
}

/// One level of a field as a source gives it, ready to be stored.
package struct FieldLevelDraft: Sendable, Hashable {
    package let identity: FieldIdentity
    package let grid: GridDefinition
    package let level: FieldLevel
    /// `FieldPlane.packed()`: as wide and as high as the grid.
    package let packed: [UInt8]

    package init(identity: FieldIdentity, grid: GridDefinition, level: FieldLevel, packed: [UInt8]) {
        self.identity = identity
        self.grid = grid
        self.level = level
        self.packed = packed
    }
}

/// One level of a field in the log.
package struct FieldLevelRecord: Sendable, Hashable {
    package let level: FieldLevel
    /// The row in the store.
    package let row: Int64
    /// The version that stored it.
    package let since: Version

    package init(level: FieldLevel, row: Int64, since: Version) {
        self.level = level
        self.row = row
        self.since = since
    }
}

/// A field in the log: one grid, and a plane of each level that has been stored so far.
package struct FieldFrame: Sendable, Hashable {
    package let identity: FieldIdentity
    package let source: SourceID
    /// The number of its grid in the store.
    package let grid: Int64
    /// Rising by level; the column first.
    package private(set) var levels: [FieldLevelRecord]

    package init(identity: FieldIdentity, source: SourceID, grid: Int64, levels: [FieldLevelRecord]) {
        self.identity = identity
        self.source = source
        self.grid = grid
        self.levels = levels.sorted { $0.level.number < $1.level.number }
    }

    /// The last version that stored any of it.
    package var version: Version { levels.map(\.since).max() ?? .zero }

    /// As it was at a version; nil where nothing of it was stored yet.
    package func asOf(_ version: Version) -> FieldFrame? {
        guard let newest = levels.map(\.since).max(), newest > version else { return self }
        let known = levels.filter { $0.since <= version }
        guard !known.isEmpty else { return nil }
        return FieldFrame(identity: identity, source: source, grid: grid, levels: known)
    }

    /// The levels whose maximum is the turbulence of an altitude range; empty where none lies within or beside it.
    ///
    /// Of all altitudes that is the column, where it is stored. Where no level lies within, it is the ones next to the
    /// range, no farther off than `farthestNeighbour`.
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
