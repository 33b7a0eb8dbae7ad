import BillowAreas
import BillowSnapshot
import Foundation
import Geometry
import Turbulence

/// Turbulence polygons of 200,000 hexagons: from nothing, after a minute's delta, and asked for points.
struct Areas {
    private let world = World(seed: Scene.seed, count: Self.hexagons)

    private static let hexagons = 200_000
    /// Cells of a minute that have another severity than before, are new, or are gone.
    private static let delta = 600
    private static let points = 1_000_000

    func run() {
        print(Spread.heading)
        var cells = Dictionary(
            uniqueKeysWithValues: world.cells.map { ($0.cell, CellClasses.value($0.severity)) })
        let whole = CellClasses(cells.map { ($0.key, $0.value) })
        Spread.line("dissolving \(cells.count) hexagons", Spread(times: 5) { _ = polygons(DissolvedCells(whole)) })

        var random = SplitMix64(seed: 1)
        var previous = DissolvedChunks(whole)
        var dissolved = DissolvedCells(previous)
        _ = polygons(dissolved)
        var minutes: [CellClasses] = []
        for _ in 0..<11 {
            change(&cells, &random)
            minutes.append(CellClasses(cells.map { ($0.key, $0.value) }))
        }
        var steps = minutes.makeIterator()
        Spread.line(
            "a minute's \(Self.delta) cells",
            Spread(times: minutes.count - 1) {
                guard let minute = steps.next() else { return }
                previous = DissolvedChunks(minute, reusing: [previous])
                dissolved = DissolvedCells(previous)
                _ = polygons(dissolved)
            })
        points(cells, dissolved, &random)
    }

    private func polygons(_ dissolved: DissolvedCells) -> [MultiPolygon] {
        Severity.allCases.map { dissolved.area(of: CellClasses.value($0)) }
    }

    /// A third gets another severity, a third goes, and as many come beside the remaining cells: along flights, as
    /// reports do.
    private func change(_ cells: inout [Cell: UInt8], _ random: inout SplitMix64) {
        let known = cells.keys.sorted()
        func any() -> Cell { known[Int(random.next() % UInt64(known.count))] }
        for number in 0..<Self.delta {
            switch number % 3 {
            case 0: cells[any()] = UInt8(random.next() % 5) + 1
            case 1: cells[any()] = nil
            default:
                let beside = H3.disk(around: any(), distance: 2).sorted().first { cells[$0] == nil }
                if let beside { cells[beside] = UInt8(random.next() % 5) + 1 }
            }
        }
    }

    /// Random points of the whole world: the polygon that holds one is that of its cell's class.
    private func points(_ cells: [Cell: UInt8], _ dissolved: DissolvedCells, _ random: inout SplitMix64) {
        let areas = Severity.allCases.map { AreaIndex(dissolved.area(of: CellClasses.value($0))) }
        var wrong = 0
        var beside = 0
        let start = Clock.thread()
        for _ in 0..<Self.points {
            let z = random.double(in: -1...1)
            let longitude = random.double(in: -Double.pi...Double.pi)
            let r = (1 - z * z).squareRoot()
            let place = World.place(SIMD3(r * cos(longitude), r * sin(longitude), z))
            let cell = H3.cell(at: place)
            let value = cells[cell] ?? 0
            let found = areas.indices.filter { areas[$0]?.contains(place) ?? false }
            if found == (value == 0 ? [] : [Int(value) - 1]) { continue }
            // A cell's edges are arcs for H3 and straight on the map: near them another cell's outline holds the place.
            let owners = H3.disk(around: cell, distance: 1).filter { neighbour in
                MultiPolygon(polygons: CellPolygon.rings(of: neighbour).map { [$0] }).contains(place)
            }
            if found == owners.compactMap({ cells[$0].map { Int($0) - 1 } }) { beside += 1 } else { wrong += 1 }
        }
        let milliseconds = Double(Clock.thread() - start) / 1e6
        print(
            "\(Self.points) points in \(Int(milliseconds)) ms: \(wrong) in another polygon than their cell's,",
            "\(beside) between a cell's arc and its straight edge")
    }
}
