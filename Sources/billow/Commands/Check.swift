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
            if let warning = SQLiteStore.permissionWarning(path: settings.database) {
                Terminal.write("billow: warning: \(warning)")
            }
            let store = try await SQLiteStore.open(path: settings.database, access: .reading)
            var problems = try await store.problems()
            var packedParts = 0
            // A damaged log can't validate the archive, so the archive is checked only if the log is intact.
            if problems.isEmpty {
                let archive = Archive(store: store, logger: Logs.start(settings))
                (packedParts, problems) = try await archive.check()
            }
            try store.close()
            for problem in problems { print(problem) }
            guard problems.isEmpty else {
                throw Failure(
                    .data,
                    "\(settings.database) is damaged: \(problems.count) problems; billow salvage copies the rest"
                )
            }
            Terminal.write("\(settings.database): sound, with \(packedParts) packed parts of the archive")
        }
    }
}
