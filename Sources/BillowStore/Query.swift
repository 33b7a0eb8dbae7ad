internal import Turbulence

/// Every query on the log. A test asks SQLite for the plan of each and refuses a scan.
enum Query {
    static let head = "SELECT version, log FROM head WHERE id = 1"
    static let raiseHead = "UPDATE head SET version = version + 1 WHERE id = 1 RETURNING version"

    /// The version that the head has now changed the sources' rules.
    static let noteRules = "UPDATE head SET rules = version WHERE id = 1"
    static let rules = "SELECT rules FROM head WHERE id = 1"

    // MARK: When what changed

    static let noteChangedStep = """
        INSERT INTO changedStep (kind, step, version) VALUES (?, ?, ?)
        ON CONFLICT (kind, step) DO UPDATE SET version = excluded.version
        """
    static let changedSteps = "SELECT step, version FROM changedStep WHERE kind = ? AND step >= ? AND version > ?"
    static let lastChangedStep = "SELECT max(version) FROM changedStep WHERE kind = ? AND step BETWEEN ? AND ?"
    static let changedExtent = "SELECT min(step), max(step) FROM changedStep WHERE kind = ?"
    static let changedAreas = """
        SELECT collection, validFrom, validTo, max(since, coalesce(until, 0)) FROM area
        WHERE validTo > ? AND (since > ? OR until > ?)
        """
    static let lastChangedArea = """
        SELECT max(max(since, coalesce(until, 0))) FROM area WHERE collection = ? AND validTo > ? AND validFrom <= ?
        """
    static let areaOfVersion = """
        SELECT 1 FROM area WHERE collection = ? AND validTo > ? AND validFrom <= ? AND (since = ? OR until = ?) LIMIT 1
        """
    /// Rows that a version opened or closed, still open or closed by now, observed between two times: the version as
    /// often as it is asked for, then the times.
    static let observationsOfVersion = ofVersion("observation", "key")
    static let reportsOfVersion = ofVersion("pilotReport", "observedAt")
    static let positionsOfVersion = ["SELECT 1 FROM position WHERE since = ? AND observedAt BETWEEN ? AND ? LIMIT 1"]

    private static func ofVersion(_ table: String, _ time: String) -> [String] {
        ["since = ? AND until IS NULL", "until = ?", "until > ? AND since = ?"].map {
            "SELECT 1 FROM \(table) WHERE \($0) AND \(time) BETWEEN ? AND ? LIMIT 1"
        }
    }

    // MARK: Sources

    /// At most 256 rows, all of them wanted: the one table that is read whole.
    static let sources = """
        SELECT number, name, mergeRule, simulated, fetchedAt, completeSince FROM source
        ORDER BY number
        """
    static let insertSource =
        "INSERT INTO source (number, name, mergeRule, simulated, ruleChanged) VALUES (?, ?, ?, ?, 0)"
    static let settleSources = "UPDATE source SET simulated = ? WHERE simulated IS NULL"
    static let updateSource = "UPDATE source SET mergeRule = ?, ruleChanged = 1 WHERE number = ?"
    /// At most 256 rows, like `sources`.
    static let sourcesOfChangedRule = "SELECT number FROM source WHERE ruleChanged = 1"
    static let reporter = "SELECT number FROM reporter WHERE accessKey = ?"
    static let insertReporter = "INSERT INTO reporter (accessKey) VALUES (?) RETURNING number"
    static let reporterSources = "SELECT source FROM reporterSource WHERE reporter = ?"
    static let insertReporterSource = "INSERT OR IGNORE INTO reporterSource (reporter, source) VALUES (?, ?)"
    static let tagSecret = "SELECT tagSecret FROM head WHERE id = 1"

