import TestSupport
import Testing

@testable import Geometry

@Suite("A cell is its dense index")
struct CellTests {
    @Test("every valid slot makes the round trip to the H3 index, and nothing else is a cell")
    func roundTrip() {
        var cells = 0
        for dense in stride(from: 0, to: Cell.slots, by: 1) {
            guard let cell = Cell(dense: dense) else { continue }
            cells += 1
            if dense % 97 == 0 {
                #expect(Cell(h3: cell.h3) == cell)
                #expect(Cell(h3String: cell.h3String) == cell)
            }
        }
        // Source: https://h3geo.org/docs/core-library/restable
        #expect(cells == 2_016_842)
    }

    @Test("dense order is H3 order")
    func order() {
        var previous: UInt64 = 0
        for dense in stride(from: 0, to: Cell.slots, by: 61) {
            guard let cell = Cell(dense: dense) else { continue }
            #expect(cell.h3 > previous)
            previous = cell.h3
        }
    }

    @Test(
        "text that is not an H3 cell of resolution 5",
        arguments: [
            "", "0", "85283473ffffffff0", "84283473fffffff", "8928308280fffff", "ffffffffffffffff", "85283473FFFFFF",
            "x5283473fffffff", "+85283473fffffff", "85283473ffffffé", "8508000bfffffff0", "0x85283473fffffff",
        ])
    func refused(text: String) {
        #expect(Cell(h3String: text) == nil)
    }

    @Test("the deleted direction of a pentagon is no cell")
    func pentagonGap() throws {
        let base = try #require(H3Bits.pentagonBaseCells.first)
        #expect(Cell(dense: base * Cell.slotsPerBaseCell) != nil)
        #expect(Cell(dense: base * Cell.slotsPerBaseCell + 1) == nil)
        #expect(Cell(dense: base * Cell.slotsPerBaseCell + 7) == nil)
        #expect(Cell(dense: base * Cell.slotsPerBaseCell + 2) != nil)
        #expect(H3Index.classify(H3Bits.index(dense: base * Cell.slotsPerBaseCell + 1, resolution: 5)) == .invalid)
    }

    @Test("finer cells go to their parent, coarser ones are told apart")
    func resolutions() throws {
        // The corridor reference's own example is a cell of resolution 10.
        let cell = try #require(Cell(h3String: "85283473fffffff"))
        #expect(H3Index.classify(0x8a28_3473_0007_fff) == .finer(resolution: 10, parent: cell))
        #expect(H3Index.classify(0x8428_347f_ffff_fff) == .coarser(resolution: 4))
        #expect(H3Index.classify(0) == .invalid)
        #expect(H3Index.classify(.max) == .invalid)
    }

    @Test("random bits never trap, and agree with themselves")
    func randomBits() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<50_000 {
            let bits = random.next()
            if case .cell(let cell) = H3Index.classify(bits) { #expect(cell.h3 == bits) }
        }
    }

    @Test("a place lies in its cell's box", arguments: 0..<200)
    func place(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let place = try #require(
            LonLat(
                longitude: .random(in: -180...180, using: &random), latitude: .random(in: -90...90, using: &random)))
        #expect(BoundingBox(of: H3.cell(at: place)).contains(place))
    }
}
