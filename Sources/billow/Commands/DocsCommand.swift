import ArgumentParser

/// Generates the parts of the documentation that derive from the code. It is for developers, and hidden from the help.
struct DocsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs", abstract: "Write the generated parts of the documentation.", shouldDisplay: false)

    @Option(help: "The folder of the documentation.")
    var folder = "docs"

    func run() async throws {
        try await Failure.reported { try ReferencePages.write(in: folder) }
    }
}
