internal import Turbulence

/// The queries that delete rows.
extension Query {
    // MARK: Pruning

    static let prunable = """
        SELECT \(PrunableObservationColumn.list) FROM observation WHERE key >= ? AND key < ?
        ORDER BY key DESC LIMIT ?
        """
    static let pruneObservation = "DELETE FROM observation WHERE key = ?"
    /// Makes a row invisible at every version.
    static let voidObservation = ObservationColumn.update([.until: "since"], where: "key = ?1")
    static let prunableReports = """
        SELECT \(PrunableReportColumn.list) FROM pilotReport WHERE source = ? AND observedAt < ? AND imported <= ?
        """
    static let pruneReport = "DELETE FROM pilotReport WHERE number = ? AND observedAt < ? AND imported <= ?"
    static let prunableAreas = """
        SELECT \(PrunableAreaColumn.list) FROM area WHERE source = ? AND validTo <= ? AND imported <= ?
        """
    static let pruneArea = "DELETE FROM area WHERE number = ? AND validTo <= ? AND imported <= ?"
    static let nextBucket = "SELECT bucket FROM position WHERE bucket >= ? ORDER BY bucket LIMIT 1"
    /// The address of the aircraft after a number of rows.
    static let addressAfter = """
        SELECT icao24 FROM position WHERE bucket = ? AND icao24 >= ? ORDER BY icao24 LIMIT 1 OFFSET ?
        """
    static let pruneBucket = "DELETE FROM position WHERE bucket = ? AND icao24 >= ? AND icao24 < ? AND source = ?"
    static let deletedBefore = "SELECT \(DeletionColumn.list) FROM deletion WHERE kind = ?"
    static let noteDeletedBefore: String = {
        // With a wrong checksum, the time of the last deletion is unknown.
        let before = """
            CASE WHEN \(DeletionColumn.isWhole) THEN max(deletion.before, excluded.before)
                ELSE \(Instant.distantFuture.seconds) END
            """
        let values: [DeletionColumn: String] = [.before: before, .version: "excluded.version"]
        return """
            \(DeletionColumn.insert)
            ON CONFLICT (kind) DO UPDATE SET before = \(before), version = excluded.version,
                sum = \(DeletionColumn.rowSum { values[$0] ?? $0.name })
            """
    }()
    /// Gives every frame a new version.
    static let renewHead = HeadColumn.update(
        [.version: "version + 1", .rules: "version + 1", .log: "?1"], where: "id = 1")

    /// Deletes the steps of a kind within a range that have no observed data left.
    static func pruneSteps(of kind: ObservedTable) -> String {
        let left =
            switch kind {
            case .observations: "observation WHERE key >= (step * 10 - 9) << 30 AND key < (step * 10 + 1) << 30"
            case .reports: "pilotReport WHERE observedAt BETWEEN step * 10 - 9 AND step * 10"
            case .positions:
                "position WHERE bucket BETWEEN (step * 10 - 9) / 180 AND step * 10 / 180 "
                    + "AND observedAt BETWEEN step * 10 - 9 AND step * 10"
            }
        return """
            DELETE FROM changedStep WHERE kind = \(kind.rawValue) AND step >= ? AND step <= ?
                AND NOT EXISTS (SELECT 1 FROM \(left))
            """
    }

    static let allOfPruning =
        [
            prunable, pruneObservation, voidObservation, prunableReports, pruneReport, prunableAreas, pruneArea,
            nextBucket, addressAfter, pruneBucket, deletedBefore, noteDeletedBefore, renewHead, raiseComplete,
            raiseFetchedSince, noteStoredKind,
        ]
        + ObservedTable.allCases.map(pruneSteps)

    static let allOfChanges =
        [
            noteRules, renameLog, noteChangedStep, changedSteps, lastChangedStep, changedAreas, lastChangedArea,
            areaOfVersion, changedExtent,
        ] + observationsOfVersion + reportsOfVersion + positionsOfVersion
}
