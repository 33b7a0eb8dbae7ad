internal import Foundation
internal import GRDB
package import Turbulence

/// What could be read of a damaged database.
package struct Salvaged: Sendable, Hashable {
    package struct Table: Sendable, Hashable {
        package var name: String
        /// Rows in the new database.
        package var rows: Int
        /// Rows whose values make no sense.
        package var refused: Int
        /// Ranges of keys in pages that can't be read; how many rows they had isn't known.
        package var gaps: [ClosedRange<Int64>]
    }

    package var tables: [Table] = []
    /// From when on nothing of what pictures show is missing; nil where nothing is missing.
    package var completeSince: Instant?
    package var version: Version = .zero

    /// Whether everything could be read.
    package var isWhole: Bool { tables.allSatisfy { $0.refused == 0 && $0.gaps.isEmpty } }

    /// A line for each table with anything in it or missing.
    package var lines: [String] {
        tables.filter { $0.rows + $0.refused + $0.gaps.count > 0 }.map { table in
            var line = "\(table.name): \(table.rows) rows"
            if table.refused > 0 { line += ", \(table.refused) make no sense" }
            if !table.gaps.isEmpty { line += ", \(table.gaps.count) gaps that can't be read" }
            return line
        }
    }
}

extension SQLiteStore {
    /// Copies all that can be read of a damaged database into a new file, row by row and around damaged pages: keys,
    /// changed queries, sources, and rows of every kind at their versions. Indices, packed parts and times of changes
    /// are built anew. The damaged file is not changed.
    ///
    /// - Parameter now: the moment of the salvage: nothing newer can be missing. The system's time where it is nil.
    /// - Throws: `corrupt` where not even the list of tables can be read, `unavailable` where the new file exists.
    package static func salvage(_ damaged: String, to path: String, now: Instant? = nil) async throws(StoreError)
        -> Salvaged
    {
        let now = now ?? Instant(clamping: Int(Date().timeIntervalSince1970))
        guard FileIdentity(path) == nil else { throw .unavailable(path: path, reason: "it exists already") }
        let result: Result<Salvaged, any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: Result { try Salvage.run(damaged, to: path, at: now) })
            }
        }
        do { return try result.get() } catch { throw StoreError(error, path: damaged) }
    }
}

/// The copying, on one thread.
private struct Salvage {
    let source: Database
    let target: Database
    /// The newest time that anything may have had that was stored.
    let end: Instant
    var result = Salvaged()
    /// The end of the last thing that is missing.
    private var missingUntil: Instant?

    private static let rowsAtOnce = 20_000

    /// By how many seconds what is stored may be ahead of the clock.
    private static let aheadSeconds = 300

    init(source: Database, target: Database, now: Instant) {
        self.source = source
        self.target = target
        end = now.advanced(by: Self.aheadSeconds)
    }

    static func run(_ damaged: String, to path: String, at now: Instant) throws -> Salvaged {
        guard FileIdentity(damaged) != nil else {
            throw StoreError.unavailable(path: damaged, reason: "there is no such file")
        }
        let unfinished = try UnfinishedFile(for: path, mode: 0o600)
        let repaired = unfinished.path + "-source"
        defer { for suffix in [""] + DatabaseFile.companions { unlink(repaired + suffix) } }
        do {
            // Rows of a source that can't be read get one below.
            var writing = Configuration()
            writing.foreignKeysEnabled = false
            let target = try DatabaseQueue(path: unfinished.path, configuration: writing)
            var source = try open(damaged)
            let wrong = try source.unsafeRead { source in try migrate(target, as: source, damaged) }
            if !wrong.isEmpty {
                try source.close()
                try repair(damaged, wrong, into: repaired)
                source = try open(repaired)
            }
            // No transaction: SQLite can't end one after a page that it can't read, and nobody writes a damaged file.
            let salvaged = try source.unsafeRead { source in
                try target.writeWithoutTransaction { target in
                    var salvage = Salvage(source: source, target: target, now: now)
                    try salvage.copyAll()
                    return salvage.result
                }
            }
            try source.close()
            try Schema.migrator.migrate(target)
            try target.writeWithoutTransaction { db in
                try db.execute(sql: Schema.recountChangedSteps)
                if let since = salvaged.completeSince { try noteLost(before: since, salvaged.version, db) }
                try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
            }
            try target.close()
            try unfinished.finish(replacing: false)
            return salvaged
        } catch {
            unfinished.discard()
            throw error
        }
    }

