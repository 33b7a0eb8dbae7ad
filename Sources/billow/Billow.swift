import ArgumentParser

@main
struct Billow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "billow",
        abstract: "A turbulence server: syncs observations, keeps them, and serves them to any web map.",
        version: "0.1.0",
        subcommands: [
            Serve.self, Sync.self, Import.self, Export.self, Render.self, LegendCommand.self, Simulate.self, Keys.self,
            OpenSkyCommand.self,
            Prune.self, Backup.self, Restore.self, Check.self, SalvageCommand.self, DocsCommand.self,
        ])
}
