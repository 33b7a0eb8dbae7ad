import ArgumentParser
import BillowStore
import Foundation

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look through the whole database for damage.",
        discussion: "Exit status 0 where all is well, 65 where something is wrong; each problem is a line.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .stored)
            let store = try await SQLiteStore.open(path: settings.database, simulated: nil)
            let problems = try await store.problems()
            try store.close()
            for problem in problems { print(problem) }
            guard problems.isEmpty else {
                throw Failure(.data, "\(settings.database) is damaged: \(problems.count) problems")
            }
            Terminal.say("\(settings.database): sound")
        }
    }
}
