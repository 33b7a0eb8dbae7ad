/// The quantity of a message's values, by its name in an index.
///
/// Source: docs/upstreams/noaa.md, "Parameters"; NCEP GRIB2 table 4.2-0-19
package struct GuidanceParameter: RawRepresentable, Sendable, Hashable, Codable {
    package let rawValue: String

    /// Makes a parameter from a name, or from the numbers of one without (`var discipline=0 … parmcat=19 parm=30`).
    package init(rawValue: String) { self.rawValue = Self.name(ofNumbers: rawValue) ?? rawValue }

    /// The combined EDR, 0/19/30.
    package static let edr = GuidanceParameter(rawValue: "EDPARM")
    /// EDR of clear-air turbulence, 0/19/29.
    package static let clearAir = GuidanceParameter(rawValue: "CATEDR")
    /// EDR of mountain waves, 0/19/28.
    package static let mountainWave = GuidanceParameter(rawValue: "MWTURB")
    /// The column's maximum EDR, 0/19/31.
    package static let columnMaximum = GuidanceParameter(rawValue: "MXEDPRM")

    private static let names = [28: "MWTURB", 29: "CATEDR", 30: "EDPARM", 31: "MXEDPRM"]

    private static func name(ofNumbers text: String) -> String? {
        guard text.hasPrefix("var ") else { return nil }
        func number(_ key: String) -> Int? {
            text.split(separator: " ").first { $0.hasPrefix(key + "=") }.flatMap { Int($0.dropFirst(key.count + 1)) }
        }
        guard number("discipline") == 0, number("parmcat") == 19, let parameter = number("parm") else { return nil }
        return names[parameter]
    }
}

/// The level of a message's values, by its words in an index.
package struct GuidanceLevel: RawRepresentable, Sendable, Hashable, Codable {
    package let rawValue: String

    /// Makes a level from the words of an index. Those of the whole column may have a suffix: `entire atmosphere
    /// (considered as a single layer)`.
    package init(rawValue: String) {
        self.rawValue = rawValue.hasPrefix(Self.columnWords) ? Self.columnWords : rawValue
    }

    private static let columnWords = "entire atmosphere"
    private static let altitudeWords = " m above mean sea level"

    /// Makes an altitude above mean sea level, in the words of the index.
    package init(altitudeMeters: Int) { rawValue = "\(altitudeMeters)\(Self.altitudeWords)" }

    /// The whole column.
    package static let entireAtmosphere = GuidanceLevel(rawValue: columnWords)

    /// Whole metres above mean sea level; nil if the level isn't such an altitude.
    package var altitudeMeters: Int? {
        guard rawValue.hasSuffix(Self.altitudeWords) else { return nil }
        return Int(rawValue.dropLast(Self.altitudeWords.count))
    }
}

/// The key of a message in a file: its parameter and level.
package struct GuidanceMessageKey: Sendable, Hashable, Codable {
    package let parameter: GuidanceParameter
    package let level: GuidanceLevel

    package init(_ parameter: GuidanceParameter, _ level: GuidanceLevel) {
        self.parameter = parameter
        self.level = level
    }
}
