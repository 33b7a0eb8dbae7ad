import BillowRaster

/// The labels that a layer proposes: items in the order of their rank, each with a label.
struct LabelSource {
    /// An item and a place for its label, in the world's pixels. One item may have several anchors.
    struct Anchor: Sendable {
        var item: Int
        var place: Point
    }

    /// The number of items. Their indices 0..<count are their order of priority.
    let count: Int
    let anchors: [Anchor]
    /// The label of an item. Its spots must lie within `LabelField.reach` of its anchors.
    let label: (Int) -> Label
}

extension LabelSource {
    /// Labels beside symbols: to the right, else to the left.
    /// - Parameters:
    ///   - symbols: the symbols, the most important first.
    ///   - gap: the distance from a symbol's place to its label, in points.
    ///   - scale: pixels per point.
    ///   - size: points per em.
    ///   - text: returns the text of the symbol at an index of `symbols`.
    init(
        besideSymbols symbols: [SymbolGrid.PlacedSymbol], gap: Double, scale: Double, size: Double,
        text: @escaping (Int) -> String
    ) {
        self.init(
            count: symbols.count, anchors: symbols.enumerated().map { Anchor(item: $0.offset, place: $0.element.point) }
        ) { item in
            let symbol = symbols[item]
            func spot(_ side: Double, _ alignment: LabelMark.Alignment) -> Label.Spot {
                Label.Spot(
                    place: Point(x: symbol.point.x + side * gap * scale, y: symbol.point.y + 4 * scale),
                    alignment: alignment)
            }
            return Label(text(symbol.index), size: size, ink: .ink, spots: [spot(1, .start), spot(-1, .end)])
        }
    }
}

/// Places labels so that no two overlap. In the order of rank, each label gets the first of its spots that is still
/// free, or none.
///
/// The placement depends on the whole map of a zoom and not on the region, so the labels of adjacent tiles match. It is
/// computed only for labels near the region, and for labels that those depend on.
struct LabelField {
    /// How far a label may reach from its anchor, in points: 40 letters of 11 points each way, and one line of text.
    static let reach = SIMD2(400.0, 24.0)

    private let region: MapRegion
    /// The whole picture that the region is a part of; its edge cuts no label. It is nil if other pictures adjoin, as
    /// with tiles.
    private let frame: MapRegion?
    private let sources: [LabelSource]
    /// The rank of each source's first item.
    private let first: [Int]
    /// The anchors of all ranks. Rank r has the anchors places[starts[r]..<starts[r + 1]].
    private let starts: [Int]
    private let places: [Point]
    /// Ranks by the square of their anchors. Squares are so large that a label can only overlap labels of adjacent
    /// squares.
    private typealias Squares = [SIMD2<Int32>: [Int32]]
    private let columns: Int32
    private let square: SIMD2<Double>

    /// - Parameter sources: the most important first.
    init(_ sources: [LabelSource], in region: MapRegion, within frame: MapRegion? = nil) {
        self.region = region
        self.frame = frame
        self.sources = sources
        let reach = LabelField.reach * Double(region.scale)
        columns = Int32(max(1, (region.worldPixels / (2 * reach.x)).rounded(.down)))
        square = SIMD2(region.worldPixels / Double(columns), 2 * reach.y)
        var first: [Int] = []
        var ranks = 0
        var anchors: [(rank: Int, place: Point)] = []
        for source in sources {
            first.append(ranks)
            for anchor in source.anchors { anchors.append((ranks + anchor.item, anchor.place)) }
            ranks += source.count
        }
        anchors.sort { $0.rank < $1.rank }
        var starts = [Int](repeating: 0, count: ranks + 1)
        for anchor in anchors { starts[anchor.rank + 1] += 1 }
        for rank in 0..<ranks { starts[rank + 1] += starts[rank] }
        self.first = first
        self.starts = starts
        places = anchors.map(\.place)
    }

    private func squares() -> Squares {
        var squares: Squares = [:]
        for rank in 0..<starts.count - 1 {
            for place in places[starts[rank]..<starts[rank + 1]] {
                squares[square(of: place), default: []].append(Int32(rank))
            }
        }
        return squares
    }

