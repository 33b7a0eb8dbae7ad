internal import GRDB
package import Turbulence

/// Packed archive parts: a cache of their rows as bytes, each with the last version that changed any of its rows. A
/// change by any process makes the packed bytes stale. A deletion removes them.
extension SQLStore {
    package func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> [UInt8]? {
        try await reading { db in
            try DeletedBefore.check(.rest, from: part.start, asOf: version, db)
            guard let changed = try Self.lastChange(of: part, db), changed <= version else { return nil }
            let statement = try RawStatement(db, Query.packedRows)
            try statement.bind(Int64(part.number), changed.rawValue)
            return try statement.first { columns in
                // The packed bytes are damaged; the caller reads the rows instead.
                columns.isWhole(PackedPartColumn.self) ? columns.bytes(PackedPartColumn.packed) : nil
            } ?? nil
        }
    }

    package func packedParts() async throws(StoreError) -> [ArchivePart] {
        try await reading { db in
            var parts: [ArchivePart] = []
            try RawStatement(db, Query.packedParts).forEachValue { parts.append(ArchivePart(number: Int($0))) }
            return parts
        }
    }

    /// - Complexity: one index lookup per part with observations
    package func unpackedParts(in range: ClosedRange<ArchivePart>) async throws(StoreError) -> [ArchivePart] {
        try await reading { db in
            let packed = try RawStatement(db, Query.packedVersion)
            let newest = try RawStatement(db, Query.newestStep)
            var parts: [ArchivePart] = []
            var next = range.upperBound
            while next >= range.lowerBound {
                let part = next
                guard let changed = try Self.lastChange(of: part, db) else {
                    // Continues with the newest earlier step that has data.
                    try newest.bind(
                        Int64(ObservedTable.observations.rawValue), Int64(part.steps.lowerBound.number))
                    guard let step = try newest.value().map({ TimeStep(number: Int($0)) }) else { break }
                    next = ArchivePart(TimeStep.instants(step...step).upperBound)
                    continue
                }
                try packed.bind(Int64(part.number))
                if try packed.value() != changed.rawValue { parts.append(part) }
                next = ArchivePart(number: part.number - 1)
            }
            return parts
        }
    }

    package func rows(of part: ArchivePart) async throws(StoreError) -> PartRows {
        try await reading { db in
            let version = try Self.lastChange(of: part, db) ?? .zero
            let isAsStored = try self.isAsStored(part, db)
            if let (rows, sum) = try self.summed(part, asOf: try Head(db).version, db) {
                return PartRows(
                    part: part, rows: rows, version: version, isWhole: isAsStored, sum: sum,
                    deletions: try Self.deletions(db))
            }
            let (first, end) = Self.keys(of: part)
            let rows = try self.observations(first, end, asOf: nil, db)
            return PartRows(
                part: part, rows: rows, version: version, isWhole: false, sum: PartSum(),
                deletions: try Self.deletions(db))
        }
    }

    private static func keys(of part: ArchivePart) -> (first: Int64, end: Int64) {
        (ObservationKey.first(of: part.start).rawValue, ObservationKey.first(of: part.end).rawValue)
    }

    /// The rows of a part at a version, and their checksum; nil if a row is unreadable.
    private func summed(_ part: ArchivePart, asOf version: Version, _ db: any SQLConnection) throws -> (
        rows: [ObservationRow], sum: PartSum
    )? {
        let statement = try RawStatement(db, Query.rowsAsOf)
        let (first, end) = Self.keys(of: part)
        try statement.bind(first, version.rawValue, version.rawValue)
        var sum = PartSum()
        var rows: [ObservationRow] = []
        do {
            try statement.forEachRow { columns in
                var row = try ObservationRow(columns)
                guard row.key.rawValue < end else { throw EndOfPage() }
                // A row that was closed after the version was open at it.
                row.until = nil
                rows.append(row)
                sum.add(columns)
            }
        } catch is EndOfPage {
            return (rows, sum)
        } catch let error as DatabaseError where error.isPageDamage {
            return nil
        } catch let row as UnreadableRow {
            register.note(row)
            return nil
        }
        return (rows, sum)
    }

    /// Whether the rows of the packed part still match its checksum; true if nothing is packed. Later corrections and
    /// retractions don't matter, because they apply to later versions.
    func isAsStored(_ part: ArchivePart, _ db: any SQLConnection) throws -> Bool {
        let statement = try RawStatement(db, Query.packedSum)
        try statement.bind(Int64(part.number))
        typealias Column = PackedSumColumn
        guard
            let packed = try statement.first({ (version: $0.integer(Column.version), sum: $0.integer(Column.rowSum)) }),
            let (_, sum) = try summed(part, asOf: Version(rawValue: packed.version), db), sum.stored != packed.sum
        else { return true }
        register.note(changed: part)
        return false
    }

    package func savePacked(_ bytes: [UInt8], of rows: PartRows) async throws(StoreError) -> Bool {
        guard rows.isWhole else { return false }
        return try await writing { db in
            guard try Self.lastChange(of: rows.part, db) == rows.version, try Self.deletions(db) == rows.deletions
            else { return false }
            let statement = try RawStatement(db, Query.upsertPacked)
            statement.bind(Int64(rows.part.number), PackedPartColumn.part)
            statement.bind(rows.version.rawValue, PackedPartColumn.version)
            statement.bind(rows.sum.stored, PackedPartColumn.rowSum)
            statement.bind(bytes, PackedPartColumn.packed)
            try statement.run()
            return true
        }
    }

    static func discardPacked(_ parts: Set<ArchivePart>, _ db: any SQLConnection) throws {
        let statement = try RawStatement(db, Query.discardPacked)
        for part in parts {
            try statement.bind(Int64(part.number))
            try statement.run()
        }
    }

    /// Every transaction that deletes observations must call this.
    static func noteDeletion(of parts: Set<ArchivePart>, _ db: any SQLConnection) throws {
        guard !parts.isEmpty else { return }
        try discardPacked(parts, db)
        try RawStatement(db, Query.noteDeletion).run()
    }

    private static func deletions(_ db: any SQLConnection) throws -> Int64 {
        try StoredHead(db).deletions
    }

    /// The last version that changed any row of a part; nil if there is none. A new rule of a source changes frames but
    /// no row.
    private static func lastChange(of part: ArchivePart, _ db: any SQLConnection) throws -> Version? {
        try lastChange(of: .observations, in: part.steps, db)
    }
}
