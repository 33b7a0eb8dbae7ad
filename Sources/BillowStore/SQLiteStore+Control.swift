internal import GRDB
package import Turbulence

extension SQLiteStore: ControlStore {
    package func accessKeys() async throws(StoreError) -> [AccessKey] {
        try await reading { [register] db in
            try RawStatement(db, Query.accessKeys).readable(register) { columns in
                guard let id = columns.text(0), let name = columns.text(1), let hash = columns.text(2),
                    let scopes = UInt8(exactly: columns.integer(3))
                else { throw UnreadableRow(table: StoredTable.accessKey.rawValue, key: columns.integer(4)) }
                return AccessKey(
                    id: id, name: name, hash: hash, scopes: AccessScopes(rawValue: scopes),
                    createdAt: Instant(clamping: Int(columns.integer(4))),
                    revokedAt: columns.optionalInteger(5).map { Instant(clamping: Int($0)) })
            }
        }
    }

    package func add(_ key: AccessKey) async throws(StoreError) {
        try await writing { db in
            let insert = try RawStatement(db, Query.insertAccessKey)
            try insert.bind(key.id, at: 1)
            try insert.bind(key.name, at: 2)
            try insert.bind(key.hash, at: 3)
            insert.bind(Int64(key.scopes.rawValue), at: 4)
            insert.bind(Int64(key.createdAt.seconds), at: 5)
            insert.bind(key.revokedAt.map { Int64($0.seconds) }, at: 6)
            try insert.run()
        }
    }

    package func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool {
        try await writing { db in
            let revoke = try RawStatement(db, Query.revokeAccessKey)
            revoke.bind(Int64(at.seconds), at: 1)
            try revoke.bind(id, at: 2)
            try revoke.run()
            return db.changesCount > 0
        }
    }

    package func control(of source: SourceID) async throws(StoreError) -> String? {
        try await reading { db in
            let statement = try RawStatement(db, Query.sourceControl)
            try statement.bind(source.name, at: 1)
            return try statement.first { $0.text(0) } ?? nil
        }
    }

    package func setControl(_ value: String?, of source: SourceID) async throws(StoreError) {
        try await writing { db in
            let statement = try RawStatement(db, value == nil ? Query.removeSourceControl : Query.setSourceControl)
            try statement.bind(source.name, at: 1)
            if let value { try statement.bind(value, at: 2) }
            try statement.run()
        }
    }

    package func followedFlights() async throws(StoreError) -> [FollowedFlight] {
        try await reading { db in
            var flights: [FollowedFlight] = []
            try RawStatement(db, Query.followedFlights).forEachRow { columns in
                guard let id = columns.text(0), let key = columns.text(1), let value = columns.text(2) else { return }
                flights.append(FollowedFlight(id: id, accessKey: key, value: value))
            }
            return flights
        }
    }

    package func add(_ flight: FollowedFlight) async throws(StoreError) {
        try await writing { db in
            let insert = try RawStatement(db, Query.insertFollowedFlight)
            try insert.bind(flight.id, at: 1)
            try insert.bind(flight.accessKey, at: 2)
            try insert.bind(flight.value, at: 3)
            try insert.run()
        }
    }

    package func update(_ flights: [FollowedFlight]) async throws(StoreError) {
        try await writing { db in
            let update = try RawStatement(db, Query.updateFollowedFlight)
            for flight in flights {
                try update.bind(flight.value, at: 1)
                try update.bind(flight.id, at: 2)
                try update.run()
            }
        }
    }

    package func removeFollowedFlights(_ ids: [String]) async throws(StoreError) {
        try await writing { db in
            let remove = try RawStatement(db, Query.removeFollowedFlight)
            for id in ids {
                try remove.bind(id, at: 1)
                try remove.run()
            }
        }
    }
}
