internal import GRDB
internal import Synchronization
import Datasets
package import Turbulence

/// The unreadable rows of one table, as far as reads have encountered them.
package struct StoredDamage: Sendable, Hashable, CustomStringConvertible {
    package var table: StoredTable
    /// The number of rows with invalid values.
    package var rows: Int
    /// The number of key ranges in unreadable pages.
    package var gaps: Int
    /// The number of archive parts whose rows differ from the packed ones.
    package var changedParts: Int
    /// The first and last instant that the damage may affect; nil where unknown.
    package var from: Instant?
    package var to: Instant?
    /// A description of the first damaged row.
    package var example: String

    package var description: String {
        let counts = [(rows, "row", "rows"), (gaps, "gap", "gaps"), (changedParts, "changed part", "changed parts")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
        let span = from.map { from in ", from \(from) to \(to.map(\.description) ?? "an unknown time")" } ?? ""
        return "table \(table.rawValue): \(counts.joined(separator: " and ")) can't be trusted\(span); \(example)"
    }
}

/// A table of the log, by its name in the file.
package enum StoredTable: String, Sendable, Hashable, CaseIterable {
    case observation
    case pilotReport
    case area
    case position
    case fieldGrid
    case fieldLevel
    case head
    case source
    case fetched
    case storedKind
    case coveredArea
    case cursor
    case sourceValue
    case deletion
    case packedPart
    case accessKey
    case persistedOverride = "sourceControl"
    case monitoredFlight = "followedFlight"
    case reporter
    case reporterSource
    case changedStep

    /// Whether its rows are read around unreadable pages, which records the positions of those pages.
    var isReadAround: Bool { [.observation, .pilotReport, .area, .position].contains(self) }

    /// The kinds of data in its rows, which are incomplete where rows are unreadable.
    var kinds: [FeedKind] {
        switch self {
        case .observation: [.observations]
        case .pilotReport: [.reports]
        case .area: Catalogue.kindsOfAreas
        case .position: [.positions]
        case .fieldGrid, .fieldLevel: [.fields]
        // No other table records since when, and where, data is complete.
        case .head, .source, .fetched, .storedKind, .coveredArea, .deletion: Catalogue.kinds
        // A client might take an outdated frame for the current one.
        case .changedStep: Catalogue.kinds
        case .cursor, .sourceValue, .packedPart, .accessKey, .persistedOverride, .monitoredFlight, .reporter,
            .reporterSource:
            []
        }
    }
}

/// A stored row with a wrong checksum, or with values that the schema forbids or this version of Billow doesn't know.
struct UnreadableRow: Error, CustomStringConvertible {
    var table: StoredTable
    /// Its primary key, or a number in place of the key.
    var key: Int64
    /// The times that it may affect; nil where unknown.
    var span: ClosedRange<Instant>?
    /// nil where unknown.
    var source: UInt8?

    var description: String { "row \(key) of table \(table.rawValue) can't be read" }

    init(table: StoredTable, key: Int64, span: ClosedRange<Instant>? = nil, source: UInt8? = nil) {
        self.table = table
        self.key = key
        self.span = span
        self.source = source
    }

    /// An unreadable row of a query on all columns of a table. A wrong checksum doesn't show which column is wrong. So
    /// the source is unknown, and the true time may be one with a single bit flipped back.
    ///
    /// - Parameters:
    ///   - times: the columns that hold times.
    ///   - instants: converts such a column's value to an instant; nil for an invalid time.
    init<Column: StoredColumn>(
        _ columns: Columns, key: Column, source: Column? = nil, times: [Column] = [],
        instants: (Column, Int64) -> [Instant?] = { _, _ in [] }
    ) {
        let sum = columns.sum(ofFirst: Column.sum.rawValue)
        let stored = columns.integer(Column.sum)
        var about: [Instant] = []
        for time in times {
            let value = columns.integer(time)
            about += instants(time, value).compactMap { $0 }
            guard sum.value != stored,
                let original = sum.original(of: value, at: time.rawValue, sum: stored)
            else { continue }
            about += instants(time, original).compactMap { $0 }
        }
        self.init(table: Column.table, key: columns.integer(key))
        if let first = about.min(), let last = about.max() { span = first...last }
        if sum.value == stored { self.source = source.flatMap { UInt8(exactly: columns.integer($0)) } }
    }

    /// A row with a text as primary key, of a query on all columns of a table. Its checksum identifies it.
    init<Column: StoredColumn>(unnumbered columns: Columns, _ table: Column.Type) {
        self.init(table: Column.table, key: columns.integer(Column.sum))
    }
}

/// The unreadable rows that reads have encountered since the store was opened. Frames over them are marked incomplete.
package final class DamageRegister: Sendable {
    private struct State {
        var entries: [StoredTable: Entry] = [:]
        var probes = 0
    }

    private struct Entry {
        var rows: Set<Int64> = []
        var moreRows = 0
        /// The gaps in rising order; no two are adjacent.
        var gaps: [ClosedRange<Int64>] = []
        var parts: Set<ArchivePart> = []
        var contradictions = 0
        var spans: [UInt8?: ClosedRange<Instant>] = [:]
        var example: String

        /// Adds a gap. Adjacent gaps are merged, because a range is read piece by piece.
        mutating func add(_ gap: ClosedRange<Int64>) {
            let first = gaps.firstIndex { $0.upperBound >= gap.lowerBound - 1 } ?? gaps.endIndex
            let end = gaps[first...].firstIndex { $0.lowerBound - 1 > gap.upperBound } ?? gaps.endIndex
            let joined = gaps[first..<end].reduce(gap) {
                min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
            }
            guard first < end || gaps.count < DamageRegister.maximumKeys else { return }
            gaps.replaceSubrange(first..<end, with: [joined])
        }

        mutating func widen(_ source: UInt8?, by span: ClosedRange<Instant>) {
            let known = spans[source] ?? span
            spans[source] =
                min(known.lowerBound, span.lowerBound)...max(known.upperBound, span.upperBound)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// The most keys that are stored to avoid counting a row twice.
    private static let maximumKeys = 10_000

    func note(_ row: UnreadableRow) {
        change(row.table, row.description) { entry in
            if entry.rows.count < Self.maximumKeys {
                entry.rows.insert(row.key)
            } else if !entry.rows.contains(row.key) {
                entry.moreRows += 1
            }
            // A row of unknown time makes all frames incomplete.
            entry.widen(row.source, by: row.span ?? .distantPast ... .distantFuture)
        }
    }

    /// Records a range of keys in which nothing is readable.
    func note(gap: ClosedRange<Int64>, of table: StoredTable, from: Instant, to: Instant, _ reason: String) {
        change(table, "keys \(gap.lowerBound) to \(gap.upperBound) can't be read (\(reason))") { entry in
            entry.add(gap)
            entry.widen(nil, by: min(from, to)...max(from, to))
        }
    }

    /// Records that the pages of a table contradict each other, so that a read may miss any of its rows.
    func note(_ table: StoredTable, contradiction: String) {
        change(table, contradiction) { entry in
            entry.contradictions = 1
            entry.widen(nil, by: .distantPast ... .distantFuture)
        }
    }

    /// Records that a table, or part of it, is unreadable, unless damage to the table is on record already.
    func note(unreadable table: StoredTable, _ reason: String) {
        guard state.withLock({ $0.entries[table] == nil }) else { return }
        note(table, contradiction: reason)
    }

    /// Reads from a table, and records an unreadable page.
    func recordingDamage<Value>(_ table: StoredTable, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError where error.isPageDamage {
            note(unreadable: table, error.description)
            throw error
        }
    }

    /// Records an archive part whose rows don't match their stored checksum.
    func note(changed part: ArchivePart) {
        change(.observation, "the rows of \(part.start) are not the ones that were stored") { entry in
            entry.parts.insert(part)
            entry.widen(nil, by: part.start...part.end)
        }
    }

    private func change(_ table: StoredTable, _ example: String, _ body: (inout Entry) -> Void) {
        state.withLock { body(&$0.entries[table, default: Entry(example: example)]) }
    }

    /// The number of single rows that were probed beside damaged pages.
    var probes: Int { state.withLock { $0.probes } }

    func add(probes: Int) { state.withLock { $0.probes += probes } }

    var damage: [StoredDamage] {
        state.withLock { state in
            StoredTable.allCases.compactMap { table in
                state.entries[table].map { entry in
                    let from = entry.spans.values.map(\.lowerBound).min()
                    let to = entry.spans.values.map(\.upperBound).max()
                    return StoredDamage(
                        table: table, rows: entry.rows.count + entry.moreRows,
                        gaps: entry.gaps.count + entry.contradictions,
                        changedParts: entry.parts.count, from: from == .distantPast ? nil : from,
                        to: to == .distantFuture ? nil : to, example: entry.example)
                }
            }
        }
    }

    /// The sources' records, each complete only after the last time that unreadable rows may affect.
    func limitingCompleteness(_ sources: [SourceRecord]) -> [SourceRecord] {
        let entries = state.withLock { $0.entries }
        guard !entries.isEmpty else { return sources }
        return sources.map { source in
            var source = source
            for (table, entry) in entries {
                for span in [entry.spans[source.number.rawValue], entry.spans[nil]].compactMap({ $0 }) {
                    for kind in table.kinds {
                        source.raiseCompleteSince(kind, to: span.upperBound.advanced(by: 1))
                        source.noteLost(kind, span)
                    }
                }
            }
            return source
        }
    }
}

extension SourceRecord {
    fileprivate mutating func raiseCompleteSince(_ kind: FeedKind, to instant: Instant) {
        let raised = max(completeSince(kind) ?? instant, instant)
        if kind.longestGapSeconds == nil { completeSince = raised } else { fetchedSince[kind] = raised }
        for index in coveredAreas.indices where coveredAreas[index].kind == kind {
            coveredAreas[index].since = max(coveredAreas[index].since, instant)
        }
    }
}

extension Database {
    /// The first contradiction between readable pages of a table and its indices, in SQLite's words; nil where there is
    /// none. Examples are rows out of order and rows that an index lacks. Unreadable pages and wrong checksums don't
    /// count as contradictions: each read of the table detects them.
    ///
    /// - Complexity: reads the whole table in one transaction, with its indices.
    func contradiction(in table: StoredTable) throws -> String? {
        let lines: [String]
        do {
            lines = try String.fetchAll(self, sql: "PRAGMA integrity_check(\(table.rawValue))")
                .flatMap { $0.split(separator: "\n") }.map(String.init)
        } catch let error as DatabaseError where error.isPageDamage { return nil }
        let unreadable = ["btreeInitPage", "Child page depth differs", "unable to get the page", "failed to get page"]
        func isUnreadable(_ line: String) -> Bool { unreadable.contains { line.contains($0) } }
        let ofPages = lines.first { $0.contains("page ") && !isUnreadable($0) && !$0.hasPrefix("***") }
        if let ofPages { return ofPages }
        // Rows in unreadable pages are missing from the index check too.
        guard !lines.contains(where: isUnreadable) else { return nil }
        return try lines.first { line in
            if line.hasPrefix("wrong # of entries") || line.hasPrefix("row not in PRIMARY KEY order") { return true }
            guard line.hasPrefix("row "), line.contains(" missing from index ") else { return false }
            let number = line.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
            return try number.map { try hasWholeRow(atPlace: $0, of: table) } ?? true
        }
    }

    /// Whether the checksum of a row is right; true for a table without checksums.
    /// - Parameter place: the row's position in the table's order, from 1, which is how SQLite names it.
    private func hasWholeRow(atPlace place: Int64, of table: StoredTable) throws -> Bool {
        let isWhole: String? =
            switch table {
            case .observation: ObservationColumn.isWhole
            case .pilotReport: PilotReportColumn.isWhole
            case .area: AreaColumn.isWhole
            case .source: SourceColumn.isWhole
            case .coveredArea: CoveredAreaColumn.isWhole
            default: nil
            }
        guard let isWhole else { return true }
        let query = "SELECT \(isWhole) FROM \(table.rawValue) NOT INDEXED ORDER BY rowid LIMIT 1 OFFSET ?"
        return try Bool.fetchOne(self, sql: query, arguments: [place - 1]) ?? true
    }
}

extension DatabaseError {
    /// Whether a page is unreadable or invalid, while others may be intact.
    var isPageDamage: Bool {
        switch resultCode {
        case .SQLITE_CORRUPT: true
        case .SQLITE_IOERR: [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ].contains(extendedResultCode)
        default: false
        }
    }
}

extension RawStatement {
    /// Decodes each row. Rows that fail to decode are recorded and skipped.
    func forEachReadable<Value>(
        _ damage: DamageRegister, _ decode: (Columns) throws -> Value, _ body: (Value) throws -> Void
    ) throws {
        try forEachRow { columns in
            let value: Value
            do { value = try decode(columns) } catch let row as UnreadableRow {
                damage.note(row)
                return
            }
            try body(value)
        }
    }

    func readable<Value>(
        _ damage: DamageRegister, capacity: Int = 0, _ decode: (Columns) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(capacity)
        try forEachReadable(damage, decode) { values.append($0) }
        return values
    }

    /// Decodes the first row; nil if there is none or it is unreadable.
    func firstReadable<Value>(_ damage: DamageRegister, _ decode: (Columns) throws -> Value) throws -> Value? {
        do { return try first(decode) } catch let row as UnreadableRow {
            damage.note(row)
            return nil
        }
    }
}

/// Reads a range of keys in rising order, around unreadable pages.
///
/// To find the end of a gap, it probes single rows in steps that double and then halve. So a gap costs some hundred
/// probes, however wide the range is, and no row is read twice.
struct DamagedRange {
    /// Calls `body` for rows in key order; an error of `body` stops the scan.
    typealias Scan<Value> = (_ keys: ClosedRange<Int64>, _ body: (Int64, Value) throws -> Void) throws -> Void

    /// The number of single rows that were probed.
    private(set) var probes = 0
    /// The maximum number of probes. After them, the rest of the range counts as unreadable.
    private let maximumProbes: Int
    /// Keys near which rows are likely, rising: for a range that is far wider than the stored data.
    private let hints: [Int64]
    /// Throws if the read was cancelled.
    private let check: () throws -> Void

    /// The number of keys inside a gap that are probed for a readable part.
    private static let samples: Int64 = 32

    init(hints: [Int64] = [], maximumProbes: Int = 1 << 16, check: @escaping () throws -> Void = {}) {
        self.hints = hints.sorted()
        self.maximumProbes = maximumProbes
        self.check = check
    }

    private struct FirstRowRead: Error {}

    /// Calls `gap` with each unreadable range of keys, before it calls `body` for the rows after that range.
    ///
    /// - Parameter keys: a range below the largest integer.
    /// - Throws: the errors of `body`, `scan` and the check, except the database's errors about single pages.
    mutating func read<Value>(
        _ keys: ClosedRange<Int64>, _ scan: @escaping Scan<Value>, gap: (ClosedRange<Int64>) -> Void,
        _ body: (Int64, Value) throws -> Void
    ) throws {
        var next = keys.lowerBound
        while next <= keys.upperBound {
            do {
                try scan(next...keys.upperBound) { key, value in
                    next = max(next, key + 1)
                    try body(key, value)
                }
                return
            } catch let error as DatabaseError where error.isPageDamage {}
            guard next <= keys.upperBound else { return }
            let end = try endOfGap(next...keys.upperBound, scan)
            gap(next...(end.map { $0 - 1 } ?? keys.upperBound))
            guard let end else { return }
            next = end
        }
    }

    /// The first readable key after an unreadable start of a range.
    private mutating func endOfGap<Value>(_ keys: ClosedRange<Int64>, _ scan: @escaping Scan<Value>) throws -> Int64? {
        var unread = keys.lowerBound
        var end: Int64?
        var step: Int64 = 1
        while end == nil, unread < keys.upperBound, probes < maximumProbes {
            let place = keys.upperBound - keys.lowerBound > step ? keys.lowerBound + step : keys.upperBound
            if try canRead(place...keys.upperBound, scan) { end = place } else { unread = place }
            step = step > Int64.max / 2 ? Int64.max : step * 2
        }
        if end == nil {
            guard let found = try sample(keys.lowerBound, keys.upperBound, keys.upperBound, scan) else { return nil }
            (unread, end) = found
        }
        while var found = end {
            while found - unread > 1, probes < maximumProbes {
                let middle = unread + (found - unread) / 2
                if try canRead(middle...keys.upperBound, scan) { found = middle } else { unread = middle }
            }
            // The doubling steps may have skipped a readable part.
            guard let earlier = try sample(keys.lowerBound, found, keys.upperBound, scan) else { return found }
            (unread, end) = earlier
        }
        return end
    }

    /// Probes positions between two keys. Returns the first readable one and the unreadable one before it.
    private mutating func sample<Value>(_ first: Int64, _ end: Int64, _ last: Int64, _ scan: @escaping Scan<Value>)
        throws
        -> (unread: Int64, end: Int64)?
    {
        let width = end - first
        var places = (1..<Self.samples).map {
            first + width / Self.samples * $0 + width % Self.samples * $0 / Self.samples
        }
        places += hints
        var unread = first
        for place in Set(places).sorted() where place > first && place < end {
            guard probes < maximumProbes else { return nil }
            if try canRead(place...last, scan) { return (unread, place) }
            unread = place
        }
        return nil
    }

    /// Whether the first row of a range is readable, or the range is empty.
    private mutating func canRead<Value>(_ keys: ClosedRange<Int64>, _ scan: @escaping Scan<Value>) throws -> Bool {
        try check()
        probes += 1
        do { try scan(keys) { _, _ in throw FirstRowRead() } } catch is FirstRowRead {
            return true
        } catch let error as DatabaseError where error.isPageDamage {
            return false
        }
        return true
    }
}

extension Database {
    /// - Throws: if the task that waits for the read was cancelled. SQLite's interruption ends one statement, but not a
    ///   loop of many short ones.
    package func checkCancellation() throws { _ = try Int.fetchOne(cachedStatement(sql: "SELECT 1")) }
}
