import EngineTestSupport
import BillowStore
import BillowSync
import Foundation
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// An upstream that always answers, with nothing.
private struct Quiet: Upstream {
    let id: SourceID
    let kind = "quiet"
    let merge = MergeRule.replace
    let simulated: Bool? = false
    var wanted = DataQuery()

    var query: DataQuery? { wanted }
    var types: [QueryType] { [.turbulence] }
    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome { SyncOutcome() }
    func with(query: DataQuery) -> any Upstream { Quiet(id: id, wanted: query) }
}

@Suite("/admin/sources steers the sources", .timeLimit(.minutes(20)))
struct AdminTests {
    private struct Desk {
        let world: World
        let loop: SourceLoop
        let key: String

        func send(_ method: HTTPRequest.Method, _ path: String = "", _ body: String? = nil) async throws -> TestResponse
        {
            try await world.send(method, "/admin/sources/skypath\(path)", body, key: key)
        }

        func patch(_ body: String) async throws -> TestResponse { try await send(.patch, "", body) }

        /// The role that `/status` tells an administrator.
        func fleet() async throws -> JSON? { try await world.get("/status", [.apiKey: key]).json["fleet"] }
        func metrics() async throws -> String { try await world.get("/metrics", [.apiKey: key]).text }
    }

    private func withDesk(
        fleet: FleetRole? = nil, _ test: @Sendable (Desk) async throws -> Void
    ) async throws {
        try await withWorld(configured: ["skypath"], fleet: fleet) { world in
            let loop = SourceLoop(
                upstream: Quiet(id: try source("skypath")), update: .fast, states: world.states, control: world.store,
                now: { world.clock.now }, uptime: { .seconds(world.clock.now.seconds) }, logger: World.quiet())
            world.loops.add(loop)
            try await test(Desk(world: world, loop: loop, key: try await world.key(.admin).text))
        }
    }

    @Test("of a fleet only the server that fetches takes changes; the others name it, and change nothing")
    func fleet() async throws {
        let leader = Mutex<String?>("one:1")
        let isLeading = Mutex(false)
        let role = FleetRole(isLeading: { isLeading.withLock { $0 } }, leader: { leader.withLock { $0 } })
        try await withDesk(fleet: role) { desk in
            for (method, path, body) in [
                (HTTPRequest.Method.patch, "", #"{"update": "medium"}"#), (.post, "/refresh", nil),
                (.post, "/start", nil),
            ] {
                let answer = try await desk.send(method, path, body)
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.headers[.retryAfter] == "1")
                #expect(try answer.json["code"] == .text("not-leading"))
                #expect(answer.text.contains("The server one:1 does"))
            }
            #expect(await desk.loop.settings.update == .fast)
            #expect(try await desk.send(.get).status == .ok)
            #expect(try await desk.metrics().contains("\nbillow_sync_leader 0\n"))
            #expect(try await desk.fleet()?["leader"] == .text("one:1"))
            // Only administrators see the name of a host.
            #expect(try await desk.world.get("/status").json["fleet"]?["leader"] == nil)
            leader.withLock { $0 = nil }
            #expect(try await desk.send(.post, "/refresh").text.contains("No server does at present"))

            isLeading.withLock { $0 = true }
            #expect(try await desk.patch(#"{"update": "medium"}"#).status == .ok)
            #expect(try await desk.metrics().contains("\nbillow_sync_leader 1\n"))
            #expect(try await desk.fleet()?["syncs"] == .bool(true))
        }
        // A server alone has no role.
        try await withDesk { desk in
            let (fleet, metrics) = (try await desk.fleet(), try await desk.metrics())
            #expect(fleet == nil && !metrics.contains("billow_sync_leader"))
        }
    }

    private static let ring = "[[0,40],[5,40],[5,45],[0,45],[0,40]]"

