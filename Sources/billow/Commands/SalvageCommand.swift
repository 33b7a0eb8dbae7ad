import ArgumentParser
import BillowStore
import Foundation

struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Read what can be read of a damaged database into a new one.",
        discussion: """
            Copies keys, changed queries, sources and rows of all kinds, around pages that can't be read. The damaged \
            file stays as it is. Says what is missing: exit status 65 where something is. Pictures that may lack it \
            are marked incomplete. Databases from before the first release are copied too.
            """)

    @Argument(help: "The damaged database.")
    var damaged: String

    @Option(name: [.short, .long], help: "The new database; it must not exist.")
    var output: String

    func run() async throws {
        try await Failure.reported {
            let salvaged = try await SQLiteStore.salvage(damaged, to: output)
            for line in salvaged.lines { print(line) }
            guard !salvaged.isWhole else { return Terminal.say("\(output): all of \(damaged)") }
            let since = salvaged.completeSince.map { ", complete from \($0) on" } ?? ""
            throw Failure(.data, "\(output): what could be read of \(damaged)\(since)")
        }
    }
}
