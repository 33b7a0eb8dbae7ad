/// An area between two meridians and two parallels, in degrees; it doesn't cross the antimeridian.
public struct GeographicBox: Sendable, Hashable, CustomStringConvertible {
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
        guard west >= -180, west < east, east <= 180, south >= -90, south < north, north <= 90 else { return nil }
        self.init(uncheckedWest: west, south: south, east: east, north: north)
    }

    private init(uncheckedWest west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// The extent of the box in square degrees.
    public var area: Double { (east - west) * (north - south) }

    /// The north-western, north-eastern, south-western and south-eastern quarter of the box.
    public var quarters: [GeographicBox] {
        let (x, y) = ((west + east) / 2, (south + north) / 2)
        return [
            GeographicBox(uncheckedWest: west, south: y, east: x, north: north),
            GeographicBox(uncheckedWest: x, south: y, east: east, north: north),
            GeographicBox(uncheckedWest: west, south: south, east: x, north: y),
            GeographicBox(uncheckedWest: x, south: south, east: east, north: y),
        ]
    }

    /// `west,south,east,north`.
    public var description: String { "\(west),\(south),\(east),\(north)" }
}
