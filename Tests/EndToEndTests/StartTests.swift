import BillowPostgreSQL
import Foundation
import TestSupport
import Testing
import Turbulence

@testable import billow

/// The doctor loads what a server loads at its start.
@Suite("What a server refuses at its start, the doctor finds") struct StartTests: SecureSuite {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct Report: Decodable {
        struct Line: Decodable {
            var subject: String
            var status: String
            var message: String
        }

        var findings: [Line]
    }

    /// Gives the same settings to a server, which must end, and to the doctor.
    /// - Returns: what the doctor calls a failure, as subjects.
    private func refused(
        _ yaml: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (subjects: [String], words: String) {
        let file = try folder.write("settings.yaml", yaml)
        let served = try await Command.run("serve", "--config", file)
        #expect(served.status > 0, "it serves", sourceLocation: sourceLocation)
        let doctor = try await Command.run("doctor", "--config", file, "--offline", "--json")
        #expect(doctor.status == served.status, "\(served.errors)\n\(doctor.output)", sourceLocation: sourceLocation)
        let report = try JSONDecoder().decode(Report.self, from: Data(doctor.output.utf8))
        let failures = report.findings.filter { $0.status == "failure" }
        return (failures.map(\.subject), failures.map(\.message).joined(separator: "\n"))
    }

    private func settings(_ server: String, database: String? = nil, _ rest: String = "") -> String {
        "server: { port: 0, \(server) }\ndatabase: \(database ?? folder.path("x.sqlite"))\n\(rest)"
    }

    @Test("a certificate or key that is missing, no PEM, or another one's")
    func certificates() async throws {
        try makeCertificate("one")
        try makeCertificate("two")
        let text = try folder.write("text.pem", "no certificate")
        let (certificate, key) = (folder.path("one.pem"), folder.path("one.key"))
        for (given, words) in [
            (("/nowhere/c.pem", "/nowhere/k.pem"), "there is no such file"), ((text, key), "it has no certificate"),
            ((certificate, text), "it has no key in PEM"),
            ((certificate, folder.path("two.key")), "it is not the key of the certificate"),
        ] as [((String, String), String)] {
            let found = try await refused(settings("tls: { certificate: \(given.0), key: \(given.1) }"))
            #expect(found.subjects == ["certificate"] && found.words.contains(words), "\(found)")
        }
    }

    @Test("a certificate that is not valid at the time, or soon, is a warning")
    func validity() throws {
        try makeCertificate("one", days: 30)
        let tls = "server: { tls: { certificate: \(folder.path("one.pem")), key: \(folder.path("one.key")) } }"
        let files = try Settings.read(yaml: tls, file: "", environment: [:], overrides: SettingsOverrides()).server.tls
        func finding(_ days: Int) -> Finding {
            SetupChecks.certificate(CertificateValidity(files, at: Instant(Date()).advanced(by: days * 86_400)))
        }
        #expect(finding(1).status == .ok && finding(1).message.contains("is valid until"))
        #expect(finding(-1).status == .warning && finding(-1).message.contains("is not valid before"))
        #expect(finding(17).status == .warning && finding(17).message.contains("is only valid until"))
        #expect(finding(31).status == .warning && finding(31).message.contains("is no longer valid"))
        #expect(SetupChecks.certificate(nil).status == .ok)
    }

    @Test("a missing viewer, styles that can't be used, and a database that can't")
    func files() async throws {
        _ = try folder.write("bad.json", "{")
        for (server, subject) in [
            ("publicFolder: /nowhere", "viewer"), ("stylesFolder: /nowhere", "styles"),
            ("stylesFolder: \(folder.url.path)", "styles"),
        ] {
            let found = try await refused(settings(server))
            #expect(Set(found.subjects) == [subject], "\(server): \(found)")
        }
        let other = try folder.write("other.sqlite", "this is no database, and more than the length of a header")
        #expect(try await refused(settings("", database: other)).subjects == ["database"])
        #expect(try await refused(settings("", database: folder.url.path)).subjects.contains("database"))
        let nowhere = try await refused(settings("", database: "/nowhere/x.sqlite"))
        #expect(Set(nowhere.subjects).isSuperset(of: ["database", "folders"]))
    }

    @Test("an address of another machine and an unknown host")
    func addresses() async throws {
        for host in ["192.0.2.1", "host.invalid"] {
            #expect(try await refused(settings("host: \(host)")).subjects == ["port"])
        }
    }

    @Test("simulated data for real sources")
    func nature() async throws {
        let simulator = try await Simulator(flights: 20)
        let server = try await Server(
            "--config", try simulator.settings(in: folder), "--database", folder.path("x.sqlite"))
        try await eventually("data") { try await server.status()["sources"][0]["lastSuccess"].string != nil }
        #expect(try await server.stop() == 0)
        let real = "{ id: awc, kind: aviationweather, baseURL: 'http://127.0.0.1:9', simulated: false }"
        let found = try await refused(settings("", "sources: [\(real)]"))
        #expect(found.subjects == ["database"] && found.words.contains("simulated"))
    }

    @Test("a backup folder that can't be made: the server serves and says so, and the doctor fails")
    func backups() async throws {
        let place = try folder.write("file", "") + "/backups"
        let yaml = settings("", "backups: { folder: \(place) }")
        let file = try folder.write("settings.yaml", yaml)
        let created = try await Command.run(
            "keys", "create", "--scope", "admin", "--database", folder.path("x.sqlite"))
        let key = created.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let server = try await Server("--config", file)
        try await eventually("the failed backup in the status") {
            try await server.status()["backups"]["failure"].string == "the log says why"
        }
        let status = try await server.get("/status", ["X-API-Key": key]).json["backups"]
        #expect(status["failure"].string?.contains("the folder can't be made") == true)
        #expect(status["newest"].isAbsent)
        #expect(try await server.stop() == 0)
        let doctor = try await Command.run("doctor", "--config", file, "--offline", "--port", "0")
        #expect(doctor.status == Failure.Kind.inputOutput.rawValue)
        #expect(doctor.output.contains("failure  folders") && doctor.output.contains("for the backups"))
    }

    @Test("tables of PostgreSQL that are newer, older, or may not be made")
    func postgreSQL() async throws {
        let address = try await PostgreSQLCluster.shared().address()
        func doctor() async throws -> Finished {
            try await Command.run("doctor", "--offline", "--port", "0", "--database", address.text)
        }
        #expect(try await Command.run("keys", "list", "--database", address.text).status == 74)
        #expect(try await Command.run("keys", "create", "--scope", "read", "--database", address.text).status == 0)
        // The tables of the last step are missing, as in a database that an older version made.
        try await PostgreSQLStore.execute(
            "DROP TABLE home; DROP FUNCTION currentHome(); UPDATE billowSchema SET step = step - 1", at: address)
        for command in ["check", "keys"] {
            let arguments = command == "keys" ? ["keys", "list"] : [command]
            let run = try Command(arguments + ["--database", address.text])
            #expect(try await run.status() == 74)
            let words = try run.standardError
            #expect(words.contains("an older version of Billow made its tables") && words.contains("a server upgrades"))
        }
        let older = try await doctor()
        #expect(older.status == 0 && older.output.contains("warning  database"), "\(older)")
        #expect(older.output.contains("a server upgrades them when it starts"))
        let server = try await Server("--database", address.text)
        #expect(try await server.stop() == 0)
        #expect(try await Command.run("check", "--database", address.text).status == 0)

        try await PostgreSQLStore.execute("UPDATE billowSchema SET step = step + 1", at: address)
        let newer = try await refused(settings("", database: "'\(address.text)'"))
        #expect(newer.subjects == ["database"] && newer.words.contains("a newer version of Billow wrote it"))

        #expect(SetupChecks.incomplete(.missing, canCreate: true, "x")?.status == .ok)
        #expect(SetupChecks.incomplete(.missing, canCreate: false, "x")?.kind == .inputOutput)
        #expect(SetupChecks.incomplete(.older(step: 1, newest: 2), canCreate: false, "x")?.status == .failure)
        #expect(SetupChecks.incomplete(.current, canCreate: false, "x") == nil)
    }
}
