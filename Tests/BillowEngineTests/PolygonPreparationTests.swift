import BillowSnapshot
import Datasets
import EngineTestSupport
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Preparation of polygons")
struct PolygonPreparationTests {
    @Test("polygons are precomputed after a request, and no longer when nobody requests them for an hour")
    func demand() async throws {
        try await withWorld { world in
            try await world.insert([observation(cell(8, 48)), observation(cell(9, 48), severity: .light)])
            let frames = FrameSource(
                publisher: world.publisher, store: world.store, logger: World.quiet())
            let polygons = FeatureSource(frames: frames, store: world.store).polygons
            var snapshot = try #require(world.publisher.snapshot)
            try await polygons.prepare(snapshot)
            #expect(!polygons.isPrepared)

            let query = FeatureQuery(.polygons, at: snapshot.publication.asOf)
            let requested = try await polygons.polygons(query, in: snapshot)
            #expect(requested.count == 2)
            try await polygons.prepare(snapshot)
            #expect(polygons.isPrepared)
            #expect(try await polygons.polygons(query, in: snapshot) == requested)

            world.clock.advance(by: PolygonSource.demandSeconds)
            try await world.refresh()
            snapshot = try #require(world.publisher.snapshot)
            try await polygons.prepare(snapshot)
            #expect(polygons.isPrepared)

            world.clock.advance(by: 60)
            try await world.refresh()
            snapshot = try #require(world.publisher.snapshot)
            try await polygons.prepare(snapshot)
            #expect(!polygons.isPrepared)
        }
    }
}
