import BillowEngine
import BillowTimeline
import Datasets
import Foundation
import Testing
import Turbulence

@testable import billow

/// All settings, routes, parameters and commands are in the documentation, and nothing else is.
@Suite("Documentation") struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The files below a folder with an ending, relative to the repository, in the order of their names.
    private static func files(_ folder: String, _ ending: String) throws -> [String] {
        let walk = try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
        return walk.compactMap { $0 as? String }.filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }.sorted()
    }

    /// Every page for people.
    private static func pages() throws -> [String] {
        let top = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }
        return try top.sorted()
            + ["docs", "Styles", "Sources", "Tests"].flatMap { try files($0, ".md") } + ["Benchmarks/README.md"]
    }

    // MARK: Generated parts

    @Test("the generated parts of a page are those that the code makes", arguments: ReferencePages.pages)
    func generated(_ page: String) throws {
        let path = "docs/\(page)"
        let committed = try Self.text(path)
        let made = try ReferencePages.updated(committed)
        if ProcessInfo.processInfo.environment["BILLOW_WRITE_DOCS"] != nil {
            try made.write(to: Self.root.appending(path: path), atomically: true, encoding: .utf8)
            return
        }
        let (old, new) = (committed.split(separator: "\n"), made.split(separator: "\n"))
        for missing in Set(new).subtracting(old) { Issue.record("missing in \(path): \(missing)") }
        for other in Set(old).subtracting(new) { Issue.record("in \(path), but not in the code: \(other)") }
        #expect(committed == made, "run billow docs, or this test with BILLOW_WRITE_DOCS=1")
    }

    @Test("every generated part stands on one page")
    func parts() throws {
        let parts = try ReferencePages.pages.flatMap { ReferencePages.parts(of: try Self.text("docs/\($0)")) }
        #expect(parts.sorted() == ReferencePages.Page.allCases.map(\.rawValue).sorted())
        #expect(throws: Failure.self) { try ReferencePages.updated("<!-- generated: nothing -->\n<!-- end -->") }
        #expect(throws: Failure.self) { try ReferencePages.updated("<!-- generated: settings -->\n") }
    }

    // MARK: Settings

    @Test("the catalogue describes every setting that the reader knows, once, and no other")
    func settings() throws {
        let known = SettingsReference.known()
        let described = SettingsCatalogue.groups.flatMap(\.settings)
        #expect(Set(known.map(\.path)).isSuperset(of: ["server.port", "database", "sources[].wire.tick"]))
        #expect(Set(known.map(\.path)).subtracting(described.map(\.path)) == [], "not described")
        #expect(Set(described.map(\.path)).subtracting(known.map(\.path)) == [], "described, but no setting")
        #expect(Set(described.map(\.path)).count == described.count)
        for setting in known {
            #expect(!setting.allowed.isEmpty, "the reader doesn't say what \(setting.path) must be")
        }
        for setting in described {
            #expect(setting.meaning.split(separator: " ").count <= 20, "\(setting.path)")
            #expect(setting.meaning.hasSuffix(".") || setting.meaning.hasSuffix(")"), "\(setting.path)")
        }
    }

    @Test("a setting has the variable that its row names, and no other has one")
    func variables() throws {
        for setting in SettingsReference.known() where !setting.path.contains("[") {
            let variable = SettingsEnvironment.variable(setting.path)
            // An empty text is a list without values, and wrong for any other setting.
            let wrong = setting.allowed.hasPrefix("a list of") ? "\u{1}" : ""
            let error = #expect(throws: SettingsError.self, "\(variable)") {
                try Settings.read(yaml: nil, file: "", environment: [variable: wrong], overrides: SettingsOverrides())
            }
            let isRead = !(error?.problems ?? []).contains { $0.text.hasPrefix("is not the variable of a setting") }
            #expect(isRead == (setting.variable != nil), "\(variable)")
        }
        let flags = SettingsCatalogue.groups.flatMap(\.settings).compactMap(\.flag)
        let page = try Self.text("docs/command-line.md")
        #expect(flags.sorted() == ["--database", "--host", "--port"])
        for flag in flags { #expect(page.contains("`\(flag) <")) }
    }

    @Test("a default in the catalogue is the value that counts where nothing is set")
    func defaults() throws {
        var compared = 0
        let kinds = Dictionary(SettingsReference.known().map { ($0.path, $0.kinds) }) { first, _ in first }
        for setting in SettingsCatalogue.groups.flatMap(\.settings) {
            guard case .value(let value) = setting.standard else { continue }
            let owners: [String?] = kinds[setting.path].flatMap { $0.isEmpty ? nil : $0 } ?? [nil]
            for kind in owners {
                var tree = SettingsTree()
                let needed = kind.map { Self.required($0) } ?? [:]
                for key in needed.keys { tree.set("sources[].\(key)", needed[key] ?? "") }
                let without = kind == nil ? "" : tree.yaml
                tree.set(setting.path, value)
                #expect(try Self.dumped(tree.yaml) == Self.dumped(without), "\(setting.path)")
                compared += 1
            }
        }
        #expect(compared > 60)
    }

    /// What a source of a kind can't do without, as YAML has it.
    private static func required(_ kind: String) -> [String: String] {
        switch kind {
        case "skypath": ["id": "a", "kind": kind, "baseURL": "production", "apiKey": "k"]
        case "billow": ["id": "a", "kind": kind, "baseURL": "https://billow.example"]
        case "inbox": ["id": "a", "kind": kind, "path": "inbox"]
        default: ["id": "a", "kind": kind]
        }
    }

    /// Everything that settings come to, whatever the order of dictionaries and sets.
    private static func dumped(_ yaml: String) throws -> [String] {
        let settings = try Settings.read(yaml: yaml, file: "", environment: [:], overrides: SettingsOverrides())
        var text = ""
        dump(settings.writtenOut, to: &text)
        return text.split(separator: "\n").map { String($0.replacing(#/ #[0-9]+$/#, with: "")) }.sorted()
    }

    @Test("the example has every setting, and can be used")
    func example() throws {
        let example = try Self.text("billow.example.yaml")
        // docs/settings.md has the rule of each layer.
        for setting in SettingsReference.known().map(\.path) where !setting.hasPrefix("timeline.update.") {
            let key = setting.split(separator: ".").last.map(String.init) ?? setting
            #expect(example.contains(try Regex("\\b\(key)\\b")), "\(setting) is missing in billow.example.yaml")
        }
        let settings = try Settings.read(
            yaml: example, file: "billow.example.yaml", environment: ["SKYPATH_API_KEY": "secret"],
            overrides: SettingsOverrides(database: "elsewhere.sqlite"))
        #expect(settings.sources.map(\.id.name) == ["skypath", "awc", "noaa", "drop"])
        #expect(settings.database == "elsewhere.sqlite")
        let defaults = Settings()
        #expect(settings.retentionSeconds == defaults.retentionSeconds)
        #expect(settings.staleAfterSeconds == defaults.staleAfterSeconds)
        #expect(settings.server.port == defaults.server.port && settings.server.host == defaults.server.host)
        #expect(settings.timeline.updates == defaults.timeline.updates)
        // Its polygon is a comment; without the mark it must work too.
        let withPolygon = example.replacing("      # polygon:", with: "      polygon:")
        #expect(withPolygon != example)
        _ = try Settings.read(
            yaml: withPolygon, file: "", environment: ["SKYPATH_API_KEY": "secret"], overrides: SettingsOverrides())
    }

    // MARK: Routes and parameters

    /// The text of every file of the server's sources in one of some folders.
    private static func serverSources(_ folders: [String]) throws -> [String] {
        try files("Sources", ".swift").filter { path in
            path.hasPrefix("Sources/Billow") && folders.contains { path.contains("/\($0)/") }
        }.map(text)
    }

    private static func httpPages() throws -> [String] { try files("docs/http", ".md").map(text) }

    @Test("every route is a row of a table of docs/http, and every row a route")
    func routes() throws {
        var registered: Set<String> = ["GET /"]
        for source in try Self.serverSources(["Routes"]) {
            for match in source.matches(of: /\.(get|post|put|patch|delete)\("(\/[^"]+)"/) {
                registered.insert(match.1.uppercased() + " " + Self.shape(String(match.2)))
            }
        }
        #expect(registered.count >= 40)
        let cells = try Self.httpPages().flatMap(Self.firstCells).filter { $0.contains(" /") }
        #expect(Set(cells).count == cells.count, "a route has two rows")
        let rows = cells.compactMap { row -> String? in
            row.wholeMatch(of: /`(GET|POST|PUT|PATCH|DELETE) (\/[^` ]*)`/).map { "\($0.1) " + Self.shape(String($0.2)) }
        }
        #expect(registered.subtracting(rows) == [], "missing in docs/http")
        #expect(Set(rows).subtracting(registered) == [], "in docs/http, but no route")
    }

    /// A path whose variable parts are stars: `/tiles/:layers` and `/tiles/{layer}.json` alike.
    private static func shape(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") || $0.contains("{") ? "*" : $0 }.joined(separator: "/")
    }

    @Test("every query parameter that a request may have is documented in docs/http, and every documented one is read")
    func parameters() throws {
        var read: Set<String> = []
        for source in try Self.serverSources(["Routes", "Parameters", "Features", "Access", "Frames"]) {
            // Values that are read by name, except the parts of a path.
            let call =
                #/
                (?:(\w+)\.)?(text|phrase|has|integer|number|boolean|choice|required|names|asked|invalid)
                \(\s*"([a-zA-Z][a-zA-Z-]*)"
                /#
            for match in source.matches(of: call) where match.1 != "parameters" { read.insert(String(match.3)) }
            for match in source.matches(of: /values\["([a-zA-Z-]+)"\]/) { read.insert(String(match.1)) }
            // Lists of the names that a route knows.
            let list = /(?:known: |\.union\(|Set<String> = |[nN]ames \+= |\? )\[((?:\s*"[a-zA-Z-]+",?\s*)+)\]/
            for match in source.matches(of: list) {
                for name in match.1.matches(of: /"([a-zA-Z-]+)"/) { read.insert(String(name.1)) }
            }
        }
        #expect(
            read.isSuperset(of: ["hours", "minAltitude", "bbox", "since", "corridor-width", "v", "s", "sig", "full"]))
        let pages = try Self.httpPages().joined(separator: "\n")
        for name in read.sorted() { #expect(pages.contains("`\(name)`"), "the parameter \(name) is not documented") }
        // The first cells of tables of parameters.
        var documented: Set<String> = []
        for page in try Self.httpPages() {
            var isTable = false
            for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
                isTable = line.hasPrefix("| parameter |") || isTable && line.hasPrefix("|")
                guard isTable, let cell = line.dropFirst(2).split(separator: "|").first else { continue }
                for name in cell.matches(of: /`([a-zA-Z-]+)`/) { documented.insert(String(name.1)) }
            }
        }
        #expect(documented.count > 50)
        #expect(documented.subtracting(read) == [], "documented as parameters, but never read")
    }

    // MARK: Commands

    @Test("every command and argument says what it is for")
    func commands() throws {
        let commands = try CommandReference.commands()
        let names = Set(commands.map { $0.words.dropFirst().first ?? "" })
        let expected: Set = [
            "serve", "sync", "import", "export", "render", "legend", "simulate", "keys", "opensky", "prune", "backup",
            "restore", "check", "doctor", "salvage", "migrate", "pack",
        ]
        #expect(names == expected)
        for (words, command) in commands {
            let name = words.joined(separator: " ")
            #expect(!(command.abstract ?? "").isEmpty, "\(name)")
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                #expect(!(argument.abstract ?? "").isEmpty, "\(name): \(argument.valueName ?? "")")
            }
        }
    }

    @Test("the snippets of README are those of the embedding page")
    func snippets() throws {
        let embedding = try Self.text("docs/embedding.md")
        let snippets = try Self.text("README.md").matches(of: /```js\n(.*?)```/.dotMatchesNewlines())
        #expect(snippets.count == 2)
        for snippet in snippets { #expect(embedding.contains(snippet.1)) }
    }

    // MARK: Links

    @Test("the image overrides no setting, its services pass every secret of the example, and dependencies are pinned")
    func container() throws {
        let services = try Self.text("docker-compose.yml")
        for match in try Self.text("billow.example.yaml").matches(of: /\$\{([A-Z_]+)\}/) where match.1 != "NAME" {
            #expect(services.contains("- \(match.1)\n"), "\(match.1)")
        }
        let ports = services.matches(of: /ports: \["127.0.0.1:\$\{[A-Z_]+:-([0-9]+)\}/).map(\.1)
        #expect(ports.count == 3 && Set(ports).count == 3)
        let variables = try Self.text("Dockerfile").matches(of: /BILLOW_([A-Z_]+)=/).map(\.1)
        #expect(!variables.isEmpty && variables.allSatisfy { $0.hasPrefix("DEFAULT_") })
        let package = try Self.text("Package.swift")
        #expect(package.contains("exact: \"") && !package.contains("from: \""))
    }

    @Test("every link to a file or a heading leads to one")
    func links() throws {
        var count = 0
        for page in try Self.pages() {
            let folder = Self.root.appending(path: page).deletingLastPathComponent()
            let prose = try Self.text(page).replacing(/```.*?```/.dotMatchesNewlines(), with: "")
            for match in prose.matches(of: /\]\(([^)#\s]*)(?:#([^)\s]+))?\)/) where !match.1.contains("://") {
                let target = match.1.isEmpty ? Self.root.appending(path: page) : folder.appending(path: String(match.1))
                let path = target.standardizedFileURL.path
                #expect(path.hasPrefix(Self.root.standardizedFileURL.path), "\(page) names \(match.1)")
                #expect(FileManager.default.fileExists(atPath: path), "\(page) names \(match.1)")
                count += 1
                guard let heading = match.2, path.hasSuffix(".md") else { continue }
                let anchors = try Self.anchors(String(contentsOfFile: path, encoding: .utf8))
                #expect(anchors.contains(String(heading)), "\(page) names \(match.1)#\(heading)")
            }
        }
        #expect(count > 200)
    }

    @Test("every page and picture can be reached from README")
    func reachable() throws {
        var reached: Set<String> = []
        var waiting = ["README.md"]
        while let page = waiting.popLast() {
            guard reached.insert(page).inserted, page.hasSuffix(".md") else { continue }
            let folder = Self.root.appending(path: page).deletingLastPathComponent()
            for match in try Self.text(page).matches(of: /\]\(([^)#\s]+)/) where !match.1.contains("://") {
                let path = folder.appending(path: String(match.1)).standardizedFileURL.path
                waiting.append(String(path.dropFirst(Self.root.standardizedFileURL.path.count + 1)))
            }
        }
        for page in try Self.files("docs", ".md") + Self.files("docs/images", ".png") {
            #expect(reached.contains(page), "nothing leads to \(page)")
        }
    }

    /// The anchors that a page's headings have.
    private static func anchors(_ page: String) -> Set<String> {
        Set(
            headings(page).map { heading in
                heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .replacing(" ", with: "-")
            })
    }

    private static func headings(_ page: String) -> [String] {
        page.replacing(/```.*?```/.dotMatchesNewlines(), with: "").split(separator: "\n")
            .compactMap { $0.wholeMatch(of: /#+ (.+)/).map { String($0.1) } }
    }

    @Test("README is short, and tables have short cells")
    func length() throws {
        #expect(try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
        #expect(try Self.text("ARCHITECTURE.md").split(separator: "\n").count <= 40)
        for page in try ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + Self.files("docs", ".md") {
            let written = try Self.text(page).replacing(/<!-- generated.*?<!-- end -->/.dotMatchesNewlines(), with: "")
            for line in written.split(separator: "\n") where line.hasPrefix("|") {
                for cell in line.split(separator: "|") {
                    #expect(cell.split(separator: " ").count <= 20, "\(page): \(cell)")
                }
            }
        }
    }

    @Test("a sentence has at most 25 words") func sentences() throws {
        var count = 0
        for page in try ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + Self.files("docs", ".md") {
            for sentence in try Self.sentences(of: Self.text(page)) {
                let words = sentence.split(separator: " ").filter { $0.contains(/\w/) }
                #expect(words.count <= 25, "\(page): \(sentence)")
                count += 1
            }
        }
        #expect(count > 1_000)
    }

    /// The sentences of a page's prose: no code, no tables, no headings and no generated parts. Inline code is a word.
    private static func sentences(of page: String) -> [String] {
        page.replacing(/<!-- generated.*?<!-- end -->/.dotMatchesNewlines(), with: "")
            .replacing(/```.*?```/.dotMatchesNewlines(), with: "\n\n")
            .replacing(/!\[[^\]]*\]\([^)]*\)/, with: "")
            .replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.1) }
            .replacing(/`[^`]*`/, with: "Code")
            .replacing(#/\n\s*(?:[-*]|\d+\.) /#, with: "\n\n")
            .replacing(/\n(?=[|#])/, with: "\n\n")
            .split(separator: /\n\s*\n/)
            .filter { !$0.hasPrefix("|") && !$0.hasPrefix("#") && !$0.hasPrefix("<") }
            .flatMap { paragraph in
                paragraph.replacing(/\s+/, with: " ").replacing(#/[.!?:;]\W* (?=[A-Z"(])/#, with: "\u{0}").split(
                    separator: "\u{0}"
                )
                .map(String.init)
            }
    }

    @Test("sources and tests name pages that are there, and nothing outside of the repository")
    func sources() throws {
        var count = 0
        let itself = "Tests/EndToEndTests/DocumentationTests.swift"
        for path in try (Self.files("Sources", ".swift") + Self.files("Tests", ".swift")) where path != itself {
            let source = try Self.text(path)
            #expect(!source.contains(/facts\/|\.\.\/shared|\/work\/|design section|\b[Ii]ssue [0-9]+/), "\(path)")
            for match in source.matches(of: /Source: (docs\/[^\s,"]+\.md)((?:,| and|\s|\/\/\/|"[^"]+")*)/) {
                let page = try Self.headings(Self.text(String(match.1)))
                for heading in match.2.matches(of: /"([^"]+)"/) {
                    #expect(page.contains(String(heading.1)), "\(path) names \(match.1), \(heading.1)")
                }
                count += 1
            }
        }
        #expect(count > 12)
    }

    /// The first cell of every row of every table.
    private static func firstCells(_ page: String) -> [String] {
        page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { row in
            row.dropFirst(2).prefix { $0 != "|" }.trimmingCharacters(in: .whitespaces)
        }
    }
}
