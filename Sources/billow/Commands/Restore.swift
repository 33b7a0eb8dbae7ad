import ArgumentParser
import BillowEngine
import BillowStore
import Foundation

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace the database with a backup.",
        discussion: """
            Stop the server first. The backup is checked as by billow check, and copied. The previous database stays, \
            under another name. Don't copy a backup over a database by hand: after its server was killed, SQLite \
            would read the old log into the copy and damage it.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The backup; it isn't changed.")
    var file: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            let settings = try common.settings(needs: [])
            let database = try settings.databaseFile(for: "restore", instead: "pg_restore fills it from a dump")
            let logger = Logs.start(settings)
            let previous = try await SQLiteStore.restore(
                file, to: database, at: SystemClock.now(),
                check: { (store) throws(StoreError) in try await DatabaseCheck(store, logger: logger).problems })
            if let previous { Terminal.write("the previous database is \(previous)") }
            Terminal.write("\(database): restored from \(file)")
        }
    }
}
