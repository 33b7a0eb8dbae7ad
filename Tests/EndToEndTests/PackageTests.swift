import Foundation
import TestSupport
import Testing

@testable import billow

#if os(Linux)
    @Suite(
        "The Debian package",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/dpkg-shlibdeps")))
    struct PackageTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func run(
            _ executable: String, _ arguments: String..., environment: [String: String] = [:]
        ) throws -> (status: Int32, output: String, errors: String) {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [executable] + arguments
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.currentDirectoryURL = Repository.folder
            let errors = folder.url.appending(path: "errors-\(UUID().uuidString)")
            let output = folder.url.appending(path: "output-\(UUID().uuidString)")
            for url in [errors, output] { try Data().write(to: url) }
            process.standardOutput = try FileHandle(forWritingTo: output)
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.runWithDeadline()
            process.waitUntilExit()
            return (
                process.terminationStatus, try String(contentsOf: output, encoding: .utf8),
                try String(contentsOf: errors, encoding: .utf8)
            )
        }

        /// A package of the built command, which needs Swift's libraries where tests run.
        private func package() throws -> String {
            let made = try run(
                "Scripts/package", "deb", Repository.billow.path, folder.path("dist"),
                environment: ["SWIFT_RUNTIME": "elsewhere", "COMPRESSION": "none"])
            #expect(made.status == 0, "\(made.errors)")
            return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        @Test("a packaged build has ICU's data of English and of no language, in a table that ICU can search")
        func icu() throws {
            let made = try run("Scripts/reduce-icu", folder.path("icu"))
            #expect(made.status == 0, "\(made.errors)")
            let source = try String(contentsOfFile: folder.path("icu/icu.S"), encoding: .utf8)
            #expect(source.contains(/\.globl icudt[0-9]+_dat\n/))
            let data = try Data(contentsOf: URL(filePath: folder.path("icu/icu.dat")))
            #expect(data.count < 10_000_000)
            func number(_ offset: Int) -> Int {
                data[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            }
            // A header with its length in front, then a table of names and places, which count from the table.
            let table = Int(data[0]) | Int(data[1]) << 8
            let items = (0..<number(table)).map { index in
                let entry = table + 4 + 8 * index
                let name = data[(table + number(entry))...].prefix { $0 != 0 }
                return (name: String(decoding: name, as: UTF8.self), place: table + number(entry + 4))
            }
            let names = items.map { $0.name.split(separator: "/").dropFirst().joined(separator: "/") }
            #expect(names == names.sorted())
            // The magic number of each item's own header.
            #expect(items.allSatisfy { data[$0.place + 2] == 0xDA && data[$0.place + 3] == 0x27 })
            for name in [
                "root.res", "en.res", "en_GB.res", "curr/en.res", "zoneinfo64.res", "coll/root.res", "nfkc.nrm",
            ] {
                #expect(names.contains(name), "\(name)")
            }
            for name in ["de.res", "zh_Hant_TW.res", "coll/ko.res", "brkitr/cjdict.dict", "gb18030-2022.cnv"] {
                #expect(!names.contains(name), "\(name)")
            }
        }

        @Test("it has what the service needs, its settings are conffiles, and its libraries dependencies")
        func contents() throws {
            let file = try package()
            let architecture = try run("dpkg", "--print-architecture").output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(file == folder.path("dist/billow_\(BuildVersion.release)-1_\(architecture).deb"))
            let control = try run("dpkg-deb", "--info", file).output
            for library in [
                "libsqlite3-0", "libeccodes0", "libgeos-c1v5", "libssl3", "libc6 (>= ", "fonts-dejavu-core",
            ] {
                #expect(control.contains(library), "\(library)")
            }
            #expect(!control.contains(/@[A-Z]+@/))
            let listed = try run("dpkg-deb", "--contents", file).output.split(separator: "\n").map { line in
                let words = line.split(separator: " ", omittingEmptySubsequences: true)
                return (mode: words[0], owner: words[1], path: words[5])
            }
            #expect(Set(listed.map(\.owner)) == ["root/root"])
            let paths = Set(listed.map(\.path))
            for path in [
                "./usr/bin/billow", "./usr/share/billow/Public/index.html", "./usr/share/man/man1/billow.1.gz",
                "./usr/share/bash-completion/completions/billow", "./usr/share/zsh/vendor-completions/_billow",
                "./usr/share/doc/billow/copyright", "./usr/share/doc/billow/changelog.gz",
                "./usr/share/doc/billow/changelog.Debian.gz", "./lib/systemd/system/billow.service",
                "./usr/lib/sysusers.d/billow.conf", "./etc/billow/billow.yaml",
            ] {
                #expect(paths.contains(path[...]), "\(path)")
            }
            #expect(listed.first { $0.path == "./etc/billow/environment" }?.mode == "-rw-------")
            #expect(listed.first { $0.path == "./usr/bin/billow" }?.mode == "-rwxr-xr-x")
            #expect(
                try run("dpkg-deb", "--info", file, "conffiles").output
                    == "/etc/billow/billow.yaml\n/etc/billow/environment\n")
        }

        @Test(
            "dpkg installs it below a folder, it runs there, and a removal leaves its settings",
            .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/systemd-sysusers")))
        func installation() async throws {
            let file = try package()
            let root = folder.url.appending(path: "root")
            for path in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "etc"] {
                try FileManager.default.createDirectory(
                    at: root.appending(path: path), withIntermediateDirectories: true)
            }
            for path in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
                try Data().write(to: root.appending(path: path))
            }
            func dpkg(_ action: String, _ what: String) throws -> (status: Int32, output: String, errors: String) {
                try run(
                    "fakeroot", "dpkg", "--root=\(root.path)", "--force-script-chrootless", "--force-depends",
                    "--log=\(folder.path("log"))", action, what)
            }
            let installed = try dpkg("--install", file)
            #expect(installed.status == 0, "\(installed.errors)")
            let status = try run("dpkg", "--root=\(root.path)", "--status", "billow").output
            #expect(status.contains("Status: install ok installed"))
            #expect(
                try String(contentsOf: root.appending(path: "etc/passwd"), encoding: .utf8)
                    .contains("billow:x:") == true)
            let unit = try String(
                contentsOf: root.appending(path: "lib/systemd/system/billow.service"), encoding: .utf8)
            #expect(unit.contains("\nUser=billow\nGroup=billow\n") && !unit.contains("DynamicUser"))
            #expect(unit.contains("\nExecStart=/usr/bin/billow serve --config /etc/billow/billow.yaml\n"))
            let server = try await Server(
                "--config", root.appending(path: "etc/billow/billow.yaml").path, "--database",
                folder.path("x.sqlite"), executable: root.appending(path: "usr/bin/billow"),
                workingFolder: folder.url)
            #expect(try await server.get("/").status == 200)
            #expect(try await server.stop() == 0)
            let removed = try dpkg("--remove", "billow")
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(!FileManager.default.fileExists(atPath: root.appending(path: "usr/bin/billow").path))
            #expect(FileManager.default.fileExists(atPath: root.appending(path: "etc/billow/billow.yaml").path))
        }

        @Test("a binary that needs Swift's libraries is refused, with their names")
        func runtime() throws {
            let refused = try run("Scripts/package", "deb", Repository.billow.path, folder.path("dist"))
            #expect(refused.status == 65 && refused.errors.contains("libswiftCore.so"), "\(refused.errors)")
        }
    }
#endif
