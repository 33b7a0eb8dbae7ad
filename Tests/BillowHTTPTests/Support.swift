import EngineTestSupport
import BillowRaster
import BillowStore
import BillowSync
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// The application over a real store, reached through its router without a socket.
struct World: Sendable {
    let store: SQLiteStore
    let clock: TestClock
    let states: SourceStates
    let loops: SourceLoops
    let application: BillowApplication
    let client: any TestClientProtocol

    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func quiet() -> Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    func refresh() async throws { try await application.publisher.refresh() }

    /// Waits until all changes so far have become events.
    func eventsSent() async throws {
        try await eventually("the events are sent") {
            application.feed.handledStates == states.generation && application.publisher.waitingConsumers > 0
        }
    }

    /// The same with a server that has only just read the log.
    ///
    /// - Parameter wrapped: what the server has in place of the store.
    func restarted(
        cacheBytes: Int = CacheBudget.defaultBytes, store wrapped: (any Store)? = nil,
        _ test: @Sendable (World) async throws -> Void
    ) async throws {
        let folder = { (name: String) in World.repository.appending(path: name).path }
        var configuration = BillowApplication.Configuration(
            host: "127.0.0.1", port: 0, publicURL: nil, publicFolder: folder("Public"), retentionSeconds: 7 * 86_400,
            freshness: FreshnessSettings(staleAfterSeconds: 300, feeds: [:]), severityTable: SeverityTable())
        configuration.cacheBytes = cacheBytes
        let other = try BillowApplication(
            configuration, store: wrapped ?? store, control: store, styles: try StyleLibrary(folder: folder("Styles")),
            states: states, loops: loops, now: { clock.now }, logger: World.quiet())
        try await other.publisher.refresh()
        try await Application(router: other.router(), logger: World.quiet()).test(.router) { client in
            try await test(
                World(store: store, clock: clock, states: states, loops: loops, application: other, client: client))
        }
    }

    /// Writes observations of registered sources and publishes them.
    func insert(_ observations: [Observation], reports: [PilotReport] = []) async throws {
        _ = try await store.commit(Batch(source: nil, observations: observations, pilotReports: reports))
        try await refresh()
    }

    /// Notes a successful fetch of a source, now or some seconds ago.
    func fetched(_ name: String, secondsAgo: Int = 0, completeSince: Instant? = nil) async throws {
        _ = try await store.commit(
            Batch(
                source: try source(name), fetchedAt: clock.now.advanced(by: -secondsAgo), completeSince: completeSince))
    }

    func get(_ uri: String, _ headers: HTTPFields = [:], method: HTTPRequest.Method = .get) async throws -> TestResponse
    {
        try await client.executeRequest(uri: uri, method: method, headers: headers, body: nil)
    }

