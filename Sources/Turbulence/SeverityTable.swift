/// The EDR at which each severity above smooth begins, for one aircraft category. Each is an inclusive lower bound.
public struct SeverityThresholds: Sendable, Hashable {
    /// The EDR at which light begins.
    public let light: EDR
    /// The EDR at which light to moderate begins.
    public let lightModerate: EDR
    /// The EDR at which moderate begins.
    public let moderate: EDR
    /// The EDR at which moderate to severe begins.
    public let moderateSevere: EDR

    /// Returns nil unless the thresholds rise strictly.
    public init?(light: EDR, lightModerate: EDR, moderate: EDR, moderateSevere: EDR) {
        guard light < lightModerate, lightModerate < moderate, moderate < moderateSevere else { return nil }
        self.light = light
        self.lightModerate = lightModerate
        self.moderate = moderate
        self.moderateSevere = moderateSevere
    }

    private init(unchecked light: UInt16, _ lightModerate: UInt16, _ moderate: UInt16, _ moderateSevere: UInt16) {
        self.light = EDR(unchecked: light)
        self.lightModerate = EDR(unchecked: lightModerate)
        self.moderate = EDR(unchecked: moderate)
        self.moderateSevere = EDR(unchecked: moderateSevere)
    }

    /// The thresholds 0.10, 0.15, 0.20 and 0.45, for medium transport aircraft in cruise.
    ///
    /// Source: ICAO Annex 3, Amendment 78 (0.10, 0.20, 0.45); 0.15 is Billow's own halfway step.
    public static let medium = SeverityThresholds(unchecked: 1_000, 1_500, 2_000, 4_500)

    /// The severity of an EDR.
    public func severity(of edr: EDR) -> Severity {
        if edr < light { return .smooth }
        if edr < lightModerate { return .light }
        if edr < moderate { return .lightModerate }
        return edr < moderateSevere ? .moderate : .moderateSevere
    }
}

/// The thresholds by category. A category without thresholds uses those of C60.
public struct SeverityTable: Sendable, Hashable {
    /// The categories with thresholds.
    public private(set) var byCategory: [AircraftCategory: SeverityThresholds]

    /// Makes a table with the thresholds of some categories.
    public init(_ byCategory: [AircraftCategory: SeverityThresholds] = [:]) { self.byCategory = byCategory }

    /// The thresholds of a category. Without any, those of the default category apply, then those of a medium aircraft.
    public func thresholds(for category: AircraftCategory) -> SeverityThresholds {
        byCategory[category] ?? byCategory[.default] ?? .medium
    }
}
