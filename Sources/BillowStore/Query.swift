/// Every query on the log. A test asks SQLite for the plan of each and refuses a scan.
enum Query {
    static let head = "SELECT version FROM head WHERE id = 1"
    static let raiseHead = "UPDATE head SET version = version + 1 WHERE id = 1 RETURNING version"

    // MARK: Sources

    /// At most 256 rows, all of them wanted: the one table that is read whole.
    static let sources =
        "SELECT number, name, mergeRule, simulated, fetchedAt, completeSince FROM source ORDER BY number"
    static let insertSource = "INSERT INTO source (number, name, mergeRule, simulated) VALUES (?, ?, ?, ?)"
    static let updateSource = "UPDATE source SET mergeRule = ?, simulated = ? WHERE number = ?"
    static let setFetched = "UPDATE source SET fetchedAt = ? WHERE number = ?"
    static let setComplete = "UPDATE source SET completeSince = ? WHERE number = ?"

    static let cursors = "SELECT piece, value FROM cursor WHERE source = ?"
    static let setCursor = """
        INSERT INTO cursor (source, piece, value) VALUES (?, ?, ?)
        ON CONFLICT (source, piece) DO UPDATE SET value = excluded.value
        """
    static let removeCursor = "DELETE FROM cursor WHERE source = ? AND piece = ?"

    // MARK: Observations

    /// In the order that `ObservationRow.init(_: Columns)` reads; then the details.
    private static let row =
        "key, cell, altitudeMin, altitudeMax, severity, edr, category, source, kind, since, until"
    private static let rowAndDetails = row + ", externalId, aircraft"

    /// A taken key is no error; anything else is.
    static let insertObservation = """
        INSERT INTO observation (key, cell, altitudeMin, altitudeMax, severity, edr, category, source, kind, since,
            externalId, aircraft)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (key) DO NOTHING
        """
    static let closeObservation = "UPDATE observation SET until = ? WHERE key = ? AND until IS NULL"
    static let observationByKey = "SELECT \(rowAndDetails) FROM observation WHERE key = ?"
    static let openObservationByExternalID = """
        SELECT \(rowAndDetails) FROM observation WHERE externalId = ? AND source = ? AND until IS NULL
        """
    static let openObservationByFeatureID = """
        SELECT \(rowAndDetails) FROM observation WHERE externalId = ? AND until IS NULL ORDER BY source LIMIT 1
        """
    static let openOfSource = """
        SELECT \(row) FROM observation WHERE key >= ? AND key < ? AND source = ? AND until IS NULL
        """
    static let countKeys = "SELECT count(*) FROM observation WHERE key >= ? AND key < ?"
    static let oldestKey = "SELECT key FROM observation WHERE key >= 0 AND until IS NULL ORDER BY key LIMIT 1"
    static let newestKey = "SELECT key FROM observation WHERE key >= 0 AND until IS NULL ORDER BY key DESC LIMIT 1"
    static let openRows = "SELECT \(row) FROM observation WHERE key >= ? AND key < ? AND until IS NULL ORDER BY key"
    static let openPage = """
        SELECT \(rowAndDetails) FROM observation WHERE key >= ? AND key < ? AND until IS NULL ORDER BY key LIMIT ?
        """
    static let openedSince = "SELECT \(row) FROM observation WHERE since > ? AND until IS NULL"
    static let closedSince = "SELECT \(row) FROM observation WHERE until > ? AND since <= ?"

    // MARK: Pilot reports

    private static let report =
        "id, lon, lat, observedAt, type, aircraft, altitude, turbulence, text, pilotReport.source, name, pilotReport.number"

    static let insertReport = """
        INSERT INTO pilotReport (id, source, lon, lat, observedAt, type, aircraft, altitude, turbulence, text, since)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let closeReport = "UPDATE pilotReport SET until = ? WHERE number = ?"
    static let openReport = """
        SELECT \(report) FROM pilotReport JOIN source ON source.number = pilotReport.source
        WHERE id = ? AND pilotReport.source = ? AND until IS NULL
        """
    static let openReportByID = """
        SELECT \(report) FROM pilotReport JOIN source ON source.number = pilotReport.source
        WHERE id = ? AND until IS NULL ORDER BY pilotReport.source LIMIT 1
        """
    /// In the index's order, read as far as a page goes.
    static let openReports = """
        SELECT \(report) FROM pilotReport CROSS JOIN source ON source.number = pilotReport.source
        WHERE until IS NULL AND observedAt >= ? AND observedAt < ? AND (observedAt > ? OR id > ?)
        ORDER BY observedAt, id, pilotReport.source
        """

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

    /// For the test of their plans; `sources` and `accessKeys` read whole what they read.
    static let all = [
        head, raiseHead, insertSource, updateSource, setFetched, setComplete, cursors, setCursor, removeCursor,
        insertObservation, closeObservation, observationByKey, openObservationByExternalID, openObservationByFeatureID,
        openOfSource, countKeys, oldestKey, newestKey, openRows, openPage, openedSince, closedSince, insertReport,
        closeReport, openReport,
        openReportByID, openReports, insertAccessKey, revokeAccessKey, sourceControl, setSourceControl,
        removeSourceControl,
    ]
}
