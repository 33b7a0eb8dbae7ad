import BillowPostgreSQL
import BillowStore
import Foundation
import Turbulence

extension Settings {
    /// The address of a PostgreSQL database; nil for a file of SQLite.
    var databaseAddress: DatabaseAddress? { DatabaseAddress(database) }

    /// The database for messages: the path of a file, or an address without its password.
    var databaseName: String { databaseAddress?.description ?? database }

    /// Opens the database. For writing, missing tables are created.
    func openDatabase(_ access: StoreAccess = .writing) async throws(StoreError) -> any SQLStore {
        guard let databaseAddress else { return try await SQLiteStore.open(path: database, access: access) }
        return try await PostgreSQLStore.open(databaseAddress, access: access)
    }

    /// Opens a database for either simulated or real data, because the two never share a database. nil accepts both,
    /// for commands that add no data, and for commands whose first data decides.
    func openDatabase(simulated: Bool?) async throws -> any SQLStore {
        let store = try await openDatabase()
        guard let simulated else { return store }
        if let other = try await store.sources().first(where: { $0.simulated == !simulated }) {
            let (has, wants) = simulated ? ("real", "simulated") : ("simulated", "real")
            throw Failure(
                .data,
                "the database \(databaseName) holds \(has) data (source '\(other.id)'), and \(wants) data must not be "
                    + "mixed with it; give another one with --database")
        }
        return store
    }

    /// The path of the database file, for a command that works with files only.
    ///
    /// - Parameter instead: what does the same for PostgreSQL.
    func databaseFile(for command: String, instead: String) throws -> String {
        guard let databaseAddress else { return database }
        throw Failure(
            .usage, "billow \(command) works with a file of SQLite, and the database is \(databaseAddress); \(instead)")
    }
}
