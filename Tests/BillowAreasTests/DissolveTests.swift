import BillowAreas
import Geometry
import TestSupport
import Testing

/// Cells of a place and their classes, as they come: patches of all sizes, holes, single cells, touching corners.
private struct Patchwork {
    var cells: [(Cell, UInt8)]

    /// - Parameters:
    ///   - place: the middle.
    ///   - reach: how many rings of cells around it.
    ///   - filled: how many of a hundred cells have a class.
    init(around place: LonLat, reach: Int, filled: UInt64, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        cells = H3.disk(around: H3.cell(at: place), distance: reach).sorted().compactMap { cell in
            let center = H3.center(of: cell)
            // In patches, with noise at their rims.
            let wave = Int((center.latitude * 1.3).rounded() + (center.longitude * 0.7).rounded()) & 3
            guard random.next() % 100 < filled else { return nil }
            return (cell, UInt8(random.next() % 10 == 0 ? Int(random.next() % 5) : wave) + 1)
        }
    }

    var dissolved: DissolvedCells { DissolvedCells(CellClasses(cells)) }
}

private func degrees(_ longitude: Double, _ latitude: Double) throws -> LonLat {
    try #require(LonLat(longitude: longitude, latitude: latitude))
}

/// Square degrees, holes taken off.
private func size(_ area: MultiPolygon) -> Double { area.polygons.joined().reduce(0) { $0 + size($1) } }

private func size(_ ring: [LonLat]) -> Double {
    zip(ring, ring.dropFirst()).reduce(0) {
        $0 + ($1.0.longitude * $1.1.latitude - $1.1.longitude * $1.0.latitude) / 2
    }
}

private func coordinates(_ area: MultiPolygon) -> [[[[Double]]]] {
    area.polygons.map { $0.map { $0.map { [$0.longitude, $0.latitude] } } }
}

private let places: [(String, Double, Double)] = [
    ("Europe", 10, 50), ("the equator", -30, 0), ("the antimeridian", 179.9, 20),
    ("the antimeridian, north", -179.8, 70),
    ("the north pole", 0, 90), ("the south pole", 0, -90), ("near the north pole", 120, 88.5),
    // A pentagon of resolution 5 lies where one of resolution 0 does.
    ("a pentagon", 10.54, 64.7), ("another pentagon", -143.48, 50.1),
]

@Suite("Dissolved cells")
struct DissolveTests {
    @Test("their area is the sum of their cells' to a millionth", arguments: places.indices)
    func area(_ index: Int) throws {
        let (_, longitude, latitude) = places[index]
        let work = Patchwork(around: try degrees(longitude, latitude), reach: 25, filled: 80, seed: UInt64(index))
        let dissolved = work.dissolved
        for value in UInt8(1)...5 {
            let cells = work.cells.filter { $0.1 == value }
            let wanted = cells.reduce(0) { $0 + CellPolygon.rings(of: $1.0).reduce(0) { $0 + size($1) } }
            #expect(abs(size(dissolved.area(of: value)) - wanted) <= 1e-6 * wanted, "class \(value)")
            let above = work.cells.filter { $0.1 >= value }
            let wantedAbove = above.reduce(0) { $0 + CellPolygon.rings(of: $1.0).reduce(0) { $0 + size($1) } }
            #expect(abs(size(dissolved.area(atLeast: value)) - wantedAbove) <= 1e-6 * wantedAbove, "from \(value)")
        }
    }

    @Test("a point lies in the polygons of a class where its cell has it", arguments: places.indices)
    func points(_ index: Int) throws {
        let (_, longitude, latitude) = places[index]
        let place = try degrees(longitude, latitude)
        let work = Patchwork(around: place, reach: 12, filled: 70, seed: 100 + UInt64(index))
        let classes = Dictionary(uniqueKeysWithValues: work.cells)
        let dissolved = work.dissolved
        let areas = (UInt8(1)...5).map { AreaIndex(dissolved.area(of: $0)) }
        let upper = AreaIndex(dissolved.area(atLeast: 3))
        var random = SeededGenerator(seed: UInt64(index))
        var asked = 0
        for _ in 0..<1_500 {
            let bearing = Double(random.next() % 36_000) / 100
            let metres = Double(random.next() % 230_000)
            let point = Geodesic.place(from: place, bearing: bearing, metres: metres).place
            // A cell's edges are arcs for H3 and straight on the map: some metres belong to no cell.
            let cell = H3.cell(at: point)
            let near = MultiPolygon(polygons: CellPolygon.rings(of: cell).map { [$0] })
            guard near.contains(point), abs(point.latitude) < 89.5 else { continue }
            asked += 1
            let value = classes[cell] ?? 0
            for (offset, area) in areas.enumerated() {
                #expect((area?.contains(point) ?? false) == (value == offset + 1), "\(point), class \(offset + 1)")
            }
            #expect((upper?.contains(point) ?? false) == (value >= 3))
        }
        #expect(asked > 1_000)
    }

