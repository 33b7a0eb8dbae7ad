import EngineTestSupport
import BillowExchange
import BillowRaster
import BillowSnapshot
import BillowStore
import BillowTiles
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import JSONKit
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("The memory of responses is bounded")
struct BoundedResponseTests {
    /// Observations of some hundred cells.
    private static func observations(_ count: Int = 400) throws -> [Observation] {
        try (0..<count).map { number in
            try observation(
                try cell(Double(number % 40) * 0.9 - 20, Double(number / 40) * 0.9 + 40),
                severity: Severity.allCases[number % 5], at: -60 - number)
        }
    }

    private static func query(_ parameters: [String: String], _ collection: Dataset, _ world: World) throws
        -> FeatureQuery
    {
        let frames = world.application.frames
        return try FeatureParameters(QueryReader(parameters), of: collection).query(frames, in: try frames.snapshot())
    }

    // MARK: - Pieces

    private final class Count: Sendable {
        private let sum = Mutex(0)
        var value: Int { sum.withLock { $0 } }
        func add(_ more: Int) { sum.withLock { $0 += more } }
    }

    /// A body that is taken when a test says so.
    private struct SlowWriter: ResponseBodyWriter {
        let gate: TestGate
        let taken: @Sendable (Int) -> Void

        mutating func write(_ buffer: ByteBuffer) async throws {
            await gate.pass()
            taken(buffer.readableBytes)
        }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private struct CountedParts: ResponseParts {
        let made: @Sendable () -> Void
        var left: Int

        mutating func next() async throws(EngineError) -> [UInt8]? {
            guard left > 0 else { return nil }
            left -= 1
            made()
            return [UInt8](repeating: 1, count: 1_000)
        }
    }

    @Test("the next piece of a streamed answer is made only when the last was read, in a job; its room is given back")
    func backPressure() async throws {
        let budget = ResponseBudget(bytes: 10 * ResponseBudget.stream)
        let made = Count()
        let taken = Count()
        let gate = TestGate()
        do {
            let body = try StreamedResponse.body(
                [1], CountedParts(made: { made.add(1) }, left: 5), work: WorkExecutor(),
                budget: budget)
            #expect(budget.bytes == ResponseBudget.stream)
            let sending = Task {
                try await body.write(SlowWriter(gate: gate) { taken.add($0) })
            }
            try await eventually("the first piece is written") { gate.arrivals == 1 }
            #expect(made.value == 0)
            gate.open()
            try await sending.value
        }
        #expect(made.value == 5)
        #expect(taken.value == 5_001)
        try await eventually("the room is given back") { budget.bytes == 0 }
    }

