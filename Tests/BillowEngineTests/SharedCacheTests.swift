import EngineTestSupport
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Foundation
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Values are made once and kept while there is room", .timeLimit(.minutes(20)))
struct SharedCacheTests {
    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    private struct Broken: Error {}

    @Test("concurrent askers of one key share one making")
    func single() async throws {
        let cache = SharedCache<Int, String, any Error>(CacheBudget()) { $0.count }
        let made = Counter()
        let gate = TestGate()
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await cache.value(for: 1) {
                        made.add()
                        await gate.pass()
                        return "one"
                    }
                }
            }
            try await eventually("all have asked") { cache.statistics.hits + cache.statistics.misses >= 20 }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: "one", count: 20))
        #expect(made.count == 1)
        #expect(cache.statistics.misses == 1)
        #expect(cache.statistics.hits == 19)
        #expect(cache.statistics.entries == 1)
    }

    @Test("a short computation runs once, on its requester's thread, and all concurrent requests get its result")
    func madeHere() async throws {
        let cache = SharedCache<Int, Result<String, Broken>, Never>(CacheBudget()) { _ in 3 }
        let work = WorkExecutor(hasOwnThreads: true)
        let made = Counter()
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask {
                    // Half of the requests would start a task, had nobody begun.
                    if number >= 10 {
                        try await eventually("the computation has begun") { made.count == 1 }
                        return try await cache.value(for: 1) { .failure(Broken()) }.get()
                    }
                    return try await work.run(.tile) {
                        let isJob = WorkThreads.isOnOne
                        return try await cache.valueMadeHere(for: 1) {
                            made.add()
                            // At most a minute, in which all others have come.
                            for _ in 0..<6_000 where cache.statistics.hits < 19 { usleep(10_000) }
                            return isJob && WorkThreads.isOnOne ? .success("one") : .failure(Broken())
                        }.get()
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: "one", count: 20))
        #expect(made.count == 1 && cache.statistics.misses == 1 && cache.statistics.entries == 1)
        #expect(try await cache.valueMadeHere(for: 1) { .failure(Broken()) }.get() == "one")
    }

    @Test("an error of a short computation reaches its requester, and the next one computes again")
    func errorsMadeHere() async throws {
        let cache = SharedCache<Int, String, any Error>(CacheBudget()) { $0.count }
        await #expect(throws: Broken.self) { try await cache.valueMadeHere(for: 1) { throw Broken() } }
        #expect(try await cache.valueMadeHere(for: 1) { "well" } == "well")
    }

    @Test("an error reaches all waiting requests and is not cached")
    func errors() async throws {
        let cache = SharedCache<Int, String, any Error>(CacheBudget()) { $0.count }
        await #expect(throws: Broken.self) { try await cache.value(for: 1) { throw Broken() } }
        #expect(try await cache.value(for: 1) { "well" } == "well")
    }

    private static func text(_ letter: String, _ bytes: Int = 9_800) -> String {
        String(repeating: letter, count: bytes)
    }

    @Test("the least recently used value is evicted first, and an oversized value is not cached")
    func eviction() async throws {
        let budget = CacheBudget(bytes: 80_000)
        let cache = SharedCache<Int, String, any Error>(budget) { $0.count }
        for key in 0..<8 { _ = try await cache.value(for: key) { Self.text("a") } }
        #expect(cache.statistics.bytes == 80_000)
        _ = try await cache.value(for: 0) { "never asked" }
        _ = try await cache.value(for: 8) { Self.text("b") }
        #expect(cache.statistics.bytes <= 80_000)
        let misses = cache.statistics.misses
        #expect(try await cache.value(for: 0) { "gone" } == Self.text("a"))
        #expect(try await cache.value(for: 8) { "gone" } == Self.text("b"))
        #expect(cache.statistics.misses == misses)
        #expect(try await cache.value(for: 1) { "anew" } == "anew")
        let large = Self.text("x", 40_001)
        let before = cache.statistics.bytes
        #expect(try await cache.value(for: 9) { large } == large)
        #expect(cache.statistics.bytes == before)
    }

    @Test("caches share their budget: the one that is used takes the room of the one that isn't")
    func sharing() async throws {
        let budget = CacheBudget(bytes: 100_000)
        let idle = SharedCache<Int, String, any Error>(budget) { $0.count }
        let busy = SharedCache<Int, String, any Error>(budget) { $0.count }
        for key in 0..<9 { idle.insert(Self.text("i"), for: key) }
        for key in 0..<200 {
            busy.insert(Self.text("b"), for: key)
            #expect(idle.statistics.bytes + busy.statistics.bytes <= 100_000)
            // Still in use, however old.
            #expect(busy.cachedValue(for: 0) != nil)
        }
        #expect(idle.statistics.entries == 0)
        #expect(busy.statistics.entries >= 8)
    }

    @Test("a cache that is gone gives its room back")
    func gone() {
        let budget = CacheBudget(bytes: 100_000)
        var cache: SharedCache<Int, String, any Error>? = SharedCache(budget) { $0.count }
        for key in 0..<9 { cache?.insert(Self.text("a"), for: key) }
        #expect(cache?.statistics.entries == 9)
        cache = nil
        let other = SharedCache<Int, String, any Error>(budget) { $0.count }
        for key in 0..<10 { other.insert(Self.text("b"), for: key) }
        #expect(other.statistics.entries == 10)
    }

    @Test("a computation without waiting requests is cancelled, and the next request starts a new one")
    func abandoned() async throws {
        let cache = SharedCache<Int, String, any Error>(CacheBudget()) { $0.count }
        let wasCancelled = TestGate()
        let began = TestGate()
        let asker = Task {
            try await cache.value(for: 1) {
                began.open()
                await withTaskCancellationHandler {
                    await wasCancelled.pass()
                } onCancel: {
                    wasCancelled.open()
                }
                try Task.checkCancellation()
                return "late"
            }
        }
        await began.pass()
        asker.cancel()
        await wasCancelled.pass()
        await #expect(throws: CancellationError.self) { try await asker.value }
        #expect(try await cache.value(for: 1) { "new" } == "new")
    }

    @Test("one of two waiting requests may be cancelled; the other is served")
    func oneLeaves() async throws {
        let cache = SharedCache<Int, String, any Error>(CacheBudget()) { $0.count }
        let gate = TestGate()
        let make: @Sendable () async throws -> String = {
            await gate.pass()
            try Task.checkCancellation()
            return "value"
        }
        let first = Task { try await cache.value(for: 1, make: make) }
        let second = Task { try await cache.value(for: 1, make: make) }
        try await eventually("both have asked") { cache.statistics.hits + cache.statistics.misses >= 2 }
        first.cancel()
        gate.open()
        #expect(try await second.value == "value")
    }

    // MARK: - Painters

    private struct Order {
        var content: PictureContent
        var coord: TileCoord
        var style: Style

        func paint(_ painter: PicturePainter, _ encoder: IndexedPNGEncoder) throws(PictureError) -> [UInt8] {
            try painter.png(content, at: coord, scale: .one, style: style, encoder: encoder)
        }
    }

    private func order() throws -> Order {
        let row = ObservationRow(
            key: ObservationKey(observedAt: noon, tag: 1), cell: try cell(10, 50),
            altitude: AltitudeBand(try AltitudeBlock(thousands: 30).orMissing()),
            intensity: .reported(.moderate, edr: nil), observedAt: noon, category: nil,
            source: SourceNumber(rawValue: 0), kind: .inSitu, since: Version(rawValue: 1))
        let window = Window(
            rows: [row], sources: [SourceRecord(number: SourceNumber(rawValue: 0), id: try source("a"), merge: .keep)])
        let plane = Frame(window: window, at: noon, filter: Filter(), table: SeverityTable()).plane()
        let coord = try TileCoord(z: 0, x: 0, y: 0).orMissing()
        let styles = try StyleLibrary(folder: World.repository.appending(path: "Styles").path)
        return Order(
            content: PictureContent(
                LayerList(.hexagons), of: PictureData(instant: noon, plane: plane), in: MapRegion(coord, scale: .one)),
            coord: coord, style: styles.default)
    }

    @Test("many more pictures than painters are painted, all alike")
    func painters() async throws {
        let pool = try PainterPool(expecting: 2)
        let order = try order()
        let work = WorkExecutor()
        let pngs = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let png = try await work.run(.tile) { try pool.paint(order.paint) }
                    pool.prepare(on: work) { true }
                    return png
                }
            }
            return try await group.reduce(into: [[UInt8]]()) { $0.append($1) }
        }
        #expect(pngs.count == 20)
        #expect(Set(pngs).count == 1)
    }
}