    func send(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil, key: String? = nil,
        _ headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = headers
        if let key { headers[.apiKey] = key }
        return try await client.executeRequest(
            uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }

    /// The text of a new key.
    func key(_ scopes: AccessScopes, name: String = "test") async throws -> KeyText {
        let key = KeyText.make()
        try await store.add(key.record(name: name, scopes: scopes, createdAt: clock.now))
        return key
    }

    /// The JSON of an answer that must be 200.
    func json(_ uri: String, status: HTTPResponse.Status = .ok) async throws -> JSON {
        let response = try await get(uri)
        #expect(response.status == status, "\(uri): \(String(buffer: response.body).prefix(500))")
        return try response.json
    }

    /// The JSON of the answer to a body of JSON.
    func post(_ uri: String, _ body: String, status: HTTPResponse.Status = .ok) async throws -> JSON {
        let response = try await send(.post, uri, body, [.contentType: "application/json"])
        #expect(response.status == status, "\(uri) \(body.prefix(100)): \(String(buffer: response.body).prefix(300))")
        return try response.json
    }

    /// The decoded picture of an answer that must be 200.
    func picture(_ uri: String) async throws -> DecodedPNG {
        let response = try await get(uri)
        #expect(response.status == .ok, "\(uri): \(String(buffer: response.body).prefix(500))")
        #expect(response.headers[.contentType] == "image/png")
        return try PNG.decode(Array(buffer: response.body))
    }
}

/// Runs a test over a world with the sources `skypath` (replace), `other` (replace), `import` and `awc` (keep).
///
/// - Parameters:
///   - configured: sources that feed every layer but the fields.
///   - feeds: sources that feed some.
///   - freshness: in place of the settings that follow from them.
///   - known: the sources that the store knows.
func withWorld(
    at now: Instant = noon, configured: [String] = [], feeds: [String: Set<FeedKind>] = [:],
    staleAfterSeconds: Int? = 300, freshness: FreshnessSettings? = nil, publicURL: String? = nil,
    allowedHosts: [String] = [], simulated: Bool? = false, load: Bool = true, anonymousRead: Bool = true,
    histories: PolygonHistories = PolygonHistories(), trafficRetentionSeconds: Int? = nil,
    work: WorkExecutor = WorkExecutor(),
    connections: ConnectionSettings = ConnectionSettings(), publicFolder: String? = nil,
    baseMap: OnlineBaseMap? = nil, fleet: FleetRole? = nil,
    known: KeyValuePairs<String, MergeRule> = ["skypath": .replace, "other": .replace, "import": .keep, "awc": .keep],
    test: @Sendable (World) async throws -> Void
) async throws {
    let store = try await SQLiteStore.temporary()
    for (name, rule) in known {
        _ = try await store.register(try source(name), merge: rule, simulated: simulated)
    }
    var fed: [SourceID: Set<FeedKind>] = [:]
    for name in configured { fed[try source(name)] = Set(Catalogue.kinds).subtracting([.fields]) }
    for (name, kinds) in feeds { fed[try source(name)] = kinds }
    let clock = TestClock(now)
    let states = SourceStates()
    let loops = SourceLoops()
    let folder = { (name: String) in World.repository.appending(path: name).path }
    var configuration = BillowApplication.Configuration(
        host: "127.0.0.1", port: 0, publicURL: publicURL, publicFolder: publicFolder ?? folder("Public"),
        retentionSeconds: 7 * 86_400,
        freshness: freshness
            ?? FreshnessSettings(
                staleAfterSeconds: staleAfterSeconds,
                feeds: fed.mapValues { FreshnessSettings.FetchedSource(kinds: $0) }),
        severityTable: SeverityTable(), anonymousRead: anonymousRead, isSimulated: simulated)
    configuration.allowedHosts = AllowedHosts(try allowedHosts.map { try #require(AllowedHosts.Pattern($0)) })
    configuration.polygonHistories = histories
    configuration.work = work
    configuration.trafficRetentionSeconds = trafficRetentionSeconds
    configuration.connections = connections
    configuration.baseMap = baseMap
    configuration.fleet = fleet
    let application = try BillowApplication(
        configuration, store: store, control: store, styles: try StyleLibrary(folder: folder("Styles")), states: states,
        loops: loops,
        now: { clock.now },
        logger: World.quiet())
    if load { try await application.publisher.refresh() }
    let feed = Task { await application.feed.run() }
    defer { feed.cancel() }
    try await Application(router: application.router(), logger: World.quiet()).test(.router) { client in
        let world = World(
            store: store, clock: clock, states: states, loops: loops, application: application, client: client)
        try await world.eventsSent()
        try await test(world)
    }
}

/// The tile and the pixel that a place lies in.
struct PixelPlace {
    var z: Int
    var x: Int
    var y: Int
    var column: Int
    var row: Int

    init(_ place: LonLat, zoom: Int, scale: Int = 1) {
        let pixels = Double(256 * scale)
        let world = Double(1 << zoom)
        let across = UnitMercator.x(longitude: place.longitude) * world
        let down = UnitMercator.y(latitude: place.latitude) * world
        z = zoom
        x = Int(across)
        y = Int(down)
        column = Int((across - across.rounded(.down)) * pixels)
        row = Int((down - down.rounded(.down)) * pixels)
    }

    func path(_ time: String = "latest", scale: Int = 1, query: String = "") -> String {
        "/tiles/hexagons/\(time)/\(z)/\(x)/\(y)\(scale == 1 ? "" : "@\(scale)x").png\(query)"
    }
}

extension World {
    /// The query of a frame's revision in the default style.
    func revision(_ version: Version) throws -> String {
        let snapshot = try application.frames.snapshot()
        let key = application.frames.renderKey(application.styles.current.default, in: snapshot)
        return "?v=\(version)&s=\(key)"
    }

    /// The colour at the middle of a cell at a zoom where the cell is some 40 pixels wide.
    func colour(_ cell: Cell, _ time: String = "latest", query: String = "", zoom: Int = 8) async throws -> String {
        let pixel = PixelPlace(H3.center(of: cell), zoom: zoom)
        let colour = try await picture(pixel.path(time, query: query))[pixel.column, pixel.row].orMissing("pixel")
        return "\(colour.red) \(colour.green) \(colour.blue) \(colour.alpha)"
    }
}

/// The documented pixels of the style `skypath`.
enum Pixel {
    static let none = "0 0 0 0"
    static let smooth = "255 255 255 153"
    static let light = "255 240 76 204"
    static let lightModerate = "255 188 9 204"
    static let moderate = "255 113 0 204"
    static let moderateSevere = "255 0 0 204"
    static let bySeverity = [smooth, light, lightModerate, moderate, moderateSevere]
}

extension TestResponse {
    var json: JSON { get throws { try JSONDecoder().decode(JSON.self, from: Data(Array(buffer: body))) } }
    var text: String { String(buffer: body) }
    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}

/// Any JSON value, for looking into answers.
typealias JSON = JSONValue

extension JSONValue {
    static func text(_ text: String) -> JSONValue { .string(text) }

    subscript(index: Int) -> JSON? {
        if case .array(let items) = self, items.indices.contains(index) { items[index] } else { nil }
    }
    var items: [JSON] { array ?? [] }
    var members: [String: JSON] { if case .object(let members) = self { members } else { [:] } }
    var double: Double? { number }

    /// The features of a collection.
    var features: [JSON] { self["features"]?.items ?? [] }
    /// A property of a feature.
    func property(_ name: String) -> JSON? { self["properties"]?[name] }
    /// The address of a link by its relation.
    func link(_ relation: String) -> String? {
        self["links"]?.items.first { $0["rel"]?.string == relation }?["href"]?.string
    }
}

extension World {
    /// Observations of one severity in a disk of cells.
    func insertDisk(
        _ severity: Severity, at place: LonLat, distance: Int, secondsAgo: Int = 60
    ) async throws -> [Cell] {
        let cells = H3.disk(around: H3.cell(at: place), distance: distance).sorted()
        try await insert(
            cells.map {
                try observation($0, altitude: 35, severity: severity, at: -secondsAgo)
            })
        return cells
    }
}
