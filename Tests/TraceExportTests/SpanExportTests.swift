import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import TraceExport

/// The part of a document that tests look at.
private struct Document: Decodable {
    struct Attribute: Decodable {
        struct Value: Decodable {
            var stringValue: String?
            var intValue: String?
            var doubleValue: Double?
            var boolValue: Bool?
        }

        var key: String
        var value: Value
    }

    struct Event: Decodable {
        var name: String
        var attributes: [Attribute]
    }

    struct Status: Decodable { var code: Int }

    struct Span: Decodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var name: String
        var kind: Int
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [Attribute]
        var events: [Event]?
        var status: Status?

        subscript(name: String) -> Attribute.Value? { attributes.first { $0.key == name }?.value }
    }

    struct Resource: Decodable { var attributes: [Attribute] }
    struct ScopeSpans: Decodable { var spans: [Span] }
    struct ResourceSpans: Decodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }

    var resourceSpans: [ResourceSpans]

    var spans: [Span] { resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans) }
}

@Suite("The export of spans") struct SpanExportTests {
    private struct Failure: Error, CustomStringConvertible { var description: String }

    /// A folder that goes with its test.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "billow-spans-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private let folder: Folder
    private var file: String { folder.url.appending(path: "spans.jsonl").path }

    init() throws { folder = try Folder() }

    private func exporter(_ queue: SpanQueue, to destination: SpanDestination) -> SpanExporter {
        SpanExporter(
            queue, to: destination, version: "1.2.3", instance: "one",
            redact: { $0.replacing("hidden", with: "[secret]") }, logger: Logger(label: "test"))
    }

