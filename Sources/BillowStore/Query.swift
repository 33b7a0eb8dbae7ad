internal import Turbulence

/// All queries on the log. A test checks the query plan of each and rejects table scans.
enum Query {
    static let head = "SELECT \(HeadColumn.list) FROM head WHERE id = 1"
    static let raiseHead = HeadColumn.update([.version: "version + 1"], where: "id = 1") + " RETURNING version"

    /// Records that the head's version changed the sources' rules.
    static let noteRules = HeadColumn.update([.rules: "version"], where: "id = 1")
    /// Records whether the log's data is simulated.
    static let noteNature = HeadColumn.update([.simulated: "?1"], where: "id = 1")
    /// Gives the log a new name, which makes it another log.
    static let renameLog = HeadColumn.update([.log: "?1"], where: "id = 1")

    // MARK: Changed steps

    static let noteChangedStep = """
        INSERT INTO changedStep (kind, step, version) VALUES (?, ?, ?)
        ON CONFLICT (kind, step) DO UPDATE SET version = excluded.version
        """
    static let changedSteps = """
        SELECT \(ChangedStepColumn.list) FROM changedStep WHERE kind = ? AND step >= ? AND version > ?
        """
    static let lastChangedStep = "SELECT max(version) FROM changedStep WHERE kind = ? AND step BETWEEN ? AND ?"
    static let changedExtent = "SELECT \(ChangedExtentColumn.list) FROM changedStep WHERE kind = ?"
    static let changedAreas = """
        SELECT \(ChangedAreaColumn.list) FROM area
        WHERE validTo > ? AND (since > ? OR until > ?)
        """
    static let lastChangedArea = """
        SELECT max(max(since, coalesce(until, 0))) FROM area WHERE collection = ? AND validTo > ? AND validFrom <= ?
        """
    static let areaOfVersion = """
        SELECT 1 FROM area WHERE collection = ? AND validTo > ? AND validFrom <= ? AND (since = ? OR until = ?) LIMIT 1
        """
    /// The rows that a version opened or closed, observed between two times; they may be open or closed by now. The
    /// arguments are the version and the two times.
    static let observationsOfVersion = ofVersion("observation", "key")
    static let reportsOfVersion = ofVersion("pilotReport", "observedAt")
    static let positionsOfVersion = [
        "SELECT 1 FROM position WHERE since = ?1 AND observedAt BETWEEN ?2 AND ?3 LIMIT 1"
    ]

    private static func ofVersion(_ table: String, _ time: String) -> [String] {
        ["since = ?1 AND until IS NULL", "until = ?1", "until > ?1 AND since = ?1"].map {
            "SELECT 1 FROM \(table) WHERE \($0) AND \(time) BETWEEN ?2 AND ?3 LIMIT 1"
        }
    }

    // MARK: Sources

    /// At most 256 rows, all of them needed: the only table that is read whole.
    static let sources = "SELECT \(SourceColumn.list) FROM source ORDER BY number"
    static let insertSource = SourceColumn.insert
    static let settleSources = SourceColumn.update([.simulated: "?1"], where: "simulated IS NULL")
    static let updateSource = SourceColumn.update([.mergeRule: "?1", .ruleChanged: "1"], where: "number = ?2")
    static let reporter = "SELECT number FROM reporter WHERE accessKey = ?"
    static let insertReporter = "INSERT INTO reporter (accessKey) VALUES (?) RETURNING number"
    static let reporterSources = "SELECT source FROM reporterSource WHERE reporter = ?"
    static let insertReporterSource =
        "INSERT INTO reporterSource (reporter, source) VALUES (?, ?)"
        + " ON CONFLICT (reporter, source) DO NOTHING"

