import BillowRaster

/// The squares of a map by which labels that may overlap are found. They are so large that a label can only overlap
/// labels of adjacent squares.
struct LabelSquares: Sendable {
    /// How far a label may reach from its anchor, in points: 40 letters of 11 points each way, and one line of text.
    private static let points = SIMD2(400.0, 24.0)

    /// How far a label may reach from its anchor, in pixels.
    let reach: SIMD2<Double>
    /// The number of squares around the world.
    private let columns: Int32
    private let side: SIMD2<Double>

    init(_ world: WorldMap) {
        reach = Self.points * Double(world.scale)
        columns = Int32(max(1, (world.pixels / (2 * reach.x)).rounded(.down)))
        side = SIMD2(world.pixels / Double(columns), 2 * reach.y)
    }

    /// The column and row of a place's square.
    func square(of place: Point) -> SIMD2<Int32> { wrapped(unwrapped(place)) }

    /// The squares around one, and itself.
    func around(_ square: SIMD2<Int32>) -> [SIMD2<Int32>] {
        all(from: square &- SIMD2(1, 1), to: square &+ SIMD2(1, 1))
    }

    /// The squares of a rectangle, each once.
    func all(from first: Point, to last: Point) -> [SIMD2<Int32>] { all(from: unwrapped(first), to: unwrapped(last)) }

    private func all(from first: SIMD2<Int32>, to last: SIMD2<Int32>) -> [SIMD2<Int32>] {
        let across = min(last.x - first.x, columns - 1)
        return (first.y...max(first.y, last.y)).flatMap { row in
            (first.x...first.x + max(across, 0)).map { wrapped(SIMD2($0, row)) }
        }
    }

    private func unwrapped(_ place: Point) -> SIMD2<Int32> {
        SIMD2(
            Int32(min(max((place.x / side.x).rounded(.down), -1e6), 1e6)),
            Int32(min(max((place.y / side.y).rounded(.down), -1e9), 1e9)))
    }

    private func wrapped(_ square: SIMD2<Int32>) -> SIMD2<Int32> {
        SIMD2(((square.x % columns) + columns) % columns, square.y)
    }
}

/// Where the labels of a layer are anchored on a map. Items are in the order of their rank.
struct LabelAnchors: Sendable {
    /// An item and a place for its label, in the world's pixels. One item may have several anchors.
    struct Anchor: Sendable {
        var item: Int
        var place: Point
    }

    /// The number of items. Their indices 0..<count are their order of priority.
    let count: Int
    /// The places of all items: item i has places[starts[i]..<starts[i + 1]].
    private let places: [Point]
    private let starts: [Int]
    /// The items by the squares of their anchors.
    private let items: [SIMD2<Int32>: [Int32]]

    /// - Parameter anchors: in the order of their items.
    init(count: Int, _ anchors: [Anchor], on world: WorldMap) {
        self.count = count
        var starts = [Int](repeating: 0, count: count + 1)
        for anchor in anchors { starts[anchor.item + 1] += 1 }
        for item in 0..<count { starts[item + 1] += starts[item] }
        self.starts = starts
        places = anchors.map(\.place)
        let squares = LabelSquares(world)
        var items: [SIMD2<Int32>: [Int32]] = [:]
        for anchor in anchors { items[squares.square(of: anchor.place), default: []].append(Int32(anchor.item)) }
        self.items = items
    }

    func places(of item: Int) -> ArraySlice<Point> { places[starts[item]..<starts[item + 1]] }

    func items(in square: SIMD2<Int32>) -> [Int32] { items[square] ?? [] }
}

/// Symbols that labels keep off.
struct LabelObstacles: Sendable {
    /// The symbols by the squares of their places.
    private let places: [SIMD2<Int32>: [Point]]
    /// Half of a symbol's side, in pixels.
    private let half: Double
    private let squares: LabelSquares
    private let worldPixels: Double

    /// - Parameters:
    ///   - symbols: the symbols of the whole map.
    ///   - side: the side of each symbol, in points.
    init(_ symbols: [SymbolGrid.PlacedSymbol], side: Double, on world: WorldMap) {
        half = side / 2 * Double(world.scale)
        squares = LabelSquares(world)
        worldPixels = world.pixels
        var places: [SIMD2<Int32>: [Point]] = [:]
        for symbol in symbols { places[squares.square(of: symbol.point), default: []].append(symbol.point) }
        self.places = places
    }

    /// Whether a label in a box would cover a symbol.
    ///
    /// - Complexity: O(symbols of the squares that the box touches, which are four at most).
    func meet(_ box: PixelBox) -> Bool {
        let near = squares.all(
            from: Point(x: box.minX - half, y: box.minY - half), to: Point(x: box.maxX + half, y: box.maxY + half))
        return near.contains { square in
            places[square]?.contains { place in
                PixelBox(minX: place.x - half, minY: place.y - half, maxX: place.x + half, maxY: place.y + half)
                    .overlaps(box, world: worldPixels)
            } ?? false
        }
    }
}

