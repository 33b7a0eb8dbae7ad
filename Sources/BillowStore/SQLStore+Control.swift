internal import GRDB
package import Turbulence

extension SQLStore {
    package func accessKeys() async throws(StoreError) -> [AccessKey] {
        try await reading(.accessKey) { [register] db in
            try RawStatement(db, Query.accessKeys).readable(register) { columns in
                typealias Column = AccessKeyColumn
                guard columns.isWhole(Column.self), let id = columns.text(Column.id),
                    let name = columns.text(Column.name), let hash = columns.text(Column.hash),
                    let scopes = UInt8(exactly: columns.integer(Column.scopes))
                else { throw UnreadableRow(unnumbered: columns, Column.self) }
                return AccessKey(
                    id: id, name: name, hash: hash, scopes: AccessScopes(rawValue: scopes),
                    createdAt: Instant(clamping: Int(columns.integer(Column.createdAt))),
                    revokedAt: columns.optionalInteger(Column.revokedAt).map { Instant(clamping: Int($0)) })
            }
        }
    }

    package func add(_ key: AccessKey) async throws(StoreError) {
        try await writing { db in
            let insert = try RawStatement(db, Query.insertAccessKey)
            try insert.bind(key.id, AccessKeyColumn.id)
            try insert.bind(key.name, AccessKeyColumn.name)
            try insert.bind(key.hash, AccessKeyColumn.hash)
            insert.bind(Int64(key.scopes.rawValue), AccessKeyColumn.scopes)
            insert.bind(Int64(key.createdAt.seconds), AccessKeyColumn.createdAt)
            insert.bind(key.revokedAt.map { Int64($0.seconds) }, AccessKeyColumn.revokedAt)
            try insert.run()
        }
    }

    package func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool {
        try await writing { db in
            let revoke = try RawStatement(db, Query.revokeAccessKey)
            try revoke.bind(Int64(at.seconds), id)
            try revoke.run()
            return db.changesCount > 0
        }
    }

    package func persistedOverride(of source: SourceID) async throws(StoreError) -> String? {
        try await reading(.persistedOverride) { [register] db in
            let statement = try RawStatement(db, Query.persistedOverride)
            try statement.bind(source.name)
            return try statement.firstReadable(register, Self.overrideValue)
        }
    }

    /// Decodes the override from a query on all columns of overrides.
    static func overrideValue(_ columns: Columns) throws -> String {
        guard columns.isWhole(PersistedOverrideColumn.self), let value = columns.text(PersistedOverrideColumn.value)
        else {
            throw UnreadableRow(unnumbered: columns, PersistedOverrideColumn.self)
        }
        return value
    }

    package func setPersistedOverride(_ value: String?, of source: SourceID) async throws(StoreError) {
        try await writing { db in
            let statement = try RawStatement(
                db, value == nil ? Query.removePersistedOverride : Query.setPersistedOverride)
            if let value { try statement.bind(source.name, value) } else { try statement.bind(source.name) }
            try statement.run()
        }
    }

    package func monitoredFlights() async throws(StoreError) -> [MonitoredFlight] {
        try await reading(.monitoredFlight) { [register] db in
            try RawStatement(db, Query.monitoredFlights).readable(register) { columns in
                typealias Column = MonitoredFlightColumn
                guard columns.isWhole(Column.self), let id = columns.text(Column.id),
                    let key = columns.text(Column.accessKey), let value = columns.text(Column.value)
                else { throw UnreadableRow(unnumbered: columns, Column.self) }
                return MonitoredFlight(id: id, accessKey: key, value: value)
            }
        }
    }

    package func add(_ flight: MonitoredFlight) async throws(StoreError) {
        try await writing { db in
            let insert = try RawStatement(db, Query.insertMonitoredFlight)
            try insert.bind(flight.id, MonitoredFlightColumn.id)
            try insert.bind(flight.accessKey, MonitoredFlightColumn.accessKey)
            try insert.bind(flight.value, MonitoredFlightColumn.value)
            try insert.run()
        }
    }

    package func update(_ flights: [MonitoredFlight]) async throws(StoreError) {
        try await writing { db in
            let update = try RawStatement(db, Query.updateMonitoredFlight)
            for flight in flights {
                try update.bind(flight.value, flight.id)
                try update.run()
            }
        }
    }

    package func removeMonitoredFlights(_ ids: [String]) async throws(StoreError) {
        try await writing { db in
            let remove = try RawStatement(db, Query.removeMonitoredFlight)
            for id in ids {
                try remove.bind(id)
                try remove.run()
            }
        }
    }
}
