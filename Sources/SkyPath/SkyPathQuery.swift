public import Geometry

/// The parameters of a corridor call.
public struct SkyPathCorridorQuery: Sendable, Hashable {
    /// The area: a simple ring, closed or not (it is sent closed), either winding. Each edge takes the shorter way,
    /// over the antimeridian if that is shorter. The ring should be convex.
    public var ring: [LonLat]
    /// The history; one of the limits' `corridorHours`.
    public var hours: Double
    /// The `lastUpdatedAt` of the previous reply, for a delta; nil fetches everything. The limits' overlap is
    /// subtracted.
    public var updatedSince: Int?
    /// `C10`…`C110`; nil selects the upstream's default (C60).
    public var aircraftCategory: String?
    /// The altitudes in thousands of feet, within the limits' `altitudesThousands`.
    public var altitudesThousands: ClosedRange<Int>

    /// Makes a query, by default for all levels.
    public init(
        ring: [LonLat], hours: Double = 2, updatedSince: Int? = nil, aircraftCategory: String? = nil,
        altitudesThousands: ClosedRange<Int> = 5...52
    ) {
        self.ring = ring
        self.hours = hours
        self.updatedSince = updatedSince
        self.aircraftCategory = aircraftCategory
        self.altitudesThousands = altitudesThousands
    }
}

/// The parameters of a bulk call.
public struct SkyPathHexagonsQuery: Sendable, Hashable {
    /// The parent cell: an H3 cell of resolution 0 or 1.
    public var parent: UInt64
    /// The history; one of the limits' `hexagonsHours`.
    public var hours: Double
    /// The lowest severity, 0…4.
    public var minSeverity: Int
    /// The altitudes in thousands of feet, within the limits' `altitudesThousands`.
    public var altitudesThousands: ClosedRange<Int>

    /// Makes a query, by default for all levels.
    public init(
        parent: UInt64, hours: Double = 2, minSeverity: Int = 0,
        altitudesThousands: ClosedRange<Int> = 5...52
    ) {
        self.parent = parent
        self.hours = hours
        self.minSeverity = minSeverity
        self.altitudesThousands = altitudesThousands
    }
}

/// The parameters of a map call.
public struct SkyPathMapQuery: Sendable, Hashable {
    /// The requested time range.
    public enum Extent: Sendable, Hashable {
        /// Everything of the last hours; one of the limits' `mapHours`.
        case hours(Double)
        /// Changes in this tick and after it. The limits' overlap is subtracted.
        case since(tick: Int)
    }

    /// The requested time range: the last hours, or the changes since a tick.
    public var extent: Extent
    /// The area; nil is the world.
    public var ring: [LonLat]?
    /// The severities, each 0…4; nil is all.
    public var severities: Set<Int>?
    /// `C10`…`C110`; nil selects the upstream's default (C60).
    public var aircraftCategory: String?

    /// Makes a query, by default for all severities of the world.
    public init(
        _ extent: Extent, ring: [LonLat]? = nil, severities: Set<Int>? = nil,
        aircraftCategory: String? = nil
    ) {
        self.extent = extent
        self.ring = ring
        self.severities = severities
        self.aircraftCategory = aircraftCategory
    }
}