    @Test("large answers of one server don't make another in the same process refuse its own")
    func budgetsOfServers() async throws {
        try await withWorld { other in
            let hold = try other.application.answers.reserve(ResponseBudget.standardBytes)
            let refused = try await other.get("/export/hexagons.geojson")
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] != nil)
            try await withWorld { world in
                for format in ["geojson", "csv", "geojsonl"] {
                    let answer = try await world.get("/export/hexagons.\(format)")
                    #expect(answer.status == .ok, "\(format)")
                }
            }
            withExtendedLifetime(hold) {}
            #expect(other.application.answers.bytes > 0)
        }
    }

    @Test("a body that several answers share is counted once; what is too much is refused, and has room again later")
    func budget() throws {
        let budget = ResponseBudget(bytes: 3 << 20)
        let body = [UInt8](repeating: 7, count: 2 << 20)
        var holds: [ResponseBudget.Reservation?] = []
        for _ in 0..<10 { holds.append(try budget.reserve(body)) }
        #expect(budget.bytes == 2 << 20)
        let other = [UInt8](repeating: 8, count: 2 << 20)
        #expect(throws: WorkError.tooManyAnswers) { try budget.reserve(other) }
        #expect(throws: WorkError.tooManyAnswers) { try budget.reserve(2 << 20) }
        // A small one always has room.
        #expect(try budget.reserve([1, 2, 3]) == nil)
        holds = []
        #expect(budget.bytes == 0)
        #expect(try budget.reserve(other) != nil)
        // One larger than the budget has room alone.
        let large = [UInt8](repeating: 9, count: 4 << 20)
        #expect(try budget.reserve(large) != nil)
    }

    @Test(
        "features in pieces are those written at once, in every collection and format",
        arguments: Catalogue.all)
    func pieces(_ collection: Dataset) async throws {
        try await withWorld { world in
            try await world.insert(try Self.observations())
            let features = world.application.features
            let snapshot = try world.application.frames.snapshot()
            let query = try Self.query(["hours": "6"], collection, world)
            for format in ExportFormat.allCases {
                var whole = FeatureWriter(collection, as: format)
                whole.begin()
                _ = try await features.write(query, in: snapshot, after: nil, limit: 10_000, to: &whole)
                whole.end()
                var writer = FeatureWriter(collection, as: format)
                writer.begin()
                var reader = features.reader(query, in: snapshot)
                var bytes: [UInt8] = []
                var pieces = 0
                while !reader.isAtEnd {
                    try await reader.read(PageLimit(features: 7, bytes: 2_000), to: &writer)
                    // Beyond the limit there is one feature or polygon at most.
                    #expect(writer.count < 20_000)
                    bytes += writer.drain()
                    pieces += 1
                    try #require(pieces < 2_000)
                }
                writer.end()
                bytes += writer.drain()
                #expect(bytes == whole.drain(), "\(collection) \(format)")
                #expect(writer.features == whole.features)
                if collection == .polygons { #expect(pieces > 5) }
            }
        }
    }

    @Test("a page ends with the feature that reaches its byte limit, and the next link continues after it")
    func pagesByBytes() async throws {
        try await withWorld { world in
            try await world.insert(try Self.observations(60))
            let features = world.application.features
            let snapshot = try world.application.frames.snapshot()
            for (collection, name) in [(Dataset.hexagons, "hexagons"), (.polygons, "polygons")] {
                let query = try Self.query([:], collection, world)
                var ids: [String] = []
                var cursor: FeatureSource.Cursor?
                var pages = 0
                repeat {
                    var page = FeaturePage(
                        features.reader(query, in: snapshot, after: cursor), at: snapshot.head,
                        FeatureWriter(collection, as: .geojson), limit: 25, maximumBytes: 3_000, address: "http://h/x",
                        query: nil
                    ) { "after=\($0.text)" }
                    var bytes: [UInt8] = []
                    while let piece = try await page.next() { bytes += piece }
                    let json = try JSONDecoder().decode(JSON.self, from: Data(bytes))
                    #expect(json["numberReturned"]?.double == Double(json.features.count))
                    ids += json.features.compactMap { $0["id"]?.string }
                    cursor = json.link("next").map { FeatureSource.Cursor(text: String($0.split(separator: "=")[1])) }
                    pages += 1
                    try #require(pages < 100)
                } while cursor != nil
                let all = try await world.json("/collections/\(name)/items?limit=10000")
                #expect(ids == all.features.compactMap { $0["id"]?.string })
                #expect(pages > 2, "\(name)")
            }
        }
    }

    @Test("a large page has a tag before it is made, which is another one whenever the page is")
    func largePageTag() async throws {
        try await withWorld { world in
            try await world.insert(try Self.observations(1_900))
            let address = "/collections/hexagons/items?limit=10000"
            let page = try await world.get(address)
            let tag = try #require(page.headers[.eTag])
            #expect(page.headers[.contentLength] == nil && tag.hasPrefix("\"") && tag.hasSuffix("\""))
            let again = try await world.get(address)
            #expect(again.headers[.eTag] == tag && again.body == page.body)
            let known = try await world.get(address, [.ifNoneMatch: tag])
            #expect(known.status == .notModified && known.body.readableBytes == 0 && known.headers[.eTag] == tag)
            for other in ["limit=10000&properties=severity", "limit=1800", "limit=10000&severity=1"] {
                let answer = try await world.get("/collections/hexagons/items?\(other)")
                #expect(answer.status == .ok && answer.body != page.body)
                #expect(answer.headers[.eTag] != nil && answer.headers[.eTag] != tag, "\(other)")
            }
            try await world.insert([try observation(id: "new", try cell(10, 50), altitude: 30, at: -10)])
            let changed = try await world.get(address, [.ifNoneMatch: tag])
            #expect(changed.status == .ok && changed.headers[.eTag] != tag && changed.body != page.body)
        }
    }

    @Test("a large page and an export go out whole, without a length; HEAD of an export tells it")
    func streamed() async throws {
        try await withWorld { world in
            try await world.insert(try Self.observations(1_500))
            let page = try await world.get("/collections/hexagons/items?limit=10000")
            #expect(page.status == .ok)
            #expect(page.headers[.contentLength] == nil)
            #expect(page.body.readableBytes > PageLimit.piece.bytes)
            #expect(try page.json.features.count == 1_500)
            #expect(try page.json["numberReturned"]?.double == 1_500)
            let small = try await world.get("/collections/hexagons/items?limit=10")
            #expect(small.headers[.contentLength] == "\(small.body.readableBytes)")
            #expect(small.headers[.eTag] != nil)
            let export = try await world.get("/export/hexagons.geojson")
            #expect(try export.json.features == page.json.features)
            let head = try await world.get("/export/hexagons.geojson", method: .head)
            #expect(head.status == .ok)
            #expect(head.headers[.contentLength] == "\(export.body.readableBytes)")
            #expect(head.headers[.contentType] == export.headers[.contentType])
            #expect(try await world.get("/export/hexagons.geojson?after=x", method: .head).status == .badRequest)
        }
    }

    // MARK: - Filters and keys of caches

    private static let names = (0..<33).map { "n\($0)" }.joined(separator: ",")

    @Test("lists of more than 32 names are refused on every route, and named")
    func lists() async throws {
        try await withWorld { world in
            for route in [
                "/tiles/pireps/latest/3/1/1.png", "/maps/hexagons.png", "/collections/hexagons/items",
                "/changes/hexagons", "/timeline.json", "/export/observations.csv", "/legend.png",
                "/tiles/hexagons.json",
            ] {
                let answer = try await world.get("\(route)?source=\(Self.names)")
                #expect(answer.status == .badRequest, "\(route)")
                #expect(try answer.json["parameter"]?.string == "source")
                #expect(answer.body.readableBytes < 1_000)
            }
            let most = Self.names.split(separator: ",").dropLast().joined(separator: ",")
            #expect(try await world.get("/tiles/pireps/latest/3/1/1.png?source=\(most)").status == .ok)
            #expect(
                try await world.get("/legend.json?kind=\(String(repeating: "sigmet,", count: 40))x").status
                    == .badRequest)
            #expect(
                try await world.get("/legend.json?severity=\(String(repeating: "1,", count: 40))1").status
                    == .badRequest)
        }
    }

    @Test("a timeline repeats no more than 512 bytes of parameters in each frame")
    func timelineParameters() async throws {
        try await withWorld { world in
            let long = (0..<30).map { "a-long-name-of-a-source-\($0)" }.joined(separator: ",")
            let refused = try await world.get("/timeline.json?source=\(long)")
            #expect(refused.status == .badRequest)
            #expect(try refused.json["parameter"]?.string == "source")
            #expect(try await world.get("/timeline.json?source=skypath,other&style=print").status == .ok)
        }
    }

    @Test("a cache counts what its keys hold")
    func keys() throws {
        let budget = CacheBudget(bytes: 100_000)
        let cache = SharedCache<String, Int, Never>(budget, keyBytes: { $0.utf8.count }) { _ in 0 }
        for number in 0..<100 { cache.insert(number, for: String(repeating: "k", count: 9_000) + "\(number)") }
        #expect(cache.statistics.bytes <= 100_000)
        #expect(cache.statistics.entries <= 11)

        var filter = Filter()
        #expect(filter.estimatedBytes == 0)
        filter.sources = Set(try (0..<32).map { try source("source-number-\($0)") })
        #expect(filter.estimatedBytes > 32 * 64)
    }

    @Test("answers kept by address count the address")
    func addresses() {
        let answers = ResponseMicrocache {
            ResponseMicrocache.CacheContext(second: 1, snapshot: 0, sources: 0, styles: 0, freshness: 0)
        }
        let empty = ResponseMicrocache.CachedResponse(
            head: HTTPResponseHead(version: .http1_1, status: .ok), body: ByteBuffer())
        for number in 0..<8_000 {
            let address = String(repeating: "a", count: 8_000) + "\(number)"
            answers.insert(empty, for: ResponseMicrocache.CacheKey(address), at: answers.moment)
        }
        #expect(answers.statistics.bytes <= 8 << 20)
        #expect(answers.statistics.entries < 1_100)
    }

    @Test("the tiles that are drawn ahead are remembered by no more than some megabytes of keys")
    func hotTiles() throws {
        let latestTiles = LatestTileRequests()
        let styles = try StyleLibrary(folder: World.repository.appending(path: "Styles").path)
        let publication = Publication(version: Version(rawValue: 1), asOf: noon)
        for number in 0..<1_900 {
            var filter = Filter()
            filter.sources = Set(
                try (0..<32).map { try source(String(repeating: "x", count: 50) + "\(number)-\($0)") })
            latestTiles.note(
                TileRequest(
                    layers: LayerList(.hexagons), coord: try TileCoord(z: 0, x: 0, y: 0).orMissing(), scale: .one,
                    instant: noon, filter: filter, style: styles.default),
                isLatest: true, publication: publication, now: noon)
        }
        #expect(latestTiles.requests(for: publication, limit: 10_000).count < 600)
    }

    // MARK: - Polygons

    @Test("polygons that smoothing would give too many corners are refused before they are made")
    func corners() async throws {
        try await withWorld { world in
            try await world.insert(try Self.observations())
            #expect(try await world.get("/collections/polygons/items?smooth=3").status == .ok)
        }
        #expect(ProblemCode.tooManyCorners.status == .badRequest)
    }
}