/// The labels that a layer proposes.
struct LabelSource {
    let anchors: LabelAnchors
    /// The label of an item. Its spots must lie within the reach of `LabelSquares` from its anchors.
    let label: (Int) -> Label
}

extension LabelAnchors {
    /// - Parameter symbols: the symbols, the most important first.
    init(of symbols: [SymbolGrid.PlacedSymbol], on world: WorldMap) {
        self.init(
            count: symbols.count, symbols.enumerated().map { Anchor(item: $0.offset, place: $0.element.point) },
            on: world)
    }
}

extension LabelSource {
    /// Labels beside symbols: to the right, else to the left.
    /// - Parameters:
    ///   - symbols: the symbols, the most important first.
    ///   - anchors: those of the symbols.
    ///   - gap: the distance from a symbol's place to its label, in points.
    ///   - scale: pixels per point.
    ///   - size: points per em.
    ///   - text: returns the text of the symbol at an index of `symbols`.
    init(
        beside symbols: [SymbolGrid.PlacedSymbol], _ anchors: LabelAnchors, gap: Double, scale: Double, size: Double,
        text: @escaping (Int) -> String
    ) {
        self.init(anchors: anchors) { item in
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
/// free, or none. Spots that cover a symbol come after all others.
///
/// The placement depends on the whole map of a zoom and not on the region, so the labels of adjacent tiles match. It is
/// computed only for labels near the region, and for labels that those depend on.
///
/// - Complexity: O(labels near the region and those that they depend on), whatever the number of all labels.
struct LabelField {
    private let region: MapRegion
    /// The whole picture that the region is a part of; its edge cuts no label. It is nil if other pictures adjoin, as
    /// with tiles.
    private let frame: MapRegion?
    private let sources: [LabelSource]
    private let obstacles: LabelObstacles?
    /// The rank of each source's first item.
    private let first: [Int]
    private let squares: LabelSquares

    /// - Parameters:
    ///   - sources: the most important first, anchored on the region's map.
    ///   - obstacles: symbols on the region's map.
    init(
        _ sources: [LabelSource], in region: MapRegion, within frame: MapRegion? = nil, obstacles: LabelObstacles? = nil
    ) {
        self.region = region
        self.frame = frame
        self.sources = sources
        self.obstacles = obstacles
        squares = LabelSquares(region.world)
        var ranks = 0
        first = sources.map { source in
            defer { ranks += source.anchors.count }
            return ranks
        }
    }

    /// The labels that reach into the region, in the order of their rank.
    func marks() -> [LabelMark] {
        let wanted = near()
        if wanted.isEmpty { return [] }
        let scale = Double(region.scale)
        var looked: [Int: Candidate] = [:]
        var waiting = wanted
        while let rank = waiting.popLast() {
            guard looked[rank] == nil else { continue }
            var candidate = candidate(rank)
            for other in neighbours(rank) where other < rank {
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
            let free = candidate.boxes.indices.filter { index in
                let box = candidate.boxes[index]
                return !candidate.better.contains { taken[$0]?.overlaps(box, world: region.worldPixels) ?? false }
            }
            let clear = free.first { !(obstacles?.meet(candidate.boxes[$0]) ?? false) }
            guard let free = clear ?? free.first else { continue }
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
        let source = source(rank)
        return sources[source].label(rank - first[source])
    }

    /// The index of a rank's source. If several sources begin at one rank, all but the last are empty.
    private func source(_ rank: Int) -> Int { first.lastIndex { $0 <= rank } ?? 0 }

    private func neighbours(_ rank: Int) -> Set<Int> {
        let source = source(rank)
        let here = Set(sources[source].anchors.places(of: rank - first[source]).map(squares.square))
        return ranks(in: Set(here.flatMap(squares.around)))
    }

    private func ranks(in squares: Set<SIMD2<Int32>>) -> Set<Int> {
        var found: Set<Int> = []
        for (source, first) in zip(sources, first) where source.anchors.count > 0 {
            for square in squares {
                for item in source.anchors.items(in: square) { found.insert(first + Int(item)) }
            }
        }
        return found
    }

    /// The ranks of labels that may reach into the region.
    private func near() -> [Int] {
        let reach = squares.reach
        let (left, right) = (Double(region.originX) - reach.x, Double(region.originX + region.width) + reach.x)
        let (top, bottom) = (Double(region.originY) - reach.y, Double(region.originY + region.height) + reach.y)
        let covered = squares.all(from: Point(x: left, y: top), to: Point(x: right, y: bottom))
        return ranks(in: Set(covered)).filter { rank in
            let source = source(rank)
            return sources[source].anchors.places(of: rank - first[source]).contains { place in
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
