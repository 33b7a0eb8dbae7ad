import EngineTestSupport
import BillowExchange
import BillowRaster
import BillowStore
import BillowSync
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// A real store whose disk can be made to fail.
private final class FailingStore: WrappedStore {
    let store: SQLiteStore
    /// Reads that still succeed; nil for all.
    private let remaining = Mutex<Int?>(nil)

    init(_ store: SQLiteStore) { self.store = store }

    func fail(after reads: Int?) { remaining.withLock { $0 = reads } }

    private func check() throws(StoreError) {
        let isBroken = remaining.withLock { remaining in
            guard let left = remaining else { return false }
            remaining = max(left - 1, 0)
            return left <= 0
        }
        if isBroken { throw .failed("disk I/O error") }
    }

    func head() async throws(StoreError) -> Head {
        try check()
        return try await store.head()
    }
    func state() async throws(StoreError) -> LogState {
        try check()
        return try await store.state()
    }
    func changes(since version: Version) async throws(StoreError) -> Changes {
        try check()
        return try await store.changes(since: version)
    }
    func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        try check()
        return try await store.rows(from: from, to: to, asOf: version)
    }
    func page(after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]
    {
        try check()
        return try await store.page(after: after, from: from, to: to, limit: limit, asOf: version)
    }
    func observations(of keys: [ObservationKey]) async throws(StoreError)
        -> [ObservationKey: (row: ObservationRow, details: ObservationDetails)]
    {
        try check()
        return try await store.observations(of: keys)
    }
    func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails] {
        try check()
        return try await store.details(of: keys)
    }
    func observation(id: String, asOf version: Version?) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?
    {
        try check()
        return try await store.observation(id: id, asOf: version)
    }
    func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport? {
        try check()
        return try await store.pilotReport(id: id, asOf: version)
    }
    func pilotReports(after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [PilotReport]
    {
        try check()
        return try await store.pilotReports(after: after, from: from, to: to, limit: limit, asOf: version)
    }
}

@Suite("When the disk fails")
struct FailingStoreTests {
    private func withFailingStore(
        _ framework: TestingSetup,
        _ test: @Sendable (FailingStore, BillowApplication, any TestClientProtocol) async throws -> Void
    ) async throws {
        let store = try await SQLiteStore.temporary()
        _ = try await store.register(try source("import"), merge: .keep, simulated: false)
        let cells = H3.disk(around: try cell(10, 50), distance: 45)
        _ = try await store.commit(
            Batch(
                source: nil,
                observations: try cells.map { try observation($0, severity: .moderate, source: "import") }))
        let failing = FailingStore(store)
        let folder = { (name: String) in World.repository.appending(path: name).path }
        let application = try BillowApplication(
            BillowApplication.Configuration(
                host: "127.0.0.1", port: 0, publicURL: nil, publicFolder: folder("Public"), retentionSeconds: 86_400,
                freshness: FreshnessSettings(staleAfterSeconds: 300, feeds: [:]), severityTable: SeverityTable()),
            store: failing, control: store, styles: try StyleLibrary(folder: folder("Styles")), states: SourceStates(),
            now: { noon },
            logger: World.quiet())
        try await application.publisher.refresh()
        try await Application(router: application.router(), logger: World.quiet()).test(framework) { client in
            try await test(failing, application, client)
        }
    }

    @Test("the picture in memory is served on; what needs the disk is 503, and comes back")
    func readsFail() async throws {
        try await withFailingStore(.router) { store, application, client in
            func get(_ uri: String) async throws -> TestResponse {
                try await client.executeRequest(uri: uri, method: .get, headers: [:], body: nil)
            }
            store.fail(after: 0)
            await #expect(throws: StoreError.self) { try await application.publisher.refresh() }
            let tile = try await get("/tiles/hexagons/latest/4/8/5.png")
            #expect(tile.status == .ok)
            #expect(try PNG.decode(Array(buffer: tile.body)).pixels.contains { $0.alpha > 0 })
            for uri in [
                "/collections/observations/items", "/collections/hexagons/items", "/collections/pireps/items/x",
                "/tiles/hexagons/20261120T235900Z/0/0/0.png",
            ] {
                let response = try await get(uri)
                #expect(response.status == .serviceUnavailable, "\(uri)")
                #expect(response.headers[.retryAfter] == "5")
                #expect(try response.json["code"] == .text("store-unavailable"))
                #expect(!response.text.contains("disk"), "no inner words to the outside")
            }
            let time = "2026-11-20T23:59:00Z"
            let map = "/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&LAYERS=hexagons&STYLES=&CRS=EPSG:3857"
            let window = "&BBOX=0,0,5000000,5000000&WIDTH=64&HEIGHT=64&FORMAT=image/png&TIME=\(time)"
            for (uri, element) in [
                (map + window, "<ServiceException"),
                ("/wmts/1.0.0/hexagons/default/\(time)/WebMercatorQuad/0/0/0.png", "<ows:ExceptionText"),
            ] {
                let answer = try await get(uri)
                #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] == "5", "\(uri)")
                #expect(answer.headers[.contentType] == "text/xml" && answer.text.contains(element), "\(answer.text)")
                #expect(!answer.text.contains("disk"), "no inner words to the outside")
            }
            let blank = try await get(map + window + "&EXCEPTIONS=BLANK")
            #expect(blank.status == .ok && blank.headers[.contentType] == "image/png")
            store.fail(after: nil)
            #expect(try await get("/collections/observations/items").status == .ok)
            #expect(try await get("/tiles/hexagons/20261120T235900Z/0/0/0.png").status == .ok)
        }
    }

    @Test("an export that breaks off half way never looks whole", arguments: ["geojson", "csv", "geojsonl"])
    func exportBreaks(format: String) async throws {
        // The test client of Hummingbird gives up after 15 s.
        @Sendable func answer(of client: any TestClientProtocol) async throws -> String {
            let socket = try RawClient(port: try #require(client.port))
            socket.write("GET /export/observations.\(format) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return await socket.read()
        }
        try await withFailingStore(.live) { store, _, client in
            // The first piece takes a page and a look at the head; what fails before is still a status.
            store.fail(after: 1)
            #expect(try await answer(of: client).hasPrefix("HTTP/1.1 503 "))
            store.fail(after: 2)
            // A chunked body is whole where it ends with the empty chunk.
            let broken = try await answer(of: client)
            let isChunked = broken.lowercased().contains("transfer-encoding: chunked")
            #expect(broken.hasPrefix("HTTP/1.1 200 ") && isChunked, "\(broken.prefix(300))")
            #expect(!broken.hasSuffix("\r\n0\r\n\r\n"))
            store.fail(after: nil)
        }
        try await withFailingStore(.live) { _, _, client in
            let whole = try await answer(of: client)
            #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.hasSuffix("\r\n0\r\n\r\n"))
            #expect(whole.utf8.count > 500_000)
        }
    }
}
