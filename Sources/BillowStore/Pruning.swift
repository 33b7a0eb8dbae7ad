package import Turbulence

/// The rows to delete from a log.
package struct Pruning: Sendable, Hashable {
    /// The oldest observations to consider. An earlier round considered older ones.
    package var from: Instant
    /// Deletes rows that were observed, or ended, before this instant.
    package var before: Instant
    /// Deletes positions that were observed before this instant. Most rows are positions.
    package var positionsBefore: Instant
    /// Deletes fields whose valid time is before this instant.
    package var fieldsBefore: Instant
    /// Deletes forecasts that are valid before this instant if a later run covers the same valid time.
    package var earlierForecastsBefore: Instant
    /// The affected sources; nil for all.
    package var sources: Set<SourceID>?
    /// Whether imports are spared (see `Batch.importedBefore`).
    package var sparesImports: Bool
    /// Whether frames that clients may still request lose data. If so, every transaction gives every frame a new URL,
    /// and servers reload the log.
    package var changesPictures: Bool

    /// - Parameters:
    ///   - positionsBefore: nil for the value of `before`.
    ///   - fieldsBefore: nil for the value of `before`.
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

/// The number of deleted rows, including closed ones.
package struct PruneResult: Sendable, Hashable {
    package var observations = 0
    package var pilotReports = 0
    package var areas = 0
    package var positions = 0
    package var fieldLevels = 0

    package init() {}

    package var isNothing: Bool { observations + pilotReports + areas + positions + fieldLevels == 0 }
}
