public import AviationFormats
public import UpstreamKit

/// A query for one product.
public enum AviationWeatherQuery: Sendable, Hashable {
    /// The aircraft reports of the last hours, 1…360, in an area, which the service requires.
    case pilotReports(GeographicBox, ageHours: Int)
    /// All areas of a product.
    case everything(HazardProduct)
    /// The G-AIRMETs of a forecast hour: 0, 3, 6, 9 or 12 hours from the issue.
    case gairmets(forecastHour: Int)

    /// All domestic SIGMETs of the US.
    public static let sigmets = AviationWeatherQuery.everything(.sigmet)
    /// All international SIGMETs.
    public static let internationalSigmets = AviationWeatherQuery.everything(.isigmet)

    /// The forecast hours of a G-AIRMET issue.
    public static let forecastHours = [0, 3, 6, 9, 12]
    /// The maximum number of results in a response. There is no second page; request smaller areas instead.
    public static let maximumResults = 400

    /// The path and parameters, without the format.
    ///
    /// - Throws: `.invalidQuery`.
    func target() throws(UpstreamError) -> String {
        switch self {
        case .pilotReports(let box, let ageHours):
            guard (1...360).contains(ageHours) else {
                throw .invalidQuery("the age is \(ageHours) hours; it must be 1 to 360")
            }
            // The order is south, west, north, east, unlike in GeoJSON.
            return "/api/data/pirep?bbox=\(box.south),\(box.west),\(box.north),\(box.east)&age=\(ageHours)"
        case .everything(let product):
            return "/api/data/\(product.endpoint)?"
        case .gairmets(let hour):
            guard AviationWeatherQuery.forecastHours.contains(hour) else {
                throw .invalidQuery("the forecast hour is \(hour); it must be 0, 3, 6, 9 or 12")
            }
            return "/api/data/\(HazardProduct.gairmet.endpoint)?fore=\(hour)"
        }
    }

    /// The product of hazards; nil for aircraft reports.
    var hazards: HazardProduct? {
        switch self {
        case .pilotReports: nil
        case .everything(let product): product
        case .gairmets: .gairmet
        }
    }
}
