import Foundation

/// A grid of regular longitudes and latitudes.
struct RegularPlane: Sendable, Hashable {
    private let west: Double
    private let south: Double
    private let columns: Int
    /// The steps in degrees.
    let dx: Double
    let dy: Double

    init(west: Double, south: Double, dx: Double, dy: Double, columns: Int) {
        self.west = west
        self.south = south
        self.dx = dx
        self.dy = dy
        self.columns = columns
    }

    var wrapsAround: Bool { columns > 1 && abs(Double(columns) * dx - 360) < dx / 1_000 }

    func x(longitude: Double) -> Double {
        // The longitude wrapped to the 360° that begin half a step west of the grid.
        let offset = (longitude - west + dx / 2).truncatingRemainder(dividingBy: 360)
        return ((offset < 0 ? offset + 360 : offset) - dx / 2) / dx
    }

    func y(latitude: Double) -> Double { (latitude - south) / dy }

    func lonLat(_ position: GridPosition) -> LonLat? {
        let turn = (west + position.x * dx).remainder(dividingBy: 360)
        return LonLat(longitude: turn, latitude: south + position.y * dy)
    }
}
