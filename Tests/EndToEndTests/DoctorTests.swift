import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing
import Turbulence

@testable import billow

@Suite("The doctor reports what a set-up lacks") struct DoctorTests {
    // MARK: This machine

    @Test("tables of ecCodes and fonts that aren't there are failures, with the searched places")
    func librariesAndFonts() throws {
        #expect(SetupChecks.libraries().status == .ok)
        let without = SetupChecks.libraries(tables: ["/nowhere/definitions"])
        #expect(without.kind == .inputOutput && without.message.contains("/nowhere/definitions"))
        #expect(SetupChecks.fonts().map(\.status) == [.ok])
        let folder = try TemporaryFolder()
        let text = try folder.write("a.ttf", "no font")
        let fonts = SetupChecks.fonts(["/nowhere/a.ttf", text])
        #expect(fonts.map(\.kind) == [.inputOutput, .inputOutput])
        #expect(fonts[0].message.contains("/nowhere/a.ttf") && fonts[1].message.contains("is not a scalable font"))
    }

    @Test("a folder without the viewer fails, and one without its map library is a warning")
    func viewer() throws {
        #expect(SetupChecks.viewer(Settings.Server().publicFolder).map(\.status) == [.ok])
        let folder = try TemporaryFolder()
        #expect(SetupChecks.viewer(folder.url.path).map(\.kind) == [.inputOutput])
        _ = try folder.write("index.html", "")
        let bare = SetupChecks.viewer(folder.url.path)
        #expect(bare.map(\.status) == [.warning] && bare[0].message.contains("vendor/maplibre/maplibre-gl.js"))
        #expect(SetupChecks.styles(Settings.Server().stylesFolder).status == .ok)
        #expect(SetupChecks.styles(folder.url.path).kind == .inputOutput)
    }

