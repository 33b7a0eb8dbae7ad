import AsyncHTTPClient
import BillowStore
import Foundation
import Geometry
import Logging
import OpenSky
import TestSupport
import Testing
import Turbulence
import UpstreamKit

@testable import BillowSync

/// What can go wrong on the wire, over real sockets. The state says what, stored data is still served, and the next
/// good answer ends it.
@Suite("Every fault of the wire")
struct WireFaultTests {
    /// A source of traffic whose upstream is a server of ours.
    private struct Line: Sendable {
        let server: ScriptedServer
        let store: SQLiteStore
        let clock: ManualClock
        let loop: SourceLoop
        let states: SourceStates

        func state() throws -> SourceState { try states.all.first.orMissing() }
        func positions() async throws -> [AircraftPosition] {
            try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil)
        }
    }

    private static func loop(
        at baseURL: String, _ store: SQLiteStore, _ clock: ManualClock, _ http: HTTPClient, timeout: Duration
    ) throws -> (loop: SourceLoop, states: SourceStates) {
        var configuration = OpenSkyConfiguration(baseURL: baseURL, allowsPlainHTTP: true)
        configuration.timeout = timeout
        let upstream = OpenSkyUpstream(
            id: try SourceID("opensky").orMissing(),
            client: try OpenSkyClient(configuration: configuration, httpClient: http, now: { clock.seconds1970 }),
            simulated: nil, store: store, retentionSeconds: 86_400)
        let states = SourceStates()
        let loop = SourceLoop(
            upstream: upstream, update: .fast, states: states, now: { clock.now }, random: { 0.5 },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        return (loop, states)
    }

    private func withLine(timeout: Duration = .seconds(60), _ test: @Sendable (Line) async throws -> Void) async throws
    {
        let clock = ManualClock()
        let store = try await SQLiteStore.temporary()
        let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
        do {
            try await ScriptedServer.withRunning(.bytes(Self.good(clock))) { server, port in
                let (loop, states) = try Self.loop(at: "http://127.0.0.1:\(port)", store, clock, http, timeout: timeout)
                try await test(Line(server: server, store: store, clock: clock, loop: loop, states: states))
            }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    // MARK: - Answers

    private static func answer(
        _ status: String = "200 OK", _ headers: [String] = ["Content-Type: application/json"], _ body: String = ""
    ) -> [UInt8] {
        let head = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "Connection: close"]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private static func row(_ address: String, at seconds: String, longitude: String = "8.5") -> String {
        "[\"\(address)\",\"DLH1    \",\"Germany\",\(seconds),\(seconds),\(longitude),50.1,10000.0,false,"
            + "220.0,90.0,0.0,null,10100.0,\"1000\",false,0]"
    }

    private static func states(_ clock: ManualClock, _ rows: [String]) -> String {
        "{\"time\":\(clock.seconds1970),\"states\":[\(rows.joined(separator: ","))]}"
    }

    private static func good(_ clock: ManualClock) -> [UInt8] {
        answer(
            "200 OK", ["Content-Type: application/json"],
            states(clock, [row("3c6444", at: "\(clock.seconds1970)"), row("3c6445", at: "\(clock.seconds1970 - 3)")]))
    }

    private static let head = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n".utf8)

    /// A fault, and how the state reports it.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: ScriptedServer.Answer
        var code: String
        var isReachable = true
        /// Seconds until the next attempt, at an interval of 60.
        var delay = 60
        /// Short where the answer never comes, and long enough for good ones on a busy machine.
        var timeout: Duration { SyncError.Code(rawValue: code) == .upstream(.timeout) ? .seconds(3) : .seconds(60) }
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "no first byte", answer: .silence(after: []), code: "timeout", isReachable: false),
        Case(
            name: "half a head", answer: .silence(after: Array("HTTP/1.1 200".utf8)), code: "timeout",
            isReachable: false),
        Case(name: "silence after the head", answer: .silence(after: head), code: "timeout", isReachable: false),
        Case(
            name: "silence in the body", answer: .silence(after: head + Array("{\"time\":".utf8)), code: "timeout",
            isReachable: false),
        Case(name: "a byte now and then", answer: .drip(after: head), code: "timeout", isReachable: false),
        Case(name: "closed before an answer", answer: .bytes([]), code: "unreachable", isReachable: false),
        Case(name: "cut off", answer: .bytes(head + Array("{\"time\":17".utf8)), code: "unreadable"),
        Case(
            name: "half a document", answer: .bytes(answer("200 OK", [], "{\"time\":17,\"states\":[[\"3c6444\"")),
            code: "unreadable"),
        Case(name: "no document", answer: .bytes(answer("200 OK", [], "")), code: "unreadable"),
        Case(
            name: "rows none of which can be used",
            answer: .bytes(answer("200 OK", [], "{\"time\":17,\"states\":[[null,null],7,\"row\"]}")), code: "unreadable"
        ),
        Case(name: "another document", answer: .bytes(answer("200 OK", [], "[1,2,3]")), code: "unreadable"),
        Case(name: "NaN", answer: .bytes(answer("200 OK", [], "{\"time\":NaN,\"states\":[]}")), code: "unreadable"),
        Case(
            name: "a sign-in page",
            answer: .bytes(answer("200 OK", ["Content-Type: text/html"], "<!doctype html><p>Sign in</p>")),
            code: "unreadable"),
        Case(
            name: "200 MB announced",
            answer: .silence(after: Array("HTTP/1.1 200 OK\r\nContent-Length: 209715200\r\n\r\n".utf8)),
            code: "too-large"),
        Case(
            name: "compressed without a request for it",
            answer: .bytes(answer("200 OK", ["Content-Encoding: gzip"], "\u{1F}\u{8}\u{8}")), code: "unreadable"),
        Case(
            name: "no HTTP", answer: .bytes(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)), code: "unreachable",
            isReachable: false),
        Case(name: "403", answer: .bytes(answer("403 Forbidden")), code: "disabled"),
        Case(name: "404", answer: .bytes(answer("404 Not Found")), code: "query-refused"),
        Case(name: "409", answer: .bytes(answer("409 Conflict")), code: "query-refused"),
        Case(
            name: "429", answer: .bytes(answer("429 Too Many Requests", ["X-Rate-Limit-Retry-After-Seconds: 300"])),
            code: "rate-limited", delay: 300),
        Case(name: "500", answer: .bytes(answer("500 Internal Server Error")), code: "upstream-error"),
        Case(
            name: "503", answer: .bytes(answer("503 Service Unavailable", ["Retry-After: 90"])), code: "upstream-error",
            delay: 90),
    ]

    @Test("is reported, leaves the data unchanged, and ends", arguments: cases) func passes(_ fault: Case) async throws
    {
        try await withLine(timeout: fault.timeout) { line in
            #expect(await line.loop.round() == .seconds(60))
            let before = try await line.positions()
            #expect(before.count == 2)
            let good = line.clock.now
            line.clock.advance(60)
            line.server.answers(fault.answer)
            #expect(await line.loop.round() == .seconds(fault.delay))
            var state = try line.state()
            #expect(state.lastError?.code.rawValue == fault.code, "\(state.lastError?.message ?? "none")")
            #expect(state.isReachable == fault.isReachable && state.activity == .failing && !state.isRefused)
            #expect(state.lastSuccess == good && state.nextAttempt == line.clock.now.advanced(by: fault.delay))
            #expect(try await line.positions() == before)
            #expect(try await line.store.source().fetchedAt == good)

            line.clock.advance(fault.delay)
            line.server.answers(.bytes(Self.good(line.clock)))
            _ = await line.loop.round()
            state = try line.state()
            #expect(state.lastError == nil && state.isReachable == true && state.activity == .waiting)
            #expect(try await line.positions().count == 4)
        }
    }

    @Test("401 ends all attempts until a manual start") func unauthorised() async throws {
        try await withLine { line in
            _ = await line.loop.round()
            line.server.answers(.bytes(Self.answer("401 Unauthorized")))
            line.clock.advance(60)
            _ = await line.loop.round()
            #expect(try line.state().activity == .refused)
            let requests = line.server.requests
            line.server.answers(.bytes(Self.good(line.clock)))
            line.clock.advance(6_000)
            _ = await line.loop.round()
            #expect(line.server.requests == requests)
            try await line.loop.start()
            _ = await line.loop.round()
            #expect(try line.state().activity == .waiting && line.server.requests == requests + 1)
        }
    }

    @Test("a redirect elsewhere is not followed: the key would go with it") func redirect() async throws {
        try await ScriptedServer.withRunning(.bytes(Self.answer())) { elsewhere, port in
            try await withLine { line in
                for status in [
                    "301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect",
                ] {
                    line.server.answers(
                        .bytes(Self.answer(status, ["Location: http://127.0.0.1:\(port)/api/states/all"])))
                    _ = await line.loop.round()
                    let code = try line.state().lastError?.code
                    #expect(code == .upstream(.unexpectedStatus))
                }
                #expect(elsewhere.requests == 0)
            }
        }
    }

    @Test("bad rows cost their neighbours nothing, and no clock but ours is believed") func rows() async throws {
        try await withLine { line in
            let now = line.clock.seconds1970
            let rows =
                [
                    Self.row("3c6444", at: "\(now)"), Self.row("3c6444", at: "\(now)"), "[]", "null", "7",
                    "[null,null]",
                    Self.row("zzzzzz", at: "\(now)"), Self.row("", at: "\(now)"), Self.row("3c6445", at: "null"),
                    Self.row("3c6446", at: "99999999999999"), Self.row("3c6447", at: "-5"), Self.row("3c6448", at: "0"),
                    Self.row("3c6449", at: "\(now + 86_400)"), Self.row("3c644a", at: "\(now - 864_000)"),
                    Self.row("3c644b", at: "\(now)", longitude: "1e300"),
                    Self.row("3c644c", at: "\(now)", longitude: "\"x\""),
                    Self.row("3c644d", at: "\(now - 90)"),
                ] + ["[\"3c644e\"" + String(repeating: ",null", count: 16) + "]"]
            line.server.answers(
                .bytes(Self.answer("200 OK", ["Content-Type: text/plain"], Self.states(line.clock, rows))))
            _ = await line.loop.round()
            let failure = try line.state().lastError
            #expect(failure == nil)
            let taken = try await line.positions().map(\.icao24.text).sorted()
            #expect(taken == ["3c6444", "3c644d"])
            let skipped = try line.state().skipped
            #expect(skipped["in the future", default: 0] >= 1 && skipped["older than retention", default: 0] >= 1)
            #expect(skipped.values.reduce(0, +) >= 13, "\(skipped)")
            // Older than what is there: kept for the track, and the newest stays where the aircraft is.
            line.server.answers(
                .bytes(
                    Self.answer(
                        "200 OK", [], Self.states(line.clock, [Self.row("3c6444", at: "\(now - 30)", longitude: "8.1")])
                    )))
            _ = await line.loop.round()
            let aircraft = try await line.positions().filter { $0.icao24.text == "3c6444" }
            #expect(aircraft.count == 2)
            #expect(aircraft.max { $0.observedAt < $1.observedAt }?.place.longitude == 8.5)
        }
    }

    // MARK: - Before there is a connection

    /// What a round against an address ends with.
    private func failure(at baseURL: String, timeout: Duration = .seconds(60)) async throws -> SourceState.Failure {
        let clock = ManualClock()
        let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
        let (loop, states) = try Self.loop(at: baseURL, try await .temporary(), clock, http, timeout: timeout)
        _ = await loop.round()
        try await http.shutdown()
        let state = try states.all.first.orMissing()
        #expect(state.isReachable == false && state.activity == .failing)
        return try state.lastError.orMissing()
    }

    @Test("a port without a listener") func refused() async throws {
        let port = try SilentPort()
        let failure = try await failure(at: "http://127.0.0.1:\(port.number)")
        withExtendedLifetime(port) {}
        #expect(failure.code == .upstream(.unreachable) && failure.message == "unreachable: connection refused")
    }

    /// Source: RFC 6761 section 6.4 (`invalid` never resolves)
    @Test("a name that does not resolve") func unknownName() async throws {
        let failure = try await failure(at: "https://nowhere.invalid")
        #expect([.upstream(.unreachable), .upstream(.timeout)].contains(failure.code), "\(failure)")
    }

    @Test("a handshake that is never answered") func silentHandshake() async throws {
        try await ScriptedServer.withRunning(.silence(after: [])) { _, port in
            let failure = try await failure(at: "https://127.0.0.1:\(port)", timeout: .seconds(1))
            #expect(failure.code == .upstream(.timeout))
        }
    }

    @Test("a server that doesn't speak TLS") func plain() async throws {
        try await ScriptedServer.withRunning(.bytes(Self.answer("400 Bad Request"))) { _, port in
            let failure = try await failure(at: "https://127.0.0.1:\(port)")
            #expect(failure.message == "unreachable: it doesn't speak TLS")
        }
    }

    @Test("a connection that is never accepted") func fullQueue() async throws {
        let queue = try FullQueue()
        let failure = try await failure(at: "http://127.0.0.1:\(queue.port)", timeout: .seconds(1))
        #expect(failure.code == .upstream(.timeout))
        queue.close()
    }

    @Test("an untrusted certificate", .enabled(if: SelfSignedServer.isPossible))
    func certificate() async throws {
        let server = try SelfSignedServer()
        let failure = try await failure(at: "https://127.0.0.1:\(try await server.port())")
        #expect(failure.code == .upstream(.unreachable) && failure.message.contains("certificate"), "\(failure)")
        #expect(await !server.stop().contains("GET"), "no request, and no key, went to it")
    }
}