    // MARK: The list of tables

    /// Opens a file of which not every table's definition need be readable.
    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(TimeInterval(SQLiteStore.busyTimeoutSeconds))
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        return try DatabaseQueue(path: try DatabaseFile(path: path).readOnlyAddress(), configuration: configuration)
    }

    /// A table whose definition is damaged, and where it lies.
    private struct WrongTable {
        var name: String
        var definition: String
        var page: Int64
    }

    /// Gives the new file the tables that the damaged one has: each migration changes rows that older ones wrote.
    /// - Returns: the tables whose definition isn't what the migrations made.
    private static func migrate(_ target: DatabaseQueue, as source: Database, _ path: String) throws -> [WrongTable] {
        let migrator = Schema.migrator
        let tables: [WrongTable]
        do {
            tables = try Row.fetchAll(source, sql: "SELECT name, sql, rootpage FROM sqlite_master").map { row in
                let values = Array(row.databaseValues)
                return WrongTable(
                    name: String.fromDatabaseValue(values[0]) ?? "",
                    definition: String.fromDatabaseValue(values[1]) ?? "",
                    page: Int64.fromDatabaseValue(values[2]) ?? 0)
            }
        } catch {
            throw StoreError.corrupt(path: path, reason: "the list of its tables can't be read")
        }
        // Where that can't be read, it is taken for one of this version.
        let applied = (try? migrator.appliedIdentifiers(source)) ?? []
        if let last = migrator.migrations.last(where: applied.contains) {
            try migrator.migrate(target, upTo: last)
        } else {
            try migrator.migrate(target)
        }
        let wanted = try target.read { db in
            try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
                .map { (name: $0[0] as String, definition: $0[1] as String) }
        }
        guard wanted.contains(where: { wanted in tables.contains { $0.name == wanted.name } }) else {
            throw StoreError.corrupt(path: path, reason: "it has none of our tables")
        }
        return wanted.compactMap { name, definition in
            guard let found = tables.first(where: { $0.name == name || $0.definition == definition }), found.page > 0
            else { return nil }
            if found.name == name, found.definition == definition { return nil }
            // Of an unknown version, the definition may be right as it is.
            if applied.isEmpty, (try? source.columns(in: name))?.isEmpty == false { return nil }
            return WrongTable(name: name, definition: definition, page: found.page)
        }
    }

    /// Copies the file and gives tables their definitions back.
    private static func repair(_ damaged: String, _ tables: [WrongTable], into copy: String) throws {
        for suffix in ["", "-wal"] where FileIdentity(damaged + suffix) != nil {
            try FileManager.default.copyItem(atPath: damaged + suffix, toPath: copy + suffix)
        }
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        let queue = try DatabaseQueue(path: copy, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            for table in tables {
                try db.execute(
                    sql:
                        "UPDATE sqlite_master SET type = 'table', name = ?1, tbl_name = ?1, sql = ?2 WHERE rootpage = ?3",
                    arguments: [table.name, table.definition, table.page])
            }
        }
        try queue.close()
    }

    mutating func copyAll() throws {
        try copyHead()
        try copy("source", keys: KeyOrder("number"))
        for table in try shortTables() { try copy(table, keys: nil) }
        try copy("observation", keys: Self.observationKeys) { ObservationKey(rawValue: $0).observedAt }
        // Their numbers tell no time: what is missing may be as new as the newest.
        try copy("pilotReport", keys: KeyOrder("number")) { _ in .distantFuture }
        try copy("area", keys: KeyOrder("number")) { _ in .distantFuture }
        try copy("position", keys: Self.positionKeys) {
            PositionKey.start(of: $0).advanced(by: AircraftPosition.bucketSeconds)
        }
        try refuseUnreadable()
        try nameSources()
        try finish()
    }

    // MARK: Tables

    /// What is copied in a way of its own, or built anew.
    private static let otherTables: Set = [
        "head", "source", "cursor", "observation", "pilotReport", "area", "position", "changedStep", "packedPart",
        "sourceValue", "grdb_migrations",
    ]

    /// Keys, changed queries and what else has a few rows.
    private func shortTables() throws -> [String] {
        let tables = try String.fetchAll(
            target, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return tables.filter { !Self.otherTables.contains($0) && !$0.hasPrefix("sqlite_") }
    }

    /// Everything of the head but what names the log: a salvage is another log.
    private func copyHead() throws {
        let names = try target.columns(in: "head").map(\.name).filter {
            !["id", "version", "rules", "log", "deletions"].contains($0)
        }
        for name in names {
            guard let value = try? DatabaseValue.fetchOne(source, sql: "SELECT \(name) FROM head WHERE id = 1") else {
                continue
            }
            try target.execute(sql: "UPDATE head SET \(name) = ?", arguments: [value])
        }
    }

    /// The order in which the rows of a table are read. Its keys are never negative.
    private struct KeyOrder {
        /// One of them, or two that are compared together.
        var columns: [String]
        /// How far the first column is shifted to the left, to make one number of two.
        var shift: Int64 = 0

        init(_ columns: String..., shift: Int64 = 0) {
            self.columns = columns
            self.shift = shift
        }

        /// nil where a value makes no sense.
        func key(of row: Row) -> Int64? {
            let values = columns.compactMap { column in
                let value: DatabaseValue = row[column]
                return Int64.fromDatabaseValue(value)
            }
            guard values.count == columns.count, let first = values.first, first >= 0, first < .max >> shift else {
                return nil
            }
            return values.count == 1 ? first : first << shift | values[1] & (1 << shift - 1)
        }

        /// What a condition on the order compares a key with.
        func arguments(_ key: Int64) -> [Int64] {
            columns.count == 1 ? [key] : [key >> shift, key & (1 << shift - 1)]
        }

        /// `(a, b)`; a single one without parentheses, so that SQLite searches by it.
        var list: String { columns.count == 1 ? columns[0] : "(\(columns.joined(separator: ", ")))" }
        var marks: String { columns.count == 1 ? "?" : "(?, ?)" }
        var isUnique: Bool { columns.count == 1 }
    }

    private static let observationKeys = KeyOrder("key")
    private static let positionKeys = KeyOrder("bucket", "icao24", shift: PositionKey.aircraftBits)

    /// Copies a table. Without keys it is short, and read from both ends of its own order.
    private mutating func copy(
        _ table: String, keys order: KeyOrder?, time: (Int64) -> Instant? = { _ in nil }
    ) throws {
        guard try source.tableExists(table), try target.tableExists(table) else { return }
        let known = Set(try source.columns(in: table).map(\.name))
        let names = try target.columns(in: table).map(\.name).filter {
            // Computed by SQLite.
            known.contains($0) && !(table == "observation" && $0 == "observedAt")
        }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let insert = try target.makeStatement(
            sql: "INSERT INTO \(table) (\(list)) VALUES (\(marks)) ON CONFLICT DO NOTHING")
        var entry = Salvaged.Table(name: table, rows: 0, refused: 0, gaps: [])
        var pending = 0
        /// Whether most rows were taken before.
        var isFromBehind = order == nil
        func take(_ row: Row) throws {
            if pending == 0 { try target.beginTransaction(.immediate) }
            var isTaken = false
            do {
                try insert.execute(arguments: StatementArguments(row.databaseValues))
                isTaken = target.changesCount > 0
                // The same row from the other end.
                if !isTaken, isFromBehind || order?.isUnique != true { return }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
            if isTaken {
                entry.rows += 1
            } else {
                entry.refused += 1
                if let key = order?.key(of: row) { noteMissing(time(key)) }
            }
            pending += 1
            if pending == Self.rowsAtOnce {
                try target.commit()
                pending = 0
            }
        }
        if let order {
            let query = """
                SELECT \(list) FROM \(table) \(order.isUnique ? "NOT INDEXED" : "")
                WHERE \(order.list) >= \(order.marks) ORDER BY \(order.columns.joined(separator: ", "))
                """
            var range = DamagedRange(hints: hints(table), mostLooks: Self.mostLooks)
            // Whatever bounds the keys may lie in a page that can't be read.
            let source = source
            try range.read(0...Int64.max - 1) { keys, body in
                let rows = try Row.fetchCursor(
                    source, sql: query, arguments: StatementArguments(order.arguments(keys.lowerBound)))
                while let row = try rows.next() {
                    guard let key = order.key(of: row) else { continue }
                    try body(key, row)
                }
            } gap: { gap in
                entry.gaps.append(gap)
            } _: { _, row in
                do { try take(row) } catch { throw TargetError(error: error) }
            }
            let newest = newestTime(of: table)
            for gap in entry.gaps { noteMissing(time(gap.upperBound).map { min($0, newest) }) }
            if let table = StoredTable(rawValue: table), try source.contradiction(in: table) != nil {
                // A garbled key hides the rows behind it, or before it: from the other end they are found.
                let rows = try Row.fetchCursor(
                    source,
                    sql: """
                        SELECT \(list) FROM \(table.rawValue) \(order.isUnique ? "NOT INDEXED" : "")
                        ORDER BY \(order.columns.map { "\($0) DESC" }.joined(separator: ", "))
                        """)
                isFromBehind = true
                do { while let row = try rows.next() { try take(row) } } catch let error as DatabaseError
                    where error.isPageDamage
                {}
                entry.gaps.append(0...0)
                noteMissing(newest)
            }
        } else {
            // From both ends: a table without numbers can't be halved.
            for order in ["", "ORDER BY 1 DESC"] {
                do {
                    let rows = try Row.fetchCursor(source, sql: "SELECT \(list) FROM \(table) \(order)")
                    while let row = try rows.next() { try take(row) }
                    break
                } catch let error as DatabaseError where error.isPageDamage {
                    if !order.isEmpty { entry.gaps = [0...0] }
                }
            }
        }
        if target.isInsideTransaction { try target.commit() }
        result.tables.append(entry)
    }

    /// An error of the new file, which no other way of reading the old one helps against.
    private struct TargetError: Error {
        var error: any Error
    }

    /// Far more than a thousand gaps take.
    private static let mostLooks = 1 << 20

    private static func kind(of table: String) -> ObservedKind? {
        switch table {
        case "observation": .observations
        case "pilotReport": .reports
        case "position": .positions
        default: nil
        }
    }

    /// The newest time that a missing row of a table may have had: the newest that was ever stored, where that can be
    /// read.
    private func newestTime(of table: String) -> Instant {
        guard let kind = Self.kind(of: table), let stored = storedTimes(kind) else { return end }
        return stored.upperBound
    }

    /// Older files tell of no times.
    private func storedTimes(_ kind: ObservedKind) -> ClosedRange<Instant>? {
        try? SQLiteStore.storedTimes(kind, source)
    }

    /// Places in a table at which rows are likely: its keys are far apart, and begin far from zero.
    private func hints(_ table: String) -> [Int64] {
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

    /// What is missing was there before: an answer about whatever is stored lacks it.
    private static func noteLost(before instant: Instant, _ version: Version, _ db: Database) throws {
        let note = try RawStatement(db, Query.noteDeletedBefore)
        for kind in [DeletionKind.positions, .rest] {
            note.bind(kind.rawValue, at: 1)
            note.bind(Int64(instant.seconds), at: 2)
            note.bind(version.rawValue, at: 3)
            try note.run()
        }
    }

    private mutating func noteMissing(_ instant: Instant?) {
        guard let instant else { return }
        // A row that makes no sense may tell any time.
        missingUntil = max(missingUntil ?? .distantPast, min(instant, end))
    }

    // MARK: Sense

    /// Deletes rows that the schema allows and the log doesn't.
    private mutating func refuseUnreadable() throws {
        let register = DamageRegister()
        for (table, key, query) in [
            ("observation", "key", Query.everyObservation), ("pilotReport", "number", Query.everyReport),
            ("area", "number", Query.everyArea),
        ] {
            guard let index = result.tables.firstIndex(where: { $0.name == table }),
                let statement = try? RawStatement(target, query)
            else { continue }
            var bad: [Int64] = []
            try statement.forEachRow { columns in
                do {
                    switch table {
                    case "observation": _ = try ObservationRow(columns)
                    case "pilotReport": _ = try PilotReport(columns)
                    default: _ = try StoredArea(columns)
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

    /// Gives a name to sources whose own can't be read: their rows stay.
    private func nameSources() throws {
        for number in 0...255 {
            guard try Int.fetchOne(target, sql: "SELECT 1 FROM source WHERE number = ?", arguments: [number]) == nil
            else {
                continue
            }
            let isUsed = try ["observation", "pilotReport", "area", "position"].contains { table in
                try Int.fetchOne(target, sql: "SELECT 1 FROM \(table) WHERE source >= ? LIMIT 1", arguments: [number])
                    != nil
            }
            let isFollowed =
                try Int.fetchOne(target, sql: "SELECT 1 FROM source WHERE number > ?", arguments: [number]) != nil
            guard isUsed || isFollowed else { return }
            try target.execute(
                sql: """
                    INSERT INTO source (number, name, mergeRule, simulated)
                    VALUES (?, ?, 1, (SELECT coalesce(max(simulated), 0) FROM source))
                    """,
                arguments: [number, "salvaged-\(number)"])
        }
    }

    private mutating func finish() throws {
        let newest = try ["observation", "pilotReport", "area", "position"].compactMap { table in
            try Int64.fetchOne(
                target,
                sql: table == "position"
                    ? "SELECT max(since) FROM position" : "SELECT max(max(since, coalesce(until, 0))) FROM \(table)")
        }
        let head = (try? Int64.fetchOne(source, sql: "SELECT version FROM head WHERE id = 1")) ?? 0
        // Another log than before: pictures of it are others.
        let version = max(head, newest.max() ?? 0) + 1
        try target.execute(sql: "UPDATE head SET version = ?", arguments: [version])
        if try target.columns(in: "head").contains(where: { $0.name == "rules" }) {
            try target.execute(sql: "UPDATE head SET rules = version")
        }
        if try target.columns(in: "head").contains(where: { $0.name == "log" }) {
            try target.execute(sql: Schema.renameLog)
        }
        result.version = Version(rawValue: version)
        guard !result.isWhole else {
            try copy("cursor", keys: nil)
            try copy("sourceValue", keys: nil)
            return
        }
        // Without cursors everything is fetched anew that an upstream still has.
        let since = missingUntil.map { $0.advanced(by: 1) } ?? end
        result.completeSince = since
        let marks = StatementArguments([since.seconds])
        try target.execute(
            sql: "UPDATE source SET completeSince = max(coalesce(completeSince, 0), ?)", arguments: marks)
        try markLostAreas()
        if try target.tableExists("fetched"), try target.columns(in: "fetched").contains(where: { $0.name == "since" })
        {
            try target.execute(sql: "UPDATE fetched SET since = max(since, ?)", arguments: marks)
        }
        if try target.tableExists("coveredArea") {
            try target.execute(sql: "DELETE FROM coveredArea WHERE until < ?", arguments: marks)
            try target.execute(sql: "UPDATE coveredArea SET since = max(since, ?)", arguments: marks)
        }
    }

    /// Nobody knows until when a lost area holds: as long as the last one that was read, or the longest that any
    /// product is issued for. What is fetched is had anew as a whole; the rest is marked until then.
    private func markLostAreas() throws {
        guard result.tables.contains(where: { $0.name == "area" && ($0.refused > 0 || !$0.gaps.isEmpty) }) else {
            return
        }
        let last = try Int64.fetchOne(target, sql: "SELECT max(validTo) FROM area") ?? 0
        try target.execute(
            sql: "UPDATE source SET completeSince = max(coalesce(completeSince, 0), ?) WHERE fetchedAt IS NULL",
            arguments: [max(last, Int64(end.advanced(by: Self.longestValidity).seconds))])
    }

    /// A day, in seconds: the longest that SIGMETs, G-AIRMETs and advisories hold is some twelve hours.
    private static let longestValidity = 86_400
}
