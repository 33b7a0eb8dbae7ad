package import Turbulence

extension Filter {
    /// Whether a pilot report is shown, whatever its place and time. A report without severity is shown unless the
    /// filter has severities. One without level is shown unless it has altitudes.
    package func matches(_ report: PilotReport) -> Bool {
        guard sources?.contains(report.source) ?? true, kinds?.contains(.pilotReport) ?? true else { return false }
        if severities != .all {
            guard let severity = report.severity, severities.contains(severity) else { return false }
        }
        return matches(lowestFeet: report.altitudeFeet, highestFeet: report.altitudeFeet)
    }

    /// Whether an area is shown. One without severity is shown unless the filter has severities. One without a limit
    /// extends to the ground or to the sky. Limits above the ground are raised by the highest aerodrome's elevation.
    package func matches(_ area: IssuedArea) -> Bool {
        guard sources?.contains(area.source) ?? true, areaKinds?.contains(area.kind) ?? true else { return false }
        if severities != .all {
            guard let severity = area.severity, severities.contains(severity) else { return false }
        }
        return matches(lowestFeet: area.altitudeMinFeet ?? 0, highestFeet: area.reachFeet ?? .max)
    }

    /// Whether an aircraft is shown, by its source and its pressure altitude.
    package func matches(_ position: AircraftPosition) -> Bool {
        (sources?.contains(position.source) ?? true)
            && matches(lowestFeet: position.altitudeFeet, highestFeet: position.altitudeFeet)
    }

    private func matches(lowestFeet: Int?, highestFeet: Int?) -> Bool {
        guard altitudes != .all else { return true }
        guard let lowestFeet, let highestFeet else { return false }
        return lowestFeet < altitudes.maximum * 1_000 && highestFeet >= altitudes.minimum * 1_000
    }
}
