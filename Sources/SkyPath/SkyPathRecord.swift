public import Geometry

/// One computed value: how bumpy a cell is at a level, for the aircraft category asked.
public struct SkyPathRecord: Sendable, Hashable {
    /// Where it is.
    public let cell: Cell
    private let altitude: UInt8
    /// 0 smooth, 1 light, 2 light-moderate, 3 moderate, 4 moderate-severe.
    public let severity: UInt8
    /// 0…1 where it is known.
    public let edr: Double?
    /// Unix seconds.
    public let observedAt: Int

    /// Thousands of feet: 38 is the block from 38,000 ft up to 39,000 ft.
    public var altitudeThousands: Int { Int(altitude) }

    /// nil where the altitude is beyond 0…255, the severity beyond 0…4, or the EDR beyond 0…1.
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

/// Why a record was left out.
public enum SkyPathSkipReason: String, Sendable, CaseIterable, Hashable {
    /// Not an object.
    case unreadable
    /// The id is missing, not text, not an H3 cell, or a position that the parent lacks.
    case invalidCell
    /// Coarser than resolution 5.
    case coarserCell
    /// Missing, not a whole number, or beyond the limits.
    case altitude
    /// Missing, not a whole number, or beyond 0…5.
    case severity
    /// Missing, not a whole number, or beyond the limits.
    case time
    /// A position or an area that is missing or can't be.
    case place
}

/// What became of the records of an answer.
public struct SkyPathCounts: Sendable, Hashable {
    /// Records in the answer.
    public var read = 0
    /// Finer than resolution 5, brought to their parent. Several may so become one cell: the newest counts, and of
    /// those of one second the most severe should.
    public var broughtToParent = 0
    /// Severity 5 read as 4.
    public var clampedSeverity = 0
    /// EDR that was no number of 0…1, left out while the record stayed.
    public var droppedEDR = 0
    /// Left out, by reason; reasons that didn't occur are missing.
    public var skipped: [SkyPathSkipReason: Int] = [:]

    /// Nothing read yet.
    public init() {}

    /// Left out for any reason.
    public var skippedTotal: Int { skipped.values.reduce(0, +) }
    /// Handed on.
    public var kept: Int { read - skippedTotal }

    mutating func skip(_ reason: SkyPathSkipReason) { skipped[reason, default: 0] += 1 }

    /// For the pieces of one fetch.
    public static func += (a: inout SkyPathCounts, b: SkyPathCounts) {
        a.read += b.read
        a.broughtToParent += b.broughtToParent
        a.clampedSeverity += b.clampedSeverity
        a.droppedEDR += b.droppedEDR
        a.skipped.merge(b.skipped, uniquingKeysWith: +)
    }
}

/// The answer to a corridor call. Records are in the upstream's order and may repeat a (cell, altitude).
public struct SkyPathCorridorReply: Sendable {
    /// Those that could be read.
    public let records: [SkyPathRecord]
    /// The cursor for the next call, Unix seconds; nil where the answer had none that can be read: fetch whole then.
    public let lastUpdatedAt: Int?
    /// What was read, and what was skipped.
    public let counts: SkyPathCounts
    /// Whether the answer said that it is made up: it must not pass for real then.
    public internal(set) var isSimulated = false
}

/// The answer to a bulk call: always whole, without EDR and cursor.
public struct SkyPathHexagonsReply: Sendable {
    /// Those that could be read.
    public let records: [SkyPathRecord]
    /// What was read, and what was skipped.
    public let counts: SkyPathCounts
    /// Whether the answer said that it is made up: it must not pass for real then.
    public internal(set) var isSimulated = false
}

/// The answer to a map call.
public struct SkyPathMapReply: Sendable {
    /// Those that could be read.
    public let records: [SkyPathRecord]
    /// For the next call; nil where the answer had none that can be read: fetch whole then.
    public let tick: Int?
    /// What was read, and what was skipped.
    public let counts: SkyPathCounts
    /// Whether the answer said that it is made up: it must not pass for real then.
    public internal(set) var isSimulated = false
}
