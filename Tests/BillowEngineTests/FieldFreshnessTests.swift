import BillowFields
import BillowSnapshot
import BillowStore
import EngineTestSupport
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("How fresh and how complete fields are")
struct FieldFreshnessTests {
    private static let hour = 3_600

    /// The policy of a source `awc` that requests fields.
    private func policy(_ world: World, _ products: Set<FieldProduct>? = nil) throws -> FreshnessPolicy {
        let frames = FrameSource(
            publisher: world.publisher, store: world.store, logger: World.quiet())
        let feed = FreshnessSettings.FetchedSource(kinds: [.fields], fieldProducts: products)
        return FreshnessPolicy(
            FreshnessRegister(FreshnessSettings(staleAfterSeconds: 300, feeds: [try source("awc"): feed])),
            frames: frames)
    }

    /// Stores fields, fetched now.
    private func insert(_ world: World, _ fields: [FieldLevelDraft]) async throws {
        _ = try await world.store.commit(
            Batch(source: source("awc"), fields: fields, fetchedKinds: [.fields: world.clock.now]))
        try await world.refresh()
    }

    private func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> GeographicRegion {
        .box(try #require(BoundingBox(west: west, south: south, east: east, north: north)))
    }

    @Test(
        "a product is stale when its newest field is late by its schedule, however recent the fetch",
        arguments: [
            (FieldProduct.nowcast, 35, false), (.nowcast, 36, true), (.forecast, 150, false), (.forecast, 151, true),
        ])
    func stale(product: FieldProduct, minutes: Int, isStale: Bool) async throws {
        try await withWorld { world in
            let lead = product == .nowcast ? 0 : 6 * Self.hour
            try await insert(
                world,
                [TestField.draft(product, run: noon.advanced(by: -minutes * 60), lead: lead, on: TestField.grid())])
            let snapshot = try #require(world.publisher.snapshot)
            let freshness = try policy(world).freshness(of: [.fields], in: snapshot, filter: Filter())
            #expect(freshness.isStale == isStale && freshness.dataTime == noon)
        }
    }

    @Test("one late product suffices, and so does a requested product that never arrived")
    func products() async throws {
        try await withWorld { world in
            let grid = try TestField.grid()
            try await insert(
                world,
                [
                    TestField.draft(run: noon.advanced(by: -Self.hour), on: grid),
                    TestField.draft(.forecast, run: noon, lead: Self.hour, on: grid),
                ])
            let snapshot = try #require(world.publisher.snapshot)
            for (products, isStale) in [
                (nil, true), ([.nowcast, .forecast], true), ([.forecast], false), ([.nowcast], true),
            ] as [(Set<FieldProduct>?, Bool)] {
                let freshness = try policy(world, products).freshness(of: [.fields], in: snapshot, filter: Filter())
                #expect(freshness.isStale == isStale, "\(String(describing: products))")
            }
        }
    }

    @Test("a field covers its domain and validity, also in the future; data outside is incomplete")
    func coverage() async throws {
        try await withWorld { world in
            // 100° W to 95° W, 30° N to 33° N.
            let grid = try TestField.grid()
            let nowcasts = try [-7_200, -6_300, -1_800, -900, 0].map {
                try TestField.draft(run: noon.advanced(by: $0), on: grid)
            }
            try await insert(
                world,
                nowcasts + [TestField.draft(.forecast, run: noon, lead: 6 * Self.hour, on: grid)])
            let snapshot = try #require(world.publisher.snapshot)
            let policy = try policy(world)
            func isIncomplete(_ region: GeographicRegion, _ seconds: Int) -> Bool {
                policy.freshness(of: [.fields], of: region, in: snapshot, filter: Filter())
                    .isIncomplete(at: noon.advanced(by: seconds), lookBack: [.fields: 0])
            }
            let inside = try box(-99, 30.5, -96, 32.5)
            for region in [try box(-101, 30.5, -96, 32.5), try box(20, 30.5, 21, 32.5), .everywhere] {
                #expect(isIncomplete(region, 0))
            }
            for (seconds, isMissing) in [
                (-7_201, true), (-7_200, false), (-4_500, false), (-4_499, true), (-1_801, true), (-1_800, false),
                (0, false), (1_800, false), (1_801, true), (6 * Self.hour - 5_401, true),
                (6 * Self.hour - 5_400, false), (6 * Self.hour + 5_400, false), (6 * Self.hour + 5_401, true),
            ] {
                #expect(isIncomplete(inside, seconds) == isMissing, "\(seconds)")
            }
            let freshness = policy.freshness(of: [.fields], of: inside, in: snapshot, filter: Filter())
            #expect(freshness.completeSince == noon.advanced(by: -1_800))
        }
    }

    @Test("an import covers what it has and is never stale; without any field nothing is known")
    func imports() async throws {
        try await withWorld { world in
            let frames = FrameSource(
                publisher: world.publisher, store: world.store, logger: World.quiet())
            let policy = FreshnessPolicy(
                FreshnessRegister(FreshnessSettings(staleAfterSeconds: nil, feeds: [:])), frames: frames)
            _ = try await world.store.commit(Batch(source: source("skypath"), fetchedAt: noon))
            try await world.refresh()
            let before = try #require(world.publisher.snapshot)
            #expect(policy.freshness(of: [.fields], in: before, filter: Filter()).coverage[.fields] == .nothing)
            _ = try await world.store.commit(
                Batch(
                    source: source("import"),
                    fields: [TestField.draft(run: noon.advanced(by: -86_400), on: TestField.grid())]))
            try await world.refresh()
            let after = try #require(world.publisher.snapshot)
            let freshness = try policy.freshness(
                of: [.fields], of: box(-99, 30.5, -96, 32.5), in: after, filter: Filter())
            #expect(!freshness.isStale)
            #expect(!freshness.isIncomplete(at: noon.advanced(by: -86_400), lookBack: [.fields: 0]))
            #expect(freshness.isIncomplete(at: noon, lookBack: [.fields: 0]))
        }
    }
}