/// A listener whose queue of connections is full, so that the next is never taken.
private struct FullQueue {
    let port: Int
    private let descriptors: [Int32]

    init() throws {
        let stream = Int32(SOCK_STREAM.rawValue)
        let listener = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var descriptors = [listener]
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 0) == 0,
                    getsockname(listener, address, &length) == 0
                else { return false }
                for _ in 0..<4 {
                    let client = socket(AF_INET, stream | Int32(SOCK_NONBLOCK.rawValue), 0)
                    // In progress, or for ever waiting for its turn.
                    _ = connect(client, address, length)
                    descriptors.append(client)
                }
                return true
            }
        }
        guard isReady else { throw Missing() }
        self.descriptors = descriptors
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func close() { for descriptor in descriptors { Foundation.close(descriptor) } }
}

/// openssl's server with a certificate for 127.0.0.1 that signed itself, for one test.
private final class SelfSignedServer: Sendable {
    private static let openssl = "/usr/bin/openssl"
    static let isPossible = FileManager.default.isExecutableFile(atPath: openssl)

    private let folder: URL
    /// Held: it closes with its last owner.
    private let pipe = Pipe()
    private let said: AsyncStream<Data>
    private let process: Process

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "billow-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (key, certificate) = (
            folder.appending(path: "key.pem").path, folder.appending(path: "certificate.pem").path
        )
        let making = try Self.start(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                "-out", certificate, "-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            ], output: FileHandle.nullDevice)
        making.waitUntilExit()
        let (said, saying) = AsyncStream<Data>.makeStream()
        self.said = said
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
                saying.finish()
            } else {
                saying.yield(data)
            }
        }
        process = try Self.start(
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"],
            output: pipe.fileHandleForWriting)
        // The end is the end of the server's copy.
        try pipe.fileHandleForWriting.close()
    }

    private static func start(_ arguments: [String], output: FileHandle) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: openssl)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.runWithDeadline()
        return process
    }

    /// Where it listens, once it says so.
    func port() async throws -> Int {
        var text = ""
        for await data in said {
            text += String(decoding: data, as: UTF8.self)
            if let match = text.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)\n/) { return try Int(match.1).orMissing() }
        }
        throw Missing()
    }

    /// Ends it, and gives what else it said.
    func stop() async -> String {
        kill(process.processIdentifier, SIGKILL)
        var text = ""
        for await data in said { text += String(decoding: data, as: UTF8.self) }
        // What is left of a test goes with the machine's temporary files.
        try? FileManager.default.removeItem(at: folder)
        return text
    }
}
