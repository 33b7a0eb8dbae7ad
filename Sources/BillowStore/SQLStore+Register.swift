internal import GRDB
package import Turbulence

extension SQLStore {
    /// Registers a source. A new merge rule for a known source changes every frame with it, so it raises the version.
    /// Deciding whether known sources are simulated raises it too.
    /// - Throws: `mixed` if the log has a source of the other nature.
    package func register(
        _ source: SourceID, merge: MergeRule, simulated: Bool?
    ) async throws(StoreError) -> SourceRecord {
        try await writing { db in try Self.register(source, merge: merge, simulated: simulated, db) }
    }

    static func register(
        _ source: SourceID, merge: MergeRule, simulated: Bool?, _ db: any SQLConnection
    ) throws -> SourceRecord {
        let known = try SourceRecord.all(db)
        if let simulated {
            if let other = known.first(where: { $0.simulated == !simulated }) {
                throw StoreError.mixed(source, simulated: simulated, with: other.id)
            }
            if !known.contains(where: { $0.simulated == simulated }) {
                let note = try RawStatement(db, Query.noteNature)
                try note.bind(simulated ? 1 : 0 as Int64)
                try note.run()
            }
            if known.contains(where: { $0.simulated == nil }) {
                let settle = try RawStatement(db, Query.settleSources)
                try settle.bind(simulated ? 1 : 0 as Int64)
                try settle.run()
                try noteRules(db)
            }
        }
        let simulated = simulated ?? known.first?.simulated
        if var record = known.first(where: { $0.id == source }) {
            record.simulated = simulated
            guard record.merge != merge else { return record }
            record.merge = merge
            let statement = try RawStatement(db, Query.updateSource)
            try statement.bind(Int64(merge.rawValue), Int64(record.number.rawValue))
            try statement.run()
            try noteRules(db)
            return record
        }
        // Numbers are never reused, so they are consecutive.
        guard let number = UInt8(exactly: known.count) else { throw StoreError.tooManySources(source) }
        let statement = try RawStatement(db, Query.insertSource)
        statement.bind(Int64(number), SourceColumn.number)
        try statement.bind(source.name, SourceColumn.name)
        statement.bind(Int64(merge.rawValue), SourceColumn.mergeRule)
        statement.bind(simulated.map { $0 ? 1 : 0 as Int64 }, SourceColumn.simulated)
        statement.bind(false, SourceColumn.ruleChanged)
        try statement.run()
        return SourceRecord(
            number: SourceNumber(rawValue: number), id: source, merge: merge, simulated: simulated, fetchedAt: nil,
            completeSince: nil)
    }

    /// Gives every frame a new version.
    private static func noteRules(_ db: any SQLConnection) throws {
        _ = try Head.raise(db)
        try RawStatement(db, Query.noteRules).run()
    }
}
