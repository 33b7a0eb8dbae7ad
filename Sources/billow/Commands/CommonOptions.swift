import ArgumentParser
import BillowStore
import Foundation
import Turbulence

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Option(help: "The database file, or postgres://user@host/database.")
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
