internal import GRDB

/// What the file holds. A migration that was ever shipped never changes: strings only, new ones are added at the end.
enum Schema {
    /// `BILW`, in the file's header: tells our files from other programs'.
    ///
    /// Source: SQLite file format, section 1.3.17, sqlite.org/fileformat2.html
    static let applicationID: Int32 = 0x4249_4C57

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 log") { try $0.execute(sql: log) }
        migrator.registerMigration("2 areas and positions") { try $0.execute(sql: areasAndPositions) }
        migrator.registerMigration("3 keys") { try $0.execute(sql: keys) }
        migrator.registerMigration("4 changed times") { try $0.execute(sql: changedTimes) }
        migrator.registerMigration("5 log's name") { try $0.execute(sql: logName) }
        migrator.registerMigration("6 fetched kinds") { try $0.execute(sql: fetchedKinds) }
        migrator.registerMigration("7 imports and natures") { try $0.execute(sql: importsAndNatures) }
        migrator.registerMigration("8 earlier imports") { try $0.execute(sql: earlierImports) }
        migrator.registerMigration("9 packed parts") { try $0.execute(sql: packedParts) }
        migrator.registerMigration("10 stated ends") { try $0.execute(sql: statedEnds) }
        migrator.registerMigration("11 unbroken fetches") { try $0.execute(sql: unbrokenFetches) }
        migrator.registerMigration("12 transient observations") { try $0.execute(sql: transientObservations) }
        migrator.registerMigration("13 followed flights") { try $0.execute(sql: followedFlights) }
        migrator.registerMigration("14 sums of rows") { try $0.execute(sql: rowSums) }
        migrator.registerMigration("15 keyed tags") { try $0.execute(sql: keyedTags) }
        migrator.registerMigration("16 reporters") { try $0.execute(sql: reporters) }
        migrator.registerMigration("17 deletions") { try $0.execute(sql: deletions) }
        migrator.registerMigration("18 source values") { try $0.execute(sql: sourceValues) }
        migrator.registerMigration("19 covered areas") { try $0.execute(sql: coveredAreas) }
        migrator.registerMigration("20 open collections") { try $0.execute(sql: openCollections) }
        return migrator
    }

    /// Times are Unix seconds, altitudes feet, cells the bit pattern of their H3 index, EDR ten-thousandths.
    ///
    /// `observation.key` is second << 30 | tag (see `ContentTags`): clustered by time, and found by content without an
    /// index of its own. Keys whose tags collide, and reopened content, take the next free key of the same second, so a
    /// row may only be deleted
    /// when the key after its own is free, or a search would end at the gap.
    private static let log = """
        CREATE TABLE head (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            version INTEGER NOT NULL CHECK (version >= 0)
        ) STRICT;
        INSERT INTO head (id, version) VALUES (1, 0);

        CREATE TABLE source (
            number INTEGER PRIMARY KEY CHECK (number BETWEEN 0 AND 255),
            name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
            mergeRule INTEGER NOT NULL CHECK (mergeRule IN (0, 1)),
            simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
            fetchedAt INTEGER CHECK (fetchedAt >= 0),
            completeSince INTEGER CHECK (completeSince >= 0)
        ) STRICT;

        CREATE TABLE cursor (
            source INTEGER NOT NULL REFERENCES source (number),
            piece TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (source, piece)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE observation (
            key INTEGER PRIMARY KEY CHECK (key >= 0),
            cell INTEGER NOT NULL CHECK (cell > 0),
            altitudeMin INTEGER NOT NULL CHECK (altitudeMin >= 0 AND altitudeMin % 1000 = 0),
            altitudeMax INTEGER NOT NULL
                CHECK (altitudeMax BETWEEN altitudeMin AND 60000 AND altitudeMax % 1000 = 0),
            severity INTEGER CHECK (severity BETWEEN 0 AND 4),
            edr INTEGER CHECK (edr BETWEEN 0 AND 10000),
            category INTEGER CHECK (category BETWEEN 10 AND 110 AND category % 10 = 0),
            source INTEGER NOT NULL REFERENCES source (number),
            kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 255),
            since INTEGER NOT NULL CHECK (since > 0),
            until INTEGER CHECK (until >= since),
            externalId TEXT,
            aircraft TEXT,
            observedAt INTEGER GENERATED ALWAYS AS (key >> 30) VIRTUAL,
            CHECK (severity IS NOT NULL OR edr IS NOT NULL)
        ) STRICT;
        CREATE INDEX observationOpen ON observation (since) WHERE until IS NULL;
        CREATE INDEX observationClosed ON observation (until) WHERE until IS NOT NULL;
        CREATE UNIQUE INDEX observationExternalId ON observation (externalId, source)
            WHERE externalId IS NOT NULL AND until IS NULL;

        CREATE TABLE pilotReport (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            source INTEGER NOT NULL REFERENCES source (number),
            lon REAL NOT NULL CHECK (lon BETWEEN -180 AND 180),
            lat REAL NOT NULL CHECK (lat BETWEEN -90 AND 90),
            observedAt INTEGER NOT NULL CHECK (observedAt >= 0),
            type TEXT NOT NULL,
            aircraft TEXT,
            altitude INTEGER,
            turbulence TEXT NOT NULL CHECK (json_valid(turbulence)),
            text TEXT NOT NULL,
            since INTEGER NOT NULL CHECK (since > 0),
            until INTEGER CHECK (until >= since)
        ) STRICT;
        CREATE UNIQUE INDEX pilotReportId ON pilotReport (id, source) WHERE until IS NULL;
        CREATE INDEX pilotReportTime ON pilotReport (observedAt, id, source) WHERE until IS NULL;
        """

    /// A geometry is the coordinates of a GeoJSON MultiPolygon. `position.bucket` is second ÷ 180: clustered by time,
    /// and within three minutes by aircraft, so that both a picture and a track read little.
    private static let areasAndPositions = """
        CREATE TABLE area (
            number INTEGER PRIMARY KEY,
            collection INTEGER NOT NULL CHECK (collection BETWEEN 0 AND 2),
            id TEXT NOT NULL,
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            hazard TEXT,
            severity INTEGER CHECK (severity BETWEEN 0 AND 4),
            altitudeMin INTEGER,
            altitudeMax INTEGER,
            validFrom INTEGER NOT NULL CHECK (validFrom >= 0),
            validTo INTEGER NOT NULL CHECK (validTo > validFrom),
            issuedAt INTEGER,
            forecastHour INTEGER,
            history INTEGER,
            status TEXT,
            text TEXT,
            geometry TEXT NOT NULL CHECK (json_valid(geometry)),
            since INTEGER NOT NULL CHECK (since > 0),
            until INTEGER CHECK (until >= since)
        ) STRICT;
        CREATE UNIQUE INDEX areaId ON area (collection, id, source, validFrom) WHERE until IS NULL;
        CREATE INDEX areaOpen ON area (since) WHERE until IS NULL;
        CREATE INDEX areaClosed ON area (until) WHERE until IS NOT NULL;
        CREATE INDEX areaValid ON area (validTo, validFrom);

        CREATE INDEX pilotReportOpen ON pilotReport (since) WHERE until IS NULL;
        CREATE INDEX pilotReportClosed ON pilotReport (until) WHERE until IS NOT NULL;
        CREATE INDEX pilotReportAny ON pilotReport (observedAt, id, source);

        CREATE TABLE position (
            bucket INTEGER NOT NULL,
            icao24 INTEGER NOT NULL CHECK (icao24 BETWEEN 0 AND 16777215),
            observedAt INTEGER NOT NULL CHECK (observedAt >= 0),
            source INTEGER NOT NULL REFERENCES source (number),
            lon REAL NOT NULL CHECK (lon BETWEEN -180 AND 180),
            lat REAL NOT NULL CHECK (lat BETWEEN -90 AND 90),
            callsign TEXT,
            altitude INTEGER,
            geometricAltitude INTEGER,
            groundSpeed REAL,
            heading REAL,
            verticalRate INTEGER,
            onGround INTEGER NOT NULL CHECK (onGround IN (0, 1)),
            category INTEGER CHECK (category BETWEEN 0 AND 255),
            since INTEGER NOT NULL CHECK (since > 0),
            PRIMARY KEY (bucket, icao24, observedAt, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX positionSince ON position (since);
        """

    /// Beside the log: who may do what, and what was settled about sources while they ran. Neither raises the version.
    private static let keys = """
        CREATE TABLE accessKey (
            id TEXT PRIMARY KEY CHECK (length(id) = 16),
            name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
            hash TEXT NOT NULL CHECK (length(hash) = 64),
            scopes INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 7),
            createdAt INTEGER NOT NULL CHECK (createdAt >= 0),
            revokedAt INTEGER CHECK (revokedAt >= createdAt)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sourceControl (
            source TEXT PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 64),
            value TEXT NOT NULL CHECK (json_valid(value))
        ) STRICT, WITHOUT ROWID;
        """

    /// For each step of ten seconds (see `TimeStep`) the last version that changed anything observed in it, which a
    /// picture's version is the maximum of; and for the sources' rules, which change every picture.
    private static let changedTimes = """
        CREATE TABLE changedStep (
            kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
            step INTEGER NOT NULL,
            version INTEGER NOT NULL CHECK (version > 0),
            PRIMARY KEY (kind, step)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO changedStep (kind, step, version)
            SELECT 0, (observedAt + 9) / 10, max(max(since, coalesce(until, 0))) FROM observation GROUP BY 2;
        INSERT INTO changedStep (kind, step, version)
            SELECT 1, (observedAt + 9) / 10, max(max(since, coalesce(until, 0))) FROM pilotReport GROUP BY 2;
        INSERT INTO changedStep (kind, step, version)
            SELECT 2, (observedAt + 9) / 10, max(since) FROM position GROUP BY 2;
        ALTER TABLE head ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;
        """

    /// Finds anew when what changed, for a log that was put together of rows.
    static let recountChangedSteps = """
        DELETE FROM changedStep;
        INSERT INTO changedStep (kind, step, version)
            SELECT 0, (observedAt + 9) / 10, max(max(since, coalesce(until, 0))) FROM observation GROUP BY 2;
        INSERT INTO changedStep (kind, step, version)
            SELECT 1, (observedAt + 9) / 10, max(max(since, coalesce(until, 0))) FROM pilotReport GROUP BY 2;
        INSERT INTO changedStep (kind, step, version)
            SELECT 2, (observedAt + 9) / 10, max(since) FROM position GROUP BY 2;
        """

    /// Tells this log's versions from any other's.
    private static let logName = """
        ALTER TABLE head ADD COLUMN log TEXT NOT NULL DEFAULT '' CHECK (length(log) IN (0, 16));
        \(renameLog);
        """

    /// Makes another log of this one.
    static let renameLog = "UPDATE head SET log = lower(hex(randomblob(8)))"

    /// When each kind of data (`DataKind`) of a source was last fetched.
    private static let fetchedKinds = """
        CREATE TABLE fetched (
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            fetchedAt INTEGER NOT NULL CHECK (fetchedAt >= 0),
            PRIMARY KEY (source, kind)
        ) STRICT, WITHOUT ROWID;
        """

    /// What was imported stays when what is as old is deleted. Until a source is `settled`, nobody has said whether
    /// its data is made up. Before this version a source that had never been fetched, and wasn't sent in, was an
    /// import.
    private static let importsAndNatures = """
        ALTER TABLE observation ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));
        ALTER TABLE pilotReport ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));
        ALTER TABLE area ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));
        UPDATE observation SET imported = 1
            WHERE source IN (SELECT number FROM source WHERE fetchedAt IS NULL AND name <> 'ingest');
        UPDATE pilotReport SET imported = 1
            WHERE source IN (SELECT number FROM source WHERE fetchedAt IS NULL AND name <> 'ingest');
        UPDATE area SET imported = 1
            WHERE source IN (SELECT number FROM source WHERE fetchedAt IS NULL AND name <> 'ingest');
        ALTER TABLE source ADD COLUMN settled INTEGER NOT NULL DEFAULT 1 CHECK (settled IN (0, 1));
        """

    /// Before the version that marks imports, one whose source is fetched too looked like what was fetched. A version
    /// was not committed before the newest that was observed until then, and nothing that is fetched is a day old when
    /// it comes: what
    /// was older than that at its version is an import, and stays. A week's sending in (`ingest`) is none.
    private static let earlierImports = """
        CREATE TEMP TABLE importClock (version INTEGER PRIMARY KEY, newest INTEGER NOT NULL);
        INSERT INTO importClock (version, newest)
            SELECT version, max(max(step)) OVER (ORDER BY version) * 10 FROM changedStep GROUP BY version;
        UPDATE observation SET imported = 1
            WHERE imported = 0 AND source IN (SELECT number FROM source WHERE name <> 'ingest') AND observedAt < (
                SELECT newest FROM importClock WHERE version <= since ORDER BY version DESC LIMIT 1) - 86400;
        UPDATE pilotReport SET imported = 1
            WHERE imported = 0 AND source IN (SELECT number FROM source WHERE name <> 'ingest') AND observedAt < (
                SELECT newest FROM importClock WHERE version <= since ORDER BY version DESC LIMIT 1) - 86400;
        UPDATE area SET imported = 1
            WHERE imported = 0 AND source IN (SELECT number FROM source WHERE name <> 'ingest') AND validTo < (
                SELECT newest FROM importClock WHERE version <= since ORDER BY version DESC LIMIT 1) - 86400;
        DROP TABLE importClock;
        """

    /// Since when a kind of data was fetched without a gap (`DataKind.longestGapSeconds`). Before this version nobody
    /// noted it.
    private static let unbrokenFetches = """
        ALTER TABLE fetched ADD COLUMN since INTEGER NOT NULL DEFAULT 0 CHECK (since >= 0);
        UPDATE fetched SET since = fetchedAt;
        """

    /// What only a viewport asked for ends with the process, or with the viewport. Before this version nobody noted it.
    private static let transientObservations = """
        ALTER TABLE observation ADD COLUMN transient INTEGER NOT NULL DEFAULT 0 CHECK (transient IN (0, 1));
        CREATE INDEX observationTransient ON observation (source) WHERE transient = 1 AND until IS NULL;
        """

    /// Flights that alerts are made for. They outlive a restart; beside the log, as keys are.
    private static let followedFlights = """
        CREATE TABLE followedFlight (
            id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
            accessKey TEXT NOT NULL,
            value TEXT NOT NULL CHECK (json_valid(value))
        ) STRICT, WITHOUT ROWID;
        """

    /// A sum over the rows that were packed (`RowSum`), which finds rows that changed though nobody changed them.
    private static let rowSums = "ALTER TABLE packedPart ADD COLUMN rowSum INTEGER"

    /// The secret of `ContentTags`, which a copy of the log has to keep: without it no stored observation is found
    /// again. Keys up to `plainTagsUpTo` may have the tags of `ContentHash` instead. `source.ruleChanged`: the source's
    /// rows may
    /// have the tags of either merge rule.
    private static let keyedTags = """
        ALTER TABLE head ADD COLUMN tagSecret BLOB NOT NULL DEFAULT x'' CHECK (length(tagSecret) IN (0, 16));
        ALTER TABLE head ADD COLUMN plainTagsUpTo INTEGER NOT NULL DEFAULT -1;
        UPDATE head SET tagSecret = randomblob(16),
            plainTagsUpTo = coalesce((SELECT key FROM observation ORDER BY key DESC LIMIT 1), -1);
        ALTER TABLE source ADD COLUMN ruleChanged INTEGER NOT NULL DEFAULT 0 CHECK (ruleChanged IN (0, 1));
        """

    /// `observation.reporter` is the access key that sent an observation; 0: none did, or it came before this version.
    /// `reporterSource` lists the sources that each key has named. Two reporters may use one id: `idTaken` marks a
    /// reporter's observation whose public id is made of its key, because another source or reporter had the id first.
    private static let reporters = """
        CREATE TABLE reporter (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            accessKey TEXT NOT NULL UNIQUE CHECK (length(accessKey) BETWEEN 1 AND 64)
        ) STRICT;
        CREATE TABLE reporterSource (
            reporter INTEGER NOT NULL REFERENCES reporter (number),
            source INTEGER NOT NULL REFERENCES source (number),
            PRIMARY KEY (reporter, source)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE observation ADD COLUMN reporter INTEGER NOT NULL DEFAULT 0 CHECK (reporter >= 0);
        ALTER TABLE observation ADD COLUMN idTaken INTEGER NOT NULL DEFAULT 0 CHECK (idTaken IN (0, 1));
        DROP INDEX observationExternalId;
        CREATE UNIQUE INDEX observationExternalId ON observation (externalId, source, reporter)
            WHERE externalId IS NOT NULL AND until IS NULL;
        """

    /// Up to when rows were deleted, and the version of the last deletion: 0 of positions, 1 of everything else. A
    /// version before that one can no longer be read from before that instant.
    private static let deletions = """
        CREATE TABLE deletion (
            kind INTEGER PRIMARY KEY CHECK (kind IN (0, 1)),
            before INTEGER NOT NULL,
            version INTEGER NOT NULL CHECK (version > 0)
        ) STRICT;
        """

    /// The key-values of a source: its session, its last queries and how far they reach. Earlier versions kept them
    /// among the cursors under reserved names.
    private static let sourceValues = """
        CREATE TABLE sourceValue (
            source INTEGER NOT NULL REFERENCES source (number),
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (source, name)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO sourceValue (source, name, value) SELECT source, piece, value FROM cursor
            WHERE piece IN ('session', 'viewport', 'query', 'corridor coverage', 'viewport coverage', 'global coverage',
                'all coverage');
        DELETE FROM cursor
            WHERE piece IN ('session', 'viewport', 'query', 'corridor coverage', 'viewport coverage', 'global coverage',
                'all coverage');
        """

    /// The number of an area's dataset was one of three; now a new dataset needs no migration. SQLite changes no CHECK
    /// in place, so the table is copied.
    ///
    /// Source: sqlite.org/lang_altertable.html, section 7
    private static let openCollections = """
        CREATE TABLE newArea (
            number INTEGER PRIMARY KEY,
            collection INTEGER NOT NULL CHECK (collection BETWEEN 0 AND 255),
            id TEXT NOT NULL,
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            hazard TEXT,
            severity INTEGER CHECK (severity BETWEEN 0 AND 4),
            altitudeMin INTEGER,
            altitudeMax INTEGER,
            validFrom INTEGER NOT NULL CHECK (validFrom >= 0),
            validTo INTEGER NOT NULL CHECK (validTo > validFrom),
            issuedAt INTEGER,
            forecastHour INTEGER,
            history INTEGER,
            status TEXT,
            text TEXT,
            geometry TEXT NOT NULL CHECK (json_valid(geometry)),
            since INTEGER NOT NULL CHECK (since > 0),
            until INTEGER CHECK (until >= since),
            imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1)),
            statedTo INTEGER CHECK (statedTo >= 0)
        ) STRICT;
        INSERT INTO newArea (number, collection, id, source, kind, hazard, severity, altitudeMin, altitudeMax, validFrom,
            validTo, issuedAt, forecastHour, history, status, text, geometry, since, until, imported, statedTo)
            SELECT number, collection, id, source, kind, hazard, severity, altitudeMin, altitudeMax, validFrom, validTo,
                issuedAt, forecastHour, history, status, text, geometry, since, until, imported, statedTo FROM area;
        DROP TABLE area;
        ALTER TABLE newArea RENAME TO area;
        CREATE UNIQUE INDEX areaId ON area (collection, id, source, validFrom) WHERE until IS NULL;
        CREATE INDEX areaOpen ON area (since) WHERE until IS NULL;
        CREATE INDEX areaClosed ON area (until) WHERE until IS NOT NULL;
        CREATE INDEX areaValid ON area (validTo, validFrom);
        """

    /// When an area was said to end that is taken to hold for less.
    private static let statedEnds = "ALTER TABLE area ADD COLUMN statedTo INTEGER CHECK (statedTo >= 0)"

    /// Copies of parts of the archive (`ArchivePart`), as `WindowPart` packs them: they can be made anew of the log at
    /// any time. `version` is the last one that had changed any row of the part. `head.deletions` counts the
    /// transactions that deleted
    /// observations, which change no version.
    private static let packedParts = """
        CREATE TABLE packedPart (
            part INTEGER PRIMARY KEY CHECK (part >= 0),
            version INTEGER NOT NULL CHECK (version > 0),
            packed BLOB NOT NULL
        ) STRICT;
        ALTER TABLE head ADD COLUMN deletions INTEGER NOT NULL DEFAULT 0 CHECK (deletions >= 0);
        """

    /// Where and when a kind of data of a source is complete: the areas that it is asked for (`until` is null) and was
    /// asked for (`until` is their last fetch). `part` is the part of its query. `ring` has the corners as pairs of
    /// 64-bit numbers,
    /// little-endian, longitude first; null is the world. A kind without a row is of the world, as all were before
    /// this version. A transient row of kind 2 (superseding) ends another transient row (see `TransientEnd`).
    private static let coveredAreas = """
        CREATE TABLE coveredArea (
            number INTEGER PRIMARY KEY,
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            part TEXT NOT NULL,
            ring BLOB CHECK (length(ring) >= 48 AND length(ring) % 16 = 0),
            since INTEGER NOT NULL CHECK (since >= 0),
            until INTEGER CHECK (until >= since)
        ) STRICT;
        CREATE INDEX coveredAreaPart ON coveredArea (source, kind, part, until);
        CREATE INDEX observationEnd ON observation (source) WHERE transient = 1 AND kind = 2 AND until IS NULL;
        """
}
