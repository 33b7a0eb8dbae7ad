import BillowAreas
import BillowTiles
import Geometry
package import Turbulence

/// The text for people.
extension FieldProfile {
    /// A text with the worst stretch, its time and level, nearby levels with less turbulence, and gaps in the data.
    package var text: String { ([worstText, betterText].compactMap(\.self) + gapTexts).joined(separator: " ") }

    private var worstText: String? {
        guard let worst else { return "The turbulence along this flight is unknown." }
        let severity = severity(worst.tenThousandths)
        let level = FlightLevelText.of(Int(worst.altitudeFeet.rounded()))
        if severity == .smooth {
            let place = flight.levelFeet == nil ? "at all levels" : "along the planned level"
            return "Smooth \(place)\(gaps.isEmpty ? "" : ", where it is known")"
                + ": EDR up to \(Self.edr(worst.tenThousandths)) at \(level)."
        }
        let (from, to) = (Self.miles(worst.distance.lowerBound), Self.miles(worst.distance.upperBound))
        return "\(severity.label) at \(level) from \(from) to \(to) NM, \(when(worst)): EDR up to "
            + "\(Self.edr(worst.tenThousandths))."
    }

    private func when(_ worst: WorstStretch) -> String {
        let (from, to) = (Self.clock(worst.times.lowerBound), Self.clock(worst.times.upperBound))
        return from == to ? "at \(from) UTC" : "\(from) to \(to) UTC"
    }

    private static let maximumSuggestedLevels = 2

    private var betterText: String? {
        guard let worst, severity(worst.tenThousandths) != .smooth else { return nil }
        let texts = worst.better.prefix(Self.maximumSuggestedLevels).map { level in
            "\(FlightLevelText.of(level.feet)) (\(severity(level.tenThousandths).name), "
                + "\(Self.edr(level.tenThousandths)))"
        }
        let nearby = "within \(Self.nearby),000 ft"
        return texts.isEmpty
            ? "No level \(nearby) is known to have less." : "Less at \(texts.joined(separator: " and "))."
    }

    private var gapTexts: [String] {
        let reasons: [(FieldSection.Gap, String)] = [
            (.outside, "outside of the field's area"), (.time, "no field for the time"),
            (.level, "no level of the field nearby"), (.missing, "no value in the field"),
        ]
        return reasons.compactMap { gap, words in
            let metres = gaps.filter { $0.gap == gap }.reduce(0) {
                $0 + $1.distance.upperBound - $1.distance.lowerBound
            }
            guard metres > 0 else { return nil }
            return "Not known for \(Self.miles(metres)) of \(Self.miles(flight.route.metres)) NM: \(words)."
        }
    }

    private static func miles(_ metres: Double) -> Int { Int((metres / Geodesic.metresPerNauticalMile).rounded()) }

    /// `0.27`.
    private static func edr(_ tenThousandths: Int) -> String {
        let hundredths = (tenThousandths + 50) / 100
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    /// `13:05`.
    package static func clock(_ instant: Instant) -> String { String(instant.description.dropFirst(11).prefix(5)) }
}
