import Foundation
import Testing
import Turbulence

@testable import billow

/// What can be set, asked for or typed stands in the README, and nothing else does.
@Suite("Documentation") struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    // MARK: Settings

    @Test("Every setting is a row of the table, and every row a setting")
    func settings() throws {
        let known = try Self.knownSettings()
        #expect(known.isSuperset(of: ["server.port", "database", "sources[].query.history", "sources[].wire.tick"]))
        let rows = try Self.tableRows("README.md").compactMap { row -> String? in
            row.wholeMatch(of: /`([a-zA-Z]+(?:\[\])?(?:\.[a-zA-Z0-9]+)*)`/).map { String($0.1) }
        }
        let documented = Set(rows).intersection(known)
        // The categories share a row: each is named in it by itself.
        let readme = try Self.text("README.md")
        let categories = known.filter { $0.hasPrefix("severityThresholds.") }
        for category in categories {
            #expect(readme.contains("`\(category)`") || readme.contains("`\(category.dropFirst(19))`"))
        }
        #expect(known.subtracting(documented).subtracting(categories) == [], "missing in README.md")
        let sections = Set(known.map { $0.split(separator: ".").first.map(String.init) ?? "" })
        let unknown = rows.filter { row in
            row.contains(".") && sections.contains(String(row.prefix { $0 != "." })) && !known.contains(row)
        }
        #expect(unknown == [], "in README.md, but no setting")
    }

    @Test("Every variable of the environment is the one that is read")
    func variables() throws {
        var count = 0
        for match in try Self.text("README.md").matches(of: /\| `([a-zA-Z.]+)` \|[^|]*`(BILLOW_[A-Z_]+)`/) {
            #expect(match.2 == SettingsEnvironment.variable(String(match.1)))
            count += 1
        }
        #expect(count >= 10)
    }

    @Test("The example has every setting, and can be used")
    func example() throws {
        let example = try Self.text("billow.example.yaml")
        for setting in try Self.knownSettings() {
            let key = setting.split(separator: ".").last.map(String.init) ?? setting
            #expect(example.contains(try Regex("\\b\(key)\\b")), "\(setting) is missing in billow.example.yaml")
        }
        let settings = try Settings.read(
            yaml: example, file: "billow.example.yaml", environment: ["SKYPATH_API_KEY": "secret"],
            overrides: SettingsOverrides(database: "elsewhere.sqlite"))
        #expect(settings.sources.map(\.id.name) == ["skypath", "awc", "drop"])
        #expect(settings.database == "elsewhere.sqlite")
        let defaults = Settings()
        #expect(settings.retentionSeconds == defaults.retentionSeconds)
        #expect(settings.staleAfterSeconds == defaults.staleAfterSeconds)
        #expect(settings.server.port == defaults.server.port && settings.server.host == defaults.server.host)
        // Its polygon is a comment; without the mark it must work too.
        let withPolygon = example.replacing("      # polygon:", with: "      polygon:")
        #expect(withPolygon != example)
        _ = try Settings.read(
            yaml: withPolygon, file: "", environment: ["SKYPATH_API_KEY": "secret"], overrides: SettingsOverrides())
    }

    /// All settings by their path. A key that doesn't exist makes the reader name those that do.
    private static func knownSettings() throws -> Set<String> {
        let wrong = """
            zzz: 1
            server: {zzz: 1, timeouts: {zzz: 1}}
            severityThresholds: {zzz: 1}
            polygons: {zzz: 1}
            frequencies: {zzz: 1}
            timeline: {zzz: 1, update: {zzz: 1}}
            sources:
              - {zzz: 1, query: {zzz: 1, scope: {zzz: 1}}, limits: {zzz: 1}, wire: {zzz: 1}}
              - {kind: aviationweather, zzz: 1}
              - {kind: inbox, zzz: 1}
              - {kind: opensky, zzz: 1}
            """
        let error = try #require(throws: SettingsError.self) {
            try Settings.read(yaml: wrong, file: "", environment: [:], overrides: SettingsOverrides())
        }
        var known: Set<String> = []
        for problem in error.problems {
            guard let match = "\(problem)".wholeMatch(of: /(.*?)\.?zzz \(line \d+\) is not a setting; known here: (.*)/)
            else { continue }
            let prefix = match.1.replacing(/\[[0-9]\]/, with: "[]")
            for key in match.2.split(separator: ", ") {
                known.insert(prefix.isEmpty ? String(key) : "\(prefix).\(key)")
            }
        }
        // Those that hold others are no settings themselves.
        let sections = known.filter { section in
            known.contains { $0.hasPrefix(section + ".") || $0.hasPrefix(section + "[]") }
        }
        return known.subtracting(sections)
    }

    // MARK: Routes

    @Test("Every route is a row of the table, and every row a route")
    func routes() throws {
        let folder = Self.root.appending(path: "Sources/BillowHTTP/Routes")
        var registered: Set<String> = ["GET /"]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: /\.(get|post|put|patch|delete)\("(\/[^"]+)"/) {
                registered.insert(match.1.uppercased() + " " + Self.shape(String(match.2)))
            }
        }
        #expect(registered.count > 10)
        let rows = try Self.tableRows("README.md").compactMap { row -> String? in
            row.wholeMatch(of: /`(GET|POST|PUT|PATCH|DELETE) (\/[^` ]*)`/).map { "\($0.1) " + Self.shape(String($0.2)) }
        }
        #expect(registered.subtracting(rows) == [], "missing in README.md")
        #expect(Set(rows).subtracting(registered) == [], "in README.md, but no route")
    }

    /// A path whose variable parts are stars: `/tiles/:layers` and `/tiles/{layer}.json` alike.
    private static func shape(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") || $0.contains("{") ? "*" : $0 }.joined(separator: "/")
    }

    // MARK: Commands

    @Test(
        "Every command and flag is there",
        arguments: ["serve", "sync", "import", "export", "render", "simulate", "prune", "backup", "restore", "check"])
    func commands(_ name: String) throws {
        let row = try #require(
            try Self.text("README.md").split(separator: "\n").first { $0.hasPrefix("| `billow \(name)") },
            "no row for billow \(name)")
        for flag in try Self.flags(of: name) { #expect(row.contains("--\(flag)"), "--\(flag) of billow \(name)") }
    }

    @Test("Every flag of billow opensky is there")
    func openSky() throws {
        let row = try #require(
            try Self.text("README.md").split(separator: "\n").first { $0.hasPrefix("| `billow opensky") })
        let flags = try Self.flags(of: "openSkyCommand")
        #expect(flags.count > 8)
        for flag in flags { #expect(row.contains("--\(flag)"), "--\(flag)") }
        for service in ["states", "own", "flights", "aircraft", "arrivals", "departures", "track"] {
            #expect(row.contains(service))
        }
    }

    @Test("Every flag of billow legend is there")
    func legend() throws {
        let row = try #require(
            try Self.text("README.md").split(separator: "\n").first { $0.hasPrefix("| `billow legend") })
        for flag in try Self.flags(of: "legendCommand") { #expect(row.contains("--\(flag)"), "--\(flag)") }
    }

    @Test("There is no other command")
    func allCommands() throws {
        let readme = try Self.text("README.md")
        for flag in try Self.flags(of: "commonOptions") { #expect(readme.contains("`--\(flag) "), "--\(flag)") }
        let source = try Self.text("Sources/billow/Billow.swift")
        let list = try #require(source.firstMatch(of: /subcommands: \[([^\]]*)\]/)).1
        let names = list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() }
        let documented = [
            "serve", "sync", "import", "export", "render", "simulate", "keys", "openskycommand", "legendcommand",
            "prune", "backup", "restore", "check", "salvagecommand",
        ]
        #expect(Set(names.filter { !$0.isEmpty }) == Set(documented.map { "\($0).self" }))
    }

    @Test("Every fault of the simulator is named")
    func faults() throws {
        let readme = try Self.text("README.md")
        let cases = try Self.text("Sources/UpstreamSimulator/Fault.swift").matches(
            of: /\n    case (\w+)(?: = "([^"]+)")?\n/)
        #expect(cases.count > 20)
        for match in cases {
            let name = match.2 ?? match.1
            #expect(readme.contains("`\(name)`"), "the fault \(name)")
        }
    }

    /// The flags that a command's source declares.
    private static func flags(of command: String) throws -> [String] {
        let source = try text("Sources/billow/Commands/\(command.prefix(1).uppercased() + command.dropFirst()).swift")
        return source.matches(of: /@(?:Option|Flag)([^\n]*)\n\s+var (\w+)/).map { match in
            if let name = match.1.firstMatch(of: /customLong\("([^"]+)"\)/) { return String(name.1) }
            return match.2.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
        }
    }

    // MARK: Links

    @Test("The image overrides no setting, its services pass every secret of the example, and dependencies are pinned")
    func container() throws {
        let services = try Self.text("docker-compose.yml")
        for match in try Self.text("billow.example.yaml").matches(of: /\$\{([A-Z_]+)\}/) where match.1 != "NAME" {
            #expect(services.contains("- \(match.1)\n"), "\(match.1)")
        }
        let ports = services.matches(of: /ports: \["127.0.0.1:\$\{[A-Z_]+:-([0-9]+)\}/).map(\.1)
        #expect(ports.count == 2 && Set(ports).count == 2)
        let variables = try Self.text("Dockerfile").matches(of: /BILLOW_([A-Z_]+)=/).map(\.1)
        #expect(!variables.isEmpty && variables.allSatisfy { $0.hasPrefix("DEFAULT_") })
        let package = try Self.text("Package.swift")
        #expect(package.contains("exact: \"") && !package.contains("from: \""))
    }

    @Test("Every link to a file leads to one", arguments: ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"])
    func links(_ document: String) throws {
        for match in try Self.text(document).matches(of: /\]\(([^)#\s]+)\)/) where !match.1.contains("://") {
            let path = Self.root.appending(path: String(match.1)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(document) names \(match.1)")
        }
    }

    /// The first cell of every row of every table.
    private static func tableRows(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n").filter { $0.hasPrefix("| ") }.map { row in
            row.dropFirst(2).prefix { $0 != "|" }.trimmingCharacters(in: .whitespaces)
        }
    }
}
