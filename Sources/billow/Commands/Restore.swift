import ArgumentParser
import BillowStore
import Foundation

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace the database with a backup.",
        discussion: """
            Stop the server first. The backup is checked and copied. The previous database and its log are renamed and \
            remain. Don't copy a backup over a database by hand: after its server was killed, SQLite would read the \
            old log into the copy and damage it.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The backup; it isn't changed.")
    var file: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            let settings = try common.settings(needs: [])
            let previous = try await SQLiteStore.restore(file, to: settings.database, at: SystemClock.now())
            if let previous { Terminal.write("the previous database is \(previous)") }
            Terminal.write("\(settings.database): restored from \(file)")
        }
    }
}
