/// The EDR from which on each severity above smooth begins, for one aircraft category: lower bounds, included.
public struct SeverityThresholds: Sendable, Hashable {
    /// From here on light.
    public let light: EDR
    /// From here on light to moderate.
    public let lightModerate: EDR
    /// From here on moderate.
    public let moderate: EDR
    /// From here on moderate to severe.
    public let moderateSevere: EDR

    /// nil unless rising strictly.
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

    /// 0.10, 0.15, 0.20, 0.45: medium transport aircraft in cruise.
    ///
    /// Source: ICAO Annex 3, Amendment 78 (0.10, 0.20, 0.45); 0.15 is Billow's own halfway step.
    public static let medium = SeverityThresholds(unchecked: 1_000, 1_500, 2_000, 4_500)

    /// The severity that an EDR stands for.
    public func severity(of edr: EDR) -> Severity {
        if edr < light { return .smooth }
        if edr < lightModerate { return .light }
        if edr < moderate { return .lightModerate }
        return edr < moderateSevere ? .moderate : .moderateSevere
    }
}

/// The thresholds of every category. Where a category has none of its own, C60's count.
public struct SeverityTable: Sendable, Hashable {
    /// The categories that have thresholds of their own.
    public private(set) var byCategory: [AircraftCategory: SeverityThresholds]

    /// With thresholds of some categories.
    public init(_ byCategory: [AircraftCategory: SeverityThresholds] = [:]) { self.byCategory = byCategory }

    /// The thresholds of a category; those of a medium aircraft where it has none of its own.
    public func thresholds(for category: AircraftCategory) -> SeverityThresholds {
        byCategory[category] ?? byCategory[.default] ?? .medium
    }
}
