public import Turbulence

extension Filter {
    /// Whether an area is part of what is asked for. One without a severity is, unless severities are asked for; one without
    /// a limit reaches to the ground, or without end.
    public func takes(_ area: IssuedArea) -> Bool {
        if let sources, !sources.contains(area.source) { return false }
        if let areaKinds, !areaKinds.contains(area.kind) { return false }
        if severities != .all {
            guard let severity = area.severity, severities.contains(severity) else { return false }
        }
        // Bands that overlap [minimum, maximum); one that has no height counts where it is.
        let lowest = area.altitudeMinFeet ?? 0
        let highest = area.altitudeMaxFeet ?? .max
        return lowest < altitudes.maximum * 1_000
            && (highest > altitudes.minimum * 1_000 || lowest == highest && lowest == altitudes.minimum * 1_000)
    }
}
