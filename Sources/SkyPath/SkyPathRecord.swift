public import Geometry

/// A computed value: the turbulence of a cell at a level, for the requested aircraft category.
public struct SkyPathRecord: Sendable, Hashable {
    /// The cell of the value.
    public let cell: Cell
    private let altitude: UInt8
    /// The severity: 0 smooth, 1 light, 2 light-moderate, 3 moderate, 4 moderate-severe.
    public let severity: UInt8
    /// The EDR, 0…1; nil if unknown.
    public let edr: Double?
    /// The time of observation in Unix seconds.
    public let observedAt: Int

    /// The altitude in thousands of feet: 38 is the block from 38,000 ft up to 39,000 ft.
    public var altitudeThousands: Int { Int(altitude) }

    /// Returns nil for an altitude outside 0…255, a severity outside 0…4, or an EDR outside 0…1.
    public init?(cell: Cell, altitudeThousands: Int, severity: Int, edr: Double?, observedAt: Int) {
        guard let altitude = UInt8(exactly: altitudeThousands), (0...4).contains(severity),
            edr.map({ (0...1).contains($0) }) ?? true
        else { return nil }
        self.cell = cell
        self.altitude = altitude
        self.severity = UInt8(severity)
        self.edr = edr
        self.observedAt = observedAt
    }
}

/// Why a record was skipped.
public enum SkyPathSkipReason: String, Sendable, CaseIterable, Hashable {
    /// The record isn't an object.
    case unreadable
    /// The id is missing, not text, not an H3 cell, or a position that the parent lacks.
    case invalidCell
    /// The cell is coarser than resolution 5.
    case coarserCell
    /// The altitude is missing, not a whole number, or outside the limits.
    case altitude
    /// The severity is missing, not a whole number, or outside 0…5.
    case severity
    /// The time is missing, not a whole number, or outside the limits.
    case time
    /// The position or area is missing or invalid.
    case place
}

/// The numbers of records in a response by their treatment.
public struct SkyPathCounts: Sendable, Hashable {
    /// The number of records in the response.
    public var read = 0
    /// Records finer than resolution 5, which were converted to their parent. Several may map to one cell. The newest
    /// counts; of those of one second, the most severe should.
    public var broughtToParent = 0
    /// Records of severity 5, which were converted to 4.
    public var clampedSeverity = 0
    /// Records whose EDR was dropped because it wasn't a number in 0…1.
    public var droppedEDR = 0
    /// Skipped records by reason; reasons that didn't occur are missing.
    public var skipped: [SkyPathSkipReason: Int] = [:]

    /// Makes counts of zero.
    public init() {}

    /// The number of skipped records.
    public var skippedTotal: Int { skipped.values.reduce(0, +) }
    /// The number of records that weren't skipped.
    public var accepted: Int { read - skippedTotal }

    mutating func skip(_ reason: SkyPathSkipReason) { skipped[reason, default: 0] += 1 }

    /// Adds the counts of two parts of one fetch.
    public static func += (a: inout SkyPathCounts, b: SkyPathCounts) {
        a.read += b.read
        a.broughtToParent += b.broughtToParent
        a.clampedSeverity += b.clampedSeverity
        a.droppedEDR += b.droppedEDR
        a.skipped.merge(b.skipped, uniquingKeysWith: +)
    }
}

/// The reply to a corridor call. Records are in the upstream's order and may repeat a (cell, altitude).
public struct SkyPathCorridorReply: Sendable {
    /// The valid records.
    public let records: [SkyPathRecord]
    /// The cursor for the next call in Unix seconds. nil if the response has no valid one; then fetch everything.
    public let lastUpdatedAt: Int?
    /// The counts of parsed and skipped records.
    public let counts: SkyPathCounts
    /// Whether the response is marked as simulated. It must not be presented as real then.
    public internal(set) var isSimulated = false
}

/// The reply to a bulk call: always complete, without EDR and cursor.
public struct SkyPathHexagonsReply: Sendable {
    /// The valid records.
    public let records: [SkyPathRecord]
    /// The counts of parsed and skipped records.
    public let counts: SkyPathCounts
    /// Whether the response is marked as simulated. It must not be presented as real then.
    public internal(set) var isSimulated = false
}

/// The reply to a map call.
public struct SkyPathMapReply: Sendable {
    /// The valid records.
    public let records: [SkyPathRecord]
    /// The cursor for the next call. nil if the response has no valid one; then fetch everything.
    public let tick: Int?
    /// The counts of parsed and skipped records.
    public let counts: SkyPathCounts
    /// Whether the response is marked as simulated. It must not be presented as real then.
    public internal(set) var isSimulated = false
}
