import Foundation
import TestSupport
import Testing

@testable import billow

@Suite("Billow runs from any folder, installed or built") struct InstallTests {
    /// What `make install` makes, below a folder that stands for the root.
    private final class Installation: Sendable {
        let folder: TemporaryFolder
        let root: URL

        init(prefix: String) throws {
            folder = try TemporaryFolder()
            root = folder.url.appending(path: "root")
            try install(prefix: prefix)
        }

        func install(prefix: String) throws {
            let process = Process()
            process.executableURL = Repository.folder.appending(path: "Scripts/install")
            process.arguments = [Repository.billow.path]
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["DESTDIR": root.path, "PREFIX": prefix], uniquingKeysWith: { $1 })
            try process.runWithDeadline()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }

        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }

        /// A folder with nothing in it.
        func emptyFolder() throws -> URL {
            let url = folder.url.appending(path: "empty-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            return url
        }
    }

    private static let root = URL(filePath: "/")

    @Test("an installed server and command run from the root and from an empty folder")
    func installed() async throws {
        let installation = try Installation(prefix: "/opt/billow")
        let executable = installation.root.appending(path: "opt/billow/bin/billow")
        for folder in [Self.root, try installation.emptyFolder()] {
            let legend = try await Command.run("legend", executable: executable, workingFolder: folder)
            #expect(legend.status == 0, "\(legend.errors)")
            let server = try await Server(
                "--database", installation.folder.path("a.sqlite"), executable: executable, workingFolder: folder)
            for path in ["/", "/viewer.js", "/vendor/basemap/basemap.geojson", "/styles", "/legend.svg"] {
                #expect(try await server.get(path).status == 200, "\(path) from \(folder.path)")
            }
            #expect(try await server.stop() == 0)
        }
        // The fonts of the installation, on a machine without Debian's.
        let checked = try await Command.run(
            "doctor", "--offline", "--database", installation.folder.path("a.sqlite"), executable: executable,
            workingFolder: Self.root)
        let fonts = executable.resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "share/billow/Fonts").path
        #expect(checked.output.contains("\(fonts)/DejaVuSans.ttf, \(fonts)/DejaVuSans-Bold.ttf"))
        // What a link leads to counts, and not where the link lies.
        let link = try installation.emptyFolder().appending(path: "billow")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: executable)
        let linked = try await Command.run("legend", executable: link, workingFolder: Self.root)
        #expect(linked.status == 0, "\(linked.errors)")
    }

    @Test("an executable alone names every place that it searched, and no setting that was never given")
    func alone() async throws {
        let folder = try TemporaryFolder()
        let bin = folder.url.appending(path: "bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        let executable = bin.appending(path: "billow")
        try FileManager.default.copyItem(at: Repository.billow, to: executable)
        let ended = try await Command.run(
            "serve", "--port", "0", "--database", folder.path("a.sqlite"), executable: executable, workingFolder: bin)
        #expect(ended.status == Failure.Kind.inputOutput.rawValue)
        let place = folder.url.resolvingSymlinksInPath().path
        for name in ["Public", "Styles"] {
            let beside = "\(place)/share/billow/\(name)"
            #expect(ended.errors.contains("none of these places has the folder \(name) of Billow: \(beside), "))
            #expect(ended.errors.contains("\(place)/bin/\(name)"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("a.sqlite")))
    }

    @Test("the manual names every command and argument, and shells take the completions")
    func manual() throws {
        let installation = try Installation(prefix: "/usr")
        let page = try installation.text("usr/share/man/man1/billow.1").replacing("\\-", with: "-")
        let commands = try CommandReference.commands()
        #expect(commands.count > 20)
        for (words, command) in commands {
            #expect(page.contains("\n.SS \(words.joined(separator: " "))\n"))
            for name in (command.arguments ?? []).filter({ $0.shouldDisplay && !$0.isEverywhere }).flatMap({
                $0.names ?? []
            }) {
                #expect(page.contains("\\fB\(name.text)\\fR"), "\(words) \(name.text)")
            }
        }
        // No line that troff takes for a request, but those of the page's own.
        let requests = Set(page.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.prefix { $0 != " " } })
        #expect(requests == [".TH", ".SH", ".SS", ".PP", ".TP"])
        let completion = try installation.text("usr/share/bash-completion/completions/billow")
        #expect(completion.contains("--database") && completion.contains("complete "))
        for path in ["zsh/site-functions/_billow", "fish/vendor_completions.d/billow.fish"] {
            #expect(try installation.text("usr/share/\(path)").contains("salvage"))
        }
    }

    @Test("the unit runs what was installed, and a second installation leaves the service's settings alone")
    func unit() throws {
        let installation = try Installation(prefix: "/usr")
        let unit = try installation.text("usr/lib/systemd/system/billow.service")
        #expect(unit.contains("\nExecStart=/usr/bin/billow serve --config /etc/billow/billow.yaml\n"))
        #expect(!unit.contains("@prefix@") && !unit.contains("@sysconfdir@"))
        let settings = installation.root.appending(path: "etc/billow/billow.yaml")
        _ = try Settings.read(
            yaml: try installation.text("etc/billow/billow.yaml"), file: "", environment: [:],
            overrides: SettingsOverrides())
        try Data("retention: P1D\n".utf8).write(to: settings)
        // What a new version has no more is gone after it is installed.
        let old = installation.root.appending(path: "usr/share/billow/Public/old.js")
        try Data().write(to: old)
        try installation.install(prefix: "/usr")
        #expect(try installation.text("etc/billow/billow.yaml") == "retention: P1D\n")
        #expect(!FileManager.default.fileExists(atPath: old.path))
    }

    @Test(
        "systemd accepts the unit and its fixed user, and documented backups lie where the unit may write",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-analyze")))
    func sandbox() throws {
        let folder = try TemporaryFolder()
        let prefix = folder.path("usr")
        let installation = try Installation(prefix: prefix)
        // systemd looks for the executable at its final place.
        try FileManager.default.moveItem(
            at: installation.root.appending(path: prefix), to: folder.url.appending(path: "usr"))
        let unit = "\(prefix)/lib/systemd/system/billow.service"
        let verified = try Program.run("systemd-analyze", ["verify", "--man=no", unit])
        #expect(verified.status == 0, "\(verified.output)")
        let root = folder.path("root")
        try FileManager.default.createDirectory(atPath: "\(root)/etc", withIntermediateDirectories: true)
        let user = try Program.run("systemd-sysusers", ["--root=\(root)", "\(prefix)/lib/sysusers.d/billow.conf"])
        #expect(user.status == 0)
        #expect(try String(contentsOfFile: "\(root)/etc/passwd", encoding: .utf8).hasPrefix("billow:"))
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        #expect(text.contains("\nProtectSystem=strict\n") && text.contains("\nStateDirectory=billow\n"))
        for path in ["docs/operating.md", "billow.example.yaml"] {
            let document = try String(contentsOf: Repository.folder.appending(path: path), encoding: .utf8)
            let folders = document.matches(of: /backups:\n#? +folder: (\S+)/).map { String($0.1) }
            #expect(!folders.isEmpty && folders.allSatisfy { $0.hasPrefix("/var/lib/billow/") }, "\(path): \(folders)")
        }
    }

    @Test("the installation comes before the source tree around it, and this before the working folder")
    func order() throws {
        let folder = try TemporaryFolder()
        func make(_ path: String) throws {
            let url = folder.url.appending(path: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: url)
        }
        let place = folder.url.resolvingSymlinksInPath().path
        let executable = "\(place)/tree/.build/debug/billow"
        let find = { SharedFolder.viewer.find(executable: executable, workingFolder: "\(place)/here") }
        try make("tree/.build/debug/billow")
        try make("tree/Package.swift")
        // Somebody's folder of that name.
        try make("here/Public/letter.txt")
        #expect(find() == nil)
        try make("here/Public/index.html")
        #expect(find() == "\(place)/here/Public")
        try make("tree/Public/index.html")
        #expect(find() == "\(place)/tree/Public")
        try make("tree/.build/share/billow/Public/index.html")
        #expect(find() == "\(place)/tree/.build/share/billow/Public")
    }

    @Test("the version names the commit where the build was told of one")
    func version() async throws {
        #expect(BuildVersion.described(release: "0.1.0", commit: "3eac2c7abcde") == "0.1.0 (3eac2c7abcde)")
        #expect(BuildVersion.described(release: "0.1.0", commit: nil) == "0.1.0")
        let said = try await Command.run("--version")
        #expect(said.output == BuildVersion.text + "\n" && said.status == 0)
        let changes = try String(contentsOf: Repository.folder.appending(path: "CHANGELOG.md"), encoding: .utf8)
        #expect(changes.contains("\n## [\(BuildVersion.release)] "))
    }
}
