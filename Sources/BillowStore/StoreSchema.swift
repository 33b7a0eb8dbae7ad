internal import Foundation
internal import GRDB

/// The schema of the file.
///
/// `sum` is the checksum over the columns before it (`RowSum`, `StoredColumn`), which detects flipped bits. Tables
/// without it don't affect frames: `billow check` compares `changedStep` with the rows, and reporters are found by
/// their indices.
///
/// Times are Unix seconds, altitudes feet, cells the bit pattern of their H3 index, EDR ten-thousandths. A row of the
/// log is visible from the version `since` until the version `until`. `until` is null while the row is open.
///
/// A released migration never changes. A later one is appended to the migrator, as strings only.
enum StoreSchema {
    /// `BILW`, in the file's header: distinguishes Billow's files from other programs'.
    ///
    /// Source: SQLite file format, section 1.3.17, https://sqlite.org/fileformat2.html
    static let applicationID: Int32 = 0x4249_4C57

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first release") { db in
            for tables in [head, sources, observations, pilotReports, areas, positions, fields, derived, besideTheLog] {
                try db.execute(sql: tables)
            }
            try db.execute(
                sql: """
                    INSERT INTO head (id, version, rules, log, deletions, tagSecret, simulated, sum)
                    VALUES (1, 0, 0, ?1, 0, ?2, NULL, row_sum(1, 0, 0, ?1, 0, ?2, NULL))
                    """, arguments: [Head.newName(), Data((0..<16).map { _ in UInt8.random(in: 0...255) })])
        }
        migrator.registerMigration("areas by their start") { db in
            // For the area that began first: a long one may end after all others.
            try db.execute(sql: "CREATE INDEX areaStart ON area (validFrom) WHERE until IS NULL")
        }
        return migrator
    }

    /// Whether a build from before the first release created the tables. Such a file is not migrated: `Salvage` copies
    /// it.
    static func isUnreleased(_ db: Database) throws -> Bool {
        guard try db.tableExists("grdb_migrations") else { return false }
        return try Bool.fetchOne(db, sql: "SELECT 1 FROM grdb_migrations WHERE identifier = '1 log'") ?? false
    }

    /// A single row about the whole log.
    private static let head = """
        CREATE TABLE head (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            version INTEGER NOT NULL CHECK (version >= 0),
            -- The last version that changed every frame, because of a source's rule or a manual deletion.
            rules INTEGER NOT NULL,
            -- Distinguishes the versions of this log from those of other logs.
            log TEXT NOT NULL CHECK (length(log) = 16),
            -- The number of transactions that deleted observations. They do not change the version of a part.
            deletions INTEGER NOT NULL CHECK (deletions >= 0),
            -- The secret of ContentTags. A copy of the log has the same one, to find stored observations.
            tagSecret BLOB NOT NULL CHECK (length(tagSecret) = 16),
            -- Whether all data is simulated. Null until a source states it. Rows of sources may be lost.
            simulated INTEGER CHECK (simulated IN (0, 1)),
            sum INTEGER NOT NULL
        ) STRICT;
        """

    /// Sources and their sync state.
    private static let sources = """
        CREATE TABLE source (
            -- Numbers are dense and never reused.
            number INTEGER PRIMARY KEY CHECK (number BETWEEN 0 AND 255),
            name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
            mergeRule INTEGER NOT NULL CHECK (mergeRule IN (0, 1)),
            -- Null until the source states whether its data is simulated.
            simulated INTEGER CHECK (simulated IN (0, 1)),
            fetchedAt INTEGER CHECK (fetchedAt >= 0),
            completeSince INTEGER CHECK (completeSince >= 0),
            -- Whether the merge rule was changed. Rows may then have the tags of either rule.
            ruleChanged INTEGER NOT NULL CHECK (ruleChanged IN (0, 1)),
            sum INTEGER NOT NULL
        ) STRICT;

        -- The time of the last fetch of each kind of data (FeedKind), and since when there is no gap.
        CREATE TABLE fetched (
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            fetchedAt INTEGER NOT NULL CHECK (fetchedAt >= 0),
            since INTEGER NOT NULL CHECK (since >= 0),
            sum INTEGER NOT NULL,
            PRIMARY KEY (source, kind)
        ) STRICT, WITHOUT ROWID;

        -- The kinds of data that were ever stored.
        CREATE TABLE storedKind (
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (source, kind)
        ) STRICT, WITHOUT ROWID;

        -- The areas and times for which a kind of data is complete. `until` is null for an area that is requested now,
        -- and the time of the last fetch for a former one. A kind without a row covers the whole world.
        CREATE TABLE coveredArea (
            number INTEGER PRIMARY KEY,
            source INTEGER NOT NULL REFERENCES source (number),
            kind TEXT NOT NULL,
            -- The part of the source's query that the area belongs to.
            part TEXT NOT NULL,
            -- The corners as little-endian 64-bit numbers, longitude first. Null stands for the world.
            ring BLOB CHECK (length(ring) >= 48 AND length(ring) % 16 = 0),
            since INTEGER NOT NULL CHECK (since >= 0),
            until INTEGER CHECK (until >= since),
            sum INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX coveredAreaPart ON coveredArea (source, kind, part, until);

        -- The position at which the next fetch of a piece of the query continues.
        CREATE TABLE cursor (
            source INTEGER NOT NULL REFERENCES source (number),
            piece TEXT NOT NULL,
            value TEXT NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (source, piece)
        ) STRICT, WITHOUT ROWID;

        -- Other values that an upstream stores between rounds, such as its session and last queries.
        CREATE TABLE sourceValue (
            source INTEGER NOT NULL REFERENCES source (number),
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            sum INTEGER NOT NULL,
            PRIMARY KEY (source, name)
        ) STRICT, WITHOUT ROWID;

        -- The access keys that sent observations, and the sources that each of them has named.
        CREATE TABLE reporter (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            accessKey TEXT NOT NULL UNIQUE CHECK (length(accessKey) BETWEEN 1 AND 64)
        ) STRICT;
        CREATE TABLE reporterSource (
            reporter INTEGER NOT NULL REFERENCES reporter (number),
            source INTEGER NOT NULL REFERENCES source (number),
            PRIMARY KEY (reporter, source)
        ) STRICT, WITHOUT ROWID;
        """

    /// `observation.key` is second << 30 | tag (see `ContentTags`). So the table is clustered by time, and a row is
    /// found by its content without an index. Keys with colliding tags, and reopened content, use the next free key of
    /// the same second. So a row may only be deleted if its next key is free, or a search would stop at the gap.
    private static let observations = """
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
            -- Whether the row was imported. Retention does not delete imports.
            imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
            -- Whether only a viewport requested the row. It ends with the process or with the viewport.
            transient INTEGER NOT NULL CHECK (transient IN (0, 1)),
            -- The reporter that sent the row; 0 if it was fetched or imported.
            reporter INTEGER NOT NULL CHECK (reporter >= 0),
            -- Whether another source or reporter already used the id. The public id is then the key.
            idTaken INTEGER NOT NULL CHECK (idTaken IN (0, 1)),
            sum INTEGER NOT NULL,
            CHECK (severity IS NOT NULL OR edr IS NOT NULL)
        ) STRICT;
        -- For changes since a version. Open and closed rows have separate indices, so a batch writes each once.
        CREATE INDEX observationOpen ON observation (since) WHERE until IS NULL;
        CREATE INDEX observationClosed ON observation (until) WHERE until IS NOT NULL;
        -- Two reporters may use one id.
        CREATE UNIQUE INDEX observationExternalId ON observation (externalId, source, reporter)
            WHERE externalId IS NOT NULL AND until IS NULL;
        -- The rows that a TransientEnd ends, and the rows of kind 2 (superseding) that end them.
        CREATE INDEX observationTransient ON observation (source) WHERE transient = 1 AND until IS NULL;
        CREATE INDEX observationEnd ON observation (source) WHERE transient = 1 AND kind = 2 AND until IS NULL;
        """

    private static let pilotReports = """
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
            until INTEGER CHECK (until >= since),
            imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
            sum INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX pilotReportId ON pilotReport (id, source) WHERE until IS NULL;
        CREATE INDEX pilotReportOpen ON pilotReport (since) WHERE until IS NULL;
        CREATE INDEX pilotReportClosed ON pilotReport (until) WHERE until IS NOT NULL;
        -- In the order of pages, for open rows and for rows of every version.
        CREATE INDEX pilotReportTime ON pilotReport (observedAt, id, source) WHERE until IS NULL;
        CREATE INDEX pilotReportAny ON pilotReport (observedAt, id, source);
        """

    private static let areas = """
        CREATE TABLE area (
            number INTEGER PRIMARY KEY,
            -- The number of a dataset of areas. A new dataset needs no migration.
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
            -- The coordinates of a GeoJSON MultiPolygon.
            geometry TEXT NOT NULL CHECK (json_valid(geometry)),
            since INTEGER NOT NULL CHECK (since > 0),
            until INTEGER CHECK (until >= since),
            imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
            -- The issued end of validity, if the area ended earlier.
            statedTo INTEGER CHECK (statedTo >= 0),
            sum INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX areaId ON area (collection, id, source, validFrom) WHERE until IS NULL;
        CREATE INDEX areaOpen ON area (since) WHERE until IS NULL;
        CREATE INDEX areaClosed ON area (until) WHERE until IS NOT NULL;
        CREATE INDEX areaValid ON area (validTo, validFrom);
        """

    /// `position.bucket` is second ÷ 180. The table is clustered by time, and by aircraft within three minutes, so that
    /// both a frame and a track read few pages.
    private static let positions = """
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
            sum INTEGER NOT NULL,
            PRIMARY KEY (bucket, icao24, observedAt, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX positionSince ON position (since);
        """

    /// A field consists of levels of one source, product, run and valid time, all on one grid. A level is never
    /// corrected, so it has no `until`.
    ///
    /// `fieldLevel.number` is version << 20 | index among the levels of that version. A number is never reused, even
    /// after a deletion, so that caches by number stay valid.
    private static let fields = """
        CREATE TABLE fieldGrid (
            -- Numbers are never reused, because grids are not deleted.
            number INTEGER PRIMARY KEY CHECK (number > 0),
            -- A GridDefinition as JSON.
            definition TEXT NOT NULL CHECK (json_valid(definition)),
            sum INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE fieldLevel (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            source INTEGER NOT NULL REFERENCES source (number),
            -- 0 is the nowcast, 1 the forecast.
            product INTEGER NOT NULL CHECK (product BETWEEN 0 AND 255),
            run INTEGER NOT NULL CHECK (run >= 0),
            validTime INTEGER NOT NULL CHECK (validTime >= run),
            -- In feet; -1 is the maximum over the column of air.
            level INTEGER NOT NULL CHECK (level BETWEEN -1 AND 65000),
            grid INTEGER NOT NULL REFERENCES fieldGrid (number),
            since INTEGER NOT NULL CHECK (since > 0),
            imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
            -- The checksum of the packed bytes: row_sum(packed).
            packedSum INTEGER NOT NULL,
            -- The checksum of the columns before it.
            sum INTEGER NOT NULL,
            -- The result of FieldPlane.packed(), some 20 to 120 KB.
            packed BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX fieldLevelIdentity ON fieldLevel (source, product, run, validTime, level);
        -- All columns except the bytes, so that the list of levels is read from this index alone.
        CREATE INDEX fieldLevelSince ON fieldLevel
            (since, source, product, run, validTime, level, grid, imported, packedSum, sum);
        CREATE INDEX fieldLevelValid ON fieldLevel (validTime, source, product, level, run);
        """

    /// Tables that are derived from rows, and records of deletions.
    private static let derived = """
        -- The last version that changed observed data of each step of ten seconds (TimeStep). A frame's version is the
        -- maximum over its steps. Kind 0 is observations, 1 pilot reports, 2 positions.
        CREATE TABLE changedStep (
            kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
            step INTEGER NOT NULL,
            version INTEGER NOT NULL CHECK (version > 0),
            PRIMARY KEY (kind, step)
        ) STRICT, WITHOUT ROWID;

        -- The instant before which rows were deleted, and the version of the last deletion. Kind 0 is positions,
        -- 1 everything without a kind of its own, 2 fields, 3 forecasts of earlier runs. Before that instant, earlier
        -- versions are no longer readable.
        CREATE TABLE deletion (
            kind INTEGER PRIMARY KEY CHECK (kind IN (0, 1, 2, 3)),
            before INTEGER NOT NULL,
            version INTEGER NOT NULL CHECK (version > 0),
            sum INTEGER NOT NULL
        ) STRICT;

        -- A cache of archive parts (ArchivePart) as WindowPart packs them, with the last version that changed any row
        -- of the part.
        CREATE TABLE packedPart (
            part INTEGER PRIMARY KEY CHECK (part >= 0),
            version INTEGER NOT NULL CHECK (version > 0),
            -- The checksum of the packed rows (PartSum).
            rowSum INTEGER NOT NULL,
            -- The checksum of the columns before it. The bytes contain their own.
            sum INTEGER NOT NULL,
            packed BLOB NOT NULL
        ) STRICT;
        """

    /// Access keys and settings that change at run time. Changing them does not raise the version.
    private static let besideTheLog = """
        CREATE TABLE accessKey (
            id TEXT PRIMARY KEY CHECK (length(id) = 16),
            name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
            hash TEXT NOT NULL CHECK (length(hash) = 64),
            scopes INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 7),
            createdAt INTEGER NOT NULL CHECK (createdAt >= 0),
            revokedAt INTEGER CHECK (revokedAt >= createdAt),
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sourceControl (
            source TEXT PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 64),
            value TEXT NOT NULL CHECK (json_valid(value)),
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Flights that are monitored for alerts. They survive a restart.
        CREATE TABLE followedFlight (
            id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
            accessKey TEXT NOT NULL,
            value TEXT NOT NULL CHECK (json_valid(value)),
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// Recomputes the change times, for a log that was copied row by row.
    static let recountChangedSteps = """
        DELETE FROM changedStep;
        INSERT INTO changedStep (kind, step, version)
            SELECT 0, ((key >> 30) + 9) / 10, max(max(since, coalesce(until, 0))) FROM observation GROUP BY 2;
        INSERT INTO changedStep (kind, step, version)
            SELECT 1, (observedAt + 9) / 10, max(max(since, coalesce(until, 0))) FROM pilotReport GROUP BY 2;
        INSERT INTO changedStep (kind, step, version)
            SELECT 2, (observedAt + 9) / 10, max(since) FROM position GROUP BY 2;
        """
}