    private static let allOfReporters = [
        reporter, insertReporter, reporterSources, insertReporterSource, tagSecret,
    ]
    static let setFetched = "UPDATE source SET fetchedAt = ? WHERE number = ?"
    static let fetchedKinds = "SELECT source, kind, fetchedAt, since FROM fetched"
    /// The fourth is how long a gap between two fetches may be.
    static let setFetchedKind = """
        INSERT INTO fetched (source, kind, fetchedAt, since) VALUES (?1, ?2, ?3, ?3)
        ON CONFLICT (source, kind) DO UPDATE SET
            since = iif(excluded.fetchedAt - fetched.fetchedAt > ?4 OR excluded.fetchedAt < fetched.since,
                excluded.fetchedAt, fetched.since),
            fetchedAt = excluded.fetchedAt
        """
    /// What was there before is no longer whole. Of a fetched source that was never known to be, nothing becomes known.
    static let raiseComplete = """
        UPDATE source SET completeSince = max(coalesce(completeSince, 0), ?)
        WHERE number = ? AND (completeSince IS NOT NULL OR fetchedAt IS NULL)
        """
    /// The last two: a kind of data, and 1 for this kind or 0 for all others.
    static let raiseFetchedSince = """
        UPDATE fetched SET since = max(since, ?) WHERE source = ? AND (kind = ?) = ?
        """
    static let setComplete = "UPDATE source SET completeSince = ? WHERE number = ?"

    /// A few hundred rows at most, all of them wanted. The order of their making.
    static let coveredAreas = "SELECT number, source, kind, ring, since, until FROM coveredArea ORDER BY number"
    static let openCoveredAreas = """
        SELECT number, ring, since FROM coveredArea WHERE source = ? AND kind = ? AND part = ? AND until IS NULL
        """
    static let insertCoveredArea =
        "INSERT INTO coveredArea (source, kind, part, ring, since) VALUES (?, ?, ?, ?, ?)"
    static let closeCoveredArea = "UPDATE coveredArea SET until = ? WHERE number = ?"
    static let removeCoveredArea = "DELETE FROM coveredArea WHERE number = ?"
    /// The fourth is how many are kept: the newest.
    static let removeOldCoveredAreas = """
        DELETE FROM coveredArea WHERE number IN (
            SELECT number FROM coveredArea WHERE source = ? AND kind = ? AND part = ? AND until IS NOT NULL
            ORDER BY until DESC LIMIT -1 OFFSET ?)
        """
    /// As `raiseFetchedSince`; what ended before isn't complete any more at all.
    static let removeCoveredAreasBefore =
        "DELETE FROM coveredArea WHERE until < ? AND source = ? AND (kind = ?) = ?"
    static let raiseCoveredSince = """
        UPDATE coveredArea SET since = max(since, ?) WHERE source = ? AND (kind = ?) = ?
        """

    static let cursors = "SELECT piece, value FROM cursor WHERE source = ?"
    static let setCursor = """
        INSERT INTO cursor (source, piece, value) VALUES (?, ?, ?)
        ON CONFLICT (source, piece) DO UPDATE SET value = excluded.value
        """
    static let removeCursor = "DELETE FROM cursor WHERE source = ? AND piece = ?"

    static let sourceValues = "SELECT name, value FROM sourceValue WHERE source = ?"
    static let setSourceValue = """
        INSERT INTO sourceValue (source, name, value) VALUES (?, ?, ?)
        ON CONFLICT (source, name) DO UPDATE SET value = excluded.value
        """
    static let removeSourceValue = "DELETE FROM sourceValue WHERE source = ? AND name = ?"

    // MARK: Observations

    /// In the order that `ObservationRow.init(_: Columns)` reads; then the details.
    private static let row =
        "key, cell, altitudeMin, altitudeMax, severity, edr, category, source, kind, since, until"
    private static let rowAndDetails =
        row + ", iif(idTaken, NULL, externalId), aircraft, imported, transient, reporter"

