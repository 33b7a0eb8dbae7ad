/// A kind of data that sources feed into the log, and that datasets are made of.
///
/// The log stores the name, so the meaning of a name must not change. A new dataset may add one.
package struct FeedKind: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The reports from which turbulence, hexagons and polygons are made.
    package static let observations = FeedKind(rawValue: "observations")
    /// Pilot reports.
    package static let reports = FeedKind(rawValue: "reports")
    /// SIGMETs and G-AIRMETs.
    package static let hazards = FeedKind(rawValue: "hazards")
    /// Forecast and nowcast areas.
    package static let forecasts = FeedKind(rawValue: "forecasts")
    /// Turbulence polygons as a source issued them; Billow's own are made from observations.
    package static let polygons = FeedKind(rawValue: "polygons")
    /// The positions of aircraft, for traffic and tracks.
    package static let positions = FeedKind(rawValue: "positions")
    /// Grids of computed turbulence: nowcasts and forecasts.
    package static let fields = FeedKind(rawValue: "fields")
}
