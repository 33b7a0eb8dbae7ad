public import Geometry
public import Turbulence

/// A picture as one byte a cell: what a tile is drawn from. 0 is nothing, 1 smooth … 5 moderate-severe.
///
/// Sparse: only chunks of 343 cells with something in them are held, each with its parents of the three resolutions above;
/// the two coarsest resolutions are held whole. Beside the maximum of its descendants, by which a search skips what is
/// empty, every parent has the value that it is drawn with.
public struct FramePlane: Sendable {
    /// The slot of every chunk of 343 resolution-5 cells; −1 where there is nothing.
    fileprivate let slots: [Int32]
    /// By slot: 343 cells of resolution 5, then 49 parents of resolution 4, 7 of 3 and 1 of 2; each parent's maximum.
    fileprivate let maxima: [UInt8]
    /// By slot: 49 + 7 + 1 parents, as they are drawn.
    fileprivate let drawn: [UInt8]
    /// Maxima and drawn values of resolutions 0 and 1, by dense index.
    private let coarseMaxima: [[UInt8]]
    private let coarseDrawn: [[UInt8]]
    /// How many cells have a value.
    public let count: Int

    private static let block = 343 + 49 + 7 + 1
    private static let parents = 49 + 7 + 1

    /// The value of a severity in a plane.
    static func value(_ severity: Severity) -> UInt8 { severity.rawValue + 1 }

    init(segments: [Segment], test: RowTest) {
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
                        let dense = Place(bits: columns.places[row]).dense
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
    @inline(__always)
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

    /// A cell of a picture, and what it is drawn with.
    public struct DrawnCell: Sendable, Hashable {
        /// At the resolution asked for.
        public var dense: UInt32
        public var severity: UInt8
        /// Whether it is known to lie wholly in the box; false says nothing.
        public var isInside: Bool
    }

    /// Every cell of a resolution that has something drawn and may lie in a box, in dense order.
    ///
    /// The boxes by which it searches are generous, so some of the cells lie outside.
    /// - Complexity: O(cells found + coarser cells above them)
    public func cells(resolution: Int, in box: GridBox) -> [DrawnCell] {
        var found: [DrawnCell] = []
        let tree = CellTree.shared
        for base in 0..<Cell.baseCells {
            visit(level: 0, dense: base, resolution: resolution, box: box, isInside: false, tree: tree, &found)
        }
        return found
    }

    private func visit(
        level: Int, dense: Int, resolution: Int, box: GridBox, isInside: Bool, tree: CellTree,
        _ found: inout [DrawnCell]
    ) {
        guard maximum(resolution: level, dense: dense) > 0 else { return }
        if level == resolution {
            return append(drawnValue(resolution: level, dense: dense), dense, isInside: isInside, &found)
        }
        var isInside = isInside
        if !isInside {
            switch tree.relation(resolution: level, dense: dense, to: box) {
            case .apart: return
            case .touching: break
            case .inside: isInside = true
            }
        }
        if level + 1 == resolution {
            appendChildren(of: dense, level: level, isInside: isInside, &found)
        } else {
            for child in dense * 7..<dense * 7 + 7 {
                visit(
                    level: level + 1, dense: child, resolution: resolution, box: box, isInside: isInside, tree: tree,
                    &found)
            }
        }
    }

    private func appendChildren(of parent: Int, level: Int, isInside: Bool, _ found: inout [DrawnCell]) {
        let first = parent * 7
        guard level + 1 == Cell.resolution else {
            for child in first..<first + 7 {
                append(drawnValue(resolution: level + 1, dense: child), child, isInside: isInside, &found)
            }
            return
        }
        // Seven values side by side.
        let slot = Int(slots[first / 343])
        guard slot >= 0 else { return }
        let at = slot * Self.block + first % 343
        maxima.withUnsafeBufferPointer { maxima in
            for child in 0..<7 { append(maxima[at &+ child], first &+ child, isInside: isInside, &found) }
        }
    }

    @inline(__always)
    private func append(_ value: UInt8, _ dense: Int, isInside: Bool, _ found: inout [DrawnCell]) {
        if value > 0 {
            found.append(
                DrawnCell(dense: UInt32(truncatingIfNeeded: dense), severity: value &- 1, isInside: isInside))
        }
    }
}

extension FramePlane {
    /// What it takes up in memory.
    public var bytes: Int { slots.count * 4 + maxima.count + drawn.count + Cell.baseCells * 16 }
}