    /// A taken key is no error; anything else is.
    static let insertObservation = """
        INSERT INTO observation (key, cell, altitudeMin, altitudeMax, severity, edr, category, source, kind, since,
            externalId, aircraft, imported, transient, reporter, idTaken)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (key) DO NOTHING
        """
    static let closeObservation = "UPDATE observation SET until = ? WHERE key = ? AND until IS NULL"
    static let keepObservation = "UPDATE observation SET imported = 1 WHERE key = ? AND imported = 0"
    static let lastObservation = "UPDATE observation SET transient = 0 WHERE key = ? AND transient = 1"
    static let observationByKey = "SELECT \(rowAndDetails) FROM observation WHERE key = ?"
    /// Of every source and reporter.
    static let openObservationsByExternalID = """
        SELECT \(rowAndDetails) FROM observation WHERE externalId = ? AND until IS NULL ORDER BY source, reporter
        """
    /// At a version: open, or closed after it, which are few; of any source.
    static let observationsByFeatureID = """
        SELECT \(rowAndDetails) FROM observation
        WHERE idTaken = 0 AND ((externalId = ? AND until IS NULL AND since <= ?)
            OR (until > ? AND since <= ? AND externalId = ?))
        """
    static let openOfSource = """
        SELECT \(row) FROM observation WHERE key >= ? AND key < ? AND source = ? AND until IS NULL
        """
    static let openTransient = """
        SELECT \(row) FROM observation WHERE source = ? AND transient = 1 AND until IS NULL AND key >= ?
        """
    /// Those of kind superseding, which end others.
    static let openTransientEnds = """
        SELECT \(row) FROM observation
        WHERE source = ? AND transient = 1 AND kind = 2 AND until IS NULL AND key >= ?
        """
    static let firstKey = "SELECT key FROM observation WHERE key >= 0 ORDER BY key LIMIT 1"
    static let lastKey = "SELECT key FROM observation WHERE key >= 0 ORDER BY key DESC LIMIT 1"
    /// Closed ones too.
    static let allRows = "SELECT \(row) FROM observation WHERE key >= ? AND key < ?"
    static let countKeys = "SELECT count(*) FROM observation WHERE key >= ? AND key < ?"
    static let oldestKey = "SELECT key FROM observation WHERE key >= 0 AND until IS NULL ORDER BY key LIMIT 1"
    static let newestKey = "SELECT key FROM observation WHERE key >= 0 AND until IS NULL ORDER BY key DESC LIMIT 1"
    /// Closed ones too, as far as they are read.
    static let newestVoices = "SELECT key, reporter FROM observation WHERE key >= 0 ORDER BY key DESC LIMIT ?"
    static let lastKeyBefore = """
        SELECT key FROM observation WHERE key >= 0 AND key < ? ORDER BY key DESC LIMIT 1
        """
    /// Of an index alone: these can be read where pages of the table can't.
    static let openKeys = "SELECT key FROM observation WHERE since > ? AND until IS NULL"
    static let openRows = "SELECT \(row) FROM observation WHERE key >= ? AND key < ? AND until IS NULL ORDER BY key"
    static let rowsAsOf = """
        SELECT \(row) FROM observation
        WHERE key >= ? AND key < ? AND since <= ? AND (until IS NULL OR until > ?) ORDER BY key
        """
    static let observationPage = """
        SELECT \(rowAndDetails) FROM observation
        WHERE key >= ? AND key < ? AND since <= ? AND (until IS NULL OR until > ?) ORDER BY key
        """
    static let openedSince = "SELECT \(row) FROM observation WHERE since > ? AND until IS NULL"
    static let closedSince = "SELECT \(row) FROM observation WHERE until > ? AND since <= ?"

    // MARK: Pilot reports

    private static let report = """
        id, lon, lat, observedAt, type, aircraft, altitude, turbulence, text, pilotReport.source, name, \
        pilotReport.number, imported
        """

