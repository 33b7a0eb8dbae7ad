import Geometry
public import Turbulence

/// A frame with one byte per cell, from which tiles are drawn. 0 is empty, 1 smooth … 5 moderate-severe.
///
/// It is sparse: only chunks of 343 cells with values are stored, each with its parents of the three resolutions above.
/// The two coarsest resolutions are stored whole. Every parent has two values. One is the maximum of its descendants,
/// by which a search skips empty regions; the other is the value that it is drawn with.
public struct FramePlane: Sendable {
    /// The slot of every chunk of 343 resolution-5 cells; −1 for an empty chunk.
    let slots: [Int32]
    /// By slot: 343 cells of resolution 5, then 49 parents of resolution 4, 7 of 3 and 1 of 2. Parents have their
    /// maximum.
    let maxima: [UInt8]
    /// By slot: the drawn values of 49 + 7 + 1 parents.
    let drawn: [UInt8]
    /// Maxima and drawn values of resolutions 0 and 1, by dense index.
    let coarseMaxima: [[UInt8]]
    let coarseDrawn: [[UInt8]]
    /// The number of cells with a value.
    public let count: Int

    /// The number of cells with a severity or a worse one.
    ///
    /// - Complexity: O(chunks with a value)
    package func count(atLeast severity: Severity) -> Int {
        let least = Self.value(severity)
        var count = 0
        for block in stride(from: 0, to: maxima.count, by: Self.block) {
            // The last value of a block is the maximum of its cells.
            guard maxima[block + Self.block - 1] >= least else { continue }
            for cell in block..<block + 343 where maxima[cell] >= least { count += 1 }
        }
        return count
    }

    static let block = 343 + 49 + 7 + 1
    static let parents = 49 + 7 + 1

    /// The value of a severity in a plane.
    static func value(_ severity: Severity) -> UInt8 { severity.rawValue + 1 }

    init(segments: [Segment], test: RowPredicate) {
        var slots = [Int32](repeating: -1, count: Segment.chunks)
        var used: Int32 = 0
        for chunk in 0..<Segment.chunks where segments.contains(where: { !$0.rows(inChunk: chunk).isEmpty }) {
            slots[chunk] = used
            used += 1
        }
        var maxima = [UInt8](repeating: 0, count: Int(used) * Self.block)
        for segment in segments {
            segment.withColumns { columns in
                maxima.withUnsafeMutableBufferPointer { maxima in
                    for row in 0..<columns.places.count {
                        guard let severity = test.severity(of: row, in: columns) else { continue }
                        let dense = RowKey(bits: columns.places[row]).dense
                        let (chunk, cell) = dense.quotientAndRemainder(dividingBy: 343)
                        let at = Int(slots[chunk]) * Self.block + cell
                        maxima[at] = max(maxima[at], Self.value(severity))
                    }
                }
            }
        }
        var drawn = [UInt8](repeating: 0, count: Int(used) * Self.parents)
        var counts = [Int](repeating: 0, count: Int(used))
        for slot in 0..<Int(used) {
            counts[slot] = Self.reduce(&maxima, &drawn, block: slot * Self.block, parents: slot * Self.parents)
        }
        self.count = counts.reduce(0, +)

        // Resolutions 1 and 0 are computed from the 49 chunks below each base cell.
        var maxima1 = [UInt8](repeating: 0, count: Cell.baseCells * 7)
        var counts1 = [Int](repeating: 0, count: Cell.baseCells * 7)
        for chunk in 0..<Segment.chunks where slots[chunk] >= 0 {
            let slot = Int(slots[chunk])
            maxima1[chunk / 7] = max(maxima1[chunk / 7], maxima[slot * Self.block + Self.block - 1])
            counts1[chunk / 7] += counts[slot]
        }
        var maxima0 = [UInt8](repeating: 0, count: Cell.baseCells)
        var counts0 = [Int](repeating: 0, count: Cell.baseCells)
        for index in maxima1.indices {
            maxima0[index / 7] = max(maxima0[index / 7], maxima1[index])
            counts0[index / 7] += counts1[index]
        }
        self.slots = slots
        self.maxima = maxima
        self.drawn = drawn
        coarseMaxima = [maxima0, maxima1]
        coarseDrawn = [
            zip(maxima0, counts0).map { Self.drawn(maximum: $0, observed: $1, cells: 16_807) },
            zip(maxima1, counts1).map { Self.drawn(maximum: $0, observed: $1, cells: 2_401) },
        ]
    }

