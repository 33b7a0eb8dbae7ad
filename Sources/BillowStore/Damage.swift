internal import GRDB
internal import Synchronization
public import Turbulence

/// Rows of one table that can't be read, as far as they were met.
public struct StoredDamage: Sendable, Hashable, CustomStringConvertible {
    public var table: StoredTable
    /// Rows whose values make no sense.
    public var rows: Int
    /// Ranges of rows in pages that can't be read.
    public var gaps: Int
    /// Parts of the archive whose rows are not the ones that were packed.
    public var changedParts: Int
    /// The first and last instant that they are about; nil where that isn't known.
    public var from: Instant?
    public var to: Instant?
    /// What the first of them is.
    public var example: String

    public var description: String {
        let counts = [(rows, "row", "rows"), (gaps, "gap", "gaps"), (changedParts, "changed part", "changed parts")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
        let span = from.map { from in ", from \(from) to \(to.map(\.description) ?? "an unknown time")" } ?? ""
        return "table \(table.rawValue): \(counts.joined(separator: " and ")) can't be trusted\(span); \(example)"
    }
}

/// A table of the log, by its name in the file.
public enum StoredTable: String, Sendable, Hashable, CaseIterable {
    case observation
    case pilotReport
    case area
    case position
    case accessKey

    /// The kinds of data that are incomplete where its rows can't be read.
    fileprivate var kinds: [DataKind] {
        switch self {
        case .observation: [.observations]
        case .pilotReport: [.reports]
        case .area: [.hazards, .forecasts]
        case .position: [.positions]
        case .accessKey: []
        }
    }
}

/// A stored row that holds what the schema doesn't allow, or what this version of Billow doesn't know.
struct UnreadableRow: Error, CustomStringConvertible {
    var table: String
    /// Its primary key, or what stands in the key's place.
    var key: Int64
    /// What it is about; nil where that can't be read either.
    var observedAt: Instant?
    var source: UInt8?

    var description: String { "row \(key) of table \(table) can't be read" }
}

/// What was met of unreadable rows since the store was opened. Pictures over them are incomplete, and say so.
final class DamageRegister: Sendable {
    private struct State {
        var entries: [StoredTable: Entry] = [:]
    }

    private struct Entry {
        var rows: Set<Int64> = []
        var moreRows = 0
        var gaps: Set<ClosedRange<Int64>> = []
        var parts: Set<ArchivePart> = []
        var spans: [UInt8?: ClosedRange<Instant>] = [:]
        var example: String

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
        guard let table = StoredTable(rawValue: row.table) else { return }
        change(table, row.description) { entry in
            if entry.rows.count < Self.mostKeys {
                entry.rows.insert(row.key)
            } else if !entry.rows.contains(row.key) {
                entry.moreRows += 1
            }
            // Of a row that tells no time all pictures are incomplete.
            entry.widen(row.source, by: row.observedAt.map { $0...$0 } ?? .distantPast ... .distantFuture)
        }
    }

    /// Notes keys between which nothing can be read.
    func note(gap: ClosedRange<Int64>, of table: StoredTable, from: Instant, to: Instant, _ reason: String) {
        change(table, "keys \(gap.lowerBound) to \(gap.upperBound) can't be read (\(reason))") { entry in
            if entry.gaps.count < Self.mostKeys { entry.gaps.insert(gap) }
            entry.widen(nil, by: min(from, to)...max(from, to))
        }
    }

    /// Notes a part whose rows are not the ones of which a sum was kept.
    func note(changed part: ArchivePart) {
        change(.observation, "the rows of \(part.start) are not the ones that were stored") { entry in
            entry.parts.insert(part)
            entry.widen(nil, by: part.start...part.end)
        }
    }

    private func change(_ table: StoredTable, _ example: String, _ body: (inout Entry) -> Void) {
        state.withLock { body(&$0.entries[table, default: Entry(example: example)]) }
    }

    var damage: [StoredDamage] {
        state.withLock { state in
            StoredTable.allCases.compactMap { table in
                state.entries[table].map { entry in
                    let from = entry.spans.values.map(\.lowerBound).min()
                    let to = entry.spans.values.map(\.upperBound).max()
                    return StoredDamage(
                        table: table, rows: entry.rows.count + entry.moreRows, gaps: entry.gaps.count,
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
                let ends = [entry.spans[source.number.rawValue], entry.spans[nil]].compactMap { $0?.upperBound }
                guard let end = ends.max()?.advanced(by: 1) else { continue }
                for kind in table.kinds { source.raiseCompleteSince(kind, to: end) }
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

/// Reads a range of keys around pages that can't be read: from both ends up to the damage, then between.
struct DamagedRange {
    /// Calls `body` for rows in the order of their keys, rising or falling.
    typealias Scan<Value> = (_ keys: ClosedRange<Int64>, _ isRising: Bool, _ body: (Int64, Value) -> Void) throws ->
        Void

    /// How often what lies between two damaged pages is halved: 1,024 looks at most.
    static let depth = 10

    /// The values in rising order, and the keys between which nothing could be read.
    static func read<Value>(
        _ keys: ClosedRange<Int64>, depth: Int = depth, _ scan: Scan<Value>
    ) throws -> (values: [Value], gaps: [ClosedRange<Int64>]) {
        var values: [Value] = []
        var first = keys.lowerBound
        do {
            try scan(keys, true) { key, value in
                values.append(value)
                first = key + 1
            }
            return (values, [])
        } catch let error as DatabaseError where error.isPageDamage {}
        guard first <= keys.upperBound else { return (values, []) }
        var back: [Value] = []
        var end = keys.upperBound + 1
        do {
            try scan(first...keys.upperBound, false) { key, value in
                back.append(value)
                end = key
            }
            return (values + back.reversed(), [])
        } catch let error as DatabaseError where error.isPageDamage {}
        guard first < end else { return (values + back.reversed(), []) }
        var gaps = [first...end - 1]
        if depth > 0, end - first > 1 {
            let middle = first + (end - first) / 2
            let lower = try read(first...middle - 1, depth: depth - 1, scan)
            let upper = try read(middle...end - 1, depth: depth - 1, scan)
            values += lower.values + upper.values
            gaps = lower.gaps
            for gap in upper.gaps {
                if let last = gaps.last, last.upperBound + 1 == gap.lowerBound {
                    gaps[gaps.count - 1] = last.lowerBound...gap.upperBound
                } else {
                    gaps.append(gap)
                }
            }
        }
        return (values + back.reversed(), gaps)
    }
}
