import EngineTestSupport
import BillowStore
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters
@testable import BillowSync

@Suite("Access keys grant access to protected routes", .timeLimit(.minutes(20)))
struct AccessTests {
    private static let data = [
        "/tiles/hexagons.json", "/tiles/hexagons/latest/4/8/5.png", "/collections", "/collections/hexagons/items",
        "/export/observations.csv", "/legend.json", "/styles", "/status",
    ]

    @Test("without anonymous reading every route that shows data needs a key with scope read, and answers are private")
    func readingNeedsAKey() async throws {
        try await withWorld(anonymousRead: false) { world in
            let reader = try await world.key(.read)
            let other = try await world.key([.ingest, .admin])
            for uri in Self.data {
                let without = try await world.get(uri)
                #expect(without.status == .unauthorized, "\(uri)")
                #expect(without.headers[.wwwAuthenticate] != nil && without.headers[.accessControlAllowOrigin] == "*")
                #expect(try without.json["code"]?.string == "key-needed")
                let wrongScope = try await world.send(.get, uri, key: other.text)
                #expect(wrongScope.status == .forbidden)
                #expect(try wrongScope.json["code"]?.string == "scope-missing")
                let answer = try await world.send(.get, uri, key: reader.text)
                #expect(answer.status == .ok, "\(uri): \(answer.text.prefix(200))")
                let control = try answer.headers[.cacheControl].orMissing()
                #expect(!control.contains("public"), "\(uri): \(control)")
                #expect(control.contains("private") || control.contains("no-"), "\(uri): \(control)")
                #expect(answer.headers[.vary]?.contains("X-API-Key") == true)
            }
            // How it is, and the viewer's own files, hold no data.
            for uri in ["/healthz", "/readyz", "/"] { #expect(try await world.get(uri).status == .ok, "\(uri)") }
            #expect(try await world.get("/nothing").status == .notFound)
        }
    }

    @Test("with anonymous reading no key is required, and responses stay public")
    func anonymous() async throws {
        try await withWorld { world in
            for uri in Self.data { #expect(try await world.get(uri).status == .ok, "\(uri)") }
            let tile = try await world.send(.get, "/tiles/hexagons/latest/4/8/5.png", key: "bk_wrong")
            #expect(tile.status == .ok && tile.headers[.cacheControl]?.hasPrefix("public") == true)
        }
    }

    @Test("a key that is unknown, altered, revoked or no key is refused, and too many in a minute are 429")
    func wrongKeys() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key(.read)
            let last = key.text.last == "0" ? "1" : "0"
            let wrong = [
                "", "x", KeyText.make().text, String(key.text.dropLast()) + last, key.text + "0", key.text.uppercased(),
                "bk_\(key.id)_", "bk_\(key.id)_" + String(repeating: "0", count: 64),
            ]
            for text in wrong {
                #expect(try await world.send(.get, "/status", key: text).status == .unauthorized, "\(text)")
            }
            #expect(try await world.send(.get, "/status", key: key.text).status == .ok)
            for _ in wrong.count..<Authorizer.wrongKeysAMinute { _ = try await world.send(.get, "/status", key: "x") }
            let over = try await world.send(.get, "/status", key: "x")
            #expect(over.status == .tooManyRequests && over.headers[.retryAfter] == "60")
            // Who has a key is not locked out by who has none.
            #expect(try await world.send(.get, "/status", key: key.text).status == .ok)
            #expect(try await world.store.revokeAccessKey(id: key.id, at: world.clock.now))
            world.clock.advance(by: 60)
            #expect(try await world.send(.get, "/status", key: key.text).status == .unauthorized)
            #expect(try await world.store.revokeAccessKey(id: key.id, at: world.clock.now) == false)
        }
    }

    @Test("a signed address opens itself until it expires, and only as it was signed")
    func signedAddress() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key([.read, .ingest])
            let end = noon.advanced(by: 60)
            let plain = "/collections/hexagons/items?hours=6&limit=5"
            let signed = SignedAddress.sign(plain, with: key, expires: end)
            let answer = try await world.get(signed)
            #expect(answer.status == .ok, "\(answer.text)")
            #expect(answer.headers[.cacheControl]?.contains("private") == true)
            #expect(try await world.get(signed, method: .head).status == .ok)
            #expect(try await world.get(SignedAddress.sign("/status", with: key, expires: end)).status == .ok)

