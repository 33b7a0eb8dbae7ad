import BillowStore
import CoreMetrics
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

/// A strict reader of Prometheus' text format: whatever the format doesn't allow is an error.
///
/// Source: Prometheus documentation, "Exposition formats", text-based format 0.0.4
private struct ParsedExposition {
    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    struct Sample {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Family {
        var kind: String
        var samples: [Sample] = []
    }

    private(set) var families: [String: Family] = [:]

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Malformed(description: "the last line has no end") }
        var current: String?
        var helped: String?
        var seen: Set<String> = []
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let help = line.wholeMatch(of: /# HELP ([a-z_][a-z0-9_]*) (.+)/) {
                let name = String(help.1)
                guard families[name] == nil, helped != name else { throw Malformed(description: "twice: \(line)") }
                helped = name
            } else if let type = line.wholeMatch(of: /# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram)/) {
                let name = String(type.1)
                guard helped == name else { throw Malformed(description: "TYPE without HELP before it: \(line)") }
                families[name] = Family(kind: String(type.2))
                current = name
            } else {
                guard let current, let kind = families[current]?.kind else {
                    throw Malformed(description: "a sample before its TYPE: \(line)")
                }
                let sample = try Self.sample(String(line))
                let endings = kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                guard endings.contains(where: { sample.name == current + $0 }) else {
                    throw Malformed(description: "\(sample.name) stands in the family \(current)")
                }
                let pairs = sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
                guard seen.insert("\(sample.name) \(pairs)").inserted else {
                    throw Malformed(description: "a series stands twice: \(line)")
                }
                families[current]?.samples.append(sample)
            }
        }
        for (name, family) in families {
            guard !family.samples.isEmpty else { throw Malformed(description: "\(name) has no sample") }
            if family.kind == "counter", !name.hasSuffix("_total") {
                throw Malformed(description: "the counter \(name) doesn't end in _total")
            }
            if family.kind == "histogram" { try Self.check(name, family) }
            if family.kind != "gauge", family.samples.contains(where: { $0.value < 0 || $0.value.isNaN }) {
                throw Malformed(description: "\(name) is below zero")
            }
        }
    }

    private static func sample(_ line: String) throws -> Sample {
        guard let match = line.wholeMatch(of: /([a-z_][a-z0-9_]*)(?:\{(.*)\})? ([-+0-9.eEInfNa]+)/),
            let value = Double(match.3 == "+Inf" ? "inf" : String(match.3))
        else { throw Malformed(description: "no sample: \(line)") }
        var labels: [String: String] = [:]
        var rest = (match.2 ?? "")[...]
        while !rest.isEmpty {
            guard let pair = rest.prefixMatch(of: /([a-z_][a-z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/) else {
                throw Malformed(description: "no labels: \(rest)")
            }
            guard labels.updateValue(String(pair.2), forKey: String(pair.1)) == nil else {
                throw Malformed(description: "a label stands twice: \(line)")
            }
            rest = rest[pair.range.upperBound...]
        }
        return Sample(name: String(match.1), labels: labels, value: value)
    }

    /// Buckets rise to `+Inf`, which is the count.
    private static func check(_ name: String, _ family: Family) throws {
        let groups = Dictionary(grouping: family.samples) { sample in
            sample.labels.filter { $0.key != "le" }.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined()
        }
        for samples in groups.values {
            let buckets = samples.filter { $0.name == name + "_bucket" }
            let bounds = buckets.map { bucket in
                let text = bucket.labels["le"] ?? ""
                return Double(text == "+Inf" ? "inf" : text) ?? .nan
            }
            guard bounds.last == .infinity, zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }),
                zip(buckets, buckets.dropFirst()).allSatisfy({ $0.value <= $1.value }),
                samples.filter({ $0.name == name + "_count" }).map(\.value) == [buckets.last?.value ?? -1],
                samples.count(where: { $0.name == name + "_sum" }) == 1
            else { throw Malformed(description: "the buckets of \(name) don't rise to their count") }
        }
    }

    /// The value of a series; nil where there is none.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.values.flatMap(\.samples).first { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }?.value
    }

    func values(of label: String, in name: String) -> Set<String> {
        Set((families[name]?.samples ?? []).compactMap { $0.labels[label] })
    }
}

