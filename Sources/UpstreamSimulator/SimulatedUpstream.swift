/// A simulated upstream that a fault applies to. The raw value is its name in the control route.
package enum SimulatedUpstream: String, CaseIterable, Sendable {
    case skyPath = "skypath"
    case aviationWeather = "aviationweather"
    case openSky = "opensky"
    case noaa
}
