import AviationFormats
import Foundation
import JSONKit

extension CenterWeatherAdvisoryFormat: SimulatedFormat {
    static func records(in world: AviationWeatherWorld, at now: Int) -> [AviationWeatherRecord] {
        world.advisories(at: now)
    }
}

extension AviationWeatherWorld {
    private static let units = [
        ("ZAB", "Albuquerque"), ("ZFW", "Fort Worth"), ("ZHU", "Houston"), ("ZKC", "Kansas City"), ("ZOB", "Cleveland"),
        ("ZSE", "Seattle"), ("ZTL", "Atlanta"),
    ]

    /// Strong bodies that are too weak for a SIGMET have advisories of one hour each. As in real data, every third is
    /// about thunderstorms, and every fifth names no hazard.
    func advisories(at now: Int) -> [AviationWeatherRecord] {
        let from = now / 3_600 * 3_600
        let weak = warned(at: from, edr: 0.2, inside: true).filter { $0.state.strength < 0.3 }.prefix(8)
        return weak.map { body, patch in
            let unit = Self.units[body.number % Self.units.count]
            let series = "\(100 + body.number % 900)"
            let hazard: JSONValue = body.number % 5 == 0 ? .null : .string(body.number % 3 == 0 ? "TS" : "TURB")
            let text =
                "FAUS2\(body.number % 5) K\(unit.0) \(Self.day(from))\n\(unit.0) CWA \(series) VALID UNTIL "
                + "\(Self.day(from + 3_600))\nSIMULATED"
            return AviationWeatherRecord(members: [
                "cwsu": .string(unit.0), "name": .string(unit.1), "seriesId": .string(series),
                "validTimeFrom": .number(Double(from)), "validTimeTo": .number(Double(from + 3_600)),
                "hazard": hazard, "qualifier": .string(body.number % 3 == 0 ? "DVLPG TSRA" : "FQT MOD"),
                "base": .number(Self.feet(patch.altitudeFeet - 1 / patch.inverseDepth)),
                "top": .number(Self.feet(patch.altitudeFeet + 1 / patch.inverseDepth)), "geom": .string("AREA"),
                "rawText": .string(text), "coords": .array(patch.outline.map(Self.corner)),
            ])
        }
    }
}
