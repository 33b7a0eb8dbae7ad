package import AviationFormats
import Geometry
package import Turbulence

extension PilotReport {
    /// The observations of a pilot report's turbulence groups, and the groups without one.
    package struct Placement: Sendable, Hashable {
        /// One for each group with intensity and level, with ids `{report id}-1`, `-2`.
        package var observations: [Observation] = []
        /// Groups with intensity but without a level, which appear in `pireps` only.
        package var withoutLevel = 0
        /// Groups whose base is above their top, or whose level is above 60,999 ft, which also appear in `pireps` only.
        package var unusableLevel = 0
    }

    /// Converts each group to an observation in the hexagon of the report. With base and top it is in the blocks
    /// between them, with one bound in the block of that bound. Without bounds it is at the flight level. A group
    /// without a level or usable intensity gives no observation.
    package func placement() -> Placement {
        var placement = Placement()
        let cell = H3.cell(at: place)
        for (index, group) in turbulence.enumerated() {
            guard let severity = group.severity else { continue }
            guard let lowest = group.baseFeet ?? group.topFeet ?? altitudeFeet,
                let highest = group.topFeet ?? group.baseFeet ?? altitudeFeet
            else {
                placement.withoutLevel += 1
                continue
            }
            guard let from = AltitudeBlock(feet: Double(lowest)), let to = AltitudeBlock(feet: Double(highest)),
                let band = AltitudeBand(lowest: from, highest: to), lowest <= highest
            else {
                placement.unusableLevel += 1
                continue
            }
            placement.observations.append(
                Observation(
                    id: "\(id)-\(index + 1)", cell: cell, altitude: band, intensity: .reported(severity, edr: nil),
                    observedAt: observedAt, source: source, kind: .pilotReport, aircraft: aircraft))
        }
        return placement
    }

    /// Converts a report of the Aviation Weather Center; nil for an invalid position.
    package init?(_ report: AircraftReport, source: SourceID) {
        guard let place = LonLat(longitude: report.longitude, latitude: report.latitude) else { return nil }
        self.init(
            id: report.id, place: place, observedAt: Instant(report.observedAt), type: report.kind.rawValue,
            aircraft: report.aircraft, altitudeFeet: report.altitudeFeet,
            turbulence: report.turbulence.map { layer in
                TurbulenceGroup(
                    severity: layer.intensity?.step.flatMap { Severity(rawValue: UInt8(clamping: $0)) },
                    intensity: layer.intensity?.rawValue, baseFeet: layer.baseFeet, topFeet: layer.topFeet,
                    type: layer.type?.rawValue, frequency: layer.frequency?.rawValue)
            }, text: report.text, source: source)
    }
}
