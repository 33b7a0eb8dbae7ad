/// The queries on fields, and on packed parts of the archive.
extension Query {
    // MARK: Fields

    /// All columns except the bytes, in table order. An index holds all of them, and is used if it is readable.
    private static let levels =
        FieldLevelColumn.allCases.filter { $0 != .packed }.map(\.name).joined(separator: ", ")
    /// A few rows, all of them needed.
    static let fieldGrids = "SELECT \(FieldGridColumn.list) FROM fieldGrid ORDER BY number"
    static let insertFieldGrid = FieldGridColumn.insert
    static let newestFieldGridNumber = "SELECT number FROM fieldGrid WHERE number > 0 ORDER BY number DESC LIMIT 1"
    /// Replaces a level with a wrong checksum.
    static let insertFieldLevel =
        FieldLevelColumn.upsert(key: [.source, .product, .run, .validTime, .level])
        + " WHERE NOT (\(FieldLevelColumn.isWhole) AND packedSum = row_sum(packed))"
    /// The levels that were stored in a range of versions.
    static let fieldLevelsSince = """
        SELECT \(levels) FROM fieldLevel INDEXED BY fieldLevelSince WHERE since > ? AND since <= ?
        """
    /// For a table with damaged indices or pages.
    static let fieldLevelsByNumber = """
        SELECT \(levels) FROM fieldLevel NOT INDEXED
        WHERE since > ? AND since <= ? AND number BETWEEN ? AND ? ORDER BY number
        """
    static let newestFieldLevelNumber = "SELECT number FROM fieldLevel WHERE number > 0 ORDER BY number DESC LIMIT 1"
    static let fieldLevel = "SELECT \(FieldLevelColumn.list) FROM fieldLevel WHERE number = ?"
    /// The levels of one field.
    static let levelsOfField = """
        SELECT \(levels) FROM fieldLevel WHERE source = ? AND product = ? AND run = ? AND validTime = ?
        """
    static let markFieldLevelImported = FieldLevelColumn.update(
        [.imported: "1"],
        where: "source = ?1 AND product = ?2 AND run = ?3 AND validTime = ?4 AND level = ?5 AND imported = 0")

    static let oldestField = edgeField("")
    static let newestField = edgeField("DESC")

    private static func edgeField(_ direction: String) -> String {
        """
        SELECT validTime FROM fieldLevel WHERE validTime >= 0 AND \(FieldLevelColumn.isWhole)
        ORDER BY validTime \(direction) LIMIT 1
        """
    }

    /// Newest first, one row per level; a file has many levels.
    static let newestRuns = "SELECT run FROM fieldLevel WHERE number > 0 ORDER BY number DESC LIMIT ?"
    static let prunableFieldLevels = """
        SELECT \(PrunableFieldLevelColumn.list) FROM fieldLevel WHERE validTime < ?2 AND source = ?1 AND imported <= ?3
        """
    /// The levels of forecasts valid before an instant that a later run has too.
    static let prunableEarlierForecasts = """
        SELECT \(PrunableFieldLevelColumn.list) FROM fieldLevel AS earlier
        WHERE validTime < ?2 AND source = ?1 AND imported <= ?3 AND product = 1 AND EXISTS (
            SELECT 1 FROM fieldLevel AS later
            WHERE later.validTime = earlier.validTime AND later.source = earlier.source AND later.product = 1
                AND later.level = earlier.level AND later.run > earlier.run)
        """
    static let pruneFieldLevel = "DELETE FROM fieldLevel WHERE number = ? AND validTime < ? AND imported <= ?"
    /// Whole rows without their bytes, for a salvage.
    static let everyFieldLevel = "SELECT \(levels) FROM fieldLevel"

    static let allOfFields = [
        insertFieldGrid, newestFieldGridNumber, insertFieldLevel, fieldLevelsSince, fieldLevelsByNumber,
        newestFieldLevelNumber, fieldLevel,
        levelsOfField, markFieldLevelImported, oldestField, newestField, newestRuns, prunableFieldLevels,
        prunableEarlierForecasts, pruneFieldLevel,
    ]

    // MARK: Packed parts of the archive

    static let packedRows = "SELECT \(PackedPartColumn.list) FROM packedPart WHERE part = ? AND version = ?"
    static let packedVersion = "SELECT version FROM packedPart WHERE part = ? AND \(PackedPartColumn.isWhole)"
    static let packedSum = """
        SELECT \(PackedSumColumn.list) FROM packedPart WHERE part = ? AND \(PackedPartColumn.isWhole)
        """
    /// One row per packed part, all of them needed.
    static let packedParts = "SELECT part FROM packedPart ORDER BY part"
    static let upsertPacked = PackedPartColumn.upsert(key: [.part])
    static let discardPacked = "DELETE FROM packedPart WHERE part = ?"
    static let newestStep = "SELECT step FROM changedStep WHERE kind = ? AND step < ? ORDER BY step DESC LIMIT 1"
    static let noteDeletion = HeadColumn.update([.deletions: "deletions + 1"], where: "id = 1")

    static let allOfPacking = [
        packedRows, packedVersion, packedSum, upsertPacked, discardPacked, newestStep, noteDeletion,
    ]
}