    static let insertReport = """
        INSERT INTO pilotReport (id, source, lon, lat, observedAt, type, aircraft, altitude, turbulence, text, since,
            imported)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let closeReport = "UPDATE pilotReport SET until = ? WHERE number = ?"
    static let keepReport = "UPDATE pilotReport SET imported = 1 WHERE number = ? AND imported = 0"
    static let openReport = """
        SELECT \(report) FROM pilotReport JOIN source ON source.number = pilotReport.source
        WHERE id = ? AND pilotReport.source = ? AND until IS NULL
        """
    /// At a version: open, or closed after it, which are few; of any source.
    static let reportsByID = """
        SELECT \(report) FROM pilotReport JOIN source ON source.number = pilotReport.source
        WHERE (id = ? AND until IS NULL AND since <= ?) OR (until > ? AND since <= ? AND id = ?)
        """
    /// In the index's order, read as far as a page goes.
    static let reportPage = """
        SELECT \(report) FROM pilotReport CROSS JOIN source ON source.number = pilotReport.source
        WHERE observedAt >= ? AND observedAt < ? AND (observedAt > ? OR id > ?) AND since <= ?
            AND (until IS NULL OR until > ?)
        ORDER BY observedAt, id, pilotReport.source
        """

    private static let reports =
        "SELECT \(report) FROM pilotReport CROSS JOIN source ON source.number = pilotReport.source"
    static let reportsAsOf = """
        \(reports) WHERE observedAt >= ? AND observedAt < ? AND since <= ? AND (until IS NULL OR until > ?)
        ORDER BY observedAt, id, pilotReport.source
        """
    /// For a table whose indices or pages are damaged.
    static let reportsByNumber = """
        SELECT \(report), pilotReport.number
        FROM pilotReport NOT INDEXED CROSS JOIN source ON source.number = pilotReport.source
        WHERE observedAt >= ? AND observedAt < ? AND since <= ? AND (until IS NULL OR until > ?)
            AND pilotReport.number BETWEEN ? AND ? ORDER BY pilotReport.number
        """
    static let newestReportNumber = "SELECT number FROM pilotReport WHERE number > 0 ORDER BY number DESC LIMIT 1"
    static let oldestReport = """
        SELECT observedAt FROM pilotReport WHERE observedAt >= 0 AND until IS NULL ORDER BY observedAt LIMIT 1
        """
    static let newestReports = """
        SELECT observedAt FROM pilotReport WHERE observedAt >= 0 ORDER BY observedAt DESC LIMIT 2
        """
    static let reportsOpenedSince = "\(reports) WHERE since > ? AND until IS NULL"
    static let reportsClosedSince = "\(reports) WHERE until > ? AND since <= ?"

    // MARK: Areas

    private static let areaColumns = """
        area.number, collection, id, name, kind, hazard, severity, altitudeMin, altitudeMax, validFrom, validTo, issuedAt, \
        forecastHour, history, status, text, geometry, imported, statedTo
        """
    private static let areas = "SELECT \(areaColumns) FROM area CROSS JOIN source ON source.number = area.source"
    static let areasByNumber = """
        SELECT \(areaColumns), area.number
        FROM area NOT INDEXED CROSS JOIN source ON source.number = area.source
        WHERE validTo > ? AND validFrom < ? AND since <= ? AND (until IS NULL OR until > ?)
            AND area.number BETWEEN ? AND ? ORDER BY area.number
        """
    static let newestAreaNumber = "SELECT number FROM area WHERE number > 0 ORDER BY number DESC LIMIT 1"

    static let insertArea = """
        INSERT INTO area (collection, id, source, kind, hazard, severity, altitudeMin, altitudeMax, validFrom, validTo,
            issuedAt, forecastHour, history, status, text, geometry, since, imported, statedTo)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let closeArea = "UPDATE area SET until = ? WHERE number = ?"
    static let keepArea = "UPDATE area SET imported = 1 WHERE number = ? AND imported = 0"
    static let openArea = """
        \(areas) WHERE collection = ? AND id = ? AND area.source = ? AND validFrom = ? AND until IS NULL
        """
    static let openAreasAfter = "\(areas) WHERE validTo > ? AND until IS NULL AND area.source = ? AND collection = ?"
    static let areasAsOf = """
        \(areas) WHERE validTo > ? AND validFrom < ? AND since <= ? AND (until IS NULL OR until > ?)
        """
    /// The plus sign leaves the search to the index of validities.
    static let areaValidities = """
        SELECT validFrom, validTo FROM area WHERE validTo >= ? AND validFrom <= ? AND since <= ?
            AND (until IS NULL OR until > ?) AND +collection = ?
        """
    /// The one that ended first.
    static let oldestArea = "SELECT validFrom FROM area WHERE validTo >= 0 AND until IS NULL ORDER BY validTo LIMIT 1"
    /// When the areas were issued that were stored last.
    static let newestIssues = """
        SELECT issuedAt FROM area WHERE number > 0 AND issuedAt IS NOT NULL ORDER BY number DESC LIMIT 2
        """
    static let areasOpenedSince = "\(areas) WHERE since > ? AND until IS NULL"
    static let areasClosedSince = "\(areas) WHERE until > ? AND since <= ?"

    // MARK: Positions

    private static let positions = """
        SELECT icao24, observedAt, name, lon, lat, callsign, altitude, geometricAltitude, groundSpeed, heading,
            verticalRate, onGround, category
        FROM position CROSS JOIN source ON source.number = position.source
        """

