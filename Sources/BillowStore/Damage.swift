internal import GRDB
internal import Synchronization
import Datasets
package import Turbulence

/// Rows of one table that can't be read, as far as they were met.
package struct StoredDamage: Sendable, Hashable, CustomStringConvertible {
    package var table: StoredTable
    /// Rows whose values make no sense.
    package var rows: Int
    /// Ranges of rows in pages that can't be read.
    package var gaps: Int
    /// Parts of the archive whose rows are not the ones that were packed.
    package var changedParts: Int
    /// The first and last instant that they are about; nil where that isn't known.
    package var from: Instant?
    package var to: Instant?
    /// The first of them, in words.
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
    case sourceControl
    case followedFlight
    case reporter
    case reporterSource
    case changedStep

    /// Whether its rows are read around pages that can't be read, which notes where those are.
    var isReadAround: Bool { [.observation, .pilotReport, .area, .position].contains(self) }

    /// The kinds of data that are incomplete where its rows can't be read.
    fileprivate var kinds: [DataKind] {
        switch self {
        case .observation: [.observations]
        case .pilotReport: [.reports]
        case .area: Catalogue.kindsOfAreas
        case .position: [.positions]
        case .fieldGrid, .fieldLevel: [.fields]
        // Nothing else says since when data is complete, and where.
        case .head, .source, .fetched, .storedKind, .coveredArea, .deletion: Catalogue.kinds
        // A client might take an older picture for the current one.
        case .changedStep: Catalogue.kinds
        case .cursor, .sourceValue, .packedPart, .accessKey, .sourceControl, .followedFlight, .reporter,
            .reporterSource:
            []
        }
    }
}

/// A stored row whose sum doesn't hold, or with values that the schema forbids or this version of Billow doesn't know.
struct UnreadableRow: Error, CustomStringConvertible {
    var table: StoredTable
    /// Its primary key, or a number that stands in the key's place.
    var key: Int64
    /// The times that it may be about; nil where that isn't known.
    var span: ClosedRange<Instant>?
    /// nil where that isn't known.
    var source: UInt8?

    var description: String { "row \(key) of table \(table.rawValue) can't be read" }

    init(table: StoredTable, key: Int64, span: ClosedRange<Instant>? = nil, source: UInt8? = nil) {
        self.table = table
        self.key = key
        self.span = span
        self.source = source
    }

    /// The row of a query on all columns of a table. Where its sum doesn't hold, any column may be the wrong one: its
    /// source isn't known, and it may be about the time that it had before a bit of it flipped.
    ///
    /// - Parameters:
    ///   - times: the columns that tell what time it is about.
    ///   - instants: what a value of such a column means; nil for what no time is.
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

    /// A row that is found by a text, of a query on all columns of a table: its sum tells it from others.
    init<Column: StoredColumn>(unnumbered columns: Columns, _ table: Column.Type) {
        self.init(table: Column.table, key: columns.integer(Column.sum))
    }
}

/// The unreadable rows that reads have met since the store was opened. Pictures over them are marked incomplete.
final class DamageRegister: Sendable {
    private struct State {
        var entries: [StoredTable: Entry] = [:]
        var looks = 0
    }

    private struct Entry {
        var rows: Set<Int64> = []
        var moreRows = 0
        /// Rising; none touches another.
        var gaps: [ClosedRange<Int64>] = []
        var parts: Set<ArchivePart> = []
        var contradictions = 0
        var spans: [UInt8?: ClosedRange<Instant>] = [:]
        var example: String

        /// Adds a gap. Gaps that touch, of a range that is read piece by piece, become one.
        mutating func add(_ gap: ClosedRange<Int64>) {
            let first = gaps.firstIndex { $0.upperBound >= gap.lowerBound - 1 } ?? gaps.endIndex
            let end = gaps[first...].firstIndex { $0.lowerBound - 1 > gap.upperBound } ?? gaps.endIndex
            let joined = gaps[first..<end].reduce(gap) {
                min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
            }
            guard first < end || gaps.count < DamageRegister.mostKeys else { return }
            gaps.replaceSubrange(first..<end, with: [joined])
        }

