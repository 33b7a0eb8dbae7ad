import BillowSnapshot
import BillowStore
import Datasets
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

/// What is known of one kind of data tells nothing of another.
@Suite("Coverage by kind of data")
struct KindCoverageTests {
    private func expect(_ world: World, _ address: String, incomplete: Bool) async throws {
        let response = try await world.get(address)
        #expect([.ok, .noContent].contains(response.status), "\(address) \(response.status)")
        #expect((response.header("X-Incomplete") == "true") == incomplete, "\(address)")
    }

    private func ring(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaRing {
        try AreaRing(
            [(west, south), (east, south), (east, north), (west, north), (west, south)].map {
                try LonLat(longitude: $0.0, latitude: $0.1).orMissing("place")
            })
    }

    private func area(_ collection: IssuedArea.DatasetNumber, _ kind: String, source name: String) throws -> IssuedArea
    {
        let corners = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try place(-95 + $0.0, 38 + $0.1) }
        return IssuedArea(
            collection: collection, id: "\(kind)-1", source: try source(name), kind: kind, severity: .moderate,
            validFrom: noon.advanced(by: -60), validTo: noon.advanced(by: 600), historySeconds: 7_200,
            geometry: try MultiPolygon(outline: corners).orMissing())
    }

    /// An answer of each sort about a layer.
    private func addresses(_ layer: String) -> [String] {
        [
            "/tiles/\(layer)/latest/2/1/1.png", "/tiles/\(layer)/latest/2/1/1.mvt", "/maps/\(layer).png?width=64",
            "/collections/\(layer)/items", "/export/\(layer).csv", "/tiles/\(layer).json",
            "/timeline.json?layers=\(layer)", "/legend.svg?layer=\(layer)",
        ]
    }

    @Test("a kind of data that was never requested and never sent is incomplete")
    func onlyOneKind() async throws {
        let layers: [(stored: String, others: [String])] = [
            ("hexagons", ["hazards", "pireps", "traffic", "forecast", "advisories"]),
            ("hazards", ["hexagons", "pireps", "traffic", "forecast", "advisories"]),
        ]
        for (stored, others) in layers {
            try await withWorld(known: ["ingest": .keep]) { world in
                for other in [stored] + others {
                    try await expect(world, "/collections/\(other)/items", incomplete: true)
                }
                let isIngest = stored == "hexagons"
                _ = try await world.store.commit(
                    Batch(
                        source: nil,
                        observations: isIngest ? [try observation(try cell(10, 50), source: "ingest")] : [],
                        areas: isIngest ? [] : [try area(.hazards, "sigmet", source: "ingest")]))
                try await world.refresh()
                for address in addresses(stored) {
                    try await expect(world, address, incomplete: false)
                }
                for address in others.flatMap(addresses) {
                    try await expect(world, address, incomplete: true)
                }
                for page in ["/readyz", "/status"] {
                    let states = try await world.json(page)["layers"]
                    #expect(states?[stored]?["incomplete"]?.bool == false)
                    #expect(states?[stored]?["stale"]?.bool == false)
                    for other in others {
                        #expect(states?[other]?["incomplete"]?.bool == true, "\(page) \(other)")
                        #expect(states?[other]?["stale"]?.bool == true, "\(page) \(other)")
                    }
                }
                // Another server of the same database knows it too.
                try await world.restarted { again in
                    try await expect(again, "/collections/\(stored)/items", incomplete: false)
                    try await expect(again, "/collections/\(others[0])/items", incomplete: true)
                }
            }
        }
    }

    // MARK: - Issued polygons

    /// A corridor over Spain, and polygons of the world.
    private func withPolygonsOfTheWorld(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld(feeds: ["skypath": [.observations, .polygons]]) { world in
            let since = noon.advanced(by: -10_800)
            _ = try await world.store.commit(
                Batch(
                    source: try source("skypath"), observations: [try observation(try cell(-5, 45))],
                    areas: [try area(.polygons, "polygon", source: "skypath")],
                    coverage: [
                        CoverageChange(
                            kind: .observations, part: "corridor", rings: [try ring(-12, 40, 0, 50)], since: since,
                            at: noon, isContinued: false, lastFetch: nil),
                        CoverageChange(
                            kind: .polygons, part: "polygons", rings: [nil], since: since, at: noon,
                            isContinued: false, lastFetch: nil),
                    ], fetchedAt: noon, fetchedKinds: [.observations: noon, .polygons: noon], completeSince: since))
            _ = try await world.store.commit(
                Batch(source: try source("skypath"), fetchedKinds: [.polygons: noon.advanced(by: -600)]))
            _ = try await world.store.commit(Batch(source: try source("skypath"), fetchedKinds: [.polygons: noon]))
            try await world.refresh()
            try await test(world)
        }
    }

    @Test("issued polygons are complete where they are requested, wherever the hexagons are")
    func polygonsOfTheWorld() async throws {
        try await withPolygonsOfTheWorld { world in
            let (spain, america) = ("bbox=-11,41,-1,49", "bbox=-100,30,-70,50")
            for (query, there, elsewhere) in [
                ("kind=polygon&", false, false), ("source=skypath&", false, false), ("", false, true),
                ("source=billow&", false, true), ("source=skypath&kind=in-situ&", false, true),
            ] {
                for (box, isExpected) in [(spain, there), (america, elsewhere)] {
                    let map = "/maps/polygons.png?width=64&\(query)\(box)"
                    try await expect(world, map, incomplete: isExpected)
                }
            }
            // Features have both beside each other, unless only the issued ones are requested.
            for (query, isExpected) in [("kind=polygon&", false), ("source=skypath&", true), ("", true)] {
                let items = "/collections/polygons/items?\(query)\(america)"
                try await expect(world, items, incomplete: isExpected)
                try await expect(world, "/collections/polygons/items?\(query)\(spain)", incomplete: false)
            }
        }
    }

    @Test("issued polygons are incomplete where they were never requested, or not for too long")
    func polygonsUnknown() async throws {
        try await withWorld(feeds: ["skypath": [.observations]], known: ["skypath": .replace]) { world in
            try await world.insert([try observation(try cell(-5, 45))])
            try await world.fetched("skypath", completeSince: noon.advanced(by: -10_800))
            try await world.refresh()
            try await expect(world, "/collections/polygons/items", incomplete: false)
            try await expect(world, "/collections/polygons/items?kind=polygon", incomplete: true)
            try await expect(world, "/maps/polygons.png?width=64&kind=polygon", incomplete: true)
        }
        try await withPolygonsOfTheWorld { world in
            world.clock.advance(by: 500)
            let now = world.clock.now
            _ = try await world.store.commit(
                Batch(source: try source("skypath"), fetchedAt: now, fetchedKinds: [.observations: now]))
            try await world.refresh()
            let spain = "bbox=-11,41,-1,49"
            try await expect(world, "/maps/polygons.png?width=64&\(spain)", incomplete: false)
            try await expect(world, "/maps/polygons.png?width=64&kind=polygon&\(spain)", incomplete: true)
            try await expect(world, "/collections/polygons/items?\(spain)", incomplete: true)
        }
    }
}
