package import Geometry

extension FramePlane {
    /// The drawn cells of a resolution 0…5 whose bounding box shares a point with a box. Each is dense index × 8 +
    /// severity, in ascending order.
    /// - Complexity: O(cells found + coarser cells above them)
    package func cells(resolution: Int, in box: GridBox) -> [UInt32] {
        slots.withUnsafeBufferPointer { slots in
            maxima.withUnsafeBufferPointer { maxima in
                drawn.withUnsafeBufferPointer { drawn in
                    var search = CellSearch(
                        resolution: resolution, box: box, coarseMaxima: coarseMaxima, coarseDrawn: coarseDrawn,
                        slots: slots, maxima: maxima, drawn: drawn)
                    let tree = CellTree.shared
                    for base in 0..<Cell.baseCells {
                        search.visit(resolution: 0, dense: base, isInside: false, tree)
                    }
                    return search.found
                }
            }
        }
    }
}

extension FramePlane {
    /// The cell that decides the colour of the cell of a resolution 0…5 that contains a place: the first of its most
    /// severe descendants; nil if that cell isn't drawn.
    /// - Complexity: O(descendants in chunks with values)
    package func deciding(at place: LonLat, resolution: Int) -> Cell? {
        let dense = H3.dense(at: place, resolution: resolution)
        guard let severity = severity(resolution: resolution, dense: dense) else { return nil }
        let span = (resolution..<Cell.resolution).reduce(1) { span, _ in span * 7 }
        let descendants = dense * span..<(dense + 1) * span
        let chunks = descendants.lowerBound / CellTable.chunkSize...(descendants.upperBound - 1) / CellTable.chunkSize
        for chunk in chunks {
            let values = values(inChunk: chunk)
            for (position, value) in values.enumerated() where value == Self.value(severity) {
                let cell = chunk * CellTable.chunkSize + position
                if descendants.contains(cell) { return Cell(uncheckedDense: UInt32(cell)) }
            }
        }
        return nil
    }
}

/// A search of a plane for the drawn cells in a box.
private struct CellSearch {
    let resolution: Int
    let box: GridBox
    let coarseMaxima: [[UInt8]]
    let coarseDrawn: [[UInt8]]
    let slots: UnsafeBufferPointer<Int32>
    let maxima: UnsafeBufferPointer<UInt8>
    let drawn: UnsafeBufferPointer<UInt8>
    private let table: CellTable
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
        found.reserveCapacity(1_024)
    }

    /// Visits a cell of resolution 0 or 1 and its descendants. `isInside` is true if it is known to lie wholly in the
    /// box.
    mutating func visit(resolution level: Int, dense: Int, isInside: Bool, _ tree: CellTree) {
        guard coarseMaxima[level][dense] > 0 else { return }
        if level == resolution {
            if isInside || touching(dense, count: 1) != 0 { append(coarseDrawn[level][dense], dense) }
            return
        }
        guard let isInside = lies(resolution: level, dense: dense, isInside: isInside, tree) else { return }
        for child in dense * 7..<dense * 7 + 7 {
            if level == 0 {
                visit(resolution: 1, dense: child, isInside: isInside, tree)
            } else {
                visitChunk(child, isInside: isInside, tree)
            }
        }
    }

    /// Visits a cell of resolution 2, which is a chunk of the plane, and its descendants.
    private mutating func visitChunk(_ chunk: Int, isInside: Bool, _ tree: CellTree) {
        let slot = Int(slots[chunk])
        if slot < 0 { return }
        let block = slot &* FramePlane.block
        let parents = slot &* FramePlane.parents
        if resolution == 2 {
            if isInside || touching(chunk, count: 1) != 0 { append(drawn[parents &+ 56], chunk) }
            return
        }
        guard let isInside = lies(resolution: 2, dense: chunk, isInside: isInside, tree) else { return }
        for three in 0..<7 where maxima[block &+ 392 &+ three] > 0 {
            let dense = chunk &* 7 &+ three
            if resolution == 3 {
                if isInside || touching(dense, count: 1) != 0 { append(drawn[parents &+ 49 &+ three], dense) }
                continue
            }
            guard let isInside = lies(resolution: 3, dense: dense, isInside: isInside, tree) else { continue }
            if resolution == 4 {
                let inBox = isInside ? .max : touching(dense &* 7, count: 7)
                for four in 0..<7 where inBox &>> UInt64(four) & 1 != 0 {
                    append(drawn[parents &+ three &* 7 &+ four], dense &* 7 &+ four)
                }
            } else {
                let inBox = isInside ? .max : touching(dense &* 49, count: 49)
                for five in 0..<49 where inBox &>> UInt64(five) & 1 != 0 {
                    append(maxima[block &+ three &* 49 &+ five], dense &* 49 &+ five)
                }
            }
        }
    }

    /// Whether a cell's descendants lie wholly in the box; nil if none shares a point with it.
    @inline(__always)
    private func lies(resolution: Int, dense: Int, isInside: Bool, _ tree: CellTree) -> Bool? {
        if isInside { return true }
        switch tree.relation(resolution: resolution, dense: dense, to: box) {
        case .apart: return nil
        case .touching: return false
        case .inside: return true
        }
    }

    /// A bit for each of some cells of the resolution, all of one chunk: whether its bounding box touches the box.
    private func touching(_ first: Int, count: Int) -> UInt64 {
        let (chunk, position) = first.quotientAndRemainder(dividingBy: CellTable.chunkSize)
        return table.chunk(chunk).touching(position, count: count, box)
    }

    @inline(__always)
    private mutating func append(_ value: UInt8, _ dense: Int) {
        if value > 0 { found.append(UInt32(truncatingIfNeeded: dense) &<< 3 | UInt32(value &- 1)) }
    }
}