        mutating func widen(_ source: UInt8?, by span: ClosedRange<Instant>) {
            let known = spans[source] ?? span
            spans[source] =
                min(known.lowerBound, span.lowerBound)...max(known.upperBound, span.upperBound)
        }
    }

    private let state = Mutex(State())
    /// Keys that are told apart, so that a row that is met again is not counted again.
    private static let mostKeys = 10_000

    func note(_ row: UnreadableRow) {
        change(row.table, row.description) { entry in
            if entry.rows.count < Self.mostKeys {
                entry.rows.insert(row.key)
            } else if !entry.rows.contains(row.key) {
                entry.moreRows += 1
            }
            // A row of unknown time makes all pictures incomplete.
            entry.widen(row.source, by: row.span ?? .distantPast ... .distantFuture)
        }
    }

    /// Notes keys between which nothing can be read.
    func note(gap: ClosedRange<Int64>, of table: StoredTable, from: Instant, to: Instant, _ reason: String) {
        change(table, "keys \(gap.lowerBound) to \(gap.upperBound) can't be read (\(reason))") { entry in
            entry.add(gap)
            entry.widen(nil, by: min(from, to)...max(from, to))
        }
    }

    /// Notes that the pages of a table contradict each other: any of its rows may not be found.
    func note(_ table: StoredTable, contradiction: String) {
        change(table, contradiction) { entry in
            entry.contradictions = 1
            entry.widen(nil, by: .distantPast ... .distantFuture)
        }
    }

    /// Notes that a table, or a part of it, can't be read, unless it is known by now what of it.
    func note(unreadable table: StoredTable, _ reason: String) {
        guard state.withLock({ $0.entries[table] == nil }) else { return }
        note(table, contradiction: reason)
    }

    /// Reads from a table; where a page of it can't be read, that is noted.
    func noting<Value>(_ table: StoredTable, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError where error.isPageDamage {
            note(unreadable: table, error.description)
            throw error
        }
    }

    /// Notes a part whose rows differ from the ones of which the sum was stored.
    func note(changed part: ArchivePart) {
        change(.observation, "the rows of \(part.start) are not the ones that were stored") { entry in
            entry.parts.insert(part)
            entry.widen(nil, by: part.start...part.end)
        }
    }

    private func change(_ table: StoredTable, _ example: String, _ body: (inout Entry) -> Void) {
        state.withLock { body(&$0.entries[table, default: Entry(example: example)]) }
    }

    /// How many single rows were tried beside damaged pages.
    var looks: Int { state.withLock { $0.looks } }

    func add(looks: Int) { state.withLock { $0.looks += looks } }

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

    /// The sources' records, complete no earlier than after what can't be read of them.
    func marking(_ sources: [SourceRecord]) -> [SourceRecord] {
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
    fileprivate mutating func raiseCompleteSince(_ kind: DataKind, to instant: Instant) {
        let raised = max(completeSince(kind) ?? instant, instant)
        if kind.longestGapSeconds == nil { completeSince = raised } else { fetchedSince[kind] = raised }
        for index in coveredAreas.indices where coveredAreas[index].kind == kind {
            coveredAreas[index].since = max(coveredAreas[index].since, instant)
        }
    }
}

extension Database {
    /// A contradiction between readable pages of a table and its indices, in SQLite's words; nil where there is none:
    /// rows that are out of order, or that an index doesn't have. Neither a page that can't be read is such a
    /// contradiction nor a row whose sum doesn't hold: each read of the table meets them.
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
        // What lies in pages that can't be read is missing from the others.
        guard !lines.contains(where: isUnreadable) else { return nil }
        return try lines.first { line in
            if line.hasPrefix("wrong # of entries") || line.hasPrefix("row not in PRIMARY KEY order") { return true }
            guard line.hasPrefix("row "), line.contains(" missing from index ") else { return false }
            let number = line.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
            return try number.map { try hasWholeRow(atPlace: $0, of: table) } ?? true
        }
    }

    /// Whether the sum of a row holds; also where its table has no sums.
    /// - Parameter place: in the order of the table, from 1: so SQLite names it.
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
    /// Whether a page can't be read or makes no sense, while others may be whole.
    var isPageDamage: Bool {
        switch resultCode {
        case .SQLITE_CORRUPT: true
        case .SQLITE_IOERR: [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ].contains(extendedResultCode)
        default: false
        }
    }
}

