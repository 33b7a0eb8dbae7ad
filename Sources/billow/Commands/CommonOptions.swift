import ArgumentParser
import BillowStore
import Foundation
import Turbulence

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Option(help: "The database file.")
    var database: String?

    @Option(help: "A YAML file of settings.")
    var config: String?

    /// - Parameter needs: the parts that the command will use.
    func settings(
        host: String? = nil, port: String? = nil, demo: Bool = false, needs: SettingsNeeds
    ) throws(SettingsError) -> Settings {
        try Settings.read(
            file: config, environment: ProcessInfo.processInfo.environment,
            overrides: SettingsOverrides(database: database, host: host, port: port, demo: demo), needs: needs)
    }
}

enum SystemClock {
    static let now: @Sendable () -> Instant = { Instant(Date()) }
}

extension SQLiteStore {
    /// Opens a database for either simulated or real data, because the two never share a file. nil accepts both, for
    /// commands that add no data, and for commands whose first data decides.
    static func open(path: String, simulated: Bool?) async throws -> SQLiteStore {
        let store = try await SQLiteStore.open(path: path)
        guard let simulated else { return store }
        if let other = try await store.sources().first(where: { $0.simulated == !simulated }) {
            let (has, wants) = simulated ? ("real", "simulated") : ("simulated", "real")
            throw Failure(
                .data,
                "the database \(path) holds \(has) data (source '\(other.id)'), and \(wants) data must not be mixed "
                    + "with it; give another file with --database")
        }
        return store
    }
}
