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

        @Test("alerts are raised for what is wrong, and not for a layer that no source feeds")
        func alerts() async throws {
            let folder = try TemporaryFolder()
            let file = folder.path("alerts.test.yml")
            try """
            rule_files: ['\(Repository.folder.appending(path: "docs/operating/alerts.yml").path)']
            evaluation_interval: 1m
            tests:
              - interval: 1m
                input_series:
                  - { series: 'up{job="billow", instance="a"}', values: '1x20' }
                  - { series: 'billow_layer_stale{job="billow", instance="a", layer="pireps"}', values: '1x20' }
                  - { series: 'billow_layer_data_age_seconds{job="billow", instance="a", layer="pireps"}',
                      values: '600+60x20' }
                  - { series: 'billow_layer_stale{job="billow", instance="a", layer="gtg"}', values: '1x20' }
                  - { series: 'billow_source_consecutive_failures{job="billow", instance="a", source="noaa"}',
                      values: '0+1x20' }
                  - { series: 'billow_work_refused_total{job="billow", instance="a", class="tiles"}',
                      values: '0+60x20' }
                  - { series: 'billow_work_refused_total{job="billow", instance="a", class="maps"}', values: '7x20' }
                  - { series: 'billow_store_free_bytes{job="billow", instance="a"}', values: '90e9-2e9x20' }
                  - { series: 'billow_sync_leader{job="fleet", instance="b"}', values: '0x20' }
                  - { series: 'billow_sync_leader{job="fleet", instance="c"}', values: '0x20' }
                promql_expr_test:
                  - expr: count by (alertname, layer, source, class, job) (ALERTS{alertstate="firing"})
                    eval_time: 20m
                    exp_samples:
                      - { labels: '{alertname="BillowLayerStale", job="billow", layer="pireps"}', value: 1 }
                      - { labels: '{alertname="BillowSourceFailing", job="billow", source="noaa"}', value: 1 }
                      - { labels: '{alertname="BillowQueueRefusing", job="billow", class="tiles"}', value: 1 }
                      - { labels: '{alertname="BillowDiskFilling", job="billow"}', value: 1 }
                      - { labels: '{alertname="BillowSyncLeader", job="fleet"}', value: 1 }

            """.write(toFile: file, atomically: true, encoding: .utf8)
            let check = try await Command.run("test", "rules", file, executable: URL(filePath: Self.promtool))
            #expect(check.status == 0, "\(check.output)\(check.errors)")
        }
    }
#endif
