import Datasets
import EngineTestSupport
import BillowRaster
import BillowSnapshot
import BillowStore
import BillowSync
import Foundation
import Geometry
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Tiles drawn before they are requested")
struct PrerenderTests {
    @Test("the newest picture's tiles that were requested are there when the next is published")
    func prerendered() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .light)])
            let path = PixelPlace(H3.center(of: cell), zoom: 8).path()
            _ = try await world.get(path)
            world.clock.advance(by: 60)
            try await world.insert([try observation(cell, severity: .moderate, at: 30)])
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
            try await world.insert([try observation(cell, severity: .light, at: -700)])
            _ = try await world.get(PixelPlace(H3.center(of: cell), zoom: 8).path("20261121T115000Z"))
            let latestTiles = world.application.latestTiles.requests(
                for: try world.application.frames.snapshot().publication, limit: 9)
            #expect(latestTiles.isEmpty)
        }
    }

    @Test("retention deletes fetched and ingested data, and never imports")
    func retention() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            _ = try await world.store.register(try source("efb"), merge: .keep, simulated: false)
            let old = -8 * 86_400
            try await world.insert([
                try observation(try cell(10, 50), at: old), try observation(try cell(11, 50), at: -60),
                // A single record confirms no time.
                try observation(try cell(12, 51), at: -30),
                try observation(try cell(11, 50), at: old, source: "efb"),
            ])
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [try observation(try cell(12, 50), at: old - 60)],
                    importedBefore: .distantFuture))
            let before = try await world.application.retention.prune()
            // A whole number of steps of six hours, the longest history and a trend before the retention.
            #expect(before == noon.advanced(by: -7 * 86_400 - 12 * 3_600))
            let left = try await world.store.rows(from: .distantPast, to: .distantFuture).rows
            #expect(left.map { $0.observedAt.seconds - noon.seconds } == [old - 60, -60, -30])
        }
    }

    @Test("the past stays, imported beside a source of the same name: Florida's reports on their map, hazards of a day")
    func importsOfAFetchedSource() async throws {
        try await withWorld(configured: ["awc"]) { world in
            try await world.fetched("awc")
            try await world.insert([
                try observation(try cell(-80, 26), severity: .light, at: -8 * 86_400, source: "awc"),
                try observation(try cell(-80, 26), severity: .light, at: -60, source: "awc"),
                // A single record confirms no time.
                try observation(try cell(-60, 26), severity: .light, at: -30, source: "awc"),
            ])
            let importer = FileImporter(store: world.store, now: { noon })
            let folder = World.repository.appending(path: "Tests/BillowExchangeTests/Fixtures")
            for name in [
                "pirep_json_florida_2026-07-21T20Z.json", "airsigmet_json_2026-07-21T20Z.json",
                "usa_sigmets_2025-12-19T0218.geojson", "usa_airmets_2025-12-19T0218.geojson",
                "usa_sigmets_2025-12-19T0642.geojson",
            ] { _ = try await importer.importFile(folder.appending(path: name).path) }
            try await world.refresh()
            let tile = "/tiles/hexagons/20260721T200000Z/6/17/27.png"
            let before = try await world.picture(tile)
            let hazards = { try await world.store.areas(.hazards, from: .distantPast, to: .distantFuture, asOf: nil) }
            let issued = try await hazards()
            #expect(issued.count > 20 && issued.allSatisfy { $0.source.name == "awc" })

            #expect(try await world.application.retention.prune() < noon)
            try await world.restarted { world in
                let after = try await world.picture(tile)
                #expect(after.pixels == before.pixels && after.pixels.contains { $0.alpha > 0 })
                let reports = try await world.json("/collections/pireps/items?limit=100").features
                #expect(reports.count == 57)
            }
            #expect(try await hazards() == issued)
            #expect(try await world.store.rows(from: .distantPast, to: .distantFuture).rows.count == 35)
        }
    }
}
