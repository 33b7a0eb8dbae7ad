/// A part of the world in degrees, not across the antimeridian.
public struct AviationWeatherBox: Sendable, Hashable, CustomStringConvertible {
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

    init(uncheckedWest west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// Its north-western, north-eastern, south-western and south-eastern part.
    public var quarters: [AviationWeatherBox] {
        let (x, y) = ((west + east) / 2, (south + north) / 2)
        return [
            AviationWeatherBox(uncheckedWest: west, south: y, east: x, north: north),
            AviationWeatherBox(uncheckedWest: x, south: y, east: east, north: north),
            AviationWeatherBox(uncheckedWest: west, south: south, east: x, north: y),
            AviationWeatherBox(uncheckedWest: x, south: south, east: east, north: y),
        ]
    }

    /// `west,south,east,north`.
    public var description: String { "\(west),\(south),\(east),\(north)" }
}

/// One thing to ask for.
public enum AviationWeatherQuery: Sendable, Hashable {
    /// Aircraft reports of an area, which the service requires, from the last hours, 1…360.
    case pilotReports(AviationWeatherBox, ageHours: Int)
    /// All areas of a product by the service's name for it, `airsigmet` or `isigmet`.
    case everything(product: String)
    /// The G-AIRMETs of a picture: 0, 3, 6, 9 or 12 hours from the issue.
    case gairmets(forecastHour: Int)

    /// All domestic SIGMETs of the US.
    public static let sigmets = AviationWeatherQuery.everything(product: "airsigmet")
    /// All international SIGMETs.
    public static let internationalSigmets = AviationWeatherQuery.everything(product: "isigmet")

    /// The pictures of a G-AIRMET issue, in hours.
    public static let forecastHours = [0, 3, 6, 9, 12]
    /// The service gives no more of one product at once, and has no second page. Ask for smaller areas.
    public static let maximumResults = 400

    /// Path and parameters, without the form.
    ///
    /// - Throws: `.invalidQuery`.
    func target() throws(UpstreamError) -> String {
        switch self {
        case .pilotReports(let box, let ageHours):
            guard (1...360).contains(ageHours) else {
                throw .invalidQuery("the age is \(ageHours) hours; it must be 1 to 360")
            }
            // South, west, north, east: not the order of GeoJSON.
            return "/api/data/pirep?bbox=\(box.south),\(box.west),\(box.north),\(box.east)&age=\(ageHours)"
        case .everything(let product):
            guard !product.isEmpty, product.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
            else { throw .invalidQuery("the product is '\(product)'; it must be lower-case letters") }
            return "/api/data/\(product)?"
        case .gairmets(let hour):
            guard AviationWeatherQuery.forecastHours.contains(hour) else {
                throw .invalidQuery("the forecast hour is \(hour); it must be 0, 3, 6, 9 or 12")
            }
            return "/api/data/gairmet?fore=\(hour)"
        }
    }
}
