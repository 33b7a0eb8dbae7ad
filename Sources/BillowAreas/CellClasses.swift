public import BillowSnapshot
public import Geometry

/// Cells with classes: 0 is outside, 1…255 are areas to dissolve. Only chunks of 343 cells with any class are stored,
/// in ascending order.
public struct CellClasses: Sendable {
    /// A chunk, with the class of each cell by position.
    package struct Chunk: Sendable, Hashable {
        package var index: Int
        package var values: [UInt8]
    }

    package let chunks: [Chunk]
    /// The number of cells by class.
    private let counts: [Int]

    private init(chunks: [Chunk]) {
        self.chunks = chunks
        var counts = [Int](repeating: 0, count: 256)
        for chunk in chunks {
            for value in chunk.values { counts[Int(value)] += 1 }
        }
        self.counts = counts
    }

    /// The severities of a frame, as 1 + severity, of the cells in `area`.
    public init(_ plane: FramePlane, in area: CellArea = .everywhere) {
        var chunks: [Chunk] = []
        for index in 0..<FramePlane.chunks {
            let found = plane.values(inChunk: index)
            guard found.contains(where: { $0 != 0 }), area.mayHold(chunk: index) else { continue }
            var values = Array(found)
            if area != .everywhere {
                for position in values.indices where values[position] != 0 {
                    let cell = Cell(uncheckedDense: UInt32(index * CellTable.chunkSize + position))
                    if !area.contains(cell) { values[position] = 0 }
                }
            }
            chunks.append(Chunk(index: index, values: values))
        }
        self.init(chunks: chunks)
    }

    /// Makes classes of single cells; if a cell is repeated, the last counts.
    public init(_ cells: some Sequence<(Cell, UInt8)>) {
        var found: [Int: [UInt8]] = [:]
        for (cell, value) in cells {
            let (chunk, position) = Int(cell.dense).quotientAndRemainder(dividingBy: CellTable.chunkSize)
            found[chunk, default: [UInt8](repeating: 0, count: CellTable.chunkSize)][position] = value
        }
        self.init(chunks: found.sorted { $0.key < $1.key }.map { Chunk(index: $0.key, values: $0.value) })
    }

    /// The number of cells of a class 1…255.
    package func count(of value: UInt8) -> Int { counts[Int(value)] }
}