            let altered = [
                signed.replacing("hours=6", with: "hours=4"), signed.replacing("hexagons", with: "observations"),
                signed.replacing("expires=\(end.seconds)", with: "expires=\(end.seconds + 1)"),
                signed + "&hours=2", String(signed.dropLast()), signed.replacing("&sig=", with: "&sig=00"),
                SignedAddress.sign(plain, with: .make(), expires: end), plain + "&key=\(key.id)",
                plain + "&sig=x&key=\(key.id)&expires=1",
            ]
            for uri in altered { #expect(try await world.get(uri).status == .unauthorized, "\(uri)") }
            let ingest = SignedAddress.sign("/observations", with: key, expires: end)
            #expect(try await world.send(.post, ingest, "[]").status == .forbidden)

            world.clock.advance(by: 60)
            let late = try await world.get(signed)
            #expect(late.status == .unauthorized)
            #expect(try late.json["code"]?.string == "signature-expired")
        }
    }

    @Test("the stored hash of a key grants no access")
    func onlyTheHashIsKept() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key(.read)
            let kept = try await world.store.accessKeys()
            #expect(kept.map(\.id) == [key.id] && kept[0].hash.count == 64 && !key.text.contains(kept[0].hash))
            #expect(!"\(kept) \(key)".contains(key.text))
            #expect(try await world.send(.get, "/status", key: "bk_\(key.id)_\(kept[0].hash)").status == .unauthorized)
        }
    }

    @Test("keys are as random as they say: no two alike, 256 bits", arguments: [200])
    func random(count: Int) {
        let keys = (0..<count).map { _ in KeyText.make() }
        #expect(Set(keys.map(\.text)).count == count && Set(keys.map(\.id)).count == count)
        #expect(keys.allSatisfy { KeyText($0.text)?.id == $0.id && $0.text.utf8.count == 84 })
    }

    @Test("a signed tile that redirects leads to an address that is signed as long, and for no other")
    func signedRedirect() async throws {
        try await withWorld(anonymousRead: false) { world in
            try await world.insert([try observation(try cell(10, 50))])
            let key = try await world.key(.read)
            let end = noon.advanced(by: 600)
            let tile = SignedAddress.sign("/tiles/hexagons/20261121T120000Z/4/8/5.png?v=999", with: key, expires: end)
            let answer = try await world.get(tile)
            #expect(answer.status == .temporaryRedirect, "\(answer.text)")
            let location = try answer.headers[.location].orMissing("location")
            #expect(location.contains("&expires=\(end.seconds)&sig="))
            #expect(try await world.get(location).status == .ok)
            #expect(try await world.get(location.replacing("/4/8/5", with: "/4/8/6")).status == .unauthorized)
            let plain = try await world.send(.get, "/tiles/hexagons/20261121T120000Z/4/8/5.png?v=999", key: key.text)
            #expect(plain.headers[.location]?.contains("sig=") == false)
        }
    }

    @Test("guessing keys doesn't make the keys be read without end; a new key counts at once")
    func readsAreBounded() async throws {
        let store = CountingControl(store: try await SQLiteStore.temporary())
        let clock = TestClock(noon)
        let authorizer = Authorizer(store: store, anonymousRead: false, now: { clock.now }, logger: World.quiet())
        func ask(_ key: KeyText) async throws {
            let head = HTTPRequest(
                method: .get, scheme: "http", authority: "a", path: "/", headerFields: [.apiKey: key.text])
            _ = try await authorizer.authorize(
                Request(head: head, body: RequestBody(buffer: ByteBuffer())), needs: .read)
        }
        for _ in 0..<50 { await #expect(throws: Problem.self) { try await ask(.make()) } }
        #expect(store.reads == Authorizer.maximumReadsPerSecond)
        clock.advance(by: 1)
        let key = KeyText.make()
        await #expect(throws: Problem.self) { try await ask(.make()) }
        try await store.store.add(key.record(name: "new", scopes: .read, createdAt: clock.now))
        try await ask(key)
        #expect(store.reads == Authorizer.maximumReadsPerSecond + 2)
    }

    @Test("queries and file paths are shown only to administrators")
    func redactedStatus() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let ring: [[Double]] = [[0, 40], [5, 40], [5, 45], [0, 45], [0, 40]]
            let loop = SourceLoop(
                upstream: Quiet(id: try source("skypath")), update: .fast, states: world.states,
                control: world.store, now: { world.clock.now }, logger: World.quiet())
            world.loops.add(loop)
            let admin = try await world.key(.admin).text
            for member in ["polygon", "viewport"] {
                let answer = try await world.send(
                    .patch, "/admin/sources/skypath", #"{"\#(member)":\#(ring)}"#, key: admin)
                #expect(answer.status == .ok, "\(answer.text)")
            }
            let listener = try world.application.events.subscribe(
                after: nil, flight: nil, greeting: nil as (name: String, payload: String)?)
            world.states.update(try source("skypath")) { state in
                var area = SourceState.AreaState()
                area.lastError = SourceState.Failure(
                    code: .inbox, message: "the folder /secret/place can't be used", at: world.clock.now)
                area.failedParts = [SourceState.AreaCollection(area: .corridor, collection: "hexagons")]
                area.consecutiveFailures = 1
                area.failures = 1
                state.areas[.corridor] = area
            }
            _ = try await world.send(
                .patch, "/admin/sources/skypath", #"{"polygon":[[12.25,0],[9,9],[9,0],[0,9],[12.25,0]]}"#, key: admin)
            let reader = try await world.key(.read).text
            for key in [nil, reader] {
                for accept in ["application/json", "text/html"] {
                    let answer = try await world.send(.get, "/status", key: key, [.accept: accept])
                    #expect(answer.status == .ok)
                    for secret in ["secret", "\"polygon\":", "\"viewport\":", "[5,45]"] {
                        #expect(!answer.text.contains(secret), "\(secret) to \(key ?? "anybody")")
                    }
                }
            }
            let full = try await world.send(.get, "/status", key: admin)
            #expect(
                full.text.contains("/secret/place") && full.text.contains("viewport") && full.text.contains("polygon"))
            #expect(full.headers[.vary]?.contains("X-API-Key") == true)
            #expect(try await world.send(.get, "/status", key: KeyText.make().text).status == .unauthorized)
            try await world.eventsSent()
            listener.cancel()
            var told = ""
            for await bytes in listener.events { told += String(buffer: bytes) }
            #expect(told.contains("event: failed") && !told.contains("secret") && !told.contains("12.25"))
        }
    }

    @Test("every answer to a key is private")
    func privateAnswers() async throws {
        try await withWorld(anonymousRead: false) { world in
            let key = try await world.key(.read).text
            try await world.insert([])
            for uri in [
                "/tiles/hexagons.json", "/legend.json", "/legend.svg", "/styles", "/styles/skypath.json",
                "/collections", "/collections/hexagons", "/tileMatrixSets", "/timeline.json", "/status",
                "/wmts/1.0.0/WMTSCapabilities.xml", "/tiles/hexagons/latest/0/0/0.png", "/collections/hexagons/items",
            ] {
                let answer = try await world.send(.get, uri, key: key)
                let control = answer.headers[.cacheControl] ?? ""
                #expect(answer.status == .ok, "\(uri)")
                #expect(control.contains("private") || control.contains("no-store"), "\(uri): \(control)")
                #expect(!control.contains("public"), "\(uri): \(control)")
            }
        }
    }

    @Test("the status page is public, and the status that it requests needs a key")
    func statusKey() async throws {
        try await withWorld(anonymousRead: false) { world in
            let page = try await world.get("/status", [.accept: "text/html"])
            #expect(page.status == .ok && page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(try await world.get("/status").json["code"]?.string == "key-needed")
            let key = try await world.key(.read).text
            #expect(try await world.send(.get, "/status", key: key).json["ready"] == .bool(true))
        }
    }
}

