import TestSupport
import Testing

@testable import Geometry

@Suite("The outlines of cells")
struct CellTableTests {
    /// A vertex without its turn around the world.
    private struct Spot: Hashable {
        var x: Int64
        var y: Int32

        init(_ point: GridPoint) {
            x = (Int64(point.x) % Grid.world + Grid.world) % Grid.world
            y = point.y
        }
    }

    /// Random cells, the pentagons and cells beside the antimeridian, with all their neighbours.
    private static let samples: [Cell] = {
        var random = SeededGenerator(seed: 5)
        var cells: [Cell] = H3Bits.pentagonBaseCells.compactMap { Cell(dense: $0 * Cell.slotsPerBaseCell) }
        for _ in 0..<400 {
            if let cell = Cell(dense: .random(in: 0..<Cell.slots, using: &random)) { cells.append(cell) }
        }
        for _ in 0..<100 {
            let place = LonLat(longitude: 180, latitude: .random(in: -84...84, using: &random))
            if let place { cells.append(H3.cell(at: place)) }
        }
        return cells.flatMap { H3.disk(around: $0, distance: 1) }
    }()

    @Test("every vertex of a cell is, to the unit, a vertex of the cells beside it")
    func sharedVertices() {
        let table = CellTable.of(resolution: Cell.resolution)
        for cell in Self.samples where abs(H3.center(of: cell).latitude) < 86 {
            let own = table.vertices(dense: Int(cell.dense)).map(Spot.init)
            let around = H3.disk(around: cell, distance: 1).filter { $0 != cell }
                .map { Set(table.vertices(dense: Int($0.dense)).map(Spot.init)) }
            for vertex in own {
                // Three cells meet in a vertex, two where an edge of the icosahedron crosses theirs.
                let sharing = around.count { $0.contains(vertex) }
                #expect(sharing >= 1, "\(cell.h3String) \(vertex)")
                #expect(sharing <= 2)
            }
            #expect(own.count { spot in around.count { $0.contains(spot) } == 2 } >= 5)
        }
    }

    @Test("outlines run counter-clockwise and enclose their cell's share of the earth")
    func winding() {
        let table = CellTable.of(resolution: Cell.resolution)
        for cell in Self.samples where abs(H3.center(of: cell).latitude) < 86 {
            #expect(Self.doubledArea(table.vertices(dense: Int(cell.dense))) > 0)
        }
    }

    @Test("the coarse cells around the poles are closed along the edge of the plane", arguments: 0...4)
    func poles(resolution: Int) {
        let table = CellTable.of(resolution: resolution)
        var total = 0.0
        for dense in 0..<Cell.baseCells * H3Bits.powerOfSeven(resolution) {
            let outline = table.vertices(dense: dense)
            #expect(outline.isEmpty == H3Bits.isDeleted(dense: dense, resolution: resolution))
            let area = Self.doubledArea(outline)
            #expect(outline.isEmpty || area > 0)
            total += area / 2
            if resolution > 2, dense > 20_000 { return }
        }
        // Together they cover the plane from edge to edge once.
        let plane = Double(Grid.world) * 2 * Double(Int32.max)
        if resolution <= 2 { #expect(abs(total / plane - 1) < 1e-3, "\(total / plane)") }
    }

    @Test("the boxes of coarser cells hold all their descendants")
    func treeBoxes() throws {
        let table = CellTable.of(resolution: Cell.resolution)
        for cell in Self.samples {
            let dense = Int(cell.dense)
            for vertex in table.vertices(dense: dense) where abs(vertex.y) < Int32.max {
                let spot = GridBox(
                    minX: Int64(vertex.x), minY: Int64(vertex.y), maxX: Int64(vertex.x), maxY: Int64(vertex.y))
                for resolution in 0..<CellTree.resolutions {
                    let ancestor = dense / H3Bits.powerOfSeven(Cell.resolution - resolution)
                    #expect(CellTree.shared.mayIntersect(resolution: resolution, dense: ancestor, spot))
                }
            }
        }
    }

    @Test("a search for cells in a box finds those whose outlines' boxes share a point with it, and no others")
    func touching() {
        var random = SeededGenerator(seed: 7)
        let table = CellTable.of(resolution: Cell.resolution)
        var found = 0
        for cell in Self.samples {
            let (index, position) = Int(cell.dense).quotientAndRemainder(dividingBy: CellTable.chunkSize)
            let first = position / 49 * 49
            let chunk = table.chunk(index)
            // Some edges exactly on a vertex, some beside the antimeridian's other side.
            guard let corner = chunk.vertices(position).first else { continue }
            let (x, y) = (Int64(corner.x), Int64(corner.y))
            let box = GridBox(
                minX: x - Int64.random(in: 0...3, using: &random) * 400_000,
                minY: y - Int64.random(in: 0...3, using: &random) * 400_000,
                maxX: x + Int64.random(in: 0...3, using: &random) * 400_000,
                maxY: y + Int64.random(in: 0...3, using: &random) * 400_000
            ).shifted(worlds: Int64.random(in: -1...1, using: &random))
            let bits = chunk.touching(first, count: 49, box)
            for index in 0..<49 {
                let ring = chunk.vertices(first + index).map { (x: Int64($0.x), y: Int64($0.y)) }
                let isExpected = (-1...1).contains { world in
                    guard let minX = ring.map(\.x).min(), let maxX = ring.map(\.x).max(),
                        let minY = ring.map(\.y).min(), let maxY = ring.map(\.y).max()
                    else { return false }
                    return GridBox(minX: minX, minY: minY, maxX: maxX, maxY: maxY).shifted(worlds: Int64(world))
                        .intersects(box)
                }
                #expect((bits >> UInt64(index) & 1 == 1) == isExpected)
                found += isExpected ? 1 : 0
            }
        }
        #expect(found > Self.samples.count)
    }

    /// Twice the area in square units; positive for counter-clockwise on the map (y grows southward).
    private static func doubledArea(_ outline: some BidirectionalCollection<GridPoint>) -> Double {
        guard var previous = outline.last else { return 0 }
        var sum = 0.0
        for point in outline {
            sum += Double(point.x) * Double(previous.y) - Double(previous.x) * Double(point.y)
            previous = point
        }
        return sum
    }
}
