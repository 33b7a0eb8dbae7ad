import Datasets
import ArgumentParser
import BillowRaster
import BillowTiles
import Foundation

struct LegendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "legend", abstract: "Write the legend of some layers in a style.")

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case png, svg, json
    }

    @OptionGroup var common: CommonOptions

    @Argument(help: "Layers, separated by commas.")
    var layers = Dataset.turbulence.id

    @Option(help: "The id of a style.")
    var style = StyleLibrary.defaultID

    @Option(help: "Pixels per point of a PNG, 1 to 3.")
    var scale = 1

    @Option(help: "light or dark (default: the style's own).")
    var theme: String?

    @Option(help: "vertical or horizontal.")
    var orientation = Orientation.vertical.rawValue

    @Option(help: "png, svg or json (default: by the output's ending, else png).")
    var format: Format?

    @Option(name: [.short, .long], help: "The file to write (default: standard output).")
    var output: String?

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            let settings = try common.settings(needs: .styles)
            let sink = try OutputFile(output, sparing: settings.database)
            let bytes = try self.bytes(of: legend(settings))
            try await sink.write { try sink.write(bytes) }
        }
    }

    private func legend(_ settings: Settings) throws -> Legend {
        let library = try StyleLibrary(folder: settings.server.stylesFolder)
        guard let style = library[style] else {
            let known = library.styles.map(\.id).joined(separator: ", ")
            throw Failure(.usage, "there is no style '\(style)'; there are \(known)")
        }
        do { return try LayerList(layers).legend(style: style) } catch {
            throw Failure(
                .usage,
                "'\(layers)' is no list of layers; they are \(Catalogue.layers.map(\.id).joined(separator: ", "))")
        }
    }

    private func bytes(of legend: Legend) throws -> [UInt8] {
        let options = try LegendOptions(
            scale: scale, theme: try theme.map { try Self.choice("theme", $0) },
            orientation: try Self.choice("orientation", orientation))
        let ending = output.map { URL(fileURLWithPath: $0).pathExtension.lowercased() } ?? ""
        switch format ?? Format(rawValue: ending) ?? .png {
        case .png: return try LegendRenderer().png(legend, options: options)
        case .svg: return Array(try LegendRenderer().svg(legend, options: options).utf8)
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return Array(try encoder.encode(legend)) + Array("\n".utf8)
        }
    }

    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(_ name: String, _ text: String) throws
        -> Choice
    {
        guard let choice = Choice(rawValue: text) else {
            let allowed = Choice.allCases.map(\.rawValue).joined(separator: " or ")
            throw Failure(.usage, "--\(name) is '\(text)'; it must be \(allowed)")
        }
        return choice
    }
}
