import BillowFields
import BillowSnapshot
import BillowStore
import BillowTiles
import EngineTestSupport
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Answers from a damaged store")
struct DamageMarkTests {
    @Test("a read that is the first to meet damage gives no answer until the snapshot says that it is incomplete")
    func firstRead() async throws {
        try await withWorld { world in
            let hex = try cell(8, 48)
            try await world.insert((0..<20).map { try observation(id: "o\($0)", hex, at: -40_000 - $0) })
            let frames = FrameSource(
                publisher: world.publisher, store: world.store, logger: World.quiet())
            let policy = FreshnessPolicy(
                FreshnessRegister(FreshnessSettings(staleAfterSeconds: nil, feeds: [:])), frames: frames)
            let read = { () async throws(StoreError) in
                try await world.store.rows(from: .distantPast, to: .distantFuture).rows.count
            }
            let before = try frames.snapshot()
            #expect(try await frames.reading(in: before, read) == 20)
            #expect(policy.freshness(of: [.observations], in: before, filter: Filter()).lost.isEmpty)

            let queue = try DatabaseQueue(path: world.store.path)
            try await queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA ignore_check_constraints = ON;
                        UPDATE observation SET cell = cell + 1 WHERE externalId = 'o7'
                        """)
            }
            await #expect(throws: EngineError.damageFound) { try await frames.reading(in: before, read) }
            // Again, until the publisher has marked it.
            await #expect(throws: EngineError.damageFound) { try await frames.reading(in: before, read) }
            try await world.refresh()
            let after = try frames.snapshot()
            #expect(try await frames.reading(in: after, read) == 19)

            let freshness = policy.freshness(of: [.observations], in: after, filter: Filter())
            let lost = noon.advanced(by: -40_007)
            #expect(freshness.lost[.observations] == lost...lost)
            for (seconds, isIncomplete) in [(-1, true), (0, true), (3_599, true), (3_601, false)] {
                // An earlier time is unknown.
                let shown = freshness.isIncomplete(
                    at: lost.advanced(by: seconds), lookBack: [.observations: 3_600])
                #expect(shown == isIncomplete, "\(seconds)")
            }
        }
    }

    @Test("the largest value of several levels is missing everywhere if one of them is unreadable")
    func unreadableLevel() async throws {
        try await withWorld { world in
            let grid = try TestField.grid()
            let levels = [30_000, 34_000, 38_000, 42_000, 44_000, 45_000]
            _ = try await world.store.commit(
                Batch(
                    source: source("awc"),
                    fields: try levels.enumerated().map { number, feet in
                        try TestField.draft(run: noon, level: .feet(UInt16(feet)), number: number, on: grid)
                    }, fetchedAt: noon))
            let queue = try DatabaseQueue(path: world.store.path)
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "UPDATE fieldLevel SET packed = x'00112233' WHERE level = 38000")
            }
            try await world.refresh()
            let frames = FrameSource(publisher: world.publisher, store: world.store, logger: World.quiet())
            func values(_ altitudes: ClosedRange<Int>) async throws -> Set<UInt8> {
                var filter = Filter()
                filter.altitudes = try AltitudeRange(
                    minimumFeet: altitudes.lowerBound * 1_000, maximumFeet: altitudes.upperBound * 1_000)
                while true {
                    do {
                        let picture = try await frames.fieldPicture(
                            at: noon, filter: filter, in: try frames.snapshot())
                        return Set(try picture.orMissing().plane.values)
                    } catch EngineError.damageFound { try await world.refresh() }
                }
            }
            // Above the damaged level the largest is the highest one's.
            #expect(try await values(42...46) == Set(try TestField.plane(5, on: grid).values))
            for altitudes in [30...46, 34...39, 38...39, 38...42] {
                #expect(try await values(altitudes) == [FieldPlane.missing], "\(altitudes)")
            }
        }
    }
}
