/// An area between two meridians and two parallels, in degrees; it doesn't cross the antimeridian.
public struct GeographicBox: Sendable, Hashable {
    /// Degrees east.
    public let west: Double
    /// Degrees north.
    public let south: Double
    /// Degrees east.
    public let east: Double
    /// Degrees north.
    public let north: Double

    /// nil unless −180 ≤ west < east ≤ 180 and −90 ≤ south < north ≤ 90.
    public init?(west: Double, south: Double, east: Double, north: Double) {
        guard (-180...180).contains(west), (-180...180).contains(east), west < east,
            (-90...90).contains(south), (-90...90).contains(north), south < north
        else { return nil }
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// Square degrees, by which a query is charged.
    public var area: Double { (east - west) * (north - south) }
}