    static let insertPosition = """
        INSERT INTO position (bucket, icao24, observedAt, source, lon, lat, callsign, altitude, geometricAltitude,
            groundSpeed, heading, verticalRate, onGround, category, since)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (bucket, icao24, observedAt, source) DO NOTHING
        """
    static let positionsBetween = """
        \(positions) WHERE bucket BETWEEN ? AND ? AND observedAt >= ? AND observedAt < ? AND since <= ?
        """
    static let positionsPage = """
        \(positions)
        WHERE (bucket, icao24, observedAt, position.source) > (?, ?, ?, ?) AND bucket <= ?
            AND observedAt >= ? AND observedAt < ? AND since <= ?
        ORDER BY bucket, icao24, observedAt, position.source
        """
    static let aircraftBetween = """
        SELECT icao24 FROM position WHERE bucket BETWEEN ? AND ? AND observedAt >= ? AND observedAt < ? AND since <= ?
        """
    /// One bucket of a track.
    static let trackInBucket = """
        \(positions) WHERE bucket = ? AND icao24 = ? AND observedAt >= ? AND observedAt < ? AND since <= ?
        ORDER BY observedAt, position.source
        """
    static let oldestBucket = "SELECT bucket FROM position WHERE bucket >= 0 ORDER BY bucket LIMIT 1"
    static let newestBucket = "SELECT bucket FROM position WHERE bucket >= 0 ORDER BY bucket DESC LIMIT 1"
    static let newestBuckets = "SELECT bucket FROM position WHERE bucket >= 0 ORDER BY bucket DESC LIMIT 2"
    static let positionsSince = "\(positions) WHERE since > ?"

    // MARK: Packed parts of the archive

    static let packedRows = "SELECT packed FROM packedPart WHERE part = ? AND version = ?"
    static let packedVersion = "SELECT version FROM packedPart WHERE part = ?"
    static let packedSum = "SELECT version, rowSum FROM packedPart WHERE part = ?"
    static let rowsForSum = """
        SELECT \(rowAndDetails) FROM observation
        WHERE key >= ? AND key < ? AND since <= ? AND (until IS NULL OR until > ?) ORDER BY key
        """
    /// One a part of the archive, all of them wanted.
    static let packedParts = "SELECT part FROM packedPart ORDER BY part"
    static let keepPacked = """
        INSERT INTO packedPart (part, version, packed, rowSum) VALUES (?, ?, ?, ?)
        ON CONFLICT (part) DO UPDATE SET
            version = excluded.version, packed = excluded.packed, rowSum = excluded.rowSum
        """
    static let discardPacked = "DELETE FROM packedPart WHERE part = ?"
    static let newestStep = "SELECT step FROM changedStep WHERE kind = ? AND step < ? ORDER BY step DESC LIMIT 1"
    static let deletions = "SELECT deletions FROM head WHERE id = 1"
    static let noteDeletion = "UPDATE head SET deletions = deletions + 1 WHERE id = 1"

    private static let allOfPacking = [
        packedRows, packedVersion, packedSum, rowsForSum, keepPacked, discardPacked, newestStep, deletions,
        noteDeletion,
    ]

    // MARK: Pruning

    static let prunable = """
        SELECT key, source, imported, until = since FROM observation WHERE key >= ? AND key < ?
        ORDER BY key DESC LIMIT ?
        """
    static let pruneObservation = "DELETE FROM observation WHERE key = ?"
    /// Makes a row one that counts at no version.
    static let voidObservation = "UPDATE observation SET until = since WHERE key = ?"
    static let prunableReports = """
        SELECT number, observedAt FROM pilotReport WHERE source = ? AND observedAt < ? AND imported <= ?
        """
    static let pruneReport = "DELETE FROM pilotReport WHERE number = ? AND observedAt < ? AND imported <= ?"
    static let prunableAreas = "SELECT number, validTo FROM area WHERE source = ? AND validTo <= ? AND imported <= ?"
    static let pruneArea = "DELETE FROM area WHERE number = ? AND validTo <= ? AND imported <= ?"
    static let nextBucket = "SELECT bucket FROM position WHERE bucket >= ? ORDER BY bucket LIMIT 1"
    /// The address of the aircraft after so many rows.
    static let addressAfter = """
        SELECT icao24 FROM position WHERE bucket = ? AND icao24 >= ? ORDER BY icao24 LIMIT 1 OFFSET ?
        """
    static let pruneBucket = "DELETE FROM position WHERE bucket = ? AND icao24 >= ? AND icao24 < ? AND source = ?"
    static let deletedBefore = "SELECT before, version FROM deletion WHERE kind = ?"
    static let noteDeletedBefore = """
        INSERT INTO deletion (kind, before, version) VALUES (?, ?, ?)
        ON CONFLICT (kind) DO UPDATE SET before = max(before, excluded.before), version = excluded.version
        """
    /// Makes every picture another one.
    static let renewHead = """
        UPDATE head SET version = version + 1, rules = version + 1, log = lower(hex(randomblob(8))) WHERE id = 1
        """

