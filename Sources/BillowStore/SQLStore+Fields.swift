package import BillowFields
internal import GRDB
internal import Geometry
package import Turbulence

extension SQLStore {
    package func fields(asOf version: Version?) async throws(StoreError) -> StoredFields {
        try await reading { [self] db in
            if let version, let deleted = try Self.fieldDeletions(db).first(where: { version < $0.version }) {
                throw StoreError.deleted(before: deleted.before)
            }
            let grids = try fieldGrids(db)
            return StoredFields(index: try fieldIndex(upTo: version, on: grids, db), grids: grids)
        }
    }

    /// All fields that were stored at a version.
    func fieldIndex(
        upTo version: Version?, on grids: [Int64: GridDefinition], _ db: any SQLConnection
    ) throws -> FieldIndex {
        let deletions = try Self.fieldDeletions(db).map { FieldDeletion(before: $0.before, version: $0.version) }
        return FieldIndex(try fields(after: .zero, upTo: version, on: grids, db), deletions: deletions)
    }

    package func packedFieldPlane(row: Int64) async throws(StoreError) -> [UInt8]? {
        try await reading { [self] db in
            let statement = try RawStatement(db, Query.fieldLevel)
            try statement.bind(row)
            do {
                if let packed = try statement.first(Self.packedPlane) { return packed }
                let deletions = try Self.fieldDeletions(db)
                if let last = deletions.map(\.before).max() { throw StoreError.deleted(before: last) }
                register.note(UnreadableRow(table: .fieldLevel, key: row, span: span(ofLevel: row, db)))
                return nil
            } catch let error as UnreadableRow {
                register.note(error)
                return nil
            } catch let error as DatabaseError where error.isPageDamage {
                let span = span(ofLevel: row, db) ?? .distantPast ... .distantFuture
                register.note(
                    gap: row...row, of: .fieldLevel, from: span.lowerBound, to: span.upperBound, error.description)
                return nil
            }
        }
    }

    package func fieldPlane(row: Int64) async throws(StoreError) -> FieldPlane? {
        guard let packed = try await packedFieldPlane(row: row) else { return nil }
        do throws(FieldDamage) { return try FieldPlane(packed: packed) } catch {
            // The bytes match their checksum, so the source packed them wrongly.
            register.note(UnreadableRow(table: .fieldLevel, key: row))
            return nil
        }
    }

    /// The instants of a level, from the index that has all columns but the bytes; nil if that is unreadable too.
    private func span(ofLevel row: Int64, _ db: any SQLConnection) -> ClosedRange<Instant>? {
        do {
            let names = try SourceNames(db)
            let statement = try RawStatement(db, Query.fieldLevelsSince)
            let version = row >> BatchWriter.levelBits
            try statement.bind(version - 1, version)
            let levels = try statement.readable(register) { try StoredFieldLevel($0, names) }
            return levels.first { $0.record.row == row }?.span
        } catch {
            // Without a readable index entry the time is unknown.
            return nil
        }
    }

    /// The deletions of fields.
    static func fieldDeletions(_ db: any SQLConnection) throws -> [DeletedBefore] {
        try [DeletionKind.fields, .earlierForecasts].compactMap { try DeletedBefore($0, db) }
    }

    /// The bytes in a row of a query on all columns of levels.
    static func packedPlane(_ columns: Columns) throws -> [UInt8] {
        typealias Column = FieldLevelColumn
        let packed = columns.bytes(Column.packed)
        guard columns.isWhole(Column.self), RowSum.sum(of: packed) == columns.integer(Column.packedSum) else {
            throw UnreadableRow(fieldLevel: columns)
        }
        return packed
    }

    /// The readable grids, by number.
    func fieldGrids(_ db: any SQLConnection) throws -> [Int64: GridDefinition] {
        var grids: [Int64: GridDefinition] = [:]
        do {
            try RawStatement(db, Query.fieldGrids).forEachReadable(
                register, { ($0.integer(FieldGridColumn.number), try GridDefinition($0)) }
            ) { number, grid in
                grids[number] = grid
            }
        } catch let error as DatabaseError where error.isPageDamage {
            register.note(.fieldGrid, contradiction: "grids of fields can't be read (\(error.description))")
        }
        return grids
    }

    /// The fields that a range of versions stored, as far as they can be drawn.
    func fields(
        after version: Version, upTo last: Version?, on grids: [Int64: GridDefinition], _ db: any SQLConnection
    ) throws -> [FieldFrame] {
        // An unreadable grid is recorded as damage. Without it, the positions of the values are unknown.
        FieldFrame.fields(
            of: try storedLevels(after: version, upTo: last, db).filter { grids[$0.grid] != nil })
    }

    /// The readable levels that a range of versions stored.
    private func storedLevels(
        after version: Version, upTo last: Version?, _ db: any SQLConnection
    ) throws -> [StoredFieldLevel] {
        let names = try SourceNames(db)
        do {
            let statement = try RawStatement(db, Query.fieldLevelsSince)
            try statement.bind(version.rawValue, last.bound)
            return try statement.readable(register) { try StoredFieldLevel($0, names) }
        } catch let error as DatabaseError where error.isPageDamage {
            return try fieldLevelsByNumber(after: version, upTo: last, error, names, db)
        }
    }

    /// Reads levels by number, for an index or table with a damaged page.
    private func fieldLevelsByNumber(
        after version: Version, upTo last: Version?, _ damage: DatabaseError, _ names: SourceNames,
        _ db: any SQLConnection
    ) throws -> [StoredFieldLevel] {
        let newest = try Self.edge(Query.newestFieldLevelNumber, db) ?? .max - 1
        var levels: [StoredFieldLevel] = []
        try readAround(damage, 1...max(1, newest), of: .fieldLevel, db) { keys, body in
            let statement = try RawStatement(db, Query.fieldLevelsByNumber)
            try statement.bind(version.rawValue, last.bound, keys.lowerBound, keys.upperBound)
            try statement.forEachReadable(
                self.register, { (number: $0.integer(FieldLevelColumn.number), level: try StoredFieldLevel($0, names)) }
            ) {
                try body($0.number, $0.level)
            }
        } times: { _ in
            // The time of a missing level is unknown.
            .distantPast ... .distantFuture
        } body: { _, level in
            levels.append(level)
        }
        return levels
    }
}

extension SQLStore {
    // MARK: Survey

    /// The number of levels that are read in one transaction.
    private static var levelsAtOnce: Int { 20 }

    /// Reads every level with its bytes, and records damage.
    func surveyFields(rest: () async throws(StoreError) -> Void) async throws(StoreError) {
        let rows = try await reading { [self] db in
            _ = try fieldGrids(db)
            return try storedLevels(after: .zero, upTo: nil, db).map(\.record.row).sorted()
        }
        for start in stride(from: 0, to: rows.count, by: Self.levelsAtOnce) {
            for row in rows[start..<min(start + Self.levelsAtOnce, rows.count)] {
                do throws(StoreError) { _ = try await packedFieldPlane(row: row) } catch {
                    // The level was deleted meanwhile.
                    guard case .deleted = error else { throw error }
                }
            }
            try await rest()
        }
    }
}
