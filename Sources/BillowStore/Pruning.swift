public import Turbulence

/// What is to be deleted from a log.
public struct Pruning: Sendable, Hashable {
    /// From when on observations are looked at: what is older was looked at before.
    public var from: Instant
    /// What was observed, or ended, before this instant.
    public var before: Instant
    /// Positions that were observed before this instant; of aircraft there is more than of all else together.
    public var positionsBefore: Instant
    /// Of these sources; nil for all.
    public var sources: Set<SourceID>?
    /// Whether what was imported stays (see `Batch.importedBefore`).
    public var sparesImports: Bool
    /// Whether pictures that may still be asked for lose something by it. Then every transaction gives every picture a new
    /// address, and servers read the log anew.
    public var changesPictures: Bool

    /// - Parameter positionsBefore: `before` where it is nil.
    public init(
        from: Instant = .distantPast, before: Instant, positionsBefore: Instant? = nil, sources: Set<SourceID>? = nil,
        sparesImports: Bool = false, changesPictures: Bool = false
    ) {
        self.from = from
        self.before = before
        self.positionsBefore = positionsBefore ?? before
        self.sources = sources
        self.sparesImports = sparesImports
        self.changesPictures = changesPictures
    }
}

/// How many rows were deleted, closed ones among them.
public struct Pruned: Sendable, Hashable {
    public var observations = 0
    public var pilotReports = 0
    public var areas = 0
    public var positions = 0

    public init() {}

    public var isNothing: Bool { observations + pilotReports + areas + positions == 0 }
}
