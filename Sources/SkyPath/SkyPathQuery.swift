public import Geometry

/// What to ask of the corridor call.
public struct SkyPathCorridorQuery: Sendable, Hashable {
    /// The area: a simple ring, closed or not (it is closed when sent), either winding. Each edge takes the short way
    /// round, over the antimeridian where that is shorter. Should be convex.
    public var ring: [LonLat]
    /// One of the limits' `corridorHours`.
    public var hours: Double
    /// `lastUpdatedAt` of the answer before, for a delta; nil fetches whole. The overlap of the limits is taken off it.
    public var updatedSince: Int?
    /// `C10`…`C110`; nil leaves it to the upstream (C60).
    public var aircraftCategory: String?
    /// Thousands of feet, within the limits' `altitudesThousands`.
    public var altitudesThousands: ClosedRange<Int>

    /// All levels, unless told otherwise.
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

/// What to ask of the bulk call.
public struct SkyPathHexagonsQuery: Sendable, Hashable {
    /// An H3 cell of resolution 0 or 1.
    public var parent: UInt64
    /// One of the limits' `hexagonsHours`.
    public var hours: Double
    /// 0…4.
    public var minSeverity: Int
    /// Thousands of feet, within the limits' `altitudesThousands`.
    public var altitudesThousands: ClosedRange<Int>

    /// All levels, unless told otherwise.
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

/// What to ask of the map call.
public struct SkyPathMapQuery: Sendable, Hashable {
    /// What of the time is asked for.
    public enum Extent: Sendable, Hashable {
        /// Everything of the last hours: one of the limits' `mapHours`.
        case hours(Double)
        /// What changed in this tick and after it. The overlap of the limits is taken off it.
        case since(tick: Int)
    }

    /// The last hours, or what came since a tick.
    public var extent: Extent
    /// nil is the world.
    public var ring: [LonLat]?
    /// 0…4; nil is all.
    public var severities: Set<Int>?
    /// `C10`…`C110`; nil leaves it to the upstream (C60).
    public var aircraftCategory: String?

    /// All levels, unless told otherwise.
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
