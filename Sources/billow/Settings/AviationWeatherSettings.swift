import AviationWeather
import BillowSync
import Foundation
import Turbulence

/// A source of kind `aviationweather`.
struct AviationWeatherSettings: Sendable, Hashable {
    var configuration: AviationWeatherConfiguration
    var products: [AviationWeatherUpstream.Product]
    var areas: [GeographicBox]
    /// The seconds between two requests for one product.
    var spacingSeconds: Int
}

extension AviationWeatherSettings {
    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        var configuration = AviationWeatherConfiguration(
            // Plain HTTP is permitted, because requests carry no key.
            baseURL: section.address("baseURL", allowsPlainHTTP: true) ?? AviationWeatherConfiguration.production)
        configuration.form =
            section.value("form", expected: "json or geojson") { AviationWeatherConfiguration.Form(rawValue: $0) }
            ?? configuration.form
        configuration.timeout = section.timeout() ?? configuration.timeout
        let names = AviationWeatherUpstream.Product.all.map(\.rawValue).joined(separator: ", ")
        let products = section.list("products", expected: "some of \(names)") {
            AviationWeatherUpstream.Product(rawValue: $0)
        }
        let spacing = section.duration("spacing", from: 0, expected: "such as PT1M")
        let areas = section.boxes("bbox")?.compactMap {
            GeographicBox(west: $0.west, south: $0.south, east: $0.east, north: $0.north)
        }
        guard !section.hasProblems else { return nil }
        self.init(
            configuration: configuration, products: products ?? AviationWeatherUpstream.Product.all,
            areas: areas ?? AviationWeatherUpstream.defaultAreas,
            spacingSeconds: spacing ?? configuration.politeSpacingSeconds)
    }
}
