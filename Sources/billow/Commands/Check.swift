import ArgumentParser
import BillowEngine
import BillowStore
import Foundation

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the whole database for damage.",
        discussion: """
            Changes nothing; the file and its folder may be read-only. Prints a line for each problem. Exits with \
            status 0 if there is none, otherwise with 65. The checksum of each row detects a flipped bit.
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .existing)
            if settings.databaseAddress == nil,
                let warning = SQLiteStore.permissionWarning(path: settings.database)
            {
                Terminal.write("billow: warning: \(warning)")
            }
            let store = try await settings.openDatabase(.reading)
            let check = try await DatabaseCheck(store, logger: Logs.start(settings))
            try store.close()
            for problem in check.problems { print(problem) }
            guard check.problems.isEmpty else {
                let remedy = settings.databaseAddress == nil ? "; billow salvage copies the rest" : ""
                throw Failure(
                    .data, "\(settings.databaseName) is damaged: \(check.problems.count) problems\(remedy)")
            }
            Terminal.write("\(settings.databaseName): sound, with \(check.packedParts) packed parts of the archive")
        }
    }
}
