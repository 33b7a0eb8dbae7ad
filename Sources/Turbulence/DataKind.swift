/// A kind of data that sources send and datasets are made of.
///
/// The log stores the name, so the meaning of a name must not change. A new dataset may add one.
package struct DataKind: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The reports from which turbulence, hexagons and polygons are made.
    package static let observations = DataKind(rawValue: "observations")
    /// Pilot reports.
    package static let reports = DataKind(rawValue: "reports")
    /// SIGMETs and G-AIRMETs.
    package static let hazards = DataKind(rawValue: "hazards")
    /// Forecast and nowcast areas.
    package static let forecasts = DataKind(rawValue: "forecasts")
    /// Turbulence polygons as a source issued them; Billow's own are made from observations.
    package static let polygons = DataKind(rawValue: "polygons")
    /// The positions of aircraft, for traffic and tracks.
    package static let positions = DataKind(rawValue: "positions")
    /// Grids of computed turbulence: nowcasts and forecasts.
    package static let fields = DataKind(rawValue: "fields")

    /// The longest interval between fetches that leaves no gap in the data. It applies if each fetch returns a
    /// snapshot, as for positions and areas. It is nil for data that a later fetch completes; its source has a
    /// `completeSince`.
    package var longestGapSeconds: Int? {
        switch self {
        case .observations, .reports: nil
        case .positions: 900
        default: 3_600
        }
    }
}