    private static let allOfReporters = [
        reporter, insertReporter, reporterSources, insertReporterSource,
    ]
    static let setFetched = SourceColumn.update([.fetchedAt: "?1"], where: "number = ?2")
    static let fetchedKinds = "SELECT \(FetchedColumn.list) FROM fetched"
    /// Argument 4 is the longest permitted gap between two fetches, and argument 5 the limit beyond which a time is in
    /// the future. A row with a wrong checksum or a future time is no evidence of an earlier fetch.
    static let setFetchedKind: String = {
        let since = """
            CASE WHEN NOT (\(FetchedColumn.isWhole)) OR ?3 - fetched.fetchedAt > ?4 OR fetched.fetchedAt > ?5
                OR ?3 < fetched.since THEN ?3 ELSE fetched.since END
            """
        let values: [FetchedColumn: String] = [.fetchedAt: "?3", .since: since]
        return """
            INSERT INTO fetched (\(FetchedColumn.list))
            VALUES (?1, ?2, ?3, ?3, \(FetchedColumn.rowSum { ["?1", "?2", "?3", "?3"][Int($0.rawValue)] }))
            ON CONFLICT (source, kind) DO UPDATE SET
                since = \(since), fetchedAt = ?3, sum = \(FetchedColumn.rowSum { values[$0] ?? $0.name })
            """
    }()
    static let storedKinds = "SELECT \(StoredKindColumn.list) FROM storedKind"
    static let noteStoredKind = StoredKindColumn.insertUnlessWhole(key: [.source, .kind])
    /// After a deletion, a source is complete only from then on. A source without a known complete time stays that way.
    static let raiseComplete = SourceColumn.update(
        [.completeSince: "max(coalesce(completeSince, 0), ?1)"],
        where: "number = ?2 AND (completeSince IS NOT NULL OR fetchedAt IS NULL)")
    /// Argument 3 is a `DeletionKind`.
    static let raiseFetchedSince = FetchedColumn.update(
        [.since: "max(since, ?1)"], where: "source = ?2 AND \(deletionKind) = ?3")
    /// The raw value of the `DeletionKind` that deletes a kind of data.
    private static let deletionKind = """
        CASE kind WHEN '\(FeedKind.positions.rawValue)' THEN \(DeletionKind.positions.rawValue)
            WHEN '\(FeedKind.fields.rawValue)' THEN \(DeletionKind.fields.rawValue)
            ELSE \(DeletionKind.rest.rawValue) END
        """
    static let setComplete = SourceColumn.update([.completeSince: "?1"], where: "number = ?2")

    /// A few hundred rows at most, all of them needed, in order of creation.
    static let coveredAreas = "SELECT \(CoveredAreaColumn.list) FROM coveredArea ORDER BY number"
    static let openCoveredAreas = """
        SELECT \(CoveredAreaColumn.list) FROM coveredArea
        WHERE source = ? AND kind = ? AND part = ? AND until IS NULL
        """
    static let insertCoveredArea = CoveredAreaColumn.insertNumbered
    static let closeCoveredArea = CoveredAreaColumn.update([.until: "?1"], where: "number = ?2")
    static let lowerCoveredSince = CoveredAreaColumn.update([.since: "?1"], where: "number = ?2")
    /// Deletes earlier areas whose last fetch is after an instant.
    static let removeCoveredAreasAhead =
        "DELETE FROM coveredArea WHERE source = ? AND kind = ? AND part = ? AND until > ?"
    static let removeCoveredArea = "DELETE FROM coveredArea WHERE number = ?"
    /// Argument 4 is the number of newest rows that remain.
    static let removeOldCoveredAreas = """
        DELETE FROM coveredArea WHERE number IN (
            SELECT number FROM coveredArea WHERE source = ? AND kind = ? AND part = ? AND until IS NOT NULL
            ORDER BY until DESC LIMIT \(Int64.max) OFFSET ?)
        """
    /// Arguments as in `raiseFetchedSince`. An area whose last fetch was before the deletion is removed, because none
    /// of its data is complete any more.
    static let removeCoveredAreasBefore =
        "DELETE FROM coveredArea WHERE until < ? AND source = ? AND \(deletionKind) = ?"
    static let raiseCoveredSince = CoveredAreaColumn.update(
        [.since: "max(since, ?1)"], where: "source = ?2 AND \(deletionKind) = ?3")