    /// Runs an exporter whose group shuts down at once, so that it exports what waits.
    private func export(_ queue: SpanQueue, to destination: SpanDestination) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [exporter(queue, to: destination)], logger: Logger(label: "test")))
        await group.triggerGracefulShutdown()
        try await group.run()
    }

    private func spans() throws -> [Document.Span] {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return try text.split(separator: "\n").flatMap {
            try JSONDecoder().decode(Document.self, from: Data($0.utf8)).spans
        }
    }

    @Test("a span has its parent, kind, times, attributes and error, and no secret")
    func file() async throws {
        let queue = SpanQueue()
        let recorder = SpanRecorder(queue)
        let outer = recorder.startSpan("outer", context: .topLevel, ofKind: .server)
        outer.attributes["a.number"] = 7
        outer.attributes["a.flag"] = true
        outer.attributes["a.half"] = 0.5
        outer.attributes["a.text"] = "is hidden here"
        for withheld in ["url.full", "url.path", "url.query"] { outer.attributes[withheld] = "/a?key=planted" }
        let inner = recorder.startSpan("inner", context: outer.context)
        inner.recordError(Failure(description: "a hidden reason"))
        inner.setStatus(SpanStatus(code: .error))
        inner.end()
        inner.end()
        outer.operationName = "GET /tiles"
        outer.end()
        try await export(queue, to: .file(file))
        let all = try spans()
        try #require(all.map(\.name) == ["inner", "GET /tiles"])
        #expect(all[0].traceId == all[1].traceId && all[1].traceId.count == 32 && all[1].spanId.count == 16)
        #expect(all[0].parentSpanId == all[1].spanId && all[1].parentSpanId == nil)
        #expect(all.map(\.kind) == [1, 2] && all.map { $0.status?.code } == [2, nil])
        let times = try all.map {
            (try #require(UInt64($0.startTimeUnixNano)), try #require(UInt64($0.endTimeUnixNano)))
        }
        #expect(times[1].0 <= times[0].0 && times[0].0 <= times[0].1 && times[0].1 <= times[1].1)
        #expect(all[1]["a.number"]?.intValue == "7" && all[1]["a.flag"]?.boolValue == true)
        #expect(all[1]["a.half"]?.doubleValue == 0.5 && all[1]["a.text"]?.stringValue == "is [secret] here")
        let event = try #require(all[0].events?.first)
        #expect(event.name == "exception" && event.attributes.contains { $0.value.stringValue == "a [secret] reason" })
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("hidden") && !text.contains("planted"))
        #expect(text.contains("\"service.name\"") && text.contains("\"1.2.3\""))
        #expect((try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int) == 0o600)
    }

    private struct Header: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    @Test("the flag of traceparent decides, and without it the share of requests; other work is recorded")
    func sampling() {
        func recorded(_ parent: String?, share: Double, _ kind: SpanKind) -> Bool {
            let recorder = SpanRecorder(SpanQueue(), share: share)
            var context = InstrumentationContext.topLevel
            recorder.extract(parent.map { ["traceparent": $0] } ?? [:], into: &context, using: Header())
            return recorder.startSpan("a", context: context, ofKind: kind).isRecording
        }
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"
        #expect(recorded(parent + "1", share: 0, .server) && !recorded(parent + "0", share: 1, .server))
        #expect(recorded(nil, share: 1, .server) && !recorded(nil, share: 0, .server))
        #expect(recorded(nil, share: 0, .internal) && recorded("nonsense", share: 1, .server))
    }

    @Test("a request to another service names its span, but not where the service has no part in the trace")
    func propagation() throws {
        let recorder = SpanRecorder(SpanQueue())
        let span = recorder.startSpan("a", context: .topLevel)
        var headers: [String: String] = [:]
        recorder.withoutPropagation.inject(span.context, into: &headers, using: Header())
        #expect(headers.isEmpty)
        recorder.inject(span.context, into: &headers, using: Header())
        let sent = try #require(headers["traceparent"].flatMap { TraceContext(header: $0) })
        #expect(sent == span.context.trace)
    }

    @Test("a full queue keeps the oldest spans, and holds no more")
    func fullQueue() {
        let queue = SpanQueue(limit: 3)
        let recorder = SpanRecorder(queue)
        for number in 0..<5 { recorder.startSpan("\(number)", context: .topLevel).end() }
        #expect(queue.take(2).map(\.name) == ["0", "1"])
        #expect(queue.take(9).map(\.name) == ["2"] && queue.take(9).isEmpty)
    }

    @Test("a span has at most 32 attributes and 8 events, and its texts are cut")
    func bounds() async throws {
        let queue = SpanQueue()
        let span = SpanRecorder(queue).startSpan("a", context: .topLevel)
        for number in 0..<100 {
            span.attributes["a\(number)"] = String(repeating: "x", count: 10_000)
            span.addEvent(SpanEvent(name: "b\(number)"))
        }
        span.end()
        try await export(queue, to: .file(file))
        let exported = try #require(try spans().first)
        #expect(exported.attributes.count == 32 && exported.events?.count == 8)
        #expect(exported.attributes.allSatisfy { $0.value.stringValue?.count == 500 })
    }

    @Test("a full file is renamed and replaces the one before")
    func rotation() async throws {
        for number in 0..<4 {
            let queue = SpanQueue()
            SpanRecorder(queue).startSpan("\(number)", context: .topLevel).end()
            try await export(queue, to: .file(file, limit: 100))
        }
        #expect(try spans().map(\.name) == ["3"])
        let old = try String(contentsOfFile: file + ".1", encoding: .utf8)
        #expect(old.contains("\"name\":\"2\"") && !old.contains("\"name\":\"1\""))
    }

    @Test("a collector gets documents as application/json; after one that it refuses, it gets the next")
    func collector() async throws {
        let bodies = Mutex<[String]>([])
        let port = Mutex<Int?>(nil)
        let router = Router()
        router.post("/v1/traces") { request, _ -> Response in
            guard request.headers[.contentType] == "application/json" else { return Response(status: .badRequest) }
            let body = try await request.body.collect(upTo: 1 << 20)
            let count = bodies.withLock { bodies in
                bodies.append(String(buffer: body))
                return bodies.count
            }
            return Response(status: count == 1 ? .serviceUnavailable : .ok)
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.withLock { $0 = channel.localAddress?.port } },
            logger: Logger(label: "test"))
        let server = Task { try await application.run() }
        defer { server.cancel() }
        try await eventually("the collector listens") { port.withLock { $0 != nil } }
        let address = "http://127.0.0.1:\(try #require(port.withLock { $0 }))/v1/traces"
        let queue = SpanQueue()
        let recorder = SpanRecorder(queue)
        let exporter = exporter(queue, to: .collector(at: address))
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [exporter], logger: Logger(label: "test")))
        let running = Task { try await group.run() }
        recorder.startSpan("refused", context: .topLevel).end()
        try await eventually("the first document") { bodies.withLock { $0.count == 1 } }
        recorder.startSpan("taken", context: .topLevel).end()
        try await eventually("the second document") { bodies.withLock { $0.count == 2 } }
        await group.triggerGracefulShutdown()
        try await running.value
        let documents = try bodies.withLock { $0 }.map { try JSONDecoder().decode(Document.self, from: Data($0.utf8)) }
        #expect(documents.map { $0.spans.map(\.name) } == [["refused"], ["taken"]])
    }
}
