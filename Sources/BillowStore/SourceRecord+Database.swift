internal import GRDB
internal import Geometry
import Datasets
internal import Turbulence

/// The names of sources by their numbers in rows.
struct SourceNames {
    private let names: [SourceID]

    /// - Throws: `UnreadableRow` if a source is unreadable.
    init(_ db: any SQLConnection) throws {
        var names: [SourceID] = []
        try RawStatement(db, Query.sources).forEachRow { names.append(try SourceRecord($0).id) }
        self.names = names
    }

    /// - Parameter records: all records in the order of their numbers.
    init(_ records: [SourceRecord]) { names = records.map(\.id) }

    /// nil if no source has the number.
    subscript(number: Int64) -> SourceID? {
        guard let index = Int(exactly: number), names.indices.contains(index) else { return nil }
        return names[index]
    }
}

extension SourceRecord {
    /// - Parameter damage: records unreadable rows about fetches.
    /// - Throws: `UnreadableRow` if a source is unreadable, because the owner of its rows is then unknown.
    static func all(_ db: any SQLConnection, _ damage: DamageRegister? = nil) throws -> [SourceRecord] {
        var sources: [SourceRecord] = []
        try RawStatement(db, Query.sources).forEachRow { sources.append(try SourceRecord($0)) }
        try RawStatement(db, Query.fetchedKinds).forEachRow { columns in
            typealias Column = FetchedColumn
            guard
                let (index, kind) = subject(columns, Column.source, Column.kind, of: sources.count, damage)
            else { return }
            sources[index].fetchedKinds[kind] = Instant(clamping: Int(columns.integer(Column.fetchedAt)))
            sources[index].fetchedSince[kind] = Instant(clamping: Int(columns.integer(Column.since)))
        }
        try RawStatement(db, Query.storedKinds).forEachRow { columns in
            typealias Column = StoredKindColumn
            guard
                let (index, kind) = subject(columns, Column.source, Column.kind, of: sources.count, damage)
            else { return }
            sources[index].storedKinds.insert(kind)
        }
        for deletion in DeletionKind.allCases where deletion != .earlierForecasts {
            guard let deleted = try DeletedBefore(deletion, db) else { continue }
            let span = Instant.distantPast...max(.distantPast, deleted.before.advanced(by: -1))
            for kind in Catalogue.kinds where DeletionKind(kind) == deletion {
                for index in sources.indices { sources[index].noteLost(kind, span) }
            }
        }
        return sources
    }

    /// The index of the source and the kind of data of a row.
    /// - Returns: nil for an unreadable row, which is recorded, and for a source or kind that this version doesn't
    ///   know.
    private static func subject<Column: StoredColumn>(
        _ columns: Columns, _ source: Column, _ kind: Column, of count: Int, _ damage: DamageRegister?
    ) -> (index: Int, kind: FeedKind)? {
        guard columns.isWhole(Column.self) else {
            damage?.note(UnreadableRow(unnumbered: columns, Column.self))
            return nil
        }
        // Numbers are dense. Kinds of later versions are ignored.
        let index = Int(columns.integer(source))
        guard (0..<count).contains(index), let kind = columns.text(kind).flatMap(FeedKind.init(rawValue:)) else {
            return nil
        }
        return (index, kind)
    }

    /// The records with their current and earlier areas, which writers don't need.
    static func allWithAreas(_ db: any SQLConnection, _ damage: DamageRegister) throws -> [SourceRecord] {
        var sources = try all(db, damage)
        try RawStatement(db, Query.coveredAreas).forEachReadable(damage) { columns in
            typealias Column = CoveredAreaColumn
            let hasRing = !columns.isNull(Column.ring)
            let ring = hasRing ? AreaRing(stored: columns.bytes(Column.ring)) : nil
            guard columns.isWhole(Column.self), !hasRing || ring != nil else {
                throw UnreadableRow(columns, key: Column.number)
            }
            let kind = columns.text(Column.kind).flatMap(FeedKind.init(rawValue:))
            return (
                index: Int(columns.integer(Column.source)),
                area: kind.map { kind in
                    CoveredArea(
                        kind: kind, ring: ring, since: Instant(clamping: Int(columns.integer(Column.since))),
                        until: columns.optionalInteger(Column.until).map { Instant(clamping: Int($0)) })
                }
            )
        } _: { index, area in
            if sources.indices.contains(index), let area { sources[index].coveredAreas.append(area) }
        }
        return sources
    }

    /// Decodes a row of a query on all columns of sources.
    fileprivate init(_ columns: Columns) throws {
        typealias Column = SourceColumn
        guard columns.isWhole(Column.self), let number = UInt8(exactly: columns.integer(Column.number)),
            let id = columns.text(Column.name).flatMap({ SourceID($0) }),
            let merge = UInt8(exactly: columns.integer(Column.mergeRule)).flatMap(MergeRule.init(rawValue:))
        else { throw UnreadableRow(table: .source, key: columns.integer(Column.number)) }
        self.init(
            number: SourceNumber(rawValue: number), id: id, merge: merge,
            simulated: columns.optionalInteger(Column.simulated).map { $0 != 0 },
            fetchedAt: columns.optionalInteger(Column.fetchedAt).map { Instant(clamping: Int($0)) },
            completeSince: columns.optionalInteger(Column.completeSince).map { Instant(clamping: Int($0)) })
    }
}

extension AreaRing {
    /// The stored form: the coordinates as little-endian 64-bit numbers.
    var stored: [UInt8] {
        var bytes: [UInt8] = []
        for coordinate in coordinates {
            withUnsafeBytes(of: coordinate.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Reads the stored form.
    init?(stored bytes: [UInt8]) {
        guard bytes.count % 8 == 0 else { return nil }
        self.init(
            coordinates: bytes.withUnsafeBytes { raw in
                stride(from: 0, to: raw.count, by: 8).map { start in
                    let bits = raw.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                    return Double(bitPattern: UInt64(littleEndian: bits))
                }
            })
    }
}