    static let cursors = "SELECT \(CursorColumn.list) FROM cursor WHERE source = ?"
    static let setCursor = CursorColumn.upsert(key: [.source, .piece])
    static let removeCursor = "DELETE FROM cursor WHERE source = ? AND piece = ?"

    static let sourceValues = "SELECT \(SourceValueColumn.list) FROM sourceValue WHERE source = ?"
    static let setSourceValue = SourceValueColumn.upsert(key: [.source, .name])
    static let removeSourceValue = "DELETE FROM sourceValue WHERE source = ? AND name = ?"

    // MARK: Observations

    private static let row = ObservationColumn.list

    /// An existing key is no error; any other conflict is.
    static let insertObservation = ObservationColumn.insertWithSum + " ON CONFLICT (key) DO NOTHING"
    static let closeObservation = ObservationColumn.update([.until: "?1"], where: "key = ?2 AND until IS NULL")
    static let setAsideObservation = ObservationColumn.setAside(until: .until, since: .since, key: .key)
    static let markObservationImported = ObservationColumn.update([.imported: "1"], where: "key = ?1 AND imported = 0")
    static let markObservationLasting = ObservationColumn.update([.transient: "0"], where: "key = ?1 AND transient = 1")
    static let observationByKey = "SELECT \(row) FROM observation WHERE key = ?"
    /// Matches any source and reporter.
    static let openObservationsByExternalID = """
        SELECT \(row) FROM observation WHERE externalId = ? AND until IS NULL ORDER BY source, reporter
        """
    /// The rows at a version: open ones, and the few that were closed after it. Matches any source.
    static let observationsByFeatureID = """
        SELECT \(row) FROM observation
        WHERE idTaken = 0 AND ((externalId = ? AND until IS NULL AND since <= ?)
            OR (until > ? AND since <= ? AND externalId = ?))
        """
    static let openOfSource = """
        SELECT \(row) FROM observation WHERE key >= ? AND key < ? AND source = ? AND until IS NULL
        """
    static let openTransient = """
        SELECT \(row) FROM observation WHERE source = ? AND transient = 1 AND until IS NULL AND key >= ?
        """
    /// Only rows of kind superseding, which end others.
    static let openTransientEnds = """
        SELECT \(row) FROM observation
        WHERE source = ? AND transient = 1 AND kind = 2 AND until IS NULL AND key >= ?
        """
    /// Corrupt rows: their keys contain no valid time.
    static let rowsOfNoTime = """
        SELECT \(row) FROM observation
        WHERE key < 0 OR key >= \(ObservationKey.first(of: .distantFuture).rawValue)
        """
    /// Includes closed rows.
    static let allRows = "SELECT \(row) FROM observation WHERE key >= ? ORDER BY key"
    static let countKeys = "SELECT count(*) FROM observation WHERE key >= ? AND key < ?"
    static let oldestKey = edgeKey("")
    static let newestKey = edgeKey("DESC")

    private static func edgeKey(_ direction: String) -> String {
        """
        SELECT key FROM observation WHERE key >= 0 AND until IS NULL AND \(ObservationColumn.isWhole)
        ORDER BY key \(direction) LIMIT 1
        """
    }

