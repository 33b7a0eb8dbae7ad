package import Turbulence

extension Filter {
    /// Whether a pilot report is shown, wherever and whenever it is from: one without severity is unless severities are
    /// asked for, one without level unless altitudes are.
    package func takes(_ report: PilotReport) -> Bool {
        guard sources?.contains(report.source) ?? true, kinds?.contains(.pilotReport) ?? true else { return false }
        if severities != .all {
            guard let severity = report.severity, severities.contains(severity) else { return false }
        }
        return takes(lowestFeet: report.altitudeFeet, highestFeet: report.altitudeFeet)
    }

    /// Whether an area is shown: one without severity is unless severities are asked for; one without a limit reaches
    /// to the ground or to the sky; one above ground as high as ground may be.
    package func takes(_ area: IssuedArea) -> Bool {
        guard sources?.contains(area.source) ?? true, areaKinds?.contains(area.kind) ?? true else { return false }
        if severities != .all {
            guard let severity = area.severity, severities.contains(severity) else { return false }
        }
        return takes(lowestFeet: area.altitudeMinFeet ?? 0, highestFeet: area.reachFeet ?? .max)
    }

    /// Whether an aircraft is shown: by its source and its pressure altitude.
    package func takes(_ position: AircraftPosition) -> Bool {
        (sources?.contains(position.source) ?? true)
            && takes(lowestFeet: position.altitudeFeet, highestFeet: position.altitudeFeet)
    }

    private func takes(lowestFeet: Int?, highestFeet: Int?) -> Bool {
        guard altitudes != .all else { return true }
        guard let lowestFeet, let highestFeet else { return false }
        return lowestFeet < altitudes.maximum * 1_000 && highestFeet >= altitudes.minimum * 1_000
    }
}
