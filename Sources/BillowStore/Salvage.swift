import Datasets
internal import GRDB
internal import Geometry
internal import Turbulence

/// Copies rows from a damaged database to a new one, on one thread.
struct Salvage {
    let source: Database
    /// Rows of the source that were found page by page, in addition to those that SQLite returns.
    let found: Database?
    let target: Database
    /// Whether the source consists only of rows that were found page by page.
    let isListLost: Bool
    /// Whether a build from before the first release wrote the source.
    let isUnreleased: Bool
    /// The newest possible time of a stored row. A damaged row's time is limited to it.
    let end: Instant
    var result = SalvageResult()
    /// The newest time that missing data may have.
    private var missingUntil: Instant?
    /// Recomputes the keys of observations if those of the source are unusable.
    var contentKeys: ContentKeys?

    init(
        source: Database, found: Database?, target: Database, isUnreleased: Bool, isListLost: Bool, now: Instant
    ) throws {
        self.source = source
        self.found = found
        self.target = target
        self.isListLost = isListLost
        self.isUnreleased = isUnreleased
        // The clock may be behind: stored rows prove a later time.
        let stored = [source, found].compactMap(\.self).compactMap(Self.newestTime)
        end = max(now, stored.max() ?? now).advanced(by: Instant.clockToleranceSeconds)
    }

    /// The newest time of a row with a right checksum; nil if there is none or it is unreadable.
    private static func newestTime(_ db: Database) -> Instant? {
        func value(_ query: String) -> Int64? { (try? Int64.fetchOne(db, sql: query)) ?? nil }
        let report = "SELECT max(observedAt) FROM pilotReport WHERE \(PilotReportColumn.isWhole)"
        let times: [Instant?] = [
            value(Query.newestKey).map { ObservationKey(rawValue: $0).observedAt },
            value(report).map { Instant(clamping: Int($0)) },
            value(Query.newestBucket).map { Instant(clamping: Int($0) * AircraftPosition.bucketSeconds) },
        ]
        return times.compactMap(\.self).max()
    }

    /// Copies everything and records missing data.
    mutating func run() throws -> SalvageResult {
        let hasSecret = try copySecret()
        try copy("source", keys: SalvageOrder("number"))
        if isUnreleased || !hasSecret { contentKeys = try ContentKeys(target) }
        for table in try shortTables() { try copy(table, keys: nil) }
        try copy("observation", keys: SalvageOrder.observations) { ObservationKey(rawValue: $0).observedAt }
        // Their numbers contain no time, so a missing row may be as new as the newest one.
        try copy("pilotReport", keys: SalvageOrder("number")) { _ in .distantFuture }
        try copy("area", keys: SalvageOrder("number")) { _ in .distantFuture }
        try copy("position", keys: SalvageOrder.positions) {
            PositionKey.start(of: $0).advanced(by: AircraftPosition.bucketSeconds)
        }
        try copy("fieldGrid", keys: SalvageOrder("number")) { _ in .distantFuture }
        try copy("fieldLevel", keys: SalvageOrder("number")) { _ in .distantFuture }
        try nameSources()
        try noteStoredKinds()
        try reserveReporterNumbers()
        try deleteUnreadable()
        try finish()
        return result
    }

    /// Tables that are copied separately or rebuilt.
    private static let otherTables: Set = [
        "head", "source", "cursor", "observation", "pilotReport", "area", "position", "fieldGrid", "fieldLevel",
        "changedStep", "packedPart", "sourceValue", "grdb_migrations",
    ]