    /// Includes closed rows. The reader stops early.
    static let newestVoices = "SELECT \(row) FROM observation WHERE key >= 0 ORDER BY key DESC LIMIT ?"
    static let lastKeyBefore = """
        SELECT key FROM observation WHERE key >= 0 AND key < ? ORDER BY key DESC LIMIT 1
        """
    /// Uses only an index, so that keys are readable where pages of the table are not.
    static let openKeys = "SELECT key FROM observation WHERE since > ? AND until IS NULL"
    /// Has no upper bound: SQLite would stop at a key that a flipped bit made larger than the end of the range.
    /// Includes every row with a wrong checksum, because its versions may be wrong.
    static let openRows = """
        SELECT \(row) FROM observation WHERE key >= ? AND (until IS NULL OR NOT (\(ObservationColumn.isWhole)))
        ORDER BY key
        """
    static let rowsAsOf = """
        SELECT \(row) FROM observation
        WHERE key >= ? AND (since <= ? AND (until IS NULL OR until > ?) OR NOT (\(ObservationColumn.isWhole)))
        ORDER BY key
        """
    static let openedSince = "SELECT \(row) FROM observation WHERE since > ? AND until IS NULL"
    static let closedSince = "SELECT \(row) FROM observation WHERE until > ? AND since <= ?"

    // MARK: Pilot reports

    private static let reports = "SELECT \(PilotReportColumn.list) FROM pilotReport"

    static let insertReport = PilotReportColumn.insertNumbered
    static let closeReport = PilotReportColumn.update([.until: "?1"], where: "number = ?2")
    static let setAsideReport = PilotReportColumn.setAside(until: .until, since: .since, key: .number)
    static let markReportImported = PilotReportColumn.update([.imported: "1"], where: "number = ?1 AND imported = 0")
    static let openReport = "\(reports) WHERE id = ? AND source = ? AND until IS NULL"
    /// The rows at a version: open ones, and the few that were closed after it. Matches any source.
    static let reportsByID = """
        \(reports) WHERE (id = ? AND until IS NULL AND since <= ?) OR (until > ? AND since <= ? AND id = ?)
        """
    /// In index order. The reader stops at the end of a page.
    static let reportPage = """
        \(reports)
        WHERE observedAt >= ? AND observedAt < ? AND (observedAt > ? OR id > ?) AND since <= ?
            AND (until IS NULL OR until > ?)
        ORDER BY observedAt, id, source
        """

    static let reportsAsOf = """
        \(reports) WHERE observedAt >= ? AND observedAt < ?
            AND (since <= ? AND (until IS NULL OR until > ?) OR NOT (\(PilotReportColumn.isWhole)))
        ORDER BY observedAt, id, source
        """
    /// For a table with damaged indices or pages.
    static let reportsByNumber = """
        \(reports) NOT INDEXED
        WHERE observedAt >= ? AND observedAt < ? AND since <= ? AND (until IS NULL OR until > ?)
            AND number BETWEEN ? AND ? ORDER BY number
        """
    static let newestReportNumber = "SELECT number FROM pilotReport WHERE number > 0 ORDER BY number DESC LIMIT 1"
    static let oldestReport = """
        SELECT observedAt FROM pilotReport WHERE observedAt >= 0 AND until IS NULL AND \(PilotReportColumn.isWhole)
        ORDER BY observedAt LIMIT 1
        """
    static let newestReports = """
        SELECT observedAt FROM pilotReport WHERE observedAt >= 0 ORDER BY observedAt DESC LIMIT 2
        """
    static let reportsOpenedSince = "\(reports) WHERE since > ? AND until IS NULL"
    static let reportsClosedSince = "\(reports) WHERE until > ? AND since <= ?"

    // MARK: Areas

    private static let areas = "SELECT \(AreaColumn.list) FROM area"
    static let areasByNumber = """
        \(areas) NOT INDEXED
        WHERE validTo > ? AND validFrom < ? AND since <= ? AND (until IS NULL OR until > ?)
            AND number BETWEEN ? AND ? ORDER BY number
        """
    static let newestAreaNumber = "SELECT number FROM area WHERE number > 0 ORDER BY number DESC LIMIT 1"