extension RawStatement {
    /// Decodes each row. The ones that can't be decoded are noted and left out.
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

    /// What can be decoded of the first row; nil where that is nothing.
    func firstReadable<Value>(_ damage: DamageRegister, _ decode: (Columns) throws -> Value) throws -> Value? {
        do { return try first(decode) } catch let row as UnreadableRow {
            damage.note(row)
            return nil
        }
    }
}

/// Reads a range of keys in rising order, around pages that can't be read.
///
/// The end of a gap is found by trying single rows, in steps that double and then halve. So a gap costs some hundred
/// tries, however wide the range is, and no row is read twice.
struct DamagedRange {
    /// Calls `body` for rows in the order of their keys; an error of `body` ends it.
    typealias Scan<Value> = (_ keys: ClosedRange<Int64>, _ body: (Int64, Value) throws -> Void) throws -> Void

    /// How many single rows were tried.
    private(set) var looks = 0
    /// After this many tries the rest counts as unreadable.
    private let mostLooks: Int
    /// Keys near which rows are likely, rising: for a range that is far wider than what is stored.
    private let hints: [Int64]
    /// Throws where the rows are no longer wanted.
    private let check: () throws -> Void

    /// How many keys between the ends of a gap are tried for a readable part.
    private static let samples: Int64 = 32

    init(hints: [Int64] = [], mostLooks: Int = 1 << 16, check: @escaping () throws -> Void = {}) {
        self.hints = hints.sorted()
        self.mostLooks = mostLooks
        self.check = check
    }

    private struct Found: Error {}

    /// Calls `gap` with keys between which nothing can be read, before `body` for the rows behind them.
    ///
    /// - Parameter keys: below the largest integer.
    /// - Throws: what `body`, `scan` and the check throw, except the database's errors of single pages.
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

    /// The first key from which on something can be read, behind the first of a range from which nothing can.
    private mutating func endOfGap<Value>(_ keys: ClosedRange<Int64>, _ scan: @escaping Scan<Value>) throws -> Int64? {
        var unread = keys.lowerBound
        var end: Int64?
        var step: Int64 = 1
        while end == nil, unread < keys.upperBound, looks < mostLooks {
            let place = keys.upperBound - keys.lowerBound > step ? keys.lowerBound + step : keys.upperBound
            if try canRead(place...keys.upperBound, scan) { end = place } else { unread = place }
            step = step > Int64.max / 2 ? Int64.max : step * 2
        }
        if end == nil {
            guard let found = try sample(keys.lowerBound, keys.upperBound, keys.upperBound, scan) else { return nil }
            (unread, end) = found
        }
        while var found = end {
            while found - unread > 1, looks < mostLooks {
                let middle = unread + (found - unread) / 2
                if try canRead(middle...keys.upperBound, scan) { found = middle } else { unread = middle }
            }
            // Steps that double may have passed over a part that can be read.
            guard let earlier = try sample(keys.lowerBound, found, keys.upperBound, scan) else { return found }
            (unread, end) = earlier
        }
        return end
    }

    /// The first of some places between two keys from which on something can be read, and the one before it.
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
            guard looks < mostLooks else { return nil }
            if try canRead(place...last, scan) { return (unread, place) }
            unread = place
        }
        return nil
    }

    /// Whether the first row of a range can be read, or there is none.
    private mutating func canRead<Value>(_ keys: ClosedRange<Int64>, _ scan: @escaping Scan<Value>) throws -> Bool {
        try check()
        looks += 1
        do { try scan(keys) { _, _ in throw Found() } } catch is Found {
            return true
        } catch let error as DatabaseError where error.isPageDamage {
            return false
        }
        return true
    }
}

extension Database {
    /// - Throws: where the task that waits for the read was cancelled. SQLite's own interruption ends one statement,
    ///   but no loop of many short ones.
    func checkCancellation() throws { _ = try Int.fetchOne(cachedStatement(sql: "SELECT 1")) }
}
