import BillowStore
import Geometry
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

@Suite("Pieces of a query")
struct PieceTests {
    @Test("a corridor over the limit is split and each piece has its cursor")
    func aCorridorOverTheLimitIsSplitAndEachPieceHasItsCursor() async throws {
        try await withRig(flights: 12, areaLimitKm2: 3_000_000) { rig in
            let query = try Mode.corridor.query()
            let before = rig.simulator.calls
            let first = try await rig.round(rig.upstream(.v5, query))
            let pieces = try await rig.store.pieces()
            #expect(pieces.count > 10)
            #expect(rig.simulator.calls - before == pieces.count)
            #expect(first.accepted > 100)
            // The same picture as in one call: nothing on the seams is lost, and nothing is there twice.
            let other = try await SQLiteStore.temporary()
            _ = try await rig.round(rig.upstream(.v4, query, store: other))
            let whole = try await other.picture(at: rig.clock.now)
            let picture = try await rig.store.picture(at: rig.clock.now)
            #expect(Set(picture.map(\.cell)) == Set(whole.map(\.cell)) && picture.count == whole.count)
            #expect(first.accepted == picture.count && first.duplicates == 0)
            // Each continues from its own cursor.
            rig.clock.advance(60)
            let second = try await rig.round(rig.upstream(.v5, query))
            #expect(second.accepted + second.duplicates < first.accepted / 4)
            #expect(try await rig.store.pieces().keys == pieces.keys)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, query))
        }
    }

    @Test("pieces that are no longer wanted lose their cursors")
    func piecesThatAreNoLongerWantedLoseTheirCursors() async throws {
        try await withRig(flights: 5, areaLimitKm2: 3_000_000) { rig in
            var query = try Mode.corridor.query()
            _ = try await rig.round(rig.upstream(.v5, query))
            let before = try await rig.store.pieces()
            query.polygon = try box(100, 0, 140, 20)
            _ = try await rig.round(rig.upstream(.v5, query))
            let after = try await rig.store.pieces()
            #expect(!after.isEmpty && Set(after.keys).isDisjoint(with: before.keys))
            // But not before all the new ones are there.
            query.polygon = try atlantic()
            rig.simulator.setFault(.sessionRevoked)
            await #expect(throws: SyncError.self) { try await rig.round(rig.upstream(.v5, query)) }
            let half = try await rig.store.pieces()
            #expect(Set(after.keys).isSubset(of: half.keys) && half.count == after.count + 1)
            // The world is another area, and has one piece.
            rig.simulator.setFault(nil)
            _ = try await rig.round(rig.upstream(.v4, Mode.v4.query()))
            #expect(try await Set(rig.store.pieces().keys) == Set(half.keys).union(["global map"]))
        }
    }

    @Test("a polygon of too many pieces is refused without a call")
    func aPolygonOfTooManyPiecesIsRefusedWithoutACall() async throws {
        try await withRig(flights: 0, areaLimitKm2: 7_500) { rig in
            // The bulk calls, which have it in fewer, know one category only.
            var query = try Mode.corridor.query()
            query.category = try AircraftCategory(number: 20).orMissing()
            let upstream = try rig.upstream(.v5, query)
            let error = await #expect(throws: SyncError.self) { try await rig.round(upstream) }
            #expect(error?.code == .upstream(.queryInvalid) && error?.kind == .refused && error?.isReachable == nil)
            #expect(error?.message.contains("1000 calls") == true)
            #expect(rig.simulator.calls == 0)
        }
    }

    @Test("the bulk call knows one category")
    func theBulkCallKnowsOneCategory() async throws {
        try await withRig(flights: 0) { rig in
            var query = try Mode.bulk.query()
            query.category = try AircraftCategory(number: 110).orMissing()
            let upstream = try rig.upstream(.v5, query)
            let error = await #expect(throws: SyncError.self) { try await rig.round(upstream) }
            #expect(error?.code == .upstream(.queryInvalid) && error?.message.contains("C110") == true)
            #expect(rig.simulator.calls == 0)
        }
    }

    @Test("every cell is covered by one base cell")
    func everyCellIsCoveredByOneBaseCell() throws {
        #expect(SkyPathPiece.baseCells.count == Cell.baseCells)
        #expect(Set(SkyPathPiece.baseCells.map(\.name)).count == Cell.baseCells)
        var random = SeededGenerator(seed: 2)
        for _ in 0..<300 {
            guard let cell = Cell(dense: .random(in: 0..<Cell.slots, using: &random)) else { continue }
            let covering = SkyPathPiece.baseCells.filter { $0.covers(cell) }
            #expect(covering.count == 1)
            guard case .baseCell(let parent, _) = covering.first?.area else { continue }
            // The base cell's number stands in bits 45…51 of an index.
            #expect(parent >> 45 & 0x7F == cell.h3 >> 45 & 0x7F)
        }
    }

    @Test("names of pieces stay what they were")
    func namesOfPiecesStayWhatTheyWere() throws {
        // Stored in databases; FNV-1a of the text (computed in Python).
        #expect(SkyPathPiece.stableHash("") == "cbf29ce484222325")
        #expect(SkyPathPiece.stableHash("foobar") == "85944171f73967e8")
        #expect(SkyPathPiece.map(nil).map(\.name) == ["map"])
        let ring = try box(0, 0, 1, 1)
        let name = try SkyPathPiece.map(ring).first.orMissing().name
        #expect(name == "map-" + SkyPathPiece.stableHash("0.0,0.0;1.0,0.0;1.0,1.0;0.0,1.0;0.0,0.0"))
        #expect(SkyPathPiece.corridors(ring, maximumAreaKm2: .infinity).map(\.name) == ["ring-" + name.dropFirst(4)])
    }
}
