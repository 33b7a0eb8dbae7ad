import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// What RFC 7946 asks of polygons, checked on answers as they come.
@Suite("Geometry of features is RFC 7946")
struct GeometryTests {
    /// Plain cells, both sides of the antimeridian, the pole cells, the highest latitudes and the twelve pentagons.
    static func cells() throws -> [Cell] {
        var cells = try [
            cell(10, 50), cell(0, 0), cell(-179.99, 10), cell(179.99, -40), cell(180, 65), cell(-122, 84.9),
            cell(30, 86),
            cell(0, 90), cell(0, -90), cell(100, 89.9), cell(-60, -89.9),
        ]
        // Everything on a meridian that might be cut.
        for latitude in stride(from: -88.0, through: 88, by: 4) { cells.append(try cell(180, latitude)) }
        for dense in 0..<Cell.slots where dense % Cell.slotsPerBaseCell == 0 {
            // The first descendant of each base cell: its centre child, pentagons included.
            if let cell = Cell(dense: dense) { cells.append(cell) }
        }
        return Array(Set(cells)).sorted()
    }

    @Test("rings are closed, counter-clockwise, without repeats, within bounds, to 7 decimals, and cut at 180°")
    func rings() async throws {
        try await withWorld { world in
            let cells = try Self.cells()
            #expect(cells.count > 150)
            try await world.insert(try cells.map { try observation($0, severity: .light) })
            let text = try await world.get("/collections/hexagons/items?limit=10000").text
            let features = try await world.json("/collections/hexagons/items?limit=10000").features
            #expect(features.count == cells.count)
            #expect(!text.contains("e-"), "no exponents")
            let tooLong = text.matches(of: #/\.\d{8,}/#)
            #expect(tooLong.isEmpty, "at most 7 decimals")

            var multi = 0
            for feature in features {
                let id = try feature["id"]?.string.orMissing() ?? ""
                let cell = try Cell(h3String: id).orMissing()
                let polygons = try self.polygons(feature["geometry"] ?? .null)
                if polygons.count > 1 { multi += 1 }
                for rings in polygons {
                    #expect(rings.count == 1, "\(id): a cell has no hole")
                    check(rings[0], id)
                }
                // Its centre is in exactly one of its parts (a pole lies on an edge).
                let center = H3.center(of: cell)
                if abs(center.latitude) < 89.5 {
                    let parts = polygons.filter { Self.contains($0[0], center) }
                    #expect(parts.count == 1 || abs(abs(center.longitude) - 180) < 0.01, "\(id)")
                }
                // The area on the sphere is the cell's (straight lines in place of great circles differ a little).
                if abs(center.latitude) < 80 {
                    let area = polygons.reduce(0) { $0 + Self.areaKm2($1[0]) }
                    #expect(abs(area / H3.areaKm2(of: cell) - 1) < 0.01, "\(id): \(area)")
                }
            }
            #expect(multi > 20)
        }
    }

    private func polygons(_ geometry: JSON) throws -> [[[(Double, Double)]]] {
        func ring(_ json: JSON) throws -> [(Double, Double)] {
            try json.items.map { position in
                let numbers = position.items.compactMap(\.double)
                try #require(numbers.count == 2)
                return (numbers[0], numbers[1])
            }
        }
        let coordinates = geometry["coordinates"]?.items ?? []
        switch geometry["type"]?.string {
        case "Polygon": return [try coordinates.map(ring)]
        case "MultiPolygon": return try coordinates.map { try $0.items.map(ring) }
        default: throw Missing(description: "a polygon")
        }
    }

    private func check(_ ring: [(Double, Double)], _ id: String) {
        #expect(ring.count >= 4, "\(id)")
        guard let first = ring.first, let last = ring.last else { return }
        #expect(first == last, "\(id): closed")
        for (a, b) in zip(ring, ring.dropFirst()) {
            #expect(a != b, "\(id): a position twice in a row")
            #expect(abs(a.0 - b.0) <= 360, "\(id)")
        }
        #expect(ring.allSatisfy { abs($0.0) <= 180 && abs($0.1) <= 90 }, "\(id): bounds")
        let span = (ring.map(\.0).max() ?? 0) - (ring.map(\.0).min() ?? 0)
        let isPolar = ring.contains { abs($0.1) == 90 }
        let latitude = ring.map { abs($0.1) }.max() ?? 0
        #expect(isPolar || span < 180 || latitude > 89, "\(id): wraps around the world")
        #expect(Self.signedArea(ring) > 0, "\(id): counter-clockwise")
    }

    private static func signedArea(_ ring: [(Double, Double)]) -> Double {
        zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0.0 * $1.1.1 - $1.1.0 * $1.0.1 } / 2
    }

    private static func contains(_ ring: [(Double, Double)], _ place: LonLat) -> Bool {
        var inside = false
        for (a, b) in zip(ring, ring.dropFirst()) where (a.1 > place.latitude) != (b.1 > place.latitude) {
            if place.longitude < a.0 + (place.latitude - a.1) / (b.1 - a.1) * (b.0 - a.0) { inside.toggle() }
        }
        return inside
    }

    /// By the lune rule: Σ Δλ · (sin φ₁ + sin φ₂) / 2 · R².
    private static func areaKm2(_ ring: [(Double, Double)]) -> Double {
        func sine(_ degrees: Double) -> Double { sin(degrees * .pi / 180) }
        let sum = zip(ring, ring.dropFirst()).reduce(0) {
            $0 + ($1.1.0 - $1.0.0) * .pi / 180 * (sine($1.0.1) + sine($1.1.1)) / 2
        }
        return abs(sum) * 6_371.007_180_918_475 * 6_371.007_180_918_475
    }
}