    static let insertArea = AreaColumn.insertNumbered
    static let closeArea = AreaColumn.update([.until: "?1"], where: "number = ?2")
    static let setAsideArea = AreaColumn.setAside(until: .until, since: .since, key: .number)
    static let markAreaImported = AreaColumn.update([.imported: "1"], where: "number = ?1 AND imported = 0")
    static let openArea = """
        \(areas) WHERE collection = ? AND id = ? AND source = ? AND validFrom = ? AND until IS NULL
        """
    static let openAreasAfter = "\(areas) WHERE validTo > ? AND until IS NULL AND source = ? AND collection = ?"
    static let areasAsOf = """
        \(areas) WHERE validTo > ? AND validFrom < ?
            AND (since <= ? AND (until IS NULL OR until > ?) OR NOT (\(AreaColumn.isWhole)))
        """
    /// The plus sign makes SQLite use the index of validities.
    static let areaValidities = """
        SELECT \(AreaValidityColumn.list) FROM area WHERE validTo >= ? AND validFrom <= ? AND since <= ?
            AND (until IS NULL OR until > ?) AND +collection = ? AND \(AreaColumn.isWhole)
        """
    /// The area that began first.
    static let oldestArea = """
        SELECT validFrom FROM area WHERE validFrom >= 0 AND until IS NULL AND \(AreaColumn.isWhole)
        ORDER BY validFrom LIMIT 1
        """
    /// The issue times of the two areas that were stored last.
    static let newestIssues = """
        SELECT issuedAt FROM area WHERE number > 0 AND issuedAt IS NOT NULL ORDER BY number DESC LIMIT 2
        """
    static let areasOpenedSince = "\(areas) WHERE since > ? AND until IS NULL"
    static let areasClosedSince = "\(areas) WHERE until > ? AND since <= ?"

    // MARK: Positions

    private static let positions = "SELECT \(PositionColumn.list) FROM position"

    static let insertPosition = PositionColumn.insertUnlessWhole(key: [.bucket, .icao24, .observedAt, .source])
    /// Includes every row with a wrong checksum, because its time may be wrong.
    private static let positionIsSeen = """
        (observedAt >= ? AND observedAt < ? AND since <= ? OR NOT (\(PositionColumn.isWhole)))
        """
    static let positionsBetween = "\(positions) WHERE bucket BETWEEN ? AND ? AND \(positionIsSeen)"
    static let positionsPage = """
        \(positions)
        WHERE (bucket, icao24, observedAt, source) > (?, ?, ?, ?) AND bucket <= ? AND \(positionIsSeen)
        ORDER BY bucket, icao24, observedAt, source
        """
    static let aircraftBetween = """
        SELECT icao24 FROM position
        WHERE bucket BETWEEN ? AND ? AND observedAt >= ? AND observedAt < ? AND since <= ?
            AND \(PositionColumn.isWhole)
        """
    /// The positions of one aircraft in one bucket.
    static let trackInBucket = """
        \(positions) WHERE bucket = ? AND icao24 = ? AND \(positionIsSeen)
        ORDER BY observedAt, source
        """
    static let oldestBucket = edgeBucket("")
    static let newestBucket = edgeBucket("DESC")

    private static func edgeBucket(_ direction: String) -> String {
        """
        SELECT bucket FROM position WHERE bucket >= 0 AND \(PositionColumn.isWhole) ORDER BY bucket \(direction) LIMIT 1
        """
    }

    static let newestBuckets = "SELECT bucket FROM position WHERE bucket >= 0 ORDER BY bucket DESC LIMIT 2"
    static let positionsSince = "\(positions) WHERE since > ?"

    // MARK: Keys and sources' settings

    /// A few dozen rows at most, all of them needed.
    static let accessKeys = "SELECT \(AccessKeyColumn.list) FROM accessKey ORDER BY createdAt, id"
    static let insertAccessKey = AccessKeyColumn.insert
    static let revokeAccessKey = AccessKeyColumn.update(
        [.revokedAt: "max(?1, createdAt)"], where: "id = ?2 AND revokedAt IS NULL")
    static let persistedOverride = "SELECT \(PersistedOverrideColumn.list) FROM sourceControl WHERE source = ?"
    /// A few rows, for a survey.
    static let persistedOverrides = "SELECT \(PersistedOverrideColumn.list) FROM sourceControl"
    static let setPersistedOverride = PersistedOverrideColumn.upsert(key: [.source])
    static let removePersistedOverride = "DELETE FROM sourceControl WHERE source = ?"