    @Test("folders are written to, and nothing stays; a file, nothing and a read-only file system are failures")
    func folders() throws {
        let folder = try TemporaryFolder()
        #expect(SetupChecks.writable(folder.url.path, for: "the database").status == .ok)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        let file = try folder.write("file", "")
        for path in [file, folder.path("nothing")] {
            let finding = SetupChecks.writable(path, for: "the database")
            #expect(finding.kind == .inputOutput && finding.message.contains("is no folder"))
        }
        #if os(Linux)
            #expect(SetupChecks.writable("/proc", for: "the database").message.contains("can't be written to"))
        #endif
        let settings = try Settings.read(
            yaml: """
                database: \(folder.path("a.sqlite"))
                server: { portFile: \(folder.path("ports/billow")) }
                sources: [{ id: drop, kind: inbox, path: \(folder.path("drop")) }]
                """, file: "", environment: [:], overrides: SettingsOverrides())
        let place = folder.url.standardizedFileURL.path
        func written(_ settings: Settings) -> [String] {
            SetupChecks.folders(settings).filter { $0.purpose != "temporary files" }.map(\.path)
        }
        #expect(written(settings) == [place, "\(place)/ports", place])
        // A server makes every missing folder of a path.
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "exports"), withIntermediateDirectories: false)
        let more = try Settings.read(
            yaml: """
                database: \(folder.path("a.sqlite"))
                exports: { folder: \(folder.path("exports")) }
                tracing: { file: \(folder.path("spans/spans.jsonl")) }
                backups: { folder: \(folder.path("b/c/d")) }
                """, file: "", environment: [:], overrides: SettingsOverrides())
        #expect(written(more) == [place, "\(place)/exports", "\(place)/spans", place])
    }

    @Test(
        "a disk that fills up is a warning, then a failure",
        arguments: [
            (SetupChecks.wantedFree, .ok), (SetupChecks.wantedFree - 1, .warning), (SetupChecks.leastFree, .warning),
            (SetupChecks.leastFree - 1, .failure), (nil, .warning),
        ] as [(Int?, Finding.Status)])
    func disk(_ free: Int?, _ status: Finding.Status) {
        #expect(SetupChecks.disk(free: free, of: "/data").status == status)
    }

    @Test("the free room of a folder is what the system says, and that of nothing is unknown")
    func freeBytes() {
        #expect(SetupChecks.freeBytes(at: "/tmp") ?? 0 > 0)
        #expect(SetupChecks.freeBytes(at: "/nowhere") == nil)
    }

    @Test("a hard limit below the wanted connections is a warning")
    func descriptors() {
        #expect(SetupChecks.descriptors(wanted: 8_192, limit: 1_024, used: 20).status == .warning)
        #expect(SetupChecks.descriptors(wanted: 100, limit: 1_024, used: 20).status == .ok)
    }

    @Test("a clock is compared with stored data and with the nearest upstream's")
    func clock() throws {
        let now = try #require(Instant("2026-11-23T12:00:00Z"))
        func clock(_ newest: Int?, _ others: Int...) -> Finding.Status {
            SetupChecks.clock(
                now, newest: newest.map { now.advanced(by: $0) },
                others: others.map { (source: "a", time: now.advanced(by: $0)) }
            ).status
        }
        #expect(clock(nil) == .ok && clock(-86_400, 0) == .ok && clock(300) == .ok)
        #expect(clock(301) == .failure)
        #expect(clock(nil, 10) == .ok && clock(nil, 11) == .warning && clock(nil, -11) == .warning)
        #expect(clock(nil, 301) == .failure && clock(nil, -301) == .failure)
        // One upstream's clock is wrong.
        #expect(clock(nil, 3_600, 1) == .ok)
    }

    @Test("wrong settings decide the exit status before all else, and otherwise the first failure does")
    func status() {
        let disk = Finding.failure(.disk, .inputOutput, "full")
        let port = Finding.failure(.port, .unavailable, "taken")
        #expect(DoctorReport([]).kind == nil && DoctorReport([.warning(.disk, "small")]).kind == nil)
        #expect(DoctorReport([disk, port]).kind == .inputOutput)
        #expect(DoctorReport([disk, port, .failure(.settings, .usage, "wrong")]).kind == .usage)
        #expect(DoctorReport([.ok(.clock, "right"), .warning(.disk, "small")]).status == .warning)
        #expect(DoctorReport([.ok(.clock, "right"), disk]).findings.map(\.subject) == [.disk, .clock])
    }

    // MARK: The command

    private struct Line: Decodable {
        var subject: String
        var status: String
        var message: String
    }

    private struct Report: Decodable {
        var status: String
        var findings: [Line]

        func lines(_ subject: Finding.Subject) -> [Line] { findings.filter { $0.subject == subject.rawValue } }
    }

    private static func report(_ arguments: String..., environment: [String: String] = [:]) async throws
        -> (status: Int32, report: Report, output: String)
    {
        let command = try Command(["doctor", "--json"] + arguments, environment: environment)
        let status = try await command.status()
        let output = try command.standardOutput
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        return (status, report, output + (try command.standardError))
    }

    @Test("a set-up with nothing wrong ends with 0, and every subject has a line; the port of a server is a warning")
    func sound() async throws {
        let folder = try TemporaryFolder()
        let simulator = try await Simulator(flights: 20)
        let settings = try simulator.settings(in: folder)
        let database = folder.path("a.sqlite")
        let (status, report, _) = try await Self.report("--config", settings, "--database", database, "--port", "0")
        #expect(status == 0, "\(report)")
        #expect(Set(report.findings.map(\.subject)) == Set(Finding.Subject.allCases.map(\.rawValue)))
        #expect(report.lines(.upstream).map(\.message) == ["sim (skypath) accepts the key"])
        #expect(report.lines(.clock)[0].message.contains("the clock of sim"))
        #expect(report.lines(.database)[0].message.contains("doesn't exist yet"))
        #expect(!FileManager.default.fileExists(atPath: database), "the doctor made a database")
        let server = try await Server("--config", settings, "--database", database)
        let beside = try await Self.report(
            "--config", settings, "--database", database, "--port", "\(server.port)", "--offline")
        #expect(beside.status == 0 && beside.report.status == "warning")
        #expect(beside.report.lines(.port)[0].message.contains("process \(server.command.processIdentifier) uses"))
        #expect(beside.report.lines(.database)[0].message.contains("is sound"))
        #expect(beside.report.lines(.upstream).isEmpty)
        let text = try await Command.run("doctor", "--offline", "--database", database, "--port", "0")
        #expect(text.output.contains("ok       fonts"))
        #expect(try await server.stop() == 0)
    }

    @Test("a refused key, a taken port, a lost folder and damage are failures, and no key is in what is said")
    func broken() async throws {
        let folder = try TemporaryFolder()
        let simulator = try await Simulator(flights: 20)
        let secret = "planted-secret-0123456789"
        let database = try folder.write("a.sqlite", "this is no database")
        let settings = try folder.write(
            "settings.yaml",
            """
            server: { port: \(simulator.port), publicFolder: \(folder.url.path), portFile: /nowhere/port }
            database: \(database)
            sources:
              - { id: refused, kind: skypath, baseURL: "http://127.0.0.1:\(simulator.port)", api: v4,
                  apiKey: \(secret) }
              - { id: nobody, kind: aviationweather, baseURL: "http://127.0.0.1:9" }
            """)
        let (status, report, output) = try await Self.report("--config", settings)
        #expect(status == Failure.Kind.inputOutput.rawValue && report.status == "failure")
        let failed = Set(report.findings.filter { $0.status == "failure" }.map(\.subject))
        #expect(failed == ["viewer", "folders", "database", "port", "upstream"], "\(report)")
        let upstreams = report.lines(.upstream).map(\.message)
        #expect(upstreams.count == 2 && upstreams[0].hasPrefix("refused (skypath): not authorised"))
        #expect(upstreams.last?.hasPrefix("nobody (aviationweather): unreachable") == true)
        #expect(!output.contains(secret))
    }

    @Test(
        "the events of a mirrored server are tried; a server that refuses them is a warning, because the mirror polls")
    func events() async throws {
        let folder = try TemporaryFolder()
        // Half of the connections may listen.
        let central = try folder.write("central.yaml", "server: { maxConnections: 16 }\n")
        let server = try await Server("--config", central, "--database", folder.path("central.sqlite"))
        func lines(_ more: String = "") async throws -> (status: Int32, lines: [Line], output: String) {
            let settings = try folder.write(
                "mirror.yaml",
                "sources: [{ id: a, kind: billow, baseURL: 'http://127.0.0.1:\(server.port)'\(more) }]")
            let (status, report, output) = try await Self.report(
                "--config", settings, "--database", folder.path("mirror.sqlite"), "--port", "0")
            return (status, report.lines(.upstream), output)
        }
        let open = try await lines()
        #expect(open.status == 0 && open.lines.map(\.message) == ["a (billow) answers", "a (billow) sends events"])
        // Listeners hold their connections, of which a client usually has eight.
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var listeners: [HTTPClientResponse] = []
        let full: (status: Int32, lines: [Line], output: String)
        do {
            try await eventually("the limit of listeners") {
                let answer = try await client.execute(
                    HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/events"), timeout: .seconds(600))
                if answer.status == .ok { listeners.append(answer) }
                return answer.status == .serviceUnavailable
            }
            full = try await lines()
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
        #expect(full.status == 0 && full.lines.map(\.status) == ["ok", "warning"], "\(full.output)")
        let words = full.lines.last?.message ?? ""
        #expect(words.hasPrefix("a (billow): its events don't arrive, so it is only polled: "), "\(words)")
        #expect(words.contains("listen"), "\(words)")
        // Without events there is nothing to try.
        #expect(try await lines(", events: none").lines.map(\.message) == ["a (billow) answers"])
        #expect(listeners.count == 8)
        #expect(try await server.stop() == 0)
    }

    @Test("an upstream that is silent costs no more than the time that it is given")
    func silent() async throws {
        let folder = try TemporaryFolder()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int in
                guard bind(listener, address, length) == 0, listen(listener, 8) == 0,
                    getsockname(listener, address, &length) == 0
                else { return 0 }
                return Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
        }
        #expect(port > 0)
        let settings = try folder.write(
            "settings.yaml", "sources: [{ id: a, kind: aviationweather, baseURL: 'http://127.0.0.1:\(port)' }]")
        let (status, report, _) = try await Self.report(
            "--config", settings, "--database", folder.path("a.sqlite"), "--port", "0", "--timeout", "PT1S")
        #expect(status == Failure.Kind.unavailable.rawValue)
        #expect(report.lines(.upstream)[0].message == "a (aviationweather): no complete answer in time")
    }

    @Test("settings that can't be used are named one by one, and end with 64")
    func settings() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("settings.yaml", "retention: 7\nserver: { port: 70000 }")
        let (status, report, _) = try await Self.report("--config", file)
        #expect(status == Failure.Kind.usage.rawValue)
        #expect(report.lines(.settings).count == 2 && report.lines(.fonts).count == 1)
        #expect(try await Command.run("doctor", "--timeout", "PT0S").status == Failure.Kind.usage.rawValue)
    }
}
