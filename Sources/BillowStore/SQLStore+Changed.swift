internal import GRDB
package import Turbulence

extension SQLStore {
    package func changedTimes(since version: Version, from: Instant) async throws(StoreError) -> ChangedTimes {
        try await unlessDamaged({ ChangedTimes(rules: $0) }) { db in
            let steps = try RawStatement(db, Query.changedSteps)
            var changed = ChangedTimes(rules: try Self.rules(db))
            for kind in ObservedTable.allCases {
                try steps.bind(Int64(kind.rawValue), Int64(TimeStep(from).number), version.rawValue)
                try steps.forEachRow { columns in
                    changed.steps.append(
                        StepVersion(
                            kind: kind, step: TimeStep(number: Int(columns.integer(ChangedStepColumn.step))),
                            version: Version(rawValue: columns.integer(ChangedStepColumn.version))))
                }
            }
            let areas = try RawStatement(db, Query.changedAreas)
            try areas.bind(Int64(from.seconds), version.rawValue, version.rawValue)
            try areas.forEachRow { columns in
                typealias Column = ChangedAreaColumn
                let number = columns.integer(Column.collection)
                guard let collection = UInt8(exactly: number).flatMap(IssuedArea.DatasetNumber.init(rawValue:))
                else { throw UnreadableRow(table: .area, key: number) }
                changed.areas.append(
                    AreaVersion(
                        collection: collection, validFrom: Instant(clamping: Int(columns.integer(Column.validFrom))),
                        validTo: Instant(clamping: Int(columns.integer(Column.validTo))),
                        version: Version(rawValue: columns.integer(Column.version))))
            }
            return changed
        }
    }

    /// Reads the change times. If they are unreadable, everything counts as changed at the head, so that clients
    /// request current frames.
    private func unlessDamaged<Value: Sendable>(
        _ atHead: @escaping @Sendable (Version) -> Value,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(StoreError) -> Value {
        try await reading { db in
            do { return try body(db) } catch let error as DatabaseError where error.isPageDamage {
                return atHead(try Head(db).version)
            }
        }
    }

    package func lastChange(of data: FrameDependency) async throws(StoreError) -> Version {
        try await unlessDamaged({ $0 }) { db in
            let found: Version?
            switch data {
            case .observed(let kind, let steps): found = try Self.lastChange(of: kind, in: steps, db)
            case .areas(let collection, let instant):
                let statement = try RawStatement(db, Query.lastChangedArea)
                try statement.bind(Int64(collection.rawValue), Int64(instant.seconds), Int64(instant.seconds))
                found = try statement.value().map(Version.init(rawValue:))
            }
            return max(try Self.rules(db), found ?? .zero, try DeletedBefore.version(of: data, db) ?? .zero)
        }
    }

    /// The last version that changed anything observed in a range of steps; nil if none did.
    static func lastChange(of kind: ObservedTable, in steps: ClosedRange<TimeStep>, _ db: any SQLConnection) throws
        -> Version?
    {
        let statement = try RawStatement(db, Query.lastChangedStep)
        try statement.bind(Int64(kind.rawValue), Int64(steps.lowerBound.number), Int64(steps.upperBound.number))
        return try statement.value().map(Version.init(rawValue:))
    }

    package func hasChange(of data: FrameDependency, at version: Version) async throws(StoreError) -> Bool {
        try await reading { db in
            // A deletion may have removed the frame's data since.
            if let deletion = try DeletedBefore.version(of: data, db), version < deletion { return false }
            if version > .zero, try Self.rules(db) == version { return true }
            switch data {
            case .observed(let kind, let steps):
                let instants = TimeStep.instants(steps)
                var (first, last) = (Int64(instants.lowerBound.seconds), Int64(instants.upperBound.seconds))
                let queries: [String]
                switch kind {
                case .observations:
                    // By key: the range ends at the last tag of the last second.
                    (first, last) = (
                        ObservationKey.first(of: instants.lowerBound).rawValue,
                        ObservationKey.first(of: instants.upperBound.advanced(by: 1)).rawValue - 1
                    )
                    queries = Query.observationsOfVersion
                case .reports: queries = Query.reportsOfVersion
                case .positions: queries = Query.positionsOfVersion
                }
                for query in queries {
                    let statement = try RawStatement(db, query)
                    try statement.bind(version.rawValue, first, last)
                    if try statement.hasRow() { return true }
                }
                return false
            case .areas(let collection, let instant):
                let statement = try RawStatement(db, Query.areaOfVersion)
                try statement.bind(
                    Int64(collection.rawValue), Int64(instant.seconds), Int64(instant.seconds), version.rawValue,
                    version.rawValue)
                return try statement.hasRow()
            }
        }
    }

    /// The last version that changed every frame: by a source's rule or a deletion.
    private static func rules(_ db: any SQLConnection) throws -> Version {
        try StoredHead(db).rules
    }
}
