import Geometry
import Testing
import Turbulence

@testable import BillowSnapshot

private let noon = Instant(clamping: 1_795_262_400)

@Suite("Where there is data")
struct OccupiedChunkTests {
    @Test("chunks are those of the rows in order")
    func chunksAreThoseOfTheRowsInOrder() throws {
        let cells = [700, 342, 343, 100_000]
        let block = AltitudeBand(try #require(AltitudeBlock(thousands: 30)))
        let rows = try cells.enumerated().map { index, dense in
            ObservationRow(
                key: ObservationKey(observedAt: noon.advanced(by: -index * 3_600), tag: 1),
                cell: try #require(Cell(dense: dense)), altitude: block, intensity: .reported(.light, edr: nil),
                observedAt: noon.advanced(by: -index * 3_600), category: nil, source: SourceNumber(rawValue: 0),
                kind: .inSitu, since: Version(rawValue: 1))
        }
        #expect(Window(rows: rows, sources: []).occupiedChunks == [0, 1, 2, 291])
        #expect(Window().occupiedChunks.isEmpty)
    }
}
