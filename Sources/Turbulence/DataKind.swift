/// A kind of data that sources send and layers are made of.
public enum DataKind: String, Sendable, Hashable, CaseIterable {
    /// What turbulence, hexagons and polygons are made of.
    case observations
    /// Pilot reports.
    case reports
    /// SIGMETs and G-AIRMETs.
    case hazards
    /// Forecast and nowcast areas.
    case forecasts
    /// Where aircraft are: traffic and tracks.
    case positions
}
