internal import BillowStore
internal import Foundation

/// The tables of a log in PostgreSQL. Their names and columns are those of SQLite's (`StoreSchema`), which explains
/// them.
///
/// Numbers have the smallest type that holds their range. Texts are compared by their bytes, as in SQLite. `sum` is
/// always 0: the server checks its own pages (`initdb --data-checksums`).
///
/// A released step never changes. A later one is appended. A step must leave the tables usable for the release before
/// it, because the servers of a fleet are updated one after another, and the first one runs the step.
enum PostgreSQLSchema {
    /// Creates missing tables and runs missing steps, in one transaction.
    /// - Throws: `StoreError.unavailable` if a newer version of Billow made the tables.
    static func migrate(_ connection: PostgreSQLConnection, _ address: DatabaseAddress) throws {
        try connection.transaction(.writing) {
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS billowSchema (
                    id SMALLINT PRIMARY KEY CHECK (id = 1),
                    step INTEGER NOT NULL,
                    -- The log that is being copied into the tables, and its version; null if they are whole.
                    migration TEXT
                );
                INSERT INTO billowSchema (id, step) VALUES (1, 0) ON CONFLICT (id) DO NOTHING
                """)
            let statement = try connection.statement("SELECT step FROM billowSchema WHERE id = 1 FOR UPDATE")
            let done = Int(try statement.value() ?? 0)
            guard done <= steps.count else { throw newer(done, address) }
            guard done < steps.count else { return }
            for step in steps[done...] { try connection.execute(step) }
            if done == 0 { try insertHead(connection) }
            try connection.execute("UPDATE billowSchema SET step = \(steps.count) WHERE id = 1")
        }
    }

    /// The tables, without changing them.
    /// - Throws: `StoreError.unavailable` if a newer version of Billow made the tables, or a migration into them is not
    ///   finished.
    static func tables(_ connection: PostgreSQLConnection, _ address: DatabaseAddress) throws -> PostgreSQLTables {
        guard try exists(connection) else { return .missing }
        let isWhole = try connection.statement("SELECT 1 FROM billowSchema WHERE id = 1 AND migration IS NULL").value()
        guard isWhole != nil else {
            throw StoreError.unavailable(
                path: address.description, reason: "a migration into it isn't finished; run billow migrate again")
        }
        let done = try connection.statement("SELECT step FROM billowSchema WHERE id = 1").value() ?? 0
        guard done <= steps.count else { throw newer(Int(done), address) }
        return done == steps.count ? .current : .older(step: Int(done), newest: steps.count)
    }

    private static func newer(_ step: Int, _ address: DatabaseAddress) -> StoreError {
        .unavailable(
            path: address.description,
            reason: "a newer version of Billow wrote it: its tables are at step \(step), and this version knows "
                + "\(steps.count); update this one")
    }

    /// Whether the user may create tables in the schema that gets them.
    static func canCreate(_ connection: PostgreSQLConnection) throws -> Bool {
        let may = try connection.statement(
            "SELECT CAST(has_schema_privilege(current_schema(), 'CREATE') AS INTEGER)")
        return try may.value() == 1
    }

    static func exists(_ connection: PostgreSQLConnection) throws -> Bool {
        try connection.statement("SELECT 1 WHERE to_regclass('billowSchema') IS NOT NULL").value() != nil
    }

    private static func insertHead(_ connection: PostgreSQLConnection) throws {
        let name = Head.newName()
        let secret = (0..<16).map { _ in UInt8.random(in: 0...255) }
        _ = try connection.run(
            """
            INSERT INTO head (id, version, rules, log, deletions, tagSecret, simulated, sum)
            VALUES (1, 0, 0, $1, 0, $2, NULL, 0)
            """, [.text(name), .bytes(secret)],
            types: [.text, .bytes])
    }

    private static let steps = [
        [head, sources, observations, pilotReports, areas, positions, fields, derived, besideTheLog]
            .joined(separator: "\n"), fleet, home,
    ]

    private static let head = """
        CREATE TABLE head (
            id SMALLINT PRIMARY KEY CHECK (id = 1),
            version BIGINT NOT NULL CHECK (version >= 0),
            rules BIGINT NOT NULL,
            log TEXT COLLATE "C" NOT NULL CHECK (length(log) = 16),
            deletions BIGINT NOT NULL CHECK (deletions >= 0),
            tagSecret BYTEA NOT NULL CHECK (length(tagSecret) = 16),
            simulated SMALLINT CHECK (simulated IN (0, 1)),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        ) WITH (fillfactor = 10);
        """

    private static let sources = """
        CREATE TABLE source (
            number SMALLINT PRIMARY KEY CHECK (number BETWEEN 0 AND 255),
            name TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
            mergeRule SMALLINT NOT NULL CHECK (mergeRule IN (0, 1)),
            simulated SMALLINT CHECK (simulated IN (0, 1)),
            fetchedAt BIGINT CHECK (fetchedAt >= 0),
            completeSince BIGINT CHECK (completeSince >= 0),
            ruleChanged SMALLINT NOT NULL CHECK (ruleChanged IN (0, 1)),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE TABLE fetched (
            source SMALLINT NOT NULL REFERENCES source (number),
            kind TEXT COLLATE "C" NOT NULL,
            fetchedAt BIGINT NOT NULL CHECK (fetchedAt >= 0),
            since BIGINT NOT NULL CHECK (since >= 0),
            sum SMALLINT NOT NULL CHECK (sum = 0),
            PRIMARY KEY (source, kind)
        );
        CREATE TABLE storedKind (
            source SMALLINT NOT NULL REFERENCES source (number),
            kind TEXT COLLATE "C" NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0),
            PRIMARY KEY (source, kind)
        );
        CREATE TABLE coveredArea (
            number BIGINT PRIMARY KEY,
            source SMALLINT NOT NULL REFERENCES source (number),
            kind TEXT COLLATE "C" NOT NULL,
            part TEXT COLLATE "C" NOT NULL,
            ring BYTEA CHECK (length(ring) >= 48 AND length(ring) % 16 = 0),
            since BIGINT NOT NULL CHECK (since >= 0),
            until BIGINT CHECK (until >= since),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE INDEX coveredAreaPart ON coveredArea (source, kind, part, until);
        CREATE TABLE cursor (
            source SMALLINT NOT NULL REFERENCES source (number),
            piece TEXT COLLATE "C" NOT NULL,
            value TEXT COLLATE "C" NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0),
            PRIMARY KEY (source, piece)
        );
        CREATE TABLE sourceValue (
            source SMALLINT NOT NULL REFERENCES source (number),
            name TEXT COLLATE "C" NOT NULL,
            value TEXT COLLATE "C" NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0),
            PRIMARY KEY (source, name)
        );
        CREATE TABLE reporter (
            number BIGINT PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY CHECK (number > 0),
            accessKey TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(accessKey) BETWEEN 1 AND 64)
        );
        CREATE TABLE reporterSource (
            reporter BIGINT NOT NULL REFERENCES reporter (number),
            source SMALLINT NOT NULL REFERENCES source (number),
            PRIMARY KEY (reporter, source)
        );
        """

    /// The widest columns come first, so that no bytes are lost to alignment.
    private static let observations = """
        CREATE TABLE observation (
            key BIGINT PRIMARY KEY CHECK (key >= 0),
            cell BIGINT NOT NULL CHECK (cell > 0),
            since BIGINT NOT NULL CHECK (since > 0),
            until BIGINT CHECK (until >= since),
            reporter BIGINT NOT NULL CHECK (reporter >= 0),
            altitudeMin INTEGER NOT NULL CHECK (altitudeMin >= 0 AND altitudeMin % 1000 = 0),
            altitudeMax INTEGER NOT NULL
                CHECK (altitudeMax BETWEEN altitudeMin AND 60000 AND altitudeMax % 1000 = 0),
            severity SMALLINT CHECK (severity BETWEEN 0 AND 4),
            edr SMALLINT CHECK (edr BETWEEN 0 AND 10000),
            category SMALLINT CHECK (category BETWEEN 10 AND 110 AND category % 10 = 0),
            source SMALLINT NOT NULL REFERENCES source (number),
            kind SMALLINT NOT NULL CHECK (kind BETWEEN 0 AND 255),
            imported SMALLINT NOT NULL CHECK (imported IN (0, 1)),
            transient SMALLINT NOT NULL CHECK (transient IN (0, 1)),
            idTaken SMALLINT NOT NULL CHECK (idTaken IN (0, 1)),
            sum SMALLINT NOT NULL CHECK (sum = 0),
            externalId TEXT COLLATE "C",
            aircraft TEXT COLLATE "C",
            CHECK (severity IS NOT NULL OR edr IS NOT NULL)
        );
        CREATE INDEX observationOpen ON observation (since, key) WHERE until IS NULL;
        CREATE INDEX observationClosed ON observation (until) WHERE until IS NOT NULL;
        CREATE UNIQUE INDEX observationExternalId ON observation (externalId, source, reporter)
            WHERE externalId IS NOT NULL AND until IS NULL;
        CREATE INDEX observationTransient ON observation (source, key) WHERE transient = 1 AND until IS NULL;
        CREATE INDEX observationEnd ON observation (source, key) WHERE transient = 1 AND kind = 2 AND until IS NULL;
        """

    private static let pilotReports = """
        CREATE TABLE pilotReport (
            number BIGINT PRIMARY KEY,
            id TEXT COLLATE "C" NOT NULL,
            source SMALLINT NOT NULL REFERENCES source (number),
            lon DOUBLE PRECISION NOT NULL CHECK (lon BETWEEN -180 AND 180),
            lat DOUBLE PRECISION NOT NULL CHECK (lat BETWEEN -90 AND 90),
            observedAt BIGINT NOT NULL CHECK (observedAt >= 0),
            type TEXT COLLATE "C" NOT NULL,
            aircraft TEXT COLLATE "C",
            altitude BIGINT,
            turbulence TEXT COLLATE "C" NOT NULL,
            text TEXT COLLATE "C" NOT NULL,
            since BIGINT NOT NULL CHECK (since > 0),
            until BIGINT CHECK (until >= since),
            imported SMALLINT NOT NULL CHECK (imported IN (0, 1)),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE UNIQUE INDEX pilotReportId ON pilotReport (id, source) WHERE until IS NULL;
        CREATE INDEX pilotReportOpen ON pilotReport (since, number) WHERE until IS NULL;
        CREATE INDEX pilotReportClosed ON pilotReport (until) WHERE until IS NOT NULL;
        CREATE INDEX pilotReportTime ON pilotReport (observedAt, id, source) WHERE until IS NULL;
        CREATE INDEX pilotReportAny ON pilotReport (observedAt, id, source);
        """

    private static let areas = """
        CREATE TABLE area (
            number BIGINT PRIMARY KEY,
            collection SMALLINT NOT NULL CHECK (collection BETWEEN 0 AND 255),
            id TEXT COLLATE "C" NOT NULL,
            source SMALLINT NOT NULL REFERENCES source (number),
            kind TEXT COLLATE "C" NOT NULL,
            hazard TEXT COLLATE "C",
            severity SMALLINT CHECK (severity BETWEEN 0 AND 4),
            altitudeMin BIGINT,
            altitudeMax BIGINT,
            validFrom BIGINT NOT NULL CHECK (validFrom >= 0),
            validTo BIGINT NOT NULL CHECK (validTo > validFrom),
            issuedAt BIGINT,
            forecastHour BIGINT,
            history BIGINT,
            status TEXT COLLATE "C",
            text TEXT COLLATE "C",
            geometry TEXT COLLATE "C" NOT NULL,
            since BIGINT NOT NULL CHECK (since > 0),
            until BIGINT CHECK (until >= since),
            imported SMALLINT NOT NULL CHECK (imported IN (0, 1)),
            statedTo BIGINT CHECK (statedTo >= 0),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE UNIQUE INDEX areaId ON area (collection, id, source, validFrom) WHERE until IS NULL;
        CREATE INDEX areaOpen ON area (since, number) WHERE until IS NULL;
        CREATE INDEX areaClosed ON area (until) WHERE until IS NOT NULL;
        CREATE INDEX areaValid ON area (validTo, validFrom);
        CREATE INDEX areaStart ON area (validFrom) WHERE until IS NULL;
        """

    private static let positions = """
        CREATE TABLE position (
            bucket BIGINT NOT NULL,
            icao24 BIGINT NOT NULL CHECK (icao24 BETWEEN 0 AND 16777215),
            observedAt BIGINT NOT NULL CHECK (observedAt >= 0),
            since BIGINT NOT NULL CHECK (since > 0),
            lon DOUBLE PRECISION NOT NULL CHECK (lon BETWEEN -180 AND 180),
            lat DOUBLE PRECISION NOT NULL CHECK (lat BETWEEN -90 AND 90),
            altitude BIGINT,
            geometricAltitude BIGINT,
            groundSpeed DOUBLE PRECISION,
            heading DOUBLE PRECISION,
            verticalRate BIGINT,
            source SMALLINT NOT NULL REFERENCES source (number),
            onGround SMALLINT NOT NULL CHECK (onGround IN (0, 1)),
            category SMALLINT CHECK (category BETWEEN 0 AND 255),
            sum SMALLINT NOT NULL CHECK (sum = 0),
            callsign TEXT COLLATE "C",
            PRIMARY KEY (bucket, icao24, observedAt, source)
        );
        CREATE INDEX positionSince ON position (since, bucket, icao24, observedAt, source);
        """

    /// The bytes of levels are compressed already, so the server must not try.
    private static let fields = """
        CREATE TABLE fieldGrid (
            number BIGINT PRIMARY KEY CHECK (number > 0),
            definition TEXT COLLATE "C" NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE TABLE fieldLevel (
            number BIGINT PRIMARY KEY CHECK (number > 0),
            source SMALLINT NOT NULL REFERENCES source (number),
            product SMALLINT NOT NULL CHECK (product BETWEEN 0 AND 255),
            run BIGINT NOT NULL CHECK (run >= 0),
            validTime BIGINT NOT NULL CHECK (validTime >= run),
            level INTEGER NOT NULL CHECK (level BETWEEN -1 AND 65000),
            grid BIGINT NOT NULL REFERENCES fieldGrid (number),
            since BIGINT NOT NULL CHECK (since > 0),
            imported SMALLINT NOT NULL CHECK (imported IN (0, 1)),
            packedSum BIGINT NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0),
            packed BYTEA NOT NULL
        );
        ALTER TABLE fieldLevel ALTER COLUMN packed SET STORAGE EXTERNAL;
        CREATE UNIQUE INDEX fieldLevelIdentity ON fieldLevel (source, product, run, validTime, level);
        CREATE INDEX fieldLevelSince ON fieldLevel (since);
        CREATE INDEX fieldLevelValid ON fieldLevel (validTime, source, product, level, run);
        """

    private static let derived = """
        CREATE TABLE changedStep (
            kind SMALLINT NOT NULL CHECK (kind BETWEEN 0 AND 2),
            step BIGINT NOT NULL,
            version BIGINT NOT NULL CHECK (version > 0),
            PRIMARY KEY (kind, step)
        );
        CREATE TABLE deletion (
            kind SMALLINT PRIMARY KEY CHECK (kind IN (0, 1, 2, 3)),
            before BIGINT NOT NULL,
            version BIGINT NOT NULL CHECK (version > 0),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE TABLE packedPart (
            part BIGINT PRIMARY KEY CHECK (part >= 0),
            version BIGINT NOT NULL CHECK (version > 0),
            rowSum BIGINT NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0),
            packed BYTEA NOT NULL
        );
        ALTER TABLE packedPart ALTER COLUMN packed SET STORAGE EXTERNAL;
        """

    /// The lease of the sync (`PostgreSQLStore.takeLease`), in milliseconds of the server's clock, and notifications of
    /// each change of the head.
    private static let fleet = """
        CREATE TABLE lease (
            id SMALLINT PRIMARY KEY CHECK (id = 1),
            holder TEXT COLLATE "C" NOT NULL,
            fence BIGINT NOT NULL CHECK (fence >= 0),
            expires BIGINT NOT NULL
        ) WITH (fillfactor = 10);
        INSERT INTO lease (id, holder, fence, expires) VALUES (1, '', 0, 0);
        CREATE FUNCTION notifyHead() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM pg_notify('billow_' || TG_TABLE_SCHEMA, ''); RETURN NULL; END$$;
        CREATE TRIGGER headChanged AFTER UPDATE ON head FOR EACH STATEMENT EXECUTE FUNCTION notifyHead();
        """

    /// Where the log was last written: the timeline of the server's write-ahead log, the database and the table. A
    /// standby that took over, a recovery to a point in time and a restored dump are other places. Commits may be
    /// missing there, so that a version's number comes again with other rows.
    ///
    /// A service that hides its write-ahead log has no timelines here.
    private static let home = """
        CREATE FUNCTION currentHome() RETURNS TEXT LANGUAGE plpgsql AS $$
        DECLARE timeline TEXT := 'unknown';
        BEGIN
            BEGIN
                timeline := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
            EXCEPTION WHEN OTHERS THEN NULL;
            END;
            RETURN timeline || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())
                || ' ' || CAST('head'::regclass AS OID);
        END$$;
        CREATE TABLE home (
            id SMALLINT PRIMARY KEY CHECK (id = 1),
            place TEXT COLLATE "C" NOT NULL
        );
        INSERT INTO home (id, place) VALUES (1, currentHome());
        """

    private static let besideTheLog = """
        CREATE TABLE accessKey (
            id TEXT COLLATE "C" PRIMARY KEY CHECK (length(id) = 16),
            name TEXT COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
            hash TEXT COLLATE "C" NOT NULL CHECK (length(hash) = 64),
            scopes SMALLINT NOT NULL CHECK (scopes BETWEEN 1 AND 7),
            createdAt BIGINT NOT NULL CHECK (createdAt >= 0),
            revokedAt BIGINT CHECK (revokedAt >= createdAt),
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE TABLE sourceControl (
            source TEXT COLLATE "C" PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 64),
            value TEXT COLLATE "C" NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        CREATE TABLE followedFlight (
            id TEXT COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
            accessKey TEXT COLLATE "C" NOT NULL,
            value TEXT COLLATE "C" NOT NULL,
            sum SMALLINT NOT NULL CHECK (sum = 0)
        );
        """
}
