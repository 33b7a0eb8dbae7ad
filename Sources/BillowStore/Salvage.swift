import Datasets
internal import GRDB
internal import Geometry
internal import Turbulence

/// The copying of rows from a damaged database to a new one, on one thread.
struct Salvage {
    let source: Database
    /// Rows of the source that were found page by page, beside those that it gives out by itself.
    let found: Database?
    let target: Database
    /// Whether the source has only what was found page by page.
    let isListLost: Bool
    /// Whether a build from before the first release wrote the source.
    let isUnreleased: Bool
    /// The newest time that a stored row may have had: whatever a damaged row tells, it was no later.
    let end: Instant
    var result = Salvaged()
    /// The end of the last thing that is missing.
    private var missingUntil: Instant?
    /// Finds the keys of observations again, where those of the source can't be used.
    var contentKeys: ContentKeys?

    init(
        source: Database, found: Database?, target: Database, isUnreleased: Bool, isListLost: Bool, now: Instant
    ) throws {
        self.source = source
        self.found = found
        self.target = target
        self.isListLost = isListLost
        self.isUnreleased = isUnreleased
        // The clock may be behind: what is stored says that it was later.
        let stored = [source, found].compactMap(\.self).compactMap(Self.newestTime)
        end = max(now, stored.max() ?? now).advanced(by: Instant.mostAheadSeconds)
    }

    /// The newest time of a row whose sum holds; nil where there is none or it can't be read.
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

    /// Copies everything, and marks what is missing.
    mutating func run() throws -> Salvaged {
        let hasSecret = try copySecret()
        try copy("source", keys: SalvageOrder("number"))
        if isUnreleased || !hasSecret { contentKeys = try ContentKeys(target) }
        for table in try shortTables() { try copy(table, keys: nil) }
        try copy("observation", keys: SalvageOrder.observations) { ObservationKey(rawValue: $0).observedAt }
        // Their numbers tell no time: what is missing may be as new as the newest.
        try copy("pilotReport", keys: SalvageOrder("number")) { _ in .distantFuture }
        try copy("area", keys: SalvageOrder("number")) { _ in .distantFuture }
        try copy("position", keys: SalvageOrder.positions) {
            PositionKey.start(of: $0).advanced(by: AircraftPosition.bucketSeconds)
        }
        try copy("fieldGrid", keys: SalvageOrder("number")) { _ in .distantFuture }
        try copy("fieldLevel", keys: SalvageOrder("number")) { _ in .distantFuture }
        try nameSources()
        try noteStoredKinds()
        try keepReporterNumbers()
        try deleteUnreadable()
        try finish()
        return result
    }

    /// Tables that are copied in a way of their own, or built again.
    private static let otherTables: Set = [
        "head", "source", "cursor", "observation", "pilotReport", "area", "position", "fieldGrid", "fieldLevel",
        "changedStep", "packedPart", "sourceValue", "grdb_migrations",
    ]

    /// Keys, changed queries and other tables of a few rows.
    private func shortTables() throws -> [String] {
        let tables = try String.fetchAll(
            target, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return tables.filter { !Self.otherTables.contains($0) && !$0.hasPrefix("sqlite_") }
    }

    /// Copies the secret of the tags. The rest of the head is another log's.
    /// - Returns: whether it could be read.
    private func copySecret() throws -> Bool {
        guard let secret = headValue("tagSecret"), case .blob(let bytes) = secret.storage, bytes.count == 16 else {
            return false
        }
        try target.execute(sql: HeadColumn.update([.tagSecret: "?1"], where: "id = 1"), arguments: [secret])
        return true
    }

    /// A value of the head; nil where it can't be read.
    private func headValue(_ column: String) -> DatabaseValue? {
        let condition = isUnreleased ? "id = 1" : "id = 1 AND \(HeadColumn.isWhole)"
        for db in [source, found].compactMap(\.self) {
            let value = try? DatabaseValue.fetchOne(db, sql: "SELECT \(column) FROM head WHERE \(condition)")
            if let value { return value }
        }
        return nil
    }

    // MARK: What is missing

    /// Notes that something is missing that may be as new as an instant.
    mutating func noteMissing(_ instant: Instant?) {
        guard let instant else { return }
        // A row that makes no sense may tell any time.
        missingUntil = max(missingUntil ?? .distantPast, min(instant, end))
    }

    /// The newest time that a missing row of a table may have had: the newest that was ever stored, where that can be
    /// read.
    func newestTime(of table: String) -> Instant {
        guard let kind = Self.kind(of: table), let stored = storedTimes(kind) else { return end }
        return stored.upperBound
    }

    private static func kind(of table: String) -> ObservedKind? {
        switch table {
        case "observation": .observations
        case "pilotReport": .reports
        case "position": .positions
        default: nil
        }
    }

    /// nil also where that can't be read.
    private func storedTimes(_ kind: ObservedKind) -> ClosedRange<Instant>? {
        try? SQLiteStore.storedTimes(kind, source)
    }

    /// Places in a table at which rows are likely: its keys are far apart, and begin far from zero.
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

    // MARK: Sense

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
            // Nothing says where the values of a level lie whose grid is lost.
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

    /// Gives a name to sources whose own can't be read: their rows stay. What isn't known errs to the safe side: such a
    /// source's reports end no others, and data of which nothing says that it is real counts as simulated.
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

    /// Notes the kinds of data of the rows that were read, beside those that were noted.
    private func noteStoredKinds() throws {
        var kinds: [(source: Int64, kind: DataKind)] = []
        for (table, kind) in [
            ("observation", DataKind.observations), ("pilotReport", .reports), ("position", .positions),
        ] {
            kinds += try Int64.fetchAll(target, sql: "SELECT DISTINCT source FROM \(table)").map { ($0, kind) }
        }
        for row in try Row.fetchAll(target, sql: "SELECT DISTINCT source, collection FROM area") {
            guard let kind = Catalogue.kind(of: IssuedArea.Collection(rawValue: row[1])) else { continue }
            kinds.append((row[0], kind))
        }
        for (source, kind) in kinds {
            let note = try RawStatement(target, Query.noteStoredKind)
            note.bind(source, StoredKindColumn.source)
            try note.bind(kind.rawValue, StoredKindColumn.kind)
            try note.run()
        }
    }

    /// Takes the numbers of lost reporters, so that no other key gets one and with it another's observations.
    private func keepReporterNumbers() throws {
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

    /// Gives the new log its version and its marks.
    private mutating func finish() throws {
        let newest = try ["observation", "pilotReport", "area", "position", "fieldLevel"].compactMap { table in
            try Int64.fetchOne(
                target,
                sql: ["position", "fieldLevel"].contains(table)
                    ? "SELECT max(since) FROM \(table)" : "SELECT max(max(since, coalesce(until, 0))) FROM \(table)")
        }
        let head = headValue("version").flatMap(Int64.fromDatabaseValue) ?? 0
        // Another log than before: pictures of it are others.
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
            // Without cursors everything is fetched again that an upstream still has.
            try markMissing()
        }
        try target.execute(sql: Schema.recountChangedSteps)
        try target.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        try target.execute(sql: "PRAGMA journal_mode = DELETE")
    }

    /// A lost area holds for as long as the last one that was read, or as the longest that any product is issued for.
    /// Fetched areas are fetched again as a whole; other sources are complete only then.
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

    /// A day, in seconds: the longest that SIGMETs, G-AIRMETs and advisories hold is some twelve hours.
    private static let longestValidity = 86_400

    /// Everything is complete after what is missing; and an answer about whatever is stored lacks it.
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
