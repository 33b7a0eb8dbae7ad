import ArgumentParser
import BillowStore
import BillowTimeline
import Foundation

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a set-up for problems, before a server runs or beside one.",
        discussion: """
            Checks libraries, fonts, certificate, folders, disk, database, port, descriptors and the clock, and \
            everything that a server loads at its start. Sends each configured upstream one small request; one to \
            OpenSky costs a credit. Stores nothing. Each finding is a line: ok, \
            warning or failure. Exits with status 0 if nothing failed, otherwise with that of the first failure. \
            Wrong settings count before all other failures.
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The address that a server would listen on (default: as serve).")
    var host: String?

    @Option(help: "The port that a server would listen on (default: as serve).")
    var port: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Send no requests to upstreams.")
    var offline = false

    @Option(help: "The timeout of each request to an upstream, an ISO 8601 duration.")
    var timeout = "PT10S"

    func validate() throws {
        guard let seconds = ISODuration.seconds(timeout), (1...600).contains(seconds) else {
            throw ValidationError("--timeout is '\(timeout)'; it must be a duration from PT1S to PT10M")
        }
    }

    func run() async throws {
        try await Failure.reported {
            let report = try await examine()
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                print(String(decoding: try encoder.encode(report), as: UTF8.self))
            } else {
                print(report.text, terminator: "")
            }
            if let kind = report.kind { throw ExitCode(kind.rawValue) }
        }
    }

    private func examine() async throws -> DoctorReport {
        var findings = [SetupChecks.libraries()] + SetupChecks.fonts()
        let settings: Settings
        do throws(SettingsError) { settings = try common.settings(host: host, port: port, needs: []) } catch {
            // Without valid settings, no further checks are possible.
            findings += error.problems.map { .failure(.settings, $0.kind, $0.description) }
            return DoctorReport(findings)
        }
        findings.append(.ok(.settings, "\(common.config ?? "no file"); sources: \(settings.sources.count)"))
        let refused = refusedByServer()
        findings += refused
        func isUsable(_ subject: Finding.Subject) -> Bool { !refused.contains { $0.subject == subject } }
        if isUsable(.viewer) { findings += SetupChecks.viewer(settings.server.publicFolder) }
        if isUsable(.styles) { findings.append(SetupChecks.styles(settings.server.stylesFolder)) }
        if isUsable(.certificate) {
            findings.append(SetupChecks.certificate(CertificateValidity(settings.server.tls, at: SystemClock.now())))
        }
        let folders = SetupChecks.folders(settings)
        findings += folders.map { SetupChecks.writable($0.path, for: $0.purpose) }
        if let place = folders.first?.path {
            findings.append(SetupChecks.disk(free: SetupChecks.freeBytes(at: place), of: place))
        }
        let (ofDatabase, newest) = isUsable(.database) ? await SetupChecks.database(settings) : ([], nil)
        findings += ofDatabase
        let server = settings.server
        findings.append(
            await SetupChecks.port(
                server.host, server.port,
                opener: settings.databaseAddress == nil ? SQLiteStore.opener(path: settings.database) : nil))
        let (limit, used) = Settings.Server.descriptors
        findings.append(SetupChecks.descriptors(wanted: server.maxConnections, limit: limit, used: used))
        let outcomes = offline ? [] : try await upstreams(settings)
        findings += outcomes.flatMap(\.findings)
        findings.append(SetupChecks.clock(SystemClock.now(), newest: newest, others: outcomes.compactMap(\.clock)))
        return DoctorReport(findings)
    }

    /// What `billow serve` refuses at its start although the settings are valid, found by the same code.
    private func refusedByServer() -> [Finding] {
        do throws(SettingsError) { _ = try common.settings(host: host, port: port, needs: .server) } catch {
            return error.problems.map {
                .failure(Finding.Subject(ofSetting: $0.path), $0.kind, $0.description)
            }
        }
        return []
    }

    /// All at once, in the order of the settings.
    private func upstreams(_ settings: Settings) async throws -> [UpstreamCheck.Outcome] {
        let clients = UpstreamClients()
        let check = UpstreamCheck(clients: clients, limit: .seconds(ISODuration.seconds(timeout) ?? 10))
        let outcomes = await withTaskGroup(
            of: (Int, UpstreamCheck.Outcome?).self, returning: [Int: UpstreamCheck.Outcome].self
        ) { group in
            for (index, source) in settings.sources.enumerated() {
                group.addTask { (index, await check.check(source)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        try await clients.shutdown()
        return outcomes.sorted { $0.key < $1.key }.map(\.value)
    }
}
