import ArgumentParser
import BillowPostgreSQL
import BillowStore
import Foundation

struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Copy the readable data of a damaged database into a new one.",
        discussion: """
            Copies keys, changed queries, sources and rows of all kinds, except on unreadable pages. The damaged file \
            isn't changed. Prints a line for each table, and exits with status 65 if data is missing. Pictures that \
            may lack data are marked incomplete. Databases from before the first release are copied too.
            """)

    @Argument(help: "The damaged database.")
    var damaged: String

    @Option(name: [.short, .long], help: "The new database; it must not exist.")
    var output: String

    func run() async throws {
        try await Failure.reported {
            if let address = DatabaseAddress(damaged) ?? DatabaseAddress(output) {
                throw Failure(.usage, "billow salvage works with files of SQLite, not with \(address)")
            }
            let salvaged = try await SQLiteStore.salvage(damaged, to: output)
            for line in salvaged.lines { print(line) }
            guard !salvaged.isWhole else { return Terminal.write("\(output): all of \(damaged)") }
            let since = salvaged.completeSince.map { ", complete from \($0) on" } ?? ""
            throw Failure(.data, "\(output): the readable data of \(damaged)\(since)")
        }
    }
}
