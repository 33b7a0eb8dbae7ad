import ArgumentParser
import Foundation

/// The reference of all commands, from the description that swift-argument-parser generates.
struct CommandReference {
    /// The parts of that description that the page shows.
    struct Tool: Decodable {
        var command: Command
    }

    struct Command: Decodable {
        var commandName: String
        var abstract: String?
        var discussion: String?
        var shouldDisplay: Bool?
        var subcommands: [Command]?
        var arguments: [Argument]?
    }

    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        var kind: String
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var abstract: String?

        /// Whether the parser adds it to every command.
        var isEverywhere: Bool { names?.contains { ["help", "version"].contains($0.name) } ?? false }
    }

    /// Every visible command without subcommands, with the words that invoke it.
    static func commands() throws -> [(words: [String], command: Command)] {
        let tool = try JSONDecoder().decode(Tool.self, from: Data(Billow._dumpHelp().utf8))
        func leaves(_ command: Command, _ before: [String]) -> [(words: [String], command: Command)] {
            guard command.shouldDisplay ?? true, command.commandName != "help" else { return [] }
            let words = before + [command.commandName]
            let below = (command.subcommands ?? []).flatMap { leaves($0, words) }
            return below.isEmpty ? [(words, command)] : below
        }
        return leaves(tool.command, [])
    }

    static func markdown() throws -> String {
        try commands().map { words, command in
            let arguments = (command.arguments ?? []).filter { $0.shouldDisplay && !$0.isEverywhere }
            let positional = arguments.filter { $0.kind == "positional" }.map { argument in
                let name = "<\(argument.valueName ?? "value")>" + (argument.isRepeating ? " …" : "")
                return argument.isOptional ? "[\(name)]" : name
            }
            let flags = arguments.contains { $0.kind != "positional" } ? ["[options]"] : []
            var text = "### \(words.joined(separator: " "))\n\n" + Markdown.paragraph(command.abstract ?? "") + "\n"
            text += "```sh\n\((words + flags + positional).joined(separator: " "))\n```\n"
            if let discussion = command.discussion, !discussion.isEmpty {
                let paragraphs = discussion.split(separator: "\n\n").map { Markdown.paragraph($0) }
                text += "\n" + paragraphs.joined(separator: "\n")
            }
            guard !arguments.isEmpty else { return text }
            let rows = arguments.map { argument in
                let value = argument.kind == "flag" ? "" : " <\(argument.valueName ?? "value")>"
                let name =
                    argument.kind == "positional"
                    ? value.trimmingCharacters(in: .whitespaces)
                    : (argument.names ?? []).map(\.text).joined(separator: ", ") + value
                return Markdown.row([
                    "`\(name)`", argument.defaultValue.map { "`\($0)`" } ?? "–", argument.abstract ?? "",
                ])
            }
            return text + "\n" + Markdown.head(["argument", "default", "meaning"]) + rows.joined()
        }.joined(separator: "\n")
    }
}
