internal import BillowFields
internal import GRDB
internal import Geometry
internal import Turbulence

extension BatchWriter {
    // MARK: Fields

    /// Inserts a level unless it is stored already. An unreadable stored level is replaced.
    mutating func insert(_ draft: FieldLevelDraft, source: SourceID) throws {
        typealias Column = FieldLevelColumn
        let source = Int64(try number(of: source).rawValue)
        let grid = try number(of: draft.grid)
        // All levels of a field have the same grid.
        guard try self.grid(of: draft.identity, source: source) ?? grid == grid else { return }
        gridsOfFields[draft.identity] = grid
        let identity = draft.identity
        let isImported = identity.validTime < importedBefore
        let insert = try RawStatement(db, Query.insertFieldLevel)
        insert.bind(version << Self.levelBits | Int64(result.fieldLevels), Column.number)
        insert.bind(source, Column.source)
        insert.bind(Int64(identity.product.rawValue), Column.product)
        insert.bind(Int64(identity.run.seconds), Column.run)
        insert.bind(Int64(identity.validTime.seconds), Column.validTime)
        insert.bind(Int64(draft.level.number), Column.level)
        insert.bind(grid, Column.grid)
        insert.bind(version, Column.since)
        insert.bind(isImported, Column.imported)
        insert.bind(draft.packedSum, Column.packedSum)
        insert.bind(draft.packed, Column.packed)
        try insert.run()
        if db.changesCount > 0 {
            result.fieldLevels += 1
        } else if isImported {
            let mark = try RawStatement(db, Query.markFieldLevelImported)
            try mark.bind(
                source, Int64(identity.product.rawValue), Int64(identity.run.seconds),
                Int64(identity.validTime.seconds), Int64(draft.level.number))
            try mark.run()
        }
    }

    /// The bits for a level's index within its version. 2²⁰ levels are more than a transaction can hold.
    static let levelBits: Int64 = 20

    /// The grid of a stored field; nil where no level of the field is stored or readable.
    private mutating func grid(of identity: FieldIdentity, source: Int64) throws -> Int64? {
        if let known = gridsOfFields[identity] { return known }
        let statement = try RawStatement(db, Query.levelsOfField)
        try statement.bind(
            source, Int64(identity.product.rawValue), Int64(identity.run.seconds), Int64(identity.validTime.seconds))
        return try statement.readable(damage) { try StoredFieldLevel($0, names) }
            .min { $0.record.row < $1.record.row }?.grid
    }

    /// The number of a grid. A new grid is stored first.
    private mutating func number(of grid: GridDefinition) throws -> Int64 {
        var known = try grids ?? storedGrids()
        defer { grids = known }
        if let number = known[grid] { return number }
        let number = try RawStatement(db, Query.newestFieldGridNumber).value().map { $0 + 1 } ?? 1
        let insert = try RawStatement(db, Query.insertFieldGrid)
        insert.bind(number, FieldGridColumn.number)
        try insert.bind(try grid.json(), FieldGridColumn.definition)
        try insert.run()
        known[grid] = number
        return number
    }

    private func storedGrids() throws -> [GridDefinition: Int64] {
        var grids: [GridDefinition: Int64] = [:]
        try RawStatement(db, Query.fieldGrids).forEachReadable(
            damage, { (try GridDefinition($0), $0.integer(FieldGridColumn.number)) }
        ) { grid, number in
            if grids[grid] == nil { grids[grid] = number }
        }
        return grids
    }
}