    /// A turbulent parent has the maximum of its descendants. A smooth one is drawn only if no descendant is turbulent
    /// and at least half are observed: one smooth report must not paint a country smooth.
    private static func drawn(maximum: UInt8, observed: Int, cells: Int) -> UInt8 {
        maximum == value(.smooth) && observed * 2 < cells ? 0 : maximum
    }

    /// Computes the parents of one chunk; returns the number of its cells with a value.
    private static func reduce(_ maxima: inout [UInt8], _ drawn: inout [UInt8], block: Int, parents: Int) -> Int {
        var total = 0
        var counts3 = (0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &counts3) { raw in
            let counts3 = raw.bindMemory(to: Int.self)
            for parent in 0..<49 {
                var maximum: UInt8 = 0
                var observed = 0
                for child in 0..<7 {
                    let value = maxima[block + parent * 7 + child]
                    maximum = max(maximum, value)
                    observed += value == 0 ? 0 : 1
                }
                maxima[block + 343 + parent] = maximum
                drawn[parents + parent] = Self.drawn(maximum: maximum, observed: observed, cells: 7)
                counts3[parent / 7] += observed
                let above = block + 343 + 49 + parent / 7
                maxima[above] = max(maxima[above], maximum)
            }
            for parent in 0..<7 {
                let maximum = maxima[block + 343 + 49 + parent]
                drawn[parents + 49 + parent] = Self.drawn(maximum: maximum, observed: counts3[parent], cells: 49)
                total += counts3[parent]
                let top = block + Self.block - 1
                maxima[top] = max(maxima[top], maximum)
            }
        }
        drawn[parents + 56] = Self.drawn(maximum: maxima[block + Self.block - 1], observed: total, cells: 343)
        return total
    }

    /// The chunk of a cell of resolution 2…5, and the index of its value in the block.
    @inline(__always)
    private static func offset(resolution: Int, dense: Int) -> (chunk: Int, at: Int) {
        switch resolution {
        case 5: (dense / 343, dense % 343)
        case 4: (dense / 49, 343 + dense % 49)
        case 3: (dense / 7, 392 + dense % 7)
        default: (dense, 399)
        }
    }

    /// The largest value among the resolution-5 descendants of a cell of resolution 0…5.
    func maximum(resolution: Int, dense: Int) -> UInt8 {
        if resolution < 2 { return coarseMaxima[resolution][dense] }
        let (chunk, at) = Self.offset(resolution: resolution, dense: dense)
        let slot = Int(slots[chunk])
        return slot < 0 ? 0 : maxima[slot * Self.block + at]
    }

    /// The value that a cell of resolution 0…5 is drawn with.
    @inline(__always)
    func drawnValue(resolution: Int, dense: Int) -> UInt8 {
        if resolution < 2 { return coarseDrawn[resolution][dense] }
        let (chunk, at) = Self.offset(resolution: resolution, dense: dense)
        let slot = Int(slots[chunk])
        if slot < 0 { return 0 }
        return resolution == Cell.resolution ? maxima[slot * Self.block + at] : drawn[slot * Self.parents + at - 343]
    }

    /// The severity that a cell of resolution 0…5 is drawn with; nil if it is empty.
    public func severity(resolution: Int, dense: Int) -> Severity? {
        let value = drawnValue(resolution: resolution, dense: dense)
        return value == 0 ? nil : Severity(rawValue: value - 1)
    }
}

extension FramePlane {
    /// The values of the 343 cells of a chunk, by position: 0 is empty, 1 smooth … 5 moderate-severe. The result is
    /// empty for an empty chunk.
    package func values(inChunk chunk: Int) -> ArraySlice<UInt8> {
        let slot = Int(slots[chunk])
        return slot < 0 ? [] : maxima[slot * Self.block..<slot * Self.block + CellTable.chunkSize]
    }

    /// The number of chunks of 343 cells.
    package static var chunks: Int { Segment.chunks }

    /// The memory in bytes.
    package var bytes: Int { slots.count * 4 + maxima.count + drawn.count + Cell.baseCells * 16 }
}
