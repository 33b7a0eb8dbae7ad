import BillowSnapshot
import BillowStore
import Geometry
import Testing
import Turbulence

@testable import BillowServer

@Suite("Tiles drawn before they are asked for")
struct PrerenderTests {
    @Test("the newest picture's tiles that were asked for are there when the next is published")
    func prerendered() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.take([try observation(cell, severity: .light)])
            let path = PixelPlace(H3.center(of: cell), zoom: 8).path()
            _ = try await world.get(path)
            world.clock.advance(by: 60)
            try await world.take([try observation(cell, severity: .moderate, at: 30)])
            await world.application.prerenderer.prerender()
            let before = world.application.tiles.statistics
            #expect(try await world.colour(cell) == Pixel.moderate)
            let after = world.application.tiles.statistics
            #expect(after.misses == before.misses && after.hits == before.hits + 1)
        }
    }

    @Test("pictures of the past are not drawn again")
    func past() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.take([try observation(cell, severity: .light, at: -700)])
            _ = try await world.get(PixelPlace(H3.center(of: cell), zoom: 8).path("20261121T115000Z"))
            let hot = world.application.hot.requests(for: try world.application.frames.snapshot().publication, limit: 9)
            #expect(hot.isEmpty)
        }
    }

    @Test("what sources sent goes when it is too old, what was imported stays")
    func retention() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let old = -8 * 86_400
            try await world.take([
                try observation(try cell(10, 50), at: old), try observation(try cell(11, 50), at: -60),
                try observation(try cell(12, 50), at: old - 60, source: "import"),
            ])
            let before = try await world.application.retention.prune()
            #expect(before == noon.advanced(by: -7 * 86_400 - 6 * 3_600))
            let left = try await world.store.rows(from: .distantPast, to: .distantFuture).rows
            #expect(left.map { $0.observedAt.seconds - noon.seconds } == [old - 60, -60])
        }
    }
}
