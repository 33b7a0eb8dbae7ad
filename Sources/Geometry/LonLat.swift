/// A place on WGS 84 in degrees: longitude −180…180, latitude −90…90, both finite.
public struct LonLat: Sendable, Hashable {
    /// The longitude in degrees east, −180…180.
    public let longitude: Double
    /// The latitude in degrees north, −90…90.
    public let latitude: Double

    /// Accepts longitudes in either convention (−180…180 or 0…360) and wraps them to −180…180. Returns nil for other
    /// values.
    public init?(longitude: Double, latitude: Double) {
        guard longitude.isFinite, latitude.isFinite, abs(longitude) <= 360, abs(latitude) <= 90 else { return nil }
        self.longitude = LonLat.wrap(longitude)
        self.latitude = latitude
    }

    init(uncheckedLongitude longitude: Double, latitude: Double) {
        self.longitude = longitude
        self.latitude = latitude
    }

    /// Wraps a finite longitude to −180…180; ±180 are unchanged.
    package static func wrap(_ longitude: Double) -> Double {
        guard abs(longitude) > 180 else { return longitude }
        let turned = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return (turned < 0 ? turned + 360 : turned) - 180
    }
}

/// A box of longitudes and latitudes in degrees, edges included. `west > east` means that it crosses the antimeridian.
///
/// Source: RFC 7946 section 5
public struct BoundingBox: Sendable, Hashable {
    /// The western edge in degrees east; greater than `east` if the box crosses the antimeridian.
    public let west: Double
    /// The southern edge in degrees north.
    public let south: Double
    /// The eastern edge in degrees east.
    public let east: Double
    /// The northern edge in degrees north.
    public let north: Double

    /// The whole earth.
    public static let world = BoundingBox(uncheckedWest: -180, south: -90, east: 180, north: 90)

    /// Returns nil if a value is not finite, a longitude is beyond ±360, a latitude beyond ±90, or south is above
    /// north.
    public init?(west: Double, south: Double, east: Double, north: Double) {
        guard [west, south, east, north].allSatisfy(\.isFinite) else { return nil }
        guard abs(west) <= 360, abs(east) <= 360, south >= -90, north <= 90, south <= north else { return nil }
        if east - west >= 360 {
            self.init(uncheckedWest: -180, south: south, east: 180, north: north)
        } else {
            self.init(uncheckedWest: LonLat.wrap(west), south: south, east: LonLat.wrap(east), north: north)
        }
    }

    private init(uncheckedWest west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// Whether the box lies on both sides of the antimeridian.
    public var crossesAntimeridian: Bool { west > east }

    /// Whether the place lies inside or on an edge.
    public func contains(_ place: LonLat) -> Bool {
        guard place.latitude >= south, place.latitude <= north else { return false }
        return containsLongitude(place.longitude)
    }

    func containsLongitude(_ longitude: Double) -> Bool {
        crossesAntimeridian
            ? longitude >= west || longitude <= east
            : longitude >= west && longitude <= east
                || (east == 180 && longitude == -180) || (west == -180 && longitude == 180)
    }

    /// Whether two boxes share a point.
    public func intersects(_ other: BoundingBox) -> Bool {
        guard south <= other.north, other.south <= north else { return false }
        return containsLongitude(other.west) || containsLongitude(other.east) || other.containsLongitude(west)
    }
}

extension GridBox {
    /// The smallest box of grid points around a box of degrees. If it crosses the antimeridian, it extends beyond 2³⁰.
    package init(_ box: BoundingBox) {
        func units(_ value: Double, _ rule: FloatingPointRoundingRule) -> Int64 {
            Int64(Grid.units(value).rounded(rule))
        }
        let east = box.crossesAntimeridian ? box.east + 360 : box.east
        self.init(
            minX: units(UnitMercator.x(longitude: box.west), .down),
            minY: units(UnitMercator.y(latitude: box.north), .down),
            maxX: units(UnitMercator.x(longitude: east), .up),
            maxY: units(UnitMercator.y(latitude: box.south), .up))
    }
}

extension BoundingBox {
    /// The box around a cell's vertices. For a cell around a pole, it extends to the pole and around the world.
    package init(of cell: Cell) {
        let vertices = H3.boundary(h3: cell.h3)
        let center = H3.center(of: cell)
        var west = 0.0
        var east = 0.0
        var south = 90.0
        var north = -90.0
        var turn = 0.0
        var previous = vertices.last?.longitude ?? 0
        for vertex in vertices {
            var offset = vertex.longitude - center.longitude
            offset -= (offset / 360).rounded() * 360
            west = min(west, offset)
            east = max(east, offset)
            south = min(south, vertex.latitude)
            north = max(north, vertex.latitude)
            let step = vertex.longitude - previous
            turn += step - (step / 360).rounded() * 360
            previous = vertex.longitude
        }
        if abs(turn) > 180 {
            self.init(
                uncheckedWest: -180, south: center.latitude > 0 ? south : -90, east: 180,
                north: center.latitude > 0 ? 90 : north)
        } else {
            self.init(
                uncheckedWest: LonLat.wrap(center.longitude + west), south: south,
                east: LonLat.wrap(center.longitude + east), north: north)
        }
    }
}