    /// Forgets the steps of a kind between two, where nothing is left that was observed in them.
    static func pruneSteps(of kind: ObservedKind) -> String {
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

    private static let allOfPruning =
        [
            prunable, pruneObservation, voidObservation, prunableReports, pruneReport, prunableAreas, pruneArea,
            nextBucket, addressAfter, pruneBucket, deletedBefore, noteDeletedBefore, renewHead, raiseComplete,
            raiseFetchedSince,
        ]
        + ObservedKind.allCases.map(pruneSteps)

    private static let allOfChanges =
        [
            noteRules, rules, noteChangedStep, changedSteps, lastChangedStep, changedAreas, lastChangedArea,
            areaOfVersion, changedExtent,
        ] + observationsOfVersion + reportsOfVersion + positionsOfVersion

    // MARK: Keys and sources' settings

    /// A few dozen rows at most, all of them wanted.
    static let accessKeys = "SELECT id, name, hash, scopes, createdAt, revokedAt FROM accessKey ORDER BY createdAt, id"
    static let insertAccessKey =
        "INSERT INTO accessKey (id, name, hash, scopes, createdAt, revokedAt) VALUES (?, ?, ?, ?, ?, ?)"
    static let revokeAccessKey = "UPDATE accessKey SET revokedAt = max(?, createdAt) WHERE id = ? AND revokedAt IS NULL"
    static let sourceControl = "SELECT value FROM sourceControl WHERE source = ?"
    static let setSourceControl = """
        INSERT INTO sourceControl (source, value) VALUES (?, ?)
        ON CONFLICT (source) DO UPDATE SET value = excluded.value
        """
    static let removeSourceControl = "DELETE FROM sourceControl WHERE source = ?"

    /// Some thousand rows at most, all of them wanted.
    static let followedFlights = "SELECT id, accessKey, value FROM followedFlight ORDER BY id"
    static let insertFollowedFlight = "INSERT INTO followedFlight (id, accessKey, value) VALUES (?, ?, ?)"
    static let updateFollowedFlight = "UPDATE followedFlight SET value = ? WHERE id = ?"
    static let removeFollowedFlight = "DELETE FROM followedFlight WHERE id = ?"

    private static let besideTheLog = [
        insertAccessKey, revokeAccessKey, sourceControl, setSourceControl, removeSourceControl, insertFollowedFlight,
        updateFollowedFlight, removeFollowedFlight,
    ]

    /// Whole tables, closed rows too: for a salvage.
    static let everyObservation = "SELECT \(row) FROM observation"
    static let everyReport = reports
    static let everyArea = areas

    private static let readAroundDamage = [
        firstKey, lastKey, allRows, newestReportNumber, newestAreaNumber, reportsByNumber, areasByNumber, openKeys,
    ]

    private static let allOfConfirmation = [newestVoices, lastKeyBefore, newestReports, newestIssues, newestBuckets]

    /// For the test of their plans; `sources`, `settleSources`, `accessKeys`, `followedFlights` and `packedParts` go
    /// through the whole of a short table.
    static let all =
        [
            head, raiseHead, insertSource, updateSource, setFetched, setComplete, cursors, setCursor, removeCursor,
            sourceValues, setSourceValue, removeSourceValue,
            insertObservation, closeObservation, keepObservation, keepReport, keepArea, observationByKey,
            openObservationsByExternalID,
            observationsByFeatureID,
            openOfSource, countKeys, oldestReport, oldestArea, oldestKey, newestKey, openRows, observationPage,
            openedSince,
            closedSince, insertReport,
            closeReport, openReport,
            reportsByID, reportPage, rowsAsOf, reportsAsOf, reportsOpenedSince, reportsClosedSince, insertArea,
            closeArea, openArea, openAreasAfter, areasAsOf, areaValidities, areasOpenedSince, areasClosedSince,
            insertPosition, openTransient, openTransientEnds, openCoveredAreas, insertCoveredArea, closeCoveredArea,
            removeCoveredArea,
            removeCoveredAreasBefore, raiseCoveredSince,
            positionsBetween, positionsPage, aircraftBetween, trackInBucket, oldestBucket, newestBucket, positionsSince,
        ] + readAroundDamage + allOfConfirmation + besideTheLog + allOfReporters + allOfChanges + allOfPruning
        + allOfPacking
}
