import BillowRaster
import BillowSnapshot
package import Geometry
import Turbulence

extension PictureData {
    /// The place with the most data, for pictures requested without a place. It lies in the fullest quarter-degree
    /// square of the fullest four-degree square; nil without any data.
    package var placeWithMostData: LonLat? {
        var seen: [(place: LonLat, weight: Int)] = []
        var issued: [IssuedArea] = []
        var planes = [plane].compactMap { $0 }
        switch polygons {
        case nil: break
        case .cells(let plane): if planes.isEmpty { planes = [plane] }
        case .issued(let areas): issued = areas
        }
        for plane in planes {
            for chunk in 0..<FramePlane.chunks {
                for (position, value) in plane.values(inChunk: chunk).enumerated() where value > 0 {
                    let cell = Cell(uncheckedDense: UInt32(chunk * CellTable.chunkSize + position))
                    seen.append((H3.center(of: cell), Int(value) * Int(value)))
                }
            }
        }
        // Reports weigh as cells do. Reports without turbulence have no weight.
        seen += reports.map { report in
            let value = report.severity.map { Int($0.rawValue) + 1 } ?? 0
            return (report.place, value * value)
        }
        seen += positions.map { ($0.place, 1) }
        seen += tracks.compactMap { $0.last.map { ($0.place, 1) } }
        seen += (areas.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap(\.value) + issued).compactMap { area in
            area.geometry.polygons.first?.first.flatMap(Self.middle).map { ($0, 1 + Int(area.severity?.rawValue ?? 0)) }
        }
        let square = Self.fullest(seen, degrees: 4)
        return Self.fullest(square, degrees: 0.25).max { $0.weight < $1.weight }?.place
    }

    /// A place inside a ring, far from its edges.
    private static func middle(of ring: [LonLat]) -> LonLat? {
        InteriorPoint.all(of: ring.map { Point(x: $0.longitude, y: $0.latitude) }).first.flatMap {
            LonLat(longitude: $0.x, latitude: $0.y)
        }
    }

    /// The places in the square with the greatest total weight.
    private static func fullest(_ seen: [(place: LonLat, weight: Int)], degrees: Double) -> [(
        place: LonLat, weight: Int
    )] {
        let squares = Dictionary(grouping: seen) { seen in
            SIMD2(
                Int((seen.place.longitude / degrees).rounded(.down)),
                Int((seen.place.latitude / degrees).rounded(.down))
            )
        }
        let weights = squares.map { (square: $0.key, weight: $0.value.reduce(0) { $0 + $1.weight }) }
        let best = weights.max { ($0.weight, $1.square.x, $1.square.y) < ($1.weight, $0.square.x, $0.square.y) }
        return best.flatMap { squares[$0.square] } ?? []
    }
}
