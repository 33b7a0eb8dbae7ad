/// A kind of data that sources send and datasets are made of.
///
/// The log stores the name, so a name never changes its meaning. A new dataset may add one.
package struct DataKind: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// What turbulence, hexagons and polygons are made of.
    package static let observations = DataKind(rawValue: "observations")
    /// Pilot reports.
    package static let reports = DataKind(rawValue: "reports")
    /// SIGMETs and G-AIRMETs.
    package static let hazards = DataKind(rawValue: "hazards")
    /// Forecast and nowcast areas.
    package static let forecasts = DataKind(rawValue: "forecasts")
    /// Turbulence polygons as a source issued them; ours are made of observations.
    package static let polygons = DataKind(rawValue: "polygons")
    /// Where aircraft are: traffic and tracks.
    package static let positions = DataKind(rawValue: "positions")
    /// Grids of computed turbulence: nowcasts and forecasts.
    package static let fields = DataKind(rawValue: "fields")

    /// How long nothing may be fetched without a hole in what is known, for data each fetch of which is a picture of
    /// its time: positions, and areas of every kind. nil for what a later fetch makes up for; its source says from when
    /// on it
    /// is complete.
    package var longestGapSeconds: Int? {
        switch self {
        case .observations, .reports: nil
        case .positions: 900
        default: 3_600
        }
    }
}
