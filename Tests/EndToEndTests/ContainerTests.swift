import Foundation
import TestSupport
import Testing

@testable import billow

@Suite("The container") struct ContainerTests {
    @Test("hadolint finds nothing wrong with the Dockerfile")
    func dockerfile() async throws {
        let lint = try await Command.run(
            Repository.folder.appending(path: "Dockerfile").path,
            executable: Repository.folder.appending(path: ".build/oracles/bin/hadolint"))
        #expect(lint.status == 0, "\(lint.output)\(lint.errors)")
    }

    /// A server that listens at 127.0.0.1, as billow.example.yaml says, is healthy and can't be reached from outside.
    @Test(
        "the variables of docker-compose.yml are those of settings; servers listen where the ports lead",
        arguments: ["real", "server"])
    func compose(_ service: String) throws {
        let file = try String(contentsOf: Repository.folder.appending(path: "docker-compose.yml"), encoding: .utf8)
        let parts = file.components(separatedBy: "\n  \(service):\n")
        let section = try #require(parts.dropFirst().first?.components(separatedBy: "\n\n").first)
        var environment: [String: String] = [:]
        for match in section.matches(of: /\n      - ([A-Z_]+)(?:=(.*))?/) {
            environment[String(match.1)] = match.2.map(String.init) ?? "secret"
        }
        let example = try String(contentsOf: Repository.folder.appending(path: "billow.example.yaml"), encoding: .utf8)
        let settings = try Settings.read(
            yaml: example, file: "billow.yaml", environment: environment, overrides: SettingsOverrides())
        #expect(settings.server.host == "0.0.0.0")
        #expect(settings.server.port == 8080)
        #expect(settings.server.trustedProxies.count == (service == "server" ? 1 : 0))
    }
}