@Suite("Metrics")
struct MetricsTests {
    private static func scrape(_ world: World, _ key: String) async throws -> ParsedExposition {
        let answer = try await world.get("/metrics", [.apiKey: key])
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        return try ParsedExposition(answer.text)
    }

    @Test("an exposition is well formed, every family is described, and it counts what was answered")
    func exposition() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let key = try await world.key(.admin).text
            let place = PixelPlace(H3.center(of: try cell(10, 50)), zoom: 6)
            for _ in 0..<3 { _ = try await world.get(place.path()) }
            _ = try await world.get("/tiles/hexagons/latest/0/0/0.mvt")
            _ = try await world.get("/tiles/hexagons/latest/99/0/0.png")
            _ = try await world.get("/nothing/here")
            let metrics = try await Self.scrape(world, key)
            let described = Dictionary(
                MetricDescription.all.map { ($0.name, $0.kind.rawValue) }, uniquingKeysWith: { first, _ in first })
            #expect(described.count == MetricDescription.all.count)
            for (name, family) in metrics.families { #expect(described[name] == family.kind, "\(name)") }
            for metric in MetricDescription.all {
                #expect(metric.help.split(separator: " ").count <= 20 && metric.help.hasSuffix("."), "\(metric.name)")
                #expect(metric.name.contains("_total") == (metric.kind == .counter), "\(metric.name)")
            }
            let tiles = ["method": "GET", "route": "/tiles/{layers}/{time}/{z}/{x}/{y}"]
            let total = "billow_http_requests_total"
            #expect(metrics.value(total, tiles.merging(["status": "2xx"]) { $1 }) == 4)
            #expect(metrics.value(total, tiles.merging(["status": "4xx"]) { $1 }) == 1)
            #expect(metrics.value(total, ["route": "none", "status": "4xx"]) == 1)
            #expect(metrics.value("billow_http_request_duration_seconds_count", tiles) == 5)
            let drawn = ["format": "png", "layer": "hexagons", "zoom": "6"]
            #expect(metrics.value("billow_render_duration_seconds_count", drawn) == 1)
            #expect(metrics.value("billow_cache_hits_total", ["cache": "tiles"]) == 2)
            #expect(metrics.value("billow_cache_misses_total", ["cache": "tiles"]) == 1)
            #expect(metrics.value("billow_live_observations") == 1)
            // A row has 28 bytes. The index of chunks is larger here.
            #expect(metrics.value("billow_memory_bytes", ["part": "live"]) ?? 0 >= 28)
            #expect(metrics.value("billow_memory_bytes", ["part": "caches"]) ?? 0 > 0)
            #expect(metrics.value("billow_memory_bytes", ["part": "responses"]) == 0)
            let parts = metrics.values(of: "part", in: "billow_memory_bytes")
            #expect(parts == ["live", "caches", "sprites", "responses"])
            #expect(metrics.value("billow_publications_total") ?? 0 >= 2)
            #expect(metrics.value("billow_store_rows", ["table": "observation"]) == 1)
            #expect(metrics.value("billow_store_bytes", ["file": "main"]) ?? 0 > 0)
            #expect(metrics.value("billow_store_free_bytes") ?? 0 > 0)
            #expect(metrics.value("billow_layer_stale", ["layer": "hexagons"]) == 1)
            #expect(metrics.values(of: "class", in: "billow_work_waiting") == Set(WorkClass.allCases.map(\.rawValue)))
            #if os(Linux)
                #expect(metrics.value("process_resident_memory_bytes") ?? 0 > 1e6)
            #endif
            // A second scrape sees the first.
            let again = try await Self.scrape(world, key)
            #expect(again.value(total, ["route": "/metrics", "status": "2xx"]) == 1)
        }
    }

    @Test("metrics need a key of scope admin, and take it as a bearer's token")
    func access() async throws {
        try await withWorld { world in
            let admin = try await world.key(.admin).text
            let reader = try await world.key([.read, .ingest]).text
            #expect(try await world.get("/metrics").status == .unauthorized)
            #expect(try await world.get("/metrics", [.apiKey: reader]).status == .forbidden)
            #expect(try await world.get("/metrics", [.authorization: "Bearer \(reader)"]).status == .forbidden)
            #expect(try await world.get("/metrics", [.authorization: "Bearer nonsense"]).status == .unauthorized)
            #expect(try await world.get("/metrics", [.authorization: "Basic \(admin)"]).status == .unauthorized)
            let answer = try await world.get("/metrics", [.authorization: "Bearer \(admin)"])
            #expect(answer.status == .ok && answer.headers[.cacheControl] == "no-store")
            // Only here: elsewhere the header means nothing.
            #expect(try await world.get("/admin/sources", [.authorization: "Bearer \(admin)"]).status == .unauthorized)
        }
    }

    @Test("no label has a value that a client chose, and no answer makes a series of its own")
    func cardinality() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let admin = try await world.key(.admin).text
            let ingest = try await world.key(.ingest).text
            let planted = "planted7d1f"
            let body = """
                {"id": "x", "longitude": 10, "latitude": 50, "altitude": 38000, "severity": 1, "source": "\(planted)",
                 "observedAt": "\(noon.description)"}
                """
            #expect(try await world.send(.post, "/observations", body, key: ingest).status == .ok)
            try await world.refresh()
            for number in 0..<20 {
                for path in [
                    "/\(planted)\(number)", "/tiles/\(planted)\(number)/latest/0/0/0.png",
                    "/tiles/hexagons/latest/\(number % 3)/0/0.png?source=\(planted)\(number)",
                    "/collections/\(planted)\(number)/items", "/styles/\(planted)\(number).json",
                ] { _ = try await world.get(path, [.userAgent: planted]) }
                _ = try await world.get(
                    "/status", method: try #require(HTTPRequest.Method(rawValue: "PLANTED\(number)")))
            }
            let answer = try await world.get("/metrics", [.apiKey: admin])
            #expect(!answer.text.lowercased().contains(planted) && !answer.text.contains("PLANTED"))
            for key in [admin, ingest] { #expect(!answer.text.contains(key)) }
            let metrics = try ParsedExposition(answer.text)
            let methods = metrics.values(of: "method", in: "billow_http_requests_total")
            #expect(methods.isSubset(of: ["GET", "POST", "other"]), "\(methods)")
            let routes = Set(world.application.router().routes.map { "\($0.path)" })
            let counted = metrics.values(of: "route", in: "billow_http_requests_total")
            #expect(counted.subtracting(routes).isSubset(of: ["none", "files"]), "\(counted.subtracting(routes))")
        }
    }

    @Test("queues that refuse, sources that fail and files are counted")
    func others() async throws {
        let work = WorkExecutor(limits: [.map: WorkLimits(threads: 1, jobs: 1, queue: 0, niceness: 0)])
        try await withWorld(configured: ["skypath"], work: work) { world in
            let key = try await world.key(.admin).text
            let gate = AsyncStream<Void>.makeStream()
            let started = AsyncStream<Void>.makeStream()
            let job = Task {
                try await work.run(.map) {
                    started.continuation.finish()
                    for await _ in gate.stream {}
                }
            }
            for await _ in started.stream {}
            #expect(try await world.get("/maps/hexagons.png?width=64").status == .serviceUnavailable)
            _ = try await world.get("/viewer.js")
            let metrics = try await Self.scrape(world, key)
            #expect(metrics.value("billow_work_refused_total", ["class": "map"]) == 1)
            #expect(metrics.value("billow_work_running", ["class": "map"]) == 1)
            #expect(metrics.value("billow_work_queue_limit", ["class": "map"]) == 0)
            #expect(metrics.value("billow_http_requests_total", ["route": "/maps/{layers}", "status": "5xx"]) == 1)
            #expect(metrics.value("billow_http_requests_total", ["route": "files", "status": "2xx"]) == 1)
            gate.continuation.finish()
            try await job.value
        }
    }

    @Test("a histogram counts up to and with its bounds, and whole numbers have no fraction")
    func histogram() throws {
        let registry = MetricRegistry()
        let histogram = registry.histogram(.requestDuration, ["GET", "/a"])
        for milliseconds in [0, 1, 2, 5, 20_000] as [Int64] { histogram.recordNanoseconds(milliseconds * 1_000_000) }
        var exposition = Exposition()
        exposition.add(.requestDuration, from: registry)
        exposition.add(.version, 12_345_678)
        exposition.add(.layerStale, [(labels: ["a \"b\" \\ \n c"], value: 0.5)])
        let metrics = try ParsedExposition(exposition.text)
        let name = "billow_http_request_duration_seconds"
        #expect(metrics.value(name + "_bucket", ["le": "0.001"]) == 2)
        #expect(metrics.value(name + "_bucket", ["le": "0.005"]) == 4)
        #expect(metrics.value(name + "_bucket", ["le": "10"]) == 4)
        #expect(metrics.value(name + "_count") == 5)
        #expect(metrics.value(name + "_sum") == 20.008)
        #expect(exposition.text.contains("\nbillow_version 12345678\n"))
        #expect(exposition.text.contains(#"billow_layer_stale{layer="a \"b\" \\ \n c"} 0.5"#))
    }

    @Test("libraries count through swift-metrics what is described, and nothing else")
    func factory() {
        let registry = MetricRegistry()
        let labels = [("status", "2xx"), ("route", "/a"), ("method", "GET")]
        Counter(label: "billow_http_requests_total", dimensions: labels, factory: registry).increment(by: 3)
        Counter(label: "billow_http_requests_total", dimensions: labels, factory: registry).increment()
        CoreMetrics.Timer(
            label: "billow_http_request_duration_seconds", dimensions: labels, preferredDisplayUnit: .seconds,
            factory: registry
        ).recordSeconds(2)
        Counter(label: "anything_else", dimensions: [("client", "chosen")], factory: registry).increment()
        #expect(registry.counter(.requests, ["GET", "/a", "2xx"]).count == 4)
        #expect(registry.histogram(.requestDuration, ["GET", "/a"]).cumulative.seconds == 2)
        var exposition = Exposition()
        for metric in MetricDescription.all where metric.kind != .gauge { exposition.add(metric, from: registry) }
        #expect(!exposition.text.contains("chosen") && !exposition.text.contains("anything"))
    }

    @Test("the dashboard and the alert rules name metrics and labels that there are")
    func documents() throws {
        let folder = World.repository.appending(path: "docs/operating")
        let dashboard = try Data(contentsOf: folder.appending(path: "dashboard.json"))
        _ = try JSONSerialization.jsonObject(with: dashboard)
        let rules = try String(contentsOf: folder.appending(path: "alerts.yml"), encoding: .utf8)
        let names = Set(
            MetricDescription.all.flatMap { metric in
                metric.kind == .histogram
                    ? ["_bucket", "_sum", "_count"].map { metric.name + $0 } : [metric.name]
            })
        let text = String(decoding: dashboard, as: UTF8.self) + rules
        let used = Set(text.matches(of: /\b((?:billow|process)_[a-z_]+)\b/).map { String($0.1) })
        #expect(used.count > 20)
        #expect(used.subtracting(names) == [])
        let known = Set(MetricDescription.all.flatMap(\.labels)).union(["job", "instance", "le"])
        for match in text.matches(of: /\{\{ ?(?:\$labels\.)?([a-z]+) ?\}\}/) {
            #expect(known.contains(String(match.1)), "\(match.1)")
        }
        for match in text.matches(of: /by ?\(([a-z, ]+)\)/) {
            for label in match.1.replacing(" ", with: "").split(separator: ",") {
                #expect(known.contains(String(label)), "\(label)")
            }
        }
    }
}
