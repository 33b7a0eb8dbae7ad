import ArgumentParser

@main
struct Billow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "billow",
        abstract: "A turbulence server: fetches observations, stores them, and serves them to any web map.",
        version: BuildVersion.text,
        subcommands: [
            Serve.self, Sync.self, Import.self, Export.self, Pack.self, Render.self, LegendCommand.self, Simulate.self,
            Keys.self, OpenSkyCommand.self,
            Prune.self, Backup.self, Restore.self, Check.self, Doctor.self, SalvageCommand.self, Migrate.self,
            DocsCommand.self,
        ])

    static func main() async {
        Allocator.omitDatabaseStatistics()
        await main(nil)
    }
}
