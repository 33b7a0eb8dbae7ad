internal import Foundation
internal import GRDB
package import Turbulence

extension SQLiteStore {
    /// Copies the readable part of a damaged database into a new file, row by row and around damaged pages. It copies
    /// access keys, persisted overrides, sources, and rows of every kind with their versions. Indices, packed parts and
    /// change times are rebuilt. The damaged file stays unchanged.
    ///
    /// If b-trees or the schema table are damaged, rows are also searched page by page (`SalvagedPages`).
    ///
    /// A file of a build from before the first release is copied too, whether it is damaged or not. Its cursors are not
    /// copied, so everything that an upstream still has is fetched again.
    ///
    /// - Parameter now: the time of the salvage: nothing newer can be missing. nil for the system's time.
    /// - Throws: `corrupt` if nothing is readable, `unavailable` if the new file exists.
    package static func salvage(_ damaged: String, to path: String, now: Instant? = nil) async throws(StoreError)
        -> SalvageResult
    {
        let now = now ?? Instant(clamping: Int(Date().timeIntervalSince1970))
        guard FileIdentity(path) == nil else { throw .unavailable(path: path, reason: "it exists already") }
        return try await salvage(damaged, as: path, at: now) { try $0.finish(replacing: false) }.result
    }

    /// - Parameter finish: gives the complete copy its name.
    static func salvage<Named: Sendable>(
        _ damaged: String, as path: String, at now: Instant,
        finish: @escaping @Sendable (UnfinishedFile) throws -> Named
    ) async throws(StoreError) -> (result: SalvageResult, named: Named) {
        let result: Result<(SalvageResult, Named), any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { try salvageSynchronously(damaged, as: path, at: now, finish: finish) })
            }
        }
        do { return try result.get() } catch { throw StoreError(error, path: damaged) }
    }

    /// The synchronous salvage, on the caller's thread.
    private static func salvageSynchronously<Named>(
        _ damaged: String, as path: String, at now: Instant, finish: (UnfinishedFile) throws -> Named
    ) throws -> (SalvageResult, Named) {
        guard FileIdentity(damaged) != nil else {
            throw StoreError.unavailable(path: damaged, reason: "there is no such file")
        }
        let unfinished = try UnfinishedFile(for: path, mode: 0o600)
        let (repaired, pages) = (unfinished.path + "-source", unfinished.path + "-pages")
        defer {
            for path in [repaired, pages] {
                for suffix in [""] + DatabaseFile.companions { unlink(path + suffix) }
            }
        }
        do {
            // A source with an unreadable row gets a replacement row later (see `Salvage.nameSources`).
            var writing = Configuration.atDefaultPriority
            writing.foreignKeysEnabled = false
            writing.prepareDatabase(RowSum.register)
            let target = try DatabaseQueue(path: unfinished.path, configuration: writing)
            try StoreSchema.migrator.migrate(target)
            let source = try SalvageSource(damaged, repaired: repaired, pages: pages, as: target)
            // No transaction: SQLite can't end one after an unreadable page, and the damaged file is never written.
            let salvaged = try source.queue.unsafeRead { db in
                try target.writeWithoutTransaction { target in
                    func run(_ found: Database?) throws -> SalvageResult {
                        var salvage = try Salvage(
                            source: db, found: found, target: target, isUnreleased: source.isUnreleased,
                            isListLost: source.isListLost, now: now)
                        return try salvage.run()
                    }
                    return try source.found.map { try $0.unsafeRead(run) } ?? run(nil)
                }
            }
            try source.found?.close()
            try source.queue.close()
            try target.close()
            return (salvaged, try finish(unfinished))
        } catch {
            unfinished.discard()
            throw error
        }
    }
}

/// A damaged file, open for reading. Some table definitions may be unreadable.
private struct SalvageSource {
    let queue: DatabaseQueue
    /// The rows that were found page by page; nil if SQLite can read every page.
    let found: DatabaseQueue?
    /// Whether a build from before the first release wrote it.
    let isUnreleased: Bool
    /// Whether the schema table is unreadable too. `queue` then has the rows that were found page by page.
    let isListLost: Bool

