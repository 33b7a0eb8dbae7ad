import ArgumentParser
import BillowEngine
import BillowStore
import Foundation

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look through the whole database for damage.",
        discussion: """
            Changes nothing; the file and its folder may be read-only. Exit status 0 where all is well, 65 where \
            something is wrong; each problem is a line. Each row has a sum over its columns, which finds a flipped bit.
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .existing)
            if let warning = SQLiteStore.permissionWarning(path: settings.database) {
                Terminal.say("billow: warning: \(warning)")
            }
            let store = try await SQLiteStore.open(path: settings.database, access: .reading)
            var problems = try await store.problems()
            var packedParts = 0
            // What isn't sound can't be compared with anything.
            if problems.isEmpty {
                let archive = Archive(store: store, logger: Logs.start(settings))
                (packedParts, problems) = try await archive.check()
            }
            try store.close()
            for problem in problems { print(problem) }
            guard problems.isEmpty else {
                throw Failure(
                    .data,
                    "\(settings.database) is damaged: \(problems.count) problems; billow salvage reads what can be read"
                )
            }
            Terminal.say("\(settings.database): sound, with \(packedParts) packed parts of the archive")
        }
    }
}