/// A store that counts how often its keys are read.
private final class CountingControl: ControlStore {
    let store: SQLiteStore
    private let count = Mutex(0)

    init(store: SQLiteStore) { self.store = store }

    var reads: Int { count.withLock { $0 } }

    func accessKeys() async throws(StoreError) -> [AccessKey] {
        count.withLock { $0 += 1 }
        return try await store.accessKeys()
    }
    func add(_ key: AccessKey) async throws(StoreError) { try await store.add(key) }
    func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool {
        try await store.revokeAccessKey(id: id, at: at)
    }
    func monitoredFlights() async throws(StoreError) -> [MonitoredFlight] { try await store.monitoredFlights() }
    func add(_ flight: MonitoredFlight) async throws(StoreError) { try await store.add(flight) }
    func update(_ flights: [MonitoredFlight]) async throws(StoreError) { try await store.update(flights) }
    func removeMonitoredFlights(_ ids: [String]) async throws(StoreError) {
        try await store.removeMonitoredFlights(ids)
    }
    func persistedOverride(of source: SourceID) async throws(StoreError) -> String? {
        try await store.persistedOverride(of: source)
    }
    func setPersistedOverride(_ value: String?, of source: SourceID) async throws(StoreError) {
        try await store.setPersistedOverride(value, of: source)
    }
}

/// An upstream that gives nothing.
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
