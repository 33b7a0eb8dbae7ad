package import Turbulence

/// Which rows to delete from a log.
package struct Pruning: Sendable, Hashable {
    /// The oldest observations to consider: an earlier round considered the ones before.
    package var from: Instant
    /// Rows that were observed, or ended, before this instant go.
    package var before: Instant
    /// Positions that were observed before this instant; positions are most of the rows.
    package var positionsBefore: Instant
    /// Fields that are about an earlier instant.
    package var fieldsBefore: Instant
    /// Forecasts that are about an earlier instant, where a later run has one for the same instant.
    package var earlierForecastsBefore: Instant
    /// Of these sources; nil for all.
    package var sources: Set<SourceID>?
    /// Whether imports stay (see `Batch.importedBefore`).
    package var sparesImports: Bool
    /// Whether pictures that may still be asked for lose something by it. Then every transaction gives every picture a
    /// new address, and servers read the log again.
    package var changesPictures: Bool

    /// - Parameters:
    ///   - positionsBefore: `before` where it is nil.
    ///   - fieldsBefore: `before` where it is nil.
    package init(
        from: Instant = .distantPast, before: Instant, positionsBefore: Instant? = nil, fieldsBefore: Instant? = nil,
        earlierForecastsBefore: Instant = .distantPast, sources: Set<SourceID>? = nil,
        sparesImports: Bool = false, changesPictures: Bool = false
    ) {
        self.from = from
        self.before = before
        self.positionsBefore = positionsBefore ?? before
        self.fieldsBefore = fieldsBefore ?? before
        self.earlierForecastsBefore = earlierForecastsBefore
        self.sources = sources
        self.sparesImports = sparesImports
        self.changesPictures = changesPictures
    }
}

/// How many rows were deleted, closed ones among them.
package struct Pruned: Sendable, Hashable {
    package var observations = 0
    package var pilotReports = 0
    package var areas = 0
    package var positions = 0
    package var fieldLevels = 0

    package init() {}

    package var isNothing: Bool { observations + pilotReports + areas + positions + fieldLevels == 0 }
}
