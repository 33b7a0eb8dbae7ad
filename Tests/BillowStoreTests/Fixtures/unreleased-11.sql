PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES('1 log');
INSERT INTO grdb_migrations VALUES('2 areas and positions');
INSERT INTO grdb_migrations VALUES('3 keys');
INSERT INTO grdb_migrations VALUES('4 changed times');
INSERT INTO grdb_migrations VALUES('5 log''s name');
INSERT INTO grdb_migrations VALUES('6 fetched kinds');
INSERT INTO grdb_migrations VALUES('7 imports and natures');
INSERT INTO grdb_migrations VALUES('8 earlier imports');
INSERT INTO grdb_migrations VALUES('9 packed parts');
INSERT INTO grdb_migrations VALUES('10 stated ends');
INSERT INTO grdb_migrations VALUES('11 unbroken fetches');
CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL CHECK (version >= 0)
, rules INTEGER NOT NULL DEFAULT 0, log TEXT NOT NULL DEFAULT '' CHECK (length(log) IN (0, 16)), deletions INTEGER NOT NULL DEFAULT 0 CHECK (deletions >= 0)) STRICT;
INSERT INTO head VALUES(1,2,0,'7fda65c2497863af',0);
CREATE TABLE source (
    number INTEGER PRIMARY KEY CHECK (number BETWEEN 0 AND 255),
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
    mergeRule INTEGER NOT NULL CHECK (mergeRule IN (0, 1)),
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    fetchedAt INTEGER CHECK (fetchedAt >= 0),
    completeSince INTEGER CHECK (completeSince >= 0)
, settled INTEGER NOT NULL DEFAULT 1 CHECK (settled IN (0, 1))) STRICT;
INSERT INTO source VALUES(0,'other',0,0,NULL,NULL,1);
INSERT INTO source VALUES(1,'skypath',0,0,1795348860,1795327200,1);
INSERT INTO source VALUES(2,'awc',0,0,NULL,NULL,1);
CREATE TABLE cursor (
    source INTEGER NOT NULL REFERENCES source (number),
    piece TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (source, piece)
) STRICT, WITHOUT ROWID;
INSERT INTO cursor VALUES(1,'map','9');
INSERT INTO cursor VALUES(1,'session','s');
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
    observedAt INTEGER GENERATED ALWAYS AS (key >> 30) VIRTUAL, imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1)),
    CHECK (severity IS NOT NULL OR edr IS NOT NULL)
) STRICT;
INSERT INTO observation VALUES(1927648646626920074,600186121581756415,33000,35000,3,NULL,NULL,2,1,2,NULL,'pdc98c712a4253fd684effc87f73ff5e6-1','B738',1);
INSERT INTO observation VALUES(1927741095450840989,599655059613024255,35000,35000,3,NULL,NULL,1,0,1,NULL,'one','B77W',1);
INSERT INTO observation VALUES(1927741096649025288,599655073571667967,35000,35000,2,2000,NULL,1,0,1,NULL,NULL,NULL,1);
INSERT INTO observation VALUES(1927741096649025289,599655073571667967,35000,35000,4,NULL,NULL,1,0,1,NULL,NULL,NULL,1);
INSERT INTO observation VALUES(1927741097849594430,599654979082387455,35000,35000,0,NULL,NULL,0,0,1,NULL,NULL,NULL,1);
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
, imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1))) STRICT;
INSERT INTO pilotReport VALUES(1,'pdc98c712a4253fd684effc87f73ff5e6',2,-80.290000000000006251,25.792999999999999261,1795262700,'PIREP','B738',35000,'[{"base":33000,"intensity":"MOD","severity":3,"top":35000,"type":"CAT"}]','MIA UA /OV MIA /TM 1205 /FL350 /TP B738 /TB MOD CAT 330-350',2,NULL,1);
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
, imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1)), statedTo INTEGER CHECK (statedTo >= 0)) STRICT;
INSERT INTO area VALUES(1,0,'A1',2,'SIGMET','TURB',NULL,NULL,NULL,1795348800,1795363200,NULL,NULL,NULL,NULL,NULL,'[[[[-90,40],[-89,40],[-89,41],[-90,40]]]]',1,NULL,1,NULL);
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
INSERT INTO position VALUES(9974160,10597059,1795348805,1,-90.500000000000000001,40.0,NULL,35000,NULL,NULL,NULL,NULL,0,NULL,1);
CREATE TABLE accessKey (
    id TEXT PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    scopes INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 7),
    createdAt INTEGER NOT NULL CHECK (createdAt >= 0),
    revokedAt INTEGER CHECK (revokedAt >= createdAt)
) STRICT, WITHOUT ROWID;
INSERT INTO accessKey VALUES('c730f9aa4cbff4bc','tester','f0a87b758166e3d6b6edd2b8d69e2a652d9f453e5e4a3940165408f8a47d42f3',2,1795365569,NULL);
CREATE TABLE sourceControl (
    source TEXT PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 64),
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;
INSERT INTO sourceControl VALUES('skypath','{"a":1}');
CREATE TABLE changedStep (
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
    step INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (kind, step)
) STRICT, WITHOUT ROWID;
INSERT INTO changedStep VALUES(0,179526270,2);
INSERT INTO changedStep VALUES(0,179534880,1);
INSERT INTO changedStep VALUES(0,179534881,1);
INSERT INTO changedStep VALUES(1,179526270,2);
CREATE TABLE fetched (
    source INTEGER NOT NULL REFERENCES source (number),
    kind TEXT NOT NULL,
    fetchedAt INTEGER NOT NULL CHECK (fetchedAt >= 0), since INTEGER NOT NULL DEFAULT 0 CHECK (since >= 0),
    PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO fetched VALUES(2,'reports',1795348860,1795340000);
CREATE TABLE packedPart (
    part INTEGER PRIMARY KEY CHECK (part >= 0),
    version INTEGER NOT NULL CHECK (version > 0),
    packed BLOB NOT NULL
) STRICT;
CREATE INDEX observationOpen ON observation (since) WHERE until IS NULL;
CREATE INDEX observationClosed ON observation (until) WHERE until IS NOT NULL;
CREATE UNIQUE INDEX observationExternalId ON observation (externalId, source)
    WHERE externalId IS NOT NULL AND until IS NULL;
CREATE UNIQUE INDEX pilotReportId ON pilotReport (id, source) WHERE until IS NULL;
CREATE INDEX pilotReportTime ON pilotReport (observedAt, id, source) WHERE until IS NULL;
CREATE UNIQUE INDEX areaId ON area (collection, id, source, validFrom) WHERE until IS NULL;
CREATE INDEX areaOpen ON area (since) WHERE until IS NULL;
CREATE INDEX areaClosed ON area (until) WHERE until IS NOT NULL;
CREATE INDEX areaValid ON area (validTo, validFrom);
CREATE INDEX pilotReportOpen ON pilotReport (since) WHERE until IS NULL;
CREATE INDEX pilotReportClosed ON pilotReport (until) WHERE until IS NOT NULL;
CREATE INDEX pilotReportAny ON pilotReport (observedAt, id, source);
CREATE INDEX positionSince ON position (since);
COMMIT;