    /// Access keys, persisted overrides and other tables of a few rows.
    private func shortTables() throws -> [String] {
        let tables = try String.fetchAll(
            target, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return tables.filter { !Self.otherTables.contains($0) && !$0.hasPrefix("sqlite_") }
    }

    /// Copies the secret of the tags. The rest of the head belongs to the old log.
    /// - Returns: whether the secret was readable.
    private func copySecret() throws -> Bool {
        guard let secret = headValue("tagSecret"), case .blob(let bytes) = secret.storage, bytes.count == 16 else {
            return false
        }
        try target.execute(sql: HeadColumn.update([.tagSecret: "?1"], where: "id = 1"), arguments: [secret])
        return true
    }

    /// A value of the head; nil if it is unreadable.
    private func headValue(_ column: String) -> DatabaseValue? {
        let condition = isUnreleased ? "id = 1" : "id = 1 AND \(HeadColumn.isWhole)"
        for db in [source, found].compactMap(\.self) {
            let value = try? DatabaseValue.fetchOne(db, sql: "SELECT \(column) FROM head WHERE \(condition)")
            if let value { return value }
        }
        return nil
    }

    // MARK: Missing data

    /// Records missing data that may be as new as an instant.
    mutating func noteMissing(_ instant: Instant?) {
        guard let instant else { return }
        // An invalid row may contain any time.
        missingUntil = max(missingUntil ?? .distantPast, min(instant, end))
    }

    /// The newest possible time of a missing row of a table: the newest time that was ever stored, if that is readable.
    func newestTime(of table: String) -> Instant {
        guard let kind = Self.kind(of: table), let stored = storedTimes(kind) else { return end }
        return stored.upperBound
    }

    private static func kind(of table: String) -> ObservedTable? {
        switch table {
        case "observation": .observations
        case "pilotReport": .reports
        case "position": .positions
        default: nil
        }
    }

    /// nil also if they are unreadable.
    private func storedTimes(_ kind: ObservedTable) -> ClosedRange<Instant>? {
        try? SQLiteStore.storedTimes(kind, source)
    }

    /// Keys of a table near which rows are likely. Its keys are far apart and begin far from zero.
    func hints(_ table: String) -> [Int64] {
        guard table == "observation" || table == "position" else { return [] }
        func key(_ instant: Instant) -> Int64 {
            table == "observation"
                ? ObservationKey.first(of: instant).rawValue
                : PositionKey.first(of: AircraftPosition.bucket(instant))
        }
        var times: [Instant] = (0..<31).map { end.advanced(by: -(1 << $0)) }
        if let stored = Self.kind(of: table).flatMap(storedTimes) {
            let seconds = stored.upperBound.seconds - stored.lowerBound.seconds
            times += (0...Self.hints).map { stored.lowerBound.advanced(by: seconds * $0 / Self.hints) }
        }
        var keys = times.map(key)
        if table == "observation", let open = try? Int64.fetchAll(source, sql: Query.openKeys, arguments: [0]) {
            keys += stride(from: 0, to: open.count, by: max(1, open.count / Self.hints)).map { open[$0] }
        }
        return keys
    }

    private static let hints = 256

    // MARK: Validation

    /// Deletes rows that the schema allows and the log doesn't.
    private mutating func deleteUnreadable() throws {
        let register = DamageRegister()
        let names = try SourceNames(target)
        for (table, key, query) in [
            ("observation", "key", Query.everyObservation), ("pilotReport", "number", Query.everyReport),
            ("area", "number", Query.everyArea), ("fieldGrid", "number", Query.fieldGrids),
            ("fieldLevel", "number", Query.everyFieldLevel),
        ] {
            guard let index = result.tables.firstIndex(where: { $0.name == table }),
                let statement = try? RawStatement(target, query)
            else { continue }
            var bad: [Int64] = []
            // Without its grid, the positions of a level's values are unknown.
            let grids = Set(try Int64.fetchAll(target, sql: "SELECT number FROM fieldGrid"))
            try statement.forEachRow { columns in
                do {
                    switch table {
                    case "observation": _ = try ObservationRow(columns)
                    case "pilotReport": _ = try PilotReport(columns, names)
                    case "fieldGrid": _ = try GridDefinition(columns)
                    case "fieldLevel":
                        let level = try StoredFieldLevel(columns, names)
                        if !grids.contains(level.grid) { throw UnreadableRow(fieldLevel: columns) }
                    default: _ = try StoredArea(columns, names)
                    }
                } catch let row as UnreadableRow {
                    bad.append(row.key)
                    register.note(row)
                }
            }
            for number in bad {
                try target.execute(sql: "DELETE FROM \(table) WHERE \(key) = ?", arguments: [number])
            }
            result.tables[index].rows -= bad.count
            result.tables[index].refused += bad.count
        }
        for damage in register.damage { noteMissing(damage.to ?? end) }
    }

    /// Names sources whose own name is unreadable, so that their rows stay. Unknown properties get a safe value.
    /// Reports of such a source supersede no others, and data without evidence that it is real counts as simulated.
    private func nameSources() throws {
        for number in 0...255 {
            guard try Int.fetchOne(target, sql: "SELECT 1 FROM source WHERE number = ?", arguments: [number]) == nil
            else {
                continue
            }
            let isUsed = try ["observation", "pilotReport", "area", "position", "fieldLevel"].contains { table in
                try Int.fetchOne(target, sql: "SELECT 1 FROM \(table) WHERE source >= ? LIMIT 1", arguments: [number])
                    != nil
            }
            let isFollowed =
                try Int.fetchOne(target, sql: "SELECT 1 FROM source WHERE number > ?", arguments: [number]) != nil
            guard isUsed || isFollowed else { return }
            let simulated: Int?
            if let stated = try Int.fetchOne(target, sql: "SELECT max(simulated) FROM source") {
                simulated = stated
            } else if let stated = headValue("simulated") {
                simulated = Int.fromDatabaseValue(stated)
            } else {
                simulated = 1
            }
            try target.execute(
                sql: SourceColumn.insert,
                arguments: [
                    number, ContentKeys.unnamed(number), MergeRule.keep.rawValue, simulated, nil, nil, 0,
                ])
        }
    }

    /// Records the kinds of data of the copied rows, in addition to those on record.
    private func noteStoredKinds() throws {
        var kinds: [(source: Int64, kind: FeedKind)] = []
        for table in [StoredTable.observation, .pilotReport, .position, .fieldLevel] {
            for source in try Int64.fetchAll(target, sql: "SELECT DISTINCT source FROM \(table.rawValue)") {
                kinds += table.kinds.map { (source, $0) }
            }
        }
        for row in try Row.fetchAll(target, sql: "SELECT DISTINCT source, collection FROM area") {
            guard let kind = Catalogue.kind(of: IssuedArea.DatasetNumber(rawValue: row["collection"])) else { continue }
            kinds.append((row["source"], kind))
        }
        for (source, kind) in kinds {
            let note = try RawStatement(target, Query.noteStoredKind)
            note.bind(source, StoredKindColumn.source)
            try note.bind(kind.rawValue, StoredKindColumn.kind)
            try note.run()
        }
    }

    /// Reserves the numbers of lost reporters. Otherwise another access key could get one, and with it another
    /// reporter's observations.
    private func reserveReporterNumbers() throws {
        try target.execute(
            sql: """
                INSERT INTO reporter (number, accessKey)
                    SELECT DISTINCT reporter, 'salvaged-' || reporter FROM observation
                    WHERE reporter > 0 AND reporter NOT IN (SELECT number FROM reporter);
                DELETE FROM reporterSource
                    WHERE source NOT IN (SELECT number FROM source)
                        OR reporter NOT IN (SELECT number FROM reporter);
                """)
    }

    // MARK: The head

    /// Sets the version and the completeness of the new log.
    private mutating func finish() throws {
        let newest = try ["observation", "pilotReport", "area", "position", "fieldLevel"].compactMap { table in
            try Int64.fetchOne(
                target,
                sql: ["position", "fieldLevel"].contains(table)
                    ? "SELECT max(since) FROM \(table)" : "SELECT max(max(since, coalesce(until, 0))) FROM \(table)")
        }
        let head = headValue("version").flatMap(Int64.fromDatabaseValue) ?? 0
        // The copy is a new log, so its frames need new versions.
        let version = max(head, newest.max() ?? 0) + 1
        try target.execute(
            sql: HeadColumn.update(
                [.version: "?1", .rules: "?1", .simulated: "(SELECT max(simulated) FROM source)"], where: "id = 1"),
            arguments: [version])
        result.version = Version(rawValue: version)
        if result.isWhole {
            // The cursors of unreleased builds have other names.
            if !isUnreleased { for table in ["cursor", "sourceValue"] { try copy(table, keys: nil) } }
        } else {
            // Without cursors, everything that an upstream still has is fetched again.
            try markMissing()
        }
        try target.execute(sql: StoreSchema.recountChangedSteps)
        try target.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
        try target.execute(sql: "PRAGMA journal_mode = DELETE")
    }

    /// Records lost areas. A lost area is valid for as long as the last readable one, or as the longest validity of any
    /// product. Fetched areas are fetched again as a whole; other sources are complete only after that time.
    private func markLostAreas() throws {
        guard result.tables.contains(where: { $0.name == "area" && ($0.refused > 0 || !$0.gaps.isEmpty) }) else {
            return
        }
        let last = try Int64.fetchOne(target, sql: "SELECT max(validTo) FROM area") ?? 0
        try target.execute(
            sql: SourceColumn.update(
                [.completeSince: "max(coalesce(completeSince, 0), ?1)"], where: "fetchedAt IS NULL"),
            arguments: [max(last, Int64(end.advanced(by: Self.longestValidity).seconds))])
    }

    /// One day, in seconds. The longest validity of SIGMETs, G-AIRMETs and advisories is some twelve hours.
    private static let longestValidity = 86_400

    /// Records that sources are complete only after the missing data, and that reads of earlier times are incomplete.
    private mutating func markMissing() throws {
        let since = missingUntil.map { $0.advanced(by: 1) } ?? end
        result.completeSince = since
        for query in [
            SourceColumn.update([.completeSince: "max(coalesce(completeSince, 0), ?1)"], where: "true"),
            FetchedColumn.update([.since: "max(since, ?1)"], where: "true"),
            "DELETE FROM coveredArea WHERE until < ?1",
            CoveredAreaColumn.update([.since: "max(since, ?1)"], where: "true"),
        ] { try target.execute(sql: query, arguments: [since.seconds]) }
        try markLostAreas()
        let note = try RawStatement(target, Query.noteDeletedBefore)
        for kind in [DeletionKind.positions, .rest, .fields] {
            try note.bind(kind.rawValue, Int64(since.seconds), result.version.rawValue)
            try note.run()
        }
    }
}
