internal import BillowFields
internal import Foundation
internal import GRDB
internal import Geometry
internal import Turbulence

/// A stored level of a field, without its bytes.
struct StoredFieldLevel {
    var identity: FieldIdentity
    var source: SourceID
    var grid: Int64
    var record: FieldLevelRecord
    /// The instants at which it may be shown.
    var span: ClosedRange<Instant>

    static func span(_ validTime: Instant) -> ClosedRange<Instant> {
        let reach = FieldProduct.longestReach
        return validTime.advanced(by: reach.lowerBound)...validTime.advanced(by: reach.upperBound)
    }

    /// Decodes a row of a query on the columns of levels.
    /// - Throws: `UnreadableRow` for a wrong checksum and for values that the schema forbids.
    init(_ columns: Columns, _ names: SourceNames) throws {
        typealias Column = FieldLevelColumn
        guard columns.isWhole(Column.self), let source = names[columns.integer(Column.source)],
            let product = UInt8(exactly: columns.integer(Column.product)).flatMap(FieldProduct.init(rawValue:)),
            let run = Instant(seconds: Int(columns.integer(Column.run))),
            let validTime = Instant(seconds: Int(columns.integer(Column.validTime))),
            let identity = FieldIdentity(product: product, run: run, validTime: validTime),
            let level = FieldLevel(number: Int(columns.integer(Column.level)))
        else { throw UnreadableRow(fieldLevel: columns) }
        self.identity = identity
        self.source = source
        span = Self.span(validTime)
        grid = columns.integer(Column.grid)
        record = FieldLevelRecord(
            level: level, row: columns.integer(Column.number),
            since: Version(rawValue: columns.integer(Column.since)))
    }
}

extension UnreadableRow {
    /// An unreadable level, which affects the instants around its valid time.
    init(fieldLevel columns: Columns) {
        self.init(columns, key: FieldLevelColumn.number, source: .source, times: [.validTime]) { _, value in
            guard let span = Instant(seconds: Int(value)).map(StoredFieldLevel.span) else { return [] }
            return [span.lowerBound, span.upperBound]
        }
    }
}

extension FieldFrame {
    /// Groups levels by field. A level is left out if its grid differs from that of the field's first stored level.
    static func fields(of levels: [StoredFieldLevel]) -> [FieldFrame] {
        struct Key: Hashable {
            var identity: FieldIdentity
            var source: SourceID
        }
        let groups = Dictionary(grouping: levels) { Key(identity: $0.identity, source: $0.source) }
        return groups.compactMap { key, levels in
            guard let first = levels.min(by: { $0.record.row < $1.record.row }) else { return nil }
            return FieldFrame(
                identity: key.identity, source: key.source, grid: first.grid,
                levels: levels.filter { $0.grid == first.grid }.map(\.record))
        }
    }
}

extension GridDefinition {
    /// Decodes a row of a query on all columns of grids.
    /// - Throws: `UnreadableRow` for a wrong checksum and for an invalid grid definition.
    init(_ columns: Columns) throws {
        typealias Column = FieldGridColumn
        guard columns.isWhole(Column.self), let text = columns.text(Column.definition),
            let grid = try? JSONDecoder().decode(GridDefinition.self, from: Data(text.utf8))
        else { throw UnreadableRow(table: .fieldGrid, key: columns.integer(Column.number)) }
        self = grid
    }

    /// Its JSON text for the database.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension FieldLevelDraft {
    /// The checksum of its bytes, which is stored beside them.
    var packedSum: Int64 { RowSum.sum(of: packed) }
}

extension RowSum {
    /// The result of SQL's `row_sum` for some bytes alone.
    static func sum(of bytes: [UInt8]) -> Int64 {
        var sum = RowSum()
        bytes.withUnsafeBytes { sum.add($0, at: 0) }
        return sum.value
    }
}
