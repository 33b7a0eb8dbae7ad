import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowSnapshot

@Suite("Areas as predicates on cells")
struct CellAreaTests {
    /// The cells around a place, with a random box that cuts some of them.
    private func sample(_ random: inout SeededGenerator) throws -> (cells: [Cell], box: BoundingBox) {
        let longitude = Double.random(in: -180...180, using: &random)
        let latitude = Double.random(in: -80...80, using: &random)
        var cells: Set<Cell> = []
        for _ in 0..<60 {
            let place = try #require(
                LonLat(
                    longitude: LonLat.wrap(longitude + .random(in: -0.6...0.6, using: &random)),
                    latitude: latitude + .random(in: -0.4...0.4, using: &random)
                ))
            cells.insert(H3.cell(at: place))
        }
        let width = Double.random(in: 0.01...0.5, using: &random)
        let height = Double.random(in: 0.01...0.4, using: &random)
        let box = try #require(
            BoundingBox(
                west: longitude - width, south: latitude - height, east: longitude + width, north: latitude + height
            ))
        return (cells.sorted { $0.h3 < $1.h3 }, box)
    }

    @Test("a cell is in a box if and only if its outline or interior has a point there", arguments: 0..<60)
    func outlines(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let (cells, box) = try sample(&random)
        let area = CellArea(box)
        for cell in cells {
            // A slow oracle: points along the edges and spokes of the cell, and the corners of the box in the cell.
            let rings = CellPolygon.rings(of: cell)
            let outline = MultiPolygon(polygons: rings.map { [$0] })
            let centre = H3.center(of: cell)
            var isIn = box.contains(centre)
            for ring in rings {
                for (a, b) in zip(ring, ring.dropFirst()) {
                    for step in 0...200 {
                        let share = Double(step) / 200
                        let point = LonLat(
                            longitude: a.longitude + (b.longitude - a.longitude) * share,
                            latitude: a.latitude + (b.latitude - a.latitude) * share)
                        if let point, box.contains(point) { isIn = true }
                    }
                }
            }
            for longitude in [box.west, box.east] {
                for latitude in [box.south, box.north] {
                    if let corner = LonLat(longitude: longitude, latitude: latitude), outline.contains(corner) {
                        isIn = true
                    }
                }
            }
            // A box may cut off less of an edge than lies between two points of the oracle.
            if isIn { #expect(area.contains(cell), "\(cell.h3) \(box)") }
            if !isIn, area.contains(cell) {
                let nearly = try #require(
                    BoundingBox(
                        west: box.west - 0.002, south: box.south - 0.002, east: box.east + 0.002,
                        north: box.north + 0.002
                    ))
                #expect(rings.joined().contains(where: nearly.contains), "\(cell.h3) \(box)")
            }
        }
    }

    @Test("centres are in a box and an area if and only if both contain them", arguments: 0..<40)
    func centres(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let (cells, box) = try sample(&random)
        let circle = try #require(MultiPolygon(around: H3.center(of: cells[0]), metres: 20_000).flatMap(AreaIndex.init))
        for cell in cells {
            let centre = H3.center(of: cell)
            #expect(CellArea(centresIn: box, nil).contains(cell) == box.contains(centre))
            #expect(CellArea(centresIn: nil, circle).contains(cell) == circle.contains(centre))
            let both = CellArea(centresIn: box, circle)
            #expect(both.contains(cell) == (box.contains(centre) && circle.contains(centre)))
            if both.contains(cell) { #expect(both.mayHold(chunk: Int(cell.dense) / CellTable.chunkSize)) }
            #expect(CellArea(centresIn: nil, nil).contains(cell))
        }
    }
}
