public import Geometry

extension FramePlane {
    /// Every cell of a resolution 0…5 that is drawn and whose outline's box shares a point with a box, in dense order: dense
    /// index × 8 + severity.
    /// - Complexity: O(cells found + coarser cells above them)
    public func cells(resolution: Int, in box: GridBox) -> [UInt32] {
        slots.withUnsafeBufferPointer { slots in
            maxima.withUnsafeBufferPointer { maxima in
                drawn.withUnsafeBufferPointer { drawn in
                    var search = CellSearch(
                        resolution: resolution, box: box, coarseMaxima: coarseMaxima, coarseDrawn: coarseDrawn,
                        slots: slots, maxima: maxima, drawn: drawn)
                    for base in 0..<Cell.baseCells { search.visit(resolution: 0, dense: base, isInside: false) }
                    return search.found
                }
            }
        }
    }
}

/// One search of a plane for what is drawn in a box.
private struct CellSearch {
    let resolution: Int
    let box: GridBox
    let coarseMaxima: [[UInt8]]
    let coarseDrawn: [[UInt8]]
    let slots: UnsafeBufferPointer<Int32>
    let maxima: UnsafeBufferPointer<UInt8>
    let drawn: UnsafeBufferPointer<UInt8>
    private let tree = CellTree.shared
    private let table: CellTable
    private var chunk: (index: Int, outlines: CellChunk)?
    private(set) var found: [UInt32] = []

    init(
        resolution: Int, box: GridBox, coarseMaxima: [[UInt8]], coarseDrawn: [[UInt8]],
        slots: UnsafeBufferPointer<Int32>, maxima: UnsafeBufferPointer<UInt8>, drawn: UnsafeBufferPointer<UInt8>
    ) {
        self.resolution = resolution
        self.box = box
        self.coarseMaxima = coarseMaxima
        self.coarseDrawn = coarseDrawn
        self.slots = slots
        self.maxima = maxima
        self.drawn = drawn
        table = CellTable.of(resolution: resolution)
    }

    /// A cell of resolution 0 or 1 and all below it; `isInside` where it is known to lie wholly in the box.
    mutating func visit(resolution level: Int, dense: Int, isInside: Bool) {
        guard coarseMaxima[level][dense] > 0 else { return }
        if level == resolution { return append(coarseDrawn[level][dense], dense, isInside: isInside) }
        guard let isInside = lies(resolution: level, dense: dense, isInside: isInside) else { return }
        for child in dense * 7..<dense * 7 + 7 {
            if level == 0 {
                visit(resolution: 1, dense: child, isInside: isInside)
            } else {
                visitChunk(child, isInside: isInside)
            }
        }
    }

    /// A cell of resolution 2, which is a chunk of the plane, and all below it.
    private mutating func visitChunk(_ chunk: Int, isInside: Bool) {
        let slot = Int(slots[chunk])
        if slot < 0 { return }
        let block = slot &* FramePlane.block
        let parents = slot &* FramePlane.parents
        if resolution == 2 { return append(drawn[parents &+ 56], chunk, isInside: isInside) }
        guard let isInside = lies(resolution: 2, dense: chunk, isInside: isInside) else { return }
        for three in 0..<7 where maxima[block &+ 392 &+ three] > 0 {
            let dense = chunk &* 7 &+ three
            if resolution == 3 {
                append(drawn[parents &+ 49 &+ three], dense, isInside: isInside)
                continue
            }
            guard let isInside = lies(resolution: 3, dense: dense, isInside: isInside) else { continue }
            for four in three &* 7..<three &* 7 &+ 7 where maxima[block &+ 343 &+ four] > 0 {
                let dense = chunk &* 49 &+ four
                if resolution == 4 {
                    append(drawn[parents &+ four], dense, isInside: isInside)
                    continue
                }
                guard let isInside = lies(resolution: 4, dense: dense, isInside: isInside) else { continue }
                for five in 0..<7 {
                    append(maxima[block &+ four &* 7 &+ five], dense &* 7 &+ five, isInside: isInside)
                }
            }
        }
    }

    /// Whether a cell's descendants lie wholly in the box; nil where none shares a point with it.
    @inline(__always)
    private func lies(resolution: Int, dense: Int, isInside: Bool) -> Bool? {
        if isInside { return true }
        switch tree.relation(resolution: resolution, dense: dense, to: box) {
        case .apart: return nil
        case .touching: return false
        case .inside: return true
        }
    }

    @inline(__always)
    private mutating func append(_ value: UInt8, _ dense: Int, isInside: Bool) {
        if value > 0, isInside || touches(dense) {
            found.append(UInt32(truncatingIfNeeded: dense) &<< 3 | UInt32(value &- 1))
        }
    }

    private mutating func touches(_ dense: Int) -> Bool {
        let (index, position) = dense.quotientAndRemainder(dividingBy: CellTable.chunkSize)
        if let chunk, chunk.index == index { return chunk.outlines.touches(position, box) }
        let outlines = table.chunk(index)
        chunk = (index, outlines)
        return outlines.touches(position, box)
    }
}