    /// - Parameters:
    ///   - repaired: the path of a repaired copy, for a file with damaged definitions.
    ///   - pages: the path for rows that are found page by page.
    ///   - target: the new database, with all tables.
    init(_ path: String, repaired: String, pages: String, as target: DatabaseQueue) throws {
        do {
            (queue, isUnreleased) = try Self.open(path, repaired: repaired, as: target)
        } catch {
            // A file that is not Billow's may get here too; the search finds nothing in it.
            guard Self.isDamage(error), let found = try Self.search(path, into: pages) else { throw error }
            (queue, self.found, isUnreleased, isListLost) = (found, nil, false, true)
            return
        }
        isListLost = false
        let isSound = queue.unsafeRead { (try? String.fetchOne($0, sql: "PRAGMA quick_check(1)")) == "ok" }
        found = isSound || isUnreleased ? nil : try Self.search(path, into: pages)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: error.isPageDamage || error.resultCode == .SQLITE_NOTADB
        case StoreError.corrupt: true
        default: false
        }
    }

    /// Writes the rows that are found page by page into a separate file; nil if none are found.
    private static func search(_ path: String, into pages: String) throws -> DatabaseQueue? {
        var configuration = Configuration.atDefaultPriority
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            try RowSum.register(db)
            try db.execute(sql: "PRAGMA synchronous = OFF")
        }
        let queue = try DatabaseQueue(path: pages, configuration: configuration)
        try StoreSchema.migrator.migrate(queue)
        let hasAny = try queue.writeWithoutTransaction { try SalvagedPages.copy(path, into: $0) > 0 }
        if !hasAny { try queue.close() }
        return hasAny ? queue : nil
    }

    private static func open(
        _ path: String, repaired: String, as target: DatabaseQueue
    ) throws -> (queue: DatabaseQueue, isUnreleased: Bool) {
        let queue = try Self.open(path)
        let isUnreleased = queue.unsafeRead { (try? StoreSchema.isUnreleased($0)) ?? false }
        let wrong = try queue.unsafeRead { try Self.wrongTables(of: $0, target, path, isUnreleased: isUnreleased) }
        if wrong.isEmpty { return (queue, isUnreleased) }
        try queue.close()
        try Self.repair(path, wrong, into: repaired)
        return (try Self.open(repaired), isUnreleased)
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration.atDefaultPriority
        configuration.readonly = true
        configuration.busyMode = .timeout(TimeInterval(SQLiteStore.busyTimeoutSeconds))
        configuration.prepareDatabase { db in
            try RowSum.register(db)
            try db.execute(sql: "PRAGMA writable_schema = ON")
        }
        return try DatabaseQueue(path: try DatabaseFile(path: path).readOnlyAddress(), configuration: configuration)
    }

    /// A table's definition and its root page.
    private struct TableDefinition {
        var name: String
        var text: String
        var page: Int64

        var statement: String { Self.statement(text) }

        /// A definition without its comments, which differ between versions of Billow.
        static func statement(_ text: String) -> String {
            text.split(separator: "\n").map { line in
                line.range(of: "--").map { line[..<$0.lowerBound] } ?? line
            }.joined(separator: " ").split(separator: " ").joined(separator: " ")
        }
    }

    /// The tables with a damaged definition, with their correct definitions.
    private static func wrongTables(
        of source: Database, _ target: DatabaseQueue, _ path: String, isUnreleased: Bool
    ) throws -> [TableDefinition] {
        let tables: [TableDefinition]
        do {
            tables = try Row.fetchAll(source, sql: "SELECT name, sql, rootpage FROM sqlite_master").map { row in
                let values = Array(row.databaseValues)
                return TableDefinition(
                    name: String.fromDatabaseValue(values[0]) ?? "", text: String.fromDatabaseValue(values[1]) ?? "",
                    page: Int64.fromDatabaseValue(values[2]) ?? 0)
            }
        } catch {
            throw StoreError.corrupt(path: path, reason: "the list of its tables can't be read")
        }
        let wanted = try target.read { db in
            try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
                .map { (name: $0[0] as String, text: $0[1] as String) }
        }
        guard wanted.contains(where: { wanted in tables.contains { $0.name == wanted.name } }) else {
            throw StoreError.corrupt(path: path, reason: "it has none of Billow's tables")
        }
        if isUnreleased { return [] }
        // If the version is unreadable, the file is treated as one of this version.
        let isKnown = (try? StoreSchema.migrator.appliedIdentifiers(source))?.isEmpty == false
        return wanted.compactMap { name, text in
            let statement = TableDefinition.statement(text)
            guard let found = tables.first(where: { $0.name == name || $0.statement == statement }), found.page > 0
            else { return nil }
            if found.name == name, found.statement == statement { return nil }
            // With an unknown version, the definition may be right as it is.
            if !isKnown, (try? source.columns(in: name))?.isEmpty == false { return nil }
            return TableDefinition(name: name, text: text, page: found.page)
        }
    }

    /// Copies the file and restores the definitions of tables.
    private static func repair(_ damaged: String, _ tables: [TableDefinition], into copy: String) throws {
        for suffix in ["", "-wal"] where FileIdentity(damaged + suffix) != nil {
            try FileManager.default.copyItem(atPath: damaged + suffix, toPath: copy + suffix)
        }
        var configuration = Configuration.atDefaultPriority
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        let queue = try DatabaseQueue(path: copy, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            for table in tables {
                try db.execute(
                    sql: """
                        UPDATE sqlite_master SET type = 'table', name = ?1, tbl_name = ?1, sql = ?2
                        WHERE rootpage = ?3
                        """,
                    arguments: [table.name, table.text, table.page])
            }
        }
        try queue.close()
    }
}
