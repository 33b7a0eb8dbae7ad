PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE accessKey (
    id TEXT PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    scopes INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 7),
    createdAt INTEGER NOT NULL CHECK (createdAt >= 0),
    revokedAt INTEGER CHECK (revokedAt >= createdAt),
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "accessKey" VALUES('83c8b084878b9770','tester','bbb17cf3dff9c40b930c2bed3bc69648ac682cfddd759d7e6c974f19937e5b28',1,1795866252,NULL,3041154);
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
INSERT INTO "area" VALUES(1,0,'sigmet-72c',2,'sigmet','CONVECTIVE',NULL,NULL,60000,1784663700,1784667299,1784663700,NULL,NULL,NULL,'CONVECTIVE SIGMET 72C
VALID UNTIL 2155Z
TN MS LA AR AND LA CSTL WTRS
FROM 30NW MEM-60W MSL-20S LEV-100WSW LEV-40ENE ELD-30NW MEM
AREA TS MOV FROM 02020KT. TOPS ABV FL450.
OUTLOOK VALID 212155-220155
AREA 1...FROM 40SSW VUZ-160S CEW-120SE IAH-30NW MLU-40SSW VUZ
WST ISSUANCES POSS. REFER TO MOST RECENT ACUS01 KWNS FROM STORM
PREDICTION CENTER FOR SYNOPSIS AND METEOROLOGICAL DETAILS.
AREA 2...FROM SAW-30S VUZ-30N MLU-70ESE RZC-30NE RHI-SAW
REF WW 508
WST ISSUANCES POSS. REFER TO MOST RECENT ACUS01 KWNS FROM STORM
PREDICTION CENTER FOR SYNOPSIS AND METEOROLOGICAL DETAILS.','[[[[-92.003,33.512],[-91.848,28.533],[-90.1,28.848],[-88.693,34.694],[-90.416,35.415],[-92.003,33.512]]]]',3,NULL,1,NULL,4669458);
CREATE TABLE changedStep (
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
    step INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (kind, step)
) STRICT, WITHOUT ROWID;
INSERT INTO "changedStep" VALUES(0,178466664,2);
INSERT INTO "changedStep" VALUES(0,179537040,1);
INSERT INTO "changedStep" VALUES(0,179537046,1);
INSERT INTO "changedStep" VALUES(0,179537052,1);
INSERT INTO "changedStep" VALUES(1,178466664,2);
INSERT INTO "changedStep" VALUES(1,178466682,2);
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
CREATE TABLE cursor (
    source INTEGER NOT NULL REFERENCES source (number),
    piece TEXT NOT NULL,
    value TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (source, piece)
) STRICT, WITHOUT ROWID;
CREATE TABLE deletion (
    kind INTEGER PRIMARY KEY CHECK (kind IN (0, 1, 2, 3)),
    before INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    sum INTEGER NOT NULL
) STRICT;
CREATE TABLE fetched (
    source INTEGER NOT NULL REFERENCES source (number),
    kind TEXT NOT NULL,
    fetchedAt INTEGER NOT NULL CHECK (fetchedAt >= 0),
    since INTEGER NOT NULL CHECK (since >= 0),
    sum INTEGER NOT NULL,
    PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE followedFlight (
    id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
    accessKey TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('first release');
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
INSERT INTO "head" VALUES(1,3,0,'381865ead41732e4',0,X'0073AA0E628FDBFEE63C62807C24F91B',0,7610797);
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
INSERT INTO "observation" VALUES(1916271214280332324,600176266779295743,13000,13000,1,NULL,NULL,2,1,2,NULL,'p1f3daaf1bc4d1cfaf84882ac19e17efe-1','CL30',1,0,0,0,1857082);
INSERT INTO "observation" VALUES(1927764289065207225,599535657374711807,36000,36000,2,NULL,NULL,1,0,1,NULL,'one',NULL,1,0,0,0,-1253133);
INSERT INTO "observation" VALUES(1927764353458803036,599535655227228159,34000,34000,0,NULL,NULL,1,0,1,NULL,'two',NULL,1,0,0,0,-1902433);
INSERT INTO "observation" VALUES(1927764417624302518,599535745421541375,34000,34000,3,NULL,NULL,0,0,1,NULL,NULL,NULL,1,0,0,0,-2152031);
CREATE TABLE packedPart (
    part INTEGER PRIMARY KEY CHECK (part >= 0),
    version INTEGER NOT NULL CHECK (version > 0),
    -- The checksum of the packed rows (PartSum).
    rowSum INTEGER NOT NULL,
    -- The checksum of the columns before it. The bytes contain their own.
    sum INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;
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
INSERT INTO "pilotReport" VALUES(1,'p173a1cb00364857be55db53aa05de597',2,-80.1707,26.1973,1784666820,'PIREP','B350',2000,'[{"type":"CHOP"}]','FXE UA /OV FXE27009/TM 2047/FL020/TP B350/RM LIGHT TO MOD CHOP',2,NULL,1,-4456317);
INSERT INTO "pilotReport" VALUES(2,'p1f3daaf1bc4d1cfaf84882ac19e17efe',2,-81.3872,26.154,1784666640,'PIREP','CL30',13000,'[{"intensity":"LGT","severity":1,"type":"CHOP"}]','MIA UA /OV DHP295060/TM 2044/FL130/TP CL30/TB LGT CHOP',2,NULL,1,2614678);
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
CREATE TABLE reporter (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    accessKey TEXT NOT NULL UNIQUE CHECK (length(accessKey) BETWEEN 1 AND 64)
) STRICT;
CREATE TABLE reporterSource (
    reporter INTEGER NOT NULL REFERENCES reporter (number),
    source INTEGER NOT NULL REFERENCES source (number),
    PRIMARY KEY (reporter, source)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "source" VALUES(0,'other',0,0,NULL,NULL,0,-1323269);
INSERT INTO "source" VALUES(1,'skypath',0,0,NULL,NULL,0,2454853);
INSERT INTO "source" VALUES(2,'awc',0,0,NULL,NULL,0,2754646);
CREATE TABLE sourceControl (
    source TEXT PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 64),
    value TEXT NOT NULL CHECK (json_valid(value)),
    sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sourceValue (
    source INTEGER NOT NULL REFERENCES source (number),
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE storedKind (
    source INTEGER NOT NULL REFERENCES source (number),
    kind TEXT NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO "storedKind" VALUES(0,'observations',-335013);
INSERT INTO "storedKind" VALUES(1,'observations',4389221);
INSERT INTO "storedKind" VALUES(2,'hazards',-6798658);
INSERT INTO "storedKind" VALUES(2,'observations',7576358);
INSERT INTO "storedKind" VALUES(2,'reports',-1060408);
CREATE INDEX coveredAreaPart ON coveredArea (source, kind, part, until);
CREATE INDEX observationOpen ON observation (since) WHERE until IS NULL;
CREATE INDEX observationClosed ON observation (until) WHERE until IS NOT NULL;
CREATE UNIQUE INDEX observationExternalId ON observation (externalId, source, reporter)
    WHERE externalId IS NOT NULL AND until IS NULL;
CREATE INDEX observationTransient ON observation (source) WHERE transient = 1 AND until IS NULL;
CREATE INDEX observationEnd ON observation (source) WHERE transient = 1 AND kind = 2 AND until IS NULL;
CREATE UNIQUE INDEX pilotReportId ON pilotReport (id, source) WHERE until IS NULL;
CREATE INDEX pilotReportOpen ON pilotReport (since) WHERE until IS NULL;
CREATE INDEX pilotReportClosed ON pilotReport (until) WHERE until IS NOT NULL;
CREATE INDEX pilotReportTime ON pilotReport (observedAt, id, source) WHERE until IS NULL;
CREATE INDEX pilotReportAny ON pilotReport (observedAt, id, source);
CREATE UNIQUE INDEX areaId ON area (collection, id, source, validFrom) WHERE until IS NULL;
CREATE INDEX areaOpen ON area (since) WHERE until IS NULL;
CREATE INDEX areaClosed ON area (until) WHERE until IS NOT NULL;
CREATE INDEX areaValid ON area (validTo, validFrom);
CREATE INDEX positionSince ON position (since);
CREATE UNIQUE INDEX fieldLevelIdentity ON fieldLevel (source, product, run, validTime, level);
CREATE INDEX fieldLevelSince ON fieldLevel
    (since, source, product, run, validTime, level, grid, imported, packedSum, sum);
CREATE INDEX fieldLevelValid ON fieldLevel (validTime, source, product, level, run);
COMMIT;
