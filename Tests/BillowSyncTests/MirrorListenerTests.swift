import AsyncHTTPClient
import Datasets
import Synchronization
import TestSupport
import Testing
import UpstreamKit

@testable import BillowSync

/// A monotonic clock that a test advances. Sleeps end when it reaches their end.
final class SleepClock: Sendable {
    private struct State {
        var now = Duration.zero
        var next = 0
        var sleepers: [Int: (end: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
    }
    private let state = Mutex(State())

    var uptime: Duration { state.withLock { $0.now } }

    /// The rests of all sleeps.
    var sleeps: [Duration] { state.withLock { state in state.sleepers.values.map { $0.end - state.now }.sorted() } }

    func advance(by duration: Duration) {
        let ended = state.withLock { state in
            state.now += duration
            let ended = state.sleepers.filter { $0.value.end <= state.now }
            for id in ended.keys { state.sleepers[id] = nil }
            return ended.values.map(\.continuation)
        }
        for continuation in ended { continuation.resume() }
    }

    func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    guard !state.cancelled.contains(id) else { return true }
                    state.sleepers[id] = (state.now + duration, continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// What a listener reported.
private final class Signals: Sendable {
    private let all = Mutex<[UpstreamSignal]>([])

    func add(_ signal: UpstreamSignal) { all.withLock { $0.append(signal) } }
    var list: [UpstreamSignal] { all.withLock { $0 } }

    /// The ends of connections.
    var closed: [(error: UpstreamError, failures: Int, next: Duration)] {
        list.compactMap { signal in
            if case .closed(let error, let failures, let next) = signal { (error, failures, next) } else { nil }
        }
    }
}

/// A listener on a server of loopback, with a clock that the test advances.
@Suite("A mirror listens to its server", .timeLimit(.minutes(10)))
struct MirrorListenerTests {
    private static let key = "planted-key-4711"

    private static func head(_ type: String = "text/event-stream", _ status: String = "200 OK", _ more: String = "")
        -> String
    {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(more)Connection: close\r\n\r\n"
    }

    private func withListener(
        _ answer: ScriptedServer.Answer, port other: Int? = nil,
        _ test: @Sendable (Signals, SleepClock, ScriptedServer, Task<Void, Never>) async throws -> Void
    ) async throws {
        try await ScriptedServer.withRunning(answer) { server, port in
            let http = HTTPClient(configuration: MirrorListener.recommendedHTTPConfiguration)
            let (signals, clock) = (Signals(), SleepClock())
            do {
                let listener = try MirrorListener(
                    configuration: BillowConfiguration(
                        baseURL: "http://127.0.0.1:\(other ?? port)", apiKey: Secret(Self.key)),
                    datasets: Catalogue.mirrored, spacing: .seconds(30), httpClient: http, now: { 1_795_262_400 },
                    uptime: { clock.uptime }, random: { 0.5 }, sleep: { try await clock.sleep($0) })
                let task = Task { await listener.listen { signals.add($0) } }
                do { try await test(signals, clock, server, task) } catch {
                    task.cancel()
                    await task.value
                    throw error
                }
                task.cancel()
                await task.value
                for end in signals.closed { #expect(!"\(end.error)".contains("4711")) }
            } catch {
                try await http.shutdown()
                throw error
            }
            try await http.shutdown()
        }
    }

    @Test("each event about data is reported, others are not, and the next connection names the last id")
    func events() async throws {
        let text =
            "retry: 3000\n\nid: ab-0\nevent: data\ndata: {\"area\":\"all\"}\n\n"
            + "id: ab-1\nevent: fetching\ndata: {}\n\nid: ab-2\nevent: failed\ndata: {}\n\n: alive\n\n"
        try await withListener(.silence(after: Array((Self.head() + text).utf8))) { signals, clock, server, task in
            try await eventually("the events") { signals.list.count == 2 }
            #expect(signals.list == [.opened, .changed])
            let request = try #require(server.received.first)
            let ids = Catalogue.mirrored.map(\.id).joined(separator: ",")
            #expect(request.hasPrefix("GET /events?collections=\(ids) HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("x-api-key: \(Self.key)\r\n"))
            #expect(!request.lowercased().contains("last-event-id"))
            try await eventually("the watch") { clock.sleeps == [MirrorListener.silence] }
            // Silent for 45 s, which are three heartbeats of an older server.
            clock.advance(by: MirrorListener.silence)
            try await eventually("the end") { signals.list.count == 3 }
            #expect(signals.closed.map(\.error) == [.timeout] && signals.closed[0].next == .seconds(3))
            try await eventually("the pause") { clock.sleeps == [.seconds(3)] }
            clock.advance(by: .seconds(3))
            try await eventually("the next connection") { server.received.count == 2 }
            #expect(server.received[1].lowercased().contains("last-event-id: ab-2\r\n"))
        }
    }

    @Test("bytes that end no line are no sign of life", arguments: ["", ": alive\n\n"])
    func drip(_ text: String) async throws {
        try await withListener(.drip(after: Array((Self.head() + text).utf8))) { signals, clock, _, _ in
            try await eventually("the connection") { signals.list == [.opened] && clock.sleeps.count == 1 }
            clock.advance(by: MirrorListener.silence)
            try await eventually("the end") { signals.closed.map(\.error) == [.timeout] }
        }
    }

    @Test("a server that accepts the connection and says nothing is left after 45 s")
    func silence() async throws {
        try await withListener(.silence(after: [])) { signals, clock, server, _ in
            try await eventually("the request") { server.received.count == 1 && clock.sleeps.count == 1 }
            clock.advance(by: MirrorListener.silence)
            try await eventually("the end") { signals.list == [.closed(.timeout, failures: 1, next: .seconds(3))] }
        }
    }

    @Test("a connection that is refused again and again is tried less and less often")
    func refusedConnections() async throws {
        let refused = try SilentPort()
        try await withListener(.bytes([]), port: refused.number) { signals, clock, _, _ in
            for (number, seconds) in [3, 6, 12, 24, 48, 96, 192, 300, 300].enumerated() {
                try await eventually("connection \(number)") {
                    signals.closed.count == number + 1 && clock.sleeps == [.seconds(seconds)]
                }
                let last = try #require(signals.closed.last)
                #expect(last.error.code == .unreachable && last.failures == number + 1)
                #expect(last.next == .seconds(seconds))
                clock.advance(by: .seconds(seconds))
            }
            #expect(!signals.list.contains(.opened))
        }
        withExtendedLifetime(refused) {}
    }

    /// An answer that is no stream of events, the error, and the pause in seconds.
    private static let refusals: [(String, UpstreamError.Code, Int)] = [
        (head("text/html") + "<html>sign in</html>", .unreadable, 3),
        (head("application/json") + "{}", .unreadable, 3),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: 1\n\n", .unreadable, 3),
        ("not HTTP\r\n\r\n", .unreachable, 3),
        (head("text/plain", "401 No") + "the key \(key) is unknown", .unauthorized, 600),
        (head("text/plain", "403 No"), .disabled, 600),
        (head("text/plain", "404 None"), .queryRefused, 600),
        (head("text/plain", "400 No") + #"{"detail":"\#(key)"}"#, .queryRefused, 600),
        (head("text/plain", "429 Slow", "Retry-After: 1200\r\n"), .rateLimited, 1_200),
        (head("text/plain", "503 Full", "Retry-After: 5\r\n"), .upstreamError, 5),
        (head("text/plain", "302 Found", "Location: http://127.0.0.1:9/events\r\n"), .unexpectedStatus, 600),
        (head("text/event-stream", "204 None"), .unexpectedStatus, 600),
        (head() + String(repeating: "x", count: EventStreamParser.maximumBytes + 1), .tooLarge, 600),
        (head() + String(repeating: ": x\n", count: MirrorListener.maximumBytes / 4 + 1), .tooLarge, 600),
        (head("text/event-stream", "200 OK", "Content-Encoding: gzip\r\n") + "no gzip", .unreadable, 3),
        (head() + "data: 1\n\n", .unreachable, 3),
        (head("text/event-stream", "200 OK", "Content-Length: 100\r\n") + ": cut\n\n", .unreadable, 3),
    ]

    @Test("a response that is not an event stream is an error, and the next connection waits", arguments: refusals)
    private func refusal(_ answer: String, _ code: UpstreamError.Code, _ seconds: Int) async throws {
        try await withListener(.bytes(Array(answer.utf8))) { signals, clock, server, _ in
            try await eventually("the end") { signals.closed.count == 1 && clock.sleeps == [.seconds(seconds)] }
            let end = signals.closed[0]
            #expect(end.error.code == code, "\(end.error)")
            #expect(end.next == .seconds(seconds) && !signals.list.contains(.changed))
            #expect(server.received.count == 1)
        }
    }

    /// What a check finds: nothing where a line arrives.
    private static let checks: [(ScriptedServer.Answer, UpstreamError.Code?)] =
        [
            (.silence(after: Array((head() + "retry: 3000\n\n").utf8)), nil),
            (.silence(after: Array((head() + ": alive\n").utf8)), nil),
            (.bytes(Array((head() + "retry: 3000\n").utf8)), nil),
            // A proxy that buffers.
            (.silence(after: Array(head().utf8)), .timeout), (.silence(after: []), .timeout),
            (.drip(after: Array(head().utf8)), .timeout),
            (.bytes(Array(head().utf8)), .unreachable),
            (
                .bytes(Array((head("text/event-stream", "200 OK", "Content-Length: 9\r\n") + "re").utf8)),
                .unreadable
            ),
        ]
        + refusals.filter { !$0.0.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream") }.map {
            (.bytes(Array($0.0.utf8)), $0.1)
        }

    @Test("a check reads one line of the events, and throws what keeps them away", arguments: checks)
    private func check(_ answer: ScriptedServer.Answer, _ code: UpstreamError.Code?) async throws {
        try await ScriptedServer.withRunning(answer) { server, port in
            let http = HTTPClient(configuration: MirrorListener.recommendedHTTPConfiguration)
            var failure: UpstreamError?
            do {
                var configuration = BillowConfiguration(
                    baseURL: "http://127.0.0.1:\(port)", apiKey: Secret(Self.key))
                // Only answers that never get a line are waited for.
                configuration.timeout = code == .timeout ? .seconds(1) : .seconds(600)
                let listener = try MirrorListener(
                    configuration: configuration, datasets: Catalogue.mirrored, spacing: .seconds(30), httpClient: http)
                try await listener.check()
            } catch { failure = error as? UpstreamError }
            #expect(failure?.code == code, "\(String(describing: failure))")
            #expect(!"\(String(describing: failure))".contains("4711"))
            #expect(server.received.first?.lowercased().contains("x-api-key: \(Self.key)\r\n") == true)
            try await eventually("the connection's end") { server.connections == 0 }
            try await http.shutdown()
        }
    }

    @Test("a connection that lasted a minute ends the row of failures")
    func lasting() async throws {
        try await withListener(.bytes(Array(Self.head().utf8))) { signals, clock, server, _ in
            for seconds in [3, 6, 12] {
                try await eventually("a short connection") { clock.sleeps == [.seconds(seconds)] }
                if seconds == 12 { server.answers(.silence(after: Array(Self.head().utf8))) }
                clock.advance(by: .seconds(seconds))
            }
            try await eventually("a long connection") { signals.list.last == .opened && clock.sleeps.count == 1 }
            clock.advance(by: .seconds(30))
            server.say("event: data\ndata: 1\n\n")
            try await eventually("the event") { signals.list.last == .changed }
            // The silence after it is noticed 75 s after the start.
            try await eventually("the end") {
                clock.advance(by: .seconds(15))
                return signals.closed.count == 4
            }
            #expect(signals.closed[3].failures == 1 && signals.closed[3].error == .timeout)
        }
    }

    @Test("compressed events are read too")
    func gzip() async throws {
        let head = Self.head("text/event-stream; charset=utf-8", "200 OK", "Content-Encoding: gzip\r\n")
        try await withListener(.silence(after: Array(head.utf8) + Self.compressed)) { signals, _, _, _ in
            try await eventually("the event") { signals.list == [.opened, .changed] }
        }
    }

    /// Gzip of `event: data\ndata: {}\n\n`, flushed and without an end.
    private static let compressed: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4A, 0x2D, 0x4B, 0xCD, 0x2B, 0xB1,
        0x52, 0x48, 0x49, 0x2C, 0x49, 0xE4, 0x02, 0x11, 0x56, 0x0A, 0xD5, 0xB5, 0x5C, 0x5C, 0x00, 0x00,
        0x00, 0x00, 0xFF, 0xFF,
    ]

    @Test("cancelled, it closes its connection at once", arguments: [true, false])
    func cancellation(isOpen: Bool) async throws {
        try await withListener(.silence(after: isOpen ? Array((Self.head() + ": alive\n\n").utf8) : [])) {
            signals, _, server, task in
            try await eventually("the connection") {
                server.received.count == 1 && server.connections == 1 && signals.list.contains(.opened) == isOpen
            }
            task.cancel()
            await task.value
            try await eventually("its end") { server.connections == 0 }
            #expect(signals.closed.isEmpty)
        }
    }
}
