import Foundation
import Geometry

/// A grid of regular longitudes and latitudes (template 3.0). The steps come from the corners, as with ecCodes: those
/// of the message are rounded to its unit.
struct RegularPlane: Sendable, Hashable {
    private let west: Double
    private let south: Double
    private let columns: Int
    private let rows: Int
    /// Degrees.
    let dx: Double
    let dy: Double

    init(_ grid: GRIBGrid) throws(GRIBRefusal) {
        guard case .lonLat(let first, let last) = grid.template else { throw .invalid("not a grid of template 3.0") }
        columns = grid.columns
        rows = grid.rows
        let (westmost, eastmost) = grid.scanning.isNegativeI ? (last, first) : (first, last)
        let (lowest, highest) = grid.scanning.isPositiveJ ? (first, last) : (last, first)
        west = westmost.longitude
        south = lowest.latitude
        // The same meridian twice is once around.
        let span = eastmost.longitude - westmost.longitude
        dx = columns == 1 ? 1 : (span <= 0 ? span + 360 : span) / Double(columns - 1)
        dy = rows == 1 ? 1 : (highest.latitude - lowest.latitude) / Double(rows - 1)
        guard dy > 0 else { throw .invalid("the first row at \(first.latitude)°, the last at \(last.latitude)°") }
    }

    var wrapsAround: Bool { columns > 1 && abs(Double(columns) * dx - 360) < dx / 1_000 }

    func x(longitude: Double) -> Double {
        // From half a step west of the grid once around.
        let offset = (longitude - west + dx / 2).truncatingRemainder(dividingBy: 360)
        return ((offset < 0 ? offset + 360 : offset) - dx / 2) / dx
    }

    func y(latitude: Double) -> Double { (latitude - south) / dy }

    func lonLat(_ position: GridPosition) -> LonLat? {
        let turn = (west + position.x * dx).remainder(dividingBy: 360)
        return LonLat(longitude: turn, latitude: south + position.y * dy)
    }
}