    @Test("GEOS finds every ring simple, closed and rightly wound, every set valid, and none overlapping")
    func geos() throws {
        struct Question: Encodable {
            var sets: [String: [[[[Double]]]]] = [:]
            var apart: [[String]] = []
        }
        var question = Question()
        for (index, (name, longitude, latitude)) in places.enumerated() {
            for filled in [UInt64(30), 90] {
                let work = Patchwork(
                    around: try degrees(longitude, latitude), reach: 12, filled: filled, seed: 200 + UInt64(index))
                let whole = work.dissolved
                let forms: [(String, DissolvedCells)] = [
                    ("exact", whole), ("coarse", try whole.simplified(tolerance: 0.3)),
                    ("coarsest", try whole.simplified(tolerance: 3)),
                    ("smooth", try whole.simplified(tolerance: 0.1, smoothing: 2)),
                ]
                for (form, dissolved) in forms {
                    var names: [String] = []
                    for value in UInt8(1)...5 {
                        let set = "\(name), \(filled) %, \(form), class \(value)"
                        question.sets[set] = coordinates(dissolved.area(of: value))
                        names.append(set)
                        question.sets["\(set) and above"] = coordinates(dissolved.area(atLeast: value))
                    }
                    question.apart.append(names)
                }
            }
        }
        let wrong = try Oracle.ask("polygons.py", question, answer: [String].self)
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test("smoothing that would lead to more corners than are allowed is refused before it begins")
    func maximumCorners() throws {
        let whole = Patchwork(around: try degrees(10, 50), reach: 8, filled: 60, seed: 9).dissolved
        #expect(throws: TooManyCorners.self) {
            try whole.simplified(tolerance: 0, smoothing: 3, maximumCorners: 1_000)
        }
        // Few corners are left to smooth.
        _ = try whole.simplified(tolerance: 5, smoothing: 1, maximumCorners: 100_000)
        _ = try whole.simplified(tolerance: 0, maximumCorners: 10)
    }

    @Test("simplified, it has fewer corners, no area vanishes, and nothing lies further off than the tolerance allows")
    func simplified() throws {
        let work = Patchwork(around: try degrees(10, 50), reach: 20, filled: 95, seed: 9)
        let whole = work.dissolved
        let simple = try whole.simplified(tolerance: 0.2)
        func corners(_ area: MultiPolygon) -> Int { area.polygons.joined().reduce(0) { $0 + $1.count } }
        for value in UInt8(1)...5 {
            let before = whole.area(of: value)
            let after = simple.area(of: value)
            #expect(corners(after) < corners(before))
            #expect(after.polygons.map(\.count) == before.polygons.map(\.count), "islands and holes stay")
        }
        let all = size(whole.area(atLeast: 1))
        #expect(abs(size(simple.area(atLeast: 1)) - all) < 0.05 * all)
    }

    @Test("with chunks of the dissolve before it, it is the same as without")
    func incremental() throws {
        var work = Patchwork(around: try degrees(178, 60), reach: 40, filled: 60, seed: 5)
        var random = SeededGenerator(seed: 6)
        var before = [DissolvedChunks(CellClasses(work.cells))]
        for _ in 0..<5 {
            for _ in 0..<20 {
                let at = Int(random.next() % UInt64(work.cells.count))
                work.cells[at].1 = UInt8(random.next() % 5) + 1
            }
            work.cells.remove(at: Int(random.next() % UInt64(work.cells.count)))
            let chunks = DissolvedChunks(CellClasses(work.cells), reusing: before)
            let after = DissolvedCells(chunks)
            for value in UInt8(1)...5 { #expect(after.area(of: value) == work.dissolved.area(of: value)) }
            before = [chunks] + before
        }
    }

    @Test("nothing dissolves to nothing, and one cell to itself")
    func trivial() throws {
        #expect(DissolvedCells(CellClasses([] as [(Cell, UInt8)])).area(of: 1).polygons.isEmpty)
        let cell = H3.cell(at: try degrees(10, 50))
        let alone = DissolvedCells(CellClasses([(cell, UInt8(2))]))
        #expect(alone.area(of: 1).polygons.isEmpty)
        let polygons = alone.area(of: 2).polygons
        #expect(polygons.map(\.count) == [1])
        #expect(Set(polygons[0][0].map(DegreePoint.init)) == Set(CellPolygon.rings(of: cell)[0].map(DegreePoint.init)))
    }

    @Test("a ring of cells has a hole, and the hole's cell alone fills it")
    func hole() throws {
        let middle = H3.cell(at: try degrees(10, 50))
        let around = H3.disk(around: middle, distance: 1).filter { $0 != middle }
        let dissolved = DissolvedCells(CellClasses(around.map { ($0, UInt8(1)) } + [(middle, UInt8(2))]))
        let ring = try #require(dissolved.area(of: 1).polygons.first)
        let island = try #require(dissolved.area(of: 2).polygons.first)
        #expect(ring.count == 2)
        #expect(Set(ring[1].map(DegreePoint.init)) == Set(island[0].map(DegreePoint.init)))
        #expect(dissolved.area(atLeast: 1).polygons.map(\.count) == [1])
    }
}
