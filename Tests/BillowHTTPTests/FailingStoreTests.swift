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
            store.fail(after: nil)
            #expect(try await get("/collections/observations/items").status == .ok)
            #expect(try await get("/tiles/hexagons/20261120T235900Z/0/0/0.png").status == .ok)
        }
    }

    @Test("an export that breaks off half way never looks whole", arguments: ["geojson", "csv", "geojsonl"])
    func exportBreaks(format: String) async throws {
        try await withFailingStore(.live) { store, _, client in
            // The first piece takes a page and a look at the head; what fails before is still a status.
            store.fail(after: 1)
            let refused = try await client.executeRequest(
                uri: "/export/observations.\(format)", method: .get, headers: [:], body: nil)
            #expect(refused.status == .serviceUnavailable)
            store.fail(after: 2)
            await #expect(throws: (any Error).self) {
                try await client.executeRequest(
                    uri: "/export/observations.\(format)", method: .get, headers: [:], body: nil)
            }
            store.fail(after: nil)
        }
        try await withFailingStore(.live) { _, _, client in
            let whole = try await client.executeRequest(
                uri: "/export/observations.\(format)", method: .get, headers: [:], body: nil)
            #expect(whole.status == .ok)
            #expect(whole.body.readableBytes > 500_000)
        }
    }
}
