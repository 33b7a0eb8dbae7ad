internal import GRDB
package import Turbulence

extension SQLStore {
    package func areas(
        _ collection: IssuedArea.DatasetNumber?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea] {
        let areas = try await reading { [self] db in
            try DeletedBefore.check(.rest, from: from, asOf: version, db)
            let version = try version ?? Head(db).version
            do {
                let statement = try RawStatement(db, Query.areasAsOf)
                try statement.bind(from: from, to: to, asOf: version)
                return try statement.areas(register, SourceNames(db))
            } catch let error as DatabaseError where error.isPageDamage {
                return try readByNumber(
                    Query.areasByNumber, Query.newestAreaNumber, AreaColumn.number, from, to, asOf: version, error, db
                ) { try StoredArea($0, $1).area }
            }
        }
        return areas.filter { collection == nil || $0.collection == collection }
            .sorted { ($0.id, $0.source, $0.validFrom) < ($1.id, $1.source, $1.validFrom) }
    }

    package func areaChanges(
        of collection: IssuedArea.DatasetNumber, in range: ClosedRange<Instant>, asOf version: Version
    )
        async throws(StoreError) -> [Instant]
    {
        try await reading { db in
            let statement = try RawStatement(db, Query.areaValidities)
            try statement.bind(
                Int64(range.lowerBound.seconds), Int64(range.upperBound.seconds), version.rawValue, version.rawValue,
                Int64(collection.rawValue))
            var changes = Set<Instant>()
            try statement.forEachRow { columns in
                for column in AreaValidityColumn.allCases {
                    let instant = Instant(clamping: Int(columns.integer(column)))
                    if range.contains(instant) { changes.insert(instant) }
                }
            }
            return changes.sorted()
        }
    }
}
