import ArgumentParser
import BillowStore
import Foundation

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup in the place of the database.",
        discussion: """
            Stop the server first. The backup is checked and copied; the former database is renamed with its log and \
            stays. Copying a backup by hand over a database whose server was killed damages it: SQLite would read the \
            old log into it.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The backup; it stays as it is.")
    var file: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            let settings = try common.settings(needs: [])
            let former = try await SQLiteStore.restore(file, to: settings.database, at: SystemClock.now())
            if let former { Terminal.say("the former database is \(former)") }
            Terminal.say("\(settings.database): restored from \(file)")
        }
    }
}
