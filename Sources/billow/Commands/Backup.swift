import ArgumentParser
import BillowStore
import Foundation

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database as it stands into a new file.", discussion: "May run beside a server.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The new file; it must not exist.")
    var file: String

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .stored)
            let store = try await SQLiteStore.open(path: settings.database, simulated: nil)
            try await store.backup(to: file)
            let head = try await store.head()
            try store.close()
            Terminal.say("\(file): a copy of \(settings.database) at version \(head.version) or earlier")
        }
    }
}