    @Test("shows each source's settings and state, and changes any number of fields at once or none")
    func change() async throws {
        try await withDesk { desk in
            let list = try await desk.world.send(.get, "/admin/sources", key: desk.key).json
            #expect(list.items.map { $0["id"]?.string } == ["skypath"])
            let before = try await desk.send(.get).json
            #expect(before["kind"]?.string == "quiet" && before["update"]?.string == "fast")
            #expect(before["state"]?.string == "waiting" && before["query"]?["global"]?.bool == true)
            #expect(before["query"]?["polygon"] == .null && before["query"]?["history"]?.double == 2)

            let answer = try await desk.patch(
                #"{"polygon":\#(Self.ring),"history":6,"update":"medium","query":{"global":false,"severities":[3,4]}}"#)
            #expect(answer.status == .ok, "\(answer.text)")
            let query = try answer.json["query"].orMissing()
            #expect(query["history"]?.double == 6 && query["global"]?.bool == false)
            #expect(query["severities"]?.items.compactMap(\.double) == [3, 4])
            #expect(query["polygon"]?.items.count == 5)
            #expect(try answer.json["update"]?.string == "medium")
            let geoJSON = #"{"viewport":{"type":"Polygon","coordinates":[\#(Self.ring)]},"polygon":null}"#
            let viewport = try await desk.patch(geoJSON).json["query"].orMissing()
            #expect(viewport["polygon"] == .null && viewport["viewport"] == query["polygon"])
            for nothing in ["{}", ""] {
                #expect(try await desk.patch(nothing).json["query"] == viewport)
            }
            #expect(try await desk.send(.get).json["query"] == viewport)
            let status = try await desk.world.send(.get, "/status", key: desk.key)
            #expect(try status.json["sources"]?[0]?["query"] == viewport)
        }
    }

    @Test("a source names the layers whose data it fetches")
    func layers() async throws {
        try await withDesk { desk in
            for expected in [["turbulence", "hexagons", "polygons"], []] {
                let source = try await desk.world.send(.get, "/status", key: desk.key).json["sources"]?[0]
                let layers = source?["layers"]?.items.compactMap(\.string)
                #expect(layers ?? [] == expected && (layers == nil) == expected.isEmpty)
                _ = try await desk.patch(#"{"types":[]}"#)
            }
        }
    }

    @Test("a bad ring is a 400 and a failed event, and the old query stays; so it does at any other bad field")
    func refused() async throws {
        try await withDesk { desk in
            let listener = try desk.world.application.events.subscribe(
                after: nil, flight: nil, greeting: nil as (name: String, payload: String)?)
            let old = try await desk.send(.get).json["query"]
            let open = #"{"viewport":[[0,40],[5,40],[5,45],[0,45]],"history":4}"#
            let cases = [
                (open, "invalid-ring", "viewport"), (#"{"polygon":7}"#, "invalid-ring", "polygon"),
                (#"{"polygon":[[0,0],[9,9],[9,0],[0,9],[0,0]]}"#, "invalid-ring", "polygon"),
                (#"{"history":3}"#, "invalid-setting", "history"), (#"{"baseURL":"x"}"#, "invalid-setting", "baseURL"),
                (#"{"apiKey":"x","history":4}"#, "invalid-setting", "apiKey"),
            ]
            for (body, code, parameter) in cases {
                let answer = try await desk.patch(body)
                #expect(answer.status == .badRequest, "\(body)")
                #expect(try answer.json["code"]?.string == code && answer.json["parameter"]?.string == parameter)
                #expect(try answer.json["allowed"]?.string?.isEmpty == false)
            }
            for body in ["[]", "nonsense", "7"] {
                #expect(try await desk.patch(body).json["code"]?.string == "invalid-body", "\(body)")
            }
            #expect(try await desk.send(.get).json["query"] == old)
            listener.cancel()
            var told = ""
            for await bytes in listener.events { told += String(buffer: bytes) }
            #expect(told.components(separatedBy: "event: failed\n").count == 4)
            #expect(told.contains(#""area":"viewport""#) && told.contains(#""area":"corridor""#))
            #expect(told.contains(#""code":"invalid-ring""#) && told.contains(#""source":"skypath""#))
        }
    }

    @Test("refresh is accepted once a minute; start is accepted; both name a source that isn't there")
    func actions() async throws {
        try await withDesk { desk in
            #expect(try await desk.send(.post, "/refresh").status == .accepted)
            desk.world.clock.advance(by: 15)
            let again = try await desk.send(.post, "/refresh?full=true")
            #expect(again.status == .tooManyRequests && again.headers[.retryAfter] == "45")
            desk.world.clock.advance(by: 45)
            #expect(try await desk.send(.post, "/refresh?full=true").status == .accepted)
            #expect(try await desk.send(.post, "/refresh?full=maybe").status == .badRequest)
            #expect(try await desk.send(.post, "/start").status == .accepted)
            _ = try await desk.patch(#"{"types":[]}"#)
            #expect(try await desk.send(.post, "/refresh").status == .conflict)
            for path in ["/admin/sources/other", "/admin/sources/%20", "/admin/sources/zzz"] {
                #expect(try await desk.world.send(.get, path, key: desk.key).status == .notFound)
                #expect(try await desk.world.send(.patch, path, "{}", key: desk.key).status == .notFound)
                #expect(try await desk.world.send(.post, path + "/start", key: desk.key).status == .notFound)
            }
        }
    }

    @Test("it needs a key with scope admin")
    func scope() async throws {
        try await withDesk { desk in
            let other = try await desk.world.key([.read, .ingest]).text
            for (method, path) in [
                (HTTPRequest.Method.get, ""), (.get, "/skypath"), (.patch, "/skypath"), (.post, "/skypath/refresh"),
                (.post, "/skypath/start"),
            ] {
                let uri = "/admin/sources" + path
                #expect(try await desk.world.send(method, uri, "{}").status == .unauthorized)
                #expect(try await desk.world.send(method, uri, "{}", key: other).status == .forbidden)
            }
            let answer = try await desk.send(.get)
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test("fetch, failure and refusal events are sent only on a change")
    func states() async throws {
        try await withDesk { desk in
            let listener = try desk.world.application.events.subscribe(
                after: nil, flight: nil, greeting: nil as (name: String, payload: String)?)
            _ = await desk.loop.round()
            _ = await desk.loop.round()
            try await desk.world.eventsSent()
            listener.cancel()
            var told = ""
            for await bytes in listener.events { told += String(buffer: bytes) }
            let events = told.components(separatedBy: "\n").filter { $0.hasPrefix("event: ") || $0.hasPrefix("data: ") }
            let on = #"data: {"area":"global","collection":"turbulence","on":true,"source":"skypath"}"#
            let off = on.replacing("true", with: "false")
            #expect(
                events == [
                    "event: fetching", on, "event: fetching", off, "event: fetching", on, "event: fetching", off,
                ])
        }
    }
}
