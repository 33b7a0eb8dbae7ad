import Datasets
import Foundation
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowPostgreSQL
@testable import BillowStore

@Suite("The SQL that SQLite and PostgreSQL share")
struct SubsetTests {
    private static let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/architecture/sql.md")

    private static let operatorSigns = Set("=<>+-*/%~&|")

    /// The code spans of the document, outside its blocks.
    private static func spans() throws -> Set<String> {
        let text = try String(contentsOf: document, encoding: .utf8)
        return Set(text.matches(of: /`([^`\n]+)`/).map { String($0.1) })
    }

    /// The texts that a store on SQLite executes for a log with everything.
    private func statements() async throws -> [String] {
        let store = RecordingStore(try await makeStore())
        try await exercise(store)
        return store.recorded.sorted()
    }

    private func exercise(_ store: RecordingStore) async throws {
        try await fill(store, rows: 300)
        let awc = try source("awc")
        _ = try await store.register(source("third"), merge: .keep, simulated: nil)
        _ = try await store.register(source("third"), merge: .replace, simulated: false)
        let field = try grid()
        _ = try await store.commit(
            Batch(source: awc, fields: try (0..<3).map { try draft(run: $0 * 3_600, number: $0, on: field) }))
        let (start, end) = (noon.advanced(by: -7_200), noon.advanced(by: 7_200))
        let head = try await store.head()
        _ = try await (store.state(), store.problems(), store.extent(), store.packedParts())
        for kind in StoredTable.allCases { _ = try await store.count(kind) }
        for version in [nil, head.version] {
            _ = try await store.rows(from: start, to: end, asOf: version)
            _ = try await store.pilotReports(from: start, to: end, asOf: version)
            _ = try await store.pilotReports(after: (noon, "r1"), from: start, to: end, limit: 5, asOf: version)
            _ = try await store.pilotReport(id: "r1", asOf: version)
            _ = try await store.areas(.hazards, from: start, to: end, asOf: version)
            _ = try await store.areas(nil, from: start, to: end, asOf: version)
            _ = try await store.positions(from: start, to: end, asOf: version)
            _ = try await store.positions(after: nil, from: start, to: end, limit: 5, asOf: version)
            for aircraft in try await store.aircraft(from: start, to: end, asOf: version).prefix(1) {
                _ = try await store.track(of: aircraft, from: start, to: end, asOf: version)
            }
            _ = try await store.fields(asOf: version)
            let page = try await store.page(after: nil, from: start, to: end, limit: 20, asOf: version)
            let keys = page.map(\.row.key)
            _ = try await (store.details(of: keys), store.observations(of: keys))
            _ = try await store.page(after: keys.first, from: start, to: end, limit: 20, asOf: version)
            _ = try await store.observation(id: "é\u{0}3", asOf: version)
        }
        _ = try await store.areaChanges(of: .hazards, in: start...end, asOf: head.version)
        _ = try await store.countObservations(from: start, to: end)
        _ = try await store.fieldPlane(row: 1)
        _ = try await store.packedFieldPlane(row: 1)
        _ = try await store.packed(ArchivePart(noon), asOf: head.version)
        _ = try await store.unpackedParts(in: ArchivePart(start)...ArchivePart(end))
        for version in 0...head.version.rawValue {
            _ = try await store.changes(since: Version(rawValue: version))
            _ = try await store.changedTimes(since: Version(rawValue: version), from: start)
        }
        _ = try await store.confirmedTime(retentionSeconds: 86_400)
        _ = try await (store.cursors(of: awc), store.values(of: awc), store.accessKeys(), store.monitoredFlights())
        _ = try await store.revokeAccessKey(id: "0123456789abcdef", at: noon)
        _ = try await store.persistedOverride(of: awc)
        try await store.setPersistedOverride(nil, of: awc)
        try await store.update([MonitoredFlight(id: "f", accessKey: "k", value: #"{"a": 1}"#)])
        try await store.removeMonitoredFlights(["f"])
        _ = try await store.commit(Batch(source: awc, retraction: .everything))
        _ = try await store.prune(Pruning(before: noon.advanced(by: 60), sources: [awc], sparesImports: true))
        _ = try await store.prune(Pruning(before: end, changesPictures: true))
    }

    @Test("each statement that SQLite executes is prepared by PostgreSQL, in its translation")
    func prepared() async throws {
        let postgreSQL = try await makeStore(.postgreSQL)
        let statements = try await statements()
        #expect(statements.count > 80)
        for statement in statements {
            // A statement that fails would end the transaction of the others.
            do { try await postgreSQL.reading { db in _ = try db.statement(statement) } } catch {
                Issue.record("\(error): \(statement)")
            }
        }
    }

    @Test("statements have the operators and functions of the document, and no other keywords")
    func documented() async throws {
        let documented = try Self.spans()
        var used: Set<String> = []
        var signs: Set<Character> = []
        for statement in try await statements() {
            let tokens = PostgreSQLDialect.tokens(statement)
            signs.formUnion(tokens.compactMap(\.first).filter { Self.operatorSigns.contains($0) })
            for (index, token) in tokens.enumerated() where token.first?.isLetter == true {
                if token.count > 1, token.allSatisfy({ $0.isUppercase }) {
                    #expect(documented.contains(String(token)), "\(token) in: \(statement)")
                } else if index + 1 < tokens.count, tokens[index + 1] == "(", !isTable(tokens, index) {
                    used.insert("\(token)()")
                }
            }
        }
        let functions = documented.filter { $0.hasSuffix("()") }
        #expect(used == functions, "\(used.symmetricDifference(functions).sorted())")
        let operators = documented.filter { $0.allSatisfy { Self.operatorSigns.contains($0) } }
        #expect(signs == Set(operators.joined()), "\(signs.sorted())")
    }

    /// Whether a word before a parenthesis names a table, whose columns follow.
    private func isTable(_ tokens: [Substring], _ index: Int) -> Bool {
        let words = tokens[..<index].filter { $0.first?.isWhitespace == false }
        return ["INTO", "WITH", "RECURSIVE"].contains(words.last)
    }
}

/// A store on SQLite that records the texts of its statements.
private final class RecordingStore: SQLStore {
    private let store: SQLiteStore
    private let texts = Mutex<Set<String>>([])

    init(_ store: SQLiteStore) { self.store = store }

    var recorded: Set<String> { texts.withLock { $0 } }
    var register: DamageRegister { store.register }
    var tags: ContentTags { store.tags }
    var longestTransaction: Duration { store.longestTransaction }
    var rowEstimate: RowEstimate { store.rowEstimate }
    var newestHead: NewestHead? { store.newestHead }

    func problems() async throws(StoreError) -> [String] { try await versionProblems() }
    func survey(rest: Duration) async throws(StoreError) { try await store.survey(rest: rest) }
    func size(counting: Bool) async throws(StoreError) -> StoreSize? { try await store.size(counting: counting) }
    func close() throws(StoreError) { try store.close() }

    func reading<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        try await store.reading { db in try body(RecordingConnection(db, self.record)) }
    }

    func writing<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        try await store.writing { db in try body(RecordingConnection(db, self.record)) }
    }

    @Sendable private func record(_ sql: String) { texts.withLock { _ = $0.insert(sql) } }
}

private final class RecordingConnection: SQLConnection {
    private let connection: any SQLConnection
    private let record: (String) -> Void

    init(_ connection: any SQLConnection, _ record: @escaping (String) -> Void) {
        self.connection = connection
        self.record = record
    }

    var changesCount: Int { connection.changesCount }
    func checkCancellation() throws { try connection.checkCancellation() }

    func statement(_ sql: String) throws -> RawStatement {
        record(sql)
        return try connection.statement(sql)
    }
}
