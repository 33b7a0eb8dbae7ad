import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Prometheus' own tool reads what a server and the documents give it.
    @Suite("Prometheus", .timeLimit(.minutes(10)))
    struct PrometheusTests {
        private static let promtool = "/usr/bin/promtool"

        @Test("promtool finds nothing wrong with the metrics of a running server")
        func metrics() async throws {
            let folder = try TemporaryFolder()
            let database = folder.path("x.sqlite")
            let created = try await Command.run("keys", "create", "--scope", "admin", "--database", database)
            let key = created.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let server = try await Server("--database", database)
            for path in ["/tiles/hexagons/latest/1/0/0.png", "/nothing", "/collections/hexagons/items"] {
                _ = try await server.get(path)
            }
            let metrics = try await server.get("/metrics", ["X-API-Key": key])
            #expect(metrics.status == 200 && metrics.text.contains("billow_http_requests_total"))
            let check = try await Command.run(
                "check", "metrics", input: metrics.text, executable: URL(filePath: Self.promtool))
            #expect(check.status == 0, "\(check.output)\(check.errors)")
            #expect(try await server.stop() == 0)
        }

        @Test("promtool accepts the alert rules")
        func rules() async throws {
            let rules = Repository.folder.appending(path: "docs/operating/alerts.yml").path
            let check = try await Command.run("check", "rules", rules, executable: URL(filePath: Self.promtool))
            #expect(check.status == 0, "\(check.output)\(check.errors)")
            #expect((check.output + check.errors).contains("rules found"))
        }
    }
#endif
