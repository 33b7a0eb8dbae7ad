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

    /// How long nothing may be fetched without a hole in what is known: what doesn't tell of the past, each fetch of which is
    /// a picture of its time. nil for what a later fetch makes up for; its source says from when on it is complete.
    public var longestGapSeconds: Int? {
        switch self {
        case .observations, .reports: nil
        case .hazards, .forecasts: 3_600
        case .positions: 900
        }
    }
}
