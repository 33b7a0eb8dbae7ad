/// The intensity of turbulence in the five steps that Billow uses everywhere. 0 is a positive report of smooth air, not
/// the absence of a report.
///
/// Source: docs/upstreams/skypath.md, "The model of the data" (none, light, lightModerate, moderate, moderateSevere)
public enum Severity: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// No turbulence.
    case smooth = 0
    /// Light.
    case light = 1
    /// Light to moderate.
    case lightModerate = 2
    /// Moderate.
    case moderate = 3
    /// Moderate to severe, or worse.
    case moderateSevere = 4

    /// The stable name in properties and parameters.
    public var name: String {
        switch self {
        case .smooth: "smooth"
        case .light: "light"
        case .lightModerate: "light-moderate"
        case .moderate: "moderate"
        case .moderateSevere: "moderate-severe"
        }
    }

    /// The text in legends.
    public var label: String {
        switch self {
        case .smooth: "Smooth"
        case .light: "Light"
        case .lightModerate: "Light-Moderate"
        case .moderate: "Moderate"
        case .moderateSevere: "Moderate-Occasionally Severe"
        }
    }

    /// Parses a number 0–4 or a name, as in parameters.
    public init?(_ text: some StringProtocol) {
        if let number = UInt8(text), text.utf8.count == 1 {
            self.init(rawValue: number)
        } else {
            guard let match = Severity.allCases.first(where: { $0.name == text }) else { return nil }
            self = match
        }
    }

    @inlinable
    public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
}

/// A set of severities.
public struct SeveritySet: OptionSet, Sendable, Hashable {
    /// One bit for each severity, by its raw value.
    public let rawValue: UInt8
    /// Makes a set from bits; bits beyond the last severity are dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0b11111 }
    /// Makes a set of some severities.
    public init(_ severities: some Sequence<Severity>) {
        self.init(rawValue: severities.reduce(0) { $0 | 1 << $1.rawValue })
    }

    /// Every severity.
    public static let all = SeveritySet(rawValue: 0b11111)

    /// The set of a severity and all worse ones.
    public static func atLeast(_ severity: Severity) -> SeveritySet {
        SeveritySet(rawValue: 0b11111 << severity.rawValue)
    }

    /// Whether a severity is in the set.
    public func contains(_ severity: Severity) -> Bool { rawValue & 1 << severity.rawValue != 0 }
}
