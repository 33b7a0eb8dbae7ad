import ArgumentParser
import BillowStore
import Foundation

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database into a new file.",
        discussion: "May run beside a server. billow restore puts the copy back.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The new file; it must not exist.")
    var file: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            let settings = try common.settings(needs: .stored)
            let database = try settings.databaseFile(for: "backup", instead: "pg_dump copies it")
            guard !DatabaseNames(database).areLost(byWriting: file) else {
                throw Failure(
                    .usage, "\(file) is a database, or a file that belongs to one: give another file to write to")
            }
            let store = try await SQLiteStore.open(path: database, access: .reading)
            try await store.backup(to: file)
            try store.close()
            let copy = try await SQLiteStore.open(path: file, access: .reading)
            let version = try await copy.head().version
            try copy.close()
            Terminal.write("\(file): a copy of \(database) at version \(version)")
        }
    }
}