    /// Some thousand rows at most, all of them needed.
    static let monitoredFlights = "SELECT \(MonitoredFlightColumn.list) FROM followedFlight ORDER BY id"
    static let insertMonitoredFlight = MonitoredFlightColumn.insert
    static let updateMonitoredFlight = MonitoredFlightColumn.update([.value: "?1"], where: "id = ?2")
    static let removeMonitoredFlight = "DELETE FROM followedFlight WHERE id = ?"

    private static let besideTheLog = [
        insertAccessKey, revokeAccessKey, persistedOverride, setPersistedOverride, removePersistedOverride,
        insertMonitoredFlight,
        updateMonitoredFlight, removeMonitoredFlight,
    ]

    /// Whole tables, including closed rows, for a salvage.
    static let everyObservation = "SELECT \(row) FROM observation"
    static let everyReport = reports
    static let everyArea = areas
    static let everyPosition = positions
    static let everyReporter = "SELECT number, accessKey FROM reporter"
    static let everyReporterSource = "SELECT reporter, source FROM reporterSource"
    static let everyCursor = "SELECT \(CursorColumn.list) FROM cursor"
    static let everySourceValue = "SELECT \(SourceValueColumn.list) FROM sourceValue"

    private static let readAroundDamage = [
        rowsOfNoTime, allRows, newestReportNumber, newestAreaNumber, reportsByNumber, areasByNumber, openKeys,
    ]

    private static let allOfConfirmation = [newestVoices, lastKeyBefore, newestReports, newestIssues, newestBuckets]

    /// Results of any length, and results whose reader stops early.
    static let long = [
        openOfSource, rowsOfNoTime, allRows, newestVoices, openRows, rowsAsOf, openedSince, closedSince, reportPage,
        reportsAsOf, reportsOpenedSince, areasAsOf, areasOpenedSince, positionsBetween, positionsPage, aircraftBetween,
        positionsSince, newestRuns, changedSteps,
    ]

    /// For the test of their plans. `sources`, `settleSources`, `accessKeys`, `monitoredFlights`, `fieldGrids` and
    /// `packedParts` are excluded, because they scan short tables.
    static let all =
        [
            head, raiseHead, insertSource, updateSource, setFetched, setComplete, cursors, setCursor, removeCursor,
            sourceValues, setSourceValue, removeSourceValue,
            insertObservation, closeObservation, setAsideObservation, markObservationImported, markObservationLasting,
            markReportImported,
            setAsideReport, markAreaImported, setAsideArea, observationByKey,
            openObservationsByExternalID,
            observationsByFeatureID,
            openOfSource, countKeys, oldestReport, oldestArea, oldestKey, newestKey, openRows,
            openedSince,
            closedSince, insertReport,
            closeReport, openReport,
            reportsByID, reportPage, rowsAsOf, reportsAsOf, reportsOpenedSince, reportsClosedSince, insertArea,
            closeArea, openArea, openAreasAfter, areasAsOf, areaValidities, areasOpenedSince, areasClosedSince,
            insertPosition, openTransient, openTransientEnds, openCoveredAreas, insertCoveredArea, closeCoveredArea,
            removeCoveredArea,
            removeCoveredAreasBefore, raiseCoveredSince, lowerCoveredSince, removeCoveredAreasAhead,
            positionsBetween, positionsPage, aircraftBetween, trackInBucket, oldestBucket, newestBucket, positionsSince,
        ] + readAroundDamage + allOfConfirmation + besideTheLog + allOfReporters + allOfChanges + allOfPruning
        + allOfPacking + allOfFields + allInOrder
}