    /// The labels that reach into the region, in the order of their rank.
    func marks() -> [LabelMark] {
        let wanted = near()
        if wanted.isEmpty { return [] }
        // Most tiles have no label near them.
        let squares = squares()
        let scale = Double(region.scale)
        var looked: [Int: Candidate] = [:]
        var waiting = wanted
        while let rank = waiting.popLast() {
            guard looked[rank] == nil else { continue }
            var candidate = candidate(rank)
            for other in neighbours(rank, squares) where other < rank {
                let boxes = looked[other]?.boxes ?? label(other).boxes(scale: scale)
                let meets = candidate.boxes.contains { box in
                    boxes.contains { $0.overlaps(box, world: region.worldPixels) }
                }
                if meets { candidate.better.append(other) }
            }
            looked[rank] = candidate
            waiting += candidate.better
        }
        var taken: [Int: PixelBox] = [:]
        var marks: [LabelMark] = []
        let wantedRanks = Set(wanted)
        for (rank, candidate) in looked.sorted(by: { $0.key < $1.key }) {
            let free = candidate.boxes.firstIndex { box in
                !candidate.better.contains { taken[$0]?.overlaps(box, world: region.worldPixels) ?? false }
            }
            guard let free else { continue }
            taken[rank] = candidate.boxes[free]
            if wantedRanks.contains(rank) { marks += self.marks(candidate, at: free) }
        }
        return marks
    }

    private struct Candidate {
        let label: Label
        let boxes: [PixelBox]
        /// The ranks with priority whose labels could overlap this one.
        var better: [Int] = []
    }

    private func candidate(_ rank: Int) -> Candidate {
        let label = label(rank)
        return Candidate(label: label, boxes: label.boxes(scale: Double(region.scale)))
    }

    private func label(_ rank: Int) -> Label {
        // If several sources begin at one rank, all but the last are empty.
        let source = first.lastIndex { $0 <= rank } ?? 0
        return sources[source].label(rank - first[source])
    }

    private func square(of place: Point) -> SIMD2<Int32> {
        let column = Int32(min(max((place.x / square.x).rounded(.down), -1e6), 1e6))
        return SIMD2(
            ((column % columns) + columns) % columns, Int32(min(max((place.y / square.y).rounded(.down), -1e9), 1e9)))
    }

    private func neighbours(_ rank: Int, _ squares: Squares) -> Set<Int> {
        var found: Set<Int> = []
        for place in places[starts[rank]..<starts[rank + 1]] {
            let here = square(of: place)
            for down in Int32(-1)...1 {
                for across in Int32(-1)...1 {
                    let there = SIMD2((here.x + across + columns) % columns, here.y + down)
                    for other in squares[there] ?? [] { found.insert(Int(other)) }
                }
            }
        }
        return found
    }

    /// The ranks of labels that may reach into the region.
    private func near() -> [Int] {
        let reach = LabelField.reach * Double(region.scale)
        let (top, bottom) = (Double(region.originY) - reach.y, Double(region.originY + region.height) + reach.y)
        return (0..<starts.count - 1).filter { rank in
            places[starts[rank]..<starts[rank + 1]].contains { place in
                place.y >= top && place.y <= bottom
                    && !region.copies(from: place.x, to: place.x, margin: reach.x).isEmpty
            }
        }
    }

    private func isInside(_ box: PixelBox, _ frame: MapRegion, copy: Int) -> Bool {
        let left = Double(copy) * region.worldPixels - Double(frame.originX)
        return box.minX + left >= 0 && box.maxX + left <= Double(frame.width) && box.minY >= Double(frame.originY)
            && box.maxY <= Double(frame.originY + frame.height)
    }

    private func marks(_ candidate: Candidate, at index: Int) -> [LabelMark] {
        let (box, spot) = (candidate.boxes[index], candidate.label.spots[index])
        guard box.maxY >= Double(region.originY), box.minY <= Double(region.originY + region.height) else { return [] }
        return region.copies(from: box.minX, to: box.maxX, margin: 0).filter { copy in
            frame.map { isInside(box, $0, copy: copy) } ?? true
        }.map { copy in
            LabelMark(
                text: candidate.label.text, place: PicturePosition(region.local(spot.place, copy: copy)),
                alignment: spot.alignment, size: candidate.label.size, ink: candidate.label.ink)
        }
    }
}
