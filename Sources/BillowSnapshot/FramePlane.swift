import Geometry
public import Turbulence

/// A picture as one byte a cell: what a tile is drawn from. 0 is nothing, 1 smooth … 5 moderate-severe.
///
/// Sparse: only chunks of 343 cells with something in them are held, each with its parents of the three resolutions
/// above; the two coarsest resolutions are held whole. Beside the maximum of its descendants, by which a search skips
/// what is empty, every parent has the value that it is drawn with.
public struct FramePlane: Sendable {
    /// The slot of every chunk of 343 resolution-5 cells; −1 where there is nothing.
    let slots: [Int32]
    /// By slot: 343 cells of resolution 5, then 49 parents of resolution 4, 7 of 3 and 1 of 2; each parent's maximum.
    let maxima: [UInt8]
    /// By slot: 49 + 7 + 1 parents, as they are drawn.
    let drawn: [UInt8]
    /// Maxima and drawn values of resolutions 0 and 1, by dense index.
    let coarseMaxima: [[UInt8]]
    let coarseDrawn: [[UInt8]]
    /// How many cells have a value.
    public let count: Int

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
                        let dense = RowPlace(bits: columns.places[row]).dense
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

        // Resolutions 1 and 0 from the 49 chunks below each base cell.
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

    /// A turbulent parent has the maximum of its descendants; a smooth one is drawn only where none is turbulent and at
    /// least half are observed: one smooth report must not paint a country smooth.
    private static func drawn(maximum: UInt8, observed: Int, cells: Int) -> UInt8 {
        maximum == value(.smooth) && observed * 2 < cells ? 0 : maximum
    }

    /// Fills in the parents of one chunk; gives the number of its cells with a value.
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

    /// Where the value of a cell of resolution 2…5 lies in its block.
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

    /// What a cell of resolution 0…5 is drawn with; nil for nothing.
    public func severity(resolution: Int, dense: Int) -> Severity? {
        let value = drawnValue(resolution: resolution, dense: dense)
        return value == 0 ? nil : Severity(rawValue: value - 1)
    }
}

extension FramePlane {
    /// The values of the 343 cells of a chunk, by position: 0 is nothing, 1 smooth … 5 moderate-severe. Empty where the
    /// chunk has nothing.
    package func values(inChunk chunk: Int) -> ArraySlice<UInt8> {
        let slot = Int(slots[chunk])
        return slot < 0 ? [] : maxima[slot * Self.block..<slot * Self.block + CellTable.chunkSize]
    }

    /// Chunks of 343 cells that there are.
    package static var chunks: Int { Segment.chunks }

    /// What it takes up in memory.
    package var bytes: Int { slots.count * 4 + maxima.count + drawn.count + Cell.baseCells * 16 }
}
